# Ten thousand mutants of thirty real kernel objects through the linker, in one process: mutants.c describes the
# changes, mutate.c defines failures. Then some through sklink itself, which leaves an output file only if it reports
# success.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/packages.sh"

# Most of them out of archives of Debian's packages, or of those that are installed: C, Fortran and assembler (x264's by
# nasm), as far as they need nothing but imports.
libraries=$(dirname "$($KERNEL_CC -print-file-name=libc.so)")
sed -n 's/^SK_IMPORT(\([A-Za-z0-9_]*\),.*/\1/p' "$top_srcdir/format/imports.def" | sort >imports
mkdir objects
collect() { # PACKAGE ARCHIVE COUNT [WHICH]: members with matching names
	archive=$libraries/$2
	! get_package "$1" || archive=$packages/$1/usr/lib/x86_64-linux-gnu/$2
	[ -f "$archive" ] || return 0
	mkdir members && cd members
	# Spread over the archive; names that occur once, since ar takes the first of several.
	ar t "$archive" | sort | uniq -u | grep -e "${4:-.}" | awk -v count=$((8 * $3)) '{ name[NR] = $0 } END {
		for (i = 0; i < count; i++) print name[1 + int(i * NR / count)] }' | sort -u >names
	xargs ar x "$archive" <names
	taken=0
	for object in *.o; do
		[ $taken -lt "$3" ] || break
		[ -z "$(nm -u --format=posix "$object" | awk '{ print $1 }' | sort | comm -23 - ../imports)" ] ||
			continue
		mv "$object" "../objects/$1-$object"
		taken=$((taken + 1))
	done
	cd ..
	rm -r members
}
collect libopenblas-pthread-dev openblas-pthread/libopenblas.a 6
collect libblas-dev blas/libblas.a 3
collect liblapack-dev lapack/liblapack.a 3
collect libfftw3-dev libfftw3.a 3
collect libgsl-dev libgsl.a 3
collect libsodium-dev libsodium.a 3
collect libx264-dev libx264.a 3 -a-
collect libx264-dev libx264.a 1 '^[a-z]*[.]o'

# The others by the installed compilers.
compilers=$KERNEL_CC
for compiler in gcc clang; do
	! command -v $compiler >/dev/null || [ "$compiler" = "$KERNEL_CC" ] || compilers="$compilers $compiler"
done
for flags in "-O2" "-Os -g -ffunction-sections -fdata-sections" "-O1 -fcommon -fcf-protection" "-O3 -march=haswell"; do
	for source in tests/lib/kernels tests/fuzz/object samples/composite/kernels samples/quant_matmul/quant_matmul;
		do
		for compiler in $compilers; do
			[ "$(ls objects | wc -l)" -lt 30 ] || break 3
			$compiler $flags -fPIC -ffp-contract=off -I"$top_srcdir/format" -c "$top_srcdir/$source.c" \
				-ffile-prefix-map="$dir=." -ffile-prefix-map="$top_srcdir=." \
				-o "objects/$compiler$(echo "$flags-$source" | tr -c 'a-zA-Z0-9\n' -).o"
		done
	done
done
[ "$(ls objects | wc -l)" = 30 ] || fail "$(ls objects | wc -l) objects, not 30"
"$top_builddir/tests/fuzz/fuzz-object" --mutants "${MUTANTS:-10000}" objects/* || fail "mutants of objects"

# sklink, with a check of the folder afterwards.
mkdir mutants output
$KERNEL_CC -Os -fPIC -fno-asynchronous-unwind-tables -I"$top_srcdir/format" -c "$top_srcdir/tests/lib/kernels.c" -o \
	kernels.o
(cd mutants && "$top_builddir/tests/fuzz/fuzz-object" --write --mutants 200 ../kernels.o)
linked=0 refused=0
for mutant in mutants/*; do
	status=0
	timeout 10 "$sklink" "$top_srcdir/tests/fuzz/manifest/kinds.yaml" $mutant -o output/model.sk 2>err.txt ||
		status=$?
	case $status in
	0)
		"$skdump" --verify output/model.sk >/dev/null || fail "$mutant gives a package that cannot be proved"
		rm output/model.sk
		linked=$((linked + 1))
		;;
	1)
		grep -q '^sklink: error: ' err.txt || fail "$mutant fails without an error"
		refused=$((refused + 1))
		;;
	*)
		cat err.txt >&2
		fail "$mutant: exit status $status"
		;;
	esac
	[ -z "$(ls -A output)" ] || fail "$mutant leaves $(ls -A output), with exit status $status"
done
echo "sklink: $linked linked, $refused refused"
[ $linked -gt 0 ] && [ $refused -gt 0 ] || fail "all mutants were refused, or none"
