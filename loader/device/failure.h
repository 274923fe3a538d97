/* What is said about a launch, or another call of package code, that failed. */
#ifndef SK_LOADER_FAILURE_H
#define SK_LOADER_FAILURE_H

#include <stdbool.h>
#include <stddef.h>

#include "loader/flight/flight.h"

/* Whether any core has not done all of its part of the flight, which all have left. One that was told to leave when all
 * were through has not failed. */
bool sk_failure_is_one(const struct sk_flight *flight);

/* Says why the flight, which all cores have left, has failed. A fault of a package that may have held a lock loses the
 * device: *lost. */
void sk_failure_describe(const struct sk_flight *flight, char *error, size_t error_size, bool *lost);

/* Says what became of the call of a constructor or destructor that failed. */
void sk_failure_describe_function(const struct skrt_module *module, const char *what, const struct sk_call *call,
				  char *error, size_t error_size, bool *lost);

/* The same for a call of the launch's serial entry that failed. */
void sk_failure_describe_serial(const struct skrt_instance *instance, const struct skrt_kernel *kernel,
				const struct sk_call *call, char *error, size_t error_size, bool *lost);

#endif
