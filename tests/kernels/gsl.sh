#!/bin/bash
# Functions of Debian's GSL on arrays.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/kernels/kernels.sh"
need "$libraries/libgsl.a" libgsl-dev

cat >model.yaml <<Y
sklink: 1
tensors:
  x:        {dtype: f64, shape: [256]}
  mean:     {dtype: f64, shape: [1], role: output}
  variance: {dtype: f64, shape: [1]}
  signal:   {dtype: f64, shape: [128, 2], role: inout}
  sorted:   {dtype: f64, shape: [300], role: inout}
  at:       {dtype: f64, shape: [1]}
  c:        {dtype: f64, shape: [9]}
  value:    {dtype: f64, shape: [1], role: output}
  j:        {dtype: f64, shape: [1]}
$(kernels gsl_stats_mean gsl_stats_variance_m gsl_fft_complex_radix2_forward gsl_sort gsl_poly_eval gsl_sf_bessel_J0)
tasks:
  - {name: mean, kernel: gsl_stats_mean, args: [x, mean], scope: all}
  - {name: variance, kernel: gsl_stats_variance_m, args: [x, variance], scope: all, set: {mean: {tensor: mean}}}
  - {name: transform, kernel: gsl_fft_complex_radix2_forward, args: [signal], stream: 1, scope: all}
  - {name: sort, kernel: gsl_sort, args: [sorted], stream: 1, scope: all}
  - {name: polynomial, kernel: gsl_poly_eval, args: [c, value], scope: all, set: {x: {tensor: at}}}
  - {name: bessel, kernel: gsl_sf_bessel_J0, args: [j], scope: all, set: {x: {tensor: value}}}
Y
fuse -L "$libraries"

cat >oracle.c <<'C'
#include "oracle.h"
#include <complex.h>

static int ascending(const void *a, const void *b)
{
	return *(const double *)a < *(const double *)b ? -1 : *(const double *)a > *(const double *)b;
}

static void network(void)
{
	INPUT(double, x, 256);
	OUTPUT(double, mean, 1e-14, 1);
	OUTPUT(double, variance, 1e-14, 1);
	UPDATED(double, signal, 1e-12, 128, 2);
	UPDATED(double, sorted, 0, 300);
	INPUT(double, at, 1);
	INPUT(double, c, 9);
	OUTPUT(double, value, 1e-14, 1);
	OUTPUT(double, j, 1e-14, 1);

	for (int i = 0; i < 256; i++)
		mean[0] += x[i] / 256;
	for (int i = 0; i < 256; i++)
		variance[0] += (x[i] - mean[0]) * (x[i] - mean[0]) / 255;
	for (int k = 0; k < 128; k++) {
		double complex sum = 0;
		for (int i = 0; i < 128; i++)
			sum += (signal[2 * i] + I * signal[2 * i + 1]) * cexp(-2 * M_PI * I * (i * k % 128) / 128);
		signal_new[2 * k] = creal(sum), signal_new[2 * k + 1] = cimag(sum);
	}
	memcpy(sorted_new, sorted, 300 * sizeof(double));
	qsort(sorted_new, 300, sizeof(double), ascending);
	for (int i = 9; i--;)
		value[0] = value[0] * at[0] + c[i];
	j[0] = j0(value[0]);
}
C
right
