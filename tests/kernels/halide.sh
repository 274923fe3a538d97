#!/bin/bash
# A function that Halide has compiled ahead of time.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/kernels/kernels.sh"
$KERNEL_CC -c "$top_srcdir/tests/kernels/objects/halide.s" -o soften.o

cat >model.yaml <<Y
sklink: 1
tensors:
  x: {dtype: f32, shape: [20, 50]}
  y: {dtype: f32, shape: [20, 48]}
  z: {dtype: f32, shape: [20, 46]}
$(kernels soften)
tasks:
  - {name: once, kernel: soften, args: [x, y], scope: all, set: {weight: 0.25}}
  - {name: twice, kernel: soften, args: [y, z], scope: all, set: {weight: 0.5}}
Y
# A function that checks its buffers calls functions of Halide's runtime if they do not fit.
fuse soften.o --unresolved-symbols=trap

cat >oracle.c <<'C'
#include "oracle.h"

static void soften(const float *x, float *y, float weight, int m, int n)
{
	for (int i = 0; i < m * n; i++) {
		const float *at = x + i / n * (n + 2) + i % n;
		y[i] = (1 - weight) * at[1] + weight * (at[0] + at[2]) / 2;
	}
}

static void network(void)
{
	INPUT(float, x, 20, 50);
	OUTPUT(float, z, 1e-6, 20, 46);
	float y[20 * 48];

	soften(x, y, 0.25, 20, 48);
	soften(y, z, 0.5, 20, 46);
}
C
right

# A buffer that is too small for the requested part ends the launch.
sed -i 's/shape: \[20, 48\]/shape: [20, 49]/' model.yaml
fuse soften.o --unresolved-symbols=trap
fails_with "task 'once': kernel soften called halide_error_access_out_of_bounds, which was not linked" "$skrun" \
	model.sk --random 1
