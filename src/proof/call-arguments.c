/* Checks each argument of a call on its own: scalars, scratch and structs, results, and hidden state. call-memory.c
 * checks tensors. */
#include "src/proof/proof-parts.h"

#include <inttypes.h>
#include <string.h>

#include "base/map.h"
#include "base/ranges.h"
#include "format/convention.h"
#include "format/plan/plan.h"
#include "format/signature/signature.h"
#include "format/skplan.h"

enum { SCRATCH_ALIGNMENT = 64 };

/* A scalar loaded from one element of a tensor. */
static bool check_loaded(struct sk_calls *calls, uint32_t number)
{
	const struct sk_parameter *parameter = &calls->signature->parameters[number];
	const struct sk_plan_argument *argument = sk_call_argument(calls, number);

	if (parameter->by_reference != (argument->kind == SK_ARGUMENT_POINTER))
		return sk_call_disagree(calls, "%s is passed by %s", sk_call_parameter_text(calls, number),
					parameter->by_reference ? "value" : "reference");
	if (!sk_call_check_memory(calls, number, parameter->dtype, SK_ACCESS_READ))
		return false;
	if (sk_plan_pattern(calls->view, argument))
		return sk_call_disagree(calls, "%s is one element, but has a pattern",
					sk_call_parameter_text(calls, number));
	return (sk_call_elements(calls, argument) == 1 && argument->element_bytes == 0) ||
	       sk_call_disagree(calls, "%s is %" PRIu64 " elements, not one", sk_call_parameter_text(calls, number),
				sk_call_elements(calls, argument));
}

/* The address of the symbol that the signature names. */
static bool check_symbol(struct sk_calls *calls, uint32_t number)
{
	const struct sk_plan_argument *argument = sk_call_argument(calls, number);
	const char *name = calls->signature->parameters[number].value->name;

	return (argument->kind == SK_ARGUMENT_SYMBOL &&
		!strcmp(sk_plan_string(&calls->view->symbols[argument->index].name), name)) ||
	       sk_call_disagree(calls, "%s is not the address of '%s'", sk_call_parameter_text(calls, number), name);
}

/* The address of a list among the constants or the sizes, or null for an empty list. Only the plan knows the list's
 * length. */
static bool check_list(struct sk_calls *calls, uint32_t number)
{
	const struct sk_plan_argument *argument = sk_call_argument(calls, number);

	if (argument->kind == SK_ARGUMENT_VALUE)
		return (argument->dtype == SK_U64 && !argument->value && !(argument->flags & ~SK_ARGUMENT_FIELD)) ||
		       sk_call_disagree(calls, "%s is neither a list nor null", sk_call_parameter_text(calls, number));
	if (argument->kind != SK_ARGUMENT_POINTER ||
	    (argument->space != SK_SPACE_CONSTANT && argument->space != SK_SPACE_SIZES) ||
	    (argument->dtype != SK_I64 && argument->dtype != SK_F32) || argument->element_bytes ||
	    sk_plan_pattern(calls->view, argument) || argument->flags & ~SK_ARGUMENT_FIELD)
		return sk_call_disagree(calls, "%s is not the address of a constant list",
					sk_call_parameter_text(calls, number));
	return sk_call_check_memory(calls, number, (enum sk_dtype)argument->dtype, SK_ACCESS_READ);
}

/* The argument holds a status exactly if the signature says so; a status is 0 before the call. */
static bool check_status(struct sk_calls *calls, uint32_t number)
{
	const struct sk_plan_argument *argument = sk_call_argument(calls, number);
	bool status = calls->signature->status == number;

	if (!(argument->flags & SK_ARGUMENT_STATUS) == status)
		return sk_call_disagree(calls, "%s is %s status", sk_call_parameter_text(calls, number),
					status ? "not a" : "a");
	return !status || (argument->kind == SK_ARGUMENT_VALUE && argument->value == 0) ||
	       sk_call_disagree(calls, "%s is not 0 before the call", sk_call_parameter_text(calls, number));
}

/* The length of a part, for a kernel with loops. */
static bool check_part_length(struct sk_calls *calls, uint32_t number, uint32_t extent)
{
	const struct sk_value_expression size = {.kind = SK_VALUE_SIZE, .index = extent};

	return sk_call_check_value(calls, number, &size);
}

/* A part may be as long as the extent, so the type must be able to hold it. */
static bool holds(enum sk_dtype type, uint64_t extent)
{
	uint32_t bits = 8 * sk_dtype_size(type) - sk_dtype_is_signed(type);

	return bits == 64 || extent >> bits == 0;
}

static bool check_scalar(struct sk_calls *calls, uint32_t number)
{
	const struct sk_signature *signature = calls->signature;
	const struct sk_parameter *parameter = &signature->parameters[number];
	const struct sk_plan_argument *argument = sk_call_argument(calls, number);
	uint32_t extent = parameter->value ? SK_NONE : sk_signature_find_extent(signature, parameter->name);
	bool part = extent != SK_NONE && signature->loop_count && sk_signature_divides(signature, extent);
	bool length =
		extent != SK_NONE && signature->spread == SK_STEP_SPLIT && extent == signature->spread_extent && !part;
	bool computed = (part || parameter->value) && argument->kind == SK_ARGUMENT_EXPRESSION;
	bool loaded = argument->kind == SK_ARGUMENT_LOAD || argument->kind == SK_ARGUMENT_POINTER;

	if (parameter->value && parameter->value->kind == SK_VALUE_SYMBOL)
		return check_symbol(calls, number);
	if (parameter->value && parameter->value->kind == SK_VALUE_ATTRIBUTE && parameter->pointer)
		return check_list(calls, number);
	if (!check_status(calls, number))
		return false;
	if (loaded && extent == SK_NONE && !parameter->value)
		return check_loaded(calls, number);
	if (argument->kind != (length ? SK_ARGUMENT_LENGTH : SK_ARGUMENT_VALUE) && !computed)
		return sk_call_disagree(calls, "%s is %s the number of elements of a call",
					sk_call_parameter_text(calls, number),
					length ? "not" : "neither a number nor an element of a tensor, nor");
	if (length && !holds(parameter->dtype, calls->step->extent))
		return sk_call_disagree(calls, "%s cannot be %" PRIu64, sk_call_parameter_text(calls, number),
					calls->step->extent);
	if (argument->dtype != parameter->dtype)
		return sk_call_disagree(calls, "%s is %s", sk_call_parameter_text(calls, number),
					sk_dtype_name(argument->dtype));
	if (!(argument->flags & SK_ARGUMENT_BY_REFERENCE) != !parameter->by_reference)
		return sk_call_disagree(calls, "%s is passed by %s", sk_call_parameter_text(calls, number),
					parameter->by_reference ? "value" : "reference");
	if (part)
		return check_part_length(calls, number, extent);
	return extent == SK_NONE || length || sk_call_learn(calls, extent, argument->value);
}

/* A struct by value is the only scratch that is not passed by address: its parts are passed in registers. */
static bool check_by_value(struct sk_calls *calls, uint32_t number)
{
	const struct sk_parameter *parameter = &calls->signature->parameters[number];
	const struct sk_plan_argument *argument = sk_call_argument(calls, number);

	if (!(argument->flags & SK_ARGUMENT_BY_VALUE) == parameter->by_value)
		return sk_call_disagree(calls, "%s is passed by %s", sk_call_parameter_text(calls, number),
					parameter->by_value ? "reference" : "value");
	return argument->value == parameter->float_parts ||
	       sk_call_disagree(calls, "parts 0x%" PRIx64 " of %s are floats, not 0x%" PRIx64, parameter->float_parts,
				sk_call_parameter_text(calls, number), argument->value);
}

/* *offset: the offset of the next piece of scratch. */
static bool check_scratch(struct sk_calls *calls, uint32_t number, uint64_t bytes, uint64_t *offset)
{
	const struct sk_plan_argument *argument = sk_call_argument(calls, number);

	/* A size computed from extents is compared once they are known. */
	if (argument->kind != SK_ARGUMENT_SCRATCH || argument->offset != *offset ||
	    (!calls->signature->parameters[number].scratch_count && argument->size != bytes))
		return sk_call_disagree(calls, "%s is not %" PRIu64 " bytes of scratch at offset %" PRIu64,
					sk_call_parameter_text(calls, number), bytes, *offset);
	if (!check_by_value(calls, number))
		return false;
	return (sk_add(*offset, argument->size, offset) && sk_align(*offset, SCRATCH_ALIGNMENT, offset)) ||
	       sk_call_disagree(calls, "more than 2^63 bytes of scratch");
}

/* Return the struct's size. For a table, which is its only field and may be of any length, the plan gives the number of
 * entries. 0: too many. */
static uint64_t struct_bytes(const struct sk_calls *calls, uint32_t number)
{
	const struct sk_parameter *parameters = calls->signature->parameters;
	const struct sk_plan_argument *field = sk_call_argument(calls, number + 1);
	uint64_t bytes;

	if (!parameters[number + 1].table_count)
		return parameters[number].scratch_bytes;

	const struct sk_plan_pattern *pattern = sk_plan_pattern(calls->view, field);

	return pattern && sk_mul(pattern->table_count, sizeof(uint64_t), &bytes) ? bytes : 0;
}

/* Structs precede all other scratch. */
static bool check_structs(struct sk_calls *calls, uint64_t *offset)
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

/* The value is passed, or stored at the struct's offset for it. */
static bool check_place(struct sk_calls *calls, uint32_t number)
{
	const struct sk_parameter *parameter = &calls->signature->parameters[number];
	const struct sk_plan_argument *argument = sk_call_argument(calls, number);
	bool field = parameter->owner != SK_NONE;

	if (!(argument->flags & SK_ARGUMENT_FIELD) == field)
		return sk_call_disagree(calls, "%s is %s", sk_call_parameter_text(calls, number),
					field ? "passed" : "a field");
	return !field || argument->field == calls->frames[parameter->owner] + parameter->offset ||
	       sk_call_disagree(calls, "%s is stored at byte %u", sk_call_parameter_text(calls, number),
				argument->field);
}

static bool check_parameter(struct sk_calls *calls, uint32_t number, uint64_t *scratch)
{
	const struct sk_parameter *parameter = &calls->signature->parameters[number];

	if (!check_place(calls, number))
		return false;
	switch (parameter->kind) {
	case SK_PARAMETER_TENSOR:
		return sk_call_check_tensor(calls, number);
	case SK_PARAMETER_SCALAR:
		return check_scalar(calls, number);
	case SK_PARAMETER_SCRATCH:
		return check_scratch(calls, number, parameter->scratch_bytes, scratch);
	case SK_PARAMETER_STRUCT:
		return true;
	case SK_PARAMETER_BLOCK:
		return sk_call_argument(calls, number)->kind == SK_ARGUMENT_BLOCK ||
		       sk_call_disagree(calls, "no block index is passed");
	}
	return false;
}

static bool check_result(struct sk_calls *calls, uint32_t number)
{
	if (sk_call_argument(calls, number)->kind != SK_ARGUMENT_RESULT)
		return sk_call_disagree(calls, "its result is not stored");
	return sk_call_check_memory(calls, number, calls->signature->result_dtype, SK_ACCESS_WRITE);
}

/* If a kernel keeps hidden state between calls, all its calls share that state; the signature does not identify it. */
static bool check_states(struct sk_calls *calls, uint32_t first)
{
	const struct sk_plan_call *call = calls->call;
	const struct sk_plan_call *other = calls->states_of[call->kernel];

	for (uint32_t i = first; i < call->argument_count; i++)
		if (sk_call_argument(calls, i)->kind != SK_ARGUMENT_STATE || calls->signature->reentrant)
			return sk_call_disagree(calls, "it has %u arguments instead of %u", call->argument_count,
						first);
	if (!other)
		other = calls->states_of[call->kernel] = call;
	for (uint32_t i = first; i < call->argument_count || i < other->argument_count; i++)
		if (call->argument_count != other->argument_count ||
		    sk_call_argument(calls, i)->index != calls->view->arguments[other->first_argument + i].index)
			return sk_call_disagree(calls, "hidden state is not that of the call of task '%s'",
						sk_plan_string(&calls->view->tasks[other->task].name));
	return true;
}

bool sk_call_check_arguments(struct sk_calls *calls)
{
	const struct sk_signature *signature = calls->signature;
	uint32_t wanted = signature->parameter_count + (signature->result ? 1 : 0);
	uint64_t scratch = 0;

	if (calls->call->argument_count < wanted)
		return sk_call_disagree(calls, "it has %u arguments instead of %u", calls->call->argument_count,
					wanted);
	if (!check_structs(calls, &scratch))
		return false;
	for (uint32_t i = 0; i < signature->parameter_count; i++)
		if (!check_parameter(calls, i, &scratch))
			return false;
	return (!signature->result || check_result(calls, signature->parameter_count)) && check_states(calls, wanted);
}
