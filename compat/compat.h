/* What the files of libskcompat share. */
#ifndef SK_COMPAT_H
#define SK_COMPAT_H

/* Definitions are weak, so that those of the objects themselves come before them. */
#define SK_COMPAT __attribute__((weak))

/* A value in such a variable never affects a later call. sklink does not count these sections as hidden state, and does
 * not ask for `reentrant`. */
#define SK_WITHIN_CALL __attribute__((section(".data.sk_within_call")))
#define SK_THREAD_WITHIN_CALL __attribute__((section(".tbss.sk_within_call"))) _Thread_local

/* Print "SYSTEM: FUNCTION: TEXT" on the standard error stream. */
void sk_compat_tell(const char *system, const char *function, const char *text);

/* Do the same and end the launch. */
_Noreturn void sk_compat_fail(const char *system, const char *function, const char *text);

#endif
