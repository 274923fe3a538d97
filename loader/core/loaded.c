/* Functions of the dynamic loader for package code, beside thread-local storage. */
#include "config.h"

#include "loader/core/core.h"

#include <link.h>
#include <stddef.h>

#ifdef SK_FINDS_OBJECTS
/* Unwinders in a package, such as that of libgcc_eh.a, call this for each frame that they pass: a frame of the package,
 * or of a C library function that the package has called and that has called back. */
int sk_find_object(void *address, struct dl_find_object *result)
{
	const struct sk_call *call = sk_host_in_handler()->running;
	const struct sk_package *package = call ? call->package : NULL;

	if (!package || (uintptr_t)address - package->start >= package->end - package->start)
		return _dl_find_object(address, result);
	if (!package->frames)
		return -1;
	*result = (struct dl_find_object){
		.dlfo_map_start = (void *)package->start,
		.dlfo_map_end = (void *)package->end,
		.dlfo_eh_frame = package->frames,
	};
	return 0;
}
#endif

/* Unwinders that do not know _dl_find_object (LLVM's, and those of older compilers) search all objects for the one that
 * contains the code. They see only the package: for the others the C library would hold a lock during the visit, and a
 * call that ends there would never release it. */
int sk_visit_objects(int (*visit)(struct dl_phdr_info *, size_t, void *), void *data)
{
	const struct sk_call *call = sk_host_in_handler()->running;
	const struct sk_package *package = call ? call->package : NULL;

	if (!package)
		return dl_iterate_phdr(visit, data);

	uintptr_t size = package->end - package->start, frames = (uintptr_t)package->frames - package->start;
	ElfW(Phdr) headers[] = {
		{.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = size, .p_memsz = size},
		{.p_type = PT_GNU_EH_FRAME, .p_flags = PF_R, .p_vaddr = frames, .p_memsz = size - frames},
	};
	struct dl_phdr_info info = {
		.dlpi_addr = package->start,
		.dlpi_name = "",
		.dlpi_phdr = headers,
		.dlpi_phnum = package->frames ? 2 : 1,
	};

	/* Two counts of loaded and unloaded objects follow these fields in the struct. Unwinders use them for caches,
	 * which rely on that lock, and compare the size passed here. */
	return visit(&info, offsetof(struct dl_phdr_info, dlpi_adds), data);
}
