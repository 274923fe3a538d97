#!/bin/bash
# make install: the installed files can be found, read and used without the sources. Programs are built with them, and
# links between the documents lead somewhere.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
prefix=$dir/inst
env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s -C "$top_builddir" install DESTDIR= prefix="$prefix" >install.txt 2>&1 \
	||
	{ tail -n 30 install.txt >&2; fail "make install"; }
documents=$prefix/share/doc/sklink

pages=$(grep -rhE '^<!-- man: ' --include='*.md' "$top_srcdir/doc" | awk '{ print "man" $4 "/" $3 "." $4 }')
[ "$(wc -w <<<"$pages")" -ge 4 ] || fail "the documents of manual pages are not found"
for page in man1/sklink.1 man1/sklink-bisect.1 man1/skrun.1 man1/skdump.1 $pages; do
	[ -s "$prefix/share/man/$page" ] || fail "$page is not installed"
done
for program in sklink skrun skdump sklink-bisect; do
	cmp "$top_builddir/completions/sklink" "$prefix/share/bash-completion/completions/$program" ||
		fail "bash does not complete $program"
done
cmp "$top_builddir/completions/_sklink" "$prefix/share/zsh/site-functions/_sklink" || fail "zsh completes nothing"
cmp "$top_srcdir/src/manifest/manifest.schema.json" "$prefix/share/sklink/manifest.schema.json" ||
	fail "the schema of manifests is not installed"
if command -v lexgrog >/dev/null; then
	lexgrog "$prefix"/share/man/man*/* >names.txt || { cat names.txt >&2; fail "a page that apropos cannot read"; }
	for page in sk-manifest sk-signatures libskrt; do
		grep -q "$page - " names.txt || fail "the name of the page $page"
	done
fi

count=0
while IFS=: read -r file link; do
	target=$(sed -E 's/.*\]\(([^)#]*).*/\1/' <<<"$link")
	case $target in http*) continue ;; esac
	count=$((count + 1))
	[ -e "$(dirname "$file")/$target" ] || fail "$file: $target does not exist"
done < <(find "$documents" -name '*.md' -exec awk 'FNR == 1 { code = 0 } /^ *```/ { code = !code }
	!code { while (match($0, /\]\([^)]+\)/)) { print FILENAME ":" substr($0, RSTART, RLENGTH); $0 = substr($0, RSTART + RLENGTH) } }' {} +)
[ "$count" -gt 10 ] || fail "no links between documents"

[ -s "$prefix/include/skrt-transport.h" ] || fail "the interface of transports is not installed"
for name in mpich openmpi; do
	[ ! -e "$top_builddir/loader/.libs/libskrt-$name.so" ] || [ -e "$prefix/lib/sklink/libskrt-$name.so" ] ||
		fail "the transport over $name is not installed"
done

if [ -e "$top_builddir/python/sklink/configured.py" ]; then
	python=$(echo "$prefix"/lib/python3*/*-packages)
	for file in __init__.py libskrt.py configured.py py.typed; do
		[ -e "$python/sklink/$file" ] || fail "the Python package has no $file"
	done
fi

if nm -D "$prefix/lib/libskrt.so" | grep -q '__[at]san_'; then
	echo "left out: programs, which would have to be sanitized, too"
	exit 0
fi
# The folders that configure was told are others.
export PATH=$prefix/bin:$PATH PKG_CONFIG_PATH=$prefix/lib/pkgconfig CPATH=$prefix/include LIBRARY_PATH=$prefix/lib \
	LD_LIBRARY_PATH=$prefix/lib
[ "$(pkg-config --variable=program sklink)" = "$prefix/bin/sklink" ] || fail "sklink.pc has another prefix"
[ -e "$(pkg-config --variable=makefile sklink)" ] || fail "sklink.pc names no makefile"
[ "$(pkg-config --define-variable=prefix=/moved --cflags libskrt | xargs)" = -I/moved/include ] || fail "libskrt.pc cannot be moved"
cp "$documents"/samples/composite/* . && cc -O3 -fPIC -c kernels.c
sklink composite.yaml kernels.o -o composite.sk
expected='1 27 125 343 729 1331 2197 3375 4913 6859 9261 12167 15625 19683 24389 29791'

# prints COMMAND: it runs, and prints the cubes.
prints() {
	"$@" >said.txt 2>&1 && [ "$(cat said.txt)" = "$expected" ] || { cat said.txt >&2; fail "$*"; }
}
rm composite.sk && sklink composite.pbtxt --dim rows=4 -lskernels -o composite.sk
cc run.c $(pkg-config --cflags --libs libskrt) -o run && prints ./run composite.sk
cc serial.c -ldl -o serial && prints ./serial ./composite.sk
if command -v c++ >/dev/null; then
	c++ -std=c++14 run.cc $(pkg-config --cflags --libs libskrt) -o run-cc && prints ./run-cc composite.sk
fi
if command -v python3 >/dev/null; then
	prints python3 run.py libskrt.so.0 composite.sk
fi

if command -v python3 >/dev/null; then
	[ "$(sklink-bisect --version)" = "$(sklink --version | sed 's/sklink/sklink-bisect/')" ] ||
		fail "sklink-bisect does not find sklink"
fi

# The same holds for the Python package, and with it libskrt and sklink.
if [ -n "${python-}" ] && /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
	PYTHONPATH=$python /usr/bin/python3 - >said.txt <<-P || fail "the Python package"
	import numpy, sklink
	path = sklink.link("composite.pbtxt", "--dim", "rows=4", "-lskernels", output="python.sk")
	print(sklink.Package(path).run(x=numpy.arange(16, dtype="float32").reshape(4, 4))["y"][3, 3])
	P
	[ "$(cat said.txt)" = 29791.0 ] || { cat said.txt >&2; fail "the Python package: another result"; }
fi

# The kernels for models are found where they are installed, unless an option excludes them; a link repeated elsewhere
# also finds them.
sklink composite.pbtxt --dim rows=4 --nostdlib -lskernels -o never.sk 2>said.txt && fail "--nostdlib searches a folder"
grep -q 'there is no libskernels.a' said.txt || { cat said.txt; fail "--nostdlib"; }
sklink composite.pbtxt --dim rows=4 -lskernels -o once.sk --repro=again.tar
tar xf again.tar && (cd again && "$top_builddir/sklink" @response.txt) || fail "the link cannot be repeated"
diff <(skdump --steps once.sk) <(skdump --steps again/once.sk) || fail "the link is repeated with other kernels"

# A manifest that the generator of the installed sample writes.
"$documents/samples/decode_layers/generate" 1 >decode.yaml
cc -O3 -fPIC -c "$documents/samples/decode_layers/kernels.c" -o decode.o
sklink decode.yaml decode.o -o decode.sk && skdump --verify decode.sk >/dev/null && skrun --predict decode.sk >/dev/null
