#!/bin/bash
# Fortran as gfortran compiles it: arrays of explicit and of assumed shape, a function, and an array expression.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/kernels/kernels.sh"
need_command gfortran gfortran

cat >heat.f90 <<'F'
subroutine relax(n, m, weight, x, y)
	implicit none
	integer, intent(in) :: n, m
	real(8), intent(in) :: weight, x(n, m)
	real(8), intent(out) :: y(n, m)
	integer :: i, j

	y(1, :) = x(1, :)
	y(n, :) = x(n, :)
	do j = 1, m
		do i = 2, n - 1
			y(i, j) = (1 - weight) * x(i, j) + weight * (x(i - 1, j) + x(i + 1, j)) / 2
		end do
	end do
end subroutine

real(8) function energy(n, x)
	implicit none
	integer, intent(in) :: n
	real(8), intent(in) :: x(n)

	energy = sum(x**2) / 2
end function

subroutine center(x, weight, y)
	implicit none
	real(8), intent(in) :: x(:, :), weight(:)
	real(8), intent(out) :: y(:, :)
	integer :: j

	do j = 1, size(x, 2)
		y(:, j) = (x(:, j) - sum(x(:, j)) / size(x, 1)) * weight(j)
	end do
end subroutine
F
gfortran -O2 -fPIC -c heat.f90

cat >model.yaml <<Y
sklink: 1
tensors:
  x:      {dtype: f64, shape: [50, 30]}
  y:      {dtype: f64, shape: [50, 30], role: output}
  energy: {dtype: f64, shape: [1]}
  weight: {dtype: f64, shape: [50]}
  z:      {dtype: f64, shape: [50, 30]}
$(kernels relax_ energy_ center_)
tasks:
  - {name: relax, kernel: relax_, args: [x, y], scope: all, set: {weight: 0.25}}
  - {name: energy, kernel: energy_, args: [y, energy], scope: all}
  - {name: center, kernel: center_, args: [y, weight, z], scope: all}
Y
fuse heat.o

cat >oracle.c <<'C'
#include "oracle.h"

static void network(void)
{
	enum { M = 50, N = 30 };
	INPUT(double, x, M, N);
	OUTPUT(double, y, 1e-15, M, N);
	OUTPUT(double, energy, 1e-13, 1);
	INPUT(double, weight, M);
	OUTPUT(double, z, 1e-14, M, N);

	for (int i = 0; i < M * N; i++) {
		y[i] = i % N && i % N < N - 1 ? 0.75 * x[i] + 0.25 * (x[i - 1] + x[i + 1]) / 2 : x[i];
		energy[0] += y[i] * y[i] / 2;
	}
	for (int i = 0; i < M; i++) {
		double mean = 0;
		for (int j = 0; j < N; j++)
			mean += y[i * N + j] / N;
		for (int j = 0; j < N; j++)
			z[i * N + j] = (y[i * N + j] - mean) * weight[i];
	}
}
C
right
