/* xerbla_: the function that BLAS calls when an argument is wrong. The archive's own prints to stderr and goes on; this
 * one ends the launch. */
#include <stddef.h>
#include <stdlib.h>

void xerbla_(const char *routine, const int *argument, size_t routine_length)
{
	(void)routine;
	(void)argument;
	(void)routine_length;
	abort();
}
