/* Lookup of switches; see manager.h. The switch of a pass takes precedence over the switch of all passes. */
#include "graph/manager/manager.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"

#define ALL "ALL"

const char *const sk_switch_kinds[SK_SWITCH_KINDS] = {"GraphFusion", "UBFusion"};

enum sk_switch_kind sk_switch_kind(const char *name)
{
	return strcmp(name, SK_SWITCH_VIRTUAL_OP_SET) ? SK_SWITCH_GRAPH : SK_SWITCH_UB;
}

void sk_switches_init(struct sk_switches *switches, struct sk_arena *arena)
{
	*switches = (struct sk_switches){0};
	for (int kind = 0; kind < SK_SWITCH_KINDS; kind++)
		sk_map_init(&switches->names[kind], arena);
}

const struct sk_switch *sk_switches_add(struct sk_switches *switches, struct sk_arena *arena, struct sk_switch added)
{
	uint32_t fresh = (uint32_t)switches->switches.count, index = fresh;

	for (enum sk_switch_kind kind = 0; kind < SK_SWITCH_KINDS; kind++)
		if (added.kind == kind || added.kind == SK_SWITCH_KINDS)
			index = sk_map_insert(&switches->names[kind], added.name, strlen(added.name), fresh);
	if (index != fresh)
		return &switches->switches.items[index];
	sk_array_push(arena, &switches->switches, added);
	return NULL;
}

static const struct sk_switch *find_switch(const struct sk_switches *switches, enum sk_switch_kind kind,
					   const char *name)
{
	uint32_t index = sk_map_find(&switches->names[kind], name, strlen(name));

	return index == SK_NONE ? NULL : &switches->switches.items[index];
}

static bool stays(const struct sk_switches *switches, const char *name)
{
	for (size_t i = 0; i < switches->staying.count; i++)
		if (!strcmp(switches->staying.items[i].text, name))
			return true;
	return false;
}

bool sk_switch_is_named(const struct sk_switches *switches, enum sk_switch_kind kind, const char *name)
{
	return switches && (stays(switches, name) || find_switch(switches, kind, name));
}

bool sk_switch_is_on(const struct sk_switches *switches, enum sk_switch_kind kind, const char *name, bool otherwise)
{
	const struct sk_switch *found;

	if (!switches)
		return otherwise;
	if (stays(switches, name))
		return true;
	found = find_switch(switches, kind, name);
	found = found ? found : find_switch(switches, kind, ALL);
	return found ? found->on : otherwise;
}

/* ---- names ---- */

static bool has(const sk_texts *names, const char *name)
{
	for (size_t i = 0; i < names->count; i++)
		if (!strcmp(names->items[i], name))
			return true;
	return false;
}

/* Return "; it is one of UBFusion", or a suggestion for the name. */
static const char *explain(struct sk_diag *diag, const char *name, enum sk_switch_kind kind,
			   const sk_texts known[SK_SWITCH_KINDS])
{
	sk_texts names = {0};

	if (!sk_flags_may_suggest(diag))
		return "";
	for (enum sk_switch_kind other = 0; other < SK_SWITCH_KINDS; other++)
		if (has(&known[other], name))
			return sk_arena_print(diag->arena, "; it is one of %s", sk_switch_kinds[other]);
		else if (kind == other || kind == SK_SWITCH_KINDS)
			for (size_t i = 0; i < known[other].count; i++)
				sk_array_push(diag->arena, &names, known[other].items[i]);
	return sk_did_you_mean(diag->arena, name, names.items, names.count);
}

static void check_name(struct sk_diag *diag, struct sk_name name, enum sk_switch_kind kind,
		       const sk_texts known[SK_SWITCH_KINDS])
{
	bool both = kind == SK_SWITCH_KINDS;

	if (both ? !has(&known[SK_SWITCH_GRAPH], name.text) && !has(&known[SK_SWITCH_UB], name.text)
		 : !has(&known[kind], name.text))
		sk_warning(diag, name.place, "unknown pass '%s'%s%s; its switch changes nothing%s", name.text,
			   both ? "" : " of ", both ? "" : sk_switch_kinds[kind],
			   explain(diag, name.text, kind, known));
}

void sk_switches_check_names(struct sk_diag *diag, const struct sk_switches *switches,
			     const sk_texts known[SK_SWITCH_KINDS])
{
	for (size_t i = 0; switches && i < switches->switches.count; i++) {
		const struct sk_switch *item = &switches->switches.items[i];

		if (strcmp(item->name, ALL) != 0)
			check_name(diag, (struct sk_name){item->name, item->place}, item->kind, known);
	}
	for (size_t i = 0; switches && i < switches->staying.count; i++)
		check_name(diag, switches->staying.items[i], SK_SWITCH_KINDS, known);
}
