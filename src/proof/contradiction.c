/* See proof-parts.h. */
#include "src/proof/proof-parts.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/ranges.h"

bool sk_contradict(const struct sk_consistency *check, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	sk_error(check->diag, (struct sk_place){.file = check->file}, "the plan contradicts itself: %s",
		 sk_arena_print_list(check->arena, format, args));
	va_end(args);
	return false;
}

bool sk_same_number(const struct sk_consistency *check, const char *whose, const char *what, uint64_t number,
		    uint64_t follows)
{
	return number == follows ||
	       sk_contradict(check, "%s: %s is %" PRIu64 ", and %" PRIu64 " by the rest of the plan", whose, what,
			     number, follows);
}

bool sk_same_text(const struct sk_consistency *check, const char *whose, const char *what, const char *text,
		  const char *follows)
{
	return !strcmp(text, follows) ||
	       sk_contradict(check, "%s: %s is '%s', and '%s' by the rest of the package", whose, what, text, follows);
}

void sk_raise(uint64_t *most, uint64_t other)
{
	*most = *most < other ? other : *most;
}

uint64_t sk_align_plan(uint64_t value)
{
	return sk_align(value, SK_PLAN_ALIGNMENT, &value) ? value : UINT64_MAX;
}
