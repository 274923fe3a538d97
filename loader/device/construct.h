/* A package's constructors and destructors. See construct.c. */
#ifndef SK_LOADER_CONSTRUCT_H
#define SK_LOADER_CONSTRUCT_H

#include "loader/skrt.h"

/* Runs the package's constructors, unless that has been done: before anything else of it runs. If they fail, so does
 * every later call. */
enum skrt_status sk_module_construct(struct skrt_module *module);

/* Runs the destructors, if the constructors have run. */
void sk_module_destruct(struct skrt_module *module);

#endif
