/* Identical code folding. Input: live sections. Output: one section of each set of equivalent ones stays, and `folded`
 * of the others points to it, so that their symbols and all references lead to the one that stays.
 *
 * Two sections are equivalent if they have equal bytes, flags and output sections; if their relocations are alike and
 * refer to the same or to equivalent sections; and if the same holds for their unwind records. The properties that do
 * not depend on other candidates are encoded as a key. Equal keys give the first classes, and refine.c splits these by
 * the references to other candidates. Sections that are writable, part of a range or retained are never folded, nor are
 * sections other than read-only contents of objects. Two kernels with different hidden state, or with different
 * constants in tables of their own, are therefore never folded.
 *
 * --icf=all folds code even if its address may be compared. Read-only data is folded only if its address does not
 * matter, as in lld. Debug information of folded functions keeps its line numbers, so that breakpoints in the source of
 * either function stop in the one that stays; its other addresses are tombstones (debug-write.c). */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/relocation-types.h"
#include "linker/linker-parts.h"
#include "linker/linker.h"
#include "linker/object.h"
#include "linker/output.h"

struct candidate {
	struct sk_input_section *section;
	uint32_t contents; /* number of its bytes */
};

/* A folded section, and the section that replaces it. */
struct pair {
	uint32_t kept, folded; /* candidates */
};

struct folding {
	struct sk_linker *linker;
	SK_ARRAY(struct candidate) candidates;
	SK_ARRAY(struct pair) pairs;
	struct sk_map contents; /* bytes of sections and records -> number */
	struct sk_map names; /* of output sections -> number */
	struct sk_map keys; /* -> class */
	struct sk_map common; /* keys of CIEs -> number */
	SK_ARRAY(uint64_t) key; /* key of the section or record that is being described */
	SK_ARRAY(uint64_t) first_edges;
	SK_ARRAY(uint32_t) targets;
};

/* ---- candidates ---- */

static bool is_candidate(const struct sk_linker *linker, const struct sk_input_section *section)
{
	bool code = section->flags & SHF_EXECINSTR;

	if (!section->live || !section->loaded || section->mergeable || section->type != SHT_PROGBITS || !section->size)
		return false;
	if (section->in_range || (section->flags & (SHF_GNU_RETAIN | SHF_LINK_ORDER | SHF_TLS)))
		return false;
	if ((section->flags & SHF_WRITE) && sk_section_rank(section) != SK_RANK_RELRO_DATA)
		return false;
	if (!strcmp(section->name, ".init") || !strcmp(section->name, ".fini"))
		return false;
	return (code && linker->options.icf == SK_ICF_ALL) || !section->significant;
}

static uint32_t number_of_bytes(struct sk_map *map, const void *bytes, size_t size)
{
	return sk_map_insert(map, bytes, size, (uint32_t)map->count);
}

/* Number the candidates. Sections with unique contents are not candidates, so most sections are excluded here. */
static void find_candidates(struct folding *folding)
{
	struct sk_linker *linker = folding->linker;
	SK_ARRAY(struct candidate) found = {0};
	SK_ARRAY(uint32_t) uses = {0}; /* by number of contents */

	for (size_t i = 0; i < linker->objects.count; i++) {
		struct sk_object *object = linker->objects.items[i];

		for (uint32_t j = 0; object->reached && j < object->part_count; j++) {
			struct sk_input_section *section = &object->parts[j];

			if (!is_candidate(linker, section))
				continue;

			uint32_t number = number_of_bytes(&folding->contents, section->bytes, section->size);

			if (number == uses.count)
				sk_array_push(linker->arena, &uses, 0);
			uses.items[number]++;
			sk_array_push(linker->arena, &found, (struct candidate){section, number});
		}
	}
	for (size_t i = 0; i < found.count; i++) {
		if (uses.items[found.items[i].contents] < 2)
			continue;
		sk_array_push(linker->arena, &folding->candidates, found.items[i]);
		found.items[i].section->candidate = (uint32_t)folding->candidates.count;
	}
}

/* ---- keys ---- */

static void add_word(struct folding *folding, uint64_t word)
{
	sk_array_push(folding->linker->arena, &folding->key, word);
}

/* Return the number of the key; a new key is kept. */
static uint32_t take_key(struct folding *folding, struct sk_map *map)
{
	size_t size = folding->key.count * sizeof(uint64_t);
	uint32_t number = sk_map_find(map, (const char *)folding->key.items, size);

	if (number == SK_NONE)
		number = number_of_bytes(
			map, sk_arena_copy(folding->linker->arena, (const char *)folding->key.items, size), size);
	folding->key.count = 0;
	return number;
}

/* Describe the relocations of a section, or of a record that begins at `base`. A reference to a candidate adds an edge
 * if `edges` is set, and otherwise its number. A relocation that the link will refuse is equal to no other. */
static void describe_relocations(struct folding *folding, const struct sk_input_section *section,
				 const sk_elf_relocation *relocations, uint64_t count, uint64_t base, bool edges)
{
	enum { CANDIDATE = SK_TARGET_OUTSIDE + 1 };
	struct sk_linker *linker = folding->linker;

	add_word(folding, count);
	for (uint64_t i = 0; i < count; i++) {
		const sk_elf_relocation *relocation = &relocations[i];
		uint32_t number = ELF64_R_TYPE(relocation->r_info);
		const struct sk_relocation_type *type =
			sk_relocation_type_find(linker->architecture->relocations, number);
		struct sk_target target = sk_relocation_target(linker, section, relocation);
		bool slot = type && sk_expression_is_slot(type->expression); /* the addend is not counted from S */
		uint64_t kind = target.kind, referent = 0, addend = (uint64_t)relocation->r_addend;

		if (sk_is_import(target.kind) || target.kind == SK_TARGET_WEAK) {
			referent = target.symbol;
		} else if (target.kind == SK_TARGET_DEFINED && edges && target.section->candidate) {
			kind = CANDIDATE;
			sk_array_push(linker->arena, &folding->targets, target.section->candidate - 1);
		} else if (target.kind == SK_TARGET_DEFINED) {
			referent = (uintptr_t)target.section;
		} else if (target.kind != SK_TARGET_ABSOLUTE) {
			referent = (uintptr_t)relocation;
		}
		add_word(folding, relocation->r_offset - base);
		add_word(folding, kind << 32 | number);
		add_word(folding, referent);
		add_word(folding, slot ? target.value : target.value + addend);
		add_word(folding, slot ? addend : 0);
	}
}

/* CIEs of many objects are alike. Each is described once, since it may have any number of FDEs. */
static void number_cie(struct folding *folding, struct sk_frame *cie)
{
	if (cie->number)
		return;
	add_word(folding, number_of_bytes(&folding->contents, cie->section->bytes + cie->offset, (size_t)cie->size));
	describe_relocations(folding, cie->section, cie->relocations, cie->relocation_count, cie->offset, false);
	cie->number = take_key(folding, &folding->common) + 1;
}

/* Describe the records without the distance to the CIE. */
static void describe_frames(struct folding *folding, const struct sk_input_section *section)
{
	enum { HEADER = 8 }; /* length, distance */

	for (const struct sk_frame *frame = section->frames; frame; frame = frame->next) {
		add_word(folding, frame->cie->number);
		add_word(folding, number_of_bytes(&folding->contents, frame->section->bytes + frame->offset + HEADER,
						  (size_t)frame->size - HEADER));
		describe_relocations(folding, frame->section, frame->relocations, frame->relocation_count,
				     frame->offset, true);
	}
}

static uint32_t class_of(struct folding *folding, const struct candidate *candidate)
{
	const struct sk_input_section *section = candidate->section;
	const char *name = sk_output_name(section);

	for (const struct sk_frame *frame = section->frames; frame; frame = frame->next)
		number_cie(folding, frame->cie);
	add_word(folding, candidate->contents);
	add_word(folding, section->flags & ~(uint64_t)SHF_GROUP);
	add_word(folding, number_of_bytes(&folding->names, name, strlen(name)));
	describe_relocations(folding, section, section->relocations, section->relocation_count, 0, true);
	describe_frames(folding, section);
	return take_key(folding, &folding->keys);
}

static struct sk_graph make_graph(struct folding *folding)
{
	struct sk_arena *arena = folding->linker->arena;
	uint32_t count = (uint32_t)folding->candidates.count;
	uint32_t *classes = SK_NEW_ARRAY(arena, uint32_t, count);

	for (uint32_t i = 0; i < count; i++) {
		sk_array_push(arena, &folding->first_edges, folding->targets.count);
		classes[i] = class_of(folding, &folding->candidates.items[i]);
	}
	sk_array_push(arena, &folding->first_edges, folding->targets.count);
	return (struct sk_graph){.node_count = count,
				 .classes = classes,
				 .class_count = (uint32_t)folding->keys.count,
				 .first_edges = folding->first_edges.items,
				 .targets = folding->targets.items};
}

/* ---- folding ---- */

static void fold(struct sk_input_section *section, struct sk_input_section *kept)
{
	section->folded = kept;
	section->live = false;
	if (section->alignment > kept->alignment)
		kept->alignment = section->alignment;
}

static int compare_pairs(const void *a, const void *b)
{
	const struct pair *left = a, *right = b;

	if (left->kept != right->kept)
		return left->kept < right->kept ? -1 : 1;
	return (left->folded > right->folded) - (left->folded < right->folded);
}

static void print_section(struct folding *folding, const char *action, uint32_t candidate)
{
	const struct sk_input_section *section = folding->candidates.items[candidate].section;

	SK_PRINT(folding->linker, "%s section %s:(%s)", action, sk_object_name(folding->linker->arena, section->object),
		 section->name);
}

/* Print each section that stays, with those folded into it, in the order of the inputs. */
static void print_folded(struct folding *folding)
{
	struct pair *pairs = folding->pairs.items;

	if (pairs)
		qsort(pairs, folding->pairs.count, sizeof(*pairs), compare_pairs);
	for (size_t i = 0; i < folding->pairs.count; i++) {
		if (!i || pairs[i].kept != pairs[i - 1].kept)
			print_section(folding, "selected", pairs[i].kept);
		print_section(folding, "  removing identical", pairs[i].folded);
	}
}

/* Keep the first section of each class. */
static void fold_classes(struct folding *folding, const struct sk_graph *graph)
{
	struct sk_arena *arena = folding->linker->arena;
	uint32_t *first = SK_NEW_ARRAY(arena, uint32_t, graph->class_count); /* candidates from 1; 0: none so far */

	for (uint32_t i = 0; i < graph->node_count; i++) {
		uint32_t class = graph->classes[i];

		if (first[class]) {
			fold(folding->candidates.items[i].section, folding->candidates.items[first[class] - 1].section);
			sk_array_push(arena, &folding->pairs, (struct pair){first[class] - 1, i});
		} else {
			first[class] = i + 1;
		}
	}
	if (folding->linker->options.print_icf_sections)
		print_folded(folding);
}

bool sk_icf(struct sk_linker *linker)
{
	struct folding folding = {.linker = linker};

	if (linker->options.icf == SK_ICF_NONE)
		return true;
	if (!sk_find_significant(linker))
		return false;
	sk_map_init(&folding.contents, linker->arena);
	sk_map_init(&folding.names, linker->arena);
	sk_map_init(&folding.keys, linker->arena);
	sk_map_init(&folding.common, linker->arena);
	find_candidates(&folding);

	struct sk_graph graph = make_graph(&folding);

	sk_refine(linker->arena, &graph);
	fold_classes(&folding, &graph);
	return true;
}
