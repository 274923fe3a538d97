/* Requests of tasks; see request.h. */
#include "src/bind/request.h"

void sk_request_of_task(struct sk_model *model, const struct sk_task *task, struct sk_request *request)
{
	request->place = task->place;
	request->arguments.count = 0;
	for (size_t i = 0; i < task->args.count; i++) {
		const struct sk_named_tensor *named = &task->args.items[i];

		sk_array_push(model->arena, &request->arguments,
			      (struct sk_request_argument){
				      named->tensor == SK_NONE ? NULL : &model->tensors.items[named->tensor],
				      named->tensor, named->place});
	}
	request->parameters = task->arg_names.count ? task->arg_names.items : NULL;
	request->directed = task->directed;
	request->input_count = task->input_count;
	request->attributes = task->attributes.items;
	request->attribute_count = task->attributes.count;
	request->set = task->set.items;
	request->set_count = task->set.count;
	request->blocks = task->blocks;
}
