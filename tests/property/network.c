/* See network.h. The passes, in order: sizes, streams and scopes; tasks, one after another, with tensors and views made
 * on the way; tasks that are not wanted; roles. */
#include "tests/property/network.h"

#include <stdlib.h>
#include <string.h>

enum { SIZES = 2, SCOPE_SETS = 1 << NETWORK_SCOPES, STREAMS = 6, MOST_ELEMENTS = 4096 };

const struct network_option network_options[] = {
	{"stream-fusion", {"0", "1"}, 90, false},
	{"strict-scope-check", {"bypass"}, 8, false},
	{"func-align", {"0", "16", "512"}, 10, false},
	{"preload-code", {"none", "per-func", "max"}, 15, false},
	{"split-mode", {"1", "2", "3"}, 10, false},
	{"debug-sync-all", {"0", "1"}, 12, false},
	{"debug-dcci-all", {"0", "1"}, 8, false},
	{"dcci-before-kernel-start", {"KERNEL"}, 8, false},
	{"dcci-after-kernel-end", {"KERNEL"}, 8, false},
	{"dcci-disable-on-kernel", {"KERNEL"}, 5, false},
	{"debug-aic-num", {"0", "1", "3", "24"}, 8, true},
	{"debug-aiv-num", {"0", "1", "4", "48"}, 8, false},
	{"compile-options", {"-g"}, 5, false},
	{"early-start", {"0", "1", "2"}, 25, false},
	{"feed-sync-all", {"0", "1"}, 25, false},
	{NULL, {NULL}, 0, false},
};

struct generator {
	struct network *network;
	uint64_t random;
	struct sizes {
		uint64_t r, w, k;
	} sizes[SIZES];
	enum sk_dtype dtypes[2];
	uint32_t streams, tensor_limit;
	bool stateful; /* many kernels keep something from call to call */
	bool fresh; /* nearly every task writes new tensors, as real networks do */
	uint32_t set_streams[SCOPE_SETS][2]; /* the streams of a set of scopes that takes two */
	uint32_t set_stream_count[SCOPE_SETS];
	uint32_t touched[NETWORK_TENSORS]; /* roots: the last task that wrote it, + 1 */
	bool inherited[NETWORK_TENSORS]; /* roots: it was read before it was written */
};

uint32_t network_draw(uint64_t *state, uint32_t limit)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	z ^= z >> 31;
	return (uint32_t)((z >> 32) * limit >> 32);
}

static uint32_t draw(struct generator *generator, uint32_t limit)
{
	return network_draw(&generator->random, limit);
}

/* True that many times out of a hundred. */
static bool chance(struct generator *generator, uint32_t percent)
{
	return draw(generator, 100) < percent;
}

/* ---- tensors ---- */

static bool overlap(const struct network *network, uint32_t one, uint32_t other)
{
	const struct network_tensor *a = &network->tensors[one], *b = &network->tensors[other];

	return a->root == b->root && a->start < b->start + b->elements && b->start < a->start + a->elements;
}

static bool same_bytes(const struct network *network, uint32_t one, uint32_t other)
{
	const struct network_tensor *a = &network->tensors[one], *b = &network->tensors[other];

	return a->root == b->root && a->start == b->start && a->elements == b->elements;
}

static uint32_t add_tensor(struct generator *generator, struct network_tensor tensor)
{
	struct network *network = generator->network;
	uint32_t number = network->tensor_count;

	if (number == NETWORK_TENSORS)
		return NETWORK_NONE;
	tensor.elements = 1;
	for (uint32_t d = 0; d < tensor.rank; d++)
		tensor.elements *= tensor.shape[d];
	if (tensor.view_of == NETWORK_NONE)
		tensor.root = number;
	network->tensors[number] = tensor;
	network->tensor_count++;
	return number;
}

/* What a parameter wants of its tensor. */
struct want {
	enum sk_dtype dtype;
	uint64_t elements;
	uint64_t last; /* the last extent; 0: any */
};

static bool fits(const struct network_tensor *tensor, const struct want *want)
{
	return tensor->dtype == want->dtype && tensor->elements == want->elements &&
	       (!want->last || (tensor->rank > 1 && tensor->shape[tensor->rank - 1] == want->last));
}

/* The smallest divisor above 1, or the number itself. */
static uint64_t divisor_of(uint64_t number)
{
	for (uint64_t i = 2; i * i <= number; i++)
		if (number % i == 0)
			return i;
	return number;
}

static void push_extent(struct network_tensor *tensor, uint64_t extent)
{
	tensor->shape[tensor->rank++] = extent;
}

static uint32_t new_root(struct generator *generator, const struct want *want, bool exact)
{
	struct network_tensor root = {.dtype = want->dtype,
				      .view_of = NETWORK_NONE,
				      .prefers_constant = chance(generator, 30),
				      .prefers_output = chance(generator, generator->fresh ? 10 : 35),
				      .silent = chance(generator, 50)};
	uint64_t rows = want->last ? want->elements / want->last : want->elements;

	if (!exact)
		push_extent(&root, 1 + draw(generator, 3));
	if (chance(generator, 30)) {
		push_extent(&root, divisor_of(rows));
		rows /= divisor_of(rows);
	}
	push_extent(&root, rows + (exact ? 0 : draw(generator, (uint32_t)rows + 1)));
	if (want->last)
		push_extent(&root, want->last);
	return add_tensor(generator, root);
}

/* A part of the base in which the dimensions in front of `dimension` are one element thick; NETWORK_NONE if it would
 * not have the wanted size. */
static uint32_t new_part(struct generator *generator, uint32_t base, uint32_t dimension, const struct want *want)
{
	const struct network_tensor *whole = &generator->network->tensors[base];
	struct network_tensor part = {.dtype = whole->dtype, .rank = whole->rank, .root = whole->root, .view_of = base};
	uint64_t behind = 1, stride = whole->elements;

	for (uint32_t d = dimension + 1; d < whole->rank; d++)
		behind *= whole->shape[d];
	if (want->elements % behind || want->elements / behind > whole->shape[dimension])
		return NETWORK_NONE;
	part.start = whole->start;
	for (uint32_t d = 0; d < whole->rank; d++) {
		stride /= whole->shape[d];
		part.shape[d] = d < dimension ? 1 : d == dimension ? want->elements / behind : whole->shape[d];
		part.offset[d] = draw(generator, (uint32_t)(whole->shape[d] - part.shape[d] + 1));
		part.start += part.offset[d] * stride;
	}
	part.elements = want->elements;
	return fits(&part, want) ? add_tensor(generator, part) : NETWORK_NONE;
}

/* A tensor of the wanted size, or such a part of a new one. */
static uint32_t new_tensor(struct generator *generator, const struct want *want)
{
	uint32_t root = chance(generator, 30) ? new_root(generator, want, false) : NETWORK_NONE;

	if (root != NETWORK_NONE) {
		if (fits(&generator->network->tensors[root], want))
			return root;
		for (uint32_t d = 0; d < generator->network->tensors[root].rank; d++) {
			uint32_t part = new_part(generator, root, d, want);

			if (part != NETWORK_NONE)
				return part;
		}
	}
	return new_root(generator, want, true);
}

/* ---- arguments ---- */

/* The arguments of a task that have been chosen, and how they are accessed. */
struct chosen {
	uint32_t tensors[KERNEL_PARAMETERS + KERNEL_SETS];
	unsigned access[KERNEL_PARAMETERS + KERNEL_SETS];
	uint32_t count;
};

/* Whether the tensor may stand beside those that have been chosen; alias: the argument that it may be. */
static bool is_free(const struct generator *generator, const struct chosen *chosen, uint32_t tensor, unsigned access,
		    uint32_t alias)
{
	for (uint32_t i = 0; i < chosen->count; i++) {
		if (!((access | chosen->access[i]) & SK_ACCESS_WRITE) ||
		    !overlap(generator->network, tensor, chosen->tensors[i]))
			continue;
		if (i != alias || !same_bytes(generator->network, tensor, chosen->tensors[i]))
			return false;
	}
	return true;
}

/* Few of the tensors that come from outside shall be written: the network would have no temporaries. */
static bool is_welcome(struct generator *generator, uint32_t tensor, unsigned access)
{
	uint32_t root = generator->network->tensors[tensor].root;

	if (access & SK_ACCESS_WRITE)
		return !generator->inherited[root] || chance(generator, generator->fresh ? 2 : 15);
	return generator->touched[root] || chance(generator, 30);
}

static uint32_t new_view(struct generator *generator, const struct want *want, unsigned access)
{
	for (uint32_t trial = 0; trial < 8 && generator->network->tensor_count; trial++) {
		uint32_t base = draw(generator, generator->network->tensor_count);
		const struct network_tensor *whole = &generator->network->tensors[base];
		uint32_t dimension = draw(generator, whole->rank);

		if (whole->dtype != want->dtype || whole->elements <= want->elements ||
		    !is_welcome(generator, base, access))
			continue;

		uint32_t part = new_part(generator, base, dimension, want);

		if (part != NETWORK_NONE)
			return part;
	}
	return NETWORK_NONE;
}

/* One of those that there are; of two that fit the one that was written last. */
static uint32_t old_tensor(struct generator *generator, const struct chosen *chosen, const struct want *want,
			   unsigned access, uint32_t alias)
{
	const struct network *network = generator->network;
	uint32_t found[2] = {NETWORK_NONE, NETWORK_NONE}, count = 0;

	for (uint32_t i = 0; i < network->tensor_count; i++) {
		if (!fits(&network->tensors[i], want) || !is_free(generator, chosen, i, access, alias) ||
		    !is_welcome(generator, i, access))
			continue;
		count++;
		for (uint32_t j = 0; j < 2; j++)
			if (draw(generator, count) == 0)
				found[j] = i;
	}
	if (found[0] == NETWORK_NONE || found[1] == NETWORK_NONE)
		return found[0] == NETWORK_NONE ? found[1] : found[0];
	return generator->touched[network->tensors[found[0]].root] < generator->touched[network->tensors[found[1]].root]
		       ? found[1]
		       : found[0];
}

static uint32_t choose_tensor(struct generator *generator, struct chosen *chosen, const struct want *want,
			      unsigned access, uint32_t alias)
{
	uint32_t tensor = NETWORK_NONE;
	bool full = generator->network->tensor_count >= generator->tensor_limit;

	if (alias != NETWORK_NONE && chance(generator, 40) &&
	    fits(&generator->network->tensors[chosen->tensors[alias]], want))
		tensor = chosen->tensors[alias];
	else if (full || chance(generator, access & SK_ACCESS_READ ? 85 : generator->fresh ? 10 : 45))
		tensor = old_tensor(generator, chosen, want, access, alias);
	if (tensor == NETWORK_NONE && chance(generator, access & SK_ACCESS_READ ? 60 : 25))
		tensor = new_view(generator, want, access);
	if (tensor != NETWORK_NONE && !is_free(generator, chosen, tensor, access, alias))
		tensor = NETWORK_NONE;
	if (tensor == NETWORK_NONE)
		tensor = new_tensor(generator, want);
	if (tensor != NETWORK_NONE) {
		chosen->tensors[chosen->count] = tensor;
		chosen->access[chosen->count++] = access;
	}
	return tensor;
}

static uint64_t value_of_extent(const struct network_task *task, const char *text)
{
	uint64_t value = *text == 'n'	? task->n
			 : *text == 'r' ? task->r
			 : *text == 'w' ? task->w
			 : *text == 'k' ? task->k
					: 1;

	return !strcmp(text + 1, "*3") ? 3 * value : value;
}

static struct want want_of(const struct network_task *task, const struct kernel_parameter *parameter)
{
	struct want want = {.dtype = parameter->of_words ? SK_U64 : task->dtype, .elements = 1};

	for (uint32_t d = 0; d < parameter->rank; d++)
		want.elements *= value_of_extent(task, parameter->extents[d]);
	if (parameter->rank == 2)
		want.last = value_of_extent(task, parameter->extents[1]);
	return want;
}

/* The name of one of the kernel's extents. */
static char choose_extent(struct generator *generator, const struct kernel *kernel)
{
	const struct kernel_parameter *parameter = &kernel->tensors[draw(generator, kernel->tensor_count)];
	const char *extent = parameter->extents[draw(generator, parameter->rank)];

	return *extent;
}

static bool choose_set(struct generator *generator, struct chosen *chosen, const struct network_task *task,
		       struct network_set *set)
{
	set->kind = (enum set_kind)draw(generator, 3);
	set->number = draw(generator, 1000);
	if (set->kind == SET_EXTENT)
		set->extent = choose_extent(generator, task->kernel);
	if (set->kind == SET_TENSOR)
		set->tensor =
			choose_tensor(generator, chosen, &(struct want){SK_U64, 1, 0}, SK_ACCESS_READ, NETWORK_NONE);
	return set->kind != SET_TENSOR || set->tensor != NETWORK_NONE;
}

/* False if there is no room for more tensors. */
static bool choose_arguments(struct generator *generator, struct network_task *task)
{
	const struct kernel *kernel = task->kernel;
	struct chosen chosen = {.count = 0};

	for (uint32_t i = 0; i < kernel->tensor_count; i++) {
		const struct kernel_parameter *parameter = &kernel->tensors[i];
		struct want want = want_of(task, parameter);

		task->tensors[i] = choose_tensor(generator, &chosen, &want, parameter->access, parameter->alias_of);
		if (task->tensors[i] == NETWORK_NONE)
			return false;
	}
	for (uint32_t i = 0; i < kernel->set_count; i++)
		if (!choose_set(generator, &chosen, task, &task->sets[i]))
			return false;
	return true;
}

/* ---- tasks ---- */

static void choose_kernel(struct generator *generator, struct network_task *task)
{
	static const char *const lanes[] = {"", "", "cube ", "cube ", "vector "};
	const struct kernel *kernels = network_kernels();
	const struct sizes *sizes = &generator->sizes[draw(generator, SIZES)];
	uint32_t count = 0;

	while (kernels[count].function)
		count++;
	bool stateful = generator->stateful && chance(generator, 60);

	do
		task->kernel = &kernels[draw(generator, count)];
	while (stateful && !task->kernel->state);
	task->dtype = generator->dtypes[draw(generator, 2)];
	task->lane = lanes[task->kernel->is_mix ? 0 : draw(generator, 5)];
	task->unfusible = chance(generator, 4);
	task->nontemporal = chance(generator, 5);
	task->r = sizes->r;
	task->w = sizes->w;
	task->k = sizes->k;
	task->n = task->r * task->w;
	if (task->kernel->has_blocks && chance(generator, 60))
		task->blocks = 1 + draw(generator, 12);
}

/* Mostly where the task before is. */
static void choose_scopes(struct generator *generator, struct network_task *task, const struct network_task *before)
{
	uint32_t count = generator->network->scope_count;

	if (before && chance(generator, 75)) {
		task->scopes = before->scopes;
	} else if (count) {
		task->scopes = 1u << draw(generator, count);
		if (chance(generator, 15))
			task->scopes |= 1u << draw(generator, count);
		if (chance(generator, 10))
			task->scopes = 0;
	}
	task->never_fuse = chance(generator, 4);
}

static bool takes_any_stream(const struct network *network, uint32_t scopes)
{
	bool any = scopes == 0;

	for (uint32_t s = 0; s < network->scope_count; s++)
		any |= (scopes >> s & 1) && network->options[s][0] == 2;
	return any;
}

/* A set of scopes without stream fusion takes two streams; few tasks do not care. */
static void choose_stream(struct generator *generator, struct network_task *task)
{
	uint32_t *streams = generator->set_streams[task->scopes], *count = &generator->set_stream_count[task->scopes];

	task->stream = draw(generator, generator->streams);
	if (task->never_fuse || takes_any_stream(generator->network, task->scopes) || chance(generator, 3))
		return;
	for (uint32_t i = 0; i < *count; i++)
		if (streams[i] == task->stream)
			return;
	if (*count < 2)
		streams[(*count)++] = task->stream;
	else
		task->stream = streams[draw(generator, 2)];
}

static void choose_orders(struct generator *generator, struct network_task *task, uint32_t number)
{
	if (number && chance(generator, 12))
		task->after |= 1u << draw(generator, number);
	if (chance(generator, 20))
		task->record = true;
	if (number && chance(generator, 25)) {
		uint32_t other = draw(generator, number);

		if (generator->network->tasks[other].record)
			task->wait |= 1u << other;
	}
}

/* A task reads all its arguments before it writes one. */
static void note_accesses(struct generator *generator, const struct network_task *task, uint32_t number)
{
	for (uint32_t i = 0; i < task->kernel->tensor_count; i++) {
		uint32_t root = generator->network->tensors[task->tensors[i]].root;

		if (task->kernel->tensors[i].access & SK_ACCESS_READ)
			generator->inherited[root] |= !generator->touched[root];
	}
	for (uint32_t i = 0; i < task->kernel->tensor_count; i++)
		if (task->kernel->tensors[i].access & SK_ACCESS_WRITE)
			generator->touched[generator->network->tensors[task->tensors[i]].root] = number + 1;
}

static void add_tasks(struct generator *generator, uint32_t count)
{
	struct network *network = generator->network;

	for (uint32_t i = 0; i < count; i++) {
		struct network_task task = {0};

		choose_kernel(generator, &task);
		choose_scopes(generator, &task, i ? &network->tasks[i - 1] : NULL);
		choose_stream(generator, &task);
		choose_orders(generator, &task, i);
		if (!choose_arguments(generator, &task))
			break;
		note_accesses(generator, &task, i);
		network->tasks[network->task_count++] = task;
	}
}

/* ---- sizes, scopes, streams ---- */

static void choose_sizes(struct generator *generator)
{
	static const uint32_t rows[] = {1, 2, 3, 5, 8, 13, 16, 33, 40, 64},
			      widths[] = {1, 2, 3, 4, 7, 8, 16, 31, 64, 65};
	static const enum sk_dtype dtypes[] = {SK_U8, SK_U32, SK_U64};

	for (uint32_t i = 0; i < SIZES; i++)
		generator->sizes[i] =
			(struct sizes){rows[draw(generator, 10)], widths[draw(generator, 10)], 1 + draw(generator, 9)};
	if (chance(generator, 30)) /* as many elements, in other rows */
		generator->sizes[1] =
			(struct sizes){generator->sizes[0].w, generator->sizes[0].r, generator->sizes[0].k};
	generator->dtypes[0] = dtypes[draw(generator, 3)];
	generator->dtypes[1] = chance(generator, 60) ? generator->dtypes[0] : dtypes[draw(generator, 3)];
}

static void choose_options(struct generator *generator, uint32_t *values)
{
	for (uint32_t i = 0; network_options[i].name; i++) {
		uint32_t count = 0;

		while (network_options[i].values[count])
			count++;
		values[i] = chance(generator, network_options[i].percent) ? 1 + draw(generator, count) : 0;
	}
}

static void choose_queues(struct generator *generator)
{
	static const uint32_t streams[] = {1, 1, 2, 2, 3, STREAMS};
	struct network *network = generator->network;

	generator->streams = streams[draw(generator, 6)];
	generator->fresh = chance(generator, 50);
	generator->stateful = chance(generator, 25);
	generator->tensor_limit = generator->fresh ? NETWORK_TENSORS : 4 + draw(generator, 20);
	network->scope_count = draw(generator, 4) ? 1 + draw(generator, NETWORK_SCOPES) : 0;
	for (uint32_t s = 0; s < network->scope_count; s++)
		choose_options(generator, network->options[s]);
}

/* ---- what the tasks make of the tensors ---- */

/* Of a root: which of its elements have been written. */
struct history {
	bool *defined;
	bool read_last; /* what was written last has been read */
};

static void note_read(struct network *network, struct history *histories, uint32_t tensor, uint32_t task)
{
	const struct network_tensor *view = &network->tensors[tensor];
	struct network_tensor *root = &network->tensors[view->root];
	struct history *history = &histories[view->root];

	root->read = true;
	history->read_last = true;
	for (uint64_t i = view->start; i < view->start + view->elements; i++) {
		if (history->defined[i] || (root->gap_task != NETWORK_NONE && root->gap_task != task))
			continue;
		if (root->gap_task == NETWORK_NONE || i < root->gap)
			root->gap = i;
		root->gap_task = task;
	}
}

static void note_write(struct network *network, struct history *histories, uint32_t tensor)
{
	const struct network_tensor *view = &network->tensors[tensor];
	struct history *history = &histories[view->root];

	network->tensors[view->root].written = true;
	history->read_last = false;
	memset(history->defined + view->start, true, view->elements);
}

/* A task reads all its arguments before it writes one. */
static void note_task(struct network *network, struct history *histories, uint32_t number)
{
	const struct network_task *task = &network->tasks[number];

	for (uint32_t i = 0; i < task->kernel->tensor_count; i++)
		if (task->kernel->tensors[i].access & SK_ACCESS_READ)
			note_read(network, histories, task->tensors[i], number);
	for (uint32_t i = 0; i < task->kernel->set_count; i++)
		if (task->sets[i].kind == SET_TENSOR)
			note_read(network, histories, task->sets[i].tensor, number);
	for (uint32_t i = 0; i < task->kernel->tensor_count; i++)
		if (task->kernel->tensors[i].access & SK_ACCESS_WRITE)
			note_write(network, histories, task->tensors[i]);
}

static enum sk_role role_of(const struct network_tensor *root, const struct history *history)
{
	if (!root->read && !root->written)
		return SK_ROLE_NONE;
	if (!root->written)
		return root->prefers_constant ? SK_ROLE_CONSTANT : SK_ROLE_INPUT;
	if (root->gap_task != NETWORK_NONE)
		return SK_ROLE_INOUT;
	return !root->read || !history->read_last || root->prefers_output ? SK_ROLE_OUTPUT : SK_ROLE_TEMPORARY;
}

static void assign_roles(struct network *network)
{
	struct history histories[NETWORK_TENSORS] = {{0}};

	for (uint32_t i = 0; i < network->tensor_count; i++) {
		histories[i].defined = calloc(network->tensors[i].elements, sizeof(bool));
		if (!histories[i].defined)
			abort();
		network->tensors[i].gap_task = NETWORK_NONE;
	}
	for (uint32_t i = 0; i < network->task_count; i++)
		if (!network->tasks[i].dropped)
			note_task(network, histories, i);
	for (uint32_t i = 0; i < network->tensor_count; i++) {
		struct network_tensor *tensor = &network->tensors[i];

		tensor->role = role_of(tensor, &histories[i]);
		while (tensor->unwritten < tensor->elements && histories[i].defined[tensor->unwritten])
			tensor->unwritten++;
		free(histories[i].defined);
	}
}

/* Anything: what a tensor holds before it is written, too. */
static void fill_contents(struct network *network)
{
	uint64_t random = network->seed ^ 0x5eed;

	for (uint32_t i = 0; i < network->tensor_count; i++) {
		const struct network_tensor *tensor = &network->tensors[i];
		uint32_t limit = tensor->dtype == SK_U8 ? 256 : 1000000;

		if (tensor->root != i)
			continue;
		network->contents[i] = malloc(tensor->elements * sizeof(uint64_t));
		if (!network->contents[i])
			abort();
		for (uint64_t j = 0; j < tensor->elements; j++)
			network->contents[i][j] = network_draw(&random, limit);
	}
}

static void drop_tasks(struct network *network, uint32_t kept)
{
	for (uint32_t i = 0; i < network->task_count; i++)
		network->tasks[i].dropped = !(kept >> i & 1);
	for (uint32_t i = 0; i < network->task_count; i++) {
		network->tasks[i].after &= kept;
		network->tasks[i].wait &= kept;
	}
}

struct network *network_create(uint64_t seed, uint32_t tasks)
{
	struct network *network = calloc(1, sizeof(*network));
	struct generator generator = {.network = network, .random = seed};

	if (!network)
		abort();
	network->seed = seed;
	network->flawed = network->strict = NETWORK_NONE;
	network->splits = network_draw(&(uint64_t){~seed}, 2);
	choose_sizes(&generator);
	choose_queues(&generator);
	add_tasks(&generator, 1 + draw(&generator, NETWORK_TASKS));
	drop_tasks(network, tasks);
	assign_roles(network);
	fill_contents(network);
	return network;
}

void network_destroy(struct network *network)
{
	for (uint32_t i = 0; i < network->tensor_count; i++)
		free(network->contents[i]);
	free(network);
}

/* ---- questions ---- */

uint32_t network_lane(const struct network_task *task)
{
	return task->kernel->is_mix || !strcmp(task->lane, "cube ") ? 0 : 1;
}

static bool share_state(const struct network_task *a, const struct network_task *b)
{
	return a->kernel->state && a->kernel->state == b->kernel->state &&
	       (a->dtype == b->dtype || a->kernel->state == STATE_LIBRARY);
}

static bool one_writes(const struct network *network, const struct network_task *writer,
		       const struct network_task *other)
{
	for (uint32_t i = 0; i < writer->kernel->tensor_count; i++) {
		if (!(writer->kernel->tensors[i].access & SK_ACCESS_WRITE))
			continue;
		for (uint32_t j = 0; j < other->kernel->tensor_count; j++)
			if (overlap(network, writer->tensors[i], other->tensors[j]))
				return true;
		for (uint32_t j = 0; j < other->kernel->set_count; j++)
			if (other->sets[j].kind == SET_TENSOR &&
			    overlap(network, writer->tensors[i], other->sets[j].tensor))
				return true;
	}
	return false;
}

bool network_can_flaw(const struct network *network, uint32_t root)
{
	const struct network_tensor *tensor = &network->tensors[root];

	if (tensor->view_of != NETWORK_NONE)
		return false;
	return tensor->role == SK_ROLE_INOUT ||
	       (tensor->role == SK_ROLE_OUTPUT && tensor->unwritten < tensor->elements);
}

bool network_conflict(const struct network *network, uint32_t one, uint32_t other)
{
	const struct network_task *a = &network->tasks[one], *b = &network->tasks[other];

	return one_writes(network, a, b) || one_writes(network, b, a) || share_state(a, b);
}
