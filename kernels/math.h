/* math.h: MATH(exp)(x) and similar functions, in the computation type of TYPE: f64, or f32 for all other floats. */
#ifndef SK_KERNELS_MATH_H
#define SK_KERNELS_MATH_H

#include "kernels/math-f32.h"
#include "kernels/math-f64.h"

#define MATH_f16       _f32
#define MATH_bf16      _f32
#define MATH_f32       _f32
#define MATH_f64       _f64
#define MATH(function) JOIN(function, JOIN(MATH_, TYPE))

#endif
