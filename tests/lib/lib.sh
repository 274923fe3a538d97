# Shared by the end-to-end scripts: `. "$top_srcdir/tests/lib/lib.sh"`. Gives $dir, a scratch directory that is the
# working directory and is removed at exit, and a few helpers.
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
	$KERNEL_CC $KERNEL_CFLAGS -I"$top_srcdir/format" -c "$1.c" -o "$1.o"
}

# compile_cc NAME FLAG…: NAME.cc becomes NAME.o in the same way.
compile_cc() {
	unit=$1
	shift
	$KERNEL_CC -x c++ $KERNEL_CFLAGS -std=c++17 -fPIC -ffunction-sections -I"$top_srcdir/format" "$@" -c \
		"$unit.cc" -o "$unit.o"
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
SK_KERNEL(increment, "vector op=Increment split=n; in x f32[n], out y f32[n], n i64");
C
}

# tensors SHAPE NAME…: lines of a manifest that declare tensors of floats.
tensors() {
	shape=$1
	shift
	printf "  %s: {dtype: f32, shape: $shape}\n" "$@"
}

# worth REPORT: each tile group that it tells of moves fewer bytes than its tasks one by one.
worth() {
	sed -nE 's/^    \{"launch": .*"first": "([^"]*)".*"traffic": \{"before": ([0-9]+), "after": ([0-9]+)\}.*/\1 \2 \3/p' "$1" >groups.txt
	[ "$(wc -l <groups.txt)" = "$(grep -c '^    {"launch": .*"traffic"' "$1")" ] ||
		fail "$1: the groups are not understood"
	awk '$3 >= $2 { print "the group of " $1 " moves " $3 " bytes, its tasks " $2; bad = 1 } END { exit bad }' \
		groups.txt >&2 ||
		fail "$1: a group saves nothing"
	groups_seen=$((${groups_seen-0} + $(wc -l <groups.txt)))
}

# proved PACKAGE: skdump --verify finds no error in it, as far as it can be proved: of a stripped package not all can.
proved() {
	status=0
	"$skdump" --verify "$1" >out.txt || status=$?
	[ $status = 0 ] || { [ $status = 2 ] && grep -q '^not proved: ' out.txt; } || fail "skdump --verify $1"
}

# fails_with PATTERN COMMAND…: the command must exit with 1, print a line that matches the extended regular expression,
# and must not have died of a signal or a sanitizer.
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

# refused PATTERN ARGUMENT…: linking model.yaml with the arguments fails like that, and leaves no files.
refused() {
	pattern=$1
	shift
	rm -f out.sk*
	fails_with "$pattern" "$sklink" model.yaml "$@" -o out.sk
	[ -z "$(ls | grep '^out\.sk')" ] || fail "something was left behind: $(ls)"
}

# works PACKAGE: ./main accepts its results, and they are the same on any cores.
works() {
	./main "./$1" || fail "$1: the results are others"
	for cores in 1 2 3 7; do
		"$skrun" "$1" --random 1 --verify --cores $cores >out.txt || { cat out.txt; fail "$1 on $cores cores"; }
	done
	"$skrun" "$1" --random 1 --guard --cores 3 >out.txt || fail "$1: --guard"
}

# use_images FLAG…: for tests of images that the linker makes without a manifest. `./run IMAGE NAME…` prints the results
# of functions; `source` also compiles with these flags. driver, source and gives belong to it.
use_images() {
	driver=$top_builddir/tests/linker/link-driver
	source_flags=$*
	$KERNEL_CC -O1 $source_flags "$top_srcdir/tests/lib/run-image.c" -o run -ldl
}

# source NAME: standard input becomes NAME.c and NAME.o, each function in a section of its own.
source() {
	cat >"$1.c"
	$KERNEL_CC -O1 -fPIC -ffunction-sections $source_flags -c "$1.c" -o "$1.o"
}

# gives RESULT FUNCTION ARGUMENT…: the function's result, linked with the arguments, in out.so, which exports it as
# $exported or FUNCTION_. The driver's output is in lines.txt.
gives() {
	result=$1 function=$2 export=${exported:-$2_}
	shift 2
	rm -f out.so
	"$driver" -o out.so --export "$export=$function" "$@" >lines.txt || fail "cannot link $*"
	[ "$(./run ./out.so "$export")" = "$export=$result" ] || fail "$*: $(./run ./out.so "$export"), not $result"
}

# two_tasks FIRST SECOND: model.yaml with a task one and a task two of kernels.c, one after the other in the scope sp1,
# and model.sk. Each argument is the part of a task after its name but for args, such as "kernel: scale, set: {factor:
# 2}".
two_tasks() {
	cat >model.yaml <<-M
	sklink: 1
	tensors:
	$(tensors '[4096]' x a y)
	tasks:
	  - {name: one, args: [x, a], scope: sp1, $1}
	  - {name: two, args: [a, y], scope: sp1, $2}
	M
	"$sklink" model.yaml kernels.o -o model.sk
}

# plain_profile NAME FLUSH: a device of 4 cores without a fraction, of 1 GHz, that move a byte a ns.
plain_profile() {
	cat <<-P
	name: $1
	lanes: core
	core.cores: 4
	core.operations: 1
	core.code-cache: 1 MiB
	clock: 1 GHz
	launch: 1000 ns
	await: 100 ns
	check: 0 ns
	call: 0 ns
	flush: $2
	code-fetch: unlimited
	memory: 4 GB/s
	core-memory: 1 GB/s
	P
}
