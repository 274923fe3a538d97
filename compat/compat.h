/* What the files of libskcompat share. */
#ifndef SK_COMPAT_H
#define SK_COMPAT_H

/* Definitions are weak, so that those of the objects themselves come before them. */
#define SK_COMPAT __attribute__((weak))

/* Variables in which no value that a result depends on lasts from call to call of a kernel: sklink takes sections with
 * this suffix neither for hidden state nor asks for `reentrant` where a kernel reaches them. */
#define SK_WITHIN_CALL __attribute__((section(".data.sk_within_call")))
#define SK_THREAD_WITHIN_CALL __attribute__((section(".tbss.sk_within_call"))) _Thread_local

/* Print "SYSTEM: FUNCTION: TEXT" on the standard error stream. */
void sk_compat_tell(const char *system, const char *function, const char *text);

/* Do the same and end the launch. */
_Noreturn void sk_compat_fail(const char *system, const char *function, const char *text);

#endif
