#!/bin/bash
# C++ as g++ compiles it: templates, references, classes, and with libstdc++.a containers and exceptions that a kernel
# catches.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/kernels/kernels.sh"
need_command g++ g++

cat >blur.cc <<'CC'
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <vector>

template <typename T> class rows {
	const T *data;
	size_t width;

public:
	rows(const T *data, size_t width) : data(data), width(width) {}
	const T *operator[](size_t row) const { return data + row * width; }
};

template <typename T> void blur(const T *x, T *y, size_t m, size_t n)
{
	rows<T> in(x, n);

	for (size_t i = 0; i < m; i++)
		for (size_t j = 0; j < n; j++)
			y[i * n + j] = (in[i][j ? j - 1 : 0] + in[i][j] + in[i][std::min(j + 1, n - 1)]) / 3;
}
template void blur<float>(const float *, float *, size_t, size_t);

namespace statistics {
double spread(const std::array<double, 256> &values)
{
	auto ends = std::minmax_element(values.begin(), values.end());

	return *ends.second - *ends.first;
}

double median(const double *values, size_t n)
{
	std::vector<double> sorted(values, values + n);

	std::nth_element(sorted.begin(), sorted.begin() + n / 2, sorted.end());
	return sorted[n / 2];
}

/* Words outside of the table are -1. */
void lookup(const double *table, size_t n, const int *at, double *y, size_t m)
{
	const std::vector<double> values(table, table + n);

	for (size_t i = 0; i < m; i++)
		try {
			y[i] = values.at(at[i]);
		} catch (const std::out_of_range &) {
			y[i] = -1;
		}
}
}
CC
g++ -O2 -fPIC -ffunction-sections -c blur.cc

cat >model.yaml <<Y
sklink: 1
tensors:
  x:      {dtype: f32, shape: [40, 33]}
  y:      {dtype: f32, shape: [40, 33]}
  values: {dtype: f64, shape: [256]}
  spread: {dtype: f64, shape: [1]}
  median: {dtype: f64, shape: [1]}
  at:     {dtype: i32, shape: [70]}
  found:  {dtype: f64, shape: [70]}
$(kernels blur spread median lookup)
tasks:
  - {name: blur, kernel: blur, args: [x, y], scope: all}
  - {name: spread, kernel: spread, args: [values, spread], scope: all}
  - {name: median, kernel: median, args: [values, median], stream: 1, scope: all}
  - {name: lookup, kernel: lookup, args: [values, at, found], scope: all}
Y
fuse blur.o "$(g++ -print-file-name=libstdc++.a)" "$(g++ -print-file-name=libgcc_eh.a)" \
	"$(g++ -print-file-name=libgcc.a)"

cat >oracle.c <<'C'
#include "oracle.h"

static void network(void)
{
	enum { M = 40, N = 33 };
	INPUT(float, x, M, N);
	OUTPUT(float, y, 1e-6, M, N);
	INPUT(double, values, 256);
	OUTPUT(double, spread, 0, 1);
	OUTPUT(double, median, 0, 1);
	INPUT_WITHIN(int32_t, at, -10, 300, 70);
	OUTPUT(double, found, 0, 70);

	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++)
			y[i * N + j] = (x[i * N + (j ? j - 1 : 0)] + x[i * N + j] + x[i * N + (j < N - 1 ? j + 1 : j)]) / 3;
	for (int i = 0; i < 70; i++)
		found[i] = at[i] >= 0 && at[i] < 256 ? values[at[i]] : -1;
	for (int i = 0; i < 256; i++) {
		int less = 0;
		for (int j = 0; j < 256; j++) {
			spread[0] = fmax(spread[0], values[i] - values[j]);
			less += values[j] < values[i];
		}
		if (less == 128)
			median[0] = values[i];
	}
}
C
right
