/* A package's plan as a drawing for Graphviz: launches are clusters, and so are steps with several calls. A call is a
 * box, a tensor an ellipse. Lines are data, awaits, and launches that follow others. */
#include <inttypes.h>

#include "base/arena.h"
#include "base/text.h"
#include "format/plan/plan.h"
#include "format/skdims.h"
#include "format/skplan.h"
#include "src/skdump/skdump.h"

static void print(const struct sk_show *show, const char *text)
{
	sk_dot_print(text, show->stream);
}

static void draw_tensor(const struct sk_show *show, uint32_t index)
{
	static const char *const styles[] = {"", "solid", "bold", "bold", "dotted", "dashed"};
	const struct sk_plan_tensor *tensor = &show->file->plan.tensors[index];
	const struct sk_plan_type *type = sk_plan_type(tensor);

	fprintf(show->stream, "t%" PRIu32 " [shape=ellipse, style=%s, label=\"", index, styles[tensor->role]);
	print(show, sk_show_name(show, &tensor->name));
	fprintf(show->stream, "\\n%s[", sk_dtype_name(type->dtype));
	for (uint32_t i = 0; i < type->rank; i++) {
		fputs(i ? ", " : "", show->stream);
		print(show, SK_SHOW_SIZE(show, SK_DIMS_TYPES, types, type, shape[i]));
	}
	fprintf(show->stream, "]%s\"]\n", tensor->space == SK_SPACE_SCRATCH ? "\\na tile at a time" : "");
}

static uint32_t number_of_call(const struct sk_plan_view *plan, const struct sk_plan_call *call)
{
	return (uint32_t)(call - plan->calls);
}

/* Lists of sizes belong to no tensor. */
static enum sk_access tensor_access(const struct sk_plan_argument *argument)
{
	bool none = argument->kind == SK_ARGUMENT_STATE || argument->space == SK_SPACE_SIZES;

	return none ? SK_ACCESS_NONE : sk_plan_access(argument);
}

/* Return the access of the call's first `end` arguments to the tensor. */
static enum sk_access access_of(const struct sk_plan_argument *arguments, uint32_t end, uint32_t tensor)
{
	unsigned access = SK_ACCESS_NONE;

	for (uint32_t i = 0; i < end; i++)
		if (tensor_access(&arguments[i]) && arguments[i].tensor == tensor)
			access |= tensor_access(&arguments[i]);
	return (enum sk_access)access;
}

/* Draw one line for each tensor and direction, even if several arguments refer to it. */
static void draw_data(const struct sk_show *show, const struct sk_plan_call *call, bool *drawn)
{
	const struct sk_plan_argument *arguments = sk_plan_arguments(&show->file->plan, call);
	uint32_t number = number_of_call(&show->file->plan, call);

	for (uint32_t i = 0; i < call->argument_count; i++) {
		uint32_t tensor = arguments[i].tensor;
		unsigned fresh = tensor_access(&arguments[i]) & ~(unsigned)access_of(arguments, i, tensor);

		if (!tensor_access(&arguments[i]))
			continue;
		if (!drawn[tensor])
			draw_tensor(show, tensor);
		drawn[tensor] = true;
		if (fresh & SK_ACCESS_READ)
			fprintf(show->stream, "t%" PRIu32 " -> c%" PRIu32 "\n", tensor, number);
		if (fresh & SK_ACCESS_WRITE)
			fprintf(show->stream, "c%" PRIu32 " -> t%" PRIu32 "\n", number, tensor);
	}
}

static void draw_call(const struct sk_show *show, const struct sk_plan_step *step, const struct sk_plan_call *call)
{
	const struct sk_plan_view *plan = &show->file->plan;
	const char *side = step->flags & SK_STEP_CUBE_SIDE     ? "\\ncube side"
			   : step->flags & SK_STEP_VECTOR_SIDE ? "\\nvector side"
							       : "";

	fprintf(show->stream, "c%" PRIu32 " [shape=box, label=\"", number_of_call(plan, call));
	print(show, sk_show_task(show, call));
	fputs("\\n", show->stream);
	print(show, sk_show_name(show, &plan->kernels[call->kernel].name));
	fprintf(show->stream, "%s\"]\n", side);
}

static void draw_step(const struct sk_show *show, const struct sk_plan_step *step)
{
	const struct sk_plan_view *plan = &show->file->plan;
	struct sk_plan_calls calls = sk_plan_step_calls(plan, step);

	if (step->call_count > 1) {
		fprintf(show->stream, "subgraph cluster_step%" PRIu32 " { style=filled; color=lightgrey; label=\"",
			(uint32_t)(step - plan->steps));
		fprintf(show->stream,
			step->tile ? "step %" PRIu32 ", tiles of %" PRIu64 "\"\n" : "step %" PRIu32 "\"\n",
			step->number, step->tile);
	}
	for (const struct sk_plan_call *call = calls.first; call < calls.end; call++)
		draw_call(show, step, call);
	fputs(step->call_count > 1 ? "}\n" : "", show->stream);
}

static void draw_launch(const struct sk_show *show, uint32_t index)
{
	const struct sk_plan_launch *launch = &show->file->plan.launches[index];

	fprintf(show->stream, "subgraph cluster_launch%" PRIu32 " { label=\"", index);
	print(show, sk_show_name(show, &launch->name));
	fprintf(show->stream, "\\n%s, stream %" PRIu32 "\"\n", sk_show_kind(launch), sk_plan_form(launch)->stream);
	for (uint32_t i = 0; i < sk_plan_form(launch)->step_count; i++)
		draw_step(show, &show->file->plan.steps[launch->first_step + i]);
	fputs("}\n", show->stream);
}

/* Draw from the last call of the awaited step to the first call of the awaiting step. */
static void draw_awaits(const struct sk_show *show, const struct sk_plan_step *step)
{
	const struct sk_plan_view *plan = &show->file->plan;

	for (uint32_t i = 0; i < step->await_count; i++) {
		const struct sk_plan_step *awaited = &plan->steps[plan->awaits[step->first_await + i].step];

		fprintf(show->stream,
			"c%" PRIu32 " -> c%" PRIu32
			" [style=dashed, color=red, constraint=false, tooltip=\"awaits\"]\n",
			number_of_call(plan, sk_plan_step_calls(plan, awaited).end - 1), step->first_call);
	}
}

static void draw_follows(const struct sk_show *show, uint32_t index)
{
	const struct sk_plan_view *plan = &show->file->plan;
	const struct sk_plan_launch *launch = &plan->launches[index];

	for (uint32_t i = 0; i < sk_plan_form(launch)->follow_count; i++) {
		uint32_t before = plan->follows[launch->first_follow + i];

		fprintf(show->stream,
			"c%" PRIu32 " -> c%" PRIu32
			" [style=dashed, color=blue, constraint=false, tooltip=\"follows\", "
			"ltail=cluster_launch%" PRIu32 ", lhead=cluster_launch%" PRIu32 "]\n",
			number_of_call(plan, sk_plan_launch_calls(plan, &plan->launches[before]).end - 1),
			number_of_call(plan, sk_plan_launch_calls(plan, launch).first), before, index);
	}
}

void sk_show_dot(const struct sk_show *show)
{
	const struct sk_plan_view *plan = &show->file->plan;
	bool *drawn = SK_NEW_ARRAY(show->arena, bool, plan->tensor_count + 1);

	fputs("digraph package {\ncompound=true\nfontname=\"sans-serif\"\nnode [fontname=\"sans-serif\"]\nlabel=\"",
	      show->stream);
	print(show, show->file->path);
	if (show->file->chosen.count) {
		fputs("\\n", show->stream);
		print(show, sk_show_chosen(show));
	}
	fputs("\"\n", show->stream);
	for (uint32_t i = 0; i < plan->network_launch_count; i++)
		draw_launch(show, i);
	for (uint32_t i = 0; i < plan->network_launch_count; i++) {
		const struct sk_plan_launch *launch = &plan->launches[i];
		struct sk_plan_calls calls = sk_plan_launch_calls(plan, launch);

		for (const struct sk_plan_call *call = calls.first; call < calls.end; call++)
			draw_data(show, call, drawn);
		for (uint32_t j = 0; j < sk_plan_form(launch)->step_count; j++)
			draw_awaits(show, &plan->steps[launch->first_step + j]);
		draw_follows(show, i);
	}
	fputs("}\n", show->stream);
}
