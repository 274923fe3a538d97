# Every member of Debian's numerical and media archives, and of the libraries for Fortran and C++, that GNU ld can link
# with -shared -Bsymbolic, through the linker: each by itself, with a companion that defines the symbols that it takes
# from others, and in batches, for which a GNU ld link of the same objects must mean the same (compare-links.c). Only
# IFUNCs and destructors of thread-local objects may be refused by the linker alone. Half of them: ARCHIVES=openblas is
# OpenBLAS (archives-openblas.sh), which has as many members as all others, else the others.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/packages.sh"
members=$top_builddir/tests/linker/link-members
compare=$top_builddir/tests/linker/compare-links
sed -n 's/^SK_IMPORT(\([A-Za-z0-9_]*\),.*/\1/p' "$top_srcdir/format/imports.def" | sort >imports
missing= linked=0 refused=0 compared=no

# A weak definition of everything that the objects need and that neither they nor the import list have. Weak: in a batch
# the members' own definitions count.
make_companion() {
	nm -u --format=posix --quiet "$@" | awk '!/:$/ { print $1 }' | sort -u | comm -23 - imports >needed
	awk 'BEGIN { print ".bss" } { printf ".balign 64\n.weak \"%s\"\n\"%s\": .skip 64\n", $1, $1 }' needed \
		>companion.s
	$KERNEL_CC -c companion.s
}

# Lines of refused.txt are "OBJECT: reason". A refused member must be refused by the documents, or by GNU ld as well.
# Leaves the others in $good, without those that have thread-local variables: GNU ld leaves more of them to the loader
# than necessary. tls.sh tests the threads' views.
sort_out_refused() {
	local object reason

	printf '%s\n' "$@" >objects.txt
	nm -A -u --quiet --format=posix "$@" | sed -n 's/: __tls_get_addr U.*//p' >threads.txt
	sed 's/: .*//' refused.txt >names.txt
	linked=$((linked + $(grep -cvxFf names.txt objects.txt)))
	good=$(cat names.txt threads.txt | grep -vxFf - objects.txt | tr '\n' ' ')
	while IFS= read -r reason; do
		object=${reason%%: *}
		! grep -qxF "$object" threads.txt || continue
		refused=$((refused + 1))
		case $reason in
		*"refers to an IFUNC"* | *"the destructor of a thread-local object"*) ;;
		*) ! ld -shared -Bsymbolic -o gnu.so "$object" 2>ld.txt || fail "GNU ld links it: $archive: $reason" ;;
		esac
	done <refused.txt
}

# The oracle notices a byte that is changed in code, in data, or in the loader's data.
check_oracle() {
	for section in .text .rodata .rela.dyn .eh_frame; do
		offset=$(readelf -SW sk.so | sed 's/^ *\[ *[0-9]*\]//' | awk -v name=$section '$1 == name { print $4 }')
		cp sk.so damaged.so
		printf '\x5a\xa5\x5a\xa5' | dd of=damaged.so bs=1 seek=$((0x$offset + 16)) conv=notrunc 2>/dev/null
		! "$compare" gnu.so gnu.map damaged.so sk.map "$@" >out.txt 2>err.txt ||
			fail "damage in $section is not seen"
		grep -q '^compare-links: [0-9]* differences' err.txt || { cat err.txt >&2;
			fail "no difference in $section"; }
	done
}

link_batch() {
	make_companion "$@"
	"$members" --each one.so companion.o "$@" >refused.txt || fail "$archive: the linker breaks"
	sort_out_refused "$@"
	ld -shared -Bsymbolic -z muldefs --eh-frame-hdr -Map=gnu.map -o gnu.so companion.o $good 2>ld.txt || {
		cat ld.txt >&2
		fail "$archive: GNU ld refuses a batch"
	}
	"$members" --together sk.so sk.map companion.o $good || fail "$archive: a batch"
	"$compare" gnu.so gnu.map sk.so sk.map companion.o $good >>compared.txt || fail "$archive: the outputs differ"
	if [ $compared = no ]; then
		check_oracle companion.o $good
		compared=yes
	fi
}

# try_archive PACKAGE PATH: under /usr/lib
try_archive() {
	get_package "$1" || {
		missing="$missing $1"
		return 0
	}
	archive=$2
	linked=0 refused=0
	mkdir members
	: >compared.txt
	"$members" --split "$packages/$1/usr/lib/$2" members
	ls members/*.o | xargs -n 256 >batches.txt
	while read -r batch; do
		link_batch $batch
	done <batches.txt
	rm -r members
	awk -v name="${2##*/}" -v linked=$linked -v refused=$refused '
		{ sections += $1; bytes += $3; relocations += $5; frames += $7 }
		END { printf "%s: %d members linked, %d refused; equal: %d sections, %d bytes, " \
			"%d relocations, %d frames\n", name, linked, refused, sections, bytes, relocations, frames }' \
				compared.txt
}

multiarch=x86_64-linux-gnu
if [ "${ARCHIVES:-others}" = openblas ]; then
	try_archive libopenblas-pthread-dev $multiarch/openblas-pthread/libopenblas.a
else
	try_archive libsodium-dev $multiarch/libsodium.a
	try_archive libblas-dev $multiarch/blas/libblas.a
	try_archive liblapack-dev $multiarch/lapack/liblapack.a
	for precision in "" f l q; do
		try_archive libfftw3-dev $multiarch/libfftw3$precision.a
	done
	try_archive libfftw3-dev $multiarch/libfftw3_threads.a
	try_archive libgsl-dev $multiarch/libgsl.a
	try_archive libgsl-dev $multiarch/libgslcblas.a
	try_archive libblis-serial-dev $multiarch/blis-serial/libblis.a
	try_archive libx264-dev $multiarch/libx264.a
	try_archive libgfortran-12-dev gcc/$multiarch/12/libgfortran.a
	try_archive libstdc++-12-dev gcc/$multiarch/12/libstdc++.a
fi
[ -z "$missing" ] || { echo "SKIP: packages that cannot be had:$missing"; exit 77; }
