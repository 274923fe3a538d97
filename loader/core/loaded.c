/* What package code asks of whoever has loaded it, beside thread-local storage. */
#include "config.h"

#include "loader/core/loaded.h"

#include "loader/core/call.h"

#ifdef SK_FINDS_OBJECTS
/* An unwinder in a package, such as that of libgcc_eh.a, comes here for each frame that it passes: of the package, or
 * of the C library that the package has called, which would have called back. */
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
