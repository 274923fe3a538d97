#!/bin/bash
# gdb on a program that has loaded a package with libskrt: it stops in a kernel and shows its source line, the
# dispatcher with the manifest's line, and libskrt below; with symbols only, by their names; also when it comes later.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
command -v gdb >/dev/null || { echo "no gdb: nothing is tested"; exit 77; }
if grep -q '__[at]san_' <(nm "$skrun"); then
	echo "gdb does not work on programs with a sanitizer"
	exit 77
fi

cp "$top_srcdir/tests/lib/kernels.c" .
$KERNEL_CC $KERNEL_CFLAGS -g -I"$top_srcdir/format" -c kernels.c -o kernels.o
two_tasks 'kernel: scale, set: {factor: 2}' 'kernel: prefix'
"$sklink" --compress-debug-sections=zlib model.yaml kernels.o -o compressed.sk
"$sklink" -S model.yaml kernels.o -o symbols.sk
unset SKRT_GDB

debug() {
	gdb -nx -batch -ex 'set confirm off' -ex 'set debuginfod enabled off' -ex 'set breakpoint pending on' "$@" \
		</dev/null >gdb.txt 2>&1 || true
	if grep -qE 'ptrace: Operation not permitted|Could not trace' gdb.txt; then
		echo "gdb may not trace here: nothing is tested"
		exit 77
	fi
}

shows() {
	for pattern in "$@"; do
		grep -qE "$pattern" gdb.txt || { cat gdb.txt; fail "gdb does not show: $pattern"; }
	done
}

for package in model compressed; do
	debug -ex 'break prefix' -ex run -ex backtrace -ex 'print n' -ex step -ex 'delete' -ex continue \
		--args "$skrun" $package.sk --random 1 --cores 2
	shows '#0 +prefix \(x=0x[0-9a-f]+, y=0x[0-9a-f]+, n=4096\) at .*kernels.c:[0-9]+$' \
		'#1 .* in sk_sp1 \(.*\) at .*model.yaml:8$' '#2 .* run_on_fibre \(' '#3 .* begin \(' '#4 .* sk_fibre_begin ' \
		'^\$1 = 4096' '^[0-9]+.*y\[i\] = sum \+= x\[i\];' 'exited normally'
	if grep -qE '^#5 |^Backtrace stopped' gdb.txt; then
		cat gdb.txt
		fail "gdb looks for somebody who has called the fibre's beginning"
	fi
done

debug -ex 'break prefix' -ex run -ex backtrace -ex 'info registers rip' -ex 'delete' -ex continue \
	--args "$skrun" symbols.sk --random 1 --cores 2
shows '#0 .* in prefix \(\)' '#1 .* in sk_sp1 \(\)' '#2 .* run_on_fibre \(' 'rip .*<prefix' 'exited normally'

# Fused and unfused entries, in launch after launch.
debug -ex 'break scale' -ex run -ex backtrace -ex continue -ex continue \
	--args "$skrun" model.sk --random 1 --cores 1 --unfused --repeat 2
shows '#1 .* in sk_thunk[.0-9]* \(\)' 'exited normally'
[ "$(grep -c 'hit Breakpoint 1' gdb.txt)" = 2 ] || { cat gdb.txt; fail "gdb does not stop each time"; }

# A program that has libskrt as a shared library.
program=$top_builddir/samples/composite/.libs/run
if [ -e "$program" ]; then
	"$sklink" "$top_srcdir/samples/composite/composite.yaml" "$top_builddir/samples/composite/kernels.o" -o \
		composite.sk
	debug -ex "set environment LD_LIBRARY_PATH $top_builddir/.libs" -ex 'break pow_f32' -ex run -ex backtrace \
		--args "$program" composite.sk
	shows '#0 .*pow_f32 ' '#1 .* sk_composite ' '#[0-9]+ .* skrt_[a-z_]+ |#2 .* in run_on_fibre \('
fi

# A debugger that comes later finds the data that the program was asked to keep for it.
SKRT_GDB=1 "$skrun" model.sk --random 1 --cores 1 --repeat 1000000000 >/dev/null &
program=$!
sleep 0.5
debug -p $program -ex 'break prefix' -ex continue -ex backtrace -ex delete -ex detach
kill $program
shows '#0 +prefix \(x=.*kernels.c:' '#1 .* in sk_sp1 \(.*\) at .*model.yaml:8$'

# Programs can turn it off.
export SKRT_GDB=0
debug -ex 'break prefix' -ex run --args "$skrun" model.sk --random 1
shows 'exited normally'
grep -q 'hit Breakpoint' gdb.txt && fail "SKRT_GDB=0 has no effect"
exit 0
