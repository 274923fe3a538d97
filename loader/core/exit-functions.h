/* What package code has registered to be called before the package goes: the destructors of C++ objects with static
 * storage, above all. The C library has its own list of such functions, for what it has loaded itself. */
#ifndef SK_LOADER_EXIT_FUNCTIONS_H
#define SK_LOADER_EXIT_FUNCTIONS_H

#include "loader/core/loaded.h"

/* What packages call as __cxa_atexit, at any time. Not 0: no memory. */
int sk_exit_function_add(void (*function)(void *), void *argument, void *handle);

/* What they call as __cxa_finalize, when they are destructed: calls what the package has registered, the last one
 * first, also what these functions register. */
void sk_exit_functions_call(void *handle);

/* The package goes: what has not been called never will be. */
void sk_exit_functions_forget(const struct sk_package *package);

#endif
