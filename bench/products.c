/* The speed of the kernel library's products and convolutions, on one core. They are compared with a loop that only
 * does multiply-adds in registers with the same instructions, and with OpenBLAS's sgemm and sgemv on one thread, if it
 * is installed. For convolutions that is the equivalent product, without the time to make its operand. Kernels that
 * read a matrix once are compared with a loop that reads as many bytes. A depthwise convolution writes as much as it
 * reads: it is compared with the slower one of a loop that copies its input and of nine multiply-adds in registers for
 * each number of it. The next columns give the speed of a loop that only reads the input, of the copy, and of the
 * arithmetic. With "32 planes", input and results stay in a second-level cache; the others exceed it. All take turns;
 * medians of the thread's own time.
 *
 * bench/products compiles this once for each level: LEVEL is the suffix of the kernels' names, VECTOR the bytes of a
 * vector. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 15 };

typedef float vector __attribute__((vector_size(VECTOR)));
enum { SUMS = VECTOR == 64 ? 24 : 12 };

#define JOIN_WORDS(a, b) a##b
#define JOIN(a, b)	 JOIN_WORDS(a, b)
void sk_packmatmulb_u32_straight(const void *b, void *panels, int64_t k, int64_t n, int64_t first, int64_t count);
void sk_packmatmulb_u32_turned(const void *b, void *panels, int64_t k, int64_t n, int64_t first, int64_t count);
void JOIN(sk_matmul_f32_one_straight_packed, LEVEL)(const float *a, const float *b, float *y, int64_t m, int64_t k,
						    int64_t n, float *room, float *sums);
void JOIN(sk_matmul_f32_one_straight_straight, LEVEL)(const float *a, const float *b, float *y, int64_t m, int64_t k,
						      int64_t n, float *room, float *sums);
void JOIN(sk_matmul_f32_left_packed, LEVEL)(const float *a, const float *b, float *y, int64_t k, int64_t n,
					    int64_t first, float *converted);
typedef void convolution(const float *x, const float *filters, const float *bias, float *y, int64_t c, int64_t d,
			 int64_t o, int64_t h, int64_t w, int64_t kh, int64_t kw, int64_t oh, int64_t ow,
			 const int64_t *strides, const int64_t *pads, const int64_t *dilations, int64_t group,
			 int64_t first, int64_t planes, float *room, float *laid, float *sums);
convolution JOIN(sk_conv_f32_2_panels, LEVEL), JOIN(sk_conv_f32_2_channels, LEVEL);

static void (*gemm)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float *a, int lda,
		    const float *b, int ldb, float beta, float *c, int ldc);

static float *room, *laid, *panels, *zeros;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static float *numbers(int64_t count)
{
	float *all = aligned_alloc(64, (size_t)(count * 4 + 127) / 64 * 64);

	for (int64_t i = 0; i < count; i++)
		all[i] = (float)(rand() % 2001 - 1000) / 1000;
	return all;
}

/* Floating-point operations. */
static double multiply_add(void)
{
	vector sums[SUMS], factor = {0}, addend = {0};
	volatile vector sink;
	const long times = 200000;

	factor += 0.9999F;
	addend += 0.0001F;
#pragma GCC unroll 24
	for (int i = 0; i < SUMS; i++)
		sums[i] = addend * (float)i;
	for (long t = 0; t < times; t++)
#pragma GCC unroll 24
		for (int i = 0; i < SUMS; i++) {
			sums[i] = sums[i] * factor + addend;
			__asm__ volatile("" : "+v"(sums[i]));
		}
#pragma GCC unroll 24
	for (int i = 0; i < SUMS; i++)
		sink = sums[i];
	(void)sink;
	return 2.0 * SUMS * VECTOR / 4 * times;
}

static void read_all(const float *from, int64_t count)
{
	vector sums[8] = {{0}};
	volatile vector sink;

	for (int64_t i = 0; i + 8 * VECTOR / 4 <= count; i += 8 * VECTOR / 4)
#pragma GCC unroll 8
		for (int j = 0; j < 8; j++)
			sums[j] += *(const vector *)(from + i + j * VECTOR / 4);
	for (int j = 0; j < 8; j++)
		sink = sums[j];
	(void)sink;
}

static void copy_all(float *to, const float *from, int64_t count)
{
	for (int64_t i = 0; i + 4 * VECTOR / 4 <= count; i += 4 * VECTOR / 4)
#pragma GCC unroll 4
		for (int j = 0; j < 4; j++)
			*(vector *)(to + i + j * VECTOR / 4) = *(const vector *)(from + i + j * VECTOR / 4);
}

struct shape {
	const char *name;
	enum { PACKED, STRAIGHT, VECTOR_LEFT, GROUPS, CHANNELS } kind;
	int64_t m, k, n; /* of the product */
	int64_t channels, side, window; /* of a convolution with as many results */
};
static const struct shape shapes[] = {
	{"product, packed       128 x 1024 x 1024", PACKED, 128, 1024, 1024, 0, 0, 0},
	{"product, packed       128 x 1024 x 4096", PACKED, 128, 1024, 4096, 0, 0, 0},
	{"product, packed       128 x 4096 x 1024", PACKED, 128, 4096, 1024, 0, 0, 0},
	{"product, packed         512 x 512 x 512", PACKED, 512, 512, 512, 0, 0, 0},
	{"product               128 x 1024 x 1024", STRAIGHT, 128, 1024, 1024, 0, 0, 0},
	{"product                 512 x 512 x 512", STRAIGHT, 512, 512, 512, 0, 0, 0},
	{"convolution 3x3, 64 -> 64, 56 x 56", GROUPS, 64, 64 * 9, 56 * 56, 64, 56, 3},
	{"convolution 1x1, 64 -> 64, 56 x 56", GROUPS, 64, 64, 56 * 56, 64, 56, 1},
	{"convolution 1x1, 64 -> 256, 56 x 56", GROUPS, 256, 64, 56 * 56, 64, 56, 1},
	{"convolution 3x3, 256 -> 256, 14 x 14", GROUPS, 256, 256 * 9, 14 * 14, 256, 14, 3},
	{"convolution 1x1, 256 -> 256, 14 x 14", GROUPS, 256, 256, 14 * 14, 256, 14, 1},
	{"convolution 3x3, 512 -> 512, 7 x 7", GROUPS, 512, 512 * 9, 7 * 7, 512, 7, 3},
	{"vector x matrix       4096 x 16384", VECTOR_LEFT, 1, 4096, 16384, 0, 0, 0},
	{"depthwise 3x3, 32, 56 x 56", CHANNELS, 32, 9, 56 * 56, 32, 56, 3},
	{"depthwise 3x3, 144, 56 x 56", CHANNELS, 144, 9, 56 * 56, 144, 56, 3},
	{"depthwise 3x3, 32, 112 x 112", CHANNELS, 32, 9, 112 * 112, 32, 112, 3},
};

static void run(const struct shape *shape, const float *a, const float *b, float *y)
{
	int64_t pad = shape->window / 2, side = shape->side, window = shape->window, ones[2] = {1, 1},
		pads[4] = {pad, pad, pad, pad};

	if (shape->kind == PACKED)
		JOIN(sk_matmul_f32_one_straight_packed, LEVEL)(a, panels, y, shape->m, shape->k, shape->n, room, NULL);
	else if (shape->kind == STRAIGHT)
		JOIN(sk_matmul_f32_one_straight_straight, LEVEL)(a, b, y, shape->m, shape->k, shape->n, room, NULL);
	else if (shape->kind == VECTOR_LEFT)
		JOIN(sk_matmul_f32_left_packed, LEVEL)(a, panels, y, shape->k, shape->n, 0, NULL);
	else if (shape->kind == GROUPS)
		JOIN(sk_conv_f32_2_panels, LEVEL)
	(b, panels, zeros, y, shape->channels, shape->channels, shape->m, side, side, window, window, side, side, ones,
	 pads, ones, 1, 0, shape->m, room, laid, NULL);
	else JOIN(sk_conv_f32_2_channels, LEVEL)(b, a, NULL, y, 1, 1, shape->m, side, side, window, window, side, side,
						 ones, pads, ones, shape->m, 0, shape->m, room, laid, NULL);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *values)
{
	qsort(values, ROUNDS, sizeof *values, compare);
	return values[ROUNDS / 2];
}

static void measure(const struct shape *shape)
{
	int reads = shape->kind == VECTOR_LEFT || shape->kind == CHANNELS, m = (int)shape->m, k = (int)shape->k,
	    n = (int)shape->n;
	int64_t b_size = shape->kind == CHANNELS ? shape->m * shape->n : shape->k * shape->n;
	float *a = numbers(shape->m * shape->k), *b = numbers(b_size), *y = numbers(shape->m * shape->n);
	double own[ROUNDS], bound[ROUNDS], other[ROUNDS], reading[ROUNDS], copying[ROUNDS], computing[ROUNDS],
		work = reads ? (double)b_size * 4 : 2.0 * m * n * k;

	if (shape->kind == PACKED || shape->kind == VECTOR_LEFT)
		sk_packmatmulb_u32_straight(b, panels, k, n, 0, (n + 15) / 16);
	else if (shape->kind == GROUPS)
		sk_packmatmulb_u32_turned(a, panels, k, m, 0, (m + 15) / 16);
	for (int round = 0; round < ROUNDS; round++) {
		double start = now(), done = multiply_add();
		bound[round] = done / (now() - start) * 1e-9;
		computing[round] = bound[round] * 4 / 18;
		start = now();
		if (reads)
			read_all(shape->kind == CHANNELS ? b : panels, b_size);
		reading[round] = work / (now() - start) * 1e-9;
		start = now();
		if (shape->kind == CHANNELS)
			copy_all(y, b, b_size);
		copying[round] = work / (now() - start) * 1e-9;
		start = now();
		run(shape, a, b, y);
		own[round] = work / (now() - start) * 1e-9;
		if (!gemm || shape->kind == CHANNELS)
			continue;
		start = now();
		gemm(101, 111, 111, m, n, k, 1, a, k, b, n, 0, y, n);
		other[round] = work / (now() - start) * 1e-9;
	}
	double limit = median(reads ? reading : bound), result = median(own), read = limit;
	if (shape->kind == CHANNELS)
		limit = median(copying) < median(computing) ? copying[ROUNDS / 2] : computing[ROUNDS / 2];
	printf("%-40s %7.1f %s %7.1f %5.0f %%", shape->name, result, reads ? "GB/s    " : "GFLOP/s ", limit,
	       100 * result / limit);
	if (shape->kind == CHANNELS)
		printf(" reading %.1f, copying %.1f, arithmetic %.1f", read, copying[ROUNDS / 2],
		       computing[ROUNDS / 2]);
	else if (gemm)
		printf(" %7.1f", median(other));
	printf("\n");
	free(a);
	free(b);
	free(y);
}

int main(void)
{
	void *openblas = dlopen("libopenblas.so.0", RTLD_NOW);

	if (openblas)
		*(void **)&gemm = dlsym(openblas, "cblas_sgemm");
	room = aligned_alloc(64, 114688 * 4);
	laid = numbers(4 << 20);
	zeros = calloc(512, sizeof(*zeros));
	panels = aligned_alloc(64, (size_t)4096 * 16384 * 4);
	printf("%-40s %16s %8s %7s %s\n", "", "kernel", "bound", "share", gemm ? "OpenBLAS" : "");
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
		measure(&shapes[i]);
	return 0;
}
