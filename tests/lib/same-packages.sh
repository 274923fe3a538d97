# same-packages.sh OLD NEW: whether two build directories make the same packages. Every link of OLD's shell tests is recorded with
# --repro; then each record is linked again by both. For changes that must not change what sklink does: not a test by itself.
# What is not recorded: links with -r of objects that a test has removed meanwhile, and links that fail.
set -eu
[ $# = 2 ] || { echo "usage: same-packages.sh OLD-BUILD NEW-BUILD" >&2; exit 2; }
old=$(cd "$1" && pwd) new=$(cd "$2" && pwd)
source=$(sed -n 's/^abs_top_srcdir = //p' "$old/Makefile")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/build" "$work/records"

# A build directory in which sklink records what it is asked.
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

tests=${TESTS:-$(cd "$source" && git ls-files 'tests/*.sh' | grep -vE 'same-packages|lib\.sh|/packages\.sh|fuzz|mutate|property|archives|openblas|repro\.sh|combinations|threads\.sh')}
for test in $tests; do
	(cd "$work/build" && top_srcdir=$source top_builddir=$work/build CC=gcc KERNEL_CC=gcc KERNEL_CFLAGS="${KERNEL_CFLAGS:--O2}" \
		bash "$source/$test" >"$work/log" 2>&1 </dev/null) || echo "note: $test: exit status $?: $(tail -n 1 "$work/log")"
done

count=0 different=0
for record in "$work"/records/*.tar; do
	rm -rf "$work/links"
	for build in "$old" "$new"; do
		mkdir -p "$work/links/$(basename "$record")"
		(cd "$work/links" && rm -rf r && mkdir r && cd r && tar xf "$record" && cd -- */ && "$build/sklink" @response.txt >/dev/null 2>&1 || true)
		find "$work/links/r" -type f ! -name '*.tar' -exec sha256sum {} + | sort >"$work/links/$(basename "$build" | tr / _)-$(echo "$build" | cksum | cut -d' ' -f1).sum"
	done
	count=$((count + 1))
	set -- "$work"/links/*.sum
	cmp -s "$1" "${2:-$1}" || { different=$((different + 1)); echo "different: $record"; tr '\n' ' ' <"$work/links/r"/*/response.txt; echo; }
done
echo "$count links, $different different"
[ $count -gt 0 ] && [ $different = 0 ]
