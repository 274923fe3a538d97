/* The C locale. libskrt is in programs of any locale: what it reads and writes, and what kernels compute, does not
 * depend on that. (sklink, skdump and skrun never leave the C locale.) tests/run/house.sh holds the tree to both. */
#ifndef SK_BASE_LOCALE_H
#define SK_BASE_LOCALE_H

#include <locale.h>

/* For strtod_l and uselocale. It is always there, and nobody frees it: it is the C library's own, of which there is
 * one. */
static inline locale_t sk_c_locale(void)
{
	return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

#endif
