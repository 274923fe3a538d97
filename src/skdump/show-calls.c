/* See show-calls.h. Comes in: a call of a plan. Goes out: words for the table of steps. */
#include "src/skdump/show-calls.h"

#include <inttypes.h>

const char *sk_show_loops_text(const struct sk_show *show, const struct sk_plan_call *call)
{
	const struct sk_plan_loop *loops = sk_plan_loops(&show->file->plan, call);

	if (!loops)
		return "";
	if (call->loop_count == 1)
		return sk_arena_print(show->arena, ", tiles of %" PRIu64, loops[0].tile);
	return sk_arena_print(show->arena, ", tiles of %" PRIu64 " by %" PRIu64 " of %" PRIu64, loops[0].tile,
			      loops[1].tile, loops[1].extent);
}

/* "2*((block+3)/4%8)" */
static const char *term_text(const struct sk_show *show, const struct sk_plan_term *term)
{
	static const char *const names[SK_VARIABLE_COUNT] = {"begin", "size", "inner begin", "inner size", "block"};
	const char *text = names[term->variable];

	if (term->addend)
		text = sk_arena_print(show->arena, "(%s+%" PRIu64 ")", text, term->addend);
	if (term->divisor != 1)
		text = sk_arena_print(show->arena, "%s/%" PRIu64, text, term->divisor);
	if (term->modulus)
		text = sk_arena_print(show->arena, "%s%%%" PRIu64, text, term->modulus);
	if (term->factor != 1)
		text = sk_arena_print(show->arena,
				      term->divisor != 1 || term->modulus ? "%" PRId64 "*(%s)" : "%" PRId64 "*%s",
				      term->factor, text);
	return text;
}

static const char *value_text(const struct sk_show *show, const struct sk_plan_argument *argument)
{
	const struct sk_plan_view *plan = &show->file->plan;
	const char *text = "";

	for (uint64_t i = 0; i < argument->size; i++) {
		const char *term = term_text(show, &plan->terms[argument->index + i]);

		text = sk_arena_print(show->arena, "%s%s%s", text, *text && *term != '-' ? "+" : "", term);
	}
	return argument->value ? sk_arena_print(show->arena, "%s%+" PRId64, text, (int64_t)argument->value) : text;
}

const char *sk_show_values_text(const struct sk_show *show, const struct sk_plan_call *call)
{
	const struct sk_plan_argument *arguments = sk_plan_arguments(&show->file->plan, call);
	const char *text = "";

	for (uint32_t i = 0; i < call->argument_count; i++)
		if (arguments[i].kind == SK_ARGUMENT_EXPRESSION)
			text = sk_arena_print(show->arena, "%s%s%s", text, *text ? ", " : "",
					      value_text(show, &arguments[i]));
	return text;
}
