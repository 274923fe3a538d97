#!/bin/bash
# Functions of Debian's GSL on arrays, numbers, vectors and matrices.
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
  a:        {dtype: f64, shape: [30, 20]}
  b:        {dtype: f64, shape: [20, 10]}
  product:  {dtype: f64, shape: [30, 10], role: output}
  v:        {dtype: f64, shape: [10]}
  u:        {dtype: f64, shape: [30], role: inout}
  z:        {dtype: f64, shape: [50, 2]}
  w:        {dtype: f64, shape: [50, 2], role: inout}
$(kernels gsl_stats_mean gsl_stats_variance_m gsl_fft_complex_radix2_forward gsl_sort gsl_poly_eval gsl_sf_bessel_J0 gsl_blas_dgemm gsl_blas_dgemv gsl_vector_scale gsl_blas_zaxpy)
tasks:
  - {name: mean, kernel: gsl_stats_mean, args: [x, mean], scope: all}
  - {name: variance, kernel: gsl_stats_variance_m, args: [x, variance], scope: all, set: {mean: {tensor: mean}}}
  - {name: transform, kernel: gsl_fft_complex_radix2_forward, args: [signal], stream: 1, scope: all}
  - {name: sort, kernel: gsl_sort, args: [sorted], stream: 1, scope: all}
  - {name: polynomial, kernel: gsl_poly_eval, args: [c, value], scope: all, set: {x: {tensor: at}}}
  - {name: bessel, kernel: gsl_sf_bessel_J0, args: [j], scope: all, set: {x: {tensor: value}}}
  - {name: product, kernel: gsl_blas_dgemm, args: [a, b, product], scope: all, set: {alpha: 2}}
  - {name: vector, kernel: gsl_blas_dgemv, args: [product, v, u], scope: all, set: {alpha: 1, beta: -1}}
  - {name: scale, kernel: gsl_vector_scale, args: [u], scope: all, set: {factor: 0.5}}
  - {name: complex, kernel: gsl_blas_zaxpy, args: [z, w], stream: 1, scope: all, set: {real: 0.75, imaginary: -2}}
Y
fuse -L "$libraries" "$libraries/libgslcblas.a"

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
	INPUT(double, a, 30, 20);
	INPUT(double, b, 20, 10);
	OUTPUT(double, product, 1e-13, 30, 10);
	INPUT(double, v, 10);
	UPDATED(double, u, 1e-13, 30);
	INPUT(double, z, 50, 2);
	UPDATED(double, w, 1e-14, 50, 2);

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
	for (int i = 0; i < 300; i++)
		for (int l = 0; l < 20; l++)
			product[i] += 2 * a[i / 10 * 20 + l] * b[l * 10 + i % 10];
	for (int i = 0; i < 30; i++) {
		u_new[i] = -u[i];
		for (int l = 0; l < 10; l++)
			u_new[i] += product[i * 10 + l] * v[l];
		u_new[i] /= 2;
	}
	for (int i = 0; i < 50; i++) {
		w_new[2 * i] = w[2 * i] + 0.75 * z[2 * i] + 2 * z[2 * i + 1];
		w_new[2 * i + 1] = w[2 * i + 1] + 0.75 * z[2 * i + 1] - 2 * z[2 * i];
	}
}
C
right
