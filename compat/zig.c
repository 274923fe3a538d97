/* Zig's standard library, which is part of objects with checks. A failed check prints its message and a trace of the
 * stack, and then kills the process, all by system calls. For the trace it asks for the size of a page: the launch ends
 * here, after the message. */
#include "compat/compat.h"

_Noreturn SK_COMPAT unsigned long getauxval(unsigned long type)
{
	(void)type;
	sk_compat_fail("Zig", "getauxval", "a check failed: an index out of bounds, an overflow or the like");
}
