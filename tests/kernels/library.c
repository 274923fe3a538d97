/* library.c: compares each kernel of libskernels.a with plain references in wide arithmetic: `library SHARED-OBJECT
 * KERNELS BOUNDS`. The first is the whole archive as a shared object. The second has a line for each kernel (name,
 * operator, form, instruction set, type of the first input, type of the output). The third has a line for each
 * operator, with the bounds of f32 and f64 and the values that they are relative to. tests/kernels/library.sh makes
 * them from the archive and doc/reference/operators.md. */
#include "tests/kernels/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* The C library declares these in its headers for some compilers only. */
extern wide fabsf128(wide x), ldexpf128(wide x, int power), frexpf128(wide x, int *power), rintf128(wide x);

static const struct row *const tables[] = {elementwise_rows, composite_rows, axis_rows,	   move_rows, normal_rows,
					   recurrent_rows,   fused_rows,     product_rows, tree_rows};

/* ---- elements ---- */

static const struct type types[] = {
	{"bool", 1, 0, 0, 0, 0, 0},	   {"i8", 1, 0, 1, 0, 0, 0},	    {"i16", 2, 0, 1, 0, 0, 0},
	{"i32", 4, 0, 1, 0, 0, 0},	   {"i64", 8, 0, 1, 0, 0, 0},	    {"u8", 1, 0, 0, 0, 0, 0},
	{"u16", 2, 0, 0, 0, 0, 0},	   {"u32", 4, 0, 0, 0, 0, 0},	    {"u64", 8, 0, 0, 0, 0, 0},
	{"f16", 2, 1, 1, 11, -14, 15},	   {"bf16", 2, 1, 1, 8, -126, 127}, {"f32", 4, 1, 1, 24, -126, 127},
	{"f64", 8, 1, 1, 53, -1022, 1023},
};

const struct type *find_type(const char *name)
{
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (!strcmp(types[i].name, name))
			return &types[i];
	fprintf(stderr, "there is no type %s\n", name);
	exit(1);
}

void *element_at(const struct type *type, const void *elements, int64_t i)
{
	return (char *)(uintptr_t)elements + i * (int64_t)type->size;
}

static uint64_t get_bits(const struct type *type, const void *elements, int64_t i)
{
	uint64_t bits = 0;

	memcpy(&bits, (const char *)elements + (size_t)i * type->size, type->size);
	return bits;
}

static void put_bits(const struct type *type, void *elements, int64_t i, uint64_t bits)
{
	memcpy((char *)elements + (size_t)i * type->size, &bits, type->size);
}

whole get_whole(const struct type *type, const void *elements, int64_t i)
{
	uint64_t bits = get_bits(type, elements, i);
	int unused = 64 - 8 * (int)type->size;

	return type->is_signed ? (whole)((int64_t)(bits << unused) >> unused) : (whole)bits;
}

void put_whole(const struct type *type, void *elements, int64_t i, whole value)
{
	put_bits(type, elements, i, (uint64_t)value);
}

/* By the definition of the formats, for all of them alike. */
wide get_wide(const struct type *type, const void *elements, int64_t i)
{
	uint64_t bits = get_bits(type, elements, i), fraction;
	int stored = type->digits - 1, exponent;

	if (!type->is_float)
		return (wide)get_whole(type, elements, i);
	fraction = bits & ((1ull << stored) - 1);
	exponent = (int)(bits >> stored) & (2 * type->greatest + 1);
	wide value = exponent ? (wide)(fraction | 1ull << stored) : (wide)fraction;
	value = ldexpf128(value, (exponent ? exponent : 1) + type->least - 1 - stored);
	if (exponent == 2 * type->greatest + 1)
		value = fraction ? (wide)__builtin_nan("") : (wide)__builtin_inf();
	return bits >> (8 * type->size - 1) ? -value : value;
}

/* The unit of the last place of numbers as large as this one. */
static wide unit_of(const struct type *type, wide value)
{
	int exponent;

	frexpf128(value, &exponent);
	exponent--;
	if (value == 0 || exponent < type->least)
		exponent = type->least;
	return ldexpf128(1, (exponent > type->greatest ? type->greatest : exponent) - type->digits + 1);
}

wide roundoff(const struct type *type)
{
	return type->size == 8 ? 0x1p-53 : 0x1p-24;
}

wide rounding(const struct type *type, wide value)
{
	return fabsf128(value) * ldexpf128(1, -type->digits) + 0x1p-24L;
}

void put_wide(const struct type *type, void *elements, int64_t i, wide value)
{
	int stored = type->digits - 1, exponent;
	uint64_t sign = (uint64_t)(__builtin_signbit(value) ? 1 : 0) << (8 * type->size - 1);
	uint64_t infinity = type->is_float ? (uint64_t)(2 * type->greatest + 1) << stored : 0;
	wide magnitude = fabsf128(value), limit = ldexpf128(1, type->greatest + 1);

	if (!type->is_float) {
		put_whole(type, elements, i, (whole)value);
		return;
	}
	if (value != value) {
		put_bits(type, elements, i, infinity | 1ull << (stored - 1));
		return;
	}
	if (magnitude < limit)
		magnitude = rintf128(magnitude / unit_of(type, magnitude)) * unit_of(type, magnitude);
	if (magnitude >= limit) {
		put_bits(type, elements, i, sign | infinity);
		return;
	}
	frexpf128(magnitude, &exponent);
	exponent = magnitude == 0 || exponent - 1 < type->least ? type->least : exponent - 1;
	uint64_t fraction = (uint64_t)(magnitude / ldexpf128(1, exponent - stored));
	/* A denormal number's exponent is one less, by the leading one that it lacks. */
	put_bits(type, elements, i, sign | (fraction + ((uint64_t)(exponent - type->least) << stored)));
}

/* ---- inputs ---- */

/* The least number of elements for kernels of one input; more on request. */
int64_t usual_count = 4000;

static uint64_t state = 1;

uint64_t random_bits(void)
{
	state += 0x9e3779b97f4a7c15;
	uint64_t z = state;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* Numbers around which functions change, with both signs. */
static const double special_floats[] = {0,
					0.5,
					1,
					2,
					3,
					4,
					10,
					0.25,
					0.92,
					1.5707963267948966,
					3.141592653589793,
					0.125,
					1e-3,
					1e-8,
					2.5,
					5.5,
					9.02,
					17.4,
					20,
					22,
					66,
					88.7,
					88.75,
					103.95,
					104.1,
					127.5,
					0.875,
					709.75,
					709.8,
					745.1,
					745.2,
					1e6,
					3e7,
					1e10,
					2e15,
					1e22,
					1e30,
					1e38,
					1e150,
					1e300,
					6e4,
					65519.9,
					65520,
					100000};

int64_t special_count(const struct type *type)
{
	return type->is_float	 ? 2 * (int64_t)(sizeof special_floats / sizeof *special_floats) + 12
	       : type->size == 1 ? 0
				 : 7;
}

static void put_special(const struct type *type, void *elements, int64_t i)
{
	wide least = ldexpf128(1, type->least), unit = unit_of(type, 0);
	wide limits[] = {unit,
			 least,
			 least - unit,
			 ldexpf128(2 - unit_of(type, 1), type->greatest),
			 __builtin_inf(),
			 __builtin_nan("")};
	static const int64_t wholes[] = {0, 1, -1, 2, INT64_MAX, INT64_MIN, 3};
	int64_t pairs = special_count(type) / 2;
	wide value;

	if (!type->is_float) {
		whole greatest = (whole)1 << (8 * type->size - (type->is_signed ? 1 : 0));
		put_whole(type, elements, i,
			  wholes[i] == INT64_MAX   ? greatest - 1
			  : wholes[i] == INT64_MIN ? -greatest
						   : wholes[i]);
		return;
	}
	value = i % pairs < 6 ? limits[i % pairs] : special_floats[i % pairs - 6];
	put_wide(type, elements, i, i < pairs ? value : -value);
}

void *random_elements(const struct type *type, int64_t n)
{
	void *elements = guarded((size_t)n * type->size);

	for (int64_t i = 0; i < n; i++) {
		uint64_t bits = random_bits();
		double uniform = (double)(int64_t)random_bits() * 0x1p-63;

		if (i < special_count(type))
			put_special(type, elements, i);
		else if (!strcmp(type->name, "bool"))
			put_bits(type, elements, i, bits & 1);
		else if (!type->is_float)
			put_bits(type, elements, i,
				 i % 2 ? bits : (uint64_t)(int64_t)(uniform * 8) & (type->is_signed ? ~0ull : 7));
		else if (i % 5 == 0)
			put_bits(type, elements, i, bits);
		else
			put_wide(type, elements, i,
				 uniform * (i % 5 == 1	 ? 1
					    : i % 5 == 2 ? 10
					    : i % 5 == 3 ? 110
							 : 800));
	}
	return elements;
}

int64_t between(int64_t low, int64_t high)
{
	return low + (int64_t)(random_bits() % (uint64_t)(high - low + 1));
}

void *random_reals(const struct type *type, int64_t n, double low, double high)
{
	void *elements = guarded((size_t)n * type->size);

	for (int64_t i = 0; i < n; i++)
		put_wide(type, elements, i, low + (high - low) * ((double)(random_bits() >> 11) * 0x1p-53));
	return elements;
}

void scale_elements(const struct type *type, void *elements, int64_t n, int exponent)
{
	for (int64_t i = 0; i < n; i++)
		put_wide(type, elements, i, ldexpf128(get_wide(type, elements, i), exponent));
}

/* ---- memory ---- */

/* Regions of the same size, each before a page without access. */
enum { REGIONS = 64, REGION_BYTES = 1 << 20, PAGE = 4096, FRONT = 64 };
static char *regions;
static int next_region;

void *guarded(size_t bytes)
{
	if (!regions) {
		regions = mmap(NULL, (size_t)REGIONS * (REGION_BYTES + PAGE), PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (regions == MAP_FAILED)
			exit(1);
		for (int i = 0; i < REGIONS; i++)
			mprotect(regions + (size_t)i * (REGION_BYTES + PAGE) + REGION_BYTES, PAGE, PROT_NONE);
	}
	if (bytes + FRONT > REGION_BYTES) {
		fprintf(stderr, "too much memory for a test: %zu bytes\n", bytes);
		exit(1);
	}
	next_region = (next_region + 1) % REGIONS;
	char *memory = regions + (size_t)next_region * (REGION_BYTES + PAGE) + REGION_BYTES - bytes;
	memset(memory - FRONT, 0xa5, bytes + FRONT);
	return memory;
}

/* ---- complaints ---- */

static const struct kernel *complained;
static int failures;

/* The first one of each kernel is printed. */
static int complain(const struct kernel *kernel)
{
	if (complained == kernel)
		return 0;
	complained = kernel;
	failures++;
	return 1;
}

void check_front(const struct kernel *kernel, const void *memory)
{
	for (int i = 1; i <= FRONT; i++)
		if (((const unsigned char *)memory)[-i] != 0xa5 && complain(kernel))
			printf("%s: writes in front of its output\n", kernel->name);
}

/* The last inputs that were named, and the text that stands for them: they are printed only for errors. */
static struct {
	const struct type *type;
	const void *a, *b;
	int64_t i, j;
} named;
static const char named_inputs[] = "inputs";

const char *two_inputs(const struct type *type, const void *a, int64_t i, const void *b, int64_t j)
{
	named.type = type;
	named.a = a;
	named.b = b;
	named.i = i;
	named.j = j;
	return named_inputs;
}

static const char *text_of(const char *inputs)
{
	static char text[80];

	if (inputs != named_inputs)
		return inputs;
	if (named.b)
		snprintf(text, sizeof text, "%.17g, %.17g", (double)get_wide(named.type, named.a, named.i),
			 (double)get_wide(named.type, named.b, named.j));
	else
		snprintf(text, sizeof text, "%.17g", (double)get_wide(named.type, named.a, named.i));
	return text;
}

/* The worst error of each kernel, for people who write bounds. */
static double worst;

/* In units. The first infinity is as far from the greatest number as another number would be. */
static double distance(const struct kernel *kernel, wide result, wide expected, wide x)
{
	wide limit = ldexpf128(1, kernel->out->greatest + 1), scale = fabsf128(expected);

	if (result != result || expected != expected)
		return (result != result) == (expected != expected) ? 0 : 1e30;
	if (fabsf128(expected) == (wide)__builtin_inf())
		return result == expected ? 0 : 1e30;
	if ((result == 0 || expected == 0) && !kernel->scale[0] &&
	    __builtin_signbit(result) != __builtin_signbit(expected))
		return 1e30;
	if (kernel->scale[0] && strcmp(kernel->scale, "1") && fabsf128(x) > scale)
		scale = fabsf128(x);
	if (!strcmp(kernel->scale, "1") && scale < 1)
		scale = 1;
	result = result > limit ? limit : result < -limit ? -limit : result;
	expected = expected > limit ? limit : expected < -limit ? -limit : expected;
	return (double)(fabsf128(result - expected) / unit_of(kernel->out, scale));
}

void check_wide(const struct kernel *kernel, const void *results, int64_t i, wide expected, wide x, const char *inputs)
{
	wide result = get_wide(kernel->out, results, i);
	/* Narrow floats are computed in f32, and then rounded. */
	double units = kernel->units > 0.5 && kernel->out->size == 2
			       ? 0.5 + kernel->units / (double)(1 << (24 - kernel->out->digits))
			       : kernel->units;
	double far = kernel->out->is_float ? distance(kernel, result, expected, x) : result == expected ? 0 : 1e30;

	/* Half a unit means the nearest, and of two that are as near the even one. */
	if (kernel->units == 0.5 && kernel->out->is_float && far <= 0.5 && expected == expected) {
		uint64_t nearest[1];

		put_wide(kernel->out, nearest, 0, expected);
		far = get_bits(kernel->out, results, i) == get_bits(kernel->out, nearest, 0) ? far : 1;
	}
	worst = far > worst ? far : worst;
	if (!(far <= units) && complain(kernel))
		printf("%s: of %s it is %.17g, not %.17g: %g units off, more than %g\n", kernel->name, text_of(inputs),
		       (double)result, (double)expected, far, units);
}

void check_near(const struct kernel *kernel, const struct type *type, const void *results, int64_t i, wide expected,
		wide allowed, const char *inputs)
{
	wide result = get_wide(type, results, i), limit = ldexpf128(1, type->greatest + 1);

	/* A result computed in a wider type is rounded once more, and may leave the type's range. */
	if (type->size == 2)
		allowed += unit_of(type, fabsf128(expected) + allowed) / 2;
	if (type->size > 2 && allowed > 0)
		allowed += unit_of(type, 0);
	if (fabsf128(result) == (wide)__builtin_inf() && result != expected)
		result = result > 0 ? limit : -limit;
	if (fabsf128(result - expected) <= allowed || result == expected || (result != result && expected != expected))
		return;
	if (complain(kernel))
		printf("%s: of %s element %lld is %.17g, not %.17g: %.3g off, more than %.3g\n", kernel->name,
		       text_of(inputs), (long long)i, (double)result, (double)expected,
		       (double)fabsf128(result - expected), (double)allowed);
}

void check_bytes(const struct kernel *kernel, const char *what, const void *results, const void *expected, size_t bytes)
{
	if (memcmp(results, expected, bytes) && complain(kernel))
		printf("%s: %s is other bytes\n", kernel->name, what);
}

void check_status(const struct kernel *kernel, const char *what, int result, int expected)
{
	if (result != expected && complain(kernel))
		printf("%s: %s is %s\n", kernel->name, what, result ? "refused" : "accepted");
}

void check_whole(const struct kernel *kernel, const void *results, int64_t i, whole expected, const char *inputs)
{
	uint64_t narrow[1] = {0};

	put_whole(kernel->out, narrow, 0, expected);
	if (get_whole(kernel->out, results, i) != get_whole(kernel->out, narrow, 0) && complain(kernel))
		printf("%s: of %s it is %lld, not %lld\n", kernel->name, text_of(inputs),
		       (long long)get_whole(kernel->out, results, i), (long long)get_whole(kernel->out, narrow, 0));
}

void check_same(const struct kernel *kernel, const char *what, const void *results, const void *expected, size_t bytes)
{
	const struct type *type = kernel->out;
	int64_t i = 0, n = (int64_t)(bytes / type->size);

	/* The kind of NaN depends on the order of an instruction's operands. */
	while (i < n && (get_bits(type, results, i) == get_bits(type, expected, i) ||
			 (type->is_float && get_wide(type, results, i) != get_wide(type, results, i) &&
			  get_wide(type, expected, i) != get_wide(type, expected, i))))
		i++;
	if (i < n && complain(kernel))
		printf("%s: %s gives %.17g, not %.17g\n", kernel->name, what, (double)get_wide(type, results, i),
		       (double)get_wide(type, expected, i));
}

/* ---- kernels ---- */

enum { MAXIMUM_KERNELS = 10000 };
static struct kernel kernels[MAXIMUM_KERNELS];

static FILE *open_or_die(const char *file)
{
	FILE *stream = fopen(file, "r");

	if (!stream) {
		perror(file);
		exit(1);
	}
	return stream;
}

static int read_kernels(const char *file, void *library)
{
	FILE *stream = open_or_die(file);
	char in[16], out[16];
	int count = 0;

	for (struct kernel *k = kernels;
	     count < MAXIMUM_KERNELS &&
	     fscanf(stream, "%79s %79s %15s %15s %15s %15s", k->name, k->operator, k->form, k->isa, in, out) == 6;
	     k++, count++) {
		k->in = find_type(in);
		k->out = find_type(out);
		k->function = dlsym(library, k->name);
		for (const struct kernel *other = kernels; other < k; other++)
			if (!strncmp(other->name, k->name, strlen(other->name)) &&
			    !strncmp(k->name + strlen(other->name), "_v", 2))
				k->base = other;
	}
	fclose(stream);
	return count;
}

static void read_bounds(const char *file, int count)
{
	FILE *stream = open_or_die(file);
	char operator[80], scale[8];
	double f32, f64;

	while (fscanf(stream, "%79s %lf %lf %7s", operator, & f32, &f64, scale) == 4)
		for (int i = 0; i < count; i++)
			if (!strcmp(kernels[i].operator, operator)) {
				kernels[i].units = kernels[i].out->size == 8 ? f64 : f32;
				snprintf(kernels[i].scale, sizeof kernels[i].scale, "%s",
					 strcmp(scale, "-") ? scale : "");
			}
	fclose(stream);
}

static const struct row *find_row(const struct kernel *kernel)
{
	for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
		for (const struct row *row = tables[t]; row->operator; row++)
			if (!strcmp(row->operator, kernel->operator))
				return row;
	return NULL;
}

static int can_run(const char *isa)
{
	if (!strcmp(isa, "x86-64-v3"))
		return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
	if (!strcmp(isa, "x86-64-v4"))
		return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
	return 1;
}

int main(int argc, char **argv)
{
	void *library = argc >= 4 && argc <= 6 ? dlopen(argv[1], RTLD_NOW) : NULL;
	int left_out = 0, count;

	if (!library) {
		fprintf(stderr, "%s\n",
			argc < 4 ? "usage: library SHARED-OBJECT KERNELS BOUNDS [OPERATOR [ELEMENTS]]" : dlerror());
		return 1;
	}
	if (argc == 6)
		usual_count = atoi(argv[5]);
	count = read_kernels(argv[2], library);
	read_bounds(argv[3], count);
	for (int i = 0; i < count; i++) {
		const struct row *row = find_row(&kernels[i]);

		if (argc >= 5 && strcmp(argv[4], "all") && strcmp(argv[4], kernels[i].operator))
			continue;
		if (!kernels[i].function || !row) {
			printf("%s: %s\n", kernels[i].name,
			       row ? "is not in the library" : "no row of a table says what it computes");
			failures++;
			continue;
		}
		left_out += !can_run(kernels[i].isa);
		worst = 0;
		if (can_run(kernels[i].isa))
			row->run(&kernels[i], row);
		if (argc >= 5)
			printf("%s: %g units off at most\n", kernels[i].name, worst);
	}
	printf("%d kernels, %d of them not run, since this processor cannot; %d are wrong\n", count, left_out,
	       failures);
	return failures > 0;
}
