/* See bind.h. A sample is a network with other numbers. It is read and bound in an arena of its own, and only its
 * numbers stay. */
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/sizes.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "src/bind/bind-parts.h"
#include "src/bind/bind.h"
#include "src/model/model.h"

/* A network with bounds, and the sample that is being taken. */
struct taking {
	struct sk_model *model;
	const struct sk_samples *samples;
	struct sk_arena *arena; /* for the numbers */
	size_t first_task; /* the network's */
	size_t point;
	struct sk_model *sample;
};

/* ---- messages ---- */

struct silence {
	bool fatal, ignored;
};

/* Warnings in a sample are those of the model. */
static struct silence silence_begin(struct sk_diag *diag)
{
	const struct silence before = {diag->fatal_warnings, diag->no_warnings};

	diag->fatal_warnings = false;
	diag->no_warnings = true;
	return before;
}

const char *sk_samples_sizes_text(const struct sk_model *model, const struct sk_samples *samples, size_t point)
{
	return sk_sizes_values_text(model->arena, model->sizes, samples->source.network,
				    sk_fit_point(samples->fit, point));
}

static const char *sizes_text(const struct taking *taking, size_t point)
{
	return sk_samples_sizes_text(taking->model, taking->samples, point);
}

/* Errors in a sample are errors at its sizes. */
static bool silence_end(const struct taking *taking, const struct silence *before, bool done)
{
	struct sk_diag *diag = taking->model->diag;

	diag->fatal_warnings = before->fatal;
	diag->no_warnings = before->ignored;
	if (!done)
		sk_note(diag, "at %s", sizes_text(taking, taking->point));
	return done;
}

/* ---- structure ---- */

/* True if the names are the same, but for the number in a name that a pass has made: constants that a sample does not
 * compute again take none. */
static bool is_same_name(const char *one, const char *other)
{
	size_t length = strcspn(one, "#");

	return !strcmp(one, other) || (length == strcspn(other, "#") && one[length] && other[length] &&
				       !strncmp(one, other, length));
}

static bool has_same_tensor(const struct taking *taking, size_t number)
{
	const struct sk_tensor *own = &taking->model->tensors.items[number],
			       *other = &taking->sample->tensors.items[number];
	uint32_t slice = own->slice ? own->slice - (uint32_t)taking->samples->source.first_slice : 0;

	return is_same_name(own->name, other->name) && own->dtype == other->dtype && own->rank == other->rank &&
	       own->role_declared == other->role_declared &&
	       (!own->role_declared || own->role == SK_ROLE_NONE || own->role == other->role) && /* NONE: not used */
	       own->view_of == other->view_of && slice == other->slice;
}

/* Words, and the number of dimensions that lists are for, are structure. */
static bool is_alike(const struct sk_attribute *one, const struct sk_attribute *other)
{
	bool structure = one->kind == SK_ATTRIBUTE_STRING || !strcmp(one->name, "rank");

	return one->kind == other->kind && !strcmp(one->name, other->name) &&
	       (!structure || sk_attribute_same(one, other));
}

static bool has_same_task(const struct taking *taking, size_t number)
{
	const struct sk_task *own = &taking->model->tasks.items[taking->first_task + number],
			     *other = &taking->sample->tasks.items[number];
	bool same = !strcmp(own->name, other->name) && !own->said.op.text == !other->said.op.text &&
		    (!own->said.op.text || !strcmp(own->said.op.text, other->said.op.text)) &&
		    own->said.args.count == other->said.args.count &&
		    own->said.attributes.count == other->said.attributes.count;

	for (size_t i = 0; same && i < own->said.args.count; i++)
		same = own->said.args.items[i].tensor == other->said.args.items[i].tensor;
	for (size_t i = 0; same && i < own->said.attributes.count; i++)
		same = is_alike(&own->said.attributes.items[i], &other->said.attributes.items[i]);
	return same;
}

/* Return the first task or tensor that the sample does not have; NULL: it has the structure of the model. */
static const char *find_difference(const struct taking *taking, struct sk_place *place)
{
	const struct sk_model *model = taking->model, *sample = taking->sample;
	const struct sk_samples *samples = taking->samples;

	for (size_t t = 0; t < samples->task_count; t++)
		if (t >= sample->tasks.count || !has_same_task(taking, t)) {
			const struct sk_task *task = &model->tasks.items[taking->first_task + t];

			*place = task->place;
			return sk_arena_print(model->arena, "task '%s'", task->name);
		}
	for (size_t t = samples->source.first_tensor; t < samples->end_tensor; t++)
		if (t >= sample->tensors.count || !has_same_tensor(taking, t)) {
			*place = model->tensors.items[t].place;
			return sk_arena_print(model->arena, "tensor '%s'", model->tensors.items[t].name);
		}
	*place = (struct sk_place){.file = model->manifest};
	return samples->task_count == sample->tasks.count && samples->end_tensor == sample->tensors.count ? NULL
													  : "the model";
}

/* True if a dimension with bounds, or a size that follows from such dimensions, is 1 or 0. */
static bool has_single(const struct taking *taking)
{
	const uint64_t *point = sk_fit_point(taking->samples->fit, taking->point);
	const struct sk_size *const *expressions = taking->model->size_expressions.items;

	for (size_t d = 0; d < sk_sizes_count(taking->model->sizes); d++)
		if (point[d] <= 1 && sk_sizes_dimension(taking->model->sizes, d)->most > 1)
			return true;
	for (size_t i = taking->samples->source.first_expression; i < taking->samples->end_expression; i++)
		if (sk_size_at(expressions[i], point) <= 1 && sk_size_most(expressions[i]) > 1)
			return true;
	return false;
}

/* A constant of a model has the same bytes at all sizes. Samples have the bytes of the largest sizes where these were
 * not computed again. */
static bool check_contents(const struct taking *taking)
{
	for (size_t t = taking->samples->source.first_tensor; t < taking->samples->end_tensor; t++) {
		const struct sk_tensor *own = &taking->model->tensors.items[t],
				       *other = &taking->sample->tensors.items[t];

		if (!own->contents || !other->contents ||
		    (own->bytes == other->bytes && (own->contents == other->contents ||
						    !memcmp(own->contents, other->contents, own->bytes))))
			continue;
		sk_error(taking->model->diag, own->place, "tensor '%s': at %s it has other elements than at %s",
			 own->name, sizes_text(taking, taking->point), sizes_text(taking, 0));
		return false;
	}
	return true;
}

/* Inputs and outputs have no other structure, even if tasks have. *left_out is set to true if the sample does not
 * count. */
static bool check_structure(const struct taking *taking, bool *left_out)
{
	struct sk_place place;
	const char *difference = find_difference(taking, &place);

	*left_out = difference && has_single(taking);
	if (!difference)
		return check_contents(taking);
	if (*left_out)
		return true;
	sk_error(taking->model->diag, place,
		 "%s: the model becomes other tasks or tensors from here on at %s than at %s; give a dimension a "
		 "number, or bounds without such sizes",
		 difference, sizes_text(taking, taking->point), sizes_text(taking, 0));
	return false;
}

/* ---- numbers ---- */

static const void *copy_bytes(struct sk_arena *arena, const void *bytes, size_t size)
{
	void *copy = bytes && size ? sk_arena_alloc(arena, 1, size) : NULL;

	if (copy)
		memcpy(copy, bytes, size);
	return copy;
}

/* A list of texts that is another one is left out: it differs in structure. */
static const struct sk_attribute *copy_list(struct sk_arena *arena, const struct sk_attribute *own,
					    const struct sk_attribute *other)
{
	struct sk_attribute *list;

	if (own && sk_attribute_same(own, other))
		return own;
	if (other->kind != SK_ATTRIBUTE_INTEGERS)
		return NULL;
	list = SK_NEW(arena, struct sk_attribute);
	*list = (struct sk_attribute){.kind = other->kind, .count = other->count};
	list->integers = copy_bytes(arena, other->integers, other->count * sizeof(*other->integers));
	return list;
}

static void copy_argument(struct sk_arena *arena, const struct sk_argument *own, struct sk_argument *argument)
{
	const struct sk_plan_pattern *pattern = argument->pattern;

	argument->terms = copy_bytes(arena, argument->terms, argument->term_count * sizeof(*argument->terms));
	if (argument->list)
		argument->list = copy_list(arena, own ? own->list : NULL, argument->list);
	if (pattern && own && own->pattern && !memcmp(own->pattern, pattern, sizeof(*pattern)))
		argument->pattern = own->pattern;
	else
		argument->pattern = copy_bytes(arena, pattern, sizeof(*pattern));
}

/* Copy the numbers of a task; own: the model's. */
static void copy_task(struct sk_arena *arena, const struct sk_task_bound *own, struct sk_sampled_task *task)
{
	uint32_t count = task->bound.argument_count;
	struct sk_argument *arguments = SK_NEW_ARRAY(arena, struct sk_argument, count + 1);

	for (uint32_t a = 0; a < count; a++) {
		arguments[a] = task->bound.arguments[a];
		copy_argument(arena, a < own->argument_count ? &own->arguments[a] : NULL, &arguments[a]);
	}
	task->bound.arguments = arguments;
	task->cost = copy_bytes(arena, task->cost, sizeof(*task->cost));
}

/* Return the numbers of the model's own network, or of the sample. The sample's memory ends with it. */
static struct sk_sample *numbers_of(const struct taking *taking)
{
	const struct sk_samples *samples = taking->samples;
	const struct sk_model *from = taking->sample ? taking->sample : taking->model;
	const size_t first = samples->source.first_tensor, first_task = taking->sample ? 0 : taking->first_task;
	struct sk_sample *sample = SK_NEW(taking->arena, struct sk_sample);

	sample->tensors = SK_NEW_ARRAY(taking->arena, struct sk_sampled_tensor, samples->end_tensor - first + 1);
	sample->tasks = SK_NEW_ARRAY(taking->arena, struct sk_sampled_task, samples->task_count + 1);
	for (size_t t = first; t < samples->end_tensor; t++) {
		sample->tensors[t - first].bytes = from->tensors.items[t].bytes;
		memcpy(sample->tensors[t - first].shape, from->tensors.items[t].shape, sizeof(sample->tensors->shape));
	}
	for (size_t t = 0; t < samples->task_count; t++) {
		const struct sk_task *task = &from->tasks.items[first_task + t];

		sample->tasks[t] = (struct sk_sampled_task){task->bound, task->said.cost};
		if (taking->sample)
			copy_task(taking->arena, &taking->model->tasks.items[taking->first_task + t].bound,
				  &sample->tasks[t]);
	}
	return sample;
}

/* ---- taking ---- */

static bool bind_sample(const struct taking *taking)
{
	struct sk_model *sample = taking->sample;
	const struct sk_model *model = taking->model;

	sample->is_sample = true;
	sample->kernels.items = model->kernels.items;
	sample->kernels.count = model->kernels.count;
	sample->symbols.items = model->symbols.items;
	sample->symbols.count = model->symbols.count;
	for (size_t t = 0; t < sample->tasks.count; t++)
		sample->tasks.items[t].bound.kernel = model->tasks.items[taking->first_task + t].bound.kernel;
	return sk_model_bind(sample);
}

static bool take_in(struct taking *taking, struct sk_arena *arena, bool *left_out)
{
	const struct sk_sample_source *source = &taking->samples->source;
	const uint64_t *sizes = sk_fit_point(taking->samples->fit, taking->point) + source->first_dimension;
	struct sk_diag *diag = taking->model->diag;
	const struct silence before = silence_begin(diag);

	taking->sample = source->read(source->context, arena, sizes);
	if (!silence_end(taking, &before, taking->sample != NULL) || !check_structure(taking, left_out))
		return false;
	if (*left_out)
		return true;
	(void)silence_begin(diag);
	return silence_end(taking, &before, bind_sample(taking));
}

/* Errors can refer to the memory of their sample. */
static bool take(struct taking *taking, struct sk_sample **sample)
{
	struct sk_arena *arena = sk_arena_create();
	bool left_out = false, taken = take_in(taking, arena, &left_out);

	*sample = taken && !left_out ? numbers_of(taking) : NULL;
	taking->sample = NULL;
	if (taken)
		sk_arena_destroy(arena);
	else
		sk_arena_adopt(taking->model->arena, arena);
	return taken;
}

/* A copy that a kernel needs is a task which samples do not have. */
static bool find_tasks(struct taking *taking)
{
	const struct sk_model *model = taking->model;
	const char *network = taking->samples->source.network;
	size_t count = 0, first = model->tasks.count;

	for (size_t t = model->tasks.count; t-- > 0;) {
		const char *own = model->tasks.items[t].said.network;

		if (network && (!own || strcmp(own, network) != 0))
			continue;
		first = t;
		count++;
	}
	taking->first_task = first;
	if (count == taking->samples->task_count)
		return true;
	sk_error(model->diag, (struct sk_place){.file = model->manifest},
		 "a kernel needs tensors that begin at other places than its operands, and copies of those do not "
		 "have sizes with bounds; give the dimensions numbers");
	return false;
}

/* True if the samples that count have several sizes of the dimension: otherwise no form shows that a number depends on
 * it. */
static bool has_several(const struct taking *taking, struct sk_sample *const *taken, size_t dimension)
{
	const struct sk_fit *fit = taking->samples->fit;
	uint64_t first = sk_fit_point(fit, 0)[dimension];

	for (size_t s = 1; s < sk_fit_count(fit); s++)
		if (taken[s] && sk_fit_point(fit, s)[dimension] != first)
			return true;
	return false;
}

/* Return one more remedy for a dimension with two sizes: a network for each. "": it has others. */
static const char *networks_text(const struct sk_model *model, const struct sk_size_dimension *dimension)
{
	if (dimension->network || dimension->most != dimension->least + dimension->multiple)
		return "";
	return sk_arena_print(model->arena,
			      ", or a network for each size: --dim small:%s=%" PRIu64 " --dim large:%s=%" PRIu64,
			      dimension->name, dimension->least, dimension->name, dimension->most);
}

static bool check_dimensions(const struct taking *taking, struct sk_sample *const *taken)
{
	const struct sk_model *model = taking->model;

	for (size_t d = 0; d < sk_sizes_count(model->sizes); d++) {
		const struct sk_size_dimension *dimension = sk_sizes_dimension(model->sizes, d);

		if (dimension->least == dimension->most ||
		    !sk_size_dimension_is_of(dimension, taking->samples->source.network) ||
		    has_several(taking, taken, d))
			continue;
		sk_error(model->diag, (struct sk_place){.file = model->manifest},
			 "dimension '%s': the model becomes other tasks at %s=%" PRIu64
			 ", and has those of the largest sizes at one size alone; give it one size, or bounds up to "
			 "%" PRIu64 "%s",
			 dimension->name, dimension->name, dimension->least, dimension->most + dimension->multiple,
			 networks_text(model, dimension));
		return false;
	}
	return true;
}

struct sk_sample **sk_samples_take(struct sk_model *model, const struct sk_samples *samples, struct sk_arena *arena,
				   size_t *first_task)
{
	struct taking taking = {.model = model, .samples = samples, .arena = arena};
	size_t count = sk_fit_count(samples->fit);
	struct sk_sample **taken = SK_NEW_ARRAY(arena, struct sk_sample *, count);

	if (!find_tasks(&taking))
		return NULL;
	*first_task = taking.first_task;
	taken[0] = numbers_of(&taking);
	for (taking.point = 1; taking.point < count; taking.point++)
		if (!take(&taking, &taken[taking.point]))
			return NULL;
	return check_dimensions(&taking, taken) ? taken : NULL;
}

/* ---- the points ---- */

bool sk_model_sample(struct sk_model *model, const struct sk_sample_source *source)
{
	struct sk_samples *samples = SK_NEW(model->arena, struct sk_samples);
	const struct sk_size *const *expressions = model->size_expressions.items;
	size_t first = source->first_expression;

	*samples = (struct sk_samples){.source = *source,
				       .end_expression = model->size_expressions.count,
				       .end_tensor = model->tensors.count,
				       .task_count = model->tasks.count - source->first_task};
	samples->fit = sk_fit_new(model->arena, model->sizes, source->network, expressions ? expressions + first : NULL,
				  model->size_expressions.count - first);
	sk_array_push(model->arena, &model->samples, samples);
	if (!sk_fit_unclear(samples->fit))
		return true;
	sk_error(model->diag, (struct sk_place){.file = model->manifest},
		 "'%s' cannot be compared with its form at so many sizes; narrow the bounds of its dimensions",
		 sk_size_text(model->arena, sk_fit_unclear(samples->fit)));
	return false;
}
