/* See skdump.h. Does everything that libskrt does with a file before it calls anything in it, and then undoes it. */
#include "src/skdump/skdump.h"

#include "base/diag.h"
#include "format/skranks.h"
#include "loader/image/image.h"

bool sk_loadable_check(struct sk_diag *diag, const struct sk_package_file *file)
{
	struct sk_image image;
	uint64_t size = 0;

	if (file->is_object)
		return true;

	if (sk_image_open(&(struct sk_source){.name = file->path, .file = -1, .only_looked_at = true}, &image)) {
		sk_error(diag, (struct sk_place){0}, "%s", skrt_error()); /* the text begins with the path */
		return false;
	}
	const void *plan = sk_image_find(&image, "sk_plan", &size);
	bool same = plan && (uintptr_t)plan - image.bias == file->plan_offset && size >= file->plan.plan->size;
	const void *sizes = sk_image_find(&image, "sk_dims", &size);
	bool same_sizes = sizes ? (uintptr_t)sizes - image.bias == file->dims_offset &&
					  (!file->dims.dims || size >= file->dims.dims->size)
				: !file->dims_offset;

	const void *ranks = sk_image_find(&image, "sk_ranks", &size);
	bool same_ranks = ranks ? (uintptr_t)ranks - image.bias == file->ranks_offset &&
					  (!file->ranks.ranks || size >= file->ranks.ranks->size)
				: !file->ranks_offset;

	sk_image_close(&image);
	if (!same)
		sk_error(diag, (struct sk_place){.file = file->path}, "libskrt finds another plan, or none");
	else if (!same_sizes)
		sk_error(diag, (struct sk_place){.file = file->path}, "libskrt finds other sizes, or none");
	else if (!same_ranks)
		sk_error(diag, (struct sk_place){.file = file->path}, "libskrt finds other ranks, or none");
	return same && same_sizes && same_ranks;
}
