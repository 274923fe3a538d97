#!/bin/bash
# Views with gaps: heads of an attention, which are columns of one matrix, computed in place between tasks that see all
# of it; a tile of an image; bytes of floats. Run on several numbers of cores, fused and not, and compared with plain
# loops.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
cat >kernels.c <<'C'
#include "skkernel.h"
void rows_scale(const float *x, float *y, long m, long k, long ldx, long ldy)
{
	for (long i = 0; i < m; i++)
		for (long j = 0; j < k; j++)
			y[i * ldy + j] = 2 * x[i * ldx + j] + (float)j;
}
SK_KERNEL(rows_scale, "split=m; in x f32[m,k:ldx], out y f32[m,k:ldy], m i64, k i64, ldx i64, ldy i64");
void rows_sum(const float *x, float *y, long m, long k, long ldx, long ldy)
{
	for (long i = 0; i < m; i++)
		for (long j = 0; j < k; j++)
			y[i * ldy + j] += x[i * ldx + k - 1 - j];
}
SK_KERNEL(rows_sum, "split=m; in x f32[m,k:ldx], inout y f32[m,k:ldy], m i64, k i64, ldx i64, ldy i64");
void mix_rows(const float *x, float *y, long m, long k)
{
	for (long i = 0; i < m; i++)
		for (long j = 0; j < k; j++)
			y[i * k + j] = x[(m - 1 - i) * k + j] - x[i * k + (j * 7 + 1) % k];
}
SK_KERNEL(mix_rows, "in x f32[m,k], out y f32[m,k], m i64, k i64");
void invert(const unsigned char *x, unsigned char *y, long n)
{
	for (long i = 0; i < n; i++)
		y[i] = x[i] ^ 0x80;
}
SK_KERNEL(invert, "split=n; in x u8[n], out y u8[n], n i64");
C
cat >oracle.c <<'C'
#include <stdio.h>
#include <string.h>
enum { M = 37, K = 24, H = 8 };
static float x[M][K], t[M][K], u[M][K], y[M][K], z[M][K];
static void write_npy(const char *path, const float *data)
{
	FILE *file = fopen(path, "wb");
	char head[128];
	memset(head, ' ', sizeof(head));
	memcpy(head, "\x93NUMPY\x01\x00\x76\x00", 10);
	head[10 + sprintf(head + 10, "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }", M, K)] = ' ';
	head[127] = '\n';
	fwrite(head, 1, sizeof(head), file);
	fwrite(data, 4, M * K, file);
	fclose(file);
}
int main(void)
{
	for (int i = 0; i < M * K; i++)
		x[0][i] = (float)((i * 7919 + 13) % 1000) / 8;
	for (int h = 0; h < K; h += H)
		for (int i = 0; i < M; i++)
			for (int j = 0; j < H; j++)
				t[i][h + j] = 2 * x[i][h + j] + (float)j;
	for (int i = 0; i < M; i++)
		for (int j = 0; j < H; j++)
			t[i][H + j] += t[i][H - 1 - j];
	for (int i = 0; i < M; i++)
		for (int j = 0; j < K; j++)
			u[i][j] = t[M - 1 - i][j] - t[i][(j * 7 + 1) % K];
	memcpy(y, u, sizeof(y));
	for (int i = 5; i < 25; i++)
		for (int j = 3; j < 13; j++)
			y[i][j] = 2 * t[i][j + 10] + (float)(j - 3);
	for (int i = 0; i < M * K * 4; i++)
		((unsigned char *)z)[i] = ((unsigned char *)y)[i] ^ 0x80;
	write_npy("x.npy", x[0]);
	write_npy("expected-y.npy", y[0]);
	write_npy("expected-z.npy", z[0]);
	return 0;
}
C
cat >m.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [37, 24]}
  t: {dtype: f32, shape: [37, 24]}
  y: {dtype: f32, shape: [37, 24], role: output}
  z: {dtype: f32, shape: [37, 24]}
  x0: {of: x, shape: [37, 8]}
  x1: {of: x, offset: [0, 8], shape: [37, 8]}
  x2: {of: x, offset: [0, 16], shape: [37, 8]}
  t0: {of: t, shape: [37, 8]}
  t1: {of: t, offset: [0, 8], shape: [37, 8]}
  t2: {of: t, offset: [0, 16], shape: [37, 8]}
  rest: {of: t, offset: [5, 3], shape: [32, 21]}
  from: {of: rest, offset: [0, 10], shape: [20, 10]}      # a view of a view: rows 5 to 24, columns 13 to 22 of t
  tile: {of: y, offset: [5, 3], shape: [20, 10]}
  bytes: {of: y, as: u8}
  out: {of: z, as: u8, shape: [37, 96]}
tasks:
  - {name: a0, kernel: rows_scale, args: [x0, t0], scope: s, stream: 0}
  - {name: a1, kernel: rows_scale, args: [x1, t1], scope: s, stream: 1}
  - {name: a2, kernel: rows_scale, args: [x2, t2], scope: s, stream: 0}
  - {name: b, kernel: rows_sum, args: [t0, t1], scope: s, stream: 1}
  - {name: c, kernel: mix_rows, args: [t, y], scope: s, stream: 0}
  - {name: d, kernel: rows_scale, args: [from, tile], scope: s, stream: 1}
  - {name: e, kernel: invert, args: [bytes, out], scope: s, stream: 0}
M
compile kernels
cc -O0 -o oracle oracle.c && ./oracle
"$sklink" m.yaml kernels.o -o m.sk
"$skdump" --verify m.sk >verify.txt || { cat verify.txt; fail "it does not verify"; }
for cores in 1 2 3 7; do
	for how in "" --unfused --serial; do
		"$skrun" m.sk --input x=x.npy --output y=y.npy --output z=z.npy --cores $cores $how >run.txt ||
			{ cat run.txt; fail "it does not run on $cores cores $how"; }
		cmp y.npy expected-y.npy || fail "y is wrong on $cores cores $how"
		cmp z.npy expected-z.npy || fail "z is wrong on $cores cores $how"
	done
	"$skrun" m.sk --random 3 --verify --repeat 5 --cores $cores
	"$skrun" m.sk --input x=x.npy --output y=y.npy --output z=z.npy --cores $cores --guard --check-races >run.txt ||
		{ cat run.txt; fail "a check finds something on $cores cores"; }
	cmp y.npy expected-y.npy || fail "y is wrong on $cores cores with checks"
	cmp z.npy expected-z.npy || fail "z is wrong on $cores cores with checks"
done

# Each await is needed, and the checks find where it is missing as the proof does.
await=0
while cp m.sk dropped.sk && "$top_builddir/tests/lib/drop-await" dropped.sk $await; do
	fails_with "launch 'sk_s'" "$skdump" --verify dropped.sk
	for options in '--cores 3' '--device a3 --seed 1'; do
		fails_with "race: it (reads|writes) bytes [0-9]* to [0-9]* of tensor '[a-z]*', which task" \
			"$skrun" dropped.sk --random 1 --check-races $options
	done
	await=$((await + 1))
done
[ $await -gt 1 ] || fail "only $await awaits"

# Parts of rows that one core has in both tasks need no await; c sees rows of other cores, and d writes where c has.
"$skdump" --steps m.sk >steps.txt
grep -E ' b .*awaits' steps.txt && fail "b awaits, though each core has made its rows itself"
grep -E ' c .*awaits' steps.txt >/dev/null || fail "c does not await the heads"
grep -E ' d .*awaits c' steps.txt >/dev/null || fail "d does not await c"

# Strides that no signature has are refused, with advice.
sed 's/kernel: mix_rows, args: \[t, y\]/kernel: mix_rows, args: [t0, y]/' m.yaml >bad.yaml
"$sklink" bad.yaml kernels.o -o bad.sk 2>errors && fail "a view with gaps is taken by a kernel that wants none"
grep -F "view 't0' has gaps: rows of 32 bytes, 96 bytes apart; argument 'x' takes it if its signature gives the distance of its rows, as in f32[m,k:lda]" errors ||
	{ cat errors; fail "the error does not say what to do"; }
# Half of the columns are written: the rest is a gap.
sed '/name: a2/d' m.yaml >bad.yaml
"$sklink" bad.yaml kernels.o -o bad.sk 2>errors && fail "columns that nobody writes are read"
grep -F "task 'c' reads bytes [64, 3552) of 't'" errors || { cat errors; fail "the gap is not named"; }

# Heads of eight layers: the workspace has room for two of them, whether cores share rows or wait for each other.
layers()
{
	echo "sklink: 1"
	echo "tensors:"
	echo "  u0: {dtype: f32, shape: [37, 24]}"
	echo "  y: {dtype: f32, shape: [37, 24], role: output}"
	for layer in 1 2 3 4 5 6 7 8; do
		echo "  t$layer: {dtype: f32, shape: [37, 24]}"
		echo "  u$layer: {dtype: f32, shape: [37, 24]}"
		for head in 0 1 2; do
			echo "  t$layer.$head: {of: t$layer, offset: [0, $((8 * head))], shape: [37, 8]}"
			echo "  u$layer.$head: {of: u$layer, offset: [0, $((8 * head))], shape: [37, 8]}"
		done
	done
	echo "tasks:"
	for layer in 1 2 3 4 5 6 7 8; do
		echo "  - {name: mix$layer, kernel: $1, args: [u$((layer - 1)), t$layer], scope: s}"
		for head in 0 1 2; do
			echo "  - {name: head${layer}_$head, kernel: rows_scale, args: [t$layer.$head, u$layer.$head], scope: s}"
		done
	done
	echo "  - {name: last, kernel: mix_rows, args: [u8, y], scope: s}"
}
for mix in mix_rows rows_scale; do
	layers $mix >layers.yaml
	"$sklink" layers.yaml kernels.o -o layers.sk
	"$skdump" --verify layers.sk >verify.txt || { cat verify.txt; fail "layers with $mix do not verify"; }
	"$skdump" --memory layers.sk >memory.txt
	grep -F "16 temporaries in a workspace of 7168 bytes" memory.txt || { cat memory.txt;
		fail "layers share too little"; }
	for cores in 1 2 3 7; do
		"$skrun" layers.sk --random 5 --verify --repeat 3 --cores $cores >run.txt ||
			{ cat run.txt; fail "layers with $mix are wrong on $cores cores"; }
		"$skrun" layers.sk --random 5 --guard --check-races --cores $cores >run.txt ||
			{ cat run.txt; fail "a check finds something in layers with $mix on $cores cores"; }
	done
	await=0
	while cp layers.sk dropped.sk && "$top_builddir/tests/lib/drop-await" dropped.sk $await; do
		fails_with "launch 'sk_s'" "$skdump" --verify dropped.sk
		await=$((await + 1))
	done
done

# A scalar that is an element of a larger tensor, which a task has computed: the element is a view.
cat >element.c <<'C'
#include "skkernel.h"
void steps(const float *x, float *t)
{
	for (int i = 0; i < 12; i++)
		t[i] = x[0] + (float)i;
}
SK_KERNEL(steps, "in x f32[n], out t f32[3,4]");
void scale(const float *x, float *y, long n, float factor)
{
	for (long i = 0; i < n; i++)
		y[i] = factor * x[i];
}
SK_KERNEL(scale, "split=n; in x f32[n], out y f32[n], n i64, factor f32");
int scaled(const float *x, const float *y, int n)
{
	for (int i = 0; i < n; i++)
		if (y[i] != (x[0] + 6) * x[i])
			return 1 + i;
	return 0;
}
SK_KERNEL(scaled, "in x f32[n], in y f32[n], n i32 -> status");
C
compile element
printf 'sklink: 1\ntensors:\n%s\n%s\ntasks:\n%s\n' "$(tensors '[1000]' x y)" '  t: {dtype: f32, shape: [3, 4]}
  e: {of: t, offset: [1, 2], shape: [1, 1]}' '  - {name: steps, kernel: steps, args: [x, t], scope: s}
  - {name: scale, kernel: scale, args: [x, y], set: {factor: {tensor: e}}, scope: s}
  - {name: scaled, kernel: scaled, args: [x, y], scope: s}' >element.yaml
"$sklink" element.yaml element.o -o element.sk
"$skdump" --steps element.sk | grep -q ' scale .* awaits steps' ||
	fail "a task does not wait for the tensor that has its scalar"
for cores in 1 3; do
	"$skrun" element.sk --random 5 --cores $cores --verify --guard >out.txt || { cat out.txt;
		fail "an element on $cores cores"; }
done
sed 's/offset: \[1, 2\]/offset: [1, 3]/' element.yaml >other.yaml
"$sklink" other.yaml element.o -o element.sk
fails_with "kernel scaled returned status" "$skrun" element.sk --random 5
sed 's/shape: \[1, 1\]/shape: [1, 2]/' element.yaml >pair.yaml
fails_with "pair.yaml:9:71: kernel 'scale': 'factor' is one f32, but tensor 'e' is f32 \[1, 2\]" "$sklink" pair.yaml \
	element.o -o element.sk
