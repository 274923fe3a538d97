/* normalize-fused.c: normalisations of rows together with the operations before and after them: a sum of two tensors, a
 * cast, integers of 8 bits. Each computes its parts one after the other, bit by bit: values that separate calls would
 * store in memory are also rounded to the type here. x? is the sum.
 *
 *	RmsNorm			x [m,k], gamma [k] -> y [m,k], rstd? f32 [m]
 *	AddRmsNorm		x1, x2 [m,k], gamma [k] -> y? [m,k], rstd? f32 [m], x? [m,k]
 *	AddRmsNormCast		x1, x2 [m,k], gamma [k] -> y1? f32 [m,k], y2? [m,k], rstd? f32 [m], x? [m,k]
 *	AddLayerNorm		x1, x2 [m,k], gamma, beta [k] -> y? [m,k], mean? f32 [m], rstd? f32 [m], x? [m,k]
 *	QuantV2			x [m,k], scale f32 [k], offset? f32 [k] -> y i8 [m,k]
 *	RmsNormQuant		x [m,k], gamma, beta? [k], scale f32 [k], offset? f32 [k] -> y i8 [m,k]
 *	DynamicQuant		x [m,k], smooth? [k] -> y? i8 [m,k], scale? f32 [m]
 *	AddRmsNormQuant		x1, x2 [m,k], gamma [k], and two pairs of scale f32 [k] and offset? f32 [k] ->
 *				y1? i8 [m,k], y2? i8 [m,k], x? [m,k]
 *	AddRmsNormDynamicQuant	x1, x2 [m,k], gamma [k], smooth1?, smooth2? [k] ->
 *				y1? i8 [m,k], y2? i8 [m,k], x? [m,k], scale1? f32 [m], scale2? f32 [m]
 *
 * variants: OP=RmsNorm,AddRmsNorm,AddRmsNormCast,AddLayerNorm TYPE=f32,halves ISA=base,v3
 * variants: OP=AddRmsNormQuant,AddRmsNormDynamicQuant TYPE=f32,halves ISA=base,v3
 * variants: OP=QuantV2,RmsNormQuant,DynamicQuant TYPE=f32,halves ISA=base,v3
 */
#include "kernels/quantise.h"

typedef STORED(TYPE) element;
typedef COMPUTED(TYPE) number;

#include "kernels/normal-rows.h"

#define WORD_RmsNorm		    1
#define WORD_AddRmsNorm		    2
#define WORD_AddRmsNormCast	    3
#define WORD_AddLayerNorm	    4
#define WORD_QuantV2		    5
#define WORD_RmsNormQuant	    6
#define WORD_AddRmsNormQuant	    7
#define WORD_DynamicQuant	    8
#define WORD_AddRmsNormDynamicQuant 9
#define WORD			    JOIN(WORD_, OP)
#define QUANTISES		    (WORD >= 5 && WORD <= 7)
#define T			    TEXT(TYPE)

/* ---- before: a sum ---- */

static ALWAYS_INLINE const element *add_rows(const element *a, const element *b, element *sum, int64_t k)
{
	INDEPENDENT
	for (int64_t p = 0; p < k; p++)
		sum[p] = STORE(TYPE, LOAD(TYPE, a[p]) + LOAD(TYPE, b[p]));
	return sum;
}

/* ---- after: integers ---- */

#if QUANTISES
/* Conversion of an element to an integer: x / scale + offset, or x * scale + offset. */
struct steps {
	const float *scale, *offset; /* offset may be NULL */
	int64_t divides;
};

static ALWAYS_INLINE int8_t quantise_by(float x, float scale, float offset, int divides)
{
	return (int8_t)quantise((divides ? x / scale : x * scale) + offset, 0, -128, 127);
}

static ALWAYS_INLINE void quantise_loop(const element *x, struct steps steps, int8_t *y, int64_t k, int divides,
					int moves)
{
	INDEPENDENT
	for (int64_t p = 0; p < k; p++)
		y[p] = quantise_by(LOAD(TYPE, x[p]), steps.scale[p], moves ? steps.offset[p] : 0, divides);
}

static ALWAYS_INLINE void quantise_row(const element *x, struct steps steps, int8_t *y, int64_t k)
{
	if (steps.divides)
		steps.offset ? quantise_loop(x, steps, y, k, 1, 1) : quantise_loop(x, steps, y, k, 1, 0);
	else
		steps.offset ? quantise_loop(x, steps, y, k, 0, 1) : quantise_loop(x, steps, y, k, 0, 0);
}
#endif

#if WORD >= 8
/* Quantise the row, times `smooth` if that is not NULL, with a scale of its own. */
static ALWAYS_INLINE void quantise_dynamically(const element *x, const element *smooth, int8_t *y, float *scale,
					       int64_t k, float *numbers)
{
	if (smooth) {
		INDEPENDENT
		for (int64_t p = 0; p < k; p++)
			numbers[p] = LOAD(TYPE, x[p]) * LOAD(TYPE, smooth[p]);
	} else {
		INDEPENDENT
		for (int64_t p = 0; p < k; p++)
			numbers[p] = LOAD(TYPE, x[p]);
	}
	quantise_numbers(numbers, y, scale, k);
}
#endif

/* ---- the kernels ---- */

/* `room` is for rows of absent outputs. */
#define SHAPE	int64_t m, int64_t k
#define AT(row) ((row) ? (row) + at : NULL)

#define SHAPE_TEXT    "m i64, k i64"
#define EPSILON(text) ", epsilon f32 = attr(epsilon, " text ")"
#define DIVIDES(text) ", divides i64 = attr(div_mode, " text ")"
#define SUM_TEXT      "in x1 " T "[m,k], in x2 " T "[m,k], in gamma " T "[k], "

#if WORD == 1
void KERNEL(const element *x, const element *gamma, element *y, float *rstd, SHAPE, float epsilon)
{
	for (int64_t row = 0, at = 0; row < m; row++, at += k) {
		number factor = root_factor(x + at, k, epsilon);

		if (rstd)
			rstd[row] = factor;
		scale_by_root(x + at, gamma, NULL, y + at, k, factor);
	}
}
SIGNATURE("split=m op=" TEXT(OP),
	  "in x " T "[m,k], in gamma " T "[k], out y@x " T "[m,k], out? rstd f32[m], " SHAPE_TEXT EPSILON("1e-6"));

#elif WORD == 2
void KERNEL(const element *x1, const element *x2, const element *gamma, element *y, float *rstd, element *x, SHAPE,
	    float epsilon, element *room)
{
	for (int64_t row = 0, at = 0; row < m; row++, at += k) {
		const element *sum = add_rows(x1 + at, x2 + at, x ? x + at : room, k);
		number factor = root_factor(sum, k, epsilon);

		if (rstd)
			rstd[row] = factor;
		if (y)
			scale_by_root(sum, gamma, NULL, y + at, k, factor);
	}
}
SIGNATURE("split=m op=" TEXT(OP), SUM_TEXT "out? y@x2 " T "[m,k], out? rstd f32[m], out? x@x1 " T
					   "[m,k], " SHAPE_TEXT EPSILON("1e-6") ", scratch room " T "[k]");

#elif WORD == 3
void KERNEL(const element *x1, const element *x2, const element *gamma, float *y1, element *y2, float *rstd, element *x,
	    SHAPE, float epsilon, element *room)
{
	for (int64_t row = 0, at = 0; row < m; row++, at += k) {
		const element *sum = add_rows(x1 + at, x2 + at, x ? x + at : room, k);
		element *normal = y2 ? y2 + at : room + k;
		number factor = root_factor(sum, k, epsilon);

		if (rstd)
			rstd[row] = factor;
		scale_by_root(sum, gamma, NULL, normal, k, factor);
		for (int64_t p = 0; y1 && p < k; p++)
			y1[at + p] = LOAD(TYPE, normal[p]);
	}
}
SIGNATURE("split=m op=" TEXT(OP), SUM_TEXT "out? y1 f32[m,k], out? y2@x2 " T "[m,k], out? rstd f32[m], out? x@x1 " T
					   "[m,k], " SHAPE_TEXT EPSILON("1e-6") ", scratch room " T "[2*k]");

#elif WORD == 4
void KERNEL(const element *x1, const element *x2, const element *gamma, const element *beta, element *y, float *mean,
	    float *rstd, element *x, SHAPE, float epsilon, element *room)
{
	for (int64_t row = 0, at = 0; row < m; row++, at += k) {
		const element *sum = add_rows(x1 + at, x2 + at, x ? x + at : room, k);
		const struct moments moments = moments_of(sum, k, epsilon);

		if (mean)
			mean[row] = moments.mean;
		if (rstd)
			rstd[row] = moments.factor;
		if (y)
			scale_row(sum, gamma, beta, y + at, k, moments);
	}
}
SIGNATURE("split=m op=" TEXT(OP),
	  SUM_TEXT "in beta " T "[k], out? y@x2 " T "[m,k], out? mean f32[m], out? rstd f32[m], out? x@x1 " T
		   "[m,k], " SHAPE_TEXT EPSILON("1e-5") ", scratch room " T "[k]");

#elif WORD == 5
void KERNEL(const element *x, const float *scale, const float *offset, int8_t *y, SHAPE, int64_t divides)
{
	for (int64_t row = 0, at = 0; row < m; row++, at += k)
		quantise_row(x + at, (struct steps){scale, offset, divides}, y + at, k);
}
SIGNATURE("split=m op=" TEXT(OP),
	  "in x " T "[m,k], in scale f32[k], in? offset f32[k], out y i8[m,k], " SHAPE_TEXT DIVIDES("0"));

#elif WORD == 6
void KERNEL(const element *x, const element *gamma, const element *beta, const float *scale, const float *offset,
	    int8_t *y, SHAPE, float epsilon, int64_t divides, element *room)
{
	for (int64_t row = 0, at = 0; row < m; row++, at += k) {
		scale_by_root(x + at, gamma, beta, room, k, root_factor(x + at, k, epsilon));
		quantise_row(room, (struct steps){scale, offset, divides}, y + at, k);
	}
}
SIGNATURE("split=m op=" TEXT(OP), "in x " T "[m,k], in gamma " T "[k], in? beta " T
				  "[k], in scale f32[k], in? offset f32[k], out y i8[m,k], " SHAPE_TEXT EPSILON("1e-6")
					  DIVIDES("0") ", scratch room " T "[k]");

#elif WORD == 7
void KERNEL(const element *x1, const element *x2, const element *gamma, const float *scale1, const float *offset1,
	    const float *scale2, const float *offset2, int8_t *y1, int8_t *y2, element *x, SHAPE, float epsilon,
	    int64_t divides, element *room)
{
	for (int64_t row = 0, at = 0; row < m; row++, at += k) {
		const element *sum = add_rows(x1 + at, x2 + at, x ? x + at : room, k);
		element *normal = room + k;

		scale_by_root(sum, gamma, NULL, normal, k, root_factor(sum, k, epsilon));
		if (y1)
			quantise_row(normal, (struct steps){scale1, offset1, divides}, y1 + at, k);
		if (y2)
			quantise_row(normal, (struct steps){scale2, offset2, divides}, y2 + at, k);
	}
}
SIGNATURE("split=m op=" TEXT(OP),
	  SUM_TEXT "in scale1 f32[k], in? offset1 f32[k], in? scale2 f32[k], in? offset2 f32[k], out? y1 i8[m,k], "
		   "out? y2 i8[m,k], out? x@x1 " T "[m,k], " SHAPE_TEXT EPSILON("1e-6") DIVIDES("0") ", scratch room " T
												     "[2*k]");

#elif WORD == 8
void KERNEL(const element *x, const element *smooth, int8_t *y, float *scale, SHAPE, float *numbers)
{
	for (int64_t row = 0, at = 0; row < m; row++, at += k)
		quantise_dynamically(x + at, smooth, AT(y), scale ? scale + row : NULL, k, numbers);
}
SIGNATURE("split=m op=" TEXT(OP), "in x " T "[m,k], in? smooth " T "[k], out? y i8[m,k], out? scale f32[m], " SHAPE_TEXT
				  ", scratch numbers f32[k]");

#else
void KERNEL(const element *x1, const element *x2, const element *gamma, const element *smooth1, const element *smooth2,
	    int8_t *y1, int8_t *y2, element *x, float *scale1, float *scale2, SHAPE, float epsilon, element *room,
	    float *numbers)
{
	for (int64_t row = 0, at = 0; row < m; row++, at += k) {
		const element *sum = add_rows(x1 + at, x2 + at, x ? x + at : room, k);
		element *normal = room + k;

		scale_by_root(sum, gamma, NULL, normal, k, root_factor(sum, k, epsilon));
		if (y1 || scale1)
			quantise_dynamically(normal, smooth1, AT(y1), scale1 ? scale1 + row : NULL, k, numbers);
		if (y2 || scale2)
			quantise_dynamically(normal, smooth2, AT(y2), scale2 ? scale2 + row : NULL, k, numbers);
	}
}
SIGNATURE("split=m op=" TEXT(OP), SUM_TEXT
	  "in? smooth1 " T "[k], in? smooth2 " T "[k], out? y1 i8[m,k], out? y2 i8[m,k], out? x@x1 " T
	  "[m,k], out? scale1 f32[m], out? scale2 f32[m], " SHAPE_TEXT EPSILON("1e-6") ", scratch room " T
										       "[2*k], scratch numbers f32[k]");
#endif
