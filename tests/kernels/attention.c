/* Compares the attention and rotary kernels of libskernels.a with plain loops in wider arithmetic: whole, and row by
 * row as cores may compute them, which must give the same bytes. Elements that take no part in a row are NaN. */
#include "operands.h"

#include <stdio.h>

/* The C library declares these in its headers for some compilers only. */
extern wide expf128(wide x), tanhf128(wide x);

#define DECLARE(TYPE, ELEMENT, NUMBER)                                                                                 \
	void sk_attention_##TYPE(const ELEMENT *q, const ELEMENT *k, const ELEMENT *v, const ELEMENT *mask,            \
				 const int64_t *lengths, const ELEMENT *sinks, ELEMENT *y, NUMBER *room, int64_t r,    \
				 int64_t d, int64_t e, int64_t first, int64_t heads, int64_t group, int64_t queries,   \
				 int64_t keys, int64_t mask_keys, int64_t limited, const int64_t *k_strides,           \
				 const int64_t *v_strides, const int64_t *mask_strides, int64_t causal, int64_t past,  \
				 NUMBER scale, NUMBER softcap, int64_t sunk);                                          \
	int sk_rotaryembedding_##TYPE(const ELEMENT *x, const ELEMENT *cosines, const ELEMENT *sines,                  \
				      const int64_t *positions, ELEMENT *y, int64_t r, int64_t d, int64_t first,       \
				      int64_t heads, int64_t rows, int64_t flat, int64_t table, int64_t together,      \
				      int64_t interleaved, int64_t half);
DECLARE(f32, float, float)
DECLARE(f64, double, double)
DECLARE(f16, uint16_t, float)
DECLARE(bf16, uint16_t, float)

enum { BATCHES = 2, MOST = 1 << 16 };

/* The elements that kernels get, and the numbers that they are. */
struct operand {
	double numbers[MOST];
	float as_f32[MOST];
	uint16_t as_f16[MOST], as_bf16[MOST];
};

static struct operand q, k, v, mask, sinks, y, parts, cosines, sines;
static wide wanted[MOST];
static int failures;

/* ---- numbers of 16 bits ---- */

static double number_of_f16(uint16_t bits)
{
	int exponent = bits >> 10 & 31;
	double number = exponent ? ldexp(1024 + (bits & 1023), exponent - 25) : ldexp(bits & 1023, -24);

	if (exponent == 31)
		number = bits & 1023 ? NAN : INFINITY;
	return bits & 0x8000 ? -number : number;
}

static double number_of_bf16(uint16_t bits)
{
	uint32_t wide_bits = (uint32_t)bits << 16;
	float number;

	memcpy(&number, &wide_bits, sizeof number);
	return number;
}

/* Numbers that all types can represent: small multiples of 1/32, infinities and NaN. */
static void set(struct operand *operand, int i, double number)
{
	int multiple = isfinite(number) ? (int)lrint(number * 32) : 0, exponent = 0;
	unsigned magnitude = (unsigned)abs(multiple);

	for (; magnitude && magnitude < 1024; exponent--)
		magnitude *= 2;
	operand->numbers[i] = isfinite(number) ? multiple / 32.0 : number;
	operand->as_f32[i] = (float)operand->numbers[i];
	operand->as_f16[i] = (uint16_t)((multiple < 0) << 15 |
					(magnitude ? (unsigned)(exponent + 20) << 10 | (magnitude & 1023) : 0));
	if (!isfinite(number))
		operand->as_f16[i] = isnan(number) ? 0x7e00 : 0xfc00;

	uint32_t bits;

	memcpy(&bits, &operand->as_f32[i], sizeof bits);
	operand->as_bf16[i] = (uint16_t)(bits >> 16);
}

static void set_random(struct operand *operand, int count)
{
	for (int i = 0; i < count; i++)
		set(operand, i, (double)(random() % 129 - 64) / 32);
}

static void expect(const char *what, double got, wide number, double bound)
{
	if (isnan(got) && isnan((double)number))
		return;
	if (fabs((double)(got - number)) <= bound * fmax(1, fabs((double)number)))
		return;
	if (failures++ < 20)
		printf("%s: %.17g, not %.17g\n", what, got, (double)number);
}

/* ---- attention ---- */

struct shape {
	int heads, group, queries, keys, d, e;
	int flat, masked, limited, causal, past, sunk;
	double softcap;
};

static int64_t k_strides[3], v_strides[3], mask_strides[3], lengths[BATCHES];

static void set_strides(int64_t *strides, const struct shape *shape, int width)
{
	int shared = shape->heads / shape->group;

	strides[0] = (int64_t)shared * shape->keys * width;
	strides[1] = shape->flat ? width : (int64_t)shape->keys * width;
	strides[2] = shape->flat ? (int64_t)shared * width : width;
}

static int limit_of(const struct shape *shape, int batch, int query)
{
	int limit = shape->limited ? (int)lengths[batch] : shape->keys;
	int past = shape->limited ? (int)lengths[batch] - shape->queries : shape->past;

	return shape->causal && past + query + 1 < limit ? past + query + 1 : limit;
}

static wide score(const struct shape *shape, int row, int head, int query, int batch, int key)
{
	const double *from = k.numbers + batch * k_strides[0] + head / shape->group * k_strides[1] + key * k_strides[2];
	wide sum = 0;

	for (int i = 0; i < shape->d; i++)
		sum += (wide)q.numbers[row * shape->d + i] * from[i];
	sum *= 0.25;
	if (shape->softcap != 0)
		sum = shape->softcap * tanhf128(sum / shape->softcap);
	if (shape->masked)
		sum += mask.numbers[batch * mask_strides[0] + head * mask_strides[1] + query * mask_strides[2] + key];
	return sum;
}

static void reference_row(const struct shape *shape, int row)
{
	int query = row % shape->queries, head = row / shape->queries % shape->heads;
	int batch = row / shape->queries / shape->heads, limit = limit_of(shape, batch, query);
	wide scores[512], most = shape->sunk ? (wide)sinks.numbers[head] : -INFINITY, all = 0;

	for (int j = 0; j < limit; j++) {
		scores[j] = score(shape, row, head, query, batch, j);
		most = scores[j] > most ? scores[j] : most;
	}
	for (int i = 0; i < shape->e; i++)
		wanted[row * shape->e + i] = 0;
	if (shape->sunk)
		all = expf128(sinks.numbers[head] - most);
	for (int j = 0; j < limit && most > -INFINITY; j++)
		all += expf128(scores[j] - most);
	for (int j = 0; j < limit && most > -INFINITY; j++)
		for (int i = 0; i < shape->e; i++)
			wanted[row * shape->e + i] +=
				expf128(scores[j] - most) / all *
				v.numbers[batch * v_strides[0] + head / shape->group * v_strides[1] + j * v_strides[2] +
					  i];
}

/* Keys that take no part are not read; a causal query does not read the next one's key. */
static void set_unused(const struct shape *shape)
{
	int shared = shape->heads / shape->group;

	for (int i = 0; i < shape->e && shape->causal; i++)
		set(&v, (int)((shape->keys - 1) * v_strides[2]) + i, NAN);
	for (int b = 0; b < BATCHES && shape->limited; b++)
		for (int h = 0; h < shared; h++)
			for (int64_t j = lengths[b]; j < shape->keys; j++) {
				for (int i = 0; i < shape->d; i++)
					set(&k, (int)(b * k_strides[0] + h * k_strides[1] + j * k_strides[2]) + i, NAN);
				for (int i = 0; i < shape->e; i++)
					set(&v, (int)(b * v_strides[0] + h * v_strides[1] + j * v_strides[2]) + i, NAN);
			}
}

#define RUN(TYPE, FIELD, TO, ROW, ROWS)                                                                                \
	sk_attention_##TYPE(q.FIELD + (ROW)*shape->d, k.FIELD, v.FIELD, mask.FIELD, lengths, sinks.FIELD,              \
			    (TO).FIELD + (ROW)*shape->e, room, ROWS, shape->d, shape->e, ROW, shape->heads,            \
			    shape->group, shape->queries, shape->keys, shape->masked ? shape->keys : 0,                \
			    shape->limited, k_strides, v_strides, mask_strides, shape->causal, shape->past, 0.25f,     \
			    (float)shape->softcap, shape->sunk)
#define COMPARE(TYPE, FIELD, BOUND, NUMBER)                                                                            \
	do {                                                                                                           \
		size_t bytes = (size_t)(128 * shape->d + 128 * shape->e + 4096) * (TYPE == f64 ? 8 : 4);               \
		void *room = take_scratch(bytes);                                                                      \
		RUN(TYPE, FIELD, y, 0, rows);                                                                          \
		for (int row = 0, count = 1; row < rows; row += count, count = 1 + row % 5)                            \
			RUN(TYPE, FIELD, parts, row, count < rows - row ? count : rows - row);                         \
		if (memcmp(y.FIELD, parts.FIELD, rows * shape->e * sizeof *y.FIELD) && failures++ < 20)                \
			printf("attention " #TYPE ": parts are other bytes\n");                                        \
		for (int i = 0; i < rows * shape->e; i++)                                                              \
			expect("attention " #TYPE, NUMBER(y.FIELD[i]), wanted[i], BOUND);                              \
		if (!scratch_is_kept(room, bytes) && failures++ < 20)                                                  \
			printf("attention " #TYPE ": writes behind its scratch\n");                                    \
		drop(room, (bytes + 63) / 64 * 64);                                                                    \
	} while (0)

static void check_attention(const struct shape *shape)
{
	int rows = BATCHES * shape->heads * shape->queries, shared = shape->heads / shape->group;

	set_strides(k_strides, shape, shape->d);
	set_strides(v_strides, shape, shape->e);
	mask_strides[0] = 0;
	mask_strides[1] = (int64_t)shape->queries * shape->keys;
	mask_strides[2] = shape->keys;
	set_random(&q, rows * shape->d);
	set_random(&k, BATCHES * shared * shape->keys * shape->d);
	set_random(&v, BATCHES * shared * shape->keys * shape->e);
	set_random(&mask, shape->heads * shape->queries * shape->keys);
	set_random(&sinks, shape->heads);
	for (int i = 0; i < shape->heads * shape->queries * shape->keys; i++)
		if (random() % 3 == 0 || i < shape->keys) /* the first row has no key */
			set(&mask, i, -INFINITY);
	for (int b = 0; b < BATCHES; b++)
		lengths[b] = b ? shape->keys : shape->keys / 2;
	set_unused(shape);
	for (int row = 0; row < rows; row++)
		reference_row(shape, row);
	COMPARE(f32, as_f32, 2e-6, (double));
	COMPARE(f64, numbers, 4e-15, (double));
	COMPARE(f16, as_f16, 1e-3, number_of_f16);
	COMPARE(bf16, as_bf16, 8e-3, number_of_bf16);
}

/* ---- rotary embedding ---- */

#define ROTATE(TYPE, FIELD, TO, ROW, ROWS)                                                                             \
	sk_rotaryembedding_##TYPE(q.FIELD + (ROW)*d, cosines.FIELD, sines.FIELD, positions, (TO).FIELD + (ROW)*d,      \
				  ROWS, d, ROW, heads, queries, flat, table, together, interleaved, half)
#define COMPARE_ROTATED(TYPE, FIELD, BOUND, NUMBER)                                                                    \
	do {                                                                                                           \
		if (ROTATE(TYPE, FIELD, y, 0, rows) && failures++ < 20)                                                \
			printf("rotary " #TYPE ": a position is refused\n");                                           \
		for (int row = 0; row < rows; row++)                                                                   \
			ROTATE(TYPE, FIELD, parts, row, 1);                                                            \
		if (memcmp(y.FIELD, parts.FIELD, rows * d * sizeof *y.FIELD) && failures++ < 20)                       \
			printf("rotary " #TYPE ": parts are other bytes\n");                                           \
		for (int i = 0; i < rows * d; i++)                                                                     \
			expect("rotary " #TYPE, NUMBER(y.FIELD[i]), wanted[i], BOUND);                                 \
	} while (0)

/* With `together`, positions follow each other from the only one on, in all batches. */
static void check_rotary(int flat, int interleaved, int table, int together, int d, int half)
{
	enum { HEADS = 3, QUERIES = 5 };
	int64_t positions[BATCHES * QUERIES];
	int heads = HEADS, queries = QUERIES, rows = BATCHES * HEADS * QUERIES;

	set_random(&q, rows * d);
	set_random(&cosines, 16 * half);
	set_random(&sines, 16 * half);
	for (int i = 0; i < BATCHES * QUERIES; i++)
		positions[i] = !table ? -1 : !together ? random() % table : i ? INT64_MIN : table - QUERIES;
	for (int row = 0; row < rows; row++) {
		int token = row / (HEADS * QUERIES) * QUERIES + (flat ? row / HEADS : row) % QUERIES;
		int at = !table ? token : together ? (int)positions[0] + token % QUERIES : (int)positions[token];

		for (int i = 2 * half; i < d; i++)
			wanted[row * d + i] = q.numbers[row * d + i];
		for (int i = 0; i < half; i++) {
			int a = row * d + (interleaved ? 2 * i : i), b = a + (interleaved ? 1 : half);
			wide cosine = cosines.numbers[at * half + i], sine = sines.numbers[at * half + i];

			wanted[a] = q.numbers[a] * cosine - q.numbers[b] * sine;
			wanted[b] = q.numbers[a] * sine + q.numbers[b] * cosine;
		}
	}
	COMPARE_ROTATED(f32, as_f32, 1e-6, (double));
	COMPARE_ROTATED(f64, numbers, 1e-15, (double));
	COMPARE_ROTATED(f16, as_f16, 1e-3, number_of_f16);
	COMPARE_ROTATED(bf16, as_bf16, 8e-3, number_of_bf16);
	positions[together ? 0 : 7] = together ? table - QUERIES + 1 : table;
	if (table && !ROTATE(f32, as_f32, y, 0, rows) && failures++ < 20)
		printf("rotary: a position out of range is accepted\n");
}

int main(void)
{
	static const struct shape shapes[] = {
		{.heads = 2, .group = 1, .queries = 1, .keys = 1, .d = 8, .e = 8},
		{.heads = 3, .group = 1, .queries = 1, .keys = 130, .d = 8, .e = 8, .masked = 1, .sunk = 1},
		{.heads = 4,
		 .group = 2,
		 .queries = 9,
		 .keys = 65,
		 .d = 33,
		 .e = 20,
		 .causal = 1,
		 .past = 56,
		 .sunk = 1},
		{.heads = 4,
		 .group = 4,
		 .queries = 3,
		 .keys = 70,
		 .d = 16,
		 .e = 8,
		 .limited = 1,
		 .masked = 1,
		 .sunk = 1},
		{.heads = 4, .group = 4, .queries = 1, .keys = 130, .d = 64, .e = 64, .limited = 1},
		{.heads = 3, .group = 1, .queries = 5, .keys = 64, .d = 7, .e = 3, .flat = 1, .masked = 1},
		{.heads = 4, .group = 2, .queries = 9, .keys = 65, .d = 33, .e = 20, .causal = 1, .past = 56},
		{.heads = 2,
		 .group = 2,
		 .queries = 17,
		 .keys = 63,
		 .d = 16,
		 .e = 40,
		 .causal = 1,
		 .limited = 1,
		 .masked = 1,
		 .softcap = 2},
		{.heads = 1, .group = 1, .queries = 70, .keys = 100, .d = 260, .e = 9},
		{.heads = 1,
		 .group = 1,
		 .queries = 130,
		 .keys = 100,
		 .d = 24,
		 .e = 48,
		 .causal = 1,
		 .past = 3,
		 .masked = 1},
		{.heads = 2, .group = 1, .queries = 3, .keys = 200, .d = 40, .e = 65, .masked = 1, .flat = 1},
	};

	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
		check_attention(&shapes[i]);
	for (int way = 0; way < 12; way++)
		check_rotary(way & 1, way >> 1 & 1, way & 12 ? 16 : 0, way & 8, 11, way & 2 ? 5 : 3);
	for (int half = 63; half <= 65; half++)
		check_rotary(half & 1, half >> 1 & 1, 16, 0, 2 * half + half % 2, half);
	return failures != 0;
}
