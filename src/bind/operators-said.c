/* Messages about kernels of operators that are not picked: errors about tasks that none fits, or that two fit equally
 * well, and the other kernels for --explain. */
#include "src/bind/bind.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/text.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "src/bind/bind-parts.h"
#include "src/model/model.h"

/* Tell the user that some archives have not been searched. */
static void note_left_out(struct sk_ops *ops)
{
	if (ops->left_out)
		sk_note(ops->model->diag,
			"archives are searched for ops only if they are under 'library' or given by -l");
}

static const char *suggest_op(const struct sk_ops *ops, const char *op)
{
	return ops->model->diag->errors > SK_MAX_SUGGESTIONS
		       ? ""
		       : sk_did_you_mean(ops->model->arena, op, ops->names.items, ops->names.count);
}

static const char *object_of(const struct sk_ops *ops, const struct sk_op_kernel *kernel)
{
	return kernel->object ? kernel->object : ops->model->manifest;
}

static void note_kernel(struct sk_ops *ops, const struct sk_op_kernel *kernel, const char *what)
{
	sk_note(ops->model->diag, "%s (%s): %s", kernel->name, object_of(ops, kernel), what);
}

/* ---- models: one error for all tasks of an operator with the same cause ---- */

static bool report_alike(struct sk_ops *ops, const struct sk_task *task, const char *cause, const char *what)
{
	struct sk_arena *arena = ops->model->arena;

	return sk_error_alike(ops->model->diag, sk_task_place(task, task->said.op.spot),
			      sk_arena_print(arena, "%s (%s): %s", task->said.op.text, task->told.origin, cause),
			      sk_arena_print(arena, "task '%s' (%s)", task->name, task->told.origin), "%s", what);
}

/* Return false if it has been reported before. */
static bool report_unknown_of_graph(struct sk_ops *ops, const struct sk_task *task)
{
	const char *op = task->said.op.text;

	if (!report_alike(ops, task, "",
			  sk_arena_print(ops->model->arena, "no kernel has op=%s%s", op, suggest_op(ops, op))))
		return false;
	if (!ops->names.count && !ops->left_out && !ops->advised)
		sk_note(ops->model->diag,
			"no library of kernels is among the inputs: sklink's own is -lskernels (-L gives its folder)");
	ops->advised = true;
	return true;
}

static bool ends_with(const char *begin, const char *end, const char *word)
{
	size_t length = strlen(word);

	return (size_t)(end - begin) >= length && !memcmp(end - length, word, length);
}

/* Return the reason without the parts that differ between tasks: names of tensors, and numbers outside words
 * ("f32"). */
static const char *cause_of(const struct sk_ops *ops, const char *reason)
{
	char *cause = sk_arena_copy(ops->model->arena, reason, strlen(reason)), *to = cause;

	for (const char *at = reason; *at; at++) {
		if (*at < '0' || *at > '9' || (to > cause && isalnum((unsigned char)to[-1])))
			*to++ = *at;
		if (ends_with(cause, to, "tensor '") || ends_with(cause, to, "view '"))
			at += strcspn(at + 1, "'");
	}
	*to = 0;
	return cause;
}

/* Note a text such as "group=32, strides=[1, 1]; f32[1,3,8,8], f32[4,3,3,3], none -> f32[1,4,6,6]". */
static void note_call(struct sk_ops *ops, const struct sk_request *request)
{
	struct sk_arena *arena = ops->model->arena;
	const char *text = "";

	for (size_t i = 0; i < request->attribute_count; i++)
		text = sk_arena_print(arena, "%s%s%s=%s", text, i ? ", " : "", request->attributes[i].name,
				      sk_attribute_text(arena, &request->attributes[i]));
	text = sk_arena_print(arena, "%s%s", text, *text ? ";" : "");
	for (size_t i = 0; i < request->arguments.count; i++) {
		const struct sk_tensor *tensor = request->arguments.items[i].tensor;
		const char *shape = tensor ? sk_shape_text(arena, tensor->rank, tensor->shape) : "";

		text = sk_arena_print(arena, "%s%s %s%s", text,
				      i == request->input_count ? " ->"
				      : i			? ","
								: "",
				      tensor ? sk_dtype_name(tensor->dtype) : "none", shape);
	}
	sk_note(ops->model->diag, "it is called with %s", *text == ' ' ? text + 1 : text);
}

static void report_misfits_of_graph(struct sk_ops *ops, const struct sk_task *task, const struct sk_request *request,
				    struct sk_misfit nearest)
{
	const char *cause = cause_of(ops, nearest.reason);

	if (!report_alike(ops, task, sk_arena_print(ops->model->arena, "%s: %s", nearest.kernel->name, cause),
			  sk_arena_print(ops->model->arena, "no kernel for op '%s' fits", task->said.op.text)))
		return;
	note_call(ops, request);
	note_kernel(ops, nearest.kernel, sk_arena_print(ops->model->arena, "the nearest one: %s", nearest.reason));
	note_left_out(ops);
}

/* Return false if it has been reported of the op before. */
static bool report_unknown(struct sk_ops *ops, const struct sk_task *task)
{
	if (task->told.origin)
		return report_unknown_of_graph(ops, task);
	sk_error(ops->model->diag, sk_task_place(task, task->said.op.spot), "no kernel has op=%s%s", task->said.op.text,
		 suggest_op(ops, task->said.op.text));
	return true;
}

void sk_ops_report_tie(struct sk_ops *ops, const struct sk_task *task, const struct sk_op_kernel *kernel)
{
	struct sk_model *model = ops->model;

	sk_error(model->diag, sk_task_place(task, task->said.op.spot),
		 "two kernels for op '%s' fit task '%s' equally well: name one under 'kernel', or put its library "
		 "first",
		 task->said.op.text, task->name);
	note_kernel(ops, kernel, kernel->signature->text);
	note_kernel(ops, ops->tied, ops->tied->signature->text);
}

static void report_misfits(struct sk_ops *ops, const struct sk_task *task, const struct sk_misfits *misfits)
{
	struct sk_model *model = ops->model;

	sk_error(model->diag, sk_task_place(task, task->said.op.spot), "no kernel for op '%s' fits task '%s'",
		 task->said.op.text, task->name);
	for (size_t i = 0; i < misfits->items.count; i++)
		note_kernel(ops, misfits->items.items[i].kernel, misfits->items.items[i].reason);
	if (misfits->more)
		sk_note(model->diag, "and %u more", misfits->more);
}

void sk_ops_report_none(struct sk_ops *ops, const struct sk_task *task, const struct sk_request *request)
{
	const struct sk_misfits misfits = sk_ops_explain(ops, task->said.op.text, request, NULL);

	if (!misfits.items.count) {
		if (report_unknown(ops, task))
			note_left_out(ops);
	} else if (task->told.origin) {
		report_misfits_of_graph(ops, task, request, misfits.items.items[0]);
	} else {
		report_misfits(ops, task, &misfits);
		note_left_out(ops);
	}
}

const char *sk_ops_say_others(struct sk_ops *ops, const char *op, const struct sk_request *request,
			      const struct sk_op_kernel *picked)
{
	const struct sk_misfits misfits = sk_ops_explain(ops, op, request, picked);
	struct sk_arena *arena = ops->model->arena;
	struct sk_text text;

	if (!misfits.items.count)
		return NULL;
	sk_text_open(&text);
	fprintf(text.stream, "  Other kernels with op=%s, the nearest ones first:\n", sk_arena_escape(arena, op));
	for (size_t i = 0; i < misfits.items.count; i++) {
		const struct sk_misfit *misfit = &misfits.items.items[i];
		const char *line = sk_arena_print(arena, "%s (%s): %s", misfit->kernel->name,
						  object_of(ops, misfit->kernel), misfit->reason);

		fprintf(text.stream, "    %s\n", sk_arena_escape(arena, line));
	}
	if (misfits.more)
		fprintf(text.stream, "    and %u more\n", misfits.more);
	sk_text_close(arena, &text);
	return text.bytes;
}
