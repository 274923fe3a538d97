/* Notes of replaced nodes; see rules-parts.h. GE's conditions on the neighbours of a node look at notes, and they must
 * find what the file says of the producer and the consumers of a value after a rule has replaced these. */
#include "graph/rules/rules-parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/signature/signature.h"
#include "graph/graph.h"

/* Where a note goes, and what becomes of two of the same name. */
enum carrying {
	CARRY_NOT, /* it describes the node as one of the old graph */
	CARRY_OPERAND, /* its number is that of an input or an output: it follows the value */
	CARRY_ITEMS, /* a list with an item for each input or output: items follow their values */
	CARRY_MOST, /* the larger number, the text or the list with contents */
	CARRY_LEAST, /* the smaller number */
	CARRY_OTHER, /* the number that is not 1 */
};

static enum carrying carrying_of(const char *name)
{
	static const struct {
		const char *name;
		enum carrying carrying;
	} known[] = {
		{"_composite", CARRY_NOT},	     {"_composite_name", CARRY_NOT},
		{"_input_memory_type", CARRY_ITEMS}, {"_output_memory_type", CARRY_ITEMS},
		{"atomic_output_index", CARRY_MOST}, {"can_reused_for_concat_optimize", CARRY_LEAST},
		{"continuous_input", CARRY_MOST},    {"continuous_output", CARRY_MOST},
		{"imply_type", CARRY_OTHER},	     {"reference", CARRY_MOST},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(known[i].name, name))
			return known[i].carrying;
	if (!strncmp(name, "input_desc_", 11) || !strncmp(name, "output_desc_", 12))
		return CARRY_OPERAND;
	return *name == '_' ? CARRY_MOST : CARRY_NOT;
}

/* ---- one note ---- */

static struct sk_attribute *find_note(struct sk_graph_node *node, const char *name)
{
	for (size_t i = 0; i < node->notes.count; i++)
		if (!strcmp(node->notes.items[i].name, name))
			return &node->notes.items[i];
	return NULL;
}

static bool has_contents(const struct sk_attribute *note)
{
	return note->kind == SK_ATTRIBUTE_STRING     ? *note->string != 0
	       : note->kind >= SK_ATTRIBUTE_INTEGERS ? note->count != 0
						     : true;
}

/* True if the other note replaces the present one of that name. */
static bool prevails(const struct sk_attribute *other, const struct sk_attribute *present, enum carrying carrying)
{
	if (other->kind != SK_ATTRIBUTE_INTEGER || present->kind != SK_ATTRIBUTE_INTEGER)
		return !has_contents(present) && has_contents(other);
	if (carrying == CARRY_OTHER)
		return present->integer == 1;
	return carrying == CARRY_LEAST ? other->integer < present->integer : other->integer > present->integer;
}

static void add_note(struct sk_arena *arena, struct sk_graph_node *to, const struct sk_attribute *note,
		     enum carrying carrying)
{
	struct sk_attribute *present = find_note(to, note->name);

	if (!present)
		sk_array_push(arena, &to->notes, *note);
	else if (prevails(note, present, carrying))
		*present = *note;
}

/* ---- notes with numbers of operands ---- */

/* Copy "input_desc_shape:2" of operand 2 under the number that the operand has now. */
static void add_description(struct sk_arena *arena, struct sk_graph_node *to, const struct sk_attribute *note,
			    const char *side, size_t from_number, size_t to_number)
{
	const char *colon = strrchr(note->name, ':');
	struct sk_attribute copy = *note;

	if (strncmp(note->name, side, strlen(side)) != 0 || !colon ||
	    strcmp(colon + 1, sk_arena_print(arena, "%zu", from_number)) != 0)
		return;
	copy.name = sk_arena_print(arena, "%.*s:%zu", (int)(colon - note->name), note->name, to_number);
	add_note(arena, to, &copy, CARRY_MOST);
}

/* Copy the item of an operand in a list, at the place that the operand has now. */
static void add_item(struct sk_arena *arena, struct sk_graph_node *to, const struct sk_attribute *note,
		     const char *side, size_t from_number, size_t to_number)
{
	struct sk_attribute *present = find_note(to, note->name), list = *note;
	size_t count = present ? present->count : 0;
	int64_t *integers;

	if (strncmp(note->name + 1, side, strlen(side)) != 0 || note->kind != SK_ATTRIBUTE_INTEGERS ||
	    from_number >= note->count)
		return;
	list.count = to_number < count ? count : to_number + 1;
	integers = SK_NEW_ARRAY(arena, int64_t, list.count);
	if (count)
		memcpy(integers, present->integers, count * sizeof(*integers));
	integers[to_number] = note->integers[from_number];
	list.integers = integers;
	if (present)
		*present = list;
	else
		sk_array_push(arena, &to->notes, list);
}

/* ---- nodes ---- */

/* The value is operand `from_number` of the replaced node, and `to_number` of the new one, on that side. */
static void carry(struct sk_arena *arena, const struct sk_graph_node *from, struct sk_graph_node *to, const char *side,
		  size_t from_number, size_t to_number)
{
	for (size_t i = 0; i < from->notes.count; i++) {
		const struct sk_attribute *note = &from->notes.items[i];
		enum carrying carrying = carrying_of(note->name);

		if (carrying == CARRY_OPERAND)
			add_description(arena, to, note, side, from_number, to_number);
		else if (carrying == CARRY_ITEMS)
			add_item(arena, to, note, side, from_number, to_number);
		else if (carrying != CARRY_NOT)
			add_note(arena, to, note, carrying);
	}
}

static void carry_side(struct sk_arena *arena, const struct sk_graph_node *from, struct sk_graph_node *to, bool inputs)
{
	size_t old = inputs ? from->inputs.count : from->outputs.count;
	size_t new = inputs ? to->inputs.count : to->outputs.count;

	for (size_t i = 0; i < old; i++)
		for (size_t j = 0; j < new; j++) {
			uint32_t value = inputs ? from->inputs.items[i] : from->outputs.items[i];

			if (value != SK_NONE && value == (inputs ? to->inputs.items[j] : to->outputs.items[j]))
				carry(arena, from, to, inputs ? "input" : "output", i, j);
		}
}

void sk_rule_carry_notes(const struct sk_op_graph *graph, const uint32_t *replaced, size_t count, sk_graph_nodes *nodes)
{
	for (size_t r = 0; r < count; r++) {
		const struct sk_graph_node *from = &graph->nodes.items[replaced[r]];

		for (size_t n = 0; n < nodes->count && from->notes.count; n++) {
			carry_side(graph->arena, from, &nodes->items[n], true);
			carry_side(graph->arena, from, &nodes->items[n], false);
		}
	}
}
