/* Shared by programs that call kernels of libskernels.a directly: element types, random operands, and memory that is
 * followed by memory without access. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum type { f32, f64, f16, bf16, i8, u8, TYPES };
static const struct {
	const char *name;
	size_t size, panel;
	double epsilon, of_sums; /* of a result; of the sums that it is rounded from */
} types[] = {
	{"f32", 4, 16, 0x1p-24, 0x1p-24},
	{"f64", 8, 8, 0x1p-53, 0x1p-53},
	{"f16", 2, 16, 0x1p-11, 0x1p-24},
	{"bf16", 2, 16, 0x1p-8, 0x1p-24},
	{"i8", 1, 0, 0, 0},
	{"u8", 1, 0, 0, 0},
};

static double get(enum type type, const void *from, size_t i)
{
	uint16_t half;
	float number;

	switch (type) {
	case f32:
		return ((const float *)from)[i];
	case f64:
		return ((const double *)from)[i];
	case i8:
		return ((const int8_t *)from)[i];
	case u8:
		return ((const uint8_t *)from)[i];
	case f16:
		half = ((const uint16_t *)from)[i];
		number = half >> 10 & 31 ? ldexpf((half & 1023) + 1024, (half >> 10 & 31) - 25)
					 : ldexpf(half & 1023, -24);
		if ((half >> 10 & 31) == 31)
			number = half & 1023 ? NAN : INFINITY;
		return half >> 15 ? -number : number;
	default:
		memcpy(&number, (uint16_t[]){0, ((const uint16_t *)from)[i]}, 4);
		return number;
	}
}

/* A sum of products: of f64 in the arithmetic of 113 bits, of others in double precision; and of their magnitudes. */
typedef __float128 wide;
struct sum {
	wide exact;
	double near, magnitude;
};

static void add_product(enum type type, struct sum *sum, double a, double b)
{
	if (type == f64)
		sum->exact += (wide)a * b;
	else
		sum->near += a * b;
	sum->magnitude += fabs(a * b);
}

/* Return the distance of results that are checked: every one, or some of them if their sums in 113 bits would take too
 * long. */
static size_t step_of(enum type type, size_t products)
{
	return type == f64 ? 1 + products / 300000 * 2 : 1;
}

static double total(enum type type, const struct sum *sum)
{
	return type == f64 ? (double)sum->exact : sum->near;
}

/* Return the distance of a result from `sum / divisor`. */
static double distance(enum type type, const struct sum *sum, double divisor, double result)
{
	return type == f64 ? fabs((double)(result - sum->exact / divisor)) : fabs(result - sum->near / divisor);
}

/* Elements as numbers, which are freed by the caller. */
static double *numbers_of(enum type type, const void *from, size_t count)
{
	double *numbers = malloc((count + 1) * sizeof *numbers);

	for (size_t i = 0; i < count; i++)
		numbers[i] = get(type, from, i);
	return numbers;
}

static uint64_t state = 1;

static uint64_t random_bits(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return state >> 33;
}

/* Numbers in [-1, 1) that each type holds exactly or nearly so. */
static void fill(enum type type, void *to, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		float number = (float)(int)(random_bits() % (1 << 24)) / (1 << 23) - 1;
		uint32_t bits;

		memcpy(&bits, &number, 4);
		if (type == f32)
			((float *)to)[i] = number;
		else if (type == f64)
			((double *)to)[i] = number + (double)(random_bits() % 1000) * 0x1p-45;
		else if (type == i8 || type == u8)
			((uint8_t *)to)[i] = random_bits();
		else if (type == bf16)
			((uint16_t *)to)[i] = bits >> 16;
		else /* 2^-3 to 1 in magnitude, any sign and fraction */
			((uint16_t *)to)[i] =
				(random_bits() & 1) << 15 | (12 + random_bits() % 3) << 10 | (random_bits() & 1023);
	}
}

/* Memory that ends before a page without access. It has whole pages, and is 64 bytes aligned if the size is a multiple
 * of that. */
static void *take(size_t bytes)
{
	size_t room = (bytes + 4095) / 4096 * 4096;
	char *pages = mmap(NULL, room + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED || mprotect(pages + room, 4096, PROT_NONE))
		exit(2);
	memset(pages, 0xff, room);
	return pages + room - bytes;
}

/* Scratch as signatures give it: 64 bytes aligned, so that some bytes may follow it, which scratch_is_kept() checks. */
static void *take_scratch(size_t bytes)
{
	return take((bytes + 63) / 64 * 64);
}

static int scratch_is_kept(const void *scratch, size_t bytes)
{
	for (size_t i = bytes; i % 64; i++)
		if (((const unsigned char *)scratch)[i] != 0xff)
			return 0;
	return 1;
}

static void drop(void *memory, size_t bytes)
{
	size_t room = (bytes + 4095) / 4096 * 4096;

	munmap((char *)memory + bytes - room, room + 4096);
}
