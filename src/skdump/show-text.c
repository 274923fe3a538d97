/* See skdump.h. */
#include "src/skdump/skdump.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "format/plan/dims-forms.h"
#include "format/plan/dims.h"
#include "format/plan/plan.h"
#include "format/skdims.h"
#include "format/skplan.h"

enum { MOST_NAME = 800 }; /* bytes of a name that are shown; an entry's may contain three names of 255 */

const char *sk_show_kind(const struct sk_plan_launch *launch)
{
	static const char *const names[SK_LAUNCH_KIND_COUNT] = {"superkernel", "single", "task entry", "exchange"};

	return sk_plan_form(launch)->flags & SK_LAUNCH_ONCE && sk_plan_form(launch)->kind == SK_LAUNCH_SINGLE
		       ? "single, once"
		       : names[sk_plan_form(launch)->kind];
}

const char *sk_show_short(const struct sk_show *show, const char *name)
{
	int length = (int)strnlen(name, MOST_NAME + 1);

	if (length <= MOST_NAME)
		return name;
	while (length > MOST_NAME || (name[length] & 0xc0) == 0x80)
		length--; /* do not cut within a character */
	return sk_arena_print(show->arena, "%.*s…", length, name);
}

const char *sk_show_name(const struct sk_show *show, const int32_t *reference)
{
	return sk_show_short(show, sk_plan_string(reference));
}

const char *sk_show_name_or_dash(const struct sk_show *show, const int32_t *reference)
{
	return *reference ? sk_show_name(show, reference) : "-";
}

uint32_t sk_show_launch_count(const struct sk_show *show)
{
	return show->task_entries ? show->file->plan.launch_count : show->file->plan.network_launch_count;
}

uint32_t sk_show_count_awaits(const struct sk_plan_view *plan, const struct sk_plan_launch *launch)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < sk_plan_form(launch)->step_count; i++)
		count += plan->steps[launch->first_step + i].await_count;
	return count;
}

const char *sk_show_task(const struct sk_show *show, const struct sk_plan_call *call)
{
	return sk_show_name(show, &show->file->plan.tasks[call->task].name);
}

void sk_show_table(const struct sk_show *show, const char *title, struct sk_table *table)
{
	sk_escape_print(title, show->stream);
	fputc('\n', show->stream);
	sk_table_print(table, "  ", show->stream);
	fputc('\n', show->stream);
}

const char *sk_show_chosen(const struct sk_show *show)
{
	const char *text = "";

	for (size_t i = 0; i < show->file->chosen.count; i++) {
		const struct sk_chosen_size *chosen = &show->file->chosen.items[i];

		text = sk_arena_print(show->arena, "%s%s%s%s%s=%" PRIu64, text, i ? ", " : "",
				      sk_show_short(show, chosen->network), *chosen->network ? ":" : "",
				      sk_show_short(show, chosen->name), chosen->size);
	}
	return text;
}

const char *sk_show_size(const struct sk_show *show, enum sk_dims_table table, uint32_t record, size_t offset,
			 uint64_t number)
{
	uint32_t value = sk_dims_value_of(&show->file->dims, table, record, offset);

	if (value == SK_NO_INDEX)
		return sk_arena_print(show->arena, "%" PRIu64, number);
	return sk_forms_text(show->arena, show->file->forms, value);
}
