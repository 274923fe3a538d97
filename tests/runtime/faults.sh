#!/bin/bash
# Any fault of a kernel ends its launch with an error that names task, kernel, core and place, and has no other effect:
# in a fused and in a lone task, on any number of cores, on threads and on the simulated device. tests/runtime/faults.c
# checks each error.
. "$top_srcdir/tests/lib/lib.sh"
# ThreadSanitizer holds back the signal that expels a kernel: it would never end.
if nm "$skrun" | grep -q '__tsan_init'; then
	exit 77
fi
cp "$top_srcdir/tests/runtime/fault-kernels.c" . && compile fault-kernels

# Three misbehaving tasks, so that the kernel alone does not tell which it was.
cat >fused.yaml <<M
sklink: 1
tensors:
  kind: {dtype: i32, shape: [1]}
  fine: {dtype: i32, shape: [1], data: fine.npy}
  page: {dtype: u8, shape: [4096]}
$(tensors '[1000]' x a b c d y)
tasks:
  - {name: first, kernel: twice, args: [x, a], scope: fused}
  - {name: good, kernel: misbehave, args: [fine, a, c, page], stream: 1, scope: fused}
  - {name: bad, kernel: misbehave, args: [kind, a, b, page], stream: 1, scope: fused}
  - {name: better, kernel: misbehave, args: [fine, c, d, page], stream: 1, scope: fused}
  - {name: last, kernel: twice, args: [b, y], scope: fused}
scopes:
  fused: {options: "stream-fusion=1"}
M
{
	printf '\223NUMPY\001\000v\000%-117s\n' "{'descr': '<i4', 'fortran_order': False, 'shape': (1,), }"
	printf '\0\0\0\0'
} >fine.npy
"$sklink" fused.yaml fault-kernels.o -o fused.sk
sed '/name: \(first\|good\|better\|last\)/d; /fused:/d; /scopes:/d; s/, scope: fused//; s/\[kind, a, b, page\]/[kind, x, y, page]/
	/^  \(a\|b\|c\|d\|fine\):/d' fused.yaml >lone.yaml
"$sklink" lone.yaml fault-kernels.o -o lone.sk

launch=$("$skrun" --list fused.sk | sed -n 's/^launch  \(.*\)  superkernel of scope fused, 5 tasks.*/\1/p')
lone=$("$skrun" --list lone.sk | sed -n 's/^launch  \(.*\)  a task by itself.*/\1/p')
[ -n "$launch" ] && [ -n "$lone" ] || fail "no launches"
for where in 'host 1' 'host 2' 'host 7' 'a3 0' 'a3 1'; do
	set -- $where
	"$top_builddir/tests/runtime/faults" fused.sk "$launch" "superkernel $launch" $1 $2 >fused.txt ||
		fail "fused on $where"
	"$top_builddir/tests/runtime/faults" lone.sk "$lone" "launch $lone" $1 $2 >lone.txt || fail "lone on $where"
	"$top_builddir/tests/runtime/faults" lone.sk bad "task entry sk_unfused_bad" $1 $2 >thunk.txt ||
		fail "by a thunk on $where"
done

# kind NAME: the kernel's behaviour.
kind() {
	local number=$(awk -v name="$1" \
		'/^enum {/ { count = 0; next } $1 == name "," { print count } /^\t[A-Z_]+,/ { count++ }' \
		fault-kernels.c)
	printf "\\$(printf %o $number)\\0\\0\\0" | cat <(head -c 128 fine.npy) - >kind.npy
}

# The serial entries, and skrun.
kind NULL_WRITE
for file in fused lone; do
	fails_with "^skrun: error: .*serial run: task 'bad': kernel misbehave: segmentation fault .SIGSEGV.: write at address 0x10; at misbehave" \
		"$skrun" $file.sk --input kind=kind.npy --random 1 --serial
	fails_with "^skrun: error: task entry .*: task 'bad': kernel misbehave on core .: segmentation fault" \
		"$skrun" $file.sk --input kind=kind.npy --random 1 --unfused --cores 2
done

# An array that is larger than the stack is touched in its guard, however far below it that is.
for size in 16 60; do
	[ $size = 16 ] && kind LARGE_FRAME || kind HUGE_FRAME
	for options in --serial '--unfused --cores 2' '--guard --cores 2' '--device a3'; do
		fails_with "^skrun: error: .*: task 'bad': kernel misbehave(| on (cube |)core [0-9]*): stack overflow .SIGSEGV.: the stack has 8388608 bytes; at frame_$size[.a-z]*\+0x" \
			"$skrun" fused.sk --input kind=kind.npy --random 1 $options
	done
done

# Without the register that leads to the thread's own memory the fault is still found, and checked runs name its task.
# (AddressSanitizer has alternate stacks of its own, on which nothing says what the register has held.)
if ! nm "$skrun" | grep -q '__asan_init'; then
	kind LOST_THREAD
	lost="segmentation fault .SIGSEGV.: read at address 0x0; at .*; a kernel on this core had changed FS, by which a thread finds its own memory"
	fails_with "^skrun: error: superkernel sk_fused: serial run: $lost" "$skrun" fused.sk --input kind=kind.npy \
		--random 1 --serial
	for options in '--unfused --cores 2' '--guard --cores 2' '--guard --device a3'; do
		fails_with "^skrun: error: .*: task 'bad': kernel misbehave on (cube |)core [0-9]*: $lost" \
			"$skrun" fused.sk --input kind=kind.npy --random 1 $options
	done
fi

# Changed control state concerns only the core's other tasks; checked runs name the task that changed it.
untidy() {
	kind $1
	for file in fused lone; do
		"$skrun" $file.sk --input kind=kind.npy --random 1 --serial >/dev/null || fail "kind $1, serial run"
		fails_with "^skrun: error: .*: task 'bad': kernel misbehave on (cube |)core .: $2" \
			"$skrun" $file.sk --input kind=kind.npy --random 1 --guard --cores 2
	done
}
untidy DIRECTION 'it has returned with the direction flag set$'
untidy ALIGNMENT 'it has returned with alignment checks on$'
untidy ROUNDING 'it has changed MXCSR .rounding, flushing to zero, exceptions. from 0x1f80 to 0x7f80$'
untidy CONTROL_WORD 'it has changed the x87 control word from 0x37f to 0xc7f$'
untidy PENDING 'it has changed the x87 control word from 0x37f to 0x37b$'
untidy FULL 'it has returned with values on the x87 stack, or from MMX without emms$'
# A kernel that also has a fault is reported for the fault.
kind UNTIDY_FAULT
fails_with "^skrun: error: .*: task 'bad': kernel misbehave on core .: segmentation fault .SIGSEGV.: write at address 0x10; at misbehave" \
	"$skrun" fused.sk --input kind=kind.npy --random 1 --guard --cores 2

# Inputs are mapped, and files that are cut off also raise SIGBUS: libskrt tells the two apart.
kind UNALIGNED
fails_with "^skrun: error: .*: task 'bad': kernel misbehave on core .: bus error .SIGBUS.: an access that is not aligned, while the kernel has alignment checks on; at misbehave" \
	"$skrun" fused.sk --input kind=kind.npy --random 1 --cores 2

kind NO_STACK # where no handler can run but on the alternate stack
fails_with "^skrun: error: superkernel sk_fused: core .: bus error .SIGBUS.: access to 0x8000000000000000, an address that no processor can have; at misbehave" \
	"$skrun" fused.sk --input kind=kind.npy --random 1 --cores 2

# Signals that skrun was started with blocked.
kind NULL_WRITE
fails_with "^skrun: error: .*: task 'bad': kernel misbehave on core .: segmentation fault .SIGSEGV.: write at address 0x10; at misbehave" \
	/usr/bin/python3 -c 'import os, signal, sys; signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32)); os.execv(sys.argv[1], sys.argv[1:])' \
	"$skrun" fused.sk --input kind=kind.npy --random 1 --cores 2

# Behaviour that is allowed.
for name in FITTING_FRAME UNUSED_SEGMENT IDENTIFICATION UPPER_HALVES; do
	kind $name
	for options in --serial '--unfused --cores 2' '--guard --cores 2' '--guard --device a3'; do
		"$skrun" fused.sk --input kind=kind.npy --random 1 $options >/dev/null || fail "$name, $options"
	done
done

kind ENDLESS
fails_with "not ended within 0.3 s: task 'bad': kernel misbehave on core 1: it was at misbehave.*; core 0, before task 'last', awaits task 'bad' .step 3. of core 1, which was still at work" \
	"$skrun" fused.sk --input kind=kind.npy --random 1 --timeout 0.3 --cores 2

# A user who may have no signals pending: the one that expels a kernel comes without a sender.
(
	ulimit -i 0
	fails_with "not ended within 0.3 s: task 'bad': kernel misbehave on core 0: it was at misbehave" \
		timeout 60 "$skrun" lone.sk --input kind=kind.npy --random 1 --timeout 0.3
)
