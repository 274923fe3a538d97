/* See bind.h. A sample is the same model with other numbers. */
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

static const char *sizes_text(const struct sk_model *model, size_t sample)
{
	return sk_sizes_values_text(model->arena, model->sizes, sk_fit_point(model->samples->fit, sample));
}

/* Errors in a sample are errors at its sizes. */
static bool silence_end(const struct sk_model *model, size_t sample, const struct silence *before, bool done)
{
	model->diag->fatal_warnings = before->fatal;
	model->diag->no_warnings = before->ignored;
	if (!done)
		sk_note(model->diag, "at %s", sizes_text(model, sample));
	return done;
}

/* ---- structure ---- */

static bool has_same_tensor(const struct sk_model *model, const struct sk_model *sample, size_t number)
{
	const struct sk_tensor *own = &model->tensors.items[number], *other = &sample->tensors.items[number];

	return !strcmp(own->name, other->name) && own->dtype == other->dtype && own->rank == other->rank &&
	       own->role == other->role && own->view_of == other->view_of && own->slice == other->slice;
}

/* Words, and the number of dimensions that lists are for, are structure. */
static bool is_alike(const struct sk_attribute *one, const struct sk_attribute *other)
{
	bool structure = one->kind == SK_ATTRIBUTE_STRING || !strcmp(one->name, "rank");

	return one->kind == other->kind && !strcmp(one->name, other->name) &&
	       (!structure || sk_attribute_same(one, other));
}

static bool has_same_task(const struct sk_model *model, const struct sk_model *sample, size_t number)
{
	const struct sk_task *own = &model->tasks.items[number], *other = &sample->tasks.items[number];
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
static const char *find_difference(const struct sk_model *model, const struct sk_model *sample, struct sk_place *place)
{
	for (size_t t = 0; t < model->tasks.count; t++)
		if (t >= sample->tasks.count || !has_same_task(model, sample, t)) {
			*place = model->tasks.items[t].place;
			return sk_arena_print(model->arena, "task '%s'", model->tasks.items[t].name);
		}
	for (size_t t = 0; t < model->tensors.count; t++)
		if (t >= sample->tensors.count || !has_same_tensor(model, sample, t)) {
			*place = model->tensors.items[t].place;
			return sk_arena_print(model->arena, "tensor '%s'", model->tensors.items[t].name);
		}
	*place = (struct sk_place){.file = model->manifest};
	return model->tasks.count == sample->tasks.count && model->tensors.count == sample->tensors.count
		       ? NULL
		       : "the model";
}

/* True if a dimension with bounds, or a size that follows from such dimensions, is 1 or 0. */
static bool has_single(const struct sk_model *model, size_t sample)
{
	const uint64_t *point = sk_fit_point(model->samples->fit, sample);

	for (size_t d = 0; d < sk_sizes_count(model->sizes); d++)
		if (point[d] <= 1 && sk_sizes_dimension(model->sizes, d)->most > 1)
			return true;
	for (size_t i = 0; i < model->size_expressions.count; i++)
		if (sk_size_at(model->size_expressions.items[i], point) <= 1 &&
		    sk_size_most(model->size_expressions.items[i]) > 1)
			return true;
	return false;
}

/* Inputs and outputs have no other structure, even if tasks have. */
static bool check_structure(struct sk_model *model, size_t number)
{
	struct sk_model *sample = model->samples->models[number];
	struct sk_place place;
	const char *difference = find_difference(model, sample, &place);

	if (!difference)
		return true;
	if (has_single(model, number)) {
		model->samples->models[number] = NULL;
		return true;
	}
	sk_error(model->diag, place,
		 "%s: the model becomes other tasks or tensors from here on at %s than at %s; give a dimension a "
		 "number, or bounds without such sizes",
		 difference, sizes_text(model, number), sizes_text(model, 0));
	return false;
}

/* True if the samples that count have several sizes of the dimension: otherwise no form shows that a number depends on
 * it. */
static bool has_several(const struct sk_model *model, size_t dimension)
{
	const struct sk_samples *samples = model->samples;
	uint64_t first = sk_fit_point(samples->fit, 0)[dimension];

	for (size_t s = 1; s < samples->count; s++)
		if (samples->models[s] && sk_fit_point(samples->fit, s)[dimension] != first)
			return true;
	return false;
}

static bool check_dimensions(const struct sk_model *model)
{
	for (size_t d = 0; d < sk_sizes_count(model->sizes); d++) {
		const struct sk_size_dimension *dimension = sk_sizes_dimension(model->sizes, d);

		if (dimension->least == dimension->most || has_several(model, d))
			continue;
		sk_error(model->diag, (struct sk_place){.file = model->manifest},
			 "dimension '%s': the model becomes other tasks at %s=%" PRIu64
			 ", and its bounds have one other size alone; give it one size, or bounds up to %" PRIu64,
			 dimension->name, dimension->name, dimension->least, dimension->most + dimension->multiple);
		return false;
	}
	return true;
}

/* ---- the whole ---- */

bool sk_model_sample(struct sk_model *model, sk_model_sampler *sample, void *context)
{
	struct sk_samples *samples = SK_NEW(model->arena, struct sk_samples);

	if (!model->has_bounds)
		return true;
	model->samples = samples;
	samples->fit = sk_fit_new(model->arena, model->sizes, model->size_expressions.items,
				  model->size_expressions.count);
	if (sk_fit_unclear(samples->fit)) {
		sk_error(model->diag, (struct sk_place){.file = model->manifest},
			 "'%s' cannot be compared with its form at so many sizes; narrow the bounds of its dimensions",
			 sk_size_text(model->arena, sk_fit_unclear(samples->fit)));
		return false;
	}
	samples->count = sk_fit_count(samples->fit);
	samples->models = SK_NEW_ARRAY(model->arena, struct sk_model *, samples->count);
	samples->models[0] = model;
	samples->tensor_count = model->tensors.count;
	for (size_t s = 1; s < samples->count; s++) {
		const struct silence before = silence_begin(model->diag);

		samples->models[s] = sample(context, sk_fit_point(samples->fit, s));
		if (!silence_end(model, s, &before, samples->models[s]))
			return false;
		if (!check_structure(model, s))
			return false;
	}
	return check_dimensions(model);
}

static bool bind_sample(const struct sk_model *model, struct sk_model *sample)
{
	sample->is_sample = true;
	sample->kernels.items = model->kernels.items;
	sample->kernels.count = model->kernels.count;
	sample->symbols.items = model->symbols.items;
	sample->symbols.count = model->symbols.count;
	for (size_t t = 0; t < sample->tasks.count; t++)
		sample->tasks.items[t].bound.kernel = model->tasks.items[t].bound.kernel;
	return sk_model_bind(sample);
}

bool sk_samples_bind(struct sk_model *model)
{
	for (size_t s = 1; s < model->samples->count; s++) {
		const struct silence before = silence_begin(model->diag);
		struct sk_model *sample = model->samples->models[s];

		if (!silence_end(model, s, &before, !sample || bind_sample(model, sample)))
			return false;
	}
	return true;
}
