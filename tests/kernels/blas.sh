#!/bin/bash
# Debian's reference BLAS and LAPACK, which gfortran compiled. Matrices that we store by rows are, to Fortran, their
# transposes.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/kernels/kernels.sh"
need "$libraries/blas/libblas.a" libblas-dev
need "$libraries/lapack/liblapack.a" liblapack-dev

cat >model.yaml <<Y
sklink: 1
tensors:
  x:      {dtype: f64, shape: [500]}
  y:      {dtype: f64, shape: [500], role: inout}
  dot:    {dtype: f64, shape: [1]}
  wide:   {dtype: f64, shape: [60, 64]}
  a:      {of: wide, offset: [0, 8], shape: [60, 40]}
  b:      {dtype: f64, shape: [40, 24]}
  c:      {dtype: f64, shape: [60, 24], role: output}
  v:      {dtype: f64, shape: [24]}
  u:      {dtype: f64, shape: [60]}
  rows:   {of: wide, offset: [0, 8], shape: [24, 40]}
  gram:   {dtype: f64, shape: [24, 24], role: inout}
  m:      {dtype: f64, shape: [24, 24], role: inout}
  z:      {dtype: f64, shape: [3, 24], role: inout}
  pivots: {dtype: i32, shape: [24]}
$(kernels daxpy_ ddot_ dgemv_ dgemm_ dsyrk_ dpotrf_ dgesv_)
tasks:
  - {name: move, kernel: daxpy_, args: [x, y], scope: all, set: {alpha: 0.5}}
  - {name: dot, kernel: ddot_, args: {x: x, y: y, dot: dot}, stream: 1, scope: all}
  - {name: product, kernel: dgemm_, args: [b, a, c], scope: all, set: {alpha: 1}}
  - {name: vector, kernel: dgemv_, args: [c, v, u], scope: all, set: {alpha: 2}}
  - {name: square, kernel: dsyrk_, args: [rows, gram], stream: 1, scope: all, set: {alpha: 1}}
  - {name: cholesky, kernel: dpotrf_, args: [gram], stream: 1, scope: all}
  - {name: solve, kernel: dgesv_, args: [m, pivots, z], stream: 1, scope: all}
Y

# Its own printing of a wrong argument would want gfortran's runtime; that of libblas.a, which is first, does not.
fuse -L "$libraries/blas" -L "$libraries/lapack"

cat >oracle.c <<'C'
#include "oracle.h"

enum { M = 60, K = 40, N = 24 };

static void cholesky(const double *a)
{
	UPDATED(double, gram, 1e-11, N, N);
	memcpy(gram_new, gram, N * N * sizeof(double));
	for (int i = 0; i < N; i++)
		for (int j = 0; j <= i; j++) { /* the lower triangle by columns, which is the upper one by rows */
			double sum = 0;
			for (int l = 0; l < K; l++)
				sum += a[i * 64 + l] * a[j * 64 + l];
			for (int l = 0; l < j; l++)
				sum -= gram_new[l * N + i] * gram_new[l * N + j];
			gram_new[j * N + i] = i == j ? sqrt(sum) : sum / gram_new[j * N + j];
		}
}

static void solve(void)
{
	UPDATED(double, m, 1e-9, N, N);
	UPDATED(double, z, 1e-9, 3, N);
	OUTPUT(int32_t, pivots, 0, N);
	memcpy(m_new, m, N * N * sizeof(double));
	memcpy(z_new, z, 3 * N * sizeof(double));
#define A(row, column) m_new[(column) * N + (row)]
	for (int k = 0; k < N; k++) {
		int pivot = k;
		for (int i = k; i < N; i++)
			pivot = fabs(A(i, k)) > fabs(A(pivot, k)) ? i : pivot;
		pivots[k] = pivot + 1;
		for (int j = 0; j < N; j++) {
			double held = A(k, j);
			A(k, j) = A(pivot, j), A(pivot, j) = held;
		}
		for (int i = k + 1; i < N; i++) {
			A(i, k) /= A(k, k);
			for (int j = k + 1; j < N; j++)
				A(i, j) -= A(i, k) * A(k, j);
		}
	}
	for (double *x = z_new; x < z_new + 3 * N; x += N) {
		for (int k = 0; k < N; k++) {
			double held = x[k];
			x[k] = x[pivots[k] - 1], x[pivots[k] - 1] = held;
			for (int j = 0; j < k; j++)
				x[k] -= A(k, j) * x[j];
		}
		for (int k = N; k--; x[k] /= A(k, k))
			for (int j = k + 1; j < N; j++)
				x[k] -= A(k, j) * x[j];
	}
}

static void network(void)
{
	INPUT(double, x, 500);
	UPDATED(double, y, 1e-15, 500);
	OUTPUT(double, dot, 1e-13, 1);
	INPUT(double, wide, M, 64);
	const double *a = wide + 8; /* of rows of 64 */
	INPUT(double, b, K, N);
	INPUT(double, v, N);
	OUTPUT(double, c, 1e-13, M, N);
	OUTPUT(double, u, 1e-12, M);

	for (int i = 0; i < 500; i++)
		y_new[i] = y[i] + 0.5 * x[i], dot[0] += x[i] * y_new[i];
	for (int i = 0; i < M; i++) {
		for (int j = 0; j < N; j++)
			for (int l = 0; l < K; l++)
				c[i * N + j] += a[i * 64 + l] * b[l * N + j];
		for (int j = 0; j < N; j++)
			u[i] += 2 * c[i * N + j] * v[j];
	}
	cholesky(a);
	solve();
}
C
right

# A matrix that is not positive definite ends the launch.
sed -i '/name: square/d; /  rows: /d' model.yaml
fuse -L "$libraries/blas" -L "$libraries/lapack"
fails_with "task 'cholesky': .*status [0-9]+" "$skrun" model.sk --random 1
