/* The assignment of a request's tensors to parameters, by position, by direction or by name, and checks of them. */
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/text.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "src/bind/bind-parts.h"
#include "src/model/model.h"

static bool takes_tensor(const struct sk_signature *signature, uint32_t parameter)
{
	return parameter == signature->parameter_count ? signature->result != NULL
						       : signature->parameters[parameter].kind == SK_PARAMETER_TENSOR;
}

static enum sk_access access_of(const struct sk_signature *signature, uint32_t parameter)
{
	return parameter == signature->parameter_count ? SK_ACCESS_WRITE : signature->parameters[parameter].access;
}

static bool is_optional(const struct sk_signature *signature, uint32_t parameter)
{
	return parameter < signature->parameter_count && signature->parameters[parameter].optional;
}

/* Return a text such as "in x f32, in? y f32, out z f32". */
static const char *list_parameters(const struct sk_binder *binder)
{
	static const char *const directions[] = {"", "in", "out", "inout"};
	const struct sk_signature *signature = binder->signature;
	const char *text = "";

	for (uint32_t p = 0; p <= signature->parameter_count; p++) {
		if (!takes_tensor(signature, p))
			continue;

		bool result = p == signature->parameter_count;

		text = sk_arena_print(binder->model->arena, "%s%s%s%s %s %s", text, *text ? ", " : "",
				      directions[access_of(signature, p)], is_optional(signature, p) ? "?" : "",
				      sk_binder_parameter_name(signature, p),
				      sk_dtype_name(result ? signature->result_dtype : signature->parameters[p].dtype));
	}
	return *text ? text : "none";
}

static void match_by_position(struct sk_binder *binder)
{
	const struct sk_request *request = binder->request;
	size_t taken = 0, wanted = 0, least = 0, given = request->arguments.count;

	for (uint32_t p = 0; p <= binder->signature->parameter_count; p++) {
		if (!takes_tensor(binder->signature, p))
			continue;
		wanted++;
		if (!is_optional(binder->signature, p))
			least = wanted;
		if (taken < given)
			binder->args[p] = &request->arguments.items[taken++];
	}
	if ((given < least || given > wanted) && !sk_binder_fails(binder)) {
		const char *range = least < wanted ? sk_arena_print(binder->model->arena, "%zu to ", least) : "";

		sk_binder_error(binder, given ? request->arguments.items[0].place : request->place,
				"%s%zu argument%s needed (%s), but %zu given", range, wanted,
				wanted == 1 ? " is" : "s are", list_parameters(binder), given);
	}
}

/* The inputs or the outputs of a request, and the number of those that have been taken. */
struct operands {
	const struct sk_request_argument *items;
	size_t count, taken;
	bool missing;
};

static const struct sk_request_argument *take_operand(struct operands *operands, bool optional)
{
	if (operands->taken < operands->count)
		return &operands->items[operands->taken++];
	operands->missing |= !optional;
	return NULL;
}

/* Return whether all operands have been taken, except absent ones. */
static bool fits(const struct operands *operands)
{
	for (size_t i = operands->taken; i < operands->count; i++)
		if (operands->items[i].tensor)
			return false;
	return !operands->missing;
}

/* A parameter that is read and written takes an input and an output. */
static void check_inout(struct sk_binder *binder, uint32_t p, const struct sk_request_argument *input,
			const struct sk_request_argument *output)
{
	if (input && output && input->index != output->index)
		sk_binder_error(
			binder, output->place,
			"'%s' is read and written, but the input for it is tensor '%s', and the output tensor '%s'",
			binder->signature->parameters[p].name, input->tensor ? input->tensor->name : "null",
			output->tensor ? output->tensor->name : "null");
}

static void match_by_direction(struct sk_binder *binder)
{
	const struct sk_signature *signature = binder->signature;
	const struct sk_request *request = binder->request;
	struct operands inputs = {.items = request->arguments.items, .count = request->input_count};
	struct operands outputs = {.items = request->arguments.items + request->input_count,
				   .count = request->arguments.count - request->input_count};

	for (uint32_t p = 0; p <= signature->parameter_count; p++) {
		const struct sk_request_argument *input = NULL, *output = NULL;

		if (!takes_tensor(signature, p))
			continue;
		if (access_of(signature, p) & SK_ACCESS_READ)
			input = take_operand(&inputs, is_optional(signature, p));
		if (access_of(signature, p) & SK_ACCESS_WRITE)
			output = take_operand(&outputs, is_optional(signature, p));
		check_inout(binder, p, input, output);
		binder->args[p] = input ? input : output;
	}
	if ((!fits(&inputs) || !fits(&outputs)) && !sk_binder_fails(binder))
		sk_binder_error(binder, request->place, "%zu input%s and %zu output%s are given, but the kernel has %s",
				inputs.count, sk_plural(inputs.count), outputs.count, sk_plural(outputs.count),
				list_parameters(binder));
}

static void report_wrong_name(struct sk_binder *binder, const struct sk_name *name)
{
	const struct sk_signature *signature = binder->signature;
	uint32_t parameter = sk_signature_find_parameter(signature, name->text);
	const char *names[SK_MAX_PARAMETERS + 1];
	size_t count = 0;

	if (parameter != SK_NONE && signature->parameters[parameter].operands) {
		sk_binder_error(binder, name->place, "'%s' is a table of tensors, which are '%s[0]', '%s[1]' …",
				name->text, name->text, name->text);
		return;
	}
	if (parameter != SK_NONE) {
		sk_binder_error(binder, name->place,
				signature->parameters[parameter].kind == SK_PARAMETER_SCALAR
					? "'%s' is a scalar; give its value under 'set'"
					: "'%s' is scratch memory, which needs no tensor",
				name->text);
		return;
	}
	for (uint32_t p = 0; p <= signature->parameter_count; p++)
		if (takes_tensor(signature, p))
			names[count++] = sk_binder_parameter_name(signature, p);
	sk_binder_error(binder, name->place, "no parameter '%s'%s", name->text,
			sk_did_you_mean(binder->model->arena, name->text, names, count));
}

static void match_by_name(struct sk_binder *binder)
{
	const struct sk_signature *signature = binder->signature;
	const struct sk_request *request = binder->request;
	const char *missing = "";

	for (size_t i = 0; i < request->arguments.count; i++) {
		const struct sk_name *name = &request->parameters[i];
		uint32_t parameter = sk_signature_find_parameter(signature, name->text);

		if (signature->result && !strcmp(signature->result, name->text))
			parameter = signature->parameter_count;
		if (parameter == SK_NONE || !takes_tensor(signature, parameter))
			report_wrong_name(binder, name);
		else
			binder->args[parameter] = &request->arguments.items[i];
	}
	for (uint32_t p = 0; p <= signature->parameter_count; p++)
		if (takes_tensor(signature, p) && !binder->args[p] && !is_optional(signature, p))
			missing = sk_arena_print(binder->model->arena, "%s%s'%s'", missing, *missing ? ", " : "",
						 sk_binder_parameter_name(signature, p));
	if (*missing)
		sk_binder_error(binder, request->place, "no tensor for %s", missing);
}

static void check_tensor(struct sk_binder *binder, uint32_t p)
{
	const struct sk_model *model = binder->model;
	const struct sk_signature *signature = binder->signature;
	const struct sk_request_argument *arg = binder->args[p];
	bool result = p == signature->parameter_count;
	const struct sk_parameter *parameter = result ? NULL : &signature->parameters[p];
	enum sk_dtype wanted = result ? signature->result_dtype : parameter->dtype;
	const struct sk_tensor *tensor = arg->tensor;

	if (!tensor && is_optional(signature, p))
		return;
	if (!tensor)
		sk_binder_error(binder, arg->place, "argument '%s' cannot be absent",
				sk_binder_parameter_name(signature, p));
	else if (tensor->dtype != wanted)
		sk_binder_error(binder, arg->place, "argument '%s' is %s, but tensor '%s' is %s",
				sk_binder_parameter_name(signature, p), sk_dtype_name(wanted), tensor->name,
				sk_dtype_name(tensor->dtype));
	else if (result && tensor->elements != 1)
		sk_binder_error(binder, arg->place, "the result '%s' is one element, but tensor '%s' is %s",
				signature->result, tensor->name,
				sk_shape_text(model->arena, tensor->rank, tensor->shape));
	else if (tensor->rows.count && (result || parameter->stride == SK_NONE))
		sk_binder_error(
			binder, arg->place,
			"view '%s' has gaps: rows of %" PRIu64 " byte%s, %" PRIu64
			" byte%s apart; argument '%s' takes it if its signature gives the distance of its rows, "
			"as in f32[m,k:lda]",
			tensor->name, tensor->rows.width, sk_plural(tensor->rows.width), tensor->rows.stride,
			sk_plural(tensor->rows.stride), sk_binder_parameter_name(signature, p));
	else if (!result && tensor->rank < parameter->rank && parameter->rank > 1)
		sk_binder_error(binder, arg->place, "argument '%s' has %u dimension%s, but tensor '%s' is %s",
				parameter->name, parameter->rank, sk_plural(parameter->rank), tensor->name,
				sk_shape_text(model->arena, tensor->rank, tensor->shape));
	else
		binder->tensors[p] = tensor;
}

void sk_binder_match_tensors(struct sk_binder *binder)
{
	if (binder->request->parameters)
		match_by_name(binder);
	else if (binder->request->directed)
		match_by_direction(binder);
	else
		match_by_position(binder);
	for (uint32_t p = 0; p <= binder->signature->parameter_count; p++)
		if (binder->args[p])
			check_tensor(binder, p);
}
