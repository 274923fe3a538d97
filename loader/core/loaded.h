/* The package whose code a call runs, as far as that code depends on who has loaded it. */
#ifndef SK_LOADER_LOADED_H
#define SK_LOADER_LOADED_H

#include "loader/core/thread-storage.h"

struct sk_package {
	struct sk_thread_storage storage;
};

#endif
