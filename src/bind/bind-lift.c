/* See bind.h. Every number of the bound model is compared with the same number of the samples. If they differ, a form
 * is fitted to them (fit.c). Structure is the same in all samples. A sample does not count for a task that has nothing
 * to compute there, or has a single row in place of several. */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/sizes.h"
#include "format/convention.h"
#include "format/signature/signature.h"
#include "format/skdims.h"
#include "format/skplan.h"
#include "src/bind/bind-parts.h"
#include "src/bind/bind.h"
#include "src/model/model.h"

struct lifter {
	struct sk_model *model;
	const struct sk_samples *of; /* the network */
	struct sk_fit *fit;
	size_t count; /* samples, the model itself first */
	struct sk_sample *const *samples; /* NULL: it is left out */
	size_t first_task; /* of the network */
	uint64_t *numbers; /* of one field, by sample */
	bool *known; /* by sample: it has such a number */

	/* The tensor, task or argument with the fields that are being lifted: */
	const char *label;
	struct sk_place place;
	SK_ARRAY(struct sk_varying_field) fields;
};

/* ---- errors ---- */

static const char *sizes_text(const struct lifter *lifter, size_t sample)
{
	return sk_samples_sizes_text(lifter->model, lifter->of, sample);
}

/* Report a difference between samples, and the remedy, which may be "". */
static bool report(const struct lifter *lifter, size_t sample, const char *noun, const char *remedy)
{
	sk_error(lifter->model->diag, lifter->place, "%s: at %s it has %s than at %s%s", lifter->label,
		 sizes_text(lifter, sample), noun, sizes_text(lifter, 0), remedy);
	return false;
}

static bool report_field(const struct lifter *lifter, const char *noun, const char *reason)
{
	size_t other = 1;

	while (other + 1 < lifter->count && (!lifter->known[other] || lifter->numbers[other] == lifter->numbers[0]))
		other++;
	sk_error(lifter->model->diag, lifter->place, "%s: %s is %" PRId64 " at %s and %" PRId64 " at %s, which %s",
		 lifter->label, noun, (int64_t)lifter->numbers[0], sizes_text(lifter, 0),
		 (int64_t)lifter->numbers[other], sizes_text(lifter, other), reason);
	return false;
}

/* ---- fields ---- */

/* Set the sample's number, which has 64 bits; NULL: it has none. */
static void set_number(const struct lifter *lifter, size_t sample, const void *number)
{
	lifter->known[sample] = number != NULL;
	lifter->numbers[sample] = 0;
	if (number)
		memcpy(&lifter->numbers[sample], number, sizeof(lifter->numbers[sample]));
}

/* Set the number of a record at this offset. */
static void set_field(const struct lifter *lifter, size_t sample, const void *record, size_t offset)
{
	set_number(lifter, sample, record ? (const char *)record + offset : NULL);
}

static bool differs(const struct lifter *lifter)
{
	for (size_t s = 1; s < lifter->count; s++)
		if (lifter->known[s] && lifter->numbers[s] != lifter->numbers[0])
			return true;
	return false;
}

/* Return the form of the numbers by sample, which may all be the same; NULL after an error. */
static const struct sk_size *find_form(const struct lifter *lifter, const char *noun)
{
	const struct sk_size *form;

	if (!differs(lifter))
		return sk_size_number(lifter->model->sizes, (int64_t)lifter->numbers[0]);
	form = sk_fit_find(lifter->fit, lifter->numbers, lifter->known);
	if (!form)
		report_field(lifter, noun,
			     (int64_t)lifter->numbers[0] < 0
				     ? "is negative; numbers that depend on sizes must not be"
				     : "no product of dimensions with quotients by constants explains");
	return form;
}

/* Add the form of the numbers by sample. */
static bool lift_field(struct lifter *lifter, enum sk_dims_table table, uint32_t record, size_t offset,
		       const char *noun)
{
	const struct sk_size *form;

	if (!differs(lifter))
		return true;
	form = find_form(lifter, noun);
	if (!form)
		return false;
	if (!sk_size_grows(form))
		return report_field(lifter, noun,
				    sk_arena_print(lifter->model->arena,
						   "is %s; a number must not shrink when a "
						   "dimension grows",
						   sk_size_text(lifter->model->arena, form)));
	sk_array_push(lifter->model->arena, &lifter->fields,
		      (struct sk_varying_field){table, record, (uint32_t)offset, form});
	return true;
}

static void begin(struct lifter *lifter, struct sk_place place, const char *label)
{
	lifter->place = place;
	lifter->label = label;
	lifter->fields.count = 0;
}

static const struct sk_varying *end(const struct lifter *lifter)
{
	size_t size = lifter->fields.count * sizeof(struct sk_varying_field);
	struct sk_varying *varying;

	if (!lifter->fields.count)
		return NULL;
	varying = sk_arena_alloc(lifter->model->arena, 1, sizeof(*varying) + size);
	varying->count = (uint32_t)lifter->fields.count;
	memcpy(varying->fields, lifter->fields.items, size);
	return varying;
}

/* ---- tensors ---- */

static bool equals_size(const struct lifter *lifter, const struct sk_size *size)
{
	for (size_t s = 0; s < lifter->count; s++)
		if (lifter->known[s] && (uint64_t)sk_size_at(size, sk_fit_point(lifter->fit, s)) != lifter->numbers[s])
			return false;
	return true;
}

/* A size that inference has found holds at all sizes of the dimensions; the samples must agree with it. */
static bool lift_extent(struct lifter *lifter, const struct sk_tensor *tensor, uint32_t d)
{
	const struct sk_size *size = tensor->sizes ? tensor->sizes[d] : NULL;
	size_t offset = offsetof(struct sk_plan_type, shape[0]) + d * sizeof(uint64_t);

	if (!size)
		return lift_field(lifter, SK_DIMS_TYPES, 0, offset, "an extent");
	if (!equals_size(lifter, size))
		return report_field(lifter, "an extent",
				    sk_arena_print(lifter->model->arena, "is not '%s', as inferred",
						   sk_size_text(lifter->model->arena, size)));
	sk_array_push(lifter->model->arena, &lifter->fields,
		      (struct sk_varying_field){SK_DIMS_TYPES, 0, (uint32_t)offset, size});
	return true;
}

/* Return the form of an extent of the tensor that has just been lifted. */
static const struct sk_size *extent_form(const struct lifter *lifter, const struct sk_tensor *tensor, uint32_t d)
{
	for (size_t i = 0; i < lifter->fields.count; i++)
		if (lifter->fields.items[i].offset ==
		    offsetof(struct sk_plan_type, shape[0]) + d * sizeof(tensor->shape[0]))
			return lifter->fields.items[i].size;
	return sk_size_number(lifter->model->sizes, (int64_t)tensor->shape[d]);
}

/* Numbers of arguments are often products of successive extents. Return that of all. */
static const struct sk_size *suggest_products(const struct lifter *lifter, const struct sk_tensor *tensor)
{
	const struct sk_size *product = sk_size_number(lifter->model->sizes, 1);

	for (uint32_t first = tensor->rank; first-- > 0;) {
		product = sk_size_number(lifter->model->sizes, 1);
		for (uint32_t d = first; d < tensor->rank; d++) {
			product = sk_size_multiply(lifter->model->sizes, product, extent_form(lifter, tensor, d));
			sk_fit_suggest(lifter->fit, product);
		}
	}
	return product;
}

static bool lift_bytes(struct lifter *lifter, const struct sk_tensor *tensor)
{
	const struct sk_size *elements = suggest_products(lifter, tensor);
	const struct sk_size *bytes =
		sk_size_multiply(lifter->model->sizes, elements,
				 sk_size_number(lifter->model->sizes, (int64_t)sk_dtype_size(tensor->dtype)));
	size_t offset = offsetof(struct sk_plan_type, bytes);

	if (!differs(lifter))
		return true;
	if (!bytes || !sk_size_grows(bytes) || !equals_size(lifter, bytes))
		return lift_field(lifter, SK_DIMS_TYPES, 0, offset, "its size");
	sk_array_push(lifter->model->arena, &lifter->fields,
		      (struct sk_varying_field){SK_DIMS_TYPES, 0, (uint32_t)offset, bytes});
	return true;
}

static void set_bytes(const struct lifter *lifter, uint32_t number)
{
	for (size_t s = 0; s < lifter->count; s++)
		set_number(lifter, s, lifter->samples[s] ? &lifter->samples[s]->tensors[number].bytes : NULL);
}

static bool lift_tensor(struct lifter *lifter, uint32_t number)
{
	struct sk_tensor *tensor = &lifter->model->tensors.items[lifter->of->source.first_tensor + number];
	bool lifted = true;

	begin(lifter, tensor->place, sk_arena_print(lifter->model->arena, "tensor '%s'", tensor->name));
	set_bytes(lifter, number);
	if (tensor->role == SK_ROLE_CONSTANT && differs(lifter))
		return report_field(lifter, "its size", "a constant must not depend on");
	for (uint32_t d = 0; d < tensor->rank; d++) {
		for (size_t s = 0; s < lifter->count; s++)
			set_number(lifter, s,
				   lifter->samples[s] ? &lifter->samples[s]->tensors[number].shape[d] : NULL);
		lifted &= lift_extent(lifter, tensor, d);
	}
	set_bytes(lifter, number);
	lifted = lifted && lift_bytes(lifter, tensor);
	tensor->varying = end(lifter);
	return lifted;
}

/* ---- arguments ---- */

/* The same task by sample; NULL: the sample does not count. */
struct same {
	const struct sk_sampled_task **tasks; /* without samples of a single row */
	const struct sk_sampled_task **all; /* with these: numbers that strides do not determine show there, too */
	uint32_t argument;
};

static const struct sk_argument *argument_of(const struct sk_sampled_task *task, uint32_t argument)
{
	return task ? &task->bound.arguments[argument] : NULL;
}

static const struct sk_argument *argument_at(const struct same *same, size_t sample)
{
	return argument_of(same->tasks[sample], same->argument);
}

/* The same, also of a single row, if it is of the same kind then. */
static const struct sk_argument *single_at(const struct same *same, size_t sample)
{
	const struct sk_argument *own = argument_at(same, 0), *single = argument_of(same->all[sample], same->argument);

	return single && single->kind == own->kind && single->term_count == own->term_count ? single : NULL;
}

static bool has_rows(const struct sk_argument *argument)
{
	return argument->pattern && argument->pattern->count > 1;
}

static uint64_t pattern_number(const struct sk_argument *argument, size_t offset)
{
	uint64_t number = 0;

	if (argument->pattern)
		memcpy(&number, (const char *)argument->pattern + offset, sizeof(number));
	return number;
}

static bool is_alike_list(const struct sk_attribute *one, const struct sk_attribute *other)
{
	return sk_attribute_same(one, other) || (one->kind == SK_ATTRIBUTE_INTEGERS &&
						 other->kind == SK_ATTRIBUTE_INTEGERS && one->count == other->count);
}

/* True if both have the same structure: all that the fields below do not contain. */
static bool is_alike(const struct sk_argument *one, const struct sk_argument *other)
{
	static const size_t constant[] = {offsetof(struct sk_plan_pattern, over_read),
					  offsetof(struct sk_plan_pattern, table_count),
					  offsetof(struct sk_plan_pattern, rank)};
	bool value = one->kind == SK_ARGUMENT_VALUE || one->kind == SK_ARGUMENT_EXPRESSION;
	bool alike = one->kind == other->kind && one->dtype == other->dtype && one->access == other->access &&
		     one->by_reference == other->by_reference && one->whole == other->whole &&
		     one->term_count == other->term_count && !one->list == !other->list &&
		     (has_rows(one) || !has_rows(other)) &&
		     (!one->list || !other->list || is_alike_list(one->list, other->list)) &&
		     (value || one->value == other->value);

	for (size_t i = 0; i < sizeof(constant) / sizeof(constant[0]); i++)
		alike &= pattern_number(one, constant[i]) == pattern_number(other, constant[i]);
	for (uint32_t t = 0; alike && t < one->term_count; t++)
		alike = one->terms[t].variable == other->terms[t].variable;
	return alike && (one->list || one->tensor == other->tensor);
}

struct difference {
	const char *noun, *remedy;
};

/* Describe the difference in structure of two arguments that are not alike. */
static struct difference difference_of(const struct sk_argument *one, const struct sk_argument *other)
{
	const size_t table = offsetof(struct sk_plan_pattern, table_count);

	if (pattern_number(one, table) != pattern_number(other, table))
		return (struct difference){"a table of another number of addresses",
					   "; tables have one length at all sizes: let the kernel take the tensor "
					   "itself, or one row in each call"};
	if (one->term_count != other->term_count)
		return (struct difference){"a value with other parts",
					   "; of ranges of blocks the parts are the same if the extent is a multiple "
					   "of the blocks at all sizes; a parameter 'block' takes any extent"};
	return (struct difference){"another structure", ""};
}

static bool lift_pattern(struct lifter *lifter, const struct same *same)
{
	static const struct {
		size_t offset;
		const char *noun;
	} fields[] = {{offsetof(struct sk_plan_pattern, width), "the length of its rows"},
		      {offsetof(struct sk_plan_pattern, stride), "the distance of its rows"},
		      {offsetof(struct sk_plan_pattern, count), "the number of its rows"},
		      {offsetof(struct sk_plan_pattern, inner_bytes), "the length of its inner elements"},
		      {offsetof(struct sk_plan_pattern, halo), "its halo"},
		      {offsetof(struct sk_plan_pattern, table_stride), "the distance of its addresses"}};
	const struct sk_argument *own = argument_at(same, 0);
	bool lifted = true;

	for (size_t f = 0; own->pattern && f < sizeof(fields) / sizeof(fields[0]) + own->pattern->rank; f++) {
		bool shape = f >= sizeof(fields) / sizeof(fields[0]);
		size_t offset = shape ? offsetof(struct sk_plan_pattern, shape[0]) +
						8 * (f - sizeof(fields) / sizeof(fields[0]))
				      : fields[f].offset;

		for (size_t s = 0; s < lifter->count; s++) {
			const struct sk_argument *argument = argument_at(same, s);
			uint64_t pattern = argument ? pattern_number(argument, offset) : 0;

			set_number(lifter, s, argument ? &pattern : NULL);
		}
		lifted &= lift_field(lifter, SK_DIMS_PATTERNS, 0, offset, shape ? "its shape" : fields[f].noun);
	}
	return lifted;
}

static bool lift_terms(struct lifter *lifter, const struct same *same)
{
	static const size_t fields[] = {offsetof(struct sk_plan_term, factor), offsetof(struct sk_plan_term, addend),
					offsetof(struct sk_plan_term, divisor), offsetof(struct sk_plan_term, modulus)};
	bool lifted = true;

	for (uint32_t t = 0; t < argument_at(same, 0)->term_count; t++)
		for (size_t f = 0; f < sizeof(fields) / sizeof(fields[0]); f++) {
			for (size_t s = 0; s < lifter->count; s++) {
				const struct sk_argument *argument = argument_at(same, s);

				set_field(lifter, s, argument ? &argument->terms[t] : NULL, fields[f]);
			}
			lifted &= lift_field(lifter, SK_DIMS_TERMS, t, fields[f], "a number in its value");
		}
	return lifted;
}

static bool is_integer(const struct sk_argument *argument)
{
	return argument->dtype >= SK_I8 && argument->dtype <= SK_U64;
}

/* An argument that has all bytes of its tensor, where it is known, has them at all sizes. Return whether that is so;
 * then add the form. */
static bool lift_whole(struct lifter *lifter, const struct sk_argument *own)
{
	const struct sk_tensor *tensor =
		own->tensor != SK_NONE && !own->list ? &lifter->model->tensors.items[own->tensor] : NULL;
	const struct sk_size *bytes =
		tensor && own->size == tensor->bytes
			? sk_varying_find(tensor->varying, SK_DIMS_TYPES, offsetof(struct sk_plan_type, bytes))
			: NULL;

	if (!bytes || !equals_size(lifter, bytes))
		return false;
	sk_array_push(lifter->model->arena, &lifter->fields,
		      (struct sk_varying_field){SK_DIMS_LISTS, 0, offsetof(struct sk_plan_argument, size), bytes});
	return true;
}

static bool is_stride(const struct sk_signature *signature, uint32_t extent)
{
	for (uint32_t p = 0; p < signature->parameter_count; p++)
		if (signature->parameters[p].stride != SK_NONE && signature->parameters[p].stride == extent)
			return true;
	return false;
}

static bool names_stride(const struct sk_signature *signature, const struct sk_value_expression *value)
{
	return value && ((value->kind == SK_VALUE_EXTENT && is_stride(signature, value->index)) ||
			 names_stride(signature, value->left) || names_stride(signature, value->right));
}

/* True if a single row does not show the scalar, since the distance of rows determines it. */
static bool follows_stride(const struct lifter *lifter, const struct same *same)
{
	const struct sk_signature *signature = lifter->model->kernels.items[same->tasks[0]->bound.kernel].signature;
	const struct sk_parameter *parameter = &signature->parameters[same->argument];
	uint32_t extent;

	if (same->argument >= signature->parameter_count || !parameter->name)
		return true;
	extent = sk_signature_find_extent(signature, parameter->name);
	return parameter->value ? names_stride(signature, parameter->value)
				: extent != SK_NONE && is_stride(signature, extent);
}

static bool lift_numbers(struct lifter *lifter, const struct same *same)
{
	static const struct {
		size_t of_argument, offset;
		const char *noun;
	} fields[] = {{offsetof(struct sk_argument, offset), offsetof(struct sk_plan_argument, offset), "its offset"},
		      {offsetof(struct sk_argument, size), offsetof(struct sk_plan_argument, size), "its size"},
		      {offsetof(struct sk_argument, element_bytes), offsetof(struct sk_plan_argument, element_bytes),
		       "the length of an element"},
		      {offsetof(struct sk_argument, value), offsetof(struct sk_plan_argument, value), "its value"}};
	const struct sk_argument *own = argument_at(same, 0);
	const bool hidden = follows_stride(lifter, same);
	bool lifted = true;

	for (size_t f = 0; f < sizeof(fields) / sizeof(fields[0]); f++) {
		bool shows = fields[f].of_argument == offsetof(struct sk_argument, value)
				     ? !hidden
				     : fields[f].of_argument != offsetof(struct sk_argument, element_bytes);

		for (size_t s = 0; s < lifter->count; s++)
			set_field(lifter, s, shows ? single_at(same, s) : argument_at(same, s), fields[f].of_argument);
		if (fields[f].of_argument == offsetof(struct sk_argument, value) && differs(lifter) && !is_integer(own))
			return report_field(lifter, "its bits", "is not an integer");
		if (fields[f].of_argument == offsetof(struct sk_argument, size) && lift_whole(lifter, own))
			continue;
		lifted &= lift_field(lifter, SK_DIMS_LISTS, 0, fields[f].offset, fields[f].noun);
	}
	return lifted;
}

/* Return the place of the forms among those of the model's lists. */
static uint32_t place_list(struct sk_model *model, const struct sk_size *const *forms, size_t count)
{
	const size_t all = model->size_lists.count;
	size_t place = 0;

	while (place + count <= all && memcmp(model->size_lists.items + place, forms, count * sizeof(*forms)) != 0)
		place++;
	if (place + count <= all)
		return (uint32_t)place;
	for (size_t i = 0; i < count; i++)
		sk_array_push(model->arena, &model->size_lists, forms[i]);
	return (uint32_t)all;
}

/* A list that depends on sizes is in the slots of sizes. */
static bool lift_list(struct lifter *lifter, const struct same *same)
{
	struct sk_argument *own = &same->tasks[0]->bound.arguments[same->argument];
	const struct sk_size **forms = SK_NEW_ARRAY(lifter->model->arena, const struct sk_size *, own->list->count + 1);
	bool varies = false;

	for (size_t i = 0; i < own->list->count && own->list->kind == SK_ATTRIBUTE_INTEGERS; i++) {
		for (size_t s = 0; s < lifter->count; s++)
			set_number(lifter, s, argument_at(same, s) ? &argument_at(same, s)->list->integers[i] : NULL);
		forms[i] = find_form(lifter, "an element of its list");
		if (!forms[i])
			return false;
		varies |= !sk_size_is_number(forms[i], NULL);
	}
	own->of_sizes = varies;
	if (varies)
		own->slot = place_list(lifter->model, forms, own->list->count);
	return true;
}

/* Scratch is that of the largest sizes. */
static bool lift_argument(struct lifter *lifter, const struct same *same)
{
	struct sk_argument *own = &same->tasks[0]->bound.arguments[same->argument];
	bool lifted;

	for (size_t s = 1; s < lifter->count; s++)
		if (argument_at(same, s) && !is_alike(own, argument_at(same, s))) {
			const struct difference difference = difference_of(own, argument_at(same, s));

			return report(lifter, s, difference.noun, difference.remedy);
		}
	if (own->kind == SK_ARGUMENT_SCRATCH || own->kind == SK_ARGUMENT_STATE || own->kind == SK_ARGUMENT_SYMBOL)
		return true;
	if (own->list && !lift_list(lifter, same))
		return false;
	lifted = lift_numbers(lifter, same) & lift_pattern(lifter, same) & lift_terms(lifter, same);
	own->varying = end(lifter);
	return lifted;
}

/* ---- tasks ---- */

static const char *argument_label(const struct lifter *lifter, const struct sk_task *task, uint32_t number)
{
	const struct sk_signature *signature = lifter->model->kernels.items[task->bound.kernel].signature;

	return number < signature->parameter_count
		       ? sk_arena_print(lifter->model->arena, "task '%s', argument '%s'", task->name,
					signature->parameters[number].name)
		       : sk_arena_print(lifter->model->arena, "task '%s', argument %u", task->name, number);
}

static bool check_task(const struct lifter *lifter, const struct same *same)
{
	const struct sk_task_bound *own = &same->tasks[0]->bound;

	for (size_t s = 1; s < lifter->count; s++) {
		const struct sk_task_bound *bound = same->tasks[s] ? &same->tasks[s]->bound : own;

		if (bound->argument_count != own->argument_count || bound->loop_count != own->loop_count)
			return report(lifter, s, "another number of arguments", "");
		if (bound->block_count != own->block_count)
			return report(lifter, s, "another number of blocks", "");
		if (bound->scratch_size > own->scratch_size)
			return report(lifter, s, "more scratch", "");
		for (uint32_t i = 0; i < own->loop_count; i++)
			if (bound->loops[i].tile != own->loops[i].tile)
				return report(lifter, s, "another tile", "");
	}
	return true;
}

static bool lift_extents(struct lifter *lifter, const struct same *same)
{
	bool lifted = true;

	for (size_t s = 0; s < lifter->count; s++)
		set_number(lifter, s, same->all[s] ? &same->all[s]->bound.extent : NULL);
	lifted &= lift_field(lifter, SK_DIMS_STEPS, 0, offsetof(struct sk_plan_step, extent), "its extent");
	for (uint32_t i = 0; i < same->tasks[0]->bound.loop_count; i++) {
		for (size_t s = 0; s < lifter->count; s++)
			set_number(lifter, s, same->tasks[s] ? &same->tasks[s]->bound.loops[i].extent : NULL);
		lifted &= lift_field(lifter, SK_DIMS_LOOPS, i, offsetof(struct sk_plan_loop, extent),
				     "the extent of a loop");
	}
	return lifted;
}

/* Return the task's cost in the sample; NULL: it does not count. */
static const struct sk_plan_cost *cost_at(const struct same *same, size_t sample, uint32_t side)
{
	const struct sk_task_cost *cost = same->tasks[sample] ? same->tasks[sample]->cost : NULL;

	return cost && side < cost->count ? &cost->of[side] : NULL;
}

/* True if the value of the cost has a form. A computed cost without one is left out, and says nothing. */
static bool lift_cost_value(struct lifter *lifter, const struct same *same, uint32_t side, enum sk_cost value)
{
	size_t offset = offsetof(struct sk_plan_cost, values) + value * sizeof(uint64_t);
	const struct sk_size *form;

	for (size_t s = 0; s < lifter->count; s++)
		set_field(lifter, s, cost_at(same, s, side), offset);
	if (!same->tasks[0]->cost->computed || !differs(lifter))
		return lift_field(lifter, SK_DIMS_COSTS, 0, offset, sk_cost_name(value));
	form = sk_fit_find(lifter->fit, lifter->numbers, lifter->known);
	if (!form || !sk_size_grows(form))
		return false;
	sk_array_push(lifter->model->arena, &lifter->fields,
		      (struct sk_varying_field){SK_DIMS_COSTS, 0, (uint32_t)offset, form});
	return true;
}

/* A task with a computed cost that has no form gets none: predictions count the bytes of its arguments.
 * Return false after an error, about the manifest's cost. */
static bool lift_cost(struct lifter *lifter, const struct same *same, struct sk_task *task)
{
	struct sk_task_cost *cost;
	bool lifted = true;

	if (!task->said.cost)
		return true;
	cost = SK_NEW(lifter->model->arena, struct sk_task_cost);
	*cost = *task->said.cost;
	for (uint32_t side = 0; side < cost->count; side++) {
		begin(lifter, task->place, sk_arena_print(lifter->model->arena, "the cost of task '%s'", task->name));
		for (enum sk_cost i = 0; i < SK_COST_COUNT; i++)
			lifted &= !sk_cost_gives(&cost->of[side], i) || lift_cost_value(lifter, same, side, i);
		cost->varying[side] = end(lifter);
	}
	task->said.cost = lifted || !cost->computed ? cost : NULL;
	return lifted || cost->computed;
}

/* True if rows of the task are a single row in the sample: the distance to a next one does not show. */
static bool has_single_row(const struct sk_task_bound *task, const struct sk_task_bound *sampled)
{
	for (uint32_t a = 0; a < task->argument_count && a < sampled->argument_count; a++)
		if (has_rows(&task->arguments[a]) && !has_rows(&sampled->arguments[a]))
			return true;
	return false;
}

static bool lift_task(struct lifter *lifter, uint32_t number)
{
	struct sk_task *task = &lifter->model->tasks.items[lifter->first_task + number];
	struct same same = {.tasks = SK_NEW_ARRAY(lifter->model->arena, const struct sk_sampled_task *, lifter->count),
			    .all = SK_NEW_ARRAY(lifter->model->arena, const struct sk_sampled_task *, lifter->count)};
	bool lifted;

	for (size_t s = 0; s < lifter->count; s++) {
		const struct sk_sampled_task *sampled = lifter->samples[s] ? &lifter->samples[s]->tasks[number] : NULL;

		same.all[s] =
			sampled && !sampled->bound.idle && sampled->bound.argument_count == task->bound.argument_count
				? sampled
				: NULL;
		same.tasks[s] = sampled && !sampled->bound.idle && !has_single_row(&task->bound, &sampled->bound)
					? sampled
					: NULL;
	}
	if (task->bound.idle)
		return true;
	begin(lifter, task->place, sk_arena_print(lifter->model->arena, "task '%s'", task->name));
	if (!check_task(lifter, &same))
		return false;
	lifted = lift_extents(lifter, &same);
	task->bound.varying = end(lifter);
	task->bound.sized = task->bound.varying != NULL;
	for (same.argument = 0; same.argument < task->bound.argument_count; same.argument++) {
		begin(lifter, task->place, argument_label(lifter, task, same.argument));
		lifted &= lift_argument(lifter, &same);
		task->bound.sized |= task->bound.arguments[same.argument].varying != NULL ||
				     task->bound.arguments[same.argument].of_sizes;
	}
	return lift_cost(lifter, &same, task) && lifted && sk_bind_check_empty(lifter->model, task, lifter->fit);
}

static bool lift_network(struct sk_model *model, const struct sk_samples *samples, struct sk_arena *arena)
{
	struct lifter lifter = {
		.model = model, .of = samples, .fit = samples->fit, .count = sk_fit_count(samples->fit)};
	bool lifted = true;

	lifter.numbers = SK_NEW_ARRAY(arena, uint64_t, lifter.count);
	lifter.known = SK_NEW_ARRAY(arena, bool, lifter.count);
	lifter.samples = sk_samples_take(model, samples, arena, &lifter.first_task);
	if (!lifter.samples)
		return false;
	for (uint32_t t = 0; t < samples->end_tensor - samples->source.first_tensor; t++)
		lifted &= lift_tensor(&lifter, t);
	sk_fit_suggest_products(lifter.fit);
	for (uint32_t t = 0; t < samples->task_count && !sk_diag_is_hopeless(model->diag); t++)
		lifted &= lift_task(&lifter, t);
	return lifted;
}

bool sk_model_lift(struct sk_model *model)
{
	bool lifted = true;

	for (size_t i = 0; i < model->samples.count && !sk_diag_is_hopeless(model->diag); i++) {
		struct sk_arena *arena = sk_arena_create();

		lifted &= lift_network(model, model->samples.items[i], arena);
		sk_arena_destroy(arena);
	}
	return lifted;
}
