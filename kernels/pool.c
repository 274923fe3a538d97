/* pool.c: MaxPool, AveragePool and LpPool with 2 or 3 spatial dimensions, plane by plane: x [planes,h,w] -> y
 * [planes,oh,ow]. The shape of y implies ceil_mode and auto_pad. MaxPool's indices are those of x in memory, or, with
 * storage_order=1, of turned planes. A window without elements gives -infinity or the least integer, and an average of
 * 0.
 *
 * variants: OP=MaxPool TYPE=f32,f64,halves,i8,u8 SPATIAL=2,3
 * variants: OP=AveragePool,LpPool TYPE=f32,f64,halves SPATIAL=2,3
 * variants: OP=MaxPool,AveragePool TYPE=f32 SPATIAL=2 ISA=v3
 */
#include "kernels/family.h"
#include "kernels/math.h"

typedef STORED(TYPE) element;
typedef COMPUTED(TYPE) number;

#define KIND_MaxPool	 1
#define KIND_AveragePool 2
#define KIND_LpPool	 3
#define KIND		 JOIN(KIND_, OP)

#if IS_FLOAT(TYPE)
#define IS_NAN(x) ((x) != (x))
#else
#define IS_NAN(x) 0
#endif
#define POWER(x, y) _Generic((number)0, float : pow_f32, double : pow_f64)(x, y)
#if KIND == 1
#define LEAST_i8   -128
#define LEAST_u8   0
#define LEAST_f32  -__builtin_inff()
#define LEAST_f16  -__builtin_inff()
#define LEAST_bf16 -__builtin_inff()
#define LEAST_f64  -__builtin_inf()
#define START	   JOIN(LEAST_, TYPE)
#else
#define START 0
#endif

struct pool {
	int64_t in[3], window[3], out[3], strides[3], dilations[3], pads[3], ends[3];
	int64_t option; /* count_include_pad, storage_order, p */
};

enum { STRIP = 256 }; /* results of a row at a time */

static inline number combine(number so_far, number x, int64_t option)
{
	(void)option;
#if KIND == 1
	return x > so_far || IS_NAN(x) ? x : so_far;
#elif KIND == 2
	return so_far + x;
#else
	x = x < 0 ? -x : x;
	return so_far + (option == 1 ? x : option == 2 ? x * x : POWER(x, (number)option));
#endif
}

static inline int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Add one more element each to results [first, first + count) of a row, out of one row of x. */
static inline void add_row(const struct pool *pool, const element *row, int64_t place, int64_t first, int64_t count,
			   number *results)
{
	int64_t stride = pool->strides[2], begin = place * pool->dilations[2] - pool->pads[2], low = 0, high = count;

	/* Result first + i takes element begin + (first + i) * stride. */
	begin += first * stride;
	if (begin < 0)
		low = smaller((-begin + stride - 1) / stride, count);
	high = begin >= pool->in[2] ? 0 : smaller((pool->in[2] - begin + stride - 1) / stride, count);
	if (stride == 1)
		for (int64_t i = low; i < high; i++)
			results[i] = combine(results[i], LOAD(TYPE, row[begin + i]), pool->option);
	else
		for (int64_t i = low; i < high; i++)
			results[i] = combine(results[i], LOAD(TYPE, row[begin + i * stride]), pool->option);
}

#if KIND == 2
/* Return how many places of a window lie in [-before, in + behind). */
static inline int64_t count_places(const struct pool *pool, int dimension, int64_t at, int64_t before, int64_t behind)
{
	int64_t count = 0;

	for (int64_t place = 0; place < pool->window[dimension]; place++) {
		int64_t i = at * pool->strides[dimension] + place * pool->dilations[dimension] - pool->pads[dimension];
		count += i >= -before && i < pool->in[dimension] + behind;
	}
	return count;
}

static inline int64_t count_of(const struct pool *pool, int dimension, int64_t at)
{
	int with_pads = pool->option != 0;

	return count_places(pool, dimension, at, with_pads ? pool->pads[dimension] : 0,
			    with_pads ? pool->ends[dimension] : 0);
}
#endif

static inline void finish(const struct pool *pool, int64_t z, int64_t y, int64_t first, int64_t count, number *results)
{
#if KIND == 2
	int64_t high = count_of(pool, 0, z) * count_of(pool, 1, y);

	for (int64_t i = 0; i < count; i++) {
		int64_t places = high * count_of(pool, 2, first + i);
		results[i] = places ? results[i] / (number)places : 0;
	}
#elif KIND == 3
	(void)z, (void)y, (void)first;
	if (pool->option == 2)
		for (int64_t i = 0; i < count; i++)
			results[i] = _Generic((number)0, float : __builtin_sqrtf, double : __builtin_sqrt)(results[i]);
	else if (pool->option > 2)
		for (int64_t i = 0; i < count; i++)
			results[i] = POWER(results[i], 1 / (number)pool->option);
#else
	(void)pool, (void)z, (void)y, (void)first, (void)count, (void)results;
#endif
}

#if KIND == 3
/* The range of sums of powers that neither overflow nor lose bits. */
#define NORMAL(sum)                                                                                                    \
	((sum) >= _Generic((number)0, float : 0x1p-126f, double : 0x1p-1022) &&                                        \
	 (sum) <= _Generic((number)0, float : 0x1.fffffep127f, double : 0x1.fffffffffffffp1023))

/* Compute the norm of one window, with elements divided by the largest one; `of` is that one, or 0 to find it. */
static number walk_window(const struct pool *pool, const element *x, int64_t z, int64_t y, int64_t column, number of)
{
	double sum = 0, p = (double)pool->option;
	number most = 0;

	for (int64_t a = 0; a < pool->window[0]; a++)
		for (int64_t b = 0; b < pool->window[1]; b++)
			for (int64_t c = 0; c < pool->window[2]; c++) {
				int64_t iz = z * pool->strides[0] + a * pool->dilations[0] - pool->pads[0];
				int64_t iy = y * pool->strides[1] + b * pool->dilations[1] - pool->pads[1];
				int64_t ix = column * pool->strides[2] + c * pool->dilations[2] - pool->pads[2];
				if (iz < 0 || iz >= pool->in[0] || iy < 0 || iy >= pool->in[1] || ix < 0 ||
				    ix >= pool->in[2])
					continue;
				number here = LOAD(TYPE, x[(iz * pool->in[1] + iy) * pool->in[2] + ix]);
				here = here < 0 ? -here : here;
				most = here > most || IS_NAN(here) ? here : most;
				if (of != 0)
					sum += pool->option == 2 ? (double)here / of * ((double)here / of)
								 : pow_f64((double)here / of, p);
			}
	return of == 0 ? most : (number)(of * (pool->option == 2 ? __builtin_sqrt(sum) : pow_f64(sum, 1 / p)));
}

/* Compute the results of a strip, some of which are not NORMAL. */
static __attribute__((noinline)) void finish_scaled(const struct pool *pool, const element *x, int64_t z, int64_t y,
						    int64_t first, int64_t count, number *results)
{
	for (int64_t i = 0; i < count; i++) {
		number most;

		if (NORMAL(results[i])) {
			finish(pool, z, y, first + i, 1, results + i);
			continue;
		}
		most = walk_window(pool, x, z, y, first + i, 0);
		results[i] = most > 0 && most - most == 0 ? walk_window(pool, x, z, y, first + i, most) : most;
	}
}
#endif

static inline void pool_strip(const struct pool *pool, const element *x, int64_t z, int64_t y, int64_t first,
			      int64_t count, number *results)
{
	for (int64_t i = 0; i < count; i++)
		results[i] = START;
	for (int64_t a = 0; a < pool->window[0]; a++)
		for (int64_t b = 0; b < pool->window[1]; b++) {
			int64_t iz = z * pool->strides[0] + a * pool->dilations[0] - pool->pads[0];
			int64_t iy = y * pool->strides[1] + b * pool->dilations[1] - pool->pads[1];
			if (iz < 0 || iz >= pool->in[0] || iy < 0 || iy >= pool->in[1])
				continue;
			for (int64_t c = 0; c < pool->window[2]; c++)
				add_row(pool, x + (iz * pool->in[1] + iy) * pool->in[2], c, first, count, results);
		}
#if KIND == 3
	int strange = 0;

	for (int64_t i = 0; i < count; i++)
		strange |= !NORMAL(results[i]);
	if (strange && pool->option > 1) {
		finish_scaled(pool, x, z, y, first, count, results);
		return;
	}
#endif
	finish(pool, z, y, first, count, results);
}

static inline void pool_plane(const struct pool *pool, const element *x, element *y)
{
	for (int64_t row = 0; row < pool->out[0] * pool->out[1]; row++)
		for (int64_t first = 0; first < pool->out[2]; first += STRIP, y += STRIP) {
			number results[STRIP];
			int64_t count = smaller(STRIP, pool->out[2] - first);
			pool_strip(pool, x, row / pool->out[1], row % pool->out[1], first, count, results);
			for (int64_t i = 0; i < count; i++)
				y[i] = STORE(TYPE, results[i]);
			if (count < STRIP)
				y += count - STRIP;
		}
}

#if KIND == 1
/* Return the place of the greatest element of a window in the plane; the first one of several. A NaN is the
 * greatest. */
static inline int64_t find_greatest(const struct pool *pool, const element *x, int64_t z, int64_t y, int64_t column)
{
	int64_t found = -1;
	number greatest = 0;

	for (int64_t a = 0; a < pool->window[0]; a++)
		for (int64_t b = 0; b < pool->window[1]; b++)
			for (int64_t c = 0; c < pool->window[2]; c++) {
				int64_t iz = z * pool->strides[0] + a * pool->dilations[0] - pool->pads[0];
				int64_t iy = y * pool->strides[1] + b * pool->dilations[1] - pool->pads[1];
				int64_t ix = column * pool->strides[2] + c * pool->dilations[2] - pool->pads[2];
				if (iz < 0 || iz >= pool->in[0] || iy < 0 || iy >= pool->in[1] || ix < 0 ||
				    ix >= pool->in[2])
					continue;
				int64_t at = (iz * pool->in[1] + iy) * pool->in[2] + ix;
				number here = LOAD(TYPE, x[at]);
				if (found < 0 || here > greatest || (IS_NAN(here) && !IS_NAN(greatest))) {
					found = at;
					greatest = here;
				}
			}
	return found;
}

static inline void find_plane(const struct pool *pool, const element *x, int64_t before, int64_t *indices)
{
	int64_t deep = pool->in[0], high = pool->in[1], wide = pool->in[2];

	for (int64_t i = 0; i < pool->out[0] * pool->out[1] * pool->out[2]; i++) {
		int64_t row = i / pool->out[2];
		int64_t at = find_greatest(pool, x, row / pool->out[1], row % pool->out[1], i % pool->out[2]);
		if (at > 0 && pool->option)
			at = (at % wide * high + at / wide % high) * deep + at / wide / high;
		indices[i] = at < 0 ? -1 : before + at;
	}
}
#endif

#define LISTS const int64_t *window, const int64_t *strides, const int64_t *pads, const int64_t *dilations
#if SPATIAL == 2
#define EXTENTS		int64_t h, int64_t w, int64_t oh, int64_t ow
#define IN		1, h, w
#define OUT		1, oh, ow
#define LIST(of, first) first, of[0], of[1]
#else
#define EXTENTS		int64_t t, int64_t h, int64_t w, int64_t ot, int64_t oh, int64_t ow
#define IN		t, h, w
#define OUT		ot, oh, ow
#define LIST(of, first) of[0], of[1], of[2]
#endif
#if KIND == 1
#define INDICES	     int64_t *indices,
#define INDICES_TEXT ", out? indices i64[planes," OUT_TEXT "]"
#define OPTION_TEXT  "storage_order,0"
#else
#define INDICES
#define INDICES_TEXT	   ""
#define OPTION_TEXT	   JOIN(OPTION_, OP)
#define OPTION_AveragePool "count_include_pad,0"
#define OPTION_LpPool	   "p,2"
#endif

void KERNEL(const element *x, element *y, INDICES EXTENTS, LISTS, int64_t option, int64_t planes, int64_t first)
{
	struct pool pool = {.in = {IN},
			    .window = {LIST(window, 1)},
			    .out = {OUT},
			    .strides = {LIST(strides, 1)},
			    .dilations = {LIST(dilations, 1)},
			    .pads = {LIST(pads, 0)},
			    .ends = {LIST((pads + SPATIAL), 0)},
			    .option = option};
	int64_t in = pool.in[0] * pool.in[1] * pool.in[2], out = pool.out[0] * pool.out[1] * pool.out[2];

	for (int64_t plane = 0; plane < planes; plane++) {
		pool_plane(&pool, x + plane * in, y + plane * out);
#if KIND == 1
		if (indices)
			find_plane(&pool, x + plane * in, (first + plane) * in, indices + plane * out);
#endif
	}
	(void)first;
}

#define T TEXT(TYPE)
#if SPATIAL == 2
#define IN_TEXT	     "h,w"
#define OUT_TEXT     "oh,ow"
#define EXTENTS_TEXT ", h i64, w i64, oh i64, ow i64"
#else
#define IN_TEXT	     "t,h,w"
#define OUT_TEXT     "ot,oh,ow"
#define EXTENTS_TEXT ", t i64, h i64, w i64, ot i64, oh i64, ow i64"
#endif
#define LISTS_TEXT                                                                                                     \
	", window ptr = attr(kernel_shape), strides ptr = attr(strides), pads ptr = attr(pads), dilations ptr = "      \
	"attr(dilations)"
SIGNATURE("split=planes op=" TEXT(OP) "(spatial=" TEXT(SPATIAL) ")",
	  "in x " T "[planes," IN_TEXT "], out y " T "[planes," OUT_TEXT "]" INDICES_TEXT EXTENTS_TEXT LISTS_TEXT
	  ", option i64 = attr(" OPTION_TEXT "), planes i64, first i64 = begin(planes)");
