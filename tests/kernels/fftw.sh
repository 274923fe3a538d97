#!/bin/bash
# Codelets of Debian's FFTW: transforms of 16 complex numbers each, many at once. Codelets are local symbols; that for
# SSE2 needs memory that is aligned to 16 bytes.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/kernels/kernels.sh"
need "$libraries/libfftw3.a" libfftw3-dev

cat >model.yaml <<Y
sklink: 1
tensors:
  re: {dtype: f64, shape: [50, 16]}
  im: {dtype: f64, shape: [50, 16]}
  tr: {dtype: f64, shape: [50, 16], role: output}
  ti: {dtype: f64, shape: [50, 16], role: output}
  br: {dtype: f64, shape: [50, 16]}
  bi: {dtype: f64, shape: [50, 16]}
  places: {dtype: i64, shape: [16], data: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]}
  together: {dtype: i64, shape: [16], data: [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30]}
  z:  {dtype: f64, shape: [50, 16, 2]}
  tz: {dtype: f64, shape: [50, 16, 2], role: output}
$(kernels n1_16 n1fv_16)
tasks:
  - {name: forward, kernel: n1_16, args: [re, im, tr, ti, places, places], scope: all}
  # With real and imaginary parts exchanged it is the transform back, times 16.
  - {name: back, kernel: n1_16, args: [ti, tr, bi, br, places, places], scope: all}
  - {name: vectors, kernel: n1fv_16, args: [z, tz, together, together], scope: all}
Y
fuse -L "$libraries"

cat >oracle.c <<'C'
#include "oracle.h"
#include <complex.h>

static void network(void)
{
	INPUT(double, re, 50, 16);
	INPUT(double, im, 50, 16);
	OUTPUT(double, tr, 1e-13, 50, 16);
	OUTPUT(double, ti, 1e-13, 50, 16);
	OUTPUT(double, br, 1e-13, 50, 16);
	OUTPUT(double, bi, 1e-13, 50, 16);

	INPUT(double, z, 50, 16, 2);
	OUTPUT(double, tz, 1e-13, 50, 16, 2);
	for (int i = 0; i < 50 * 16; i++) {
		const double *row = z + i / 16 * 32;
		double complex sum = 0;

		for (int j = 0; j < 16; j++)
			sum += (row[2 * j] + I * row[2 * j + 1]) * cexp(-2 * M_PI * I * (i % 16 * j % 16) / 16);
		tz[2 * i] = creal(sum), tz[2 * i + 1] = cimag(sum);
		sum = 0;
		for (int j = 0; j < 16; j++)
			sum += (re[i / 16 * 16 + j] + I * im[i / 16 * 16 + j]) * cexp(-2 * M_PI * I * (i % 16 * j % 16) / 16);
		tr[i] = creal(sum), ti[i] = cimag(sum);
		br[i] = 16 * re[i], bi[i] = 16 * im[i];
	}
}
C
right

# A view that begins between two multiples of 16 bytes is refused, and without align= the first call there is a fault.
sed '/^  z:/s/.*/  whole: {dtype: f64, shape: [1601]}\n  z: {of: whole, offset: [1], shape: [1600]}/' model.yaml \
	>odd.yaml
cmp -s model.yaml odd.yaml && fail "nothing is odd"
fails_with "argument 'x' must be aligned to 16 bytes" "$sklink" odd.yaml -L "$libraries" -o odd.sk
sed -i 's/ align=16//' odd.yaml
"$sklink" odd.yaml -L "$libraries" -o odd.sk
fails_with 'SIG(SEGV|BUS)|fault' "$skrun" odd.sk --random 1
