/* Requests of tasks; see bind-parts.h. */
#include "src/bind/bind-parts.h"

#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "src/model/model.h"

void sk_request_of_task(struct sk_model *model, const struct sk_task *task, struct sk_request *request)
{
	request->place = task->place;
	request->arguments.count = 0;
	for (size_t i = 0; i < task->said.args.count; i++) {
		const struct sk_named_tensor *named = &task->said.args.items[i];

		sk_array_push(model->arena, &request->arguments,
			      (struct sk_request_argument){
				      named->tensor == SK_NONE ? NULL : &model->tensors.items[named->tensor],
				      named->tensor, sk_task_place(task, named->spot)});
	}
	request->parameters = task->said.arg_names.count ? task->said.arg_names.items : NULL;
	request->directed = task->said.directed;
	request->input_count = task->said.input_count;
	request->attributes = task->said.attributes.items;
	request->attribute_count = task->said.attributes.count;
	request->set = task->said.set.items;
	request->set_count = task->said.set.count;
	request->blocks = task->said.blocks;
}

/* Return true if the name is like "x[3]" for the table x. */
static bool is_of_table(const char *name, const char *table)
{
	size_t length = strlen(table);

	return !strncmp(name, table, length) && name[length] == '[';
}

size_t sk_request_operands(const struct sk_request *request, const struct sk_signature *signature)
{
	uint32_t table = signature->open_table;
	bool by_direction = request->directed && !request->parameters;
	size_t given = by_direction ? request->input_count : request->arguments.count, operands = 0;
	size_t others = !by_direction && signature->result;

	for (size_t i = 0; request->parameters && i < given; i++)
		operands += is_of_table(request->parameters[i].text, signature->parameters[table].name);
	if (request->parameters)
		return operands;
	for (uint32_t p = 0; p < signature->parameter_count; p++) {
		const struct sk_parameter *parameter = &signature->parameters[p];

		others += parameter->kind == SK_PARAMETER_TENSOR && parameter->owner != table &&
			  (!by_direction || parameter->access & SK_ACCESS_READ);
	}
	return given > others ? given - others : 0;
}
