/* See calls.h. Shapes of views are not in the plan, so extents are found again from what is there: the extent that a
 * step divides, scalars that have an extent's name, and the bytes of tensors, each of which is a product of extents. */
#include "src/proof/calls.h"

#include <inttypes.h>
#include <string.h>

#include "src/base/checked.h"
#include "src/base/map.h"
#include "src/proof/access.h"
#include "src/proof/call-values.h"
#include "src/proof/device-cores.h"
#include "src/proof/unit-check.h"
#include "src/signature/signature-parser.h"

enum {
	ELEMENTWISE_UNIT = 64, /* elements, so that vector bodies and scalar tails fall on the same ones (design.md) */
	SCRATCH_ALIGNMENT = 64,
	MOST_ERRORS = 20,
};

struct calls {
	struct sk_arena *arena;
	struct sk_diag *diag;
	const struct sk_plan_view *view;
	const char *file;
	const struct sk_signature **signatures; /* by kernel */
	const struct sk_plan_call **states_of; /* by kernel: the first call of it */

	/* The call at hand. */
	const struct sk_plan_launch *launch;
	const struct sk_plan_step *step;
	const struct sk_plan_call *call;
	const struct sk_signature *signature;
	uint64_t extents[SK_MAX_PARAMETERS]; /* 0: not known */
	uint64_t frames[SK_MAX_PARAMETERS]; /* by STRUCT: where it stands in the scratch */
};

/* ---- errors ---- */

/* Returns false, always. */
__attribute__((format(printf, 2, 3))) static bool disagree(struct calls *calls, const char *format, ...)
{
	const struct sk_plan_view *view = calls->view;
	const struct sk_plan_kernel *kernel = &view->kernels[calls->call->kernel];
	va_list args;

	va_start(args, format);

	const char *text = sk_arena_print_list(calls->arena, format, args);

	va_end(args);
	sk_error(calls->diag, (struct sk_place){.file = calls->file},
		 "launch '%s': the call of task '%s' contradicts the signature of kernel '%s': %s",
		 sk_plan_string(&calls->launch->name), sk_plan_string(&view->tasks[calls->call->task].name),
		 sk_plan_string(&kernel->name), text);
	sk_note(calls->diag, "the signature is: %s", calls->signature->text);
	return false;
}

static const struct sk_plan_argument *argument_of(const struct calls *calls, uint32_t number)
{
	return &calls->view->arguments[calls->call->first_argument + number];
}

/* "'x'"; the result's number is the one behind the parameters'. */
static const char *parameter_text(const struct calls *calls, uint32_t number)
{
	const struct sk_signature *signature = calls->signature;
	const char *name = number < signature->parameter_count ? signature->parameters[number].name : signature->result;

	return sk_arena_print(calls->arena, "'%s'", name ? name : "block");
}

static const char *cores_text(const struct calls *calls, uint32_t cores)
{
	return cores == SK_ALL_CORES ? "all cores"
				     : sk_arena_print(calls->arena, "%u core%s", cores, cores == 1 ? "" : "s");
}

static const char *access_text(unsigned access)
{
	static const char *const texts[] = {"nothing", "read", "written", "read and written"};

	return texts[access & (SK_ACCESS_READ | SK_ACCESS_WRITE)];
}

/* ---- how the call spreads ---- */

/* Units are whole tiles. */
static uint64_t minimum_unit(const struct sk_plan_view *view, const struct sk_plan_call *call,
			     const struct sk_signature *signature)
{
	uint64_t unit = signature->elementwise ? ELEMENTWISE_UNIT : 1, tile = 1, least;

	if (signature->loop_count)
		tile = signature->loops[0].tile;
	for (least = tile; least % unit;)
		least += tile;
	/* Powers of two are what it takes to align parts. */
	for (uint32_t i = 0; i < call->argument_count && signature->align; i++) {
		const struct sk_plan_argument *argument = &view->arguments[call->first_argument + i];

		while (argument->kind == SK_ARGUMENT_POINTER && argument->element_bytes * least % signature->align)
			least *= 2;
	}
	return least;
}

/* What the step's flags have to be, as far as they follow from the signatures of its calls. Kernels that may start
 * early need not. */
static uint32_t flags_of(const struct calls *calls)
{
	struct sk_plan_calls all = sk_plan_step_calls(calls->view, calls->step);
	uint32_t flags = 0;

	for (const struct sk_plan_call *call = all.first; call < all.end; call++) {
		const struct sk_signature *signature = calls->signatures[call->kernel];

		if (signature)
			flags |= (signature->nontemporal ? SK_STEP_NONTEMPORAL : 0) |
				 (signature->sync_all || signature->lane == SK_LANE_MIX ? SK_STEP_RESIDENT : 0);
	}
	return flags;
}

/* Devices have one lane, or one for cube kernels and one for all others. */
static uint32_t lane_of(const struct calls *calls)
{
	bool cube = calls->signature->lane == SK_LANE_CUBE ||
		    (calls->signature->lane == SK_LANE_MIX && !(calls->step->flags & SK_STEP_VECTOR_SIDE));

	return cube ? 0 : calls->view->lane_count - 1;
}

static bool check_unit(struct calls *calls)
{
	const struct sk_plan_step *step = calls->step;
	uint64_t least = minimum_unit(calls->view, calls->call, calls->signature);

	if (step->kind != SK_STEP_SPLIT)
		return true;

	uint64_t unit = calls->view->partitions[step->partition].unit;
	bool own_entry = calls->launch->kind == SK_LAUNCH_TASK;

	if (own_entry ? unit == least : unit % least == 0)
		return true;
	return disagree(calls, "its units have %" PRIu64 " elements; %s%" PRIu64 " are right", unit,
			own_entry ? "" : "multiples of ", least);
}

/* Loops make many calls of one; how calls of different loops lie between each other nobody has thought about. */
static bool check_loops(struct calls *calls)
{
	const struct sk_signature *signature = calls->signature;
	const struct sk_plan_call *call = calls->call;
	const struct sk_plan_loop *loops = sk_plan_loops(calls->view, call);

	if (call->loop_count != signature->loop_count)
		return disagree(calls, "it has %u loops instead of %u", call->loop_count, signature->loop_count);
	if (call->loop_count && calls->step->call_count != 1)
		return disagree(calls, "it has loops in a step of %u calls", calls->step->call_count);
	for (uint32_t i = 0; i < call->loop_count; i++) {
		if (loops[i].tile != signature->loops[i].tile)
			return disagree(calls, "tiles of '%s' have %" PRIu64 " elements",
					signature->extents[signature->loops[i].extent], loops[i].tile);
		calls->extents[signature->loops[i].extent] = loops[i].extent;
	}
	return true;
}

/* The vector side comes right behind the cube side (sk_plan_check_launch). */
static bool check_sides(struct calls *calls)
{
	const struct sk_plan_step *step = calls->step;
	bool side = step->flags & (SK_STEP_CUBE_SIDE | SK_STEP_VECTOR_SIDE);

	if (side != (calls->signature->lane == SK_LANE_MIX))
		return disagree(calls, side ? "it has two sides" : "it has one side");
	if (step->flags & SK_STEP_VECTOR_SIDE &&
	    step->blocks != step[-1].blocks * (uint64_t)calls->signature->mix_ratio)
		return disagree(calls, "its sides have %u and %u blocks", step[-1].blocks, step->blocks);
	return true;
}

static bool check_spread(struct calls *calls)
{
	const struct sk_plan_step *step = calls->step;
	const struct sk_signature *signature = calls->signature;
	uint32_t follow = SK_STEP_NONTEMPORAL | SK_STEP_RESIDENT;
	uint32_t early =
		(signature->early_wait ? SK_STEP_EARLY_WAIT : 0) | (signature->early_set ? SK_STEP_EARLY_SET : 0);

	if (step->kind != signature->spread)
		return disagree(calls, "the step spreads over the cores in another way (kind %u, not %u)", step->kind,
				signature->spread);
	if ((step->flags & follow) != flags_of(calls))
		return disagree(calls, "flags 0x%x of the step are 0x%x", follow, step->flags & follow);
	if ((calls->call->flags & SK_CALL_STATUS) != (signature->returns_status ? SK_CALL_STATUS : 0))
		return disagree(calls, "what it returns is %s status", signature->returns_status ? "no" : "a");
	if (step->flags & (SK_STEP_EARLY_WAIT | SK_STEP_EARLY_SET) & ~early)
		return disagree(calls, "the kernel does not start early by itself");
	if (signature->unfusible && calls->launch->kind == SK_LAUNCH_SUPERKERNEL)
		return disagree(calls, "an unfusible kernel is part of a superkernel");
	if (step->lane != lane_of(calls))
		return disagree(calls, "it is not a kernel for lane %s",
				sk_plan_string(&calls->view->lanes[step->lane]));
	return check_sides(calls) && check_unit(calls) && check_loops(calls);
}

/* ---- one argument ---- */

static uint64_t elements_of(const struct calls *calls, const struct sk_plan_argument *argument)
{
	struct sk_rows rows = sk_plan_rows(calls->view, argument);

	return rows.count * (rows.width / sk_dtype_size(argument->dtype));
}

static bool check_memory(struct calls *calls, uint32_t number, enum sk_dtype dtype, unsigned access)
{
	const struct sk_plan_argument *argument = argument_of(calls, number);
	enum sk_dtype of_tensor = calls->view->tensors[argument->tensor].dtype;

	/* A view may be the bytes of a tensor of another type, or of bytes another type. */
	if (argument->dtype != dtype || (of_tensor != dtype && of_tensor != SK_U8 && dtype != SK_U8))
		return disagree(calls, "%s is %s in a tensor of %s", parameter_text(calls, number),
				sk_dtype_name(argument->dtype), sk_dtype_name(of_tensor));
	if (argument->access != access)
		return disagree(calls, "%s is %s", parameter_text(calls, number), access_text(argument->access));
	if (argument->size % sk_dtype_size(dtype))
		return disagree(calls, "%s has %" PRIu64 " bytes, no whole number of elements",
				parameter_text(calls, number), argument->size);
	return true;
}

/* A value of an extent's name; two of them must agree. */
static bool learn(struct calls *calls, uint32_t extent, uint64_t value)
{
	if (calls->extents[extent] && calls->extents[extent] != value)
		return disagree(calls, "extent '%s' is %" PRIu64 " and %" PRIu64, calls->signature->extents[extent],
				calls->extents[extent], value);
	calls->extents[extent] = value;
	return true;
}

/* Rows with gaps are for parameters that say so, and tell how far they lie apart. */
static bool check_rows(struct calls *calls, uint32_t number)
{
	const struct sk_parameter *parameter = &calls->signature->parameters[number];
	const struct sk_plan_argument *argument = argument_of(calls, number);
	const struct sk_plan_pattern *pattern = sk_plan_pattern(calls->view, argument);
	uint64_t size = sk_dtype_size(argument->dtype);

	if (!pattern || pattern->count == 0)
		return true;
	if (parameter->stride == SK_NONE || pattern->count < 2 || pattern->stride == pattern->width ||
	    pattern->width % size || pattern->stride % size)
		return disagree(calls, "%s has %" PRIu64 " rows of %" PRIu64 " bytes, %" PRIu64 " bytes apart",
				parameter_text(calls, number), pattern->count, pattern->width, pattern->stride);
	return learn(calls, parameter->stride, pattern->stride / size);
}

/* What a dimension is, where that is known; else 0. */
static uint64_t dimension_of(const struct calls *calls, const struct sk_extent *extent)
{
	uint64_t sum = 0;

	for (; extent; extent = extent->more) {
		uint64_t product = extent->constant;

		for (uint32_t i = 0; i < extent->name_count; i++)
			if (!calls->extents[extent->names[i]] ||
			    !sk_mul(product, calls->extents[extent->names[i]], &product))
				return 0;
		sum += extent->subtracted ? -product : product;
	}
	return sum;
}

/* Bytes from one element of the inner loop's extent to the next one; 0: the loop does not divide the tensor. What the
 * plan says, if it is all that tells the extents. */
static uint64_t inner_bytes_of(const struct calls *calls, uint32_t number)
{
	const struct sk_signature *signature = calls->signature;
	const struct sk_parameter *parameter = &signature->parameters[number];
	uint32_t extent = signature->loops[1].extent, dimension;
	const struct sk_plan_pattern *pattern;
	struct sk_rows rows = sk_plan_rows(calls->view, argument_of(calls, number));
	uint64_t outside = 1, bytes = sk_access_shared_bytes(calls->view, argument_of(calls, number));

	if (signature->loop_count < SK_MAX_LOOPS || !sk_parameter_has_extent(parameter, extent))
		return 0;
	/* All bytes, or those of a row, divided by what is in front of the dimension and by the extent, which starts
	 * it. */
	dimension = sk_parameter_dimension_of(parameter, extent);
	bool within = rows.count > 1 && dimension >= parameter->row_dimension;

	for (uint32_t d = within ? parameter->row_dimension : 0; d < dimension; d++)
		outside *= dimension_of(calls, &parameter->extents[d]);
	outside *= calls->extents[extent];
	if (outside)
		return (within ? rows.width : bytes) / outside;
	pattern = sk_plan_pattern(calls->view, argument_of(calls, number));
	return pattern ? pattern->inner_bytes : 0;
}

static struct sk_call_values values_of(const struct calls *calls)
{
	return (struct sk_call_values){calls->view, calls->step, calls->call, calls->signature, calls->extents};
}

/* The addresses of a table. What the plan says, if it is all that tells the extents. */
static void find_table(const struct calls *calls, uint32_t number, struct sk_plan_pattern *wanted)
{
	const struct sk_parameter *parameter = &calls->signature->parameters[number];
	const struct sk_plan_argument *argument = argument_of(calls, number);
	const struct sk_plan_pattern *pattern = sk_plan_pattern(calls->view, argument);
	const struct sk_call_values values = values_of(calls);
	uint64_t count = pattern ? pattern->table_count : 0, stride = pattern ? pattern->table_stride : 0;

	if (!parameter->table_count)
		return;
	sk_call_constant(&values, parameter->table_count, &count);
	if (parameter->table_stride)
		sk_call_constant(&values, parameter->table_stride, &stride);
	else if (count)
		stride = argument->size / count;
	wanted->table_count = count;
	wanted->table_stride = stride;
}

/* Bytes behind each part that its call reads; 0: none. */
static uint64_t halo_of(const struct calls *calls, uint32_t number)
{
	const struct sk_parameter *parameter = &calls->signature->parameters[number];
	const struct sk_plan_argument *argument = argument_of(calls, number);
	uint32_t extent = calls->signature->spread_extent;
	bool halo = extent != SK_NONE && parameter->extents[0].more && sk_parameter_is_divided_by(parameter, extent);

	return halo ? argument->size - argument->element_bytes * calls->step->extent : 0;
}

/* Where that follows from the extents, a part is as large as its product. */
static bool check_halo(struct calls *calls, uint32_t number)
{
	const struct sk_plan_argument *argument = argument_of(calls, number);
	const struct sk_extent *first = &calls->signature->parameters[number].extents[0];
	struct sk_extent product = *first;
	uint64_t all, part;

	product.more = NULL;
	all = dimension_of(calls, first);
	part = dimension_of(calls, &product);
	if (!halo_of(calls, number) || !all || !part ||
	    argument->size / all * part == argument->element_bytes * calls->step->extent)
		return true;
	return disagree(calls, "each part of %s is %" PRIu64 " bytes for each of %" PRIu64 " elements",
			parameter_text(calls, number), argument->element_bytes, calls->step->extent);
}

/* How its bytes lie. */
static bool check_pattern(struct calls *calls, uint32_t number)
{
	const struct sk_plan_argument *argument = argument_of(calls, number);
	const struct sk_plan_pattern *pattern = sk_plan_pattern(calls->view, argument);
	const struct sk_plan_pattern none = {0};
	struct sk_plan_pattern wanted = {.inner_bytes = inner_bytes_of(calls, number),
					 .halo = halo_of(calls, number),
					 .over_read = calls->signature->parameters[number].over_read};

	if (pattern && pattern->count) { /* see check_rows */
		wanted.width = pattern->width;
		wanted.stride = pattern->stride;
		wanted.count = pattern->count;
	}
	find_table(calls, number, &wanted);
	if (pattern && !memcmp(pattern, &none, sizeof(none)))
		return disagree(calls, "%s has a pattern that says nothing", parameter_text(calls, number));
	if (memcmp(pattern ? pattern : &none, &wanted, sizeof(wanted)))
		return disagree(calls, "the bytes of %s lie in another way", parameter_text(calls, number));
	return check_halo(calls, number);
}

static bool check_tensor(struct calls *calls, uint32_t number)
{
	const struct sk_parameter *parameter = &calls->signature->parameters[number];
	const struct sk_plan_argument *argument = argument_of(calls, number);
	uint32_t extent = calls->signature->spread_extent;
	bool divided = extent != SK_NONE && sk_parameter_is_divided_by(parameter, extent);
	uint64_t shared, element_bytes;

	if (argument->kind != SK_ARGUMENT_POINTER)
		return disagree(calls, "no tensor is passed for %s", parameter_text(calls, number));
	if (!check_memory(calls, number, parameter->dtype, parameter->access) || !check_rows(calls, number))
		return false;
	if (calls->signature->align && argument->offset % calls->signature->align)
		return disagree(calls, "%s is not aligned to %u bytes", parameter_text(calls, number),
				calls->signature->align);
	shared = divided ? sk_access_shared_bytes(calls->view, argument) : 0;
	if (divided && parameter->extents[0].more) /* see check_pattern */
		shared = argument->element_bytes * calls->step->extent;
	element_bytes = divided ? shared / calls->step->extent : 0;
	if (argument->element_bytes != element_bytes || element_bytes * calls->step->extent != shared)
		return disagree(
			calls,
			"the cores divide the %" PRIu64 " bytes of %s by %" PRIu64 " for each of %" PRIu64 " elements",
			argument->size, parameter_text(calls, number), argument->element_bytes, calls->step->extent);
	return !(argument->flags & SK_ARGUMENT_WHOLE) == !parameter->whole ||
	       disagree(calls, "%s is passed %s", parameter_text(calls, number),
			parameter->whole ? "from where its part begins" : "whole");
}

/* One element of a tensor in the place of a scalar. */
static bool check_loaded(struct calls *calls, uint32_t number)
{
	const struct sk_parameter *parameter = &calls->signature->parameters[number];
	const struct sk_plan_argument *argument = argument_of(calls, number);

	if (parameter->by_reference != (argument->kind == SK_ARGUMENT_POINTER))
		return disagree(calls, "%s is passed by %s", parameter_text(calls, number),
				parameter->by_reference ? "value" : "reference");
	if (!check_memory(calls, number, parameter->dtype, SK_ACCESS_READ))
		return false;
	return (elements_of(calls, argument) == 1 && argument->element_bytes == 0) ||
	       disagree(calls, "%s is %" PRIu64 " elements, not one", parameter_text(calls, number),
			elements_of(calls, argument));
}

/* The address of what the signature names. */
static bool check_symbol(struct calls *calls, uint32_t number)
{
	const struct sk_plan_argument *argument = argument_of(calls, number);
	const char *name = calls->signature->parameters[number].value->name;

	return (argument->kind == SK_ARGUMENT_SYMBOL &&
		!strcmp(sk_plan_string(&calls->view->symbols[argument->index].name), name)) ||
	       disagree(calls, "%s is not the address of '%s'", parameter_text(calls, number), name);
}

/* What the kernel leaves there is a status, if the signature says so, and 0 before. */
static bool check_status(struct calls *calls, uint32_t number)
{
	const struct sk_plan_argument *argument = argument_of(calls, number);
	bool status = calls->signature->status == number;

	if (!(argument->flags & SK_ARGUMENT_STATUS) == status)
		return disagree(calls, "%s is %s status", parameter_text(calls, number), status ? "no" : "a");
	return !status || (argument->kind == SK_ARGUMENT_VALUE && argument->value == 0) ||
	       disagree(calls, "%s is not 0 before the call", parameter_text(calls, number));
}

static bool check_value(struct calls *calls, uint32_t number, const struct sk_value_expression *value)
{
	const struct sk_plan_argument *argument = argument_of(calls, number);
	const struct sk_call_values values = values_of(calls);
	bool literal = value->kind == SK_VALUE_REAL || value->kind == SK_VALUE_NULL;

	return (literal ? argument->kind == SK_ARGUMENT_VALUE && argument->value == value->number
			: sk_call_value_agrees(&values, value, argument)) ||
	       disagree(calls, "%s is not %s", parameter_text(calls, number),
			value->text ? value->text : "how long its part is");
}

/* How long a part is, of a kernel with loops. */
static bool check_part_length(struct calls *calls, uint32_t number, uint32_t extent)
{
	const struct sk_value_expression size = {.kind = SK_VALUE_SIZE, .index = extent};

	return check_value(calls, number, &size);
}

static bool check_scalar(struct calls *calls, uint32_t number)
{
	const struct sk_signature *signature = calls->signature;
	const struct sk_parameter *parameter = &signature->parameters[number];
	const struct sk_plan_argument *argument = argument_of(calls, number);
	uint32_t extent = parameter->value ? SK_NONE : sk_signature_find_extent(signature, parameter->name);
	bool part = extent != SK_NONE && signature->loop_count && sk_signature_divides(signature, extent);
	bool length =
		extent != SK_NONE && signature->spread == SK_STEP_SPLIT && extent == signature->spread_extent && !part;
	bool computed = (part || parameter->value) && argument->kind == SK_ARGUMENT_EXPRESSION;
	bool loaded = argument->kind == SK_ARGUMENT_LOAD || argument->kind == SK_ARGUMENT_POINTER;

	if (parameter->value && parameter->value->kind == SK_VALUE_SYMBOL)
		return check_symbol(calls, number);
	if (!check_status(calls, number))
		return false;
	if (loaded && extent == SK_NONE && !parameter->value)
		return check_loaded(calls, number);
	if (argument->kind != (length ? SK_ARGUMENT_LENGTH : SK_ARGUMENT_VALUE) && !computed)
		return disagree(calls, "%s is %s the number of elements of a call", parameter_text(calls, number),
				length ? "not" : "neither a number nor an element of a tensor, nor");
	if (argument->dtype != parameter->dtype)
		return disagree(calls, "%s is %s", parameter_text(calls, number), sk_dtype_name(argument->dtype));
	if (!(argument->flags & SK_ARGUMENT_BY_REFERENCE) != !parameter->by_reference)
		return disagree(calls, "%s is passed by %s", parameter_text(calls, number),
				parameter->by_reference ? "value" : "reference");
	if (part)
		return check_part_length(calls, number, extent);
	return extent == SK_NONE || length || learn(calls, extent, argument->value);
}

/* *offset: where the next piece of scratch begins. */
static bool check_scratch(struct calls *calls, uint32_t number, uint64_t bytes, uint64_t *offset)
{
	const struct sk_plan_argument *argument = argument_of(calls, number);

	/* What extents make of it is compared once they are known. */
	if (argument->kind != SK_ARGUMENT_SCRATCH || argument->offset != *offset ||
	    (!calls->signature->parameters[number].scratch_count && argument->size != bytes))
		return disagree(calls, "%s is not %" PRIu64 " bytes of scratch at offset %" PRIu64,
				parameter_text(calls, number), bytes, *offset);
	return (sk_add(*offset, argument->size, offset) && sk_align(*offset, SCRATCH_ALIGNMENT, offset)) ||
	       disagree(calls, "more than 2^63 bytes of scratch");
}

/* Of a table, whose only field is behind it, as many as the plan says; 0: too many. */
static uint64_t struct_bytes(const struct calls *calls, uint32_t number)
{
	const struct sk_parameter *parameters = calls->signature->parameters;
	const struct sk_plan_argument *field = argument_of(calls, number + 1);
	uint64_t bytes;

	if (!parameters[number + 1].table_count)
		return parameters[number].scratch_bytes;

	const struct sk_plan_pattern *pattern = sk_plan_pattern(calls->view, field);

	return pattern && sk_mul(pattern->table_count, sizeof(uint64_t), &bytes) ? bytes : 0;
}

/* Structs stand in front of all other scratch. */
static bool check_structs(struct calls *calls, uint64_t *offset)
{
	for (uint32_t i = 0; i < calls->signature->parameter_count; i++) {
		if (calls->signature->parameters[i].kind != SK_PARAMETER_STRUCT)
			continue;
		calls->frames[i] = *offset;
		if (!check_scratch(calls, i, struct_bytes(calls, i), offset))
			return false;
	}
	return true;
}

/* Passed, or stored where the struct has it. */
static bool check_place(struct calls *calls, uint32_t number)
{
	const struct sk_parameter *parameter = &calls->signature->parameters[number];
	const struct sk_plan_argument *argument = argument_of(calls, number);
	bool field = parameter->owner != SK_NONE;

	if (!(argument->flags & SK_ARGUMENT_FIELD) == field)
		return disagree(calls, "%s is %s", parameter_text(calls, number), field ? "passed" : "a field");
	return !field || argument->field == calls->frames[parameter->owner] + parameter->offset ||
	       disagree(calls, "%s is stored at byte %u", parameter_text(calls, number), argument->field);
}

static bool check_parameter(struct calls *calls, uint32_t number, uint64_t *scratch)
{
	const struct sk_parameter *parameter = &calls->signature->parameters[number];

	if (!check_place(calls, number))
		return false;
	switch (parameter->kind) {
	case SK_PARAMETER_TENSOR:
		return check_tensor(calls, number);
	case SK_PARAMETER_SCALAR:
		return check_scalar(calls, number);
	case SK_PARAMETER_SCRATCH:
		return check_scratch(calls, number, parameter->scratch_bytes, scratch);
	case SK_PARAMETER_STRUCT:
		return true;
	case SK_PARAMETER_BLOCK:
		return argument_of(calls, number)->kind == SK_ARGUMENT_BLOCK ||
		       disagree(calls, "it is not told which block it is");
	}
	return false;
}

static bool check_result(struct calls *calls, uint32_t number)
{
	if (argument_of(calls, number)->kind != SK_ARGUMENT_RESULT)
		return disagree(calls, "its result is not stored");
	return check_memory(calls, number, calls->signature->result_dtype, SK_ACCESS_WRITE);
}

/* Whatever a kernel keeps from call to call it keeps in all its calls: the signature does not say what that is. */
static bool check_states(struct calls *calls, uint32_t first)
{
	const struct sk_plan_call *call = calls->call;
	const struct sk_plan_call *other = calls->states_of[call->kernel];

	for (uint32_t i = first; i < call->argument_count; i++)
		if (argument_of(calls, i)->kind != SK_ARGUMENT_STATE || calls->signature->reentrant)
			return disagree(calls, "it has %u arguments instead of %u", call->argument_count, first);
	if (!other)
		other = calls->states_of[call->kernel] = call;
	for (uint32_t i = first; i < call->argument_count || i < other->argument_count; i++)
		if (call->argument_count != other->argument_count ||
		    argument_of(calls, i)->index != calls->view->arguments[other->first_argument + i].index)
			return disagree(calls, "hidden state is not that of the call of task '%s'",
					sk_plan_string(&calls->view->tasks[other->task].name));
	return true;
}

static bool check_arguments(struct calls *calls)
{
	const struct sk_signature *signature = calls->signature;
	uint32_t wanted = signature->parameter_count + (signature->result ? 1 : 0);
	uint64_t scratch = 0;

	if (calls->call->argument_count < wanted)
		return disagree(calls, "it has %u arguments instead of %u", calls->call->argument_count, wanted);
	if (!check_structs(calls, &scratch))
		return false;
	for (uint32_t i = 0; i < signature->parameter_count; i++)
		if (!check_parameter(calls, i, &scratch))
			return false;
	return (!signature->result || check_result(calls, signature->parameter_count)) && check_states(calls, wanted);
}

/* ---- extents ---- */

struct product {
	uint64_t known; /* of the factors that are known; 0: it is too large */
	uint32_t open, open_count; /* one of the extents that are not known, and how many factors they are */
};

/* Of the dimensions from `first` on. */
static struct product product_of(const struct calls *calls, const struct sk_parameter *parameter, uint32_t first)
{
	struct product product = {.known = 1, .open = SK_NONE};

	for (uint32_t d = first; d < parameter->rank; d++) {
		const struct sk_extent *extent = &parameter->extents[d];
		uint64_t sum = extent->more ? dimension_of(calls, extent) : 0;

		if (extent->more) {
			product.open_count += sum ? 0 : 2; /* it tells none of its extents */
			if (!sk_mul(product.known, sum ? sum : 1, &product.known))
				return (struct product){.open = SK_NONE};
			continue;
		}
		if (!sk_mul(product.known, extent->constant, &product.known))
			return (struct product){.open = SK_NONE};
		for (uint32_t i = 0; i < extent->name_count; i++) {
			uint64_t value = calls->extents[extent->names[i]];

			product.open = value ? product.open : extent->names[i];
			product.open_count += !value;
			if (!sk_mul(product.known, value ? value : 1, &product.known))
				return (struct product){.open = SK_NONE};
		}
	}
	return product;
}

/* What is known of so many elements in the dimensions from `first` on: they leave one extent open, which they tell.
 * True if one did. */
static bool learn_factor(struct calls *calls, const struct sk_parameter *parameter, uint32_t first, uint64_t elements)
{
	struct product product = product_of(calls, parameter, first);

	if (!product.known || product.open_count != 1 || elements % product.known || elements == 0)
		return false;
	calls->extents[product.open] = elements / product.known;
	return true;
}

/* The elements of a row; 0: it is not in rows. */
static uint64_t row_of(const struct calls *calls, const struct sk_plan_argument *argument)
{
	struct sk_rows rows = sk_plan_rows(calls->view, argument);

	return rows.count > 1 ? rows.width / sk_dtype_size(argument->dtype) : 0;
}

static bool learn_extent(struct calls *calls)
{
	for (uint32_t i = 0; i < calls->signature->parameter_count; i++) {
		const struct sk_parameter *parameter = &calls->signature->parameters[i];

		if (parameter->kind != SK_PARAMETER_TENSOR)
			continue;

		const struct sk_plan_argument *argument = argument_of(calls, i);
		uint64_t row = row_of(calls, argument);

		if (learn_factor(calls, parameter, 0, elements_of(calls, argument)) ||
		    (row && learn_factor(calls, parameter, parameter->row_dimension, row)))
			return true;
	}
	return false;
}

/* As many elements as the extents say; where some are not known, their number is a factor. */
static bool check_elements(struct calls *calls, uint32_t number, uint32_t first, uint64_t elements)
{
	struct product product = product_of(calls, &calls->signature->parameters[number], first);

	if (product.known && (product.open_count ? elements % product.known == 0 : elements == product.known))
		return true;
	return disagree(calls, "%s%s %" PRIu64 " elements, %s%" PRIu64, parameter_text(calls, number),
			first ? " has rows of" : " has", elements, product.open_count ? "no multiple of " : "not ",
			product.known);
}

/* Rows without gaps lie one row apart, where that is known. */
static bool check_stride(struct calls *calls, uint32_t number)
{
	const struct sk_parameter *parameter = &calls->signature->parameters[number];
	const struct sk_plan_argument *argument = argument_of(calls, number);
	struct product product;

	if (parameter->stride == SK_NONE)
		return true;
	if (row_of(calls, argument))
		return check_elements(calls, number, parameter->row_dimension, row_of(calls, argument));
	product = product_of(calls, parameter, parameter->row_dimension);
	return product.open_count || learn(calls, parameter->stride, product.known);
}

static bool check_extents(struct calls *calls)
{
	while (learn_extent(calls))
		;
	for (uint32_t i = 0; i < calls->signature->parameter_count; i++)
		if (calls->signature->parameters[i].kind == SK_PARAMETER_TENSOR &&
		    (!check_elements(calls, i, 0, elements_of(calls, argument_of(calls, i))) ||
		     !check_stride(calls, i)))
			return false;
	return true;
}

/* ---- values ---- */

static bool check_scratch_count(struct calls *calls, const struct sk_call_values *values, uint32_t number)
{
	const struct sk_parameter *parameter = &calls->signature->parameters[number];
	uint64_t size = parameter->dtype ? sk_dtype_size(parameter->dtype) : 1, count, bytes;

	if (!sk_call_constant(values, parameter->scratch_count, &count))
		return true; /* an extent of it is not known */
	if (sk_mul(count, size, &bytes) && bytes == argument_of(calls, number)->size)
		return true;
	return disagree(calls, "%s is %" PRIu64 " bytes of scratch, but %" PRIu64 " elements of %" PRIu64,
			parameter_text(calls, number), argument_of(calls, number)->size, count, size);
}

/* What the signature says of scalars, and of how many blocks there are, once the extents are known. */
static bool check_values(struct calls *calls)
{
	const struct sk_signature *signature = calls->signature;
	const struct sk_call_values values = values_of(calls);
	uint64_t blocks = 1, count = 0;

	for (uint32_t axis = 0; axis < signature->grid_rank; axis++)
		if (!sk_call_constant(&values, signature->grid[axis], &count) || !sk_mul(blocks, count, &blocks))
			return true; /* an extent of it is not known */
	if (signature->grid_rank && calls->step->blocks != blocks)
		return disagree(calls, "it has %u blocks, but a grid of %" PRIu64, calls->step->blocks, blocks);
	for (uint32_t i = 0; i < signature->parameter_count; i++)
		if (signature->parameters[i].value && signature->parameters[i].value->kind != SK_VALUE_SYMBOL &&
		    !check_value(calls, i, signature->parameters[i].value))
			return false;
	for (uint32_t i = 0; i < signature->parameter_count; i++)
		if (signature->parameters[i].kind == SK_PARAMETER_TENSOR && !check_pattern(calls, i))
			return false;
	for (uint32_t i = 0; i < signature->parameter_count; i++)
		if (signature->parameters[i].scratch_count && !check_scratch_count(calls, &values, i))
			return false;
	return true;
}

/* ---- overlap ---- */

static bool overlap(const struct calls *calls, const struct sk_plan_argument *one, const struct sk_plan_argument *other)
{
	struct sk_rows rows = sk_plan_rows(calls->view, one), other_rows = sk_plan_rows(calls->view, other);

	return one->space == other->space && one->index == other->index && sk_rows_overlap(&rows, &other_rows);
}

static bool same_rows(const struct calls *calls, const struct sk_plan_argument *one,
		      const struct sk_plan_argument *other)
{
	struct sk_rows rows = sk_plan_rows(calls->view, one), other_rows = sk_plan_rows(calls->view, other);

	return rows.width == other_rows.width && rows.stride == other_rows.stride && rows.count == other_rows.count;
}

/* y@x: y may be x, if it is all of it and divided alike. */
static bool may_be_same(const struct calls *calls, uint32_t a, uint32_t b)
{
	const struct sk_plan_argument *one = argument_of(calls, a), *other = argument_of(calls, b);
	const struct sk_parameter *parameters = calls->signature->parameters;

	return b < calls->signature->parameter_count && (parameters[a].alias_of == b || parameters[b].alias_of == a) &&
	       one->offset == other->offset && one->size == other->size && one->element_bytes == other->element_bytes &&
	       inner_bytes_of(calls, a) == inner_bytes_of(calls, b) && same_rows(calls, one, other);
}

static bool is_memory(const struct sk_plan_argument *argument)
{
	return argument->kind == SK_ARGUMENT_POINTER || argument->kind == SK_ARGUMENT_LOAD ||
	       argument->kind == SK_ARGUMENT_RESULT;
}

static bool check_overlaps(struct calls *calls)
{
	for (uint32_t b = 1; b < calls->call->argument_count; b++) {
		const struct sk_plan_argument *other = argument_of(calls, b);

		for (uint32_t a = 0; a < b && is_memory(other); a++) {
			const struct sk_plan_argument *one = argument_of(calls, a);

			if (is_memory(one) && (sk_access_writes(one) || sk_access_writes(other)) &&
			    overlap(calls, one, other) && !may_be_same(calls, a, b))
				return disagree(calls, "%s and %s share bytes, and one of them is written",
						parameter_text(calls, a), parameter_text(calls, b));
		}
	}
	return true;
}

/* ---- units ---- */

/* Those of the network's launches; tasks' own entries have the least ones (check_unit). */
static void check_units(struct calls *calls, const uint64_t *least)
{
	const struct sk_plan_view *view = calls->view;

	for (uint32_t l = 0; l < view->network_launch_count; l++) {
		uint32_t step = sk_unit_check(calls->arena, view, &view->launches[l], least);

		if (step == SK_NO_INDEX)
			continue;
		calls->launch = &view->launches[l];
		calls->step = &view->steps[step];
		calls->call = sk_plan_step_calls(view, calls->step).first;
		calls->signature = calls->signatures[calls->call->kernel];
		disagree(calls,
			 "its units of %" PRIu64 " elements are not what it and those agree on that share its tensors",
			 view->partitions[calls->step->partition].unit);
	}
}

/* A plan made by hand may be for no device. */
static void check_device_cores(struct calls *calls, const uint64_t *least)
{
	const struct sk_plan_view *view = calls->view;
	struct sk_wrong_cores wrong;

	if (!view->plan->device)
		return;
	wrong = sk_device_cores_check(calls->arena, view, least);
	if (wrong.launch == SK_NO_INDEX)
		return;

	const struct sk_plan_launch *launch = &view->launches[wrong.launch];

	sk_error(calls->diag, (struct sk_place){.file = calls->file},
		 "launch '%s': it takes %s of lane '%s' of device %s, and %s by the rest of the plan",
		 sk_plan_string(&launch->name), cores_text(calls, launch->device_cores[wrong.lane]),
		 sk_plan_string(&view->lanes[wrong.lane]), sk_plan_string(&view->plan->device),
		 cores_text(calls, wrong.follows));
}

/* What follows from the whole, where each call by itself is right. */
static void check_together(struct calls *calls)
{
	const struct sk_plan_view *view = calls->view;
	uint64_t *least = SK_NEW_ARRAY(calls->arena, uint64_t, view->call_count);

	for (uint32_t i = 0; i < view->call_count; i++)
		least[i] = minimum_unit(view, &view->calls[i], calls->signatures[view->calls[i].kernel]);
	check_units(calls, least);
	check_device_cores(calls, least);
}

/* ---- the whole ---- */

static void check_call(struct calls *calls, const struct sk_plan_step *step, const struct sk_plan_call *call)
{
	calls->step = step;
	calls->call = call;
	calls->signature = calls->signatures[call->kernel];
	if (!calls->signature)
		return; /* it has an error of its own */
	memset(calls->extents, 0, sizeof(calls->extents));
	if (calls->signature->spread_extent != SK_NONE)
		calls->extents[calls->signature->spread_extent] = step->extent;
	if (check_spread(calls) && check_arguments(calls) && check_extents(calls) && check_values(calls))
		check_overlaps(calls);
}

static void check_step(struct calls *calls, const struct sk_plan_step *step)
{
	struct sk_plan_calls all = sk_plan_step_calls(calls->view, step);

	for (const struct sk_plan_call *call = all.first; call < all.end; call++)
		check_call(calls, step, call);
}

/* What the kernel's own record repeats of its signature. */
static bool check_kernel(struct calls *calls, const struct sk_plan_kernel *kernel, const struct sk_signature *signature)
{
	uint32_t early =
		(signature->early_wait ? SK_STEP_EARLY_WAIT : 0) | (signature->early_set ? SK_STEP_EARLY_SET : 0);
	const char *what = strcmp(signature->text, sk_plan_string(&kernel->signature))	? "is not as sklink writes it"
			   : kernel->early != early					? "starts early in another way"
			   : signature->isa & ~kernel->isa				? "needs other instruction sets"
			   : signature->lane != SK_LANE_MIX && kernel->vector_code_size ? "has no vector side"
											: NULL;

	if (what)
		sk_error(calls->diag, (struct sk_place){.file = calls->file},
			 "the record of kernel '%s' contradicts its signature, which %s: %s",
			 sk_plan_string(&kernel->name), what, signature->text);
	return !what;
}

static const struct sk_signature *read_signature(struct calls *calls, const char *text)
{
	struct sk_place place = {.file = calls->file};

	return sk_signature_parse_folded(calls->arena, calls->diag, place, text);
}

/* Kernels of one signature share what was read, so that a small plan cannot ask for much. */
static void read_signatures(struct calls *calls)
{
	const struct sk_plan_view *view = calls->view;
	struct sk_map texts;

	sk_map_init(&texts, calls->arena);
	calls->signatures = SK_NEW_ARRAY(calls->arena, const struct sk_signature *, view->kernel_count);
	calls->states_of = SK_NEW_ARRAY(calls->arena, const struct sk_plan_call *, view->kernel_count);
	for (uint32_t i = 0; i < view->kernel_count && calls->diag->errors <= MOST_ERRORS; i++) {
		const char *text = sk_plan_string(&view->kernels[i].signature);
		uint32_t first = sk_map_insert(&texts, text, strlen(text), i);

		calls->signatures[i] = first == i ? read_signature(calls, text) : calls->signatures[first];
		if (calls->signatures[i] && !check_kernel(calls, &view->kernels[i], calls->signatures[i]))
			calls->signatures[i] = NULL;
	}
}

bool sk_calls_check(struct sk_arena *arena, struct sk_diag *diag, const struct sk_plan_view *view, const char *file)
{
	struct calls calls = {.arena = arena, .diag = diag, .view = view, .file = file};
	unsigned errors = diag->errors;

	read_signatures(&calls);
	for (uint32_t l = 0; l < view->launch_count; l++) {
		calls.launch = &view->launches[l];
		for (uint32_t i = 0; i < calls.launch->step_count; i++)
			check_step(&calls, &view->steps[calls.launch->first_step + i]);
	}
	if (diag->errors == errors)
		check_together(&calls);
	return diag->errors == errors;
}
