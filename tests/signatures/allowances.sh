#!/bin/bash
# Reads of kernels around their parts: the neighbours' elements (a halo), and bytes after a tensor that they do not use.
# Run on several numbers of cores, with guarded memory, and compared with plain loops.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
libskrt="$top_builddir/.libs/libskrt.a $(sed -n "s/^Libs.private: //p" "$top_builddir/loader/libskrt.pc")"
cat >kernels.c <<'C'
#include "skkernel.h"
void stencil(const float *x, const float *w, float *y, long n, long k)
{
	for (long i = 0; i < n; i++) {
		y[i] = 0;
		for (long j = 0; j < k; j++)
			y[i] += w[j] * x[i + j];
	}
}
SK_KERNEL(stencil, "split=n; in x f32[n+k-1], in w f32[k], out y f32[n], n i64, k i64");
void pool(const float *x, float *y, long m, long w)
{
	for (long i = 0; i < m; i++)
		for (long j = 0; j < w; j++)
			y[i * w + j] = x[2 * i * w + j] + x[(2 * i + 1) * w + j] + x[(2 * i + 2) * w + j];
}
SK_KERNEL(pool, "split=m; in x f32[m*2+1,w], out y f32[m,w], m i64, w i64");
/* Reads four at a time, up to three past the last one. */
void twice(const float *x, float *y, long n)
{
	for (long i = 0; i < n; i += 4) {
		volatile float four[4];
		for (int j = 0; j < 4; j++)
			four[j] = ((const volatile float *)x)[i + j];
		for (long j = 0; j < 4 && i + j < n; j++)
			y[i + j] = 2 * four[j];
	}
}
SK_KERNEL(twice, "split=n; in x f32[n]+12, out y f32[n], n i64");
/* Turns rows around, with all of one, and as much again, in the core's own memory. */
void turn(const float *x, float *y, float *row, long m, long w)
{
	for (long i = 0; i < m; i++) {
		for (long j = 0; j < w; j++)
			row[j] = row[2 * w - 1 - j] = x[i * w + j];
		for (long j = 0; j < w; j++)
			y[i * w + j] = row[w + j];
	}
}
SK_KERNEL(turn, "split=m; in x f32[m,w], out y f32[m,w], scratch row f32[2*w], m i64, w i64");
/* Knows that rows begin at multiples of 32 bytes, which rows of 28 do every eighth time. */
void wide(const float *x, float *y, long m, long w)
{
	float wrong = (unsigned long)x % 32 || (unsigned long)y % 32 ? 1000 : 0;
	for (long i = 0; i < m * w; i++)
		y[i] = 3 * x[i] + wrong;
}
SK_KERNEL(wide, "split=m align=32; in x f32[m,w], out y f32[m,w], m i64, w i64");
void bump(const float *x, float *y, long n)
{
	for (long i = 0; i < n; i++)
		y[i] = x[i] + 1;
}
SK_KERNEL(bump, "split=n; in x f32[n], out y f32[n], n i64");
C
cat >oracle.c <<'C'
#include <stdio.h>
#include <string.h>
enum { N = 1001, K = 5, M = 30, W = 7 };
static float x[N + K - 1], w[K], a[N + K - 1], b[N], y[N], c[W], p[2 * M + 1][W], q[M][W];
static void write_npy(const char *path, const float *data, int count, const char *shape)
{
	FILE *file = fopen(path, "wb");
	char head[128];
	memset(head, ' ', sizeof(head));
	memcpy(head, "\x93NUMPY\x01\x00\x76\x00", 10);
	head[10 + sprintf(head + 10, "{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }", shape)] = ' ';
	head[127] = '\n';
	fwrite(head, 1, sizeof(head), file);
	fwrite(data, 4, count, file);
	fclose(file);
}
int main(void)
{
	for (int i = 0; i < N + K - 1; i++)
		x[i] = (float)((i * 7919 + 13) % 1000);
	for (int i = 0; i < K; i++)
		w[i] = (float)(i + 1);
	for (int i = 0; i < N + K - 1; i++)
		a[i] = x[i] + 1;
	for (int i = 0; i < N; i++)
		for (int j = 0; j < K; j++)
			b[i] += w[j] * a[i + j];
	for (int i = 0; i < N; i++)
		y[i] = 2 * b[i];
	for (int i = 0; i < (2 * M + 1) * W; i++)
		p[0][i] = (float)(i * 31 % 97);
	for (int i = 0; i < M; i++)
		for (int j = 0; j < W; j++)
			q[i][W - 1 - j] = 3 * (p[2 * i][j] + p[2 * i + 1][j] + p[2 * i + 2][j]);
	for (int i = 0; i < W; i++)
		c[i] = 2 * (float)(i + 1);
	write_npy("x.npy", x, N + K - 1, "1005,");
	write_npy("w.npy", w, K, "5,");
	write_npy("p.npy", p[0], (2 * M + 1) * W, "61, 7");
	write_npy("expected-y.npy", y, N, "1001,");
	write_npy("expected-q.npy", q[0], M * W, "30, 7");
	write_npy("expected-z.npy", c, W, "7,");
	write_npy("k.npy", (float[]){1, 2, 3, 4, 5, 6, 7}, W, "7,");
	return 0;
}
C
cat >m.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [1005]}
  w: {dtype: f32, shape: [5]}
  a: {dtype: f32, shape: [1005]}
  b: {dtype: f32, shape: [1001]}
  y: {dtype: f32, shape: [1001]}
  p: {dtype: f32, shape: [61, 7]}
  r: {dtype: f32, shape: [30, 7]}
  u: {dtype: f32, shape: [30, 7]}
  q: {dtype: f32, shape: [30, 7]}
  k: {dtype: f32, shape: [7], data: k.npy}
  z: {dtype: f32, shape: [7]}
tasks:
  - {name: before, kernel: bump, args: [x, a], scope: s}
  - {name: blur, kernel: stencil, args: [a, w, b], scope: s}
  - {name: after, kernel: twice, args: [b, y], scope: s}
  - {name: shrink, kernel: pool, args: [p, r], scope: s}
  - {name: turned, kernel: turn, args: [r, u], scope: s}
  - {name: aligned, kernel: wide, args: [u, q], scope: s}
  - {name: last, kernel: twice, args: [k, z], scope: s}
M
compile kernels
cc -O0 -o oracle oracle.c && ./oracle
"$sklink" m.yaml kernels.o -o m.sk
"$skdump" --verify m.sk >verify.txt || { cat verify.txt; fail "it does not verify"; }
for cores in 1 2 3 7; do
	for how in "" --unfused --serial --guard; do
		"$skrun" m.sk --input x=x.npy --input w=w.npy --input p=p.npy --output y=y.npy --output q=q.npy \
			--output z=z.npy \
			--cores $cores $how >run.txt || { cat run.txt; fail "it does not run on $cores cores $how"; }
		for name in y q z; do
			cmp $name.npy expected-$name.npy || fail "$name is wrong on $cores cores $how"
		done
	done
done

# A halo is the neighbours': the parts of `blur` are read by others' cores, so it waits; those of `after` are not.
"$skdump" --steps m.sk >steps.txt
grep -E ' blur .*awaits before' steps.txt >/dev/null || { cat steps.txt;
	fail "blur does not wait for its neighbours' elements"; }
grep -E ' after .*awaits' steps.txt && fail "after awaits what its own core has made"

sed 's/in x f32\[n\], out y f32\[n\], n i64/in x f32[n], out y f32[n+1], n i64/' kernels.c >bad.c
compile bad
fails_with "'y' is written and has a halo" "$sklink" m.yaml bad.o -o bad.sk
sed 's/in x f32\[n\]+12, out y f32\[n\]/in x f32[n], out y f32[n]+12/' kernels.c >bad.c
compile bad
fails_with "'y' is written: only tensors that are only read" "$sklink" m.yaml bad.o -o bad.sk
"$sklink" m.yaml kernels.o -o m.sk --header m.h --scope-options '*=tile-fusion=0'
grep -F 'UINT64_C(64)},' m.h >/dev/null || { cat m.h;
	fail "the header does not say what two rows, 56 bytes, of scratch take"; }

# A program that binds memory as the header says. Kernels read 12 bytes past x.
printf 'sklink: 1\ntensors:\n%s\ntasks: [{name: only, kernel: twice, args: [x, y], scope: s}]\n' \
	"$(tensors '[1001]' x y)" >bound.yaml
"$sklink" bound.yaml kernels.o -o bound.sk --header bound.h
cat >binds.c <<'C'
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bound.h"
#include "skrt.h"

static void check(int right, const char *what)
{
	if (!right) {
		printf("%s: %s\n", what, skrt_error());
		exit(1);
	}
}

int main(void)
{
	struct skrt_device *device;
	struct skrt_module *module;
	struct skrt_instance *instance;
	struct skrt_stream *stream;
	alignas(64) static unsigned char memory[SK_s_TENSORS][8192];
	_Static_assert(SK_s_CAPACITY_x == SK_s_BYTES_x + 12 && SK_s_CAPACITY_y == SK_s_BYTES_y, "capacities");

	check(!skrt_device_open(NULL, &device) && !skrt_module_load(device, "bound.sk", &module) &&
	      !skrt_instance_create(module, &instance) && !skrt_stream_create(device, &stream), "instance");
	check(skrt_instance_bind(instance, SK_s_TENSOR_x, memory[0], SK_s_BYTES_x) == SKRT_INVALID_ARGUMENT,
	      "memory of the tensor alone");
	for (uint32_t i = 0; i < SK_s_TENSORS; i++)
		check(!skrt_instance_bind(instance, i, memory[i], SK_s_tensor_table[i].capacity), "bind");
	check(!skrt_run_network(stream, instance), "run");
	check(!skrt_stream_destroy(stream) && !skrt_instance_destroy(instance) && !skrt_module_unload(module) &&
	      !skrt_device_close(device), "end");
	return 0;
}
C
$CC -I"$top_srcdir/loader" $(sed -n 's/^SANITIZE_CFLAGS = //p' "$top_builddir/Makefile") binds.c -o binds \
	"$top_builddir/.libs/libskrt.a" $(sed -n "s/^Libs.private: //p" "$top_builddir/loader/libskrt.pc")
./binds || fail "a program that binds by the header"

sed 's/split=m align=32; in x f32\[m,w\], out y f32\[m,w\], m i64/each=m align=32; in x f32[m,w], out y f32[m,w], m i64/' kernels.c >bad.c
compile bad
fails_with "argument 'x' must be aligned to 32 bytes, but its tiles have, in bytes, 28" "$sklink" m.yaml bad.o -o \
	bad.sk
sed 's/split=m align=32/split=m align=24/' kernels.c >bad.c
compile bad
fails_with "align" "$sklink" m.yaml bad.o -o bad.sk
sed 's/row f32\[2\*w\]/row f32[2*v]/' kernels.c >bad.c
compile bad
fails_with "extent 'v'|'v'" "$sklink" m.yaml bad.o -o bad.sk
sed 's/\[61, 7\]/[60, 7]/' m.yaml >bad.yaml
fails_with "argument 'x' \(tensor 'p' \[60, 7\], dimension 0\) is 60, which is not m\*2\+1" "$sklink" bad.yaml \
	kernels.o -o bad.sk

# Scratch and rows must be as large as the given ones; the addresses of a table are aligned like passed ones.
cat >sizes.c <<'C'
#include <stdint.h>

#include "skkernel.h"

void sizes(const float *x, float *y, long m, long w, long ldx, const void *a, const void *b, long of_a, long of_b, long of_x)
{
	(void)a, (void)b;
	for (long i = 0; i < m; i++)
		for (long j = 0; j < w; j++)
			y[i * w + j] = of_a == 8 * w + 64 && of_b == of_a && of_x == 4 * m * w ? x[i * ldx + j] : -1;
}
SK_KERNEL(sizes, "in x f32[m,w:ldx], out y f32[m,w], m i64, w i64, ldx i64, scratch a f32[2*w+16], scratch b u8[sizeof(a)], "
		 "of_a i64 = sizeof(a), of_b i64 = sizeof(b), of_x i64 = sizeof(x)");
void rows(const float *const *x, float *y, long m, long w)
{
	for (long i = 0; i < m; i++)
		for (long j = 0; j < w; j++)
			y[i * w + j] = (uintptr_t)x[i] % 32 ? -1 : x[i][j];
}
SK_KERNEL(rows, "align=32; p ptr[m] of in x f32[m,w] by 4*w, out y f32[m,w], m i64, w i64");
C
cat >sizes.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [5, 24]}
  v: {of: x, offset: [0, 9], shape: [5, 8]}
  y: {dtype: f32, shape: [5, 8], role: output}
  z: {dtype: f32, shape: [5, 8]}
tasks:
  - {name: sizes, kernel: sizes, args: [v, y], scope: s}
  - {name: rows, kernel: rows, args: [y, z], scope: s}
M
compile sizes
"$sklink" sizes.yaml sizes.o -o sizes.sk
"$skdump" --verify sizes.sk >verify.txt || { cat verify.txt; fail "sizes.sk does not verify"; }
for how in "" --unfused --serial --guard; do
	"$skrun" sizes.sk --random 1 --output y=y.npy --output z=z.npy --cores 3 $how >run.txt || { cat run.txt;
		fail "sizes $how"; }
	grep -E ' (-1 ){5}' run.txt && fail "what sizeof says $how"
	cmp y.npy z.npy || fail "addresses are not aligned $how"
done
sed 's/8\]/7]/' sizes.yaml >bad.yaml
fails_with "argument 'x' must be aligned to 32 bytes, but its addresses lie 28 bytes apart" "$sklink" bad.yaml \
	sizes.o -o bad.sk
sed 's/scratch b u8\[sizeof(a)\]/scratch b u8[sizeof(b)+1]/' sizes.c >bad.c
compile bad
fails_with "'b = sizeof\(b\)\+1' asks for a size before that is known" "$sklink" sizes.yaml bad.o -o bad.sk

# Addresses that are the same number in every call lead into its part, or into a halo: others' rows have been awaited
# then.
cat >three.c <<'C'
#include "skkernel.h"
void three(const float *const *x, float *y, long w)
{
	for (long j = 0; j < w; j++)
		y[j] = x[0][j] + x[1][j] + x[2][j];
}
SK_KERNEL(three, "each=m; p ptr[3] of in x f32[m+2,w] by 4*w, out y f32[m,w], w i64");
C
compile three
sed 's/\(z: .*\)5, 8/\13, 8/; s/kernel: rows/kernel: three/; s/y: \(.*\), role: output/y: \1/' sizes.yaml >three.yaml
"$sklink" three.yaml sizes.o three.o -o three.sk
"$skrun" three.sk --random 1 --cores 3 --verify --guard
sed 's/m+2,w/m,w/' three.c >bad.c
compile bad
sed 's/\(z: .*\)3, 8/\15, 8/' three.yaml >bad.yaml
fails_with "the last of 3 addresses, 32 bytes apart, leads out of the part of 'x' that a call has" "$sklink" bad.yaml \
	sizes.o bad.o -o bad.sk
sed 's/each=m/tile=m:3/; s/m+2,w/m,w/; s/w i64"/w i64, m i64"/' three.c >bad.c # the last tile has two rows
compile bad
fails_with "the last of 3 addresses, 32 bytes apart, leads out of the part of 'x' that a call has" "$sklink" bad.yaml \
	sizes.o bad.o -o bad.sk

# The inner one of two loops also gives a call its part: rows of a tile may be told by a table, the next column may not.
cat >tile.c <<'C'
#include "skkernel.h"
void tile(const float *const *x, float *y, long rows, long columns, long w)
{
	for (long i = 0; i < rows; i++)
		for (long j = 0; j < columns; j++)
			y[i * w + j] = x[i][j];
}
SK_KERNEL(tile, "tile=m:2,n:3; p ptr[2] of in x f32[m,n] by 4*n, out y f32[m,n], m i64, columns i64 = size(n), w i64 = n");
C
compile tile
cat >tile.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [4, 8]}
  y: {dtype: f32, shape: [4, 8]}
tasks:
  - {name: only, kernel: tile, args: [x, y]}
M
"$sklink" tile.yaml tile.o -o tile.sk
"$skrun" tile.sk --random 1 --cores 2 --verify --guard
for by in 12 4*n-4; do
	sed "s/by 4\*n/by $by/" tile.c >bad.c
	compile bad
	fails_with "the last of 2 addresses, (12|28) bytes apart, leads out of the part of 'x' that a call has" \
		"$sklink" tile.yaml bad.o -o bad.sk
done

# Bytes between the rows of a view do not belong to it.
cat >between.c <<'C'
#include "skkernel.h"
void between(const float *const *x, float *y)
{
	*y = *x[0] + *x[1];
}
SK_KERNEL(between, "each=m; p ptr[2] of in x f32[m,k:ld] by 4, out y f32[m]");
C
compile between
cat >between.yaml <<'M'
sklink: 1
tensors:
  all: {dtype: f32, shape: [6, 8]}
  x: {of: all, offset: [0, 3], shape: [6, 2]}
  y: {dtype: f32, shape: [6]}
tasks:
  - {name: only, kernel: between, args: [x, y]}
M
"$sklink" between.yaml between.o -o between.sk
"$skrun" between.sk --random 1 --cores 2 --verify --guard
sed -i 's/shape: \[6, 2\]/shape: [6, 1]/' between.yaml
fails_with "of 2 addresses, 4 bytes apart, some lead between the rows of 'x'" "$sklink" between.yaml between.o -o bad.sk

# A program that binds memory gives its size.
cat >bind.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include "skrt.h"
int main(void)
{
	struct skrt_device *device;
	struct skrt_module *module;
	struct skrt_instance *instance;
	struct skrt_tensor tensor = {.size = sizeof(tensor)};
	float *memory = aligned_alloc(64, 8192);
	if (skrt_device_open(NULL, &device) || skrt_module_load(device, "one.sk", &module) ||
	    skrt_instance_create(module, &instance) || skrt_module_tensor(module, 0, &tensor))
		return 2;
	printf("%d %d\n", (int)tensor.bytes, (int)tensor.padding);
	if (!skrt_instance_bind(instance, 0, memory, tensor.bytes + 11) || skrt_instance_bind(instance, 0, memory, 8192))
		return 3;
	puts(skrt_instance_bind(instance, 0, memory, tensor.bytes) ? skrt_error() : "bound");
	if (skrt_instance_destroy(instance) || skrt_module_unload(module) || skrt_device_close(device))
		return 4;
	free(memory);
	return 0;
}
C
cat >one.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [7]}
  y: {dtype: f32, shape: [7]}
tasks:
  - {name: last, kernel: twice, args: [x, y]}
M
"$sklink" one.yaml kernels.o -o one.sk
sanitize=$(sed -n "s/^SANITIZE_CFLAGS = //p" "$top_builddir/Makefile")
$CC $sanitize -I"$top_srcdir/loader" bind.c $libskrt -o bind 2>bind.err || { cat bind.err;
	fail "bind.c does not compile"; }
./bind >bind.txt || fail "binding fails with $?"
grep -x '28 12' bind.txt && grep \
	"tensor 'x' has 28 bytes, and kernels may read 12 after them; bound are 28, all together" bind.txt ||
	{ cat bind.txt; fail "too little memory is bound"; }
