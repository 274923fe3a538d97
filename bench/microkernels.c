/* samples/microkernels: kernels that compute one tile or one row, called by a dispatcher on two cores, and by loops in
 * C on one. Two processes that run these loops, each on a core of its own, show how much two cores gain on this
 * machine.
 *
 *   microkernels PACKAGE DIRECTORY     the package was linked from the sample; its tensors are in the directory */
#include "config.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/measure.h"
#include "samples/tensor-file.h"

enum { ROWS = 250, IN = 256, HIDDEN = 256, OUT = 64, TILE_COLUMNS = 16, BATCH = 4, ROUNDS = 201 };

/* ---- the loops ---- */

struct minmax {
	float min, max;
};

typedef void gemm(size_t mr, size_t nc, size_t kc, const float *a, size_t a_stride, const float *w, float *c,
		  size_t cm_stride, size_t cn_stride, const struct minmax *limits);
typedef void pack(size_t g, size_t nc, size_t kc, size_t nr, size_t kr, size_t sr, const float *weights,
		  const float *bias, const void *scale, float *packed, size_t extra_bytes, const void *params);
typedef void reduce(size_t batch, const float *input, float *max);
typedef void store_exp(size_t batch, const float *input, const float *max, float *output, float *sum);
typedef void divide(size_t batch, const float *input, const float *divisor, float *output, const struct minmax *limits);

extern gemm f32_gemm_minmax__avx2, f32_gemm_minmax__baseline;
extern pack x32_packw_gemm_goi__baseline;
extern reduce f32_rmax__avx2, f32_rmax__baseline;
extern store_exp f32_raddstoreexpminusmax__avx2, f32_raddstoreexpminusmax__baseline;
extern divide f32_vdivc_minmax__avx2, f32_vdivc_minmax__baseline;

static const struct kernels {
	gemm *gemm;
	reduce *reduce;
	store_exp *store_exp;
	divide *divide;
	size_t tile_rows;
} avx2 = {f32_gemm_minmax__avx2, f32_rmax__avx2, f32_raddstoreexpminusmax__avx2, f32_vdivc_minmax__avx2, 6},
  baseline = {f32_gemm_minmax__baseline, f32_rmax__baseline, f32_raddstoreexpminusmax__baseline,
	      f32_vdivc_minmax__baseline, 2};

struct network {
	const struct kernels *kernels;
	const float *x, *w1, *w2; /* weights are packed */
	float hidden[ROWS * HIDDEN], logits[ROWS * OUT], max[ROWS], powers[ROWS * OUT], sum[ROWS], y[ROWS * OUT];
};

static size_t at_most(size_t value, size_t limit)
{
	return value < limit ? value : limit;
}

/* Pack a layer's weights for the tiles. Both sizes of tiles use the same packing. */
static float *pack_layer(const char *directory, const char *weights, const char *biases, size_t k, size_t n)
{
	struct sk_npy w = tensor_load(directory, weights, SK_F32, 2, (const uint64_t[]){n, k});
	struct sk_npy b = tensor_load(directory, biases, SK_F32, 1, (const uint64_t[]){n});
	float *packed = malloc(n * (k + 1) * sizeof(*packed));

	for (size_t column = 0; column < n; column += TILE_COLUMNS)
		x32_packw_gemm_goi__baseline(1, TILE_COLUMNS, k, TILE_COLUMNS, 1, 1, (const float *)w.data + column * k,
					     (const float *)b.data + column, NULL, packed + column * (k + 1), 0, NULL);
	tensor_free(&w);
	tensor_free(&b);
	return packed;
}

static void run_layer(const struct kernels *kernels, const float *a, size_t k, const float *w, float *c, size_t n,
		      const struct minmax *limits)
{
	for (size_t row = 0; row < ROWS; row += kernels->tile_rows)
		for (size_t column = 0; column < n; column += TILE_COLUMNS)
			kernels->gemm(at_most(ROWS - row, kernels->tile_rows), TILE_COLUMNS, k * sizeof(float),
				      a + row * k, k * sizeof(float), w + column * (k + 1), c + row * n + column,
				      n * sizeof(float), TILE_COLUMNS * sizeof(float), limits);
}

static void run_loops(struct network *network)
{
	static const struct minmax six = {0, 6}, all = {-3.4e38F, 3.4e38F}, one = {0, 1};
	const struct kernels *kernels = network->kernels;
	size_t bytes = OUT * sizeof(float);

	run_layer(kernels, network->x, IN, network->w1, network->hidden, HIDDEN, &six);
	run_layer(kernels, network->hidden, HIDDEN, network->w2, network->logits, OUT, &all);
	for (size_t row = 0; row < ROWS; row++)
		kernels->reduce(bytes, network->logits + row * OUT, network->max + row);
	for (size_t row = 0; row < ROWS; row++)
		kernels->store_exp(bytes, network->logits + row * OUT, network->max + row, network->powers + row * OUT,
				   network->sum + row);
	for (size_t row = 0; row < ROWS; row++)
		kernels->divide(bytes, network->powers + row * OUT, network->sum + row, network->y + row * OUT, &one);
}

/* ---- the variants ---- */

static struct network *network;
static int to_other[2], from_other[2]; /* pipes */

static void run_batch(const void *context)
{
	(void)context;
	for (int i = 0; i < BATCH; i++)
		run_loops(network);
}

static void tell(int file)
{
	if (write(file, "", 1) != 1)
		exit(1);
}

static bool is_told(int file)
{
	char byte;

	return read(file, &byte, 1) == 1;
}

/* Run in the other process, on another processor, until this one has ended. */
static void run_other(void)
{
	cpu_set_t all, own;
	size_t last = 0;

	sched_getaffinity(0, sizeof(all), &all);
	for (size_t i = 0; i < CPU_SETSIZE; i++)
		last = CPU_ISSET(i, &all) ? i : last;
	CPU_ZERO(&own);
	CPU_SET(last, &own);
	sched_setaffinity(0, sizeof(own), &own);
	close(to_other[1]);
	while (is_told(to_other[0])) {
		run_batch(NULL);
		tell(from_other[1]);
	}
}

static void run_both(const void *context)
{
	tell(to_other[1]);
	run_batch(context);
	if (!is_told(from_other[0]))
		exit(1);
}

struct fused {
	struct skrt_device *device;
	struct skrt_module *module;
	struct skrt_instance *instance;
	struct skrt_stream *stream;
	float *y;
};

static void run_fused(const void *context)
{
	const struct fused *fused = context;

	for (int i = 0; i < BATCH; i++) {
		bench_check(skrt_launch_network(fused->stream, fused->instance));
		bench_check(skrt_synchronise(fused->stream));
	}
}

static struct fused open_fused(const char *package, const float *x)
{
	const struct skrt_device_options options = {.size = sizeof(options), .device = "host", .cores = 2};
	const uint64_t x_shape[] = {ROWS, IN}, y_shape[] = {ROWS, OUT};
	struct fused fused;

	fused.y = aligned_alloc(64, ROWS * OUT * sizeof(float));
	bench_check(skrt_device_open(&options, &fused.device));
	bench_check(skrt_module_load(fused.device, package, &fused.module));
	bench_check(skrt_instance_create(fused.module, &fused.instance));
	bench_check(skrt_stream_create(fused.device, &fused.stream));
	bench_check(skrt_instance_bind_array(fused.instance, "x", SKRT_F32, 2, x_shape, (void *)(uintptr_t)x));
	bench_check(skrt_instance_bind_array(fused.instance, "y", SKRT_F32, 2, y_shape, fused.y));
	return fused;
}

static void close_fused(const struct fused *fused)
{
	bench_check(skrt_stream_destroy(fused->stream));
	bench_check(skrt_instance_destroy(fused->instance));
	bench_check(skrt_module_unload(fused->module));
	bench_check(skrt_device_close(fused->device));
	free(fused->y);
}

/* ---- the table ---- */

/* Compare the two results bit by bit. */
static void compare(const struct fused *fused)
{
	run_fused(fused);
	run_batch(NULL);
	if (!memcmp(network->y, fused->y, sizeof(network->y)))
		return;
	fprintf(stderr, "bench: the loops and the package compute different results\n");
	exit(1);
}

/* Return the time in a round in which nearly nothing else runs on the machine. */
static double least(const struct bench_variant *variant)
{
	double time = variant->times[0];

	for (int i = 1; i < ROUNDS; i++)
		time = variant->times[i] < time ? variant->times[i] : time;
	return time;
}

static void measure(const struct fused *fused)
{
	struct bench_variant loops = {"C loops on one core", run_batch, NULL, BATCH * 1e3, 1, 0, {0}};
	struct bench_variant both = {"two processes, C loops on a core each", run_both, NULL, BATCH * 2e3, 1, 0, {0}};
	struct bench_variant superkernel = {"one superkernel on two cores", run_fused, fused, BATCH * 1e3, 1, 0, {0}};
	struct bench_variant *const variants[] = {&loops, &both, &superkernel};

	bench_measure(variants, 3, ROUNDS);
	printf("A network of microkernels, %d rows\n  %-42s %12s %10s %12s %10s\n", ROWS, "", "median us", "speedup",
	       "least us", "speedup");
	for (int i = 0; i < 3; i++)
		printf("  %-42s %12.1f %10.2f %12.1f %10.2f\n", variants[i]->title, bench_median(variants[i]),
		       bench_ratio(&loops, variants[i]), least(variants[i]), least(&loops) / least(variants[i]));
	printf("  %-42s %12s %10.2f %12s %10.2f\n", "superkernel's share of two processes' gain", "",
	       bench_ratio(&both, &superkernel), "", least(&both) / least(&superkernel));
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: microkernels PACKAGE DIRECTORY\n");
		return 1;
	}

	struct sk_npy x = tensor_load(argv[2], "x", SK_F32, 2, (const uint64_t[]){ROWS, IN});
	float *w1 = pack_layer(argv[2], "w1", "b1", IN, HIDDEN), *w2 = pack_layer(argv[2], "w2", "b2", HIDDEN, OUT);
	bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
	float *bound = aligned_alloc(64, ROWS * IN * sizeof(float));

	memcpy(bound, x.data, ROWS * IN * sizeof(float));
	network = calloc(1, sizeof(*network));
	network->kernels = has_avx2 ? &avx2 : &baseline;
	network->x = bound;
	network->w1 = w1;
	network->w2 = w2;
	if (pipe(to_other) || pipe(from_other))
		return 1;
	pid_t other = fork();

	if (other == 0) {
		run_other();
		_exit(0);
	}

	struct fused fused = open_fused(argv[1], bound);

	bench_pin();
	compare(&fused);
	measure(&fused);
	close_fused(&fused);
	close(to_other[1]);
	waitpid(other, NULL, 0);
	free(network);
	free(bound);
	tensor_free(&x);
	free(w1);
	free(w2);
	return 0;
}
