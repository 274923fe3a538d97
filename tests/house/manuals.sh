# Each option of a program is in its help and in its man page, and these list no others; the page of sklink lists the
# refused ones.
. "$top_srcdir/tests/lib/lib.sh"
set -o pipefail

for program in sklink skrun skdump; do
	"$top_builddir/$program" --help >help.txt
	sed -nE 's/^ {2,}(-.*)/\1/p' help.txt | sed 's/  .*//' | grep -oE '(^|[ ,])--?[A-Za-z][-A-Za-z]*' |
		tr -d ' ,' | sort -u >options.txt
	grep '^\.It.* Fl' "$top_srcdir/doc/reference/$program.1" | sed 's/ Ns//g' |
		grep -oE 'Fl -?[A-Za-z][-A-Za-z]*' | sed 's/Fl /-/' |
		sort -u | diff options.txt - >&2 ||
			fail "$program: the help (<) and the man page (>) have other options"
	[ "$(wc -l <options.txt)" -gt 5 ] || fail "$program: the help is not understood"
	if [ $program = sklink ]; then
		sed -nE 's/^\t\{"([^"]+)", .*, SK_OPTION_REFUSE,.*/\1/p' "$top_srcdir/src/command/option.c" >refused.txt
		[ "$(wc -l <refused.txt)" -gt 5 ] || fail "the table of options is not understood"
		while read -r name; do
			grep -qE -- "^\.Fl -?$name( |$)" "$top_srcdir/doc/reference/sklink.1" ||
				fail "sklink.1 does not say that -$name is refused"
		done <refused.txt
	fi
	! awk 'length > 110' help.txt | grep . >&2 || fail "$program: long lines in the help"
done

# tests KIND: the rows of tests/documented.txt of that kind, without it: "ROW | TEST...".
tests() {
	sed -n "s/^$1 | //p" "$top_srcdir/tests/documented.txt"
}

# Each option of scopes has a row in the table of scope-options.md, with its values and the default, and it has tests.
sed -nE 's/^\t\{"([a-z-]+)", ".*", read_.*/\1/p' "$top_srcdir/src/manifest/options.c" | sort >options.txt
[ "$(wc -l <options.txt)" -gt 10 ] || fail "the table of scope options is not understood"
page=$top_srcdir/doc/reference/scope-options.md
sed '1,/^| option | values | effect |$/d; /^$/,$d' "$page" | sed 1d >rows.txt
while IFS='|' read -r _ names values effect rest; do
	[ -z "$rest" ] || fail "a row of too many columns: $names"
	grep -qE 'default|not given' <<<"$values" || fail "no default of $names"
	[ "${#effect}" -gt 20 ] || fail "no effect of $names"
	grep -oE '`[a-z-]+`' <<<"$names" | tr -d '`'
done <rows.txt | sort | diff options.txt - >&2 ||
	fail "scope options: program (<) and scope-options.md (>) have other ones"
tests scope-option >tests.txt
sed 's/ .*//' tests.txt | sort | diff options.txt - >&2 ||
	fail "scope options: program (<) and tests/documented.txt (>) have other ones"
while IFS='|' read -r name tests; do
	name=${name% }
	[ -n "${tests// }" ] || fail "no test of $name"
	for test in $tests; do
		case $test in
		*:*) grep -q "^START_TEST(${test#*:})" "$top_srcdir/${test%:*}" ||
			fail "there is no test ${test#*:} for $name" ;;
		*) grep -q -- "$name=" "$top_srcdir/$test" || fail "$test does not give $name" ;;
		esac
	done
done <tests.txt
# It also has a row for its effect on calls in tiles, which has a case.
sed '1,/^| option | effect on the calls of a tile group |$/d; /^$/,$d' "$page" | sed 1d >tiles.txt
! awk -F'|' 'length($3) < 20' tiles.txt | grep . >&2 || fail "no word of tile groups"
cut -d'|' -f2 tiles.txt | grep -oE '`[a-z-]+`' | tr -d '`' | sort | tee tiled.txt | diff options.txt - >&2 ||
	fail "of tile groups, program (<) and scope-options.md (>) have other scope options"
while read -r name; do
	grep -qE "^\s*link .*$name=" "$top_srcdir/tests/plan/tile-options.sh" ||
		fail "tests/plan/tile-options.sh has no case of $name"
done <tiled.txt

# Each flag of graph-kernel fusion has a row in fusion-flags.md, and a test that names it, or all of those that change
# nothing.
manager=$top_srcdir/graph/manager
sed -nE 's/^(BOOL|INTEGER|STRING|LIST)\(([a-z_]+).*/\2/p' "$manager/flags.def" | cat - <(echo opt_level) |
	sort >flags.txt
sed -nE 's/^NO_EFFECT\(([a-z_]+), "(.*)"\)/\1 none: \2/p' "$manager/no-effect.def" >no-effect.txt
[ "$(wc -l <flags.txt)" -gt 50 ] || fail "the table of flags is not understood"
# Entries: "* `flag` (default), ...: effect", on any number of lines.
awk '/^## / { on = $0 == "## Flags" } !on { next }
	/^\* / || /^$/ { if (entry != "") print entry; entry = "" }
	/^\* / { entry = substr($0, 3) } /^  / { entry = entry substr($0, 2) }
	END { if (entry != "") print entry }' "$top_srcdir/doc/reference/fusion-flags.md" >rows.txt
while IFS= read -r row; do
	effect=${row#*): }
	for name in $(sed 's/): .*//; s/([^)]*//g' <<<"$row" | grep -oE '`[a-z_]+`' | tr -d '`'); do
		echo "$name"
		! grep "^$name " no-effect.txt | grep -qvxF "$name ${effect//\`/}" ||
			fail "the reason of $name is another one"
		! grep -q '^none' <<<"$effect" || grep -q "^$name " no-effect.txt || fail "$name has an effect"
	done
done <rows.txt | sort | diff flags.txt - >&2 || fail "flags: program (<) and fusion-flags.md (>) have other ones"
tests flag >tests.txt
sed 's/ .*//' tests.txt | sort | diff flags.txt - >&2 ||
	fail "flags: program (<) and tests/documented.txt (>) have other ones"
while IFS='|' read -r name tests; do
	name=${name% }
	[ -n "${tests// }" ] || fail "no test of $name"
	for test in $tests; do
		[ -e "$top_srcdir/$test" ] || fail "there is no $test for $name"
		grep -q -- "$name" "$top_srcdir/$test" || grep -q "^$name " no-effect.txt ||
			fail "$test does not name $name"
	done
done <tests.txt
# Each pass has a row in passes.md.
sed -nE 's/^\t\{"[a-z0-9_]+", "([A-Za-z0-9_]+)", .*/\1/p' "$top_srcdir/src/link/graph-passes.c" >passes.txt
[ "$(wc -l <passes.txt)" -gt 20 ] || fail "the table of passes is not understood"
while read -r name; do
	grep -q "^|.*\`$name\`.*|" "$top_srcdir/doc/reference/passes.md" ||
		fail "doc/reference/passes.md has no row for the pass $name"
done <passes.txt

# The fuzzers know all of them by name, and all frames.
dictionary=$top_srcdir/tests/fuzz/manifest.dict
while read -r name; do
	grep -q "\"$name=" "$dictionary" || fail "$dictionary has no $name"
done <options.txt
for name in $(sed -nE '/^\| frame \| /,/^$/s/^\| `([a-z-]+)` .*/\1/p' "$top_srcdir/doc/reference/signatures.md"); do
	grep -q "\"frame=$name " "$dictionary" || fail "$dictionary has no frame=$name"
	frames=$((${frames:-0} + 1))
done
[ "${frames:-0}" -ge 6 ] || fail "the frames of doc/reference/signatures.md are not found"

# Each function of skrt.h has a comment of its own with its result and its threads, and with the parameters that are not
# its object.
awk '
	/^\/\*/ { comment = ""; commented = 1 }
	commented { comment = comment $0 "\n" }
	/\*\/$/ { commented = 0; next }
	commented { next }
	/^$/ { comment = ""; next }
	/^[a-z].*skrt_[a-z_]+\(/ { declaration = ""; open = 1 }
	open { declaration = declaration $0 }
	open && /;$/ {
		open = 0
		name = declaration; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name)
		text = declaration; sub(/^[^(]*\(/, "", text); sub(/\);$/, "", text)
		sub(/\(\*function\)\([^)]*\)/, "function", text)
		if (comment !~ /\n \* @return [^\n]/) print name ": no @return"
		if (comment !~ /\n \* @threads (any|fork|plays|last)/) print name ": no @threads"
		functions++
		while (match(comment, /@param [a-z_]+:/)) { # of a parameter that there is
			word = substr(comment, RSTART + 7, RLENGTH - 8); comment = substr(comment, RSTART + RLENGTH)
			if (text !~ "[ *]" word "(,|$)") print name ": @param " word
			told[name, word] = 1
		}
		count = split(text, parameters, /, */)
		for (i = 1; i <= count; i++) {
			word = parameters[i]; type = word; sub(/.*[ *]/, "", word)
			if (type !~ /^void$|struct skrt_[a-z]+ \*(device|module|instance|kernel|stream|event|trace|start|end)$|^uint64_t bytes$|^const char \*name$/ && !((name, word) in told))
				print name ": no @param " word
		}
		comment = ""
	}
	END { if (functions < 56) print functions + 0 " functions" }' "$top_srcdir/loader/skrt.h" >untold.txt
[ ! -s untold.txt ] || { cat untold.txt >&2; fail "skrt.h does not tell all of its functions"; }

pages=("$top_srcdir"/doc/reference/*.1 "$top_builddir"/doc/*.[357])
if command -v mandoc >/dev/null; then
	mandoc -Tlint -W warning "${pages[@]}" >&2 || fail "a page that mandoc warns of"
else
	echo "left out: mandoc, which is not installed"
fi
! grep -n '[^ ][ (]()' "${pages[@]}" >&2 || fail "empty parentheses"
if command -v man >/dev/null; then
	for page in "${pages[@]}"; do
		LC_ALL=C.UTF-8 man --warnings -l "$page" 2>warnings.txt >/dev/null
		[ ! -s warnings.txt ] || { cat warnings.txt >&2; fail "$page"; }
	done
	# No word of a document is missing on its page, but for tables' headings and columns of tests.
	words() {
		LC_ALL=C tr 'A-Z' 'a-z' | LC_ALL=C grep -oE '[a-z_]{2,}' | LC_ALL=C sort -u
	}
	grep -rlE '^<!-- man: ' --include='*.md' "$top_srcdir/doc" >documents.txt
	[ "$(wc -l <documents.txt)" -ge 4 ] || fail "the documents of manual pages are not found"
	while read -r document; do
		read -r _ _ name section _ <"$document"
		LC_ALL=C.UTF-8 man -l "$top_builddir/doc/$name.$section" >man.txt
		awk 'FNR == 1 || /^# / || /^```/ { next }
			/^\|---/ { last = "" }
			{ print last; last = $0 }
			END { print last }' "$document" | sed -E 's/\[[^]]*\.md\]\([^)]*\)//g; s/\]\([^)]*\)//g' |
				words >document.txt
		[ "$(wc -l <document.txt)" -gt 200 ] || fail "$document is not understood"
		words <man.txt | LC_ALL=C comm -23 document.txt - >lost.txt
		[ ! -s lost.txt ] || { cat lost.txt >&2; fail "$name.$section lacks words of its document"; }
	done <documents.txt
fi
# Text that the converter does not know is an error, and so are markup that does not end and a link to a missing
# document.
head='<!-- man: odd 7 2026-01-01 "odd text" sklink(1) -->'
for line in '1. first' '> quoted' '    indented'; do
	printf '%s\n\n%s\n' "$head" "$line" >odd.md
	fails_with "^odd.md:3: a line that manual.awk does not know" awk -f "$top_srcdir/doc/manual.awk" odd.md
done
printf '%s\n\nan *end\n' "$head" >odd.md
fails_with "^odd.md:3: markup that does not end" awk -f "$top_srcdir/doc/manual.awk" odd.md
printf '%s\n\nsee [it](gone.md#place)\n' "$head" >odd.md
fails_with "^odd.md:3: a link to gone.md, which cannot be read" awk -f "$top_srcdir/doc/manual.awk" odd.md
printf '# T\n' >odd.md
fails_with "^odd.md:1: no line that says what the page is" awk -f "$top_srcdir/doc/manual.awk" odd.md
printf '%s\n# T\n\nsee [the list](#list), and [other](odd.md#list)\n' "$head" >odd.md
awk -f "$top_srcdir/doc/manual.awk" odd.md | grep -qF 'see the list, and other (\fBodd(7)\fR)' ||
	fail "links are written otherwise"
