# same-packages.sh [--tables] OLD NEW: whether two build directories make the same packages. Every link of OLD's shell
# tests is recorded with --repro; then each record is linked again by both. For changes that must not change sklink's
# results: not a test by itself. Some links are not recorded: links with -r of objects that a test has removed
# meanwhile, and links that fail.
#
# With --tables packages may differ in how their plans are written: for changes of SK_PLAN_VERSION (same-tables.py,
# python3). Other files of a link (headers that embed a package, maps) are then not compared.
set -eu
tables= here=$(cd "$(dirname "$0")" && pwd)
[ "${1:-}" != --tables ] || { tables=yes; shift; }
[ $# = 2 ] || { echo "usage: same-packages.sh [--tables] OLD-BUILD NEW-BUILD" >&2; exit 2; }
old=$(cd "$1" && pwd) new=$(cd "$2" && pwd)
source=$(sed -n 's/^abs_top_srcdir = //p' "$old/Makefile")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/build" "$work/records"

# A build directory in which sklink records its links.
for entry in "$old"/* "$old"/.libs; do
	ln -s "$entry" "$work/build/"
done
rm "$work/build/sklink"
cat >"$work/build/sklink" <<WRAPPER
#!/bin/bash
for argument; do
	case \$argument in --repro* | --sign* | --time-trace* | --help | --version) exec "$old/sklink" "\$@" ;; esac
done
record=\$(mktemp "$work/records/XXXXXXXX")
"$old/sklink" --repro="\$record" "\$@"
status=\$?
[ \$status = 0 ] && mv "\$record" "\$record.tar" || rm -f "\$record"
exit \$status
WRAPPER
chmod +x "$work/build/sklink"

tests=${TESTS:-$(cd "$source" && git ls-files 'tests/*.sh' |
	grep -vE 'same-packages|lib\.sh|/packages\.sh|fuzz|mutate|property|archives|openblas|repro\.sh|combinations|threads\.sh')}
for test in $tests; do
	(cd "$work/build" && top_srcdir=$source top_builddir=$work/build CC=gcc KERNEL_CC=gcc \
		KERNEL_CFLAGS="${KERNEL_CFLAGS:--O2}" \
		bash "$source/$test" >"$work/log" 2>&1 </dev/null) ||
			echo "note: $test: exit status $?: $(tail -n 1 "$work/log")"
done

# link RECORD BUILD: the record's link, in $work/links/r.
link() {
	rm -rf "$work/links/r"
	mkdir -p "$work/links/r"
	(cd "$work/links/r" && tar xf "$1" && cd -- */ && "$2/sklink" @response.txt >/dev/null 2>&1 || true)
}

# same_files OLD NEW: of two folders, all but the inputs' archive.
same_files() {
	diff -qr --exclude='*.tar' "$1" "$2" >"$work/log"
}

# same_tables OLD NEW: of two folders, the packages that differ.
same_tables() {
	local good=0 file
	while read -r file; do
		python3 "$here/same-tables.py" "$1/$file" "$old/skdump" "$2/$file" "$new/skdump" >"$work/log" 2>&1 &&
			continue
		[ "$(cat "$work/log")" != "it is no package" ] || continue
		good=1
		echo "$file: $(tail -n 1 "$work/log")"
	done < <(cd "$1" && find . -type f ! -name '*.tar' -exec sh -c 'cmp -s "$2" "$1/$2" || echo "$2"' - "$2" {} \;)
	return $good
}

count=0 different=0
for record in "$work"/records/*.tar; do
	rm -rf "$work/links"
	link "$record" "$old"
	mv "$work/links/r" "$work/links/old"
	link "$record" "$new"
	count=$((count + 1))
	same_files "$work/links/old" "$work/links/r" && continue
	[ -n "$tables" ] && same_tables "$work/links/old" "$work/links/r" && continue
	different=$((different + 1))
	echo "different: $record"
	tr '\n' ' ' <"$work/links/r"/*/response.txt
	echo
done
echo "$count links, $different different"
[ $count -gt 0 ] && [ $different = 0 ]
