#!/bin/bash
# The pages of doc/howto/compilers/: from a source in a compiler's language to a superkernel, with the compiler itself.
# `make check-compilers COMPILERS=FOLDER` runs them; FOLDER is a virtual environment of Python 3 with the packages that
# the pages name. A page that needs something else is left out, and its need is printed.
#
# The commands of a page are run as they stand there (tests/lib/pages.sh). Afterwards the runs and comparisons of the
# page (its commands `skrun` and `python3 compare…`) are repeated on 1, 2 and 3 cores, with and without checks.
# PAGES='tvm iree' runs these pages only.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
COMPILERS=${COMPILERS:-}
[ -n "$COMPILERS" ] && [ -x "$COMPILERS/bin/python3" ] || {
	echo "COMPILERS is not the folder of a virtual environment. To make one, with all packages of the pages:"
	echo "    python3 -m venv compilers"
	echo "    compilers/bin/pip install" \
		$(sed -n 's/.*`pip install \([^`]*\)`.*/\1/p' "$top_srcdir"/doc/howto/compilers/*.md | tr ' ' '\n' | sort -u)
	fail "make check-compilers COMPILERS=FOLDER"
}
. "$top_srcdir/tests/lib/pages.sh"
for program in "$COMPILERS"/bin/*; do
	[ ! -f "$program" ] || [ ! -x "$program" ] ||
		printf '#!/bin/sh\nexec "%s" "$@"\n' "$(cd "${program%/*}" && pwd)/${program##*/}" >"$prefix/bin/${program##*/}"
done
chmod +x "$prefix"/bin/*

# lacks PAGE: Python packages that the page's `pip install …` names, Debian packages of its `apt install …`, and
# commands, that are not here.
lacks() {
	local name

	for name in $(sed -n 's/.*`pip install \([^`]*\)`.*/\1/p' "$1"); do
		"$COMPILERS/bin/python3" -c \
			'import importlib.metadata as m, sys; m.version(sys.argv[1])' "$name" 2>/dev/null ||
			echo "pip install $name;"
	done
	for name in $(sed -n 's/.*`apt install \([^`]*\)`.*/\1/p' "$1"); do
		dpkg-query -W -f '${Status}\n' "$name" 2>/dev/null | grep -q ' installed' || echo "apt install $name;"
	done
	for name in $(sed -nE 's/^ *\$ ([a-z][a-z0-9.-]*) .*/\1/p' "$1" | sort -u); do
		installed "command -v $name" >/dev/null || echo "the command $name;"
	done
}

# again OPTION…: the page's runs and comparisons, with these options.
again() {
	for command in "${commands[@]}"; do
		case $command in
		'skrun '*) installed "$command $*" >out.txt 2>&1 || { cat out.txt >&2; fail "$page: $command $*"; } ;;
		'python3 compare'*) installed "$command" >&2 || fail "$page: wrong with $*" ;;
		esac
	done
}

followed=0
for file in "$top_srcdir"/doc/howto/compilers/*.md; do
	name=$(basename "$file" .md)
	[[ " ${PAGES:-$name} " == *" $name "* ]] || continue
	missing=$(lacks "$file")
	if [ -n "$missing" ]; then
		echo "left out: $name:" $missing
		continue
	fi
	page=doc/howto/compilers/$name.md
	follow "$page"
	printf '%s\n' "${commands[@]}" | grep -q '^python3 compare' || fail "$page compares nothing"
	cd "$dir/pages/$page"
	for cores in 1 2 3; do
		again --cores $cores
		again --cores $cores --verify
		again --cores $cores --guard
		again --cores $cores --check-races
	done
	cd "$dir"
	echo "$name: right"
	followed=$((followed + 1))
done
[ "$followed" -gt 0 ] || fail "no page has been followed"
