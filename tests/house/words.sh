# Documents and comments keep to the words of tests/lib/words.py, lines to 120 columns, README.md to 1,500 words, and
# signatures that users write by hand, on the pages of compilers, to 120 characters.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"
needs_python
"$python" "$top_srcdir/tests/lib/words.py" "$top_srcdir" >places.txt || { cat places.txt >&2; fail "words and columns"; }
[ "$(wc -w <"$top_srcdir/README.md")" -le 1500 ] || fail "README.md has $(wc -w <"$top_srcdir/README.md") words"

# Words and lines beyond the limits are found.
mkdir tree
printf '# Title\n\nWhat is what?\n' >tree/what.md
printf '/* One sentence. %s */\n' "$(printf 'x%.0s' $(seq 120))" >tree/long.c
"$python" "$top_srcdir/tests/lib/words.py" tree >found.txt && fail "a tree beyond the limits passes"
grep -q "^tree/what.md:3: what: # Title What is what" found.txt || fail "'what' is not found"
grep -q '^tree/long.c:1: longer than 120 columns$' found.txt || fail "a long line is not found"

# signatures LIMIT PAGE…: each signature on the pages that is longer. A blank counts once, as in YAML.
signatures() {
	awk -v limit="$1" '
		FNR == 1 { text = "" }
		!text && match($0, /signature: *"/) { text = substr($0, RSTART + RLENGTH); place = FILENAME ":" FNR }
		text && place != FILENAME ":" FNR { text = text " " $0 }
		text ~ /"/ {
			sub(/".*/, "", text); gsub(/ +/, " ", text)
			if (length(text) > limit) print place ": " length(text) " characters: " text
			text = ""
		}' "${@:2}"
}
pages=("$top_srcdir"/doc/howto/compilers/*.md)
[ "$(signatures 0 "${pages[@]}" | wc -l)" -ge 25 ] || fail "signatures on the pages of compilers are not found"
signatures 120 "${pages[@]}" >long.txt
[ ! -s long.txt ] || { cat long.txt >&2; fail "long signatures"; }
