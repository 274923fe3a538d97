/* random.c: random numbers. They are counter-based: number i depends only on i and on two seeds, so work may be divided
 * in any way. Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011) makes four words of
 * 32 bits from a counter, with the upper halves of the seeds as its upper half, and from a key, the seeds' lower
 * halves. A number of f32 takes one word, and one of f64 two.
 *
 *	RandomUniform	-> y [n], from `low` up to `high`
 *	RandomNormal	-> y [n], with `mean` and the deviation `scale` (Box and Muller)
 *	RandomDropout	x [n] -> y [n], mask? [n]: with probability `keep` x / keep and 1, otherwise 0
 *	DropoutGrad	dy [n], mask [n] -> dx [n]: dy / keep where the mask is 1
 *	Bernoulli	x [n] -> y bool [n]: true with probability x
 *	Multinomial	logarithms x [m,c] of class weights -> y i64 [m,s], s of them for each row
 *
 * variants: OP=RandomNormal TYPE=f32,halves ISA=base,v3
 * variants: OP=Multinomial TYPE=floats ISA=base,v3
 * variants: OP=RandomNormal TYPE=f64
 * variants: OP=RandomUniform,Bernoulli TYPE=floats
 * variants: OP=DropoutGrad TYPE=floats MASK=own,bool ISA=base,v3
 * variants: OP=RandomDropout TYPE=f32,f64 MASK=own,bool ISA=base,v3
 * variants: OP=RandomDropout TYPE=halves MASK=own,bool
 */
#include "kernels/family.h"
#include "kernels/math.h"

typedef STORED(TYPE) element;
typedef COMPUTED(TYPE) number;

#include "kernels/along.h"

enum {
	WORDS = SIZE(TYPE) == 8 ? 2 : 1, /* of a number */
	NUMBERS = 4 / WORDS, /* of a counter */
	COUNTERS = 32, /* at a time */
	CHUNK = COUNTERS * NUMBERS,
};

/* ---- words ---- */

struct words {
	uint32_t word[4][COUNTERS];
};

static ALWAYS_INLINE void draw(uint64_t counter, uint64_t seed, uint64_t seed2, struct words *words)
{
	for (int i = 0; i < COUNTERS; i++) {
		uint32_t a = (uint32_t)(counter + i), b = (uint32_t)((counter + i) >> 32);
		uint32_t c = (uint32_t)(seed >> 32), d = (uint32_t)(seed2 >> 32);
		uint32_t key = (uint32_t)seed, key2 = (uint32_t)seed2;

		for (int round = 0; round < 10; round++) {
			uint64_t left = (uint64_t)a * 0xd2511f53u, right = (uint64_t)c * 0xcd9e8d57u;

			a = (uint32_t)(right >> 32) ^ b ^ key;
			b = (uint32_t)right;
			c = (uint32_t)(left >> 32) ^ d ^ key2;
			d = (uint32_t)left;
			key += 0x9e3779b9u;
			key2 += 0xbb67ae85u;
		}
		words->word[0][i] = a;
		words->word[1][i] = b;
		words->word[2][i] = c;
		words->word[3][i] = d;
	}
}

/* ---- numbers ---- */

/* In [0, 1). */
static ALWAYS_INLINE number uniform(const struct words *words, int at, int i)
{
#if SIZE(TYPE) == 8
	uint64_t bits = (uint64_t)words->word[2 * at][i] << 32 | words->word[2 * at + 1][i];

	return (number)(int64_t)(bits >> 11) * 0x1p-53;
#else
	return (number)(int32_t)(words->word[at][i] >> 8) * 0x1p-24f;
#endif
}

/* In (0, 1], and down to 2^-33, or 2^-54, so that the tails are long. */
static ALWAYS_INLINE number uniform_above_0(const struct words *words, int at, int i)
{
#if SIZE(TYPE) == 8
	return uniform(words, at, i) + 0x1p-54;
#else
	return (number)words->word[at][i] * 0x1p-32f + 0x1p-33f;
#endif
}

#define IS_Normal_RandomNormal 1
#define IS_NORMAL	       JOIN(IS_Normal_, OP)

/* Compute the numbers of the counters from one on, in their order. */
static ALWAYS_INLINE void fill(number *to, uint64_t counter, uint64_t seed, uint64_t seed2)
{
	struct words words;

	draw(counter, seed, seed2, &words);
#if IS_NORMAL
	for (int at = 0; at < NUMBERS; at += 2)
		for (int i = 0; i < COUNTERS; i++) {
			number radius = MATH(sqrt)(-2 * MATH(log)(uniform_above_0(&words, at, i)));
			number angle = (number)6.283185307179586477 * uniform(&words, at + 1, i);

			to[i * NUMBERS + at] = radius * MATH(cos)(angle);
			to[i * NUMBERS + at + 1] = radius * MATH(sin)(angle);
		}
#else
	for (int at = 0; at < NUMBERS; at++)
		for (int i = 0; i < COUNTERS; i++)
			to[i * NUMBERS + at] = uniform(&words, at, i);
#endif
}

/* For each of n numbers from number `first` on: its place from there, i, and the number itself, u. */
#define FOR_EACH_NUMBER(STATEMENT)                                                                                     \
	for (int64_t done = 0, take, skip; done < n; done += take) {                                                   \
		number chunk[CHUNK];                                                                                   \
                                                                                                                       \
		skip = (first + done) % NUMBERS;                                                                       \
		take = n - done < CHUNK - skip ? n - done : CHUNK - skip;                                              \
		fill(chunk, (uint64_t)((first + done) / NUMBERS), (uint64_t)seed, (uint64_t)seed2);                    \
		INDEPENDENT                                                                                            \
		for (int64_t j = 0; j < take; j++) {                                                                   \
			const int64_t i = done + j;                                                                    \
			const number u = chunk[skip + j];                                                              \
			STATEMENT                                                                                      \
		}                                                                                                      \
	}

/* ---- kernels ---- */

#define WORD_RandomUniform 1
#define WORD_RandomNormal  2
#define WORD_RandomDropout 3
#define WORD_Bernoulli	   4
#define WORD_Multinomial   5
#define WORD_DropoutGrad   6
#define WORD		   JOIN(WORD_, OP)
#define T		   TEXT(TYPE)
#define SEEDS		   "seed i64 = attr(seed, 0), seed2 i64 = attr(seed2, 0)"
#define PART		   ", n i64, first i64 = begin(n), " SEEDS

#if WORD == 1
void KERNEL(element *y, int64_t n, int64_t first, int64_t seed, int64_t seed2, float low, float high)
{
	FOR_EACH_NUMBER(y[i] = STORE(TYPE, low + u * ((number)high - low));)
}
SIGNATURE("split=n op=" TEXT(OP), "out y " T "[n]" PART ", low f32 = attr(low, 0), high f32 = attr(high, 1)");

#elif WORD == 2
void KERNEL(element *y, int64_t n, int64_t first, int64_t seed, int64_t seed2, float mean, float scale)
{
	FOR_EACH_NUMBER(y[i] = STORE(TYPE, mean + u * scale);)
}
SIGNATURE("split=n op=" TEXT(OP), "out y " T "[n]" PART ", mean f32 = attr(mean, 0), scale f32 = attr(scale, 1)");

#elif WORD == 3 || WORD == 6
#define IS_OWN_own 1
#if JOIN(IS_OWN_, MASK)
typedef element mask_element;
#define MASK_OF(kept)	STORE(TYPE, kept)
#define LOAD_MASK(mask) LOAD(TYPE, mask)
#define MASK_TYPE	T
#define CONDITION	""
#else
typedef uint8_t mask_element;
#define MASK_OF(kept)	(uint8_t)(kept)
#define LOAD_MASK(mask) (mask)
#define MASK_TYPE	"bool"
#define CONDITION	"(mask=bool)"
#endif

#if WORD == 6
void KERNEL(const element *dy, const mask_element *mask, element *dx, int64_t n, float keep)
{
	const number factor = 1 / (number)keep;

	INDEPENDENT
	for (int64_t i = 0; i < n; i++)
		dx[i] = STORE(TYPE, LOAD(TYPE, dy[i]) * factor * LOAD_MASK(mask[i]));
}
SIGNATURE("split=n op=" TEXT(OP),
	  "in dy " T "[n], in mask " MASK_TYPE "[n], out dx@dy " T "[n], n i64, keep f32 = attr(keep_prob, 0.5)");
#else

void KERNEL(const element *x, element *y, mask_element *mask, int64_t n, int64_t first, int64_t seed, int64_t seed2,
	    float keep)
{
	const number factor = 1 / (number)keep;

	if (mask) {
		FOR_EACH_NUMBER(y[i] = STORE(TYPE, u < keep ? LOAD(TYPE, x[i]) * factor : 0);
				mask[i] = MASK_OF(u < keep);)
	} else {
		FOR_EACH_NUMBER(y[i] = STORE(TYPE, u < keep ? LOAD(TYPE, x[i]) * factor : 0);)
	}
}
SIGNATURE("split=n op=" TEXT(OP) CONDITION,
	  "in x " T "[n], out y@x " T "[n], out? mask " MASK_TYPE "[n]" PART ", keep f32 = attr(keep_prob, 0.5)");
#endif

#elif WORD == 4
void KERNEL(const element *x, uint8_t *y, int64_t n, int64_t first, int64_t seed, int64_t seed2)
{
	FOR_EACH_NUMBER(y[i] = u < LOAD(TYPE, x[i]);)
}
SIGNATURE("split=n op=" TEXT(OP), "in x " T "[n], out y bool[n]" PART);

#else
#define STEPS (SIZE(TYPE) == 8 ? 0x1p53 : 0x1p24f) /* uniform numbers are multiples of 1 / STEPS */

static ALWAYS_INLINE number add_exponential(number sum, number x, number with)
{
	return sum + MATH(exp)(x - with);
}

/* Return the class with the part of the sum in which the number lies: the last one with a weight, if rounding leads
 * past all of them. */
static ALWAYS_INLINE int64_t class_of(const element *x, int64_t c, number most, number limit)
{
	int64_t last = 0;
	number sum = 0;

	for (int64_t class = 0; class < c; class ++) {
		number weight = MATH(exp)(LOAD(TYPE, x[class]) - most);

		if (weight > 0)
			last = class;
		sum += weight;
		if (sum > limit)
			break;
	}
	return last;
}

void KERNEL(const element *x, int64_t *y, int64_t m, int64_t c, int64_t s, int64_t row, int64_t seed, int64_t seed2)
{
	const int64_t n = m * s, first = row * s;

	FOR_EACH_NUMBER(y[i] = (int64_t)(u * STEPS);)
	for (int64_t r = 0; r < m; r++, x += c, y += s) {
		number most = fold_row(x, c, -__builtin_inf(), larger, larger, 0);
		number sum = fold_row(x, c, 0, add_exponential, add, most);

		for (int64_t i = 0; i < s; i++)
			y[i] = class_of(x, c, most, (number)y[i] / STEPS * sum);
	}
}
SIGNATURE("split=m op=" TEXT(OP), "in x " T "[m,c], out y i64[m,s], m i64, c i64, s i64, row i64 = begin(m), " SEEDS);
#endif
