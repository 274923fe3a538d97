/* Messages of the hooks. Kernels print on the standard error stream; a launch ends by abort, which libskrt binds to a
 * function of its own. */
#include <stdio.h>
#include <stdlib.h>

#include "compat/compat.h"

SK_COMPAT void sk_compat_tell(const char *system, const char *function, const char *text)
{
	fprintf(stderr, "%s: %s: %s\n", system, function, text);
}

SK_COMPAT _Noreturn void sk_compat_fail(const char *system, const char *function, const char *text)
{
	sk_compat_tell(system, function, text);
	abort();
}
