/* Mismatches between a task and a signature: the first one is kept as the reason, and reported if wanted. */
#include <stdarg.h>

#include "base/arena.h"
#include "base/diag.h"
#include "src/bind/bind-parts.h"

bool sk_binder_fails(struct sk_binder *binder)
{
	binder->failures += binder->quiet;
	return binder->quiet;
}

void sk_binder_error(struct sk_binder *binder, struct sk_place place, const char *format, ...)
{
	va_list args;

	binder->failures++;
	if (binder->quiet || (!binder->kernel && binder->reason))
		return;
	va_start(args, format);

	const char *text = sk_arena_print_list(binder->model->arena, format, args);

	va_end(args);
	if (binder->kernel)
		sk_error(binder->model->diag, place, "kernel '%s': %s", binder->kernel, text);
	else
		binder->reason = text;
}
