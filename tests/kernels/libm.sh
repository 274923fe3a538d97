#!/bin/bash
# Debian's mathematics: vector functions of libmvec.a, in a loop that gcc has vectorized; scalar functions of libm.a,
# which set errno; and functions that the package imports from the C library of the machine that runs it.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/kernels/kernels.sh"
need "$libraries/libmvec.a" libc6-dev
need_isa avx2 fma
$KERNEL_CC --version | grep -q 'Free Software' || { echo "SKIP: only gcc calls libmvec by itself"; exit 77; }

cat >loop.c <<'C'
#include <math.h>

void wave(const double *restrict x, double *restrict y, long n)
{
	for (long i = 0; i < n; i++)
		y[i] = exp(x[i]) * sin(x[i]);
}
C
$KERNEL_CC -O3 -ffast-math -mavx2 -mfma -fPIC -c loop.c

cat >model.yaml <<Y
sklink: 1
tensors:
  x:     {dtype: f64, shape: [1003]}
  y:     {dtype: f64, shape: [1003]}
  plenty: {dtype: f64, shape: [5000]}
  again: {dtype: f64, shape: [5000]}
  base:  {dtype: f64, shape: [1]}
  power: {dtype: f64, shape: [1]}
  error: {dtype: f64, shape: [1], role: output}
  bessel: {dtype: f64, shape: [1]}
$(kernels wave copy pow erf j0)
tasks:
  - {name: wave, kernel: wave, args: [x, y], scope: all}
  - {name: copy, kernel: copy, args: [again, plenty], scope: all}
  - {name: power, kernel: pow, args: [power], scope: all, set: {x: {tensor: base}, y: 2.5}}
  - {name: error, kernel: erf, args: [error], scope: all, set: {x: {tensor: base}}}
  - {name: bessel, kernel: j0, args: [bessel], scope: all, set: {x: {tensor: error}}}
Y
# They would choose by the processor that they run on (IFUNC); the link says which.
fuse loop.o "$libraries/libmvec.a" -L "$libraries" \
	--ifunc _ZGVdN4v_exp=_ZGVdN4v_exp_avx2 --ifunc _ZGVdN4v_sin=_ZGVdN4v_sin_avx2 \
	--ifunc _ZGVbN2v_exp=_ZGVbN2v_exp_sse4 --ifunc _ZGVbN2v_sin=_ZGVbN2v_sin_sse4 \
	--ifunc __ieee754_exp=__ieee754_exp_fma --ifunc __ieee754_log=__ieee754_log_fma --ifunc sin=__sin_fma \
	--ifunc __cos=__cos_fma --ifunc __sincos=__sincos_fma

cat >oracle.c <<'C'
#include "oracle.h"

static void network(void)
{
	INPUT_WITHIN(double, x, -20, 20, 1003);
	OUTPUT(double, y, 1e-14, 1003);
	INPUT(double, plenty, 5000);
	OUTPUT(double, again, 0, 5000);
	INPUT_WITHIN(double, base, 0, 2, 1);
	OUTPUT(double, power, 1e-15, 1);
	OUTPUT(double, error, 1e-15, 1);
	OUTPUT(double, bessel, 1e-15, 1);

	for (int i = 0; i < 1003; i++)
		y[i] = exp(x[i]) * sin(x[i]);
	memcpy(again, plenty, 5000 * sizeof(double));
	error[0] = erf(base[0]);
	bessel[0] = j0(error[0]);
	power[0] = base[0] * base[0] * sqrt(base[0]);
}
C
right

# Without the archives all of this is imported.
sed -i '/    object: /d' model.yaml
fuse loop.o
right
