#!/bin/bash
# Debian's BLIS: kernels for vectors, the register tile of its matrix product, and its public functions.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/packages.sh"
. "$top_srcdir/tests/kernels/kernels.sh"
get_package libblis-serial-dev || { echo "SKIP: the package libblis-serial-dev cannot be had"; exit 77; }
need_isa avx2 fma

cat >model.yaml <<Y
sklink: 1
tensors:
  x:    {dtype: f64, shape: [1000]}
  y:    {dtype: f64, shape: [1000], role: inout}
  dot:  {dtype: f64, shape: [1]}
  a:    {dtype: f64, shape: [37, 6]}
  b:    {dtype: f64, shape: [37, 8]}
  c:    {dtype: f64, shape: [6, 8], role: inout}
  d:    {dtype: f64, shape: [60, 40]}
  e:    {dtype: f64, shape: [40, 24]}
  f:    {dtype: f64, shape: [60, 24]}
$(kernels bli_daxpyv_zen_int10 bli_ddotv_zen_int10 bli_dgemm_haswell_asm_6x8 cblas_dgemm)
tasks:
  - {name: move, kernel: bli_daxpyv_zen_int10, args: [x, y], scope: all, set: {alpha: 0.5}}
  - {name: dot, kernel: bli_ddotv_zen_int10, args: [x, y, dot], scope: all}
  - {name: tile, kernel: bli_dgemm_haswell_asm_6x8, args: [a, b, c], stream: 1, scope: all, set: {alpha: 2, beta: -1}}
  - {name: product, kernel: cblas_dgemm, args: [d, e, f], scope: all, set: {alpha: 3}}
Y
# Its threads, which this build does not start, are linked all the same.
fuse --unresolved-symbols=trap -L "$packages/libblis-serial-dev/usr/lib/x86_64-linux-gnu/blis-serial"

cat >oracle.c <<'C'
#include "oracle.h"

static void network(void)
{
	enum { K = 37 };
	INPUT(double, x, 1000);
	UPDATED(double, y, 1e-15, 1000);
	OUTPUT(double, dot, 1e-13, 1);
	INPUT(double, a, K, 6);
	INPUT(double, b, K, 8);
	UPDATED(double, c, 1e-14, 6, 8);
	INPUT(double, d, 60, 40);
	INPUT(double, e, 40, 24);
	OUTPUT(double, f, 1e-13, 60, 24);

	for (int i = 0; i < 1000; i++)
		y_new[i] = y[i] + 0.5 * x[i], dot[0] += x[i] * y_new[i];
	for (int i = 0; i < 48; i++) {
		c_new[i] = -c[i];
		for (int l = 0; l < K; l++)
			c_new[i] += 2 * a[l * 6 + i / 8] * b[l * 8 + i % 8];
	}
	for (int i = 0; i < 60 * 24; i++)
		for (int l = 0; l < 40; l++)
			f[i] += 3 * d[i / 24 * 40 + l] * e[l * 24 + i % 24];
}
C
right
