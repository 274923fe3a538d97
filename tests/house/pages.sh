#!/bin/bash
# The pages for newcomers: README.md, doc/tutorial/ and doc/howto/. Their commands are run (tests/lib/pages.sh). Those
# of doc/howto/compilers/ need other compilers: tests/compilers/compilers.sh.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/pages.sh"
[ ! -x /usr/bin/python3 ] || ln -s /usr/bin/python3 "$prefix/bin/python3"

# lacks PAGE: something that the page needs and that is not here.
lacks() {
	local text

	text=$(<"$top_srcdir/$1")
	case $text in *"from onnx"* | *samples/bert/bert.py* | *samples/decoder/decoder.py*)
		/usr/bin/python3 -c 'import onnx' 2>/dev/null || echo python3-onnx ;;
	esac
	case $text in *"import numpy, sklink"* | *"--libs libskrt"*)
		! nm -D "$top_builddir/.libs/libskrt.so" | grep -q '__[at]san_' ||
			echo "a libskrt without a sanitizer" ;;
	esac
	case $text in *openssl*)
		command -v openssl >openssl.txt && grep -q '^#define HAVE_SODIUM 1' "$top_builddir/config.h" ||
			echo "openssl and libsodium" ;;
	esac
	case $text in *libz.a*)
		[ -e /usr/lib/x86_64-linux-gnu/libz.a ] || echo zlib1g-dev ;;
	esac
}

cd "$top_srcdir"
pages=$(ls README.md doc/tutorial/*.md doc/howto/*.md)
cd "$dir"
for page in $pages; do
	[ "$page" != doc/howto/build-systems.md ] || continue # tests/packaging/build-systems.sh
	missing=$(lacks "$page")
	if [ -n "$missing" ]; then
		echo "left out: $page, which needs" $missing
	else
		follow "$page"
	fi
done

# README.md's picture can be drawn again.
if [ -x /usr/bin/python3 ]; then
	/usr/bin/python3 "$top_srcdir/doc/timeline.py" "$top_builddir" picture.svg
	[ "$(grep -c '<rect' picture.svg)" = "$(grep -c '<rect' "$top_srcdir/doc/before-after.svg")" ] ||
		fail "the picture has other parts"
fi
