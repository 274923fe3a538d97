/* Packages that a linker has made part of the program (sklink -r), or of a shared object. They are relocated and
 * protected, so there is nothing to load. The program headers of the object that holds the plan are used in place of a
 * file's, with the same checks. */
#include "config.h"

#include "loader/device/device.h"

#include <link.h>
#include <string.h>
#include <sys/mman.h>

#include "format/skplan.h"
#include "loader/base/status.h"
#include "loader/core/core.h"
#include "loader/image/image.h"
#include "loader/skrt.h"

struct search {
	uintptr_t address; /* the address to find */
	struct sk_image *image;
	char *name; /* of the object that holds it; NULL: not found */
	bool no_memory;
};

/* Copy the segments of a loaded object, as far as there is room: an object has only a few. */
static void take_segments(const struct dl_phdr_info *object, struct sk_image *image)
{
	*image = (struct sk_image){
		.bias = object->dlpi_addr, .package.calls_others = true, .locking = "the program's functions"};
	for (unsigned i = 0; i < object->dlpi_phnum && image->segment_count < SK_IMAGE_SEGMENTS; i++) {
		const Elf64_Phdr *header = &object->dlpi_phdr[i];

		if (header->p_type != PT_LOAD)
			continue;
		image->segments[image->segment_count++] = (struct sk_image_segment){
			.address = header->p_vaddr,
			.size = header->p_memsz,
			.file_size = header->p_filesz,
			.offset = header->p_offset,
			.protection = (header->p_flags & PF_R ? PROT_READ : 0) |
				      (header->p_flags & PF_W ? PROT_WRITE : 0) |
				      (header->p_flags & PF_X ? PROT_EXEC : 0),
		};
	}
}

/* Return 1 to end the search. */
static int look_into(struct dl_phdr_info *object, size_t size, void *context)
{
	struct search *search = context;

	(void)size;
	take_segments(object, search->image);
	if (!sk_image_holds(search->image, (const void *)search->address, 1, PROT_READ))
		return 0;
	search->name = strdup(*object->dlpi_name ? object->dlpi_name : "the program");
	search->no_memory = !search->name;
	return 1;
}

enum skrt_status skrt_module_load_linked(struct skrt_device *device, const struct sk_plan *plan,
					 struct skrt_module **result)
{
	struct sk_image image;
	struct search search = {.address = (uintptr_t)plan, .image = &image};
	SK_UNCANCELLED;

	if (!device || !plan || !result)
		return sk_fail_null(__func__);
	enum skrt_status status = sk_process_check(&device->process);
	if (status)
		return status;
	dl_iterate_phdr(look_into, &search);
	if (search.no_memory)
		return sk_fail(SKRT_OUT_OF_MEMORY, "no memory for a module");
	if (!search.name)
		return sk_fail(SKRT_BAD_PACKAGE, "no loaded object contains the plan at %p", (const void *)plan);

	uint64_t size = sizeof(*plan);

	/* A plan that is not aligned is refused below, with those that are not plans. */
	if (sk_image_holds(&image, plan, size, PROT_READ) && (uintptr_t)plan % SK_PLAN_ALIGN == 0 &&
	    plan->magic == SK_PLAN_MAGIC)
		size = plan->size;
	return sk_module_make(device, search.name, &image, plan, size, result);
}
