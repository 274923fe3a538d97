#!/bin/bash
# Debian's OpenBLAS: its inner kernels, which work on packed panels, and its public functions.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/packages.sh"
. "$top_srcdir/tests/kernels/kernels.sh"
get_package libopenblas-serial-dev || { echo "SKIP: the package libopenblas-serial-dev cannot be had"; exit 77; }
need_isa avx2 fma

# Its calls of the system: for memory, and for its placement (mbind).
cat >system.c <<'C'
#include <stdlib.h>

void *mmap(void *address, size_t size)
{
	return aligned_alloc(4096, (size + 4095) / 4096 * 4096);
}

int munmap(void *address, size_t size)
{
	free(address);
	return 0;
}

long syscall(long number)
{
	return -1;
}
C
compile system

cat >model.yaml <<Y
sklink: 1
tensors:
  x:   {dtype: f64, shape: [1000]}
  y:   {dtype: f64, shape: [1000], role: inout}
  a:   {dtype: f64, shape: [60, 40]}
  b:   {dtype: f64, shape: [40, 24]}
  pa:  {dtype: f64, shape: [60, 40]}
  pb:  {dtype: f64, shape: [40, 24]}
  c:   {dtype: f64, shape: [60, 24], role: inout}
  d:   {dtype: f64, shape: [60, 24]}
  e:   {dtype: f32, shape: [33, 50]}
  f:   {dtype: f32, shape: [50, 20]}
  g:   {dtype: f32, shape: [33, 20], role: output}
  w:   {dtype: f64, shape: [40, 24], data: [$(seq -s, -480 479)]}
  pw:  {dtype: f64, shape: [40, 24]}
  v:   {dtype: f64, shape: [60, 24], role: inout}
$(kernels daxpy_k_HASWELL dgemm_itcopy_HASWELL dgemm_oncopy_HASWELL dgemm_kernel_HASWELL dgemm_public cblas_sgemm)
tasks:
  - {name: pack_w, kernel: dgemm_itcopy_HASWELL, args: [w, pw], once: true}
  - {name: move, kernel: daxpy_k_HASWELL, args: [x, y], scope: all, set: {alpha: 0.5}}
  - {name: pack_b, kernel: dgemm_itcopy_HASWELL, args: [b, pb], scope: all}
  - {name: pack_a, kernel: dgemm_oncopy_HASWELL, args: [a, pa], stream: 1, scope: all}
  - {name: inner, kernel: dgemm_kernel_HASWELL, args: [pb, pa, c], scope: all, set: {alpha: 2}}
  - {name: weighted, kernel: dgemm_kernel_HASWELL, args: [pw, pa, v], scope: all, set: {alpha: 0.125}}
  - {name: product, kernel: dgemm_public, args: [b, a, d], scope: all, set: {alpha: 1}}
  - {name: small, kernel: cblas_sgemm, args: [e, f, g], stream: 1, scope: all, set: {alpha: 1}}
Y
fuse system.o -L "$packages/libopenblas-serial-dev/usr/lib/x86_64-linux-gnu/openblas-serial"

cat >oracle.c <<'C'
#include "oracle.h"

static void network(void)
{
	enum { M = 60, K = 40, N = 24 };
	INPUT(double, x, 1000);
	UPDATED(double, y, 1e-15, 1000);
	INPUT(double, a, M, K);
	INPUT(double, b, K, N);
	UPDATED(double, c, 1e-13, M, N);
	OUTPUT(double, d, 1e-13, M, N);
	INPUT(float, e, 33, 50);
	INPUT(float, f, 50, 20);
	OUTPUT(float, g, 1e-5, 33, 20);
	UPDATED(double, v, 1e-12, M, N);

	for (int i = 0; i < 1000; i++)
		y_new[i] = y[i] + 0.5 * x[i];
	for (int i = 0; i < M * N; i++) {
		for (int l = 0; l < K; l++)
			d[i] += a[i / N * K + l] * b[l * N + i % N];
		c_new[i] = c[i] + 2 * d[i];
		v_new[i] = v[i];
		for (int l = 0; l < K; l++)
			v_new[i] += 0.125 * a[i / N * K + l] * (l * N + i % N - 480);
	}
	for (int i = 0; i < 33 * 20; i++)
		for (int l = 0; l < 50; l++)
			g[i] += e[i / 20 * 50 + l] * f[l * 20 + i % 20];
}
C
right
"$skdump" --launches model.sk | grep -E 'sk_task_pack_w +single, once' >/dev/null ||
	fail "weights are packed in every run"

# The build with threads starts them, and is refused.
[ -e "$libraries/openblas-pthread/libopenblas.a" ] || exit 0
fails_with "undefined symbol: pthread_create" \
	"$sklink" model.yaml system.o -L "$libraries/openblas-pthread" --error-limit=0 -o threads.sk
