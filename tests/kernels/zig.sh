#!/bin/bash
# Objects as Zig's own backend writes them: all functions in one section, which the panic handler's thread-local
# variables make stateful; and without that handler. A real zig is used where there is one.
. "$top_srcdir/tests/lib/lib.sh"
cat >double.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [512], role: input}
  y: {dtype: f32, shape: [512], role: output}
kernels:
  double: {signature: "in x f32[n], out y f32[n], n i64"}
tasks:
  - {name: t, kernel: double, args: [x, y]}
M
cat >start.s <<'S'
.globl double
.type double, @function
double: xor %ecx, %ecx
1: cmp %rdx, %rcx
jge 2f
movss (%rdi,%rcx,4), %xmm0
addss %xmm0, %xmm0
movss %xmm0, (%rsi,%rcx,4)
inc %rcx
jmp 1b
2: ret
.size double, . - double
S
cat >panic.s <<'S'
.type debug.defaultPanic, @function
debug.defaultPanic: data16 lea debug.panic_stage@tlsgd(%rip), %rdi
.word 0x6666
rex64 call __tls_get_addr@PLT
ud2
.size debug.defaultPanic, . - debug.defaultPanic
.section .tbss, "awT", @nobits
.type debug.panic_stage, @object
debug.panic_stage: .zero 8
S
sed 's/debug[.]defaultPanic/other.defaultPanic/g' panic.s >other.s
as start.s -o plain.o
cat start.s panic.s | as -o panic.o
cat start.s other.s | as -o other.o
fails_with "kernel 'double' reaches thread-local storage" "$sklink" double.yaml panic.o -o double.sk
grep -q "^>>> Zig's panics, .*'pub const panic = @import(\"std\").debug.no_panic;' in the root file" err.txt || {
	cat err.txt; fail "the way out is not said"; }
fails_with "kernel 'double' reaches thread-local storage" "$sklink" double.yaml other.o -o double.sk
! grep -q Zig err.txt || fail "any panic is Zig's"
"$sklink" double.yaml plain.o -o double.sk
"$skrun" double.sk --random 1 --verify >out.txt || { cat out.txt; fail "double fails"; }

command -v zig >/dev/null || { echo "no zig: no object of it is linked"; exit 0; }
cat >real.zig <<'Z'
pub const panic = @import("std").debug.no_panic;
export fn double(x: [*]const f32, y: [*]f32, n: i64) void {
    const m: usize = @intCast(n);
    for (x[0..m], y[0..m]) |a, *b| b.* = a + a;
    const k: usize = if (x[0] == 77.0) m else 0;
    y[0..m][k] += 0;
}
Z
for mode in Debug ReleaseSafe ReleaseFast ReleaseSmall; do
	zig build-obj -O $mode -fPIC real.zig -femit-bin=real.o --cache-dir cache --global-cache-dir cache 2>err.txt || {
		cat err.txt; echo "zig cannot"; exit 0; }
	"$sklink" double.yaml real.o -o double.sk
	"$skrun" double.sk --random 1 --verify >out.txt || { cat out.txt; fail "$mode fails"; }
	case $mode in
	ReleaseFast | ReleaseSmall) continue ;; # no checks
	esac
	"$top_builddir/tests/lib/make-model" x.npy f32 512 77 1
	fails_with "kernel double on core 0: illegal instruction .SIGILL." "$skrun" double.sk --input x=x.npy
done
