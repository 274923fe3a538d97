/* See network.h. The passes, in order: sizes, streams and scopes; tasks, one after another, with tensors and views made
 * on the way; tasks that are not wanted; roles. */
#include "tests/property/network.h"

#include <stdlib.h>
#include <string.h>

enum { PALETTE = 4, SIZES = 2, SCOPE_SETS = 1 << NETWORK_SCOPES, STREAMS = 6, MOST_ELEMENTS = 4096 };

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
	{"debug-aic-num", {"0", "1", "3", "24"}, 25, true},
	{"debug-aiv-num", {"0", "1", "4", "48"}, 20, false},
	{"compile-options", {"-g"}, 5, false},
	{"early-start", {"0", "1", "2"}, 25, false},
	{"feed-sync-all", {"0", "1"}, 25, false},
	{"tile-fusion", {"0", "1"}, 15, false},
	{"tile-bytes", {"1", "700", "3000"}, 60, false},
	{"parallel-fusion", {"0", "1"}, 15, false},
	{"stream-order", {"0", "1"}, 25, false},
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
	bool in_rows; /* many kernels take rows that lie apart */
	bool has_halos; /* many kernels read around their parts bytes that others make */
	bool chained; /* most tasks are divided alike, on the outputs of earlier tasks: tile groups */
	const char *lane; /* of most tasks that are chained, and their kernels */
	const struct kernel *palette[PALETTE];
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

uint64_t network_element(const struct network_tensor *tensor, uint64_t element)
{
	return tensor->start + element / tensor->width * tensor->apart + element % tensor->width;
}

static bool has_gaps(const struct network_tensor *tensor)
{
	return tensor->width < tensor->elements;
}

/* Return the end of the tensor among its root's elements. */
static uint64_t end_of(const struct network_tensor *tensor)
{
	return network_element(tensor, tensor->elements - 1) + 1;
}

static bool has_element(const struct network_tensor *tensor, uint64_t element)
{
	if (element < tensor->start || element >= end_of(tensor))
		return false;
	return !has_gaps(tensor) || (element - tensor->start) % tensor->apart < tensor->width;
}

static bool overlap(const struct network *network, uint32_t one, uint32_t other)
{
	const struct network_tensor *a = &network->tensors[one], *b = &network->tensors[other];
	bool common = a->root == b->root && a->start < end_of(b) && b->start < end_of(a);

	if (!common || (!has_gaps(a) && !has_gaps(b)))
		return common;
	for (uint64_t i = 0; i < a->elements; i++)
		if (has_element(b, network_element(a, i)))
			return true;
	return false;
}

/* Return whether sklink assumes an overlap: also for rows of different strides that lie between each other's ends. */
static bool may_overlap(const struct network *network, uint32_t one, uint32_t other)
{
	const struct network_tensor *a = &network->tensors[one], *b = &network->tensors[other];

	return overlap(network, one, other) || (a->root == b->root && a->apart != b->apart && has_gaps(a) &&
						has_gaps(b) && a->start < end_of(b) && b->start < end_of(a));
}

static bool same_bytes(const struct network *network, uint32_t one, uint32_t other)
{
	const struct network_tensor *a = &network->tensors[one], *b = &network->tensors[other];

	return a->root == b->root && a->start == b->start && a->elements == b->elements && a->width == b->width &&
	       (a->apart == b->apart || !has_gaps(a));
}

/* Return the place of an element among its root's, index by index. */
static uint64_t place_of(const struct network_tensor *tensor, uint64_t element)
{
	uint64_t place = tensor->start;

	for (uint32_t d = tensor->rank; d-- > 0; element /= tensor->shape[d])
		place += element % tensor->shape[d] * tensor->strides[d];
	return place;
}

/* Find the rows of a tensor; false if they are not equally far apart. */
static bool find_rows(struct network_tensor *tensor)
{
	tensor->width = 1;
	while (tensor->width < tensor->elements && place_of(tensor, tensor->width) == tensor->start + tensor->width)
		tensor->width++;
	tensor->apart = tensor->width < tensor->elements ? place_of(tensor, tensor->width) - tensor->start : 0;
	for (uint64_t i = 0; i < tensor->elements; i++)
		if (place_of(tensor, i) != network_element(tensor, i))
			return false;
	return true;
}

static uint32_t add_tensor(struct generator *generator, struct network_tensor tensor)
{
	struct network *network = generator->network;
	uint32_t number = network->tensor_count;

	if (number == NETWORK_TENSORS)
		return NETWORK_NONE;
	if (tensor.view_of == NETWORK_NONE) {
		tensor.elements = 1;
		for (uint32_t d = tensor.rank; d-- > 0; tensor.elements *= tensor.shape[d])
			tensor.strides[d] = tensor.elements;
		tensor.width = tensor.elements;
		tensor.root = number;
	}
	network->tensors[number] = tensor;
	network->tensor_count++;
	return number;
}

/* A parameter's demands on its tensor. */
struct want {
	enum sk_dtype dtype;
	uint64_t elements;
	uint64_t last; /* the last extent; 0: any */
	bool in_rows; /* which may lie apart */
	uint32_t align; /* bytes of which it begins at a multiple */
};

static bool fits(const struct network_tensor *tensor, const struct want *want)
{
	return tensor->dtype == want->dtype && tensor->elements == want->elements &&
	       (!want->last || (tensor->rank > 1 && tensor->shape[tensor->rank - 1] == want->last)) &&
	       (!has_gaps(tensor) || (want->in_rows && tensor->width == want->last)) &&
	       tensor->start * sk_dtype_size(tensor->dtype) % want->align == 0;
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

/* wide: its rows are longer than the parameter wants. */
static uint32_t new_root(struct generator *generator, const struct want *want, bool exact, bool wide)
{
	struct network_tensor root = {.dtype = want->dtype,
				      .view_of = NETWORK_NONE,
				      .prefers_constant = chance(generator, 30),
				      .prefers_output = chance(generator, generator->fresh ? 10 : 35),
				      .silent = chance(generator, 50),
				      .data = (enum network_data)draw(generator, 3 + (want->dtype == SK_U8))};
	uint64_t rows = want->last ? want->elements / want->last : want->elements;

	if (!exact)
		push_extent(&root, 1 + draw(generator, 3));
	if (chance(generator, 30)) {
		push_extent(&root, divisor_of(rows));
		rows /= divisor_of(rows);
	}
	push_extent(&root, rows + (exact ? 0 : draw(generator, (uint32_t)rows + 1)));
	if (wide && root.rank + 1 < NETWORK_RANK && chance(generator, 30))
		push_extent(&root, 2);
	if (want->last)
		push_extent(&root, want->last + (wide ? 1 + draw(generator, (uint32_t)want->last + 3) : 0));
	return add_tensor(generator, root);
}

/* Choose the shape of a part of the whole: the dimensions before `dimension` are one element thick, and those after it
 * are whole, or, where rows may lie apart, as long as the parameter wants. thin: all dimensions before the last one are
 * one element thick. */
static bool choose_shape(struct network_tensor *part, const struct network_tensor *whole, uint32_t dimension,
			 const struct want *want, bool thin)
{
	uint32_t last = whole->rank - 1;
	uint64_t behind = 1;

	for (uint32_t d = 0; d < whole->rank; d++)
		part->shape[d] = d <= dimension || (thin && d < last) ? 1 : whole->shape[d];
	if (want->in_rows && dimension < last && whole->shape[last] > want->last)
		part->shape[last] = want->last;
	for (uint32_t d = 0; d < whole->rank; d++)
		behind *= part->shape[d];
	part->shape[dimension] = want->elements / behind;
	part->elements = want->elements;
	return want->elements % behind == 0 && part->shape[dimension] <= whole->shape[dimension];
}

/* Return NETWORK_NONE if there is no such part of the base. */
static uint32_t new_part(struct generator *generator, uint32_t base, uint32_t dimension, const struct want *want)
{
	const struct network_tensor *whole = &generator->network->tensors[base];
	struct network_tensor part = {.dtype = whole->dtype, .rank = whole->rank, .root = whole->root, .view_of = base};

	if (!choose_shape(&part, whole, dimension, want, want->in_rows && chance(generator, 30)))
		return NETWORK_NONE;
	part.start = whole->start;
	for (uint32_t d = 0; d < whole->rank; d++) {
		part.offset[d] = draw(generator, (uint32_t)(whole->shape[d] - part.shape[d] + 1));
		part.strides[d] = whole->strides[d];
		part.start += part.offset[d] * part.strides[d];
	}
	return find_rows(&part) && fits(&part, want) ? add_tensor(generator, part) : NETWORK_NONE;
}

static uint32_t any_part(struct generator *generator, uint32_t base, const struct want *want)
{
	uint32_t part = NETWORK_NONE;

	for (uint32_t d = 0; d < generator->network->tensors[base].rank && part == NETWORK_NONE; d++)
		part = new_part(generator, base, d, want);
	return part;
}

/* Rows that are longer by an element. */
static struct want longer(const struct want *want)
{
	struct want other = *want;

	other.last++;
	other.elements = want->elements / want->last * other.last;
	return other;
}

/* A tensor of the wanted size, or such a part of a new one, or of a part of that. */
static uint32_t new_tensor(struct generator *generator, const struct want *want)
{
	bool wide = want->in_rows && chance(generator, generator->chained ? 10 : 60);
	uint32_t root = wide || chance(generator, generator->chained ? 5 : 30) ? new_root(generator, want, false, wide)
									       : NETWORK_NONE,
		 part;

	if (root != NETWORK_NONE) {
		const struct want longer_want = wide ? longer(want) : *want;

		if (fits(&generator->network->tensors[root], want))
			return root;
		part = wide && chance(generator, 25) ? any_part(generator, root, &longer_want) : NETWORK_NONE;
		part = any_part(generator, part == NETWORK_NONE ? root : part, want);
		if (part != NETWORK_NONE)
			return part;
	}
	return new_root(generator, want, true, false);
}

/* ---- arguments ---- */

/* The arguments of a task that have been chosen, and how they are accessed. */
struct chosen {
	uint32_t tensors[KERNEL_PARAMETERS + KERNEL_SETS];
	unsigned access[KERNEL_PARAMETERS + KERNEL_SETS];
	uint32_t count;
};

/* Return whether the tensor may be used together with the chosen ones; alias: the argument that it may be. */
static bool is_free(const struct generator *generator, const struct chosen *chosen, uint32_t tensor, unsigned access,
		    uint32_t alias)
{
	for (uint32_t i = 0; i < chosen->count; i++) {
		if (!((access | chosen->access[i]) & SK_ACCESS_WRITE) ||
		    !may_overlap(generator->network, tensor, chosen->tensors[i]))
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

	if (generator->chained && !(access & SK_ACCESS_WRITE))
		return generator->touched[root] || chance(generator, 10);
	if (access & SK_ACCESS_WRITE)
		return !generator->inherited[root] || chance(generator, generator->fresh ? 2 : 15);
	return generator->touched[root] || chance(generator, 30);
}

static uint32_t new_view(struct generator *generator, const struct want *want, unsigned access)
{
	for (uint32_t trial = 0; trial < (want->in_rows ? 32 : 8) && generator->network->tensor_count; trial++) {
		uint32_t base = draw(generator, generator->network->tensor_count);

		if (has_gaps(&generator->network->tensors[base]) && chance(generator, 50))
			base = generator->network->tensors[base].root;

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

/* Choose an existing tensor; of some that fit, the one that was written last. */
static uint32_t old_tensor(struct generator *generator, const struct chosen *chosen, const struct want *want,
			   unsigned access, uint32_t alias)
{
	const struct network *network = generator->network;
	uint32_t trials = generator->chained && chance(generator, 85) ? 16 : 2, count = 0;
	uint32_t best = NETWORK_NONE, found[16];

	memset(found, 0xff, sizeof(found));

	for (uint32_t i = 0; i < network->tensor_count; i++) {
		if (!fits(&network->tensors[i], want) || !is_free(generator, chosen, i, access, alias) ||
		    !is_welcome(generator, i, access))
			continue;
		count++;
		for (uint32_t j = 0; j < trials; j++)
			if (draw(generator, count) == 0)
				found[j] = i;
	}
	for (uint32_t j = 0; j < trials; j++)
		if (found[j] != NETWORK_NONE &&
		    (best == NETWORK_NONE || generator->touched[network->tensors[best].root] <
						     generator->touched[network->tensors[found[j]].root]))
			best = found[j];
	return best;
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
	if (tensor == NETWORK_NONE && chance(generator, access & SK_ACCESS_READ ? 60 : 25) &&
	    !(generator->chained && chance(generator, 80)))
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

	return !strcmp(text + 1, "*3")	   ? 3 * value
	       : !strcmp(text + 1, "+2")   ? value + 2
	       : !strcmp(text + 1, "+k-1") ? value + task->k - 1
					   : value;
}

static struct want want_of(const struct network_task *task, const struct kernel_parameter *parameter)
{
	struct want want = {.dtype = parameter->of_words ? SK_U64 : task->dtype,
			    .elements = 1,
			    .in_rows = parameter->in_rows,
			    .align = task->kernel->align};

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
	set->kind = (enum set_kind)draw(generator, generator->chained && chance(generator, 80) ? 2 : 3);
	set->number = draw(generator, 1000);
	if (set->kind == SET_EXTENT)
		set->extent = choose_extent(generator, task->kernel);
	if (set->kind == SET_TENSOR)
		set->tensor =
			choose_tensor(generator, chosen, &(struct want){.dtype = SK_U64, .elements = 1, .align = 1},
				      SK_ACCESS_READ, NETWORK_NONE);
	return set->kind != SET_TENSOR || set->tensor != NETWORK_NONE;
}

/* Return false if there is no room for more tensors. */
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

/* Return whether the kernel may be called for any part, and reads nothing outside of the part. */
static bool is_chained(const struct kernel *kernel)
{
	return (!strncmp(kernel->attributes, "split=", 6) || !strncmp(kernel->attributes, "tile=", 5) ||
		!strncmp(kernel->attributes, "each=", 5)) &&
	       !kernel->has_halo;
}

/* Units of its own that are not those of others: a group of both has fewer than either. */
static bool is_odd(const struct kernel *kernel)
{
	const char *tile = !strncmp(kernel->attributes, "tile=", 5) ? strchr(kernel->attributes, ':') : NULL;

	return tile && strcmp(tile, ":64");
}

/* Return whether the kernel is cut into blocks of rows, so that kernels before and after it can keep to the same rows.
 * */
static bool is_in_rows(const struct kernel *kernel)
{
	return !strcmp(kernel->attributes, "blocks=r") && !kernel->has_halo && !kernel->in_rows;
}

static const struct kernel *choose_blocks_kernel(struct generator *generator)
{
	const struct kernel *found = NULL;
	uint32_t count = 0;

	for (const struct kernel *kernel = network_kernels(); kernel->function; kernel++)
		if (is_in_rows(kernel) && draw(generator, ++count) == 0)
			found = kernel;
	return found;
}

/* Choose a kernel of a chain: there are few of them, and most have units that others have as well. */
static const struct kernel *choose_chained_kernel(struct generator *generator)
{
	const struct kernel *kernels = network_kernels(), *found = NULL;
	uint32_t count = 0;

	for (const struct kernel *kernel = kernels; kernel->function; kernel++)
		if (is_chained(kernel) && (!is_odd(kernel) || chance(generator, 12)) && draw(generator, ++count) == 0)
			found = kernel;
	return found;
}

static void choose_kernel(struct generator *generator, struct network_task *task)
{
	static const char *const lanes[] = {"", "", "cube ", "cube ", "vector "};
	const struct kernel *kernels = network_kernels();
	const struct sizes *sizes = &generator->sizes[draw(generator, SIZES)];
	uint32_t count = 0;

	while (kernels[count].function)
		count++;
	bool stateful = generator->stateful && chance(generator, 60);
	bool halo = !stateful && generator->has_halos && chance(generator, 50);
	bool in_rows = !stateful && !halo && generator->in_rows && chance(generator, 75);
	bool chained = generator->chained && chance(generator, 90);
	bool mix = generator->chained && !chained && chance(generator, 30);

	do
		task->kernel =
			chained ? generator->palette[draw(generator, PALETTE)] : &kernels[draw(generator, count)];
	while ((stateful && !task->kernel->state) || (in_rows && !task->kernel->in_rows) ||
	       (halo && !task->kernel->has_halo) || (mix && !task->kernel->is_mix));
	if (generator->has_halos)
		sizes = &generator->sizes[!halo];
	task->dtype = generator->dtypes[chained && chance(generator, 80) ? 0 : draw(generator, 2)];
	if (chained && chance(generator, 80))
		sizes = &generator->sizes[0];
	task->lane = chained ? generator->lane : lanes[task->kernel->is_mix ? 0 : draw(generator, 5)];
	task->unfusible = chance(generator, chained ? 1 : 4);
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

	if (before && chance(generator, generator->chained ? 97 : 75)) {
		task->scopes = before->scopes;
	} else if (count) {
		task->scopes = 1u << draw(generator, count);
		if (chance(generator, 15))
			task->scopes |= 1u << draw(generator, count);
		if (chance(generator, 10))
			task->scopes = 0;
	}
	task->never_fuse = chance(generator, generator->chained ? 1 : 4);
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
	if (generator->chained && chance(generator, 85))
		return;
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
	else if (chance(generator, 30)) /* for rows that lie apart */
		generator->sizes[1] =
			(struct sizes){generator->sizes[0].r, generator->sizes[0].w * 2, generator->sizes[0].k};
	generator->dtypes[0] = dtypes[draw(generator, 3)];
	generator->dtypes[1] = chance(generator, 60) ? generator->dtypes[0] : dtypes[draw(generator, 3)];
}

/* Choose sizes of several tiles, some of them not full, and rows with units that equal those of elements, and others.
 * */
static void choose_chain(struct generator *generator)
{
	static const uint32_t rows[] = {33, 64, 64, 100, 200}, widths[] = {8, 31, 64, 64, 64, 128};
	struct sizes *sizes = generator->sizes;

	sizes[0] = (struct sizes){rows[draw(generator, 5)], widths[draw(generator, 6)], 1 + draw(generator, 9)};
	sizes[1] = sizes[0];
	if (chance(generator, 25)) /* as many elements, in other rows */
		sizes[1] = (struct sizes){sizes[0].w, sizes[0].r, sizes[0].k};
	if (chance(generator, 60))
		generator->dtypes[1] = generator->dtypes[0];
	for (uint32_t i = 0; i < PALETTE; i++)
		generator->palette[i] = choose_chained_kernel(generator);
	if (chance(generator, 40))
		generator->palette[0] = choose_blocks_kernel(generator);
	generator->lane = chance(generator, 30) ? "cube " : "";
	generator->fresh = chance(generator, 85);
	generator->streams = chance(generator, 80) ? 1 : 2;
	generator->tensor_limit = generator->fresh ? NETWORK_TENSORS : 6 + draw(generator, 20);
	generator->network->scope_count = chance(generator, 80) ? 1 : 2;
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

/* Parts of the first sizes read tensors of the second ones. */
static void choose_halo(struct generator *generator)
{
	const struct sizes sizes = generator->sizes[0];

	if (chance(generator, 70))
		generator->sizes[1] = (struct sizes){sizes.r + 2, sizes.w, sizes.k};
	else
		generator->sizes[1] = (struct sizes){sizes.r * sizes.w + sizes.k - 1, 1, sizes.k};
	generator->dtypes[1] = generator->dtypes[0];
}

/* Work for few cores, and enough of it to go to others: some long rows. */
static void choose_long_rows(struct generator *generator)
{
	static const uint32_t widths[] = {512, 700, 1024, 1365};

	generator->sizes[0] =
		(struct sizes){1 + draw(generator, 3), widths[draw(generator, 4)], 1 + draw(generator, 9)};
	generator->sizes[1] = generator->sizes[0];
	generator->network->scope_count = 1;
}

static void choose_queues(struct generator *generator)
{
	static const uint32_t streams[] = {1, 1, 2, 2, 3, STREAMS};
	struct network *network = generator->network;

	generator->streams = streams[draw(generator, 6)];
	generator->fresh = chance(generator, 50);
	generator->chained = chance(generator, 45);
	generator->stateful = !generator->chained && chance(generator, 40);
	generator->in_rows = !generator->chained && chance(generator, 55);
	generator->has_halos = !generator->chained && chance(generator, 35);
	if (generator->has_halos)
		choose_halo(generator);
	generator->tensor_limit = generator->fresh ? NETWORK_TENSORS : 4 + draw(generator, 20);
	network->scope_count = draw(generator, 4) ? 1 + draw(generator, NETWORK_SCOPES) : 0;
	if (generator->chained)
		choose_chain(generator);
	if (!generator->has_halos && chance(generator, 25))
		choose_long_rows(generator);
	for (uint32_t s = 0; s < network->scope_count; s++)
		choose_options(generator, network->options[s]);
}

/* ---- writes of the tasks to the tensors ---- */

/* The elements of a root that have been written. */
struct history {
	bool *defined;
	bool read_last; /* the last written element has been read */
};

static void note_read(struct network *network, struct history *histories, uint32_t tensor, uint32_t task)
{
	const struct network_tensor *view = &network->tensors[tensor];
	struct network_tensor *root = &network->tensors[view->root];
	struct history *history = &histories[view->root];

	root->read = true;
	history->read_last = true;
	for (uint64_t e = 0; e < view->elements; e++) {
		uint64_t i = network_element(view, e);

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
	for (uint64_t i = 0; i < view->elements; i++)
		history->defined[network_element(view, i)] = true;
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

/* sklink does not know of rows that are not equally far apart that they are written whole together. */
static enum sk_role role_of(const struct network *network, uint32_t number, const struct history *history)
{
	const struct network_tensor *root = &network->tensors[number];

	if (!root->read && !root->written)
		return SK_ROLE_NONE;
	if (!root->written)
		return root->prefers_constant ? SK_ROLE_CONSTANT : SK_ROLE_INPUT;
	if (root->gap_task != NETWORK_NONE || network_has_mixed_rows(network, number))
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

		tensor->role = role_of(network, i, &histories[i]);
		while (tensor->unwritten < tensor->elements && histories[i].defined[tensor->unwritten])
			tensor->unwritten++;
		free(histories[i].defined);
	}
}

/* ---- tasks that run once ---- */

/* Return whether a task that runs every time writes the root. */
static bool is_written_always(const struct network *network, uint32_t root)
{
	for (uint32_t t = 0; t < network->task_count; t++) {
		const struct network_task *task = &network->tasks[t];

		for (uint32_t i = 0; i < task->kernel->tensor_count && !task->dropped && !task->once; i++)
			if (task->kernel->tensors[i].access & SK_ACCESS_WRITE &&
			    network->tensors[task->tensors[i]].root == root)
				return true;
	}
	return false;
}

/* Return whether the tensor is the same in every run. */
static bool is_settled(const struct network *network, uint32_t tensor)
{
	uint32_t root = network->tensors[tensor].root;

	return network->tensors[root].role == SK_ROLE_CONSTANT ||
	       (network->tensors[root].role == SK_ROLE_TEMPORARY && !is_written_always(network, root));
}

static bool reads_root(const struct network *network, const struct network_task *task, uint32_t root)
{
	for (uint32_t i = 0; i < task->kernel->tensor_count; i++)
		if (task->kernel->tensors[i].access & SK_ACCESS_READ && network->tensors[task->tensors[i]].root == root)
			return true;
	for (uint32_t i = 0; i < task->kernel->set_count; i++)
		if (task->sets[i].kind == SET_TENSOR && network->tensors[task->sets[i].tensor].root == root)
			return true;
	return false;
}

static bool has_settled_tensors(const struct network *network, const struct network_task *task)
{
	for (uint32_t i = 0; i < task->kernel->tensor_count; i++) {
		uint32_t root = network->tensors[task->tensors[i]].root;

		if (!is_settled(network, task->tensors[i]))
			return false;
		if (task->kernel->tensors[i].access & SK_ACCESS_WRITE && reads_root(network, task, root))
			return false;
	}
	for (uint32_t i = 0; i < task->kernel->set_count; i++)
		if (task->sets[i].kind == SET_TENSOR && !is_settled(network, task->sets[i].tensor))
			return false;
	return true;
}

/* Return whether it comes after no task that runs every time. */
static bool comes_first(const struct network *network, uint32_t number)
{
	const struct network_task *task = &network->tasks[number];

	for (uint32_t t = 0; t < number; t++) {
		const struct network_task *earlier = &network->tasks[t];
		bool before = earlier->stream == task->stream || (task->after | task->wait) >> t & 1 ||
			      network_conflict(network, t, number);

		if (before && !earlier->dropped && !earlier->once)
			return false;
	}
	return true;
}

/* Most networks have too few constants. */
static void prefer_constants(struct network *network)
{
	uint64_t random = network->seed;

	for (uint32_t i = 0; i < network->tensor_count; i++)
		network->tensors[i].prefers_constant |= network_draw(&random, 5) > 0;
	for (uint32_t i = 0; i < network->tensor_count; i++)
		network->tensors[i].prefers_output &= network_draw(&random, 5) == 0;
}

/* All tasks that can, in some networks: those that are left when all others have been taken away. */
static void choose_once(struct network *network)
{
	bool changed = true;

	for (uint32_t t = 0; t < network->task_count; t++)
		network->tasks[t].once = !network->tasks[t].dropped && !network->tasks[t].kernel->state;
	while (changed) {
		changed = false;
		for (uint32_t t = 0; t < network->task_count; t++) {
			struct network_task *task = &network->tasks[t];

			if (!task->once || (has_settled_tensors(network, task) && comes_first(network, t)))
				continue;
			task->once = false;
			changed = true;
		}
	}
	for (uint32_t t = 0; t < network->task_count; t++)
		network->tasks[t].never_fuse |= network->tasks[t].once;
}

/* Return an element that the manifest can give to a constant: a drawn one, the same one for all, or a letter. */
static uint64_t content_of(const struct network_tensor *tensor, uint64_t element, uint64_t drawn)
{
	if (tensor->role != SK_ROLE_CONSTANT)
		return drawn;
	if (tensor->data == DATA_FILL)
		return 7;
	return tensor->data == DATA_TEXT ? 'a' + element % 26 : drawn;
}

/* Fill the tensors with random elements, also those that tasks write first. */
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
			network->contents[i][j] = content_of(tensor, j, network_draw(&random, limit));
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
	if (network_draw(&(uint64_t){seed ^ 0x0ce}, 3) == 0)
		prefer_constants(network);
	assign_roles(network);
	if (network_draw(&(uint64_t){seed ^ 0x0ce}, 3) < 2)
		choose_once(network);
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

bool network_has_mixed_rows(const struct network *network, uint32_t root)
{
	uint64_t apart = 0;

	for (uint32_t t = 0; t < network->task_count; t++) {
		const struct network_task *task = &network->tasks[t];

		for (uint32_t i = 0; i < task->kernel->tensor_count && !task->dropped; i++) {
			const struct network_tensor *tensor = &network->tensors[task->tensors[i]];

			if (tensor->root != root || !has_gaps(tensor))
				continue;
			if (apart && apart != tensor->apart)
				return true;
			apart = tensor->apart;
		}
	}
	return false;
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
	return (tensor->role == SK_ROLE_INOUT && !network_has_mixed_rows(network, root)) ||
	       (tensor->role == SK_ROLE_OUTPUT && tensor->unwritten < tensor->elements);
}

bool network_conflict(const struct network *network, uint32_t one, uint32_t other)
{
	const struct network_task *a = &network->tasks[one], *b = &network->tasks[other];

	return one_writes(network, a, b) || one_writes(network, b, a) || share_state(a, b);
}
