/* The plan of a package at one size of each dimension; see skdump.h. */
#include "src/skdump/skdump.h"

#include <stddef.h>

#include "base/arena.h"
#include "base/diag.h"
#include "format/plan/dims.h"
#include "format/plan/plan.h"
#include "format/skdims.h"
#include "format/skplan.h"
#include "src/proof/proof.h"

static bool read_size(struct sk_diag *diag, const struct sk_package_file *file, const char *text, uint64_t *sizes)
{
	struct sk_dims_size size;
	char error[512];

	if (!sk_dims_read_size(&file->dims, NULL, file->path, text, &size, error, sizeof(error))) {
		sk_error(diag, (struct sk_place){0}, "%s", error);
		return false;
	}
	sizes[size.dimension] = size.size;
	return true;
}

/* Set the numbers of a slice by an argument that is the slice. False: the call has none. */
static bool size_slice(const struct sk_package_file *file, const uint64_t *values, const struct sk_plan_call *call,
		       struct sk_account_slice *slice)
{
	const struct sk_plan_view *plan = &file->plan;
	const struct sk_plan_argument *arguments = sk_plan_arguments(plan, call);
	uint64_t start = plan->tensors[slice->tensor].offset + slice->offset;

	for (uint32_t i = 0; i < call->argument_count; i++) {
		const struct sk_plan_argument *argument = &arguments[i];
		uint32_t offset, size;

		if (argument->kind != SK_ARGUMENT_POINTER || argument->space == SK_SPACE_SIZES ||
		    argument->tensor != slice->tensor || argument->offset != start || argument->size != slice->bytes)
			continue;
		offset = sk_dims_argument_value(&file->dims, plan, call, i, offsetof(struct sk_plan_argument, offset));
		size = sk_dims_argument_value(&file->dims, plan, call, i, offsetof(struct sk_plan_argument, size));
		if (offset != SK_NO_INDEX)
			slice->offset = slice->offset - file->dims.most[offset] + values[offset];
		if (size != SK_NO_INDEX)
			slice->bytes = values[size];
		return true;
	}
	return false;
}

/* The account has the slices of the largest sizes, and no expressions. */
static void size_slices(struct sk_arena *arena, struct sk_package_file *file, const uint64_t *sizes)
{
	struct sk_account *account = &file->account;
	struct sk_account_node *nodes = SK_NEW_ARRAY(arena, struct sk_account_node, account->node_count + 1);
	uint64_t *values = SK_NEW_ARRAY(arena, uint64_t, file->dims.value_count + (size_t)1);

	sk_dims_evaluate(&file->dims, sizes, values);
	for (size_t n = 0; n < account->node_count; n++) {
		const struct sk_account_node *node = &account->nodes[n];
		struct sk_account_slice *slices = SK_NEW_ARRAY(arena, struct sk_account_slice, node->slice_count + 1);

		nodes[n] = *node;
		nodes[n].slices = slices;
		for (uint32_t i = 0; i < node->slice_count; i++) {
			bool found = false;

			slices[i] = node->slices[i];
			for (uint32_t c = 0; c < file->plan.call_count && !found; c++)
				found = size_slice(file, values, &file->plan.calls[c], &slices[i]);
			slices[i].unknown = !found;
		}
	}
	account->nodes = nodes;
}

bool sk_package_file_choose(struct sk_diag *diag, struct sk_package_file *file, const sk_texts *texts)
{
	uint64_t sizes[SK_MAX_DIMENSIONS];
	struct sk_plan_view concrete;

	if (!file->dims.dims) {
		sk_error(diag, (struct sk_place){.file = file->path}, "--dim: the sizes of this package do not vary");
		return false;
	}
	for (uint32_t i = 0; i < file->dims.dimension_count; i++)
		sizes[i] = file->dims.dimensions[i].usual;
	for (size_t i = 0; i < texts->count; i++)
		if (!read_size(diag, file, texts->items[i], sizes))
			return false;
	size_slices(diag->arena, file, sizes);
	if (!sk_dims_concretise(&file->dims, &file->plan, sizes, &concrete))
		sk_out_of_memory();
	for (uint32_t i = 0; i < file->dims.dimension_count; i++)
		sk_array_push(diag->arena, &file->chosen,
			      (struct sk_chosen_size){sk_plan_string(&file->dims.dimensions[i].name),
						      sk_plan_string(&file->dims.dimensions[i].network), sizes[i]});
	sk_plan_close(&file->plan);
	file->plan = concrete;
	file->forms = NULL;
	sk_dims_close(&file->dims);
	return true;
}
