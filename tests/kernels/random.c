/* Tests the random numbers of libskernels.a (kernels/random.c): the generator against its authors' published numbers,
 * numbers in parts, which must be the same bytes, and distributions against the expected ones. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sk_randomuniform_f32(float *y, int64_t n, int64_t first, int64_t seed, int64_t seed2, float low, float high);
void sk_randomuniform_f64(double *y, int64_t n, int64_t first, int64_t seed, int64_t seed2, float low, float high);
void sk_randomnormal_f32(float *y, int64_t n, int64_t first, int64_t seed, int64_t seed2, float mean, float scale);
void sk_randomnormal_f64(double *y, int64_t n, int64_t first, int64_t seed, int64_t seed2, float mean, float scale);
void sk_randomdropout_f32_own(const float *x, float *y, float *mask, int64_t n, int64_t first, int64_t seed,
			      int64_t seed2, float keep);
void sk_randomdropout_f32_bool(const float *x, float *y, uint8_t *mask, int64_t n, int64_t first, int64_t seed,
			       int64_t seed2, float keep);
void sk_dropoutgrad_f32_bool(const float *dy, const uint8_t *mask, float *dx, int64_t n, float keep);
void sk_dropoutgrad_f32_own(const float *dy, const float *mask, float *dx, int64_t n, float keep);
void sk_bernoulli_f32(const float *x, uint8_t *y, int64_t n, int64_t first, int64_t seed, int64_t seed2);
void sk_multinomial_f32(const float *x, int64_t *y, int64_t m, int64_t c, int64_t s, int64_t row, int64_t seed,
			int64_t seed2);

enum { N = 1 << 18, ROWS = 64, CLASSES = 5, SAMPLES = N / ROWS };

static float x[N], y[N], z[N], mask[N];
static double wide[N], parts[N];
static uint8_t bits[N];
static int64_t drawn[N], drawn_parts[N];
static int failures;

static void expect(const char *name, double got, double wanted, double off)
{
	if (fabs(got - wanted) <= off)
		return;
	failures++;
	printf("%s: %.17g, not %.17g\n", name, got, wanted);
}

static void expect_same(const char *name, const void *a, const void *b, size_t bytes)
{
	if (!memcmp(a, b, bytes))
		return;
	failures++;
	printf("%s: parts are other bytes\n", name);
}

/* Random123's known answers (kat_vectors); words are f32 numbers by their upper 24 bits. */
static void check_generator(void)
{
	static const uint32_t words[] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};

	sk_randomuniform_f32(y, 4, 0, 0, 0, 0, 1);
	for (int i = 0; i < 4; i++)
		expect("Philox of zeros", y[i], (words[i] >> 8) * 0x1p-24, 0);
	sk_randomuniform_f64(wide, 2, 0, 0, 0, 0, 1);
	for (int i = 0; i < 2; i++)
		expect("f64", wide[i], (((uint64_t)words[2 * i] << 32 | words[2 * i + 1]) >> 11) * 0x1p-53, 0);
}

static void moments(const char *name, const double *numbers, double mean, double variance)
{
	double sum = 0, square = 0;

	for (int i = 0; i < N; i++)
		sum += numbers[i] / N;
	for (int i = 0; i < N; i++)
		square += (numbers[i] - sum) * (numbers[i] - sum) / N;
	expect(name, sum, mean, 5 * sqrt(variance / N));
	expect(name, square, variance, variance / 50);
}

static void widen(void)
{
	for (int i = 0; i < N; i++)
		wide[i] = y[i];
}

/* In parts of any length, from any number on. */
#define IN_PARTS(call)                                                                                                 \
	for (int64_t at = 0, n; at < N; at += n) {                                                                     \
		n = 1 + at * 7 % 301;                                                                                  \
		n = N - at < n ? N - at : n;                                                                           \
		call;                                                                                                  \
	}

static void check_numbers(void)
{
	double far = 0;

	sk_randomuniform_f32(y, N, 0, 1, 2, -1, 3);
	IN_PARTS(sk_randomuniform_f32(z + at, n, at, 1, 2, -1, 3))
	expect_same("RandomUniform", y, z, sizeof y);
	widen();
	moments("RandomUniform", wide, 1, 16.0 / 12);
	sk_randomnormal_f32(y, N, 0, 1, 2, 3, 2);
	IN_PARTS(sk_randomnormal_f32(z + at, n, at, 1, 2, 3, 2))
	expect_same("RandomNormal", y, z, sizeof y);
	widen();
	moments("RandomNormal", wide, 3, 4);
	for (int i = 0; i < N; i++)
		far += fabs(wide[i] - 3) > 4;
	expect("RandomNormal beyond two deviations", far / N, 0.0455, 0.002);
	sk_randomnormal_f64(wide, N, 0, 1, 2, 0, 1);
	IN_PARTS(sk_randomnormal_f64(parts + at, n, at, 1, 2, 0, 1))
	expect_same("RandomNormal of f64", wide, parts, sizeof wide);
	moments("RandomNormal of f64", wide, 0, 1);
}

static void check_dropout(void)
{
	double kept = 0;

	for (int i = 0; i < N; i++)
		x[i] = i % 1000 - 500;
	sk_randomdropout_f32_own(x, y, mask, N, 0, 5, 6, 0.75f);
	IN_PARTS(sk_randomdropout_f32_bool(x + at, z + at, bits + at, n, at, 5, 6, 0.75f))
	expect_same("RandomDropout", y, z, sizeof y);
	for (int i = 0; i < N; i++) {
		if (mask[i] != bits[i] || fabs(y[i] - x[i] / 0.75 * bits[i]) > 1e-4)
			failures++;
		kept += bits[i];
	}
	expect("RandomDropout keeps", kept / N, 0.75, 5 * sqrt(0.75 * 0.25 / N));
	sk_dropoutgrad_f32_bool(x, bits, z, N, 0.75f);
	for (int i = 0; i < N; i++)
		failures += y[i] != z[i];
	sk_dropoutgrad_f32_own(x, mask, z, N, 0.75f);
	for (int i = 0; i < N; i++)
		failures += y[i] != z[i];
	expect("DropoutGrad", failures, 0, 0);
	sk_randomdropout_f32_own(x, z, NULL, N, 0, 5, 6, 0.75f);
	expect_same("RandomDropout without a mask", y, z, sizeof y);
	sk_randomdropout_f32_own(x, z, mask, N, 0, 5, 6, 1);
	expect_same("RandomDropout that keeps all", x, z, sizeof x);
}

/* The last class weighs nothing. */
static void check_classes(void)
{
	static const double weights[CLASSES] = {0.1, 0.4, 0, 0.5, 0};
	double counts[CLASSES] = {0};

	for (int i = 0; i < N; i++)
		x[i] = 0.3f;
	sk_bernoulli_f32(x, bits, N, 0, 7, 8);
	for (int i = 0; i < N; i++)
		counts[0] += bits[i];
	expect("Bernoulli", counts[0] / N, 0.3, 5 * sqrt(0.21 / N));
	counts[0] = 0;
	for (int i = 0; i < ROWS * CLASSES; i++)
		x[i] = (float)log(weights[i % CLASSES]);
	sk_multinomial_f32(x, drawn, ROWS, CLASSES, SAMPLES, 0, 9, 0);
	for (int row = 0; row < ROWS; row++)
		sk_multinomial_f32(x + row * CLASSES, drawn_parts + row * SAMPLES, 1, CLASSES, SAMPLES, row, 9, 0);
	expect_same("Multinomial", drawn, drawn_parts, sizeof drawn);
	for (int i = 0; i < N; i++)
		counts[drawn[i]]++;
	for (int i = 0; i < CLASSES; i++)
		expect("Multinomial", counts[i] / N, weights[i], 5 * sqrt(weights[i] / N));
}

int main(void)
{
	check_generator();
	check_numbers();
	check_dropout();
	check_classes();
	return failures != 0;
}
