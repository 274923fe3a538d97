/* Compares the kernels of libskernels.a that normalize with plain loops in double precision: whole, and row by row as
 * cores may have them, which must be the same bytes. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sk_layernormalization_f32(const float *x, const float *scale, const float *bias, float *y, float *mean,
			       float *invstd, int64_t m, int64_t k, float epsilon);
void sk_rmsnormalization_f32(const float *x, const float *scale, float *y, int64_t m, int64_t k, float epsilon);
void sk_groupnormalization_f32(const float *x, const float *scale, const float *bias, float *y, int64_t r,
			       int64_t first, int64_t g, int64_t c, int64_t i, float epsilon);
void sk_instancenormalization_f32(const float *x, const float *scale, const float *bias, float *y, int64_t r,
				  int64_t first, int64_t c, int64_t i, float epsilon);
void sk_batchnormalization_f32(const float *x, const float *scale, const float *bias, const float *mean,
			       const float *variance, float *y, int64_t r, int64_t first, int64_t c, int64_t i,
			       float epsilon);
void sk_negativeloglikelihoodloss_f32(const float *x, const int64_t *target, const float *weight, float *loss,
				      float *applied, int64_t n, int64_t c, int64_t i, int64_t ignored);

enum { N = 3, C = 4, I = 37, K = C * I };

static float x[N * K], scale[K], bias[K], y[N * K], parts[N * K];
static int failures;

static void expect(const char *name, double got, double wanted)
{
	if (fabs(got - wanted) <= 1e-5 * fmax(1, fabs(wanted)) || (isnan(got) && isnan(wanted)))
		return;
	failures++;
	printf("%s: %.9g, not %.9g\n", name, got, wanted);
}

static void expect_parts(const char *name)
{
	if (!memcmp(y, parts, sizeof y))
		return;
	failures++;
	printf("%s: parts are other bytes\n", name);
}

static double mean_of(const float *row, int count)
{
	double sum = 0;

	for (int i = 0; i < count; i++)
		sum += row[i];
	return sum / count;
}

static double variance_of(const float *row, int count)
{
	double mean = mean_of(row, count), sum = 0;

	for (int i = 0; i < count; i++)
		sum += (row[i] - mean) * (row[i] - mean);
	return sum / count;
}

static void check_rows(void)
{
	float mean[N], invstd[N];

	sk_layernormalization_f32(x, scale, bias, y, mean, invstd, N, K, 1e-3f);
	for (int row = 0; row < N; row++)
		sk_layernormalization_f32(x + row * K, scale, bias, parts + row * K, NULL, NULL, 1, K, 1e-3f);
	expect_parts("layer");
	for (int i = 0; i < N * K; i++) {
		const float *row = x + i / K * K;
		double factor = 1 / sqrt(variance_of(row, K) + 1e-3);

		expect("layer", y[i], (x[i] - mean_of(row, K)) * factor * scale[i % K] + bias[i % K]);
		expect("mean", mean[i / K], mean_of(row, K));
		expect("invstd", invstd[i / K], factor);
	}
	sk_rmsnormalization_f32(x, scale, y, N, K, 1e-3f);
	for (int i = 0; i < N * K; i++) {
		const float *row = x + i / K * K;
		double mean_of_row = mean_of(row, K), square = variance_of(row, K) + mean_of_row * mean_of_row;

		expect("rms", y[i], x[i] / sqrt(square + 1e-3) * scale[i % K]);
	}
}

/* Two groups of two channels; each channel by itself; channels with numbers of their own. */
static void check_channels(void)
{
	static const float variance[C] = {1, 2, 3, 4};

	sk_groupnormalization_f32(x, scale, bias, y, 2 * N, 0, 2, 2, I, 1e-3f);
	for (int row = 0; row < 2 * N; row++)
		sk_groupnormalization_f32(x + row * 2 * I, scale, bias, parts + row * 2 * I, 1, row, 2, 2, I, 1e-3f);
	expect_parts("group");
	for (int i = 0; i < N * K; i++) {
		const float *row = x + i / (2 * I) * 2 * I;
		int channel = i / I % C;

		expect("group", y[i],
		       (x[i] - mean_of(row, 2 * I)) / sqrt(variance_of(row, 2 * I) + 1e-3) * scale[channel] +
			       bias[channel]);
	}
	sk_instancenormalization_f32(x, scale, bias, y, N * C, 0, C, I, 1e-3f);
	for (int i = 0; i < N * K; i++) {
		const float *row = x + i / I * I;
		int channel = i / I % C;

		expect("instance", y[i],
		       (x[i] - mean_of(row, I)) / sqrt(variance_of(row, I) + 1e-3) * scale[channel] + bias[channel]);
	}
	sk_batchnormalization_f32(x, scale, bias, bias + 8, variance, y, N * C, 0, C, I, 1e-3f);
	for (int row = 0; row < N * C; row++)
		sk_batchnormalization_f32(x + row * I, scale, bias, bias + 8, variance, parts + row * I, 1, row, C, I,
					  1e-3f);
	expect_parts("batch");
	for (int i = 0; i < N * K; i++) {
		int channel = i / I % C;

		expect("batch", y[i],
		       (x[i] - bias[8 + channel]) / sqrt(variance[channel] + 1e-3) * scale[channel] + bias[channel]);
	}
}

/* Targets that are no classes read nothing. */
static void check_losses(void)
{
	static const int64_t target[] = {2, -1, 4, INT64_MIN, INT64_MAX, 7};
	float loss[6], applied[6];

	sk_negativeloglikelihoodloss_f32(x, target, scale, loss, applied, 1, C, 6, 7);
	expect("loss", loss[0], -x[2 * 6] * scale[2]);
	expect("weight", applied[0], scale[2]);
	for (int i = 1; i < 5; i++) {
		expect("loss of no class", loss[i], NAN);
		expect("weight of no class", applied[i], NAN);
	}
	expect("ignored loss", loss[5], 0);
	expect("ignored weight", applied[5], 0);
}

int main(void)
{
	for (int i = 0; i < N * K; i++)
		x[i] = (float)(random() % 4096) / 512 - 3;
	for (int i = 0; i < K; i++) {
		scale[i] = (float)(random() % 4096) / 2048 - 1;
		bias[i] = (float)(random() % 4096) / 2048 - 1;
	}
	check_rows();
	check_channels();
	check_losses();
	return failures != 0;
}
