/* Chooses the tables of constructors and destructors that the image needs. Input: all sections that are live without
 * them. Output: the tables to be marked, and those that are left out.
 *
 * A constructor works by the values that it leaves in writable data. It is needed if it reaches writable data that
 * a kernel, or a constructor that is needed, also reaches, or the C library's state. One that reaches no writable
 * data at all may set a register or print, and is kept. So <iostream>'s constructor, which every object has that
 * includes it, is left out unless something uses the streams.
 *
 * All tables are searched at once: relocations are followed once, and the traits of the sections at the end spread
 * against the references. Unwind information leads only to code that handles exceptions, and is not followed. */
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "format/import-row.h"
#include "linker/linker-parts.h"
#include "linker/linker.h"
#include "linker/object.h"

/* A property of a section. The sections that lead to it also have it. */
enum trait {
	STATEFUL, /* writable data */
	NEEDED, /* writable data that is live */
	LACKING, /* refers to an undefined symbol: its number + 1 */
	TRAIT_COUNT,
};

struct node {
	struct sk_input_section *section;
	uint32_t first_edge; /* to those that refer to it */
	uint32_t traits[TRAIT_COUNT]; /* 0: no */
};

struct edge {
	uint32_t from, next;
};

struct sk_constructors {
	struct sk_linker *linker;
	SK_ARRAY(struct node) nodes; /* the tables first */
	SK_ARRAY(struct edge) edges;
	SK_ARRAY(uint32_t) work; /* of a spreading trait; empty between them */
	size_t table_count;
	size_t told; /* live sections that have been looked at */
};

/* ---- the search ---- */

/* Return the number of the section's node. While there are nodes, candidate + 1 holds it; folding begins later. */
static uint32_t enter_node(struct sk_constructors *constructors, struct sk_input_section *section)
{
	if (!section->candidate) {
		sk_array_push(constructors->linker->arena, &constructors->nodes,
			      (struct node){.section = section, .first_edge = SK_NONE});
		section->candidate = (uint32_t)constructors->nodes.count;
	}
	return section->candidate - 1;
}

static void add_edge(struct sk_constructors *constructors, uint32_t from, struct sk_input_section *to)
{
	if (!to || !to->loaded || to->discarded || (to->object && to->object->plain))
		return;

	uint32_t target = enter_node(constructors, to), edge = (uint32_t)constructors->edges.count;
	struct node *node = &constructors->nodes.items[target];

	sk_array_push(constructors->linker->arena, &constructors->edges, (struct edge){from, node->first_edge});
	node->first_edge = edge;
}

/* Return whether the symbol is the constructor or the destructor of the object that <iostream> puts into each object.
 * It serves the standard streams alone. */
static bool is_of_streams(const struct sk_linker *linker, sk_symbol symbol)
{
	static const char start[] = "_ZNSt8ios_base4Init";
	const char *name = symbol == SK_NONE ? NULL : linker->symbols.items[symbol].name;

	return name && !strncmp(name, start, strlen(start)) &&
	       (!strcmp(name + strlen(start), "C1Ev") || !strcmp(name + strlen(start), "D1Ev"));
}

static void lead_to_streams(struct sk_constructors *constructors, uint32_t from)
{
	static const char *const streams[] = {"_ZSt3cin",  "_ZSt4cout",	 "_ZSt4cerr",  "_ZSt4clog",
					      "_ZSt4wcin", "_ZSt5wcout", "_ZSt5wcerr", "_ZSt5wclog"};
	struct sk_linker *linker = constructors->linker;

	for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++) {
		sk_symbol symbol = sk_map_find(&linker->symbol_numbers, streams[i], strlen(streams[i]));

		if (symbol != SK_NONE)
			add_edge(constructors, from, sk_symbol_target(linker, symbol).section);
	}
}

static void follow_relocation(struct sk_constructors *constructors, uint32_t from, const struct sk_target *target)
{
	struct sk_linker *linker = constructors->linker;

	if (is_of_streams(linker, target->symbol)) {
		lead_to_streams(constructors, from);
	} else if (target->kind == SK_TARGET_UNDEFINED) {
		constructors->nodes.items[from].traits[LACKING] = target->symbol + 1;
	} else if (target->kind == SK_TARGET_IMPORT) {
		if (linker->symbols.items[target->symbol].import->class == SK_IMPORT_STATE)
			add_edge(constructors, from, &linker->library_state);
	} else {
		add_edge(constructors, from, target->section);
	}
}

static void follow_node(struct sk_constructors *constructors, uint32_t number)
{
	const struct sk_input_section *section = constructors->nodes.items[number].section;
	const struct sk_section_range *range = sk_range_bounded(section);

	for (uint32_t i = 0; i < section->relocation_count && !section->mergeable; i++) {
		struct sk_target target =
			sk_relocation_target(constructors->linker, section, &section->relocations[i]);
		bool code = target.kind == SK_TARGET_DEFINED && (target.section->flags & SHF_EXECINSTR);

		if (number < constructors->table_count && !code) /* sk_scan refuses it */
			constructors->nodes.items[number].traits[NEEDED] = 1;
		follow_relocation(constructors, number, &target);
	}
	for (size_t i = 0; range && i < range->sections.count; i++)
		add_edge(constructors, number, range->sections.items[i]);
}

/* ---- traits ---- */

static void spread_trait(struct sk_constructors *constructors, uint32_t number, enum trait trait, uint32_t value)
{
	struct node *nodes = constructors->nodes.items;

	if (trait != LACKING && nodes[number].traits[trait])
		return;
	nodes[number].traits[trait] = value;
	sk_array_push(constructors->linker->arena, &constructors->work, number);
	while (constructors->work.count) {
		const struct node *node = &nodes[constructors->work.items[--constructors->work.count]];

		for (uint32_t i = node->first_edge; i != SK_NONE; i = constructors->edges.items[i].next) {
			uint32_t from = constructors->edges.items[i].from;

			if (nodes[from].traits[trait])
				continue;
			nodes[from].traits[trait] = value;
			sk_array_push(constructors->linker->arena, &constructors->work, from);
		}
	}
}

/* Thread-local data counts: a constructor sets that of the thread that loads the package. */
static bool is_writable(const struct sk_linker *linker, const struct sk_input_section *section)
{
	return section == &linker->library_state || sk_is_state(section) ||
	       ((section->flags & SHF_TLS) && section->size);
}

struct sk_constructors *sk_constructors_search(struct sk_linker *linker, struct sk_input_section **tables, size_t count)
{
	struct sk_constructors *constructors = SK_NEW(linker->arena, struct sk_constructors);

	constructors->linker = linker;
	for (size_t i = 0; i < count; i++)
		enter_node(constructors, tables[i]);
	constructors->table_count = constructors->nodes.count;
	for (uint32_t i = 0; i < constructors->nodes.count; i++)
		follow_node(constructors, i);
	for (uint32_t i = 0; i < constructors->nodes.count; i++) {
		const struct sk_input_section *section = constructors->nodes.items[i].section;

		if (is_writable(linker, section))
			spread_trait(constructors, i, STATEFUL, 1);
		if (section == &linker->library_state)
			spread_trait(constructors, i, NEEDED, 1);
		if (constructors->nodes.items[i].traits[LACKING])
			spread_trait(constructors, i, LACKING, constructors->nodes.items[i].traits[LACKING]);
	}
	return constructors;
}

void sk_constructors_learn(struct sk_constructors *constructors, const struct sk_found *found)
{
	for (; constructors->told < found->sections.count; constructors->told++) {
		const struct sk_input_section *section = found->sections.items[constructors->told];

		if (section->candidate && is_writable(constructors->linker, section))
			spread_trait(constructors, section->candidate - 1, NEEDED, 1);
	}
}

bool sk_constructors_need(const struct sk_constructors *constructors, const struct sk_input_section *table)
{
	const struct node *node = &constructors->nodes.items[table->candidate - 1];

	return node->traits[NEEDED] || !node->traits[STATEFUL];
}

/* ---- those that are left out ---- */

/* It might have set data of a kernel: undefined functions of a library that is missing can refer to any name. */
static void warn_of_lack(struct sk_linker *linker, const struct node *node)
{
	const char *name = linker->symbols.items[node->traits[LACKING] - 1].name;

	sk_warning(linker->diag, sk_section_place(linker->arena, node->section, 0),
		   "the constructors or destructors here are left out, since no kernel reaches the data that they set; "
		   "but they also need '%s', which no input defines",
		   sk_demangled(linker, name));
}

void sk_constructors_end(struct sk_constructors *constructors)
{
	struct sk_linker *linker = constructors->linker;

	for (size_t i = 0; i < constructors->nodes.count; i++) {
		const struct node *node = &constructors->nodes.items[i];

		node->section->candidate = 0;
		if (i >= constructors->table_count || node->section->live)
			continue;
		sk_array_push(linker->arena, &linker->left_out, node->section);
		if (node->traits[LACKING])
			warn_of_lack(linker, node);
	}
}
