#!/bin/bash
# make deb: packages that lintian finds no error in, with every file in one of them; unpacked in a folder, they link and
# run a sample, in C, CMake and Python. Kernels are those of this build that the sample needs: lintian takes minutes for
# all of them. sklink is compiled without optimisation, for the same reason.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
unset MAKEFLAGS MFLAGS MAKELEVEL CC CFLAGS LDFLAGS DESTDIR
for program in dpkg-buildpackage dh dh_python3 lintian; do
	command -v $program >/dev/null || { echo "skipped: there is no $program"; exit 77; }
done
"$sklink" "$top_srcdir/samples/composite/composite.pbtxt" --dim rows=4 -L "$top_builddir/kernels" -lskernels -o few.sk \
	--why-extract=few.txt
mkdir kernels
(cd kernels && ar x "$top_builddir/kernels/libskernels.a" $(sed -n 's/.*libskernels\.a(\(.*\)).*/\1/p' ../few.txt))
ar rcs libskernels.a kernels/*.o
export DEB_BUILD_OPTIONS='noopt noautodbgsym' DEB_CFLAGS_STRIP=-g DEB_CXXFLAGS_STRIP=-g
make -s -C "$top_builddir" deb deb_folder="$dir/deb" deb_kernels="$dir/libskernels.a" >deb.txt 2>&1 || {
	tail -n 30 deb.txt >&2; fail "make deb"; }
version=$(sed -n 's/^PACKAGE_VERSION = //p' "$top_builddir/Makefile")

lintian --fail-on error deb/*.changes >lintian.txt 2>&1 || { cat lintian.txt >&2; fail "lintian finds errors"; }
transports=
for name in mpich openmpi; do
	[ ! -e "$top_builddir/loader/.libs/libskrt-$name.so" ] || transports="$transports libskrt-$name"
done
for package in sklink libskrt0 $transports libskrt-dev python3-sklink sklink-doc; do
	[ "$(dpkg-deb -f deb/${package}_*.deb Version)" = "$version-1" ] || fail "no $package of version $version-1"
	dpkg -x deb/${package}_*.deb root
	dpkg-deb -c deb/${package}_*.deb | awk '!/\/$/ { print $6 }'
done | sort | uniq -d >twice.txt
[ ! -s twice.txt ] || { cat twice.txt >&2; fail "files that two packages have"; }
echo "$(wc -l < <(find root -type f)) files"
grep -q 'Apache License, Version 2.0' root/usr/share/doc/sklink/copyright &&
	grep -q 'Version 2.0' "$top_srcdir/LICENSE" || fail "the licence"
grep -q '^Package: sklink$' <(dpkg-deb -f deb/sklink_*.deb) || fail "control"

# As if they were installed.
libraries=$(echo "$dir"/root/usr/lib/*-linux-gnu*)
export PATH=$dir/root/usr/bin:$PATH LD_LIBRARY_PATH=$libraries
sed -i "s,^prefix=.*,prefix=$dir/root/usr," "$libraries"/pkgconfig/*.pc
export PKG_CONFIG_PATH=$libraries/pkgconfig
[ "$(sklink --version)" = "sklink $version" ] || fail "sklink --version says $(sklink --version)"
sample=root/usr/share/doc/sklink/samples/composite
sklink $sample/composite.pbtxt --dim rows=4 -lskernels -o composite.sk
cc $sample/run.c $(pkg-config --cflags --libs libskrt) -o run
expected='1 27 125 343 729 1331 2197 3375 4913 6859 9261 12167 15625 19683 24389 29791'
[ "$(./run composite.sk)" = "$expected" ] || fail "run prints $(./run composite.sk)"
skrun composite.sk --random 1 --verify >/dev/null && skdump --verify composite.sk >/dev/null || fail "skrun and skdump"
if /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
	PYTHONPATH=root/usr/lib/python3/dist-packages /usr/bin/python3 - >said.txt <<-P
	import numpy, sklink
	print(sklink.Package("composite.sk").run(x=numpy.arange(16, dtype="float32").reshape(4, 4))["y"][3, 3])
	P
	[ "$(cat said.txt)" = 29791.0 ] || { cat said.txt >&2; fail "python3-sklink"; }
fi
if command -v cmake >/dev/null; then
	cp -r root/usr/share/doc/sklink/samples .
	cmake -S samples/building -B cmake -DCMAKE_PREFIX_PATH="$dir/root/usr" >said.txt &&
		cmake --build cmake >>said.txt || { cat said.txt >&2; fail "CMake"; }
	[ "$(cmake/main)" = '1 9 25 49' ] || fail "CMake: main prints $(cmake/main)"
fi
for page in man1/sklink.1 man1/skrun.1 man1/skdump.1 man1/sklink-bisect.1 \
	$(grep -rhE '^<!-- man: ' --include='*.md' "$top_srcdir/doc" | awk '{ print "man" $4 "/" $3 "." $4 }'); do
	[ -s "root/usr/share/man/$page.gz" ] || fail "there is no $page.gz"
done
for shell in bash-completion/completions/sklink bash-completion/completions/skrun zsh/vendor-completions/_sklink; do
	[ -s "root/usr/share/$shell" ] || fail "there is no $shell"
done
