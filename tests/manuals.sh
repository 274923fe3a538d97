# Each option of a program is in its help and in its man page, those of sklink also in its table, and nowhere are more.
. "$top_srcdir/tests/lib.sh"

for program in sklink skrun skdump; do
	"$top_builddir/$program" --help >help.txt
	sed -nE 's/^ {2,}(-.*)/\1/p' help.txt | sed 's/  .*//' | grep -oE '(^|[ ,])--?[A-Za-z][-A-Za-z]*' | tr -d ' ,' | sort -u >options.txt
	grep '^\.It.* Fl' "$top_srcdir/doc/$program.1" | sed 's/ Ns//g' | grep -oE 'Fl -?[A-Za-z][-A-Za-z]*' | sed 's/Fl /-/' |
		sort -u | diff options.txt - >&2 || fail "$program: the help (<) and the man page (>) have other options"
	[ "$(wc -l <options.txt)" -gt 5 ] || fail "$program: the help is not understood"
	if [ $program = sklink ]; then
		sed -nE 's/^\t\{"([^"]+)", ("([^"]+)"|NULL).*/\1 \3/p' "$top_srcdir/src/command.c" |
			awk '{ if (length($1) > 1) print ($1 == "Map" ? "-" : "--") $1; if ($2) print "-" $2 }' | sort -u |
			diff options.txt - >&2 || fail "sklink: the help (<) and the table of options (>) have other ones"
	fi
	! awk 'length > 110' help.txt | grep . >&2 || fail "$program: long lines in the help"
done
if command -v man >/dev/null; then
	for program in sklink skrun skdump; do
		LC_ALL=C.UTF-8 man --warnings -l "$top_srcdir/doc/$program.1" >man.txt 2>warnings.txt
		[ ! -s warnings.txt ] || { cat warnings.txt >&2; fail "$program.1"; }
	done
fi
