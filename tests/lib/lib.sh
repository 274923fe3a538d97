# Shared by the end-to-end scripts: `. "$top_srcdir/tests/lib/lib.sh"`. Gives $dir, a scratch directory that is the working
# directory and is removed at exit, and a few helpers.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

sklink=$top_builddir/sklink
skrun=$top_builddir/skrun
skdump=$top_builddir/skdump

fail() {
	echo "FAIL: $*" >&2
	exit 1
}

# compile NAME: NAME.c in the working directory becomes NAME.o, as a kernel.
compile() {
	$KERNEL_CC $KERNEL_CFLAGS -I"$top_srcdir/stubs" -c "$1.c" -o "$1.o"
}

# two_lane_kernels: the C of a kernel for each of two lanes: product on the first one, increment on the second.
two_lane_kernels() {
	cat <<'C'
#include "skkernel.h"

void product(const float *x, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] * x[i];
}
SK_KERNEL(product, "cube split=n; in x f32[n], out y f32[n], n i64");

void increment(const float *x, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] + 1;
}
SK_KERNEL(increment, "vector split=n; in x f32[n], out y f32[n], n i64");
C
}

# tensors SHAPE NAME…: lines of a manifest that declare tensors of floats.
tensors() {
	shape=$1
	shift
	printf "  %s: {dtype: f32, shape: $shape}\n" "$@"
}

# proved PACKAGE: skdump --verify finds no error in it, as far as it can be proved: of a stripped package not all can.
proved() {
	status=0
	"$skdump" --verify "$1" >out.txt || status=$?
	[ $status = 0 ] || { [ $status = 2 ] && grep -q '^not proved: ' out.txt; } || fail "skdump --verify $1"
}

# fails_with PATTERN COMMAND…: the command must exit with 1, print a line that matches the extended regular expression, and
# must not have died of a signal or a sanitizer.
fails_with() {
	pattern=$1
	shift
	status=0
	"$@" >out.txt 2>err.txt || status=$?
	[ "$status" = 1 ] || { cat err.txt >&2; fail "exit status $status, not 1: $*"; }
	if grep -E 'AddressSanitizer|runtime error:|LeakSanitizer' err.txt >&2; then
		fail "sanitizer report: $*"
	fi
	grep -qE -- "$pattern" err.txt || { cat err.txt >&2; fail "no line matches '$pattern': $*"; }
}
