#!/bin/bash
# libskcompat.a: functions about arrays, of GNU Fortran and Numba, and Numba's environments.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/kernels/kernels.sh"
need_command gfortran gfortran
compat="-L$top_builddir/compat -lskcompat"

# ---- GNU Fortran: products of all ranks and kinds, sections with gaps, copies, errors ----

cat >products.f90 <<'F'
! matmul is what gfortran compiles to a call; loops compute the same. Elements are small integers, so sums are exact.
subroutine products(x, wrong)
  real, intent(in) :: x(:, :)
  real, intent(out) :: wrong(:)
  real :: a(7, 5), b(5, 3), c(7, 3), v(7), w(3)
  real(8) :: a8(7, 5), b8(5, 3), c8(7, 3)
  integer :: i4(7, 5), j4(5, 3), k4(7, 3)
  integer(8) :: i8(7, 5), j8(5, 3), k8(7, 3)
  integer(2) :: i2(7, 5), j2(5, 3), k2(7, 3)
  integer(1) :: i1(7, 5), j1(5, 3), k1(7, 3)
  complex :: z(7, 5), q(5, 3), p(7, 3)
  complex(8) :: z8(7, 5), q8(5, 3), p8(7, 3)
  real, allocatable :: d(:, :), e(:)
  integer :: i, j
  a = aint(x(1:14:2, 1:5) * 4)
  b = transpose(aint(x(3:9:3, 2:10:2) * 4))
  c = matmul(a, b)
  wrong = 0
  do i = 1, 7
    do j = 1, 3
      if (c(i, j) /= sum(a(i, :) * b(:, j))) wrong(1) = 1
    end do
  end do
  c(7:1:-1, :) = matmul(a(7:1:-1, :), b)
  do i = 1, 7
    do j = 1, 3
      if (c(i, j) /= sum(a(i, :) * b(:, j))) wrong(1) = 2
    end do
  end do
  v = matmul(a, b(:, 2))
  w = matmul(a(3, :), b)
  if (any(v /= c(:, 2)) .or. any(w /= c(3, :))) wrong(1) = 3
  d = matmul(a(:, ::2), b(::2, :))
  if (any(shape(d) /= [7, 3])) wrong(1) = 4
  if (d(4, 2) /= sum(a(4, ::2) * b(::2, 2))) wrong(1) = 5
  e = matmul(a(2, ::2), b(::2, :))
  if (size(e) /= 3 .or. e(1) /= d(2, 1)) wrong(1) = 6
  d = matmul(a(:, 1:0), b(1:0, :))
  if (any(shape(d) /= [7, 3]) .or. any(d /= 0)) wrong(1) = 7
  a8 = a
  b8 = b
  c8 = matmul(a8, b8)
  i8 = int(a, 8)
  j8 = int(b, 8)
  k8 = matmul(i8, j8)
  i4 = int(a)
  j4 = int(b)
  k4 = matmul(i4, j4)
  i2 = int(a, 2)
  j2 = int(b, 2)
  k2 = matmul(i2, j2)
  i1 = int(mod(a, 2.), 1)
  j1 = int(mod(b, 2.), 1)
  k1 = matmul(i1, j1)
  z = cmplx(a, 1)
  q = cmplx(0, b)
  p = matmul(z, q)
  z8 = z
  q8 = q
  p8 = matmul(z8, q8)
  if (any(c8 /= c) .or. any(k8 /= c) .or. any(k4 /= c) .or. any(k2 /= c)) wrong(1) = 8
  if (any(k1 /= matmul(mod(a, 2.), mod(b, 2.)))) wrong(1) = 9
  if (any(aimag(p) /= c) .or. any(aimag(p8) /= c) .or. any(real(p8) /= real(p))) wrong(1) = 10
  do j = 1, 3
    if (any(real(p(:, j)) /= -sum(b(:, j)))) wrong(1) = 11
  end do
  call explicit(c(1:7:3, :), 3, 3)
  if (any(c(1:7:3, :) /= d(1:7:3, :) + 1) .or. c(2, 1) /= c8(2, 1)) wrong(1) = 12
  if (x(1, 1) < 0) then
    deallocate(d)
    d = matmul(a, b(1:size(x, 1) - 12, :))
    wrong(1) = d(1, 1)
  end if
end subroutine
subroutine explicit(a, m, n)
  integer, intent(in) :: m, n
  real, intent(out) :: a(m, n)
  a = 1
end subroutine
F
cat >model.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [12, 15]}
  wrong: {dtype: f32, shape: [1]}
kernels:
  products_: {signature: "frame=gfortran; in x f32[m,n], out wrong f32[1]"}
tasks:
  - {name: all, kernel: products_, args: [x, wrong], scope: s}
M
/usr/bin/python3 -c '
import numpy
x = numpy.random.default_rng(1).random((12, 15), dtype="f")
numpy.save("x.npy", x)
numpy.save("minus.npy", x - 2)'
for level in -O0 -O1 -O3; do
	# -fno-frontend-optimize: matmul stays a call.
	gfortran $level -fPIC -fno-frontend-optimize -c products.f90 -o products.o
	nm products.o | grep -q _gfortran_matmul_c8 || fail "gfortran calls nothing"
	# shellcheck disable=SC2086 # a list of options
	"$sklink" model.yaml products.o $compat -o products.sk
	for options in '--cores 1' '--guard' '--verify'; do
		# shellcheck disable=SC2086 # a list of options
		"$skrun" products.sk --input x=x.npy --output wrong=wrong.npy $options >out.txt
		/usr/bin/python3 -c 'import numpy, sys; sys.exit(int(numpy.load("wrong.npy")[0]))' ||
			fail "a product of gfortran $level is wrong"
	done
done
fails_with 'Fortran: matmul: the extents of the arrays do not fit' "$skrun" products.sk --input x=minus.npy

# ---- Numba: reshape without a copy; every answer is compared with the addresses of all elements ----

cat >reshape.c <<'C'
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
int numba_attempt_nocopy_reshape(int64_t, const int64_t *, const int64_t *, int64_t, const int64_t *, int64_t *, int64_t, int);

/* The address of an element by its number in the order. */
static int64_t at(int64_t rank, const int64_t *extents, const int64_t *strides, int64_t number, int fortran)
{
	int64_t address = 0;

	for (int64_t i = 0; i < rank; i++) {
		int64_t axis = fortran ? i : rank - 1 - i;

		address += number % extents[axis] * strides[axis];
		number /= extents[axis];
	}
	return address;
}

/* Split a number into factors. */
static int64_t factors(int64_t number, int64_t *extents)
{
	int64_t rank = 0;

	while (number > 1 || rand() % 3 == 0) {
		int64_t factor = 1 + rand() % 4;

		if (rank == 9 || number % factor)
			factor = rank == 9 ? number : 1;
		extents[rank++] = factor;
		number /= factor;
		if (rank == 10)
			break;
	}
	return rank;
}

int main(void)
{
	static const int64_t sizes[] = {1, 4, 6, 12, 24, 36, 72};
	int answers[2] = {0};

	for (int turn = 0; turn < 200000; turn++) {
		int64_t size = sizes[rand() % 7], extents[10], strides[10], wanted[10], found[10], expected[10], step = 1;
		int64_t rank = factors(size, extents), count = factors(size, wanted);
		int fortran = rand() % 2, contiguous = 1, answer;

		for (int64_t i = 0; i < rank; i++) {
			int64_t axis = fortran ? i : rank - 1 - i;

			strides[axis] = 4 * step * (rand() % 8 ? 1 : 2) * (rand() % 8 ? 1 : -1);
			step = (rand() % 12 ? labs(strides[axis]) / 4 : 3 * step) * extents[axis];
		}
		answer = numba_attempt_nocopy_reshape(rank, extents, strides, count, wanted, found, 4, fortran);
		/* The strides that are right, if any are: those of the elements next to the first one. */
		for (int64_t i = 0, inner = 1; i < count; i++) {
			int64_t axis = fortran ? i : count - 1 - i;

			expected[axis] = wanted[axis] > 1 ? at(rank, extents, strides, inner, fortran) : 0;
			inner *= wanted[axis];
		}
		for (int64_t i = 0; i < size; i++) {
			contiguous &= at(count, wanted, expected, i, fortran) == at(rank, extents, strides, i, fortran);
			if (answer && at(count, wanted, found, i, fortran) != at(rank, extents, strides, i, fortran)) {
				printf("turn %d: element %ld is elsewhere\n", turn, (long)i);
				return 1;
			}
		}
		if (answer != contiguous) {
			printf("turn %d: the answer is %d\n", turn, answer);
			return 1;
		}
		answers[answer]++;
	}
	return answers[0] < 1000 || answers[1] < 1000;
}
C
# shellcheck disable=SC2086 # a list of options
$KERNEL_CC -O1 -Wall reshape.c $compat -o reshape
./reshape || fail "reshape"

# ---- Numba's environments are not state, other common variables are ----

cat >environment.c <<'C'
#include <stdint.h>
void *NAME;
int32_t add(void *result, void **exception, void *m, void *p, int64_t items, int64_t size, const float *x, int64_t n, int64_t s,
	    void *m2, void *p2, int64_t items2, int64_t size2, float *y, int64_t n2, int64_t s2)
{
	if (NAME)
		return 1;
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] + 1;
	return 0;
}
C
cat >model.yaml <<'M'
sklink: 1
tensors: {x: {dtype: f32, shape: [1000]}, y: {dtype: f32, shape: [1000]}}
kernels: {add: {signature: "split=n frame=numba; in x f32[n], out y f32[n]"}}
tasks: [{name: add, kernel: add, args: [x, y], scope: s}]
M
for name in _ZN08NumbaEnv8__main__3addE counter; do
	$KERNEL_CC -O2 -fPIC -fcommon -DNAME=$name -c environment.c -o $name.o
	nm $name.o | grep -q " C $name" || fail "$name is not common"
done
"$sklink" model.yaml _ZN08NumbaEnv8__main__3addE.o -o environment.sk
"$skrun" environment.sk --random 1 --verify --cores 3 >out.txt || fail "Numba's environment"
fails_with "kernel 'add' has hidden state .COMMON." "$sklink" model.yaml counter.o -o counter.sk
