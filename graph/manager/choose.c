/* The choice of passes; see manager.h. A pass that its level turns on can only be disabled, and one that its level
 * leaves off only be enabled. Flags that say the opposite have no effect. A switch replaces the level. */
#include "graph/manager/manager.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"

/* Passes of this stage are named without it. */
static const char group[] = "fusion_group";

/* Indices are the numbers of stages. Stages of patterns have no number. */
static const char *const stages[] = {"preprocess", "cluster", "highlevelopt1", "split",	      "highlevelopt2",
				     "combine",	   "build",   "postprocess",   "kernelpacket"};

enum { STAGES = sizeof(stages) / sizeof(stages[0]) };

static const struct absent {
	const char *stage;
	int place;
	const char *name;
} absent[] = {
#define ABSENT(STAGE, PLACE, NAME) {STAGE, PLACE, NAME},
#include "graph/manager/absent.def"
#undef ABSENT
};

struct chooser {
	struct sk_arena *arena;
	struct sk_diag *diag;
	const struct sk_fusion_flags *flags;
	sk_pass_choices choices;
	SK_ARRAY(unsigned) places; /* of passes within their stages */
	unsigned next; /* place in the stage, after MindSpore's passes so far */
};

static unsigned stage_number(const char *stage)
{
	unsigned number = 0;

	while (number < STAGES && strcmp(stages[number], stage))
		number++;
	return number;
}

static void add_pass(struct chooser *chooser, const struct sk_graph_pass *pass)
{
	size_t count = chooser->choices.count;
	bool first = !count || strcmp(chooser->choices.items[count - 1].pass->stage, pass->stage);
	unsigned next = (first ? 0 : chooser->next) + pass->gap, place = pass->apart ? pass->apart : next;
	unsigned number = stage_number(pass->stage);
	const char *stage =
		number < STAGES ? sk_arena_print(chooser->arena, "stage%u_%s", number, pass->stage) : pass->stage;
	struct sk_pass_choice choice = {
		pass, sk_arena_print(chooser->arena, "%s_%u_%s", stage, place, pass->name),
		sk_switch_is_on(chooser->flags->switches, sk_switch_kind(pass->name), pass->name,
				chooser->flags->opt_level >= pass->level),
		sk_switch_is_named(chooser->flags->switches, sk_switch_kind(pass->name), pass->name)};

	chooser->next = next + !pass->apart;
	sk_array_push(chooser->arena, &chooser->places, place);
	sk_array_push(chooser->arena, &chooser->choices, choice);
}

/* ---- entries ---- */

/* "3.4", or "split.graph_kernel_splitter". */
static bool is_in_stage(const struct chooser *chooser, size_t index, const char *entry, const char *point)
{
	const struct sk_graph_pass *pass = chooser->choices.items[index].pass;
	size_t length = (size_t)(point - entry);
	char numbers[32];

	snprintf(numbers, sizeof(numbers), "%u.%u", stage_number(pass->stage), chooser->places.items[index]);
	return (stage_number(pass->stage) < STAGES && !strcmp(entry, numbers)) ||
	       (strlen(pass->stage) == length && !memcmp(entry, pass->stage, length) && !strcmp(point + 1, pass->name));
}

/* Count the passes of that name. */
static size_t count_named(const struct chooser *chooser, const char *name)
{
	size_t count = 0;

	for (size_t i = 0; i < chooser->choices.count; i++)
		count += !strcmp(chooser->choices.items[i].pass->name, name);
	return count;
}

/* True if the entry names the pass of that index. A name without a stage means a pass of the group, or the only pass of
 * that name. */
static bool is_meant(const struct chooser *chooser, size_t index, const char *entry)
{
	const struct sk_pass_choice *choice = &chooser->choices.items[index];
	const struct sk_graph_pass *pass = choice->pass;
	const char *point = strchr(entry, '.');

	if (point)
		return is_in_stage(chooser, index, entry, point);
	if (!strcmp(choice->name, entry))
		return true;
	return !strcmp(pass->name, entry) && (!strcmp(pass->stage, group) || count_named(chooser, entry) == 1);
}

/* Return the full name of the pass that MindSpore has and sklink does not, if the entry names one; NULL: it does not.
 */
static const char *find_absent(struct sk_arena *arena, const char *entry)
{
	for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++) {
		const struct absent *pass = &absent[i];
		unsigned number = stage_number(pass->stage);
		const char *name = sk_arena_print(arena, "%s.%s", pass->stage, pass->name);
		const char *place = "", *full = name;

		if (pass->place >= 0) {
			place = sk_arena_print(arena, "%u.%d", number, pass->place);
			full = sk_arena_print(arena, "stage%u_%s_%d_%s", number, pass->stage, pass->place, pass->name);
		}
		if (!strcmp(entry, pass->name) || !strcmp(entry, name) || !strcmp(entry, place) || !strcmp(entry, full))
			return full;
	}
	return NULL;
}

/* Explain why an entry has no effect: it names a pass that is on or off anyway, or none. */
static const char *explain(struct chooser *chooser, const char *entry, const char *is_so)
{
	size_t count = chooser->choices.count, named = count_named(chooser, entry);
	const char **names = SK_NEW_ARRAY(chooser->arena, const char *, 3 * count + 1);

	for (size_t i = 0; i < count; i++) {
		const struct sk_pass_choice *choice = &chooser->choices.items[i];
		const struct sk_graph_pass *pass = choice->pass;

		if (is_meant(chooser, i, entry))
			return sk_arena_print(chooser->arena, "; the pass is %s without it", is_so);
		names[i] = pass->name;
		names[count + i] = sk_arena_print(chooser->arena, "%s.%s", pass->stage, pass->name);
		names[2 * count + i] = choice->name;
	}
	if (named)
		return sk_arena_print(chooser->arena, "; %zu stages have a pass of that name: say STAGE.%s", named,
				      entry);
	return sk_did_you_mean(chooser->arena, entry, names, 3 * count);
}

/* Warn about an entry for a pass that flags can name although it has nothing to run. */
static void warn_of_empty(struct chooser *chooser, const struct sk_pass_choice *choice)
{
	sk_warning(chooser->diag, chooser->flags->place, "graph kernel pass %s has no rule here, and changes nothing",
		   choice->name);
}

/* Turn the passes that the entry names on or off; return their number. `was` says by pass whether it is on by its level
 * or switch. */
static size_t apply_entry(struct chooser *chooser, const char *entry, const bool *was, bool on)
{
	size_t hits = 0;

	for (size_t i = 0; i < chooser->choices.count; i++) {
		struct sk_pass_choice *choice = &chooser->choices.items[i];
		bool empty = on && !sk_pass_does(choice->pass);

		if ((was[i] == on && !empty) || !is_meant(chooser, i, entry))
			continue;
		if (empty)
			warn_of_empty(chooser, choice);
		choice->on = on;
		choice->named = true;
		hits++;
	}
	return hits;
}

static void apply_list(struct chooser *chooser, const sk_texts *list, const bool *was, bool on)
{
	const char *verb = on ? "enable" : "disable";
	struct sk_map seen;

	sk_map_init(&seen, chooser->arena);
	for (uint32_t e = 0; e < list->count; e++) {
		const char *entry = list->items[e];
		size_t hits;

		if (sk_map_insert(&seen, entry, strlen(entry), e) != e)
			continue;
		hits = apply_entry(chooser, entry, was, on);
		if (hits > 1)
			sk_warning(chooser->diag, chooser->flags->place, "More than one graph kernel pass %s by %s!",
				   verb, entry);
		else if (!hits && !count_named(chooser, entry) && find_absent(chooser->arena, entry))
			sk_warning(
				chooser->diag, chooser->flags->place,
				"graph kernel pass %s is MindSpore's, and sklink does not have it: %s_pass=%s changes "
				"nothing; see sk-passes(5)",
				find_absent(chooser->arena, entry), verb, entry);
		else if (!hits)
			sk_warning(chooser->diag, chooser->flags->place,
				   "graph kernel pass %s flag \"%s\" is not valid!%s", verb, entry,
				   sk_flags_may_suggest(chooser->diag) ? explain(chooser, entry, on ? "on" : "off")
								       : "");
	}
}

sk_pass_choices sk_passes_choose(struct sk_arena *arena, struct sk_diag *diag, const struct sk_graph_pass *passes,
				 const struct sk_fusion_flags *flags)
{
	struct chooser chooser = {.arena = arena, .diag = diag, .flags = flags};
	bool *was;

	for (; passes->name; passes++)
		add_pass(&chooser, passes);
	was = SK_NEW_ARRAY(arena, bool, chooser.choices.count + 1);
	for (size_t i = 0; i < chooser.choices.count; i++)
		was[i] = chooser.choices.items[i].on;
	apply_list(&chooser, &flags->enable_pass, was, true);
	apply_list(&chooser, &flags->disable_pass, was, false);
	return chooser.choices;
}
