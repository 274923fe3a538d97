/* The plan of a package at one size of each dimension; see skdump.h. */
#include "src/skdump/skdump.h"

#include <stddef.h>

#include "base/arena.h"
#include "base/diag.h"
#include "format/plan/dims.h"
#include "format/plan/plan.h"
#include "format/skdims.h"
#include "format/skplan.h"

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
