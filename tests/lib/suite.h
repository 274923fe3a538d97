/* The end of each Check suite's program. */
#ifndef SK_TESTS_SUITE_H
#define SK_TESTS_SUITE_H

#include <check.h>
#include <stdlib.h>

/* ThreadSanitizer holds back the signal that expels a kernel: it would never end. */
#if defined(__SANITIZE_THREAD__)
#define SIGNALS_HELD
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SIGNALS_HELD
#endif
#endif

/* Run all of the suite and free it. Return the exit status of its program. */
static inline int run_suite(Suite *suite)
{
	SRunner *runner = srunner_create(suite);

	srunner_run_all(runner, CK_ENV);

	int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
