# Documents and comments keep to the words of tests/lib/words.py, lines to 120 columns, and README.md to 1,500 words.
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
