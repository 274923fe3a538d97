/* sizes.c PACKAGE CORES PAIRS SHOWN: an instance of the network of sizes.sh at many sizes, one after the other, through
 * libskrt and, with dlopen alone, through the serial entry. Results are those of the kernels themselves, called for
 * each size. Errors name the sizes and the tensors. */
#include <dlfcn.h>
#include <pthread.h>
#include <skrt.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "format/plan/dims.h"
#include "format/plan/plan.h"
#include "kernels.c"

enum {
	WIDTH = 64,
	MOST_BATCH = 8,
	MOST_SEQ = 512,
	MOST = MOST_BATCH * MOST_SEQ * WIDTH,
	SIZES = 1000, /* of one instance, one after another … */
	ALL_WAYS = 60, /* … and so many of them also serially and task by task */
	MOST_GROWTH = 1 << 16, /* bytes */
};

#define CHECK(condition)                                                                                               \
	do {                                                                                                           \
		if (!(condition)) {                                                                                    \
			fprintf(stderr, "line %d: %s: %s\n", __LINE__, #condition, skrt_error());                      \
			exit(1);                                                                                       \
		}                                                                                                      \
	} while (0)
#define GOOD(call) CHECK((call) == SKRT_OK)

static void expect_error(int line, enum skrt_status status, enum skrt_status wanted, const char *text)
{
	if (status == wanted && strstr(skrt_error(), text))
		return;
	fprintf(stderr, "line %d: %s, not %s: %s\n", line, skrt_status_name(status), skrt_status_name(wanted),
		skrt_error());
	exit(1);
}
#define FAILS(call, wanted, text) expect_error(__LINE__, (call), (wanted), (text))

static struct skrt_device *device;
static struct skrt_module *module;
static struct skrt_instance *instance;
static struct skrt_stream *stream;
static float *x, *w, *b, *y, *t, *wanted;

static float *allocate(size_t count)
{
	void *memory = NULL;

	GOOD(skrt_allocate(device, count * sizeof(float), &memory));
	return memory;
}

static void compute(long rows)
{
	static float p[MOST];

	product(x, w, t, rows, WIDTH, WIDTH);
	bias(t, b, p, rows, WIDTH);
	add(p, x, wanted, rows * WIDTH);
	twice(wanted, rows * WIDTH);
}

static void bind_shape(uint64_t batch, uint64_t seq)
{
	const uint64_t shape[] = {batch, seq, WIDTH};

	GOOD(skrt_instance_bind_array(instance, "x", SKRT_F32, 3, shape, x));
	GOOD(skrt_instance_bind_array(instance, "y", SKRT_F32, 3, shape, y));
}

static void expect_result(uint64_t rows)
{
	compute((long)rows);
	CHECK(!memcmp(y, wanted, rows * WIDTH * sizeof(float)));
	for (uint64_t i = rows * WIDTH; i < MOST; i++)
		CHECK(y[i] == -1);
}

static void clear(void)
{
	for (int i = 0; i < MOST; i++)
		y[i] = -1;
	GOOD(skrt_instance_fill_workspace(instance, 0xff));
}

static void run(uint64_t rows)
{
	clear();
	GOOD(skrt_run_network(stream, instance));
	expect_result(rows);
}

/* ---- tests ---- */

static void test_descriptions(void)
{
	struct skrt_dimension dimension = {.size = sizeof(dimension)};
	struct skrt_tensor tensor = {.size = sizeof(tensor)};

	CHECK(skrt_module_dimension_count(module) == 2);
	GOOD(skrt_module_dimension(module, 1, &dimension));
	CHECK(!strcmp(dimension.name, "seq") && !strcmp(dimension.network, "") && dimension.least == 1 &&
	      dimension.most == MOST_SEQ && dimension.multiple == 1 && dimension.usual == 128);
	FAILS(skrt_module_dimension(module, 2, &dimension), SKRT_INVALID_ARGUMENT, "no dimension number 2");
	GOOD(skrt_module_tensor(module, 0, &tensor));
	CHECK(tensor.shape[1] == MOST_SEQ);
	GOOD(skrt_instance_tensor(instance, 0, &tensor));
	CHECK(tensor.rank == 3 && tensor.shape[1] == 128 && tensor.bytes == tensor.shape[0] * 128 * WIDTH * 4);
	GOOD(skrt_instance_set_dimension(instance, "seq", 37));
	GOOD(skrt_instance_tensor(instance, 0, &tensor));
	CHECK(tensor.shape[1] == 37 && tensor.bytes == tensor.shape[0] * 37 * WIDTH * 4);
	FAILS(skrt_instance_tensor(instance, 4, &tensor), SKRT_INVALID_ARGUMENT, "no bound tensor number 4");
}

static void test_errors(void)
{
	const uint64_t small[] = {2, 37, WIDTH}, large[] = {3, 37, WIDTH}, beyond[] = {2, 513, WIDTH},
		       other[] = {2, 37, 65};
	struct skrt_tensor tensor = {.size = sizeof(tensor)};

	FAILS(skrt_instance_set_dimension(instance, "seq", 513), SKRT_INVALID_ARGUMENT, "seq is 513; package '");
	FAILS(skrt_instance_set_dimension(instance, "seq", 0), SKRT_INVALID_ARGUMENT, "' takes 1..512");
	FAILS(skrt_instance_set_dimension(instance, "width", 1), SKRT_NOT_FOUND,
	      "no dimension 'width'; it has batch, seq");
	FAILS(skrt_instance_bind_array(instance, "x", SKRT_F32, 3, beyond, x), SKRT_INVALID_ARGUMENT, "seq is 513");
	FAILS(skrt_instance_bind_array(instance, "x", SKRT_F32, 3, other, x), SKRT_INVALID_ARGUMENT,
	      "tensor 'x' has the shape [batch, seq, 64], bound is [2, 37, 65]");
	FAILS(skrt_instance_bind_array(instance, "x", SKRT_F32, 2, small, x), SKRT_INVALID_ARGUMENT, "has the shape");
	FAILS(skrt_instance_bind_array(instance, "x", SKRT_I32, 3, small, x), SKRT_INVALID_ARGUMENT, "of type f32");
	bind_shape(2, 37);
	GOOD(skrt_instance_bind_array(instance, "x", SKRT_F32, 3, large, x));
	FAILS(skrt_run_network(stream, instance), SKRT_INVALID_ARGUMENT,
	      "tensor 'y' is bound as [2, 37, 64], but batch is 3 by tensor 'x'");
	FAILS(skrt_instance_bind_array(instance, "x", SKRT_F32, 3, small, NULL), SKRT_INVALID_ARGUMENT, "null pointer");
	GOOD(skrt_instance_tensor(instance, 0, &tensor));
	CHECK(tensor.shape[0] == 3);
	GOOD(skrt_instance_set_dimension(instance, "batch", 2));
	FAILS(skrt_run_network(stream, instance), SKRT_INVALID_ARGUMENT,
	      "tensor 'x' is bound as [3, 37, 64], but batch is 2");
	bind_shape(2, 37);
	run(2 * 37);
}

/* Memory of the largest sizes can be bound once; memory of smaller ones is refused at the launch. */
static void test_bytes(void)
{
	GOOD(skrt_instance_set_dimension(instance, "batch", 1));
	GOOD(skrt_instance_set_dimension(instance, "seq", 3));
	GOOD(skrt_instance_bind(instance, 0, x, MOST * sizeof(float)));
	GOOD(skrt_instance_bind(instance, 3, y, 5 * WIDTH * sizeof(float)));
	run(3);
	GOOD(skrt_instance_set_dimension(instance, "seq", 5));
	run(5);
	GOOD(skrt_instance_set_dimension(instance, "seq", 6));
	FAILS(skrt_run_network(stream, instance), SKRT_INVALID_ARGUMENT,
	      "tensor 'y' has 1536 bytes at the sizes of the instance, bound are 1280");
	FAILS(skrt_instance_bind(instance, 3, y, 1280), SKRT_INVALID_ARGUMENT, "bound are 1280");
	FAILS(skrt_instance_bind(instance, 1, w, WIDTH * WIDTH * 4 - 4), SKRT_INVALID_ARGUMENT, "bound are 16380");
	GOOD(skrt_instance_bind(instance, 3, y, MOST * sizeof(float)));
	run(6);
}

/* Sizes are shown by the arrays that are bound now, and by nothing else. */
static void test_extents(void)
{
	struct skrt_extent extent = {.size = sizeof(extent)};

	bind_shape(2, 37);
	for (uint32_t i = 0; i < 2; i++) {
		GOOD(skrt_instance_dimension(instance, i, &extent));
		CHECK(extent.size == sizeof(extent) && extent.present == (i ? 37 : 2) && extent.is_shown &&
		      (extent.tensor == 0 || extent.tensor == 3));
	}
	GOOD(skrt_instance_set_dimension(instance, "seq", 37));
	GOOD(skrt_instance_dimension(instance, 1, &extent));
	CHECK(extent.present == 37 && !extent.is_shown && extent.tensor == 0);
	GOOD(skrt_instance_bind(instance, 3, y, MOST * sizeof(float)));
	GOOD(skrt_instance_bind(instance, 0, x, MOST * sizeof(float)));
	GOOD(skrt_instance_dimension(instance, 0, &extent));
	CHECK(extent.present == 2 && !extent.is_shown);
	FAILS(skrt_instance_dimension(instance, 2, &extent), SKRT_INVALID_ARGUMENT, "no dimension number 2");
	extent.size = 0;
	FAILS(skrt_instance_dimension(instance, 0, &extent), SKRT_INVALID_ARGUMENT, "struct skrt_extent");
	bind_shape(2, 37);
}

/* A message names the tensor that has set a size, and only while it is bound as an array. */
static void test_setters(const char *path)
{
	struct skrt_module *pairs;
	struct skrt_instance *own;
	struct skrt_extent extent = {.size = sizeof(extent)};
	static const char *const names[] = {"t", "u", "r"};

	GOOD(skrt_module_load(device, path, &pairs));
	GOOD(skrt_instance_create(pairs, &own));
	GOOD(skrt_instance_bind_array(own, "t", SKRT_F32, 1, (uint64_t[]){80}, x)); /* the usual size, but shown */
	GOOD(skrt_instance_dimension(own, 0, &extent));
	CHECK(extent.present == 40 && extent.is_shown && extent.tensor == 0);
	GOOD(skrt_instance_dimension(own, 1, &extent));
	CHECK(extent.present == 64 && !extent.is_shown);
	for (int i = 0; i < 3; i++)
		GOOD(skrt_instance_bind_array(own, names[i], SKRT_F32, 1, (uint64_t[]){i ? 7 : 10}, x + 64 * i));
	for (int i = 0; i < 3; i++)
		GOOD(skrt_instance_bind_array(own, (const char *[]){"t2", "u2", "r2"}[i], SKRT_F32, 1,
					      (uint64_t[]){i ? 7 : 14}, y + 64 * i));
	FAILS(skrt_run_network(stream, own), SKRT_INVALID_ARGUMENT,
	      "tensor 't' is bound as [10], but 2*rows is 14 by tensor 'r2'");
	GOOD(skrt_instance_set_dimension(own, "rows", 7));
	CHECK(skrt_run_network(stream, own) == SKRT_INVALID_ARGUMENT && !strstr(skrt_error(), " by tensor "));
	GOOD(skrt_instance_bind_array(own, "r", SKRT_F32, 1, (uint64_t[]){6}, x + 128));
	GOOD(skrt_instance_bind(own, 2, x + 128, 64 * sizeof(*x)));
	CHECK(skrt_run_network(stream, own) == SKRT_INVALID_ARGUMENT && !strstr(skrt_error(), " by tensor "));
	GOOD(skrt_instance_destroy(own));
	GOOD(skrt_module_unload(pairs));
}

/* A shape shows no size if several sizes have it: the larger of two, or half of one. */
static void test_shown(const char *path)
{
	static const char *const names[] = {"longer", "half", "longer2", "half2", "table2"};
	struct skrt_module *shown;
	struct skrt_instance *own;

	GOOD(skrt_module_load(device, path, &shown));
	for (uint64_t rows = 1; rows <= 6; rows++)
		for (uint64_t width = 1; width <= 9; width++) {
			const uint64_t larger = rows > width ? rows : width, half = width / 2 + 1;
			const uint64_t extents[] = {larger, half, larger, half, rows * width};

			GOOD(skrt_instance_create(shown, &own));
			struct skrt_extent extent = {.size = sizeof(extent)};

			for (int i = 0; i < 5; i++)
				GOOD(skrt_instance_bind_array(own, names[i], SKRT_F32, 1, &extents[i],
							      (i < 2 ? x : y) + 64 * i));
			GOOD(skrt_instance_dimension(own, 0, &extent));
			CHECK(!extent.is_shown);
			GOOD(skrt_instance_bind_array(own, "table", SKRT_F32, 2, (uint64_t[]){rows, width}, x + 128));
			GOOD(skrt_run_network(stream, own));
			GOOD(skrt_instance_bind_array(own, "half", SKRT_F32, 1, (uint64_t[]){half == 3 ? 4 : 3}, x));
			FAILS(skrt_run_network(stream, own), SKRT_INVALID_ARGUMENT, "floor(width/2)");
			GOOD(skrt_instance_destroy(own));
		}
	GOOD(skrt_module_unload(shown));
}

static _Atomic int changes; /* -1: enough */

static void *change_sizes(void *unused)
{
	for (int i = 1; atomic_load(&changes) >= 0; i++) {
		int before = i - 1;

		GOOD(skrt_instance_set_dimension(instance, "seq", i % 2 ? MOST_SEQ : 1));
		atomic_compare_exchange_strong(&changes, &before, i);
	}
	return unused;
}

/* Descriptions are of one size while another thread changes it. */
static void test_threads(void)
{
	struct skrt_tensor tensor = {.size = sizeof(tensor)};
	pthread_t thread;

	CHECK(!pthread_create(&thread, NULL, change_sizes, NULL));
	while (atomic_load(&changes) < 2000000) {
		GOOD(skrt_instance_tensor(instance, 0, &tensor));
		CHECK(tensor.bytes == tensor.shape[0] * tensor.shape[1] * WIDTH * 4);
	}
	atomic_store(&changes, -1);
	CHECK(!pthread_join(thread, NULL));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
static size_t memory_size(void)
{
	size_t pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	CHECK(file && fscanf(file, "%zu", &pages) == 1);
	fclose(file);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Without memory for guarded tensors of other sizes the launch fails, and the next one makes them. */
static void test_guard(const char *path)
{
	struct skrt_device_options options = {.size = sizeof(options), .checks = SKRT_GUARD};
	struct skrt_device *checked;
	struct skrt_module *own;
	struct skrt_stream *queue;
	struct rlimit before, few;

	GOOD(skrt_device_open(&options, &checked));
	GOOD(skrt_module_load(checked, path, &own));
	GOOD(skrt_stream_create(checked, &queue));
	GOOD(skrt_instance_create(own, &instance));
	bind_shape(2, 37);
	GOOD(skrt_instance_bind(instance, 1, w, WIDTH * WIDTH * sizeof(*w)));
	GOOD(skrt_instance_bind(instance, 2, b, WIDTH * sizeof(*b)));
	GOOD(skrt_run_network(queue, instance));
	bind_shape(8, 512);
	getrlimit(RLIMIT_AS, &before);
	few = (struct rlimit){memory_size() + (2 << 20), before.rlim_max};
	setrlimit(RLIMIT_AS, &few);
	FAILS(skrt_run_network(queue, instance), SKRT_OUT_OF_MEMORY, "guarded tensors");
	FAILS(skrt_run_network(queue, instance), SKRT_OUT_OF_MEMORY, "guarded tensors");
	setrlimit(RLIMIT_AS, &before);
	clear();
	GOOD(skrt_run_network(queue, instance));
	expect_result(8 * 512);
}
#else
static size_t memory_size(void)
{
	return 0;
}

static void test_guard(const char *path)
{
	(void)path;
}
#endif

static _Atomic bool released;

static void wait_for_release(void *context, enum skrt_status status)
{
	(void)context;
	(void)status;
	while (!atomic_load(&released))
		;
}

static void test_busy(void)
{
	const uint64_t shape[] = {2, 37, WIDTH};

	GOOD(skrt_stream_call(stream, wait_for_release, NULL));
	GOOD(skrt_launch_network(stream, instance));
	FAILS(skrt_instance_set_dimension(instance, "seq", 6), SKRT_BUSY, "launches pending");
	FAILS(skrt_instance_bind_array(instance, "x", SKRT_F32, 3, shape, x), SKRT_BUSY, "launches pending");
	atomic_store(&released, true);
	GOOD(skrt_synchronise(stream));
}

static void test_sizes(void)
{
	size_t memory = 0;

	srand(1);
	for (int i = 0; i < SIZES; i++) {
		uint64_t batch = 1 + (uint64_t)rand() % MOST_BATCH, seq = 1 + (uint64_t)rand() % 100;
		const struct skrt_kernel *kernel;

		memory = i == ALL_WAYS ? memory_size() : memory;
		if (i < 4) {
			batch = i & 1 ? MOST_BATCH : 1;
			seq = i & 2 ? MOST_SEQ : 1;
		}
		bind_shape(batch, seq);
		run(batch * seq);
		if (i >= ALL_WAYS)
			continue;
		clear();
		GOOD(skrt_module_kernel(module, 0, &kernel));
		GOOD(skrt_run_serial(instance, kernel));
		expect_result(batch * seq);
		clear();
		for (uint32_t task = 0; task < skrt_module_task_count(module); task++) {
			GOOD(skrt_module_task(module, task, &kernel));
			GOOD(skrt_launch(stream, instance, kernel));
		}
		GOOD(skrt_synchronise(stream));
		expect_result(batch * seq);
	}
	CHECK(memory_size() <= memory + MOST_GROWTH); /* other sizes take no more of it */
}

/* The serial entry of a package that the system's loader has mapped. */
static void test_serial_entry(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	int (*entry)(void *const *tensors, void *workspace) = library ? dlsym(library, "sk_s_serial") : NULL;
	const struct sk_plan *plan = library ? dlsym(library, "sk_plan") : NULL;
	const struct sk_dims *section = library ? dlsym(library, "sk_dims") : NULL;
	struct sk_plan_view view;
	struct sk_dims_view dims;
	char error[256];

	CHECK(entry && plan && section);
	CHECK(sk_plan_open(plan, plan->size, &view, error, sizeof(error)));
	CHECK(sk_dims_open(section, section->size, &view, &dims, error, sizeof(error)));
	void **tensors = calloc(view.binding_count + dims.slot_count, sizeof(*tensors));
	uint64_t *values = calloc(dims.value_count, sizeof(*values));
	void *workspace = allocate((view.plan->workspace_size + (1 << 20)) / sizeof(float));

	memcpy(tensors, (void *[]){x, w, b, y}, 4 * sizeof(*tensors));
	for (uint64_t batch = 1; batch <= MOST_BATCH; batch += 3)
		for (uint64_t seq = 1; seq <= MOST_SEQ; seq += 73) {
			clear();
			sk_dims_evaluate(&dims, (uint64_t[]){batch, seq}, values);
			for (uint32_t i = 0; i < dims.slot_count; i++)
				tensors[view.binding_count + i] = (void *)(uintptr_t)values[dims.slots[i].value];
			CHECK(entry(tensors, workspace) == 0);
			expect_result(batch * seq);
		}
	GOOD(skrt_free(device, workspace));
	sk_dims_close(&dims);
	sk_plan_close(&view);
	free(values);
	free(tensors);
}

int main(int argc, char **argv)
{
	struct skrt_device_options options = {.size = sizeof(options)};

	if (argc != 5)
		return 2;
	options.cores = (uint32_t)atoi(argv[2]);
	GOOD(skrt_device_open(&options, &device));
	GOOD(skrt_module_load(device, argv[1], &module));
	GOOD(skrt_instance_create(module, &instance));
	GOOD(skrt_stream_create(device, &stream));
	x = allocate(MOST), y = allocate(MOST), t = allocate(MOST), wanted = allocate(MOST);
	w = allocate(WIDTH * WIDTH), b = allocate(WIDTH);
	for (int i = 0; i < MOST; i++)
		x[i] = (float)(i * 7 % 1000) / 500 - 1;
	for (int i = 0; i < WIDTH * WIDTH; i++)
		w[i] = (float)(i * 13 % 100) / 100;
	for (int i = 0; i < WIDTH; i++)
		b[i] = (float)i;
	test_descriptions();
	GOOD(skrt_instance_bind(instance, 1, w, WIDTH * WIDTH * sizeof(*w)));
	GOOD(skrt_instance_bind(instance, 2, b, WIDTH * sizeof(*b)));
	test_errors();
	test_extents();
	test_bytes();
	test_busy();
	test_sizes();
	test_setters(argv[3]);
	test_shown(argv[4]);
	test_threads();
	test_serial_entry(argv[1]);
	test_guard(argv[1]);
	return 0;
}
