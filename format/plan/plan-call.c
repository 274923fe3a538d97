/* The plan's reader: one call of a step, with its arguments and accesses. The step has been checked except for its
 * calls. Slices of the tables are checked first, so that every index in them is valid. */
#include "format/plan/plan-checker.h"

#include <inttypes.h>

#include "format/convention.h"
#include "format/plan/plan.h"
#include "format/skplan.h"

/* ---- arguments ---- */

static uint32_t dtype_size_or_none(const struct sk_plan_argument *argument)
{
	return argument->dtype < SK_DTYPE_COUNT ? sk_dtype_size(argument->dtype) : 0;
}

/* Return the space of a tensor in the launch: task entries have no tensors in the scratch. */
static enum sk_space space_of(const struct sk_plan_launch *launch, const struct sk_plan_tensor *tensor)
{
	bool moved = tensor->space == SK_SPACE_SCRATCH && sk_plan_is_task_launch(launch);

	return moved ? SK_SPACE_WORKSPACE : (enum sk_space)tensor->space;
}

uint64_t sk_plan_tensor_start(const struct sk_plan_launch *launch, const struct sk_plan_tensor *tensor)
{
	return space_of(launch, tensor) == SK_SPACE_WORKSPACE && sk_plan_is_task_launch(launch)
		       ? tensor->unshared_offset
		       : tensor->offset;
}

/* The bytes belong to the tensor that the argument names. */
static bool check_tensor(const struct sk_plan_checker *checker, const struct sk_plan_launch *launch,
			 const struct sk_plan_argument *argument)
{
	const struct sk_plan_view *view = checker->view;

	if (argument->tensor >= view->tensor_count)
		return sk_plan_fail(checker, "tensor %u is out of range (%u tensors)", argument->tensor,
				    view->tensor_count);

	const struct sk_plan_tensor *tensor = &view->tensors[argument->tensor];
	uint64_t start = sk_plan_tensor_start(launch, tensor);

	if (space_of(launch, tensor) != argument->space || tensor->index != argument->index ||
	    argument->offset < start ||
	    !sk_plan_within(argument->offset - start, argument->size, sk_plan_type(tensor)->bytes))
		return sk_plan_fail(checker, "its bytes are not those of tensor '%s'", sk_plan_string(&tensor->name));
	return true;
}

/* A pointer to sizes reads 64-bit integers in the slots, which belong to no tensor. */
static bool check_sizes(const struct sk_plan_checker *checker, const struct sk_plan_argument *argument)
{
	if (argument->kind != SK_ARGUMENT_POINTER || argument->access != SK_ACCESS_READ ||
	    (argument->dtype != SK_I64 && argument->dtype != SK_U64) || argument->element_bytes || argument->value ||
	    argument->tensor)
		return sk_plan_fail(checker, "sizes are only read, as 64-bit integers");
	if (argument->offset % 8 || argument->size % 8 ||
	    !sk_plan_within(argument->offset, argument->size, checker->view->slot_count * UINT64_C(8)))
		return sk_plan_fail(checker,
				    "%" PRIu64 " bytes at offset %" PRIu64 " are not sizes: there are %u of 8 bytes",
				    argument->size, argument->offset, checker->view->slot_count);
	return true;
}

/* The range [offset, offset + size) of POINTER, LOAD and RESULT is in its space and its tensor, and is aligned for the
 * dtype. */
static bool check_range(const struct sk_plan_checker *checker, const struct sk_plan_launch *launch,
			const struct sk_plan_argument *argument)
{
	const struct sk_plan_view *view = checker->view;
	const struct sk_plan *plan = view->plan;
	uint64_t limit;

	if (argument->space != SK_SPACE_BINDING && argument->index != 0)
		return sk_plan_fail(checker, "only bindings and states have numbers");
	switch (argument->space) {
	case SK_SPACE_BINDING:
		if (argument->index >= view->binding_count)
			return sk_plan_fail(checker, "binding %u is out of range (%u bindings)", argument->index,
					    view->binding_count);
		limit = sk_plan_type(&view->tensors[view->bindings[argument->index]])->bytes;
		break;
	case SK_SPACE_WORKSPACE:
		limit = sk_plan_is_task_launch(launch) ? plan->unshared_workspace_size : plan->workspace_size;
		break;
	case SK_SPACE_CONSTANT:
		limit = plan->constants_size;
		break;
	case SK_SPACE_SCRATCH:
		limit = UINT64_MAX; /* one tile of it is there: check_scratch */
		break;
	case SK_SPACE_SIZES:
		return check_sizes(checker, argument);
	default:
		return sk_plan_fail(checker, "space %u has no addresses", argument->space);
	}
	if (!sk_plan_within(argument->offset, argument->size, limit))
		return sk_plan_fail(checker,
				    "%" PRIu64 " bytes at offset %" PRIu64 " lie outside the %" PRIu64 " bytes there",
				    argument->size, argument->offset, limit);
	if (argument->offset % dtype_size_or_none(argument))
		return sk_plan_fail(checker, "offset %" PRIu64 " is not aligned for %s", argument->offset,
				    sk_dtype_name(argument->dtype));
	return check_tensor(checker, launch, argument);
}

static bool check_division(const struct sk_plan_checker *checker, const struct sk_plan_step *step,
			   const struct sk_plan_call *call, const struct sk_plan_argument *argument)
{
	uint64_t extent = sk_plan_extent(step, call);
	const struct sk_plan_pattern *pattern = sk_plan_pattern(checker->view, argument);
	bool rows = pattern && pattern->count && pattern->stride; /* check_rows does the rest */
	uint64_t bytes;

	if (argument->element_bytes == 0)
		return true;
	if (!sk_plan_divides(step))
		return sk_plan_fail(checker, "it is divided, but its step is not");
	if (extent == 0) /* in plans of one size alone: there is no call */
		return true;
	if (rows && (argument->element_bytes % pattern->stride || pattern->count % extent ||
		     argument->element_bytes / pattern->stride != pattern->count / extent))
		return sk_plan_fail(checker, "its %" PRIu64 " rows are not those of %" PRIu64 " elements",
				    pattern->count, extent);
	if (__builtin_mul_overflow(argument->element_bytes, extent, &bytes) || (!rows && bytes > argument->size))
		return sk_plan_fail(checker,
				    "%" PRIu64 " elements of %" PRIu64 " bytes are more than its %" PRIu64 " bytes",
				    extent, argument->element_bytes, argument->size);
	if (argument->element_bytes % dtype_size_or_none(argument))
		return sk_plan_fail(checker, "a part of %" PRIu64 " bytes is not a whole number of elements",
				    argument->element_bytes);
	/* sk_plan_units multiplies without checks. */
	if (step->kind == SK_STEP_SPLIT &&
	    (__builtin_mul_overflow(checker->view->partitions[step->partition].unit, call->scale, &bytes) ||
	     __builtin_mul_overflow(bytes, argument->element_bytes, &bytes)))
		return sk_plan_fail(checker, "the bytes of a unit overflow");
	return true;
}

/* A tile of a temporary fits in the scratch beside that of the step's kernels. */
static bool check_scratch(const struct sk_plan_checker *checker, const struct sk_plan_launch *launch,
			  const struct sk_plan_step *step, const struct sk_plan_call *call,
			  const struct sk_plan_argument *argument)
{
	const struct sk_plan_pattern *pattern = sk_plan_pattern(checker->view, argument);
	uint64_t bytes;

	if (argument->space != SK_SPACE_SCRATCH)
		return true;
	if (step->tile == 0 || argument->element_bytes == 0 || argument->flags & SK_ARGUMENT_WHOLE ||
	    (pattern && (pattern->count || pattern->halo || pattern->table_count)))
		return sk_plan_fail(
			checker, "only tensors that a step in tiles divides into contiguous parts are in the scratch");
	if (__builtin_mul_overflow(step->tile, call->scale, &bytes) ||
	    __builtin_mul_overflow(bytes, argument->element_bytes, &bytes) ||
	    (pattern && __builtin_add_overflow(bytes, pattern->over_read, &bytes)) ||
	    !sk_plan_within(argument->offset, bytes, sk_plan_form(launch)->scratch_size))
		return sk_plan_fail(checker, "a tile of it lies outside the launch's scratch of %" PRIu64 " bytes",
				    sk_plan_form(launch)->scratch_size);
	return true;
}

/* ---- patterns ---- */

static bool check_rows(const struct sk_plan_checker *checker, const struct sk_plan_argument *argument,
		       const struct sk_plan_pattern *pattern)
{
	uint64_t bytes;

	if (checker->view->copy && argument->size == 0)
		return true;
	if (pattern->count == 0)
		return (pattern->width == 0 && pattern->stride == 0) ||
		       sk_plan_fail(checker, "it has no rows, but their width");
	if (pattern->width == 0 || pattern->stride < pattern->width ||
	    __builtin_mul_overflow(pattern->count - 1, pattern->stride, &bytes) ||
	    __builtin_add_overflow(bytes, pattern->width, &bytes) || bytes != argument->size)
		return sk_plan_fail(checker,
				    "%" PRIu64 " rows of %" PRIu64 " bytes, %" PRIu64
				    " bytes apart, are not its %" PRIu64 " bytes",
				    pattern->count, pattern->width, pattern->stride, argument->size);
	return true;
}

/* The shape has as many elements as the argument has bytes for. */
static bool check_shape(const struct sk_plan_checker *checker, const struct sk_plan_argument *argument,
			const struct sk_plan_pattern *pattern)
{
	uint64_t bytes = dtype_size_or_none(argument);
	bool fits = pattern->rank <= SK_MAX_RANK;

	for (uint32_t d = 0; fits && d < SK_MAX_RANK; d++)
		fits = d < pattern->rank ? !__builtin_mul_overflow(bytes, pattern->shape[d], &bytes)
					 : !pattern->shape[d];
	return (fits &&
		(!pattern->rank || bytes == (pattern->count ? pattern->count * pattern->width : argument->size))) ||
	       sk_plan_fail(checker, "its shape is none of as many elements");
}

/* Bytes that calls read around their parts. Other calls may write there. */
static bool check_around(const struct sk_plan_checker *checker, const struct sk_plan_launch *launch,
			 const struct sk_plan_step *step, const struct sk_plan_call *call,
			 const struct sk_plan_argument *argument, const struct sk_plan_pattern *pattern)
{
	const struct sk_plan_tensor *tensor = &checker->view->tensors[argument->tensor];
	uint64_t end = argument->offset - sk_plan_tensor_start(launch, tensor) + argument->size;

	if ((pattern->halo || pattern->over_read) && argument->access & SK_ACCESS_WRITE)
		return sk_plan_fail(checker, "only tensors that are only read have bytes around their parts");
	if (pattern->halo && (argument->element_bytes == 0 || pattern->count ||
			      pattern->halo > argument->size - argument->element_bytes * sk_plan_extent(step, call)))
		return sk_plan_fail(checker, "a halo of %" PRIu64 " bytes leads out of it", pattern->halo);
	if (pattern->over_read > sk_plan_type(tensor)->bytes - end + sk_plan_type(tensor)->padding)
		return sk_plan_fail(checker, "it over-reads %" PRIu64 " bytes, more than its tensor's padding",
				    pattern->over_read);
	return true;
}

static bool check_table(const struct sk_plan_checker *checker, const struct sk_plan_argument *argument,
			const struct sk_plan_pattern *pattern)
{
	uint64_t bytes;

	if (pattern->table_count == 0)
		return pattern->table_stride == 0 || sk_plan_fail(checker, "a table of no addresses");
	if (!(argument->flags & SK_ARGUMENT_FIELD))
		return sk_plan_fail(checker, "only a field can be a table of addresses");
	if (__builtin_mul_overflow(pattern->table_count - 1, pattern->table_stride, &bytes) ||
	    (bytes && bytes >= argument->size))
		return sk_plan_fail(checker, "the last of its %" PRIu64 " addresses lies outside of it",
				    pattern->table_count);
	return true;
}

static bool check_pattern(const struct sk_plan_checker *checker, const struct sk_plan_launch *launch,
			  const struct sk_plan_step *step, const struct sk_plan_call *call,
			  const struct sk_plan_argument *argument)
{
	const struct sk_plan_pattern *pattern = sk_plan_pattern(checker->view, argument);
	const struct sk_plan_loop *loops = sk_plan_loops(checker->view, call);
	uint64_t bytes, after = pattern && pattern->count ? pattern->stride - pattern->width : 0; /* the last row */

	if (!pattern)
		return true;
	if (pattern->inner_bytes &&
	    (call->loop_count < 2 || __builtin_mul_overflow(pattern->inner_bytes, loops[1].extent, &bytes) ||
	     (bytes > argument->size && bytes - argument->size > after) ||
	     pattern->inner_bytes % dtype_size_or_none(argument)))
		return sk_plan_fail(checker, "%" PRIu64 " bytes for each element of an inner loop are not possible",
				    pattern->inner_bytes);
	return check_rows(checker, argument, pattern) && check_shape(checker, argument, pattern) &&
	       check_around(checker, launch, step, call, argument, pattern) && check_table(checker, argument, pattern);
}

/* ---- kinds of arguments ---- */

static bool check_pointer(const struct sk_plan_checker *checker, const struct sk_plan_launch *launch,
			  const struct sk_plan_step *step, const struct sk_plan_call *call,
			  const struct sk_plan_argument *argument)
{
	if (argument->access > (SK_ACCESS_READ | SK_ACCESS_WRITE))
		return sk_plan_fail(checker, "access %u is unknown", argument->access);
	if ((argument->access == SK_ACCESS_NONE) != (argument->size == 0))
		return sk_plan_fail(checker, "%" PRIu64 " bytes are accessed in no way, or none in one",
				    argument->size);
	if ((argument->access & SK_ACCESS_WRITE) && argument->space == SK_SPACE_CONSTANT)
		return sk_plan_fail(checker, "it writes a constant");
	return check_range(checker, launch, argument) && check_division(checker, step, call, argument) &&
	       check_pattern(checker, launch, step, call, argument) &&
	       check_scratch(checker, launch, step, call, argument);
}

/* LOAD and RESULT: one scalar in memory. */
static bool check_cell(const struct sk_plan_checker *checker, const struct sk_plan_launch *launch,
		       const struct sk_plan_argument *argument)
{
	if (argument->size != dtype_size_or_none(argument) || argument->element_bytes)
		return sk_plan_fail(checker, "it is not one %s", sk_dtype_name(argument->dtype));
	if (argument->kind == SK_ARGUMENT_RESULT && argument->space == SK_SPACE_CONSTANT)
		return sk_plan_fail(checker, "it writes a constant");
	if (argument->space == SK_SPACE_SCRATCH)
		return sk_plan_fail(checker, "space %u has no cells", argument->space);
	return check_range(checker, launch, argument);
}

static bool check_value(const struct sk_plan_checker *checker, const struct sk_plan_argument *argument)
{
	uint32_t bits = 8 * dtype_size_or_none(argument);

	if (bits < 64 && argument->value >> bits)
		return sk_plan_fail(checker, "its value does not fit into %s", sk_dtype_name(argument->dtype));
	return true;
}

/* Variables are available in the step and the call. */
static bool check_term(const struct sk_plan_checker *checker, const struct sk_plan_step *step,
		       const struct sk_plan_call *call, const struct sk_plan_term *term)
{
	bool split = step->kind == SK_STEP_SPLIT;
	bool known[SK_VARIABLE_COUNT] = {
		[SK_VARIABLE_BEGIN] = split,
		[SK_VARIABLE_SIZE] = split,
		[SK_VARIABLE_INNER_BEGIN] = call->loop_count == SK_MAX_LOOPS,
		[SK_VARIABLE_INNER_SIZE] = call->loop_count == SK_MAX_LOOPS,
		[SK_VARIABLE_BLOCK] = step->kind == SK_STEP_BLOCKS || step->kind == SK_STEP_BLOCKS_RANGE,
	};

	if (term->variable >= SK_VARIABLE_COUNT || !known[term->variable])
		return sk_plan_fail(checker, "its call has no variable %u", term->variable);
	for (size_t i = 0; i < sizeof(term->reserved); i++)
		if (term->reserved[i])
			return sk_plan_fail(checker, "a reserved field is not zero");
	return term->divisor != 0 || sk_plan_fail(checker, "it divides by 0");
}

static bool check_expression(const struct sk_plan_checker *checker, const struct sk_plan_step *step,
			     const struct sk_plan_call *call, const struct sk_plan_argument *argument)
{
	if (argument->dtype > SK_U64)
		return sk_plan_fail(checker, "an expression cannot be %s", sk_dtype_name(argument->dtype));
	for (uint64_t i = 0; i < argument->size; i++)
		if (!check_term(checker, step, call, &checker->view->terms[argument->index + i]))
			return false;
	return true;
}

/* A struct that a call passes in parts of 8 bytes. */
static bool check_by_value(const struct sk_plan_checker *checker, const struct sk_plan_launch *launch,
			   const struct sk_plan_argument *argument)
{
	if (!(argument->flags & SK_ARGUMENT_BY_VALUE))
		return true;
	if (argument->kind != SK_ARGUMENT_SCRATCH || argument->flags != SK_ARGUMENT_BY_VALUE || argument->size == 0 ||
	    argument->size > SK_MAX_BY_VALUE || argument->offset % 8)
		return sk_plan_fail(checker, "it cannot be passed by value");
	if (sk_argument_parts(argument) < 64 && argument->value >> sk_argument_parts(argument))
		return sk_plan_fail(checker, "floats in part 0x%" PRIx64 " of %" PRIu64 " bytes", argument->value,
				    argument->size);
	return sk_plan_within(argument->offset, 8 * (uint64_t)sk_argument_parts(argument),
			      sk_plan_form(launch)->scratch_size) ||
	       sk_plan_fail(checker, "it lies outside the launch's scratch of %" PRIu64 " bytes",
			    sk_plan_form(launch)->scratch_size);
}

/* Flags that may be combined, and their kinds. */
static bool check_flags(const struct sk_plan_checker *checker, const struct sk_plan_launch *launch,
			const struct sk_plan_argument *argument)
{
	uint32_t flags = argument->flags;
	bool address = !sk_argument_is_scalar(argument);
	uint64_t size = address ? sizeof(uint64_t) : dtype_size_or_none(argument);
	const struct sk_plan_pattern *pattern = sk_plan_pattern(checker->view, argument);

	if (flags & ~(uint32_t)SK_ARGUMENT_FLAGS)
		return sk_plan_fail(checker, "flags 0x%x are unknown", flags);
	if (flags & SK_ARGUMENT_OF_LIBRARY && argument->kind != SK_ARGUMENT_STATE)
		return sk_plan_fail(checker, "only a state can be the C library's");
	if (flags & SK_ARGUMENT_BY_REFERENCE && (address || argument->kind == SK_ARGUMENT_LOAD))
		return sk_plan_fail(checker, "only scalars are passed by reference");
	if (flags & SK_ARGUMENT_WHOLE && argument->element_bytes == 0 && !(pattern && pattern->inner_bytes))
		return sk_plan_fail(checker, "only divided tensors are passed whole");
	if (flags & SK_ARGUMENT_STATUS &&
	    (!(flags & SK_ARGUMENT_BY_REFERENCE) || (argument->dtype != SK_I32 && argument->dtype != SK_I64)))
		return sk_plan_fail(checker, "a status is an i32 or i64 by reference");
	if (!(flags & SK_ARGUMENT_FIELD))
		return argument->field == 0 || sk_plan_fail(checker, "a reserved field is not zero");
	if (flags & SK_ARGUMENT_BY_REFERENCE || argument->kind == SK_ARGUMENT_RESULT ||
	    argument->kind == SK_ARGUMENT_STATE)
		return sk_plan_fail(checker, "it cannot be a field");
	if (argument->field % size)
		return sk_plan_fail(checker, "field %u is not aligned to %" PRIu64 " bytes", argument->field, size);
	if (pattern && pattern->table_count && __builtin_mul_overflow(pattern->table_count, sizeof(uint64_t), &size))
		size = UINT64_MAX;
	return sk_plan_within(argument->field, size, sk_plan_form(launch)->scratch_size) ||
	       sk_plan_fail(checker, "its field lies outside the launch's scratch of %" PRIu64 " bytes",
			    sk_plan_form(launch)->scratch_size);
}

enum { DTYPE = 1, INDEX = 2, OFFSET = 4, SIZE = 8, ELEMENT_BYTES = 16, VALUE = 32, TENSOR = 64 };

/* The fields that have a meaning for each kind. */
static const uint8_t fields_of[SK_ARGUMENT_KIND_COUNT] = {
	[SK_ARGUMENT_POINTER] = DTYPE | INDEX | OFFSET | SIZE | ELEMENT_BYTES | VALUE | TENSOR,
	[SK_ARGUMENT_VALUE] = DTYPE | VALUE,
	[SK_ARGUMENT_LENGTH] = DTYPE,
	[SK_ARGUMENT_LOAD] = DTYPE | INDEX | OFFSET | SIZE | TENSOR,
	[SK_ARGUMENT_SCRATCH] = OFFSET | SIZE | VALUE,
	[SK_ARGUMENT_RESULT] = DTYPE | INDEX | OFFSET | SIZE | TENSOR,
	[SK_ARGUMENT_STATE] = INDEX,
	[SK_ARGUMENT_EXPRESSION] = DTYPE | INDEX | SIZE | VALUE,
	[SK_ARGUMENT_SYMBOL] = INDEX,
};

/* All others are 0: an argument has one representation. */
static bool check_unused(const struct sk_plan_checker *checker, const struct sk_plan_argument *argument)
{
	uint32_t set = (argument->dtype ? DTYPE : 0) | (argument->index ? INDEX : 0) | (argument->offset ? OFFSET : 0) |
		       (argument->size ? SIZE : 0) | (argument->element_bytes ? ELEMENT_BYTES : 0) |
		       (argument->value ? VALUE : 0) | (argument->tensor ? TENSOR : 0);

	if (argument->access != sk_plan_access(argument))
		return sk_plan_fail(checker, "access %u is not that of its kind", argument->access);
	return !(set & ~(uint32_t)fields_of[argument->kind]) ||
	       sk_plan_fail(checker, "a field that kind %u does not have is not zero", argument->kind);
}

/* The fields of each kind of argument; the checks above do the rest. */
static bool check_argument(const struct sk_plan_checker *checker, const struct sk_plan_launch *launch,
			   const struct sk_plan_step *step, const struct sk_plan_call *call,
			   const struct sk_plan_argument *argument)
{
	bool typed = argument->kind <= SK_ARGUMENT_LOAD || argument->kind == SK_ARGUMENT_RESULT ||
		     argument->kind == SK_ARGUMENT_EXPRESSION;
	bool in_memory = argument->kind == SK_ARGUMENT_POINTER || argument->kind == SK_ARGUMENT_LOAD ||
			 argument->kind == SK_ARGUMENT_RESULT;

	if (argument->kind == SK_ARGUMENT_NONE || argument->kind >= SK_ARGUMENT_KIND_COUNT)
		return sk_plan_fail(checker, "kind %u is unknown", argument->kind);
	if (typed && dtype_size_or_none(argument) == 0)
		return sk_plan_fail(checker, "element type %u is unknown", argument->dtype);
	if (argument->space != SK_SPACE_NONE && !in_memory && argument->kind != SK_ARGUMENT_STATE)
		return sk_plan_fail(checker, "only tensors lie in space %u", argument->space);
	if (!check_by_value(checker, launch, argument) || !check_flags(checker, launch, argument))
		return false;
	switch (argument->kind) {
	case SK_ARGUMENT_POINTER:
		return check_pointer(checker, launch, step, call, argument);
	case SK_ARGUMENT_VALUE:
		return check_value(checker, argument);
	case SK_ARGUMENT_LENGTH:
		if (argument->dtype > SK_U64)
			return sk_plan_fail(checker, "a length cannot be %s", sk_dtype_name(argument->dtype));
		return sk_plan_divides(step) || sk_plan_fail(checker, "its step has no extent");
	case SK_ARGUMENT_LOAD:
	case SK_ARGUMENT_RESULT:
		return check_cell(checker, launch, argument);
	case SK_ARGUMENT_BLOCK:
		return step->kind != SK_STEP_SPLIT || sk_plan_fail(checker, "its step has no blocks");
	case SK_ARGUMENT_SCRATCH:
		return sk_plan_within(argument->offset, argument->size, sk_plan_form(launch)->scratch_size) ||
		       sk_plan_fail(checker, "it lies outside the launch's scratch of %" PRIu64 " bytes",
				    sk_plan_form(launch)->scratch_size);
	case SK_ARGUMENT_EXPRESSION:
		return check_expression(checker, step, call, argument);
	case SK_ARGUMENT_SYMBOL:
		return argument->index < checker->view->symbol_count ||
		       sk_plan_fail(checker, "symbol %u is out of range (%u symbols)", argument->index,
				    checker->view->symbol_count);
	case SK_ARGUMENT_STATE:
		return argument->space == SK_SPACE_STATE ||
		       sk_plan_fail(checker, "a state in space %u", argument->space);
	}
	return false;
}

static bool check_arguments(struct sk_plan_checker *checker, const struct sk_plan_launch *launch,
			    const struct sk_plan_step *step, const struct sk_plan_call *call)
{
	const struct sk_plan_argument *arguments = sk_plan_arguments(checker->view, call);
	bool result = false, status = call->flags & SK_CALL_STATUS;

	for (uint32_t i = 0; i < call->argument_count; i++) {
		const struct sk_plan_argument *argument = &arguments[i];

		checker->argument = i;
		if (!check_argument(checker, launch, step, call, argument) || !check_unused(checker, argument))
			return false;
		if (argument->kind == SK_ARGUMENT_RESULT && result)
			return sk_plan_fail(checker, "a call has one result");
		if (argument->flags & SK_ARGUMENT_STATUS && status)
			return sk_plan_fail(checker, "a call has one status");
		result |= argument->kind == SK_ARGUMENT_RESULT;
		status |= argument->flags & SK_ARGUMENT_STATUS;
		if (result && (call->flags & SK_CALL_STATUS))
			return sk_plan_fail(checker, "the returned value cannot be both a status and a result");
	}
	checker->argument = SK_NO_INDEX;
	return true;
}

/* ---- calls ---- */

/* The most terms in the expressions of one call. Calls may share them, and each checks its own. */
enum { MOST_TERMS = 16384 };

/* Check the other records of a call's arguments, which are consecutive; with lists they may be anywhere. */
static bool check_argument_records(const struct sk_plan_checker *checker, const struct sk_plan_call *call,
				   struct sk_plan_ends *ends)
{
	const struct sk_plan_view *view = checker->view;
	uint64_t terms = 0;

	for (uint32_t i = 0; i < call->argument_count; i++) {
		const struct sk_plan_argument *argument = &view->arguments[call->first_argument + i];
		uint32_t pattern = (uint32_t)argument->value; /* of a POINTER */

		if (view->list_count)
			ends->terms = ends->patterns = 0;
		if (argument->kind == SK_ARGUMENT_POINTER && pattern > view->pattern_count)
			return sk_plan_fail(checker, "pattern %u is out of range (%u patterns)", pattern - 1,
					    view->pattern_count);
		if (argument->kind == SK_ARGUMENT_POINTER && pattern &&
		    !sk_plan_check_slice(checker, "patterns", pattern - 1, 1, &ends->patterns, view->pattern_count))
			return false;
		if (argument->kind == SK_ARGUMENT_EXPRESSION && argument->size > view->term_count)
			return sk_plan_fail(checker, "%" PRIu64 " terms are more than there are", argument->size);
		terms += argument->kind == SK_ARGUMENT_EXPRESSION ? argument->size : 0;
		if (terms > MOST_TERMS)
			return sk_plan_fail(checker, "its arguments have more than %d terms", MOST_TERMS);
		if (argument->kind == SK_ARGUMENT_EXPRESSION &&
		    !sk_plan_check_slice(checker, "terms", argument->index, (uint32_t)argument->size, &ends->terms,
					 view->term_count))
			return false;
	}
	return true;
}

bool sk_plan_check_call_slices(struct sk_plan_checker *checker, const struct sk_plan_call *call, bool unshared,
			       struct sk_plan_ends *ends)
{
	const struct sk_plan_view *view = checker->view;

	if (call->reserved || (!view->list_count && (call->list || call->first_operand)))
		return sk_plan_fail(checker, "a reserved field is not zero");
	return sk_plan_check_slice(checker, "arguments", call->first_argument, call->argument_count, &ends->arguments,
				   view->argument_count) &&
	       sk_plan_check_slice(checker, "loops", call->first_loop, call->loop_count, &ends->loops,
				   view->loop_count) &&
	       sk_plan_make_arguments(checker, call, unshared) && check_argument_records(checker, call, ends);
}

static bool check_loops(const struct sk_plan_checker *checker, const struct sk_plan_step *step,
			const struct sk_plan_call *call)
{
	const struct sk_plan_loop *loops = sk_plan_loops(checker->view, call);

	if (!loops)
		return true;
	if (step->kind != SK_STEP_SPLIT || call->loop_count > SK_MAX_LOOPS)
		return sk_plan_fail(checker, "a call of kind %u cannot have %u loops", step->kind, call->loop_count);
	for (uint32_t i = 0; i < call->loop_count; i++)
		if (loops[i].tile == 0 || loops[i].tile > INT64_MAX || (loops[i].extent == 0 && !checker->view->copy) ||
		    loops[i].extent > INT64_MAX)
			return sk_plan_fail(checker, "tiles of %" PRIu64 " of %" PRIu64 " elements are not possible",
					    loops[i].tile, loops[i].extent);
	if (loops[0].extent != sk_plan_extent(step, call))
		return sk_plan_fail(checker, "its loop goes through %" PRIu64 " elements, its call through %" PRIu64,
				    loops[0].extent, sk_plan_extent(step, call));
	uint64_t unit = checker->view->partitions[step->partition].unit;

	return (!__builtin_mul_overflow(unit, call->scale, &unit) && unit % loops[0].tile == 0) ||
	       sk_plan_fail(checker, "units of %" PRIu64 " elements are not whole tiles of %" PRIu64, unit,
			    loops[0].tile);
}

/* Check the elements of the call for each element of the step. */
static bool check_scale(const struct sk_plan_checker *checker, const struct sk_plan_step *step,
			const struct sk_plan_call *call)
{
	uint64_t bytes;

	if (call->scale == 0 || (call->scale != 1 && step->tile == 0))
		return sk_plan_fail(checker, "a scale of %" PRIu64 " does not fit its step", call->scale);
	return !__builtin_mul_overflow(step->extent, call->scale, &bytes) ||
	       sk_plan_fail(checker, "a scale of %" PRIu64 " is not possible", call->scale);
}

bool sk_plan_check_call(struct sk_plan_checker *checker, const struct sk_plan_launch *launch,
			const struct sk_plan_step *step, const struct sk_plan_call *call)
{
	const struct sk_plan_view *view = checker->view;

	if (call->task >= view->task_count)
		return sk_plan_fail(checker, "task %u is out of range (%u tasks)", call->task, view->task_count);
	const struct sk_plan_task *task = &view->tasks[call->task];

	if ((sk_plan_is_task_launch(launch) ? task->task_launch : task->launch) != checker->index)
		return sk_plan_fail(checker, "task %u does not belong to this launch", call->task);
	if (call->kernel >= view->kernel_count)
		return sk_plan_fail(checker, "kernel %u is out of range (%u kernels)", call->kernel,
				    view->kernel_count);
	if (call->kernel != task->kernel)
		return sk_plan_fail(checker, "kernel %u is not its task's", call->kernel);
	if (sk_plan_form(launch)->copies > 1 &&
	    (!view->kernels[call->kernel].first_copy ||
	     sk_plan_form(launch)->copies - 1u > view->kernel_count - view->kernels[call->kernel].first_copy))
		return sk_plan_fail(checker, "kernel %u does not have the copies that its launch needs", call->kernel);
	if (call->flags & ~SK_CALL_FLAGS)
		return sk_plan_fail(checker, "flags 0x%x of its call are unknown", call->flags);
	return check_scale(checker, step, call) && check_loops(checker, step, call) &&
	       check_arguments(checker, launch, step, call);
}
