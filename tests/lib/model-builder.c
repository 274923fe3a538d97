/* The builder for tests/lib/model-builder.h. It leaves the same as sk_model_bind: indices, arguments, extents, lanes.
 * */
#include "tests/lib/model-builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "format/profile/profile.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "format/skrows.h"
#include "linker/linker.h"
#include "src/bind/bind-parts.h"
#include "src/model/model.h"

static const struct sk_profile profiles[] = {
	{.name = "host", .lane_count = 1, .lanes = {{.name = "core", .cores = 2, .blocks = 8}}},
	{.name = "a3",
	 .lane_count = 2,
	 .lanes = {{.name = "cube", .cores = 24, .blocks = 24}, {.name = "vector", .cores = 48, .blocks = 48}}},
};

static void require(bool condition, const char *what, const char *name)
{
	if (condition)
		return;
	fprintf(stderr, "tests/lib/model-builder: %s: %s\n", name, what);
	abort();
}

struct test_model *test_model_create(uint32_t lanes)
{
	struct sk_arena *arena = sk_arena_create();
	struct test_model *test = SK_NEW(arena, struct test_model);
	struct sk_model *model = &test->model;

	require(lanes == 1 || lanes == 2, "a device has one lane or two", "test_model_create");
	test->arena = arena;
	sk_diag_init(&test->diag, arena);
	model->arena = arena;
	model->diag = &test->diag;
	model->manifest = "test.yaml";
	model->directory = ".";
	model->device = &profiles[lanes - 1];
	struct sk_map *maps[] = {&model->tensor_names, &model->declared_names, &model->kernel_names,
				 &model->task_names,   &model->scope_names,    &model->event_names};

	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++)
		sk_map_init(maps[i], arena);
	return test;
}

void test_model_destroy(struct test_model *test)
{
	sk_arena_destroy(test->arena);
}

/* Copy a name, insert it into the map and check that it is new. */
static const char *new_name(struct test_model *test, struct sk_map *map, const char *name, size_t number)
{
	const char *copy = sk_arena_copy(test->arena, name, strlen(name));

	require(sk_map_insert(map, copy, strlen(copy), (uint32_t)number) == number, "the name is taken", name);
	return copy;
}

/* Places count up like the lines of a manifest with one item a line. */
static struct sk_place place_of(const struct test_model *test)
{
	uint32_t line = (uint32_t)(test->model.tensors.count + test->model.tasks.count + 1);

	return (struct sk_place){.file = test->model.manifest, .line = line, .column = 3};
}

uint32_t test_add_tensor(struct test_model *test, const char *name, enum sk_dtype dtype, const uint64_t *shape,
			 uint32_t rank)
{
	struct sk_model *model = &test->model;
	struct sk_tensor tensor = {
		.place = place_of(test),
		.dtype = dtype,
		.rank = rank,
		.elements = 1,
		.view_of = SK_NONE,
		.binding = SK_NONE,
	};

	require(rank >= 1 && rank <= SK_MAX_RANK, "the rank is out of range", name);
	for (uint32_t i = 0; i < rank; i++) {
		tensor.shape[i] = shape[i];
		tensor.elements *= shape[i];
	}
	tensor.bytes = tensor.elements * sk_dtype_size(dtype);
	tensor.name = new_name(test, &model->tensor_names, name, model->tensors.count);
	sk_array_push(test->arena, &model->tensors, tensor);
	return (uint32_t)model->tensors.count - 1;
}

/* One kernel for each set of attributes, named after them. */
static uint32_t kernel_for(struct test_model *test, const struct test_spread *spread)
{
	static const char *const kinds[] = {"plain", "blocks", "blocks_range", "split"};
	static const char *const mixes[] = {"", "_mix11", "_mix12"};
	struct sk_model *model = &test->model;
	static const char *const starts[] = {"", "_wait", "_set", "_both"};
	uint32_t start = spread->early / SK_STEP_EARLY_WAIT;
	char name[80];

	snprintf(name, sizeof(name), "%s%s%s%s%s%s%s%s_%u", kinds[spread->kind],
		 spread->elementwise ? "_elementwise" : "", spread->unfusible ? "_unfusible" : "",
		 spread->nontemporal ? "_nontemporal" : "", spread->status ? "_status" : "",
		 spread->sync_all ? "_sync" : "", mixes[spread->mix_ratio], starts[start], spread->lane);
	uint32_t found = sk_map_find(&model->kernel_names, name, strlen(name));

	if (found != SK_NONE)
		return found;

	struct sk_signature *signature = SK_NEW(test->arena, struct sk_signature);

	signature->lane = model->device->lane_count == 1 ? SK_LANE_ANY : SK_LANE_CUBE + spread->lane;
	if (spread->mix_ratio)
		signature->lane = SK_LANE_MIX;
	signature->mix_ratio = spread->mix_ratio;
	signature->sync_all = spread->sync_all;
	signature->spread = spread->kind;
	signature->spread_extent = spread->extent ? 0 : SK_NONE;
	signature->elementwise = spread->elementwise;
	signature->unfusible = spread->unfusible;
	signature->nontemporal = spread->nontemporal;
	signature->returns_status = spread->status;
	signature->early_wait = spread->early & SK_STEP_EARLY_WAIT;
	signature->early_set = spread->early & SK_STEP_EARLY_SET;
	signature->extents = SK_NEW(test->arena, const char *);
	signature->extents[0] = "n";
	signature->extent_count = 1;

	struct sk_kernel kernel = {.place = place_of(test), .object_name = "test.o", .signature = signature};

	kernel.code = (sk_symbol)model->kernels.count;
	kernel.vector_code = spread->mix_ratio ? kernel.code : SK_NONE;
	kernel.name = new_name(test, &model->kernel_names, name, model->kernels.count);
	kernel.symbol = kernel.name;
	signature->text = kernel.name;
	sk_array_push(test->arena, &model->kernels, kernel);
	return (uint32_t)model->kernels.count - 1;
}

static struct sk_argument bind(struct test_model *test, const struct test_spread *spread,
			       const struct test_access *access)
{
	struct sk_argument argument = {.kind = access->kind, .access = access->access, .tensor = SK_NONE};

	if (!access->tensor) {
		argument.dtype = access->kind == SK_ARGUMENT_VALUE ? SK_I64 : SK_DTYPE_NONE;
		argument.size = access->size;
		argument.value = access->value;
		return argument;
	}
	uint32_t number = sk_map_find(&test->model.tensor_names, access->tensor, strlen(access->tensor));

	require(number != SK_NONE, "no such tensor", access->tensor);
	const struct sk_tensor *tensor = &test->model.tensors.items[number];

	argument.tensor = number;
	argument.dtype = tensor->dtype;
	argument.offset = access->offset;
	if (access->kind == SK_ARGUMENT_LOAD)
		argument.size = sk_dtype_size(tensor->dtype);
	else
		argument.size = access->size ? access->size : tensor->bytes - access->offset;
	require(argument.offset + argument.size <= tensor->bytes, "the range leaves the tensor", access->tensor);
	if (access->rows.count > 1) {
		struct sk_plan_pattern *pattern = SK_NEW(test->arena, struct sk_plan_pattern);

		pattern->width = access->rows.width;
		pattern->stride = access->rows.stride;
		pattern->count = access->rows.count;
		argument.pattern = pattern;
		require(!spread->extent || access->rows.count % spread->extent == 0,
			"the extent does not divide the rows", access->tensor);
		if (spread->extent && !access->undivided)
			argument.element_bytes = access->rows.count / spread->extent * access->rows.stride;
	} else if (access->kind == SK_ARGUMENT_POINTER && spread->extent && !access->undivided) {
		require(argument.size % spread->extent == 0, "the extent does not divide the tensor", access->tensor);
		argument.element_bytes = argument.size / spread->extent;
		if (spread->elementwise)
			require(argument.element_bytes == sk_dtype_size(tensor->dtype), "is not elementwise",
				access->tensor);
	}
	return argument;
}

static uint32_t scope_for(struct test_model *test, const char *name, size_t length)
{
	struct sk_model *model = &test->model;
	uint32_t found = sk_map_find(&model->scope_names, name, length);

	if (found != SK_NONE)
		return found;

	struct sk_scope scope = {.place = place_of(test), .launch = {.no_tile_fusion = !test->tile_fusion}};

	scope.name = new_name(test, &model->scope_names, sk_arena_copy(test->arena, name, length), model->scopes.count);
	sk_array_push(test->arena, &model->scopes, scope);
	return (uint32_t)model->scopes.count - 1;
}

static void add_scopes(struct test_model *test, struct sk_task *task, const char *scopes)
{
	while (*scopes) {
		size_t length = strcspn(scopes, " ");
		uint32_t scope = scope_for(test, scopes, length);
		size_t place = task->said.scopes.count;

		sk_array_push(test->arena, &task->said.scopes, scope);
		for (; place > 0 && task->said.scopes.items[place - 1] > scope; place--)
			task->said.scopes.items[place] = task->said.scopes.items[place - 1];
		task->said.scopes.items[place] = scope;
		scopes += length + strspn(scopes + length, " ");
	}
}

uint32_t test_add_task(struct test_model *test, const char *name, struct test_spread spread, uint32_t stream,
		       const char *scope, const struct test_access *accesses, uint32_t access_count)
{
	struct sk_model *model = &test->model;
	struct sk_task task = {.place = place_of(test), .said.stream = stream};

	require(spread.lane < model->device->lane_count, "the device has no such lane", name);
	task.bound.kernel = kernel_for(test, &spread);
	task.said.kernel_name = (struct sk_named){model->kernels.items[task.bound.kernel].name, sk_spot_of(task.place)};
	task.bound.arguments = SK_NEW_ARRAY(test->arena, struct sk_argument, access_count);
	task.bound.argument_count = access_count;
	for (uint32_t i = 0; i < access_count; i++) {
		task.bound.arguments[i] = bind(test, &spread, &accesses[i]);
		if (accesses[i].kind != SK_ARGUMENT_SCRATCH)
			continue;
		task.bound.arguments[i].offset = task.bound.scratch_size;
		task.bound.scratch_size += (accesses[i].size + 63) / 64 * 64;
	}
	task.bound.extent = spread.extent;
	task.bound.block_count = spread.blocks;
	task.bound.lane = spread.mix_ratio ? 0 : spread.lane;
	if (scope)
		add_scopes(test, &task, scope);
	task.name = new_name(test, &model->task_names, name, model->tasks.count);
	sk_array_push(test->arena, &model->tasks, task);
	return (uint32_t)model->tasks.count - 1;
}

void never_fuse(struct test_model *test, uint32_t task)
{
	test->model.tasks.items[task].said.never_fuse = true;
	test->model.tasks.items[task].said.scopes.count = 0;
}

void run_once(struct test_model *test, uint32_t task)
{
	test->model.tasks.items[task].said.once = true;
}

void fuse_streams(struct test_model *test, const char *scope)
{
	uint32_t number = scope_for(test, scope, strlen(scope));

	test->model.scopes.items[number].stream_fusion = true;
}

void feed_sync_all(struct test_model *test, const char *scope)
{
	uint32_t number = scope_for(test, scope, strlen(scope));

	test->model.scopes.items[number].feeds_sync_all = true;
}

void split_at_sync_all(struct test_model *test)
{
	struct sk_profile *device = SK_NEW(test->arena, struct sk_profile);

	*device = *test->model.device;
	device->sync_all_split = true;
	test->model.device = device;
}

void check_strictly(struct test_model *test, const char *scope, enum sk_strict_check strict)
{
	uint32_t number = scope_for(test, scope, strlen(scope));

	test->model.scopes.items[number].strict = strict;
}

void add_after(struct test_model *test, uint32_t later, uint32_t earlier)
{
	require(earlier < later, "after must name an earlier task", test->model.tasks.items[later].name);
	sk_array_push(test->arena, &test->model.tasks.items[later].said.after, earlier);
}

void add_event(struct test_model *test, uint32_t recording, uint32_t waiting)
{
	struct sk_model *model = &test->model;
	uint32_t event = (uint32_t)model->events.count;

	require(recording < waiting, "an event must be recorded by an earlier task", model->tasks.items[waiting].name);
	sk_array_push(test->arena, &model->events, (struct sk_event){sk_arena_print(test->arena, "event%u", event)});
	sk_array_push(test->arena, &model->tasks.items[recording].said.record, event);
	sk_array_push(test->arena, &model->tasks.items[waiting].said.wait, event);
}

static bool touch(const struct sk_argument *a, const struct sk_argument *b)
{
	struct sk_rows one = sk_argument_rows(a), other = sk_argument_rows(b);

	return ((a->access | b->access) & SK_ACCESS_WRITE) && a->tensor == b->tensor && sk_rows_overlap(&one, &other);
}

bool tasks_depend(const struct sk_task *tasks, uint32_t earlier, uint32_t later)
{
	const struct sk_task *a = &tasks[earlier], *b = &tasks[later];

	if (a->said.stream == b->said.stream)
		return true;
	for (uint32_t i = 0; i < a->bound.argument_count; i++)
		for (uint32_t k = 0; k < b->bound.argument_count; k++)
			if (touch(&a->bound.arguments[i], &b->bound.arguments[k]))
				return true;
	for (size_t i = 0; i < b->said.after.count; i++)
		if (b->said.after.items[i] == earlier)
			return true;
	for (size_t i = 0; i < a->said.record.count; i++)
		for (size_t k = 0; k < b->said.wait.count; k++)
			if (a->said.record.items[i] == b->said.wait.items[k])
				return true;
	return false;
}

void test_model_finish(struct test_model *test)
{
	struct sk_model *model = &test->model;
	bool *read = SK_NEW_ARRAY(test->arena, bool, model->tensors.count);
	bool *read_first = SK_NEW_ARRAY(test->arena, bool, model->tensors.count);
	bool *written = SK_NEW_ARRAY(test->arena, bool, model->tensors.count);

	for (size_t t = 0; t < model->tasks.count; t++) {
		const struct sk_task *task = &model->tasks.items[t];

		for (uint32_t a = 0; a < task->bound.argument_count; a++) {
			uint32_t tensor = task->bound.arguments[a].tensor;

			if (tensor == SK_NONE || !(task->bound.arguments[a].access & SK_ACCESS_READ))
				continue;
			read[tensor] = true;
		}
		for (uint32_t a = 0; a < task->bound.argument_count; a++)
			if (task->bound.arguments[a].tensor != SK_NONE &&
			    task->bound.arguments[a].access & SK_ACCESS_WRITE)
				written[task->bound.arguments[a].tensor] = true;
	}

	const struct sk_gaps gaps = sk_gaps_find(model);

	for (size_t i = 0; i < gaps.reads.count; i++)
		read_first[gaps.reads.items[i].tensor] = true;
	for (size_t i = 0; i < model->tensors.count; i++) {
		struct sk_tensor *tensor = &model->tensors.items[i];

		if (tensor->role == SK_ROLE_NONE && written[i])
			tensor->role = read_first[i] ? SK_ROLE_INOUT : read[i] ? SK_ROLE_TEMPORARY : SK_ROLE_OUTPUT;
		else if (tensor->role == SK_ROLE_NONE && read[i])
			tensor->role = SK_ROLE_INPUT;
		bool bound = tensor->role == SK_ROLE_INPUT || tensor->role == SK_ROLE_OUTPUT ||
			     tensor->role == SK_ROLE_INOUT;

		if (bound && tensor->binding == SK_NONE)
			tensor->binding = model->binding_count++;
	}
}
