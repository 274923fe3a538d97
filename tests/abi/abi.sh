#!/bin/bash
# libskrt for programs that were built with older headers, which are kept in tests/abi/: they run; exported symbols keep
# their versions; structs have only grown. The library exports exactly the functions that the header declares.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
abi=$top_srcdir/tests/abi library=$top_builddir/.libs/libskrt.so
[ -x /usr/bin/python3 ] || { echo "needs python3"; exit 77; }

# plain HEADER: without comments, directives and the sizes of C++.
plain() {
	sed -E '/^#/d; s/ ?SKRT_SIZE_OF\([^)]*\)//' "$1" | $CC -fpreprocessed -E -P -x c -
}

# functions HEADER: their names.
functions() {
	plain "$1" | grep -oE '\bskrt_[a-z_]+\(' | tr -d '(' | sort -u
}

# ---- exported symbols ----

today=$top_srcdir/loader/skrt.h map=$top_srcdir/loader/libskrt.map
grep -oE '^\s(skrt|__jit)_[a-z_]+;' "$map" | tr -d '\t;' | sort >listed.txt
{ functions "$today"; printf '__jit_debug_%s\n' descriptor register_code; } | sort | diff - listed.txt >&2 ||
	fail "skrt.h (<) and libskrt.map (>) have other functions"
nm -D --defined-only "$library" | awk '$2 != "A" { print $3 }' | sort >exported.txt
grep '@@' exported.txt | sed 's/@@.*//' | diff listed.txt - >&2 ||
	fail "libskrt.map (<) and the library (>) have other symbols"
! grep -v '@' exported.txt || fail "symbols without a version"
# The functions of each version, as the header of that version has them: it is not there without one, and does not lose
# any.
awk '/^SKRT_[0-9.]+ \{/ { version = substr($1, 6) } /^\tskrt_/ { sub(/;/, "", $1); print version, $1 }' "$map" |
	sort >versions.txt
for version in $(cut -d' ' -f1 versions.txt | sort -uV); do
	functions "$abi/skrt-$version.h" | comm -23 - <(sort -u known.txt 2>/dev/null) | sed "s/^/$version /" |
		diff - <(grep "^$version " versions.txt) >&2 ||
			fail "skrt-$version.h (<) and libskrt.map (>) have other functions"
	sed "s/^\([^ ]*\) \(.*\)/\2@@SKRT_\1/; /@@SKRT_$version\$/!d" versions.txt | grep -vxFf exported.txt &&
		fail "the version of a function"
	functions "$abi/skrt-$version.h" >>known.txt
done
grep '@SKRT_0$' exported.txt | sed 's/@.*//' >old.txt
[ "$(wc -l <old.txt)" = 8 ] || fail "not all functions with structs have a version for old programs: $(cat old.txt)"

# ---- layout ----

# describe HEADER: "NAME OFFSET SIZE" of each struct, field and constant, as the compiler sees them.
describe() {
	mkdir -p include && cp "$1" include/skrt.h
	plain "$1" | /usr/bin/python3 "$abi/describe.py" >describe.c
	$CC -Iinclude describe.c -o describe && ./describe | sort
}

describe "$today" >today.txt
[ "$(wc -l <today.txt)" -gt 90 ] || fail "the header is not understood"
# The last field ends with its struct: else a field that comes later may lie in bytes that older programs have left as
# they were.
awk '$1 !~ /\./ { size[$1] = $3 } $1 ~ /\./ { split($1, part, "."); if ($2 + $3 > end[part[1]]) end[part[1]] = $2 + $3 }
	END { for (type in end) if (end[type] != size[type]) print type ": " size[type] - end[type] " bytes behind the last field" }' today.txt |
	grep . && fail "padding"
for header in $(ls "$abi"/skrt-*.h | grep -v 'skrt-0\.h'); do
	describe "$header" >frozen.txt
	awk -v name="${header##*/}" '
		FILENAME == ARGV[1] { today[$1] = $2 " " $3; size[$1] = $3; next }
		!($1 in today) { print name ": " $1 " is gone"; next }
		$1 ~ /^skrt_[a-z_]+$/ { before[$1] = $3; if (size[$1] < $3) print name ": struct " $1 " was larger"; next }
		{ had[$1] = 1; if (today[$1] != $2 " " $3) print name ": " $1 " was at " $2 ", " $3 " bytes; now " today[$1] }
		END { for (field in today) if (field ~ /\./ && !(field in had)) { type = field; sub(/\..*/, "", type); split(today[field], place, " ")
			if (type in before && place[1] < before[type]) print name ": " field " lies in bytes that were there before" } }' today.txt frozen.txt |
		grep . && fail "structs and constants are not those of $header"
	# Prototypes: the compiler compares them.
	{ echo '#include "skrt.h"'; plain "$header" | /usr/bin/python3 "$abi/describe.py" --prototypes; } >prototypes.c
	[ "$(grep -c 'skrt_[a-z_]*(' prototypes.c)" = "$(functions "$header" | wc -l)" ] ||
		fail "the prototypes of $header are not understood"
	$CC -I"$top_srcdir/loader" -Werror -c prototypes.c -o prototypes.o || fail "functions are not those of $header"
done

# ---- programs ----

if nm -D "$library" | grep -q '__[at]san_'; then
	echo "left out: programs would have to be sanitized, too"
	exit 0
fi

cp "$abi/kernels.c" . && compile kernels
cat >model.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: i32, shape: [2, 3]}
  "y": {dtype: i32, shape: [2, 3]}
tasks:
  - {name: only, kernel: draw, args: [x, "y"], stream: 2}
M
"$sklink" model.yaml kernels.o -o model.sk

# build VERSION LIBRARY [FLAG...]: the program, with the header of that version.
build() {
	mkdir -p "include-$1" && cp "$abi/skrt-$1.h" "include-$1/skrt.h"
	$CC -Wall -Wextra -Werror -I"include-$1" "${@:3}" "$abi/program.c" "$2" -o "program-$1"
	LD_LIBRARY_PATH=$top_builddir/.libs "./program-$1" model.sk >said.txt || { cat said.txt >&2;
		fail "a program built with skrt-$1.h"; }
	[ "$(cat said.txt)" = right ] || fail "a program built with skrt-$1.h: $(cat said.txt)"
}
# An old program was linked with a library that had no symbol versions.
functions "$abi/skrt-0.h" | sed 's/.*/void &(void) {}/' | $CC -x c -shared -fPIC -Wl,-soname,libskrt.so.0 - -o libold.so
build 0 ./libold.so
! readelf -V program-0 | grep SKRT_ || fail "the old program asks for a version"
for header in $(ls "$abi"/skrt-*.h | grep -v 'skrt-0\.h'); do
	version=${header##*skrt-}
	build "${version%.h}" "$library" -DHAS_SIZES
done
readelf -V program-1.0 | grep -q 'SKRT_1\.0' || fail "the program asks for no version"
