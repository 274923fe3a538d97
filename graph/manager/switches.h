/* Switches of passes, as CANN's fusion switch files have them: which passes somebody wants on or off. */
#ifndef SK_SWITCHES_H
#define SK_SWITCHES_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"

/* Passes that change the graph, and those that put tasks together without changing what is computed. */
enum sk_switch_kind { SK_SWITCH_GRAPH, SK_SWITCH_UB, SK_SWITCH_KINDS };

/* What a file calls them: "GraphFusion", "UBFusion". */
extern const char *const sk_switch_kinds[SK_SWITCH_KINDS];

/* The pass that gives nodes no task, which is of UBFusion. */
#define SK_SWITCH_VIRTUAL_OP_SET "FusionVirtualOpSetSwitch"

/* Of which kind the pass of that name is. */
enum sk_switch_kind sk_switch_kind(const char *name);

struct sk_switch {
	const char *name; /* of a pass, or "ALL" */
	enum sk_switch_kind kind; /* SK_SWITCH_KINDS: of both */
	bool on;
	struct sk_place place;
};

struct sk_switches {
	SK_ARRAY(struct sk_switch) switches;
	struct sk_map names[SK_SWITCH_KINDS]; /* of switches -> index */
	SK_ARRAY(struct sk_name) staying; /* passes that stay on */
};

void sk_switches_init(struct sk_switches *switches, struct sk_arena *arena);

/* Adds a switch. Returns the one that there is for the pass already, or NULL. */
const struct sk_switch *sk_switches_add(struct sk_switches *switches, struct sk_arena *arena, struct sk_switch added);

/* Whether the pass is on: as the file says of it, else as it says of all; `otherwise` is what holds without a file.
 * switches may be NULL. */
bool sk_switch_is_on(const struct sk_switches *switches, enum sk_switch_kind kind, const char *name, bool otherwise);

/* Warns of switches of passes that there are not; known[kind] are the names of those that there are. switches may be
 * NULL. */
void sk_switches_check_names(struct sk_diag *diag, const struct sk_switches *switches,
			     const sk_texts known[SK_SWITCH_KINDS]);

#endif
