# Shared by the tests of packages with bounds, after lib.sh: kernels.o, and the manifests rows.yaml, widths.yaml,
# views.yaml and parts.yaml.
cat >kernels.c <<'C'
#include "skkernel.h"
void add(const float *x, const float *b, float *y, long n)
{
	for (long i = 0; i < n; i++)
		y[i] = x[i] + b[i];
}
SK_KERNEL(add, "split=n; in x f32[n], in b f32[n], out y f32[n], n i64");
void bias(const float *x, const float *b, float *y, long m, long k)
{
	for (long i = 0; i < m * k; i++)
		y[i] = x[i] + b[i % k];
}
SK_KERNEL(bias, "split=m; in x f32[m,k], in b f32[k], out y f32[m,k], m i64, k i64");
void twice(float *x, long n)
{
	for (long i = 0; i < n; i++)
		x[i] *= 2;
}
SK_KERNEL(twice, "split=n; inout x f32[n], n i64");
void product(const float *a, const float *b, float *y, long m, long k, long n)
{
	for (long i = 0; i < m; i++)
		for (long j = 0; j < n; j++) {
			y[i * n + j] = 0;
			for (long l = 0; l < k; l++)
				y[i * n + j] += a[i * k + l] * b[l * n + j];
		}
}
SK_KERNEL(product, "split=m; in a f32[m,k], in b f32[k,n], out y f32[m,n], m i64, k i64, n i64");
void rows(const float *x, float *y, long m, long k, long ldx, long factor, int half)
{
	for (long i = 0; i < m; i++)
		for (long j = 0; j < k; j++)
			y[i * k + j] = (float)(factor + half) * x[i * ldx + j];
}
SK_KERNEL(rows, "split=m; in x f32[m,k:ldx], out y f32[m,k], m i64, k i64, ldx i64, factor i64, half i32 = (m+1)/2");
void whole(const float *x, float *y, long n, long bytes)
{
	for (long i = 0; i < n; i++)
		y[i] = x[n - 1 - i] + (float)bytes;
}
SK_KERNEL(whole, "in x f32[n], out y f32[n], n i64, bytes i64 = sizeof(x)");
void ranges(const struct sk_block *block, const float *x, float *y, long k, long first, long count)
{
	(void)block;
	for (long i = first * k; i < (first + count) * k; i++)
		y[i] = x[i] + 1;
}
SK_KERNEL(ranges, "blocks=m; block, in x f32[m,k], out y f32[m,k], k i64, first i64 = begin(m), count i64 = size(m)");
C
compile kernels

# sized_manifest NAME DIMS: NAME.yaml, with tensors and tasks from standard input.
sized_manifest() {
	printf 'sklink: 1\ndims: {%s}\n' "$2" >"$1.yaml"
	cat >>"$1.yaml"
}

# Products, rows and single elements of one length: all on the same cores.
sized_manifest rows 'batch: 1..8, seq: 1..512@128' <<'M'
tensors:
  x: {dtype: f32, shape: [batch, seq, 64]}
  w: {dtype: f32, shape: [64, 64]}
  b: {dtype: f32, shape: [64]}
  h: {dtype: f32, shape: [batch, seq, 64]}
  p: {dtype: f32, shape: [batch, seq, 64]}
  "y": {dtype: f32, shape: [batch, seq, 64], role: output}
tasks:
  - {name: product, kernel: product, args: [x, w, h], scope: s}
  - {name: bias, kernel: bias, args: [h, b, p], scope: s}
  - {name: add, kernel: add, args: [p, x, "y"], scope: s}
  - {name: twice, kernel: twice, args: ["y"], scope: s}
M

# Rows of two lengths: awaits. The length of a row depends on sizes, so units of rows are not bytes of elements.
sized_manifest widths 'rows: 1..40, width: 8..64:8' <<'M'
tensors:
  x: {dtype: f32, shape: [rows, width]}
  w: {dtype: f32, shape: [width, 2*width]}
  b: {dtype: f32, shape: [2*width]}
  h: {dtype: f32, shape: [rows, 2*width]}
  p: {dtype: f32, shape: [rows, 2*width]}
  "y": {dtype: f32, shape: [2*rows, width]}
  z: {dtype: f32, shape: [2*rows*width]}
tasks:
  - {name: product, kernel: product, args: [x, w, h], scope: s}
  - {name: bias, kernel: bias, args: [h, b, p], scope: s}
  - {name: add, kernel: add, args: [p, h, "y"], scope: s}
  - {name: whole, kernel: whole, args: ["y", z], scope: s}
M

# Views with gaps, offsets, scalars, quotients.
sized_manifest views 'batch: 1..5, seq: 2..33, width: 16..64:16' <<'M'
tensors:
  x: {dtype: f32, shape: [batch, seq, width]}
  last: {of: x, offset: [0, seq-1, 0], shape: [1, 1, width]}
  right: {of: x, offset: [0, 0, width/4], shape: [batch, seq, width/2]}
  middle: {of: x, offset: ["batch-1", 0, 0], shape: [1, "floor(seq/2)", width]}
  a: {dtype: f32, shape: [width]}
  r: {dtype: f32, shape: [batch, seq, width/2]}
  m: {dtype: f32, shape: ["seq//2", width]}
tasks:
  - {name: last, kernel: whole, args: [last, a], scope: s}
  - {name: right, kernel: rows, args: [right, r], set: {factor: seq}, scope: s}
  - {name: middle, kernel: rows, args: [middle, m], set: {factor: "3*batch+ceil(seq/4)"}, scope: s}
M

# Two halves that never overlap, and a part that overlaps both at some sizes only.
sized_manifest parts 'n: 64..4096:64' <<'M'
tensors:
  x: {dtype: f32, shape: [n]}
  t: {dtype: f32, shape: [2*n]}
  low: {of: t, shape: [n]}
  high: {of: t, offset: [n], shape: [n]}
  part: {of: t, offset: [64], shape: [n]}
  "y": {dtype: f32, shape: [2*n]}
tasks:
  - {name: low, kernel: add, args: [x, x, low], scope: s}
  - {name: high, kernel: add, args: [x, low, high], scope: s}
  - {name: part, kernel: twice, args: [part], scope: s}
  - {name: all, kernel: whole, args: [t, "y"], scope: s}
M
