/* Steps a decoder with libskrt, on all processors: run PACKAGE STEPS LOGITS.npy. Each step takes a token, and the
 * likeliest next token is the input of the next step. The cache is memory of this program, which is bound once: the
 * network writes its row of each step into it. Prints the tokens, and the time of a step. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "skrt.h"

struct decoder {
	struct skrt_module *module;
	struct skrt_instance *instance;
	int64_t *token, *position;
	float *logits;
	uint64_t words;
	void **memory; /* of each tensor */
};

static void check(enum skrt_status status)
{
	if (status != SKRT_OK) {
		fprintf(stderr, "run: %s\n", skrt_error());
		exit(1);
	}
}

static void fail(const char *message)
{
	fprintf(stderr, "run: %s\n", message);
	exit(1);
}

/* Memory for a tensor, all zeros. */
static void *allocate(const struct skrt_tensor *tensor)
{
	size_t bytes = (tensor->bytes + tensor->padding + 63) / 64 * 64;
	void *memory = aligned_alloc(64, bytes);

	if (!memory)
		fail("out of memory");
	return memset(memory, 0, bytes);
}

/* Token, position and logits by their names; all tensors that keep their contents from step to step are cache. */
static void bind(struct decoder *decoder)
{
	uint32_t count = skrt_module_tensor_count(decoder->module);

	decoder->memory = calloc(count + 1, sizeof(*decoder->memory));
	if (!decoder->memory)
		fail("out of memory");
	for (uint32_t i = 0; i < count; i++) {
		struct skrt_tensor tensor = {.size = sizeof(tensor)};
		void *memory;

		check(skrt_module_tensor(decoder->module, i, &tensor));
		decoder->memory[i] = memory = allocate(&tensor);
		if (!strcmp(tensor.name, "logits")) {
			decoder->logits = memory;
			decoder->words = tensor.bytes / sizeof(float);
		} else if (!strcmp(tensor.name, "token")) {
			decoder->token = memory;
		} else if (!strcmp(tensor.name, "position")) {
			decoder->position = memory;
		} else if (tensor.role != SKRT_INOUT) {
			fail("the package is not a decoder, or its cache is copied: it was linked without --state");
		}
		check(skrt_instance_bind(decoder->instance, i, memory, tensor.bytes));
	}
	if (!decoder->token || !decoder->position || !decoder->logits)
		fail("the package has no 'token', 'position' or 'logits'");
}

static int64_t likeliest(const struct decoder *decoder)
{
	uint64_t best = 0;

	for (uint64_t i = 1; i < decoder->words; i++)
		if (decoder->logits[i] > decoder->logits[best])
			best = i;
	return (int64_t)best;
}

/* The header of a .npy file of float32 [rows, columns]. */
static void write_header(FILE *file, long rows, uint64_t columns)
{
	char text[119];

	snprintf(text, sizeof(text), "{'descr': '<f4', 'fortran_order': False, 'shape': (%ld, %llu), }", rows,
		 (unsigned long long)columns);
	fprintf(file, "\x93NUMPY\x01%c%c%c%-117s\n", 0, 118, 0, text);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

static void step_all(struct decoder *decoder, struct skrt_stream *stream, long steps, FILE *file)
{
	double fastest = 0;

	write_header(file, steps, decoder->words);
	for (long step = 0; step < steps; step++) {
		double start = now(), took;

		*decoder->position = step;
		check(skrt_run_network(stream, decoder->instance));
		took = now() - start;
		fastest = !step || took < fastest ? took : fastest;
		fwrite(decoder->logits, sizeof(float), decoder->words, file);
		*decoder->token = likeliest(decoder);
		printf("%lld%c", (long long)*decoder->token, step + 1 == steps ? '\n' : ' ');
	}
	fprintf(stderr, "fastest step %.3f ms\n", fastest);
	if (ferror(file) | fclose(file))
		fail("cannot write the logits");
}

static void release(struct decoder *decoder)
{
	for (uint32_t i = 0; i < skrt_module_tensor_count(decoder->module); i++)
		free(decoder->memory[i]);
	free(decoder->memory);
}

int main(int argc, char **argv)
{
	struct decoder decoder = {.module = NULL};
	struct skrt_device *device;
	struct skrt_stream *stream;
	FILE *file;

	if (argc != 4)
		fail("usage: run PACKAGE STEPS LOGITS.npy");
	check(skrt_device_open(NULL, &device));
	check(skrt_module_load(device, argv[1], &decoder.module));
	check(skrt_instance_create(decoder.module, &decoder.instance));
	check(skrt_stream_create(device, &stream));
	bind(&decoder);
	file = fopen(argv[3], "wb");
	if (!file)
		fail("cannot open the file for logits");
	step_all(&decoder, stream, atol(argv[2]), file);

	check(skrt_stream_destroy(stream));
	check(skrt_instance_destroy(decoder.instance));
	release(&decoder);
	check(skrt_module_unload(decoder.module));
	check(skrt_device_close(device));
	return 0;
}
