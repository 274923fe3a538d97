/* Marks the sections that the image needs; all others are dropped. Needed are all synthetic sections, the required and
 * exported symbols, sections that ask to be retained (SHF_GNU_RETAIN), and everything that these refer to. The
 * constructors and destructors of pulled objects are also needed, even if nothing else of the object is reached, unless
 * no live code reaches the data that they set (constructors.c). An object can fill another one's table. A reference to
 * __start_NAME or __stop_NAME needs all sections of that name. With --no-gc-sections, everything in every pulled object
 * is needed.
 *
 * Sections reached from functions that are certain to be in the image can be collected ahead, while the caller does
 * other work: before the package's own sections, and the names that they define, are known. Sections with references
 * that may still change their meaning are looked at again. */
#include "base/arena.h"
#include "base/map.h"
#include "base/timing.h"
#include "linker/linker-parts.h"
#include "linker/linker.h"
#include "linker/object.h"
#include "linker/output.h"

/* Sections in the order in which they are found, breadth first, so that the path to each is a shortest one. */
struct sk_collecting {
	struct sk_linker *linker;
	struct sk_arena *arena; /* the linker's; the one that collects ahead has its own, which the linker adopts */
	struct sk_found found;
	size_t done; /* number of sections with followed references */
	struct sk_finding finding; /* how the section found next was reached */
	SK_ARRAY(struct sk_input_section *) tables; /* of constructors, of which the live ones are chosen last */
	/* Only when collecting ahead: */
	bool is_ahead;
	bool open; /* the current section's references may change their meaning */
	SK_ARRAY(struct sk_input_section *) open_sections;
	const sk_symbol *functions;
	size_t function_count;
	struct sk_beside beside;
	uint64_t start, end; /* sk_timing_now */
};

static void mark(struct sk_collecting *collecting, struct sk_input_section *section)
{
	struct sk_linker *linker = collecting->linker;

	if (!section || section->live || !section->loaded || section->discarded)
		return;
	section->live = true;
	sk_array_push(collecting->arena, &collecting->found.sections, section);
	if (linker->options.asked_symbol_count)
		sk_array_push(collecting->arena, &collecting->found.findings, collecting->finding);

	const struct sk_section_range *range = sk_range_bounded(section);

	for (size_t i = 0; range && i < range->sections.count; i++)
		mark(collecting, range->sections.items[i]);

	if (section->object)
		section->object->reached = true;
}

/* Mark the target. In a mergeable section only the strings and records that are referred to are needed. */
static void mark_target(struct sk_collecting *collecting, const struct sk_target *target)
{
	mark(collecting, target->section);
	if (target->section && target->section->mergeable && target->section->live && target->kind != SK_TARGET_OUTSIDE)
		sk_merge_mark(collecting->arena, target->section, target->offset);
}

/* Return whether the symbol's meaning is final. Later inputs, above all the package's own code, can define a name that
 * has no definition yet, or only a weak one. */
static bool is_final(const struct sk_linker *linker, sk_symbol number)
{
	const struct sk_linker_symbol *symbol = &linker->symbols.items[number];

	return symbol->rank >= SK_DEFINITION_STRONG && symbol->alias == SK_NONE;
}

/* Only sections of objects are looked at when collecting ahead. */
static bool may_change(const struct sk_collecting *collecting, const struct sk_object *object,
		       const sk_elf_relocation *relocation)
{
	uint32_t index = (uint32_t)ELF64_R_SYM(relocation->r_info);

	return collecting->is_ahead && index >= object->first_global &&
	       !is_final(collecting->linker, object->globals[index - object->first_global]);
}

/* The package's own sections refer mostly to functions that have been collected ahead; such a target needs no further
 * lookup. */
static struct sk_target find_target(const struct sk_collecting *collecting, const struct sk_input_section *section,
				    const sk_elf_relocation *relocation)
{
	uint32_t index = (uint32_t)ELF64_R_SYM(relocation->r_info);

	if (!section->object && collecting->linker->symbols.items[index].collected)
		return (struct sk_target){.kind = SK_TARGET_DEFINED, .symbol = index};
	return sk_relocation_target(collecting->linker, section, relocation);
}

/* Mark the targets of all relocations. Return whether sk_scan has nothing to do for any of them. */
static bool mark_targets(struct sk_collecting *collecting, const struct sk_input_section *section,
			 const sk_elf_relocation *relocations, uint64_t count)
{
	bool scanned = true;

	collecting->finding.section = section;
	for (uint64_t i = 0; i < count; i++) {
		if (may_change(collecting, section->object, &relocations[i])) {
			collecting->open = true;
			continue;
		}

		struct sk_target target = find_target(collecting, section, &relocations[i]);

		scanned = scanned && !sk_needs_scan(collecting->linker, section, &relocations[i], &target);
		collecting->finding.offset = relocations[i].r_offset;
		mark_target(collecting, &target);
	}
	return scanned;
}

static void mark_record(struct sk_collecting *collecting, struct sk_frame *frame)
{
	frame->scanned = mark_targets(collecting, frame->section, frame->relocations, frame->relocation_count);
	if (!frame->scanned && frame->section->object)
		frame->section->object->unscanned = true;
}

/* Mark the references of a function's unwind information, such as language-specific tables and the personality
 * routine. */
static void mark_frames(struct sk_collecting *collecting, const struct sk_input_section *section)
{
	struct sk_frame *frame = section->mergeable ? NULL : section->frames;

	for (; frame; frame = frame->next) {
		mark_record(collecting, frame);
		if (frame->cie->marked) /* a CIE has any number of FDEs */
			continue;
		mark_record(collecting, frame->cie);
		frame->cie->marked = !collecting->open;
	}
}

/* Mark everything that the section refers to. */
static void follow(struct sk_collecting *collecting, struct sk_input_section *section)
{
	collecting->open = false;
	section->scanned = mark_targets(collecting, section, section->relocations, section->relocation_count);
	if (section->object && (!section->scanned || sk_is_constructors(section)))
		section->object->unscanned = true;
	mark_frames(collecting, section);
	if (collecting->open)
		sk_array_push(collecting->arena, &collecting->open_sections, section);
}

static void follow_all(struct sk_collecting *collecting)
{
	collecting->finding.root = NULL;
	for (; collecting->done < collecting->found.sections.count; collecting->done++) {
		collecting->finding.from = (uint32_t)collecting->done;
		follow(collecting, collecting->found.sections.items[collecting->done]);
	}
}

static void mark_symbols(struct sk_collecting *collecting, const char *reason, const sk_symbol *symbols, size_t count)
{
	collecting->finding.root = reason;
	for (size_t i = 0; i < count; i++) {
		struct sk_target target = sk_symbol_target(collecting->linker, symbols[i]);

		mark_target(collecting, &target);
	}
}

static const char constructor_reason[] = "a table of constructors or destructors of an object that takes part";

/* Return why the section is needed without being referred to, or NULL. */
static const char *root_reason(const struct sk_linker *linker, const struct sk_input_section *section)
{
	if (sk_is_constructors(section) && (linker->options.relocatable || linker->options.no_gc_sections))
		return constructor_reason;
	if (section->flags & SHF_GNU_RETAIN)
		return "a section that is to be retained";
	return linker->options.no_gc_sections ? "kept by --no-gc-sections" : NULL;
}

static void mark_roots(struct sk_collecting *collecting, struct sk_object *object)
{
	object->rooted = true;
	for (uint32_t i = 0; i < object->part_count; i++) {
		struct sk_input_section *section = &object->parts[i];

		collecting->finding.root = root_reason(collecting->linker, section);
		if (!collecting->finding.root && sk_is_constructors(section) && !section->discarded)
			sk_array_push(collecting->arena, &collecting->tables, section);
		if (!collecting->finding.root)
			continue;
		mark(collecting, section);
		if (section->mergeable && section->live)
			sk_merge_mark_all(collecting->arena, section);
	}
}

/* Mark the roots of the objects pulled so far. */
static void mark_all_roots(struct sk_collecting *collecting)
{
	for (size_t i = 0; i < collecting->linker->objects.count; i++) {
		struct sk_object *object = collecting->linker->objects.items[i];

		if (object->pulled && !object->rooted)
			mark_roots(collecting, object);
	}
}

static void mark_synthetic(struct sk_collecting *collecting)
{
	struct sk_linker *linker = collecting->linker;

	for (size_t i = 0; i < linker->synthetic.count; i++) {
		struct sk_input_section *section = &linker->synthetic.items[i]->section;

		collecting->finding.root = "the package's own";
		mark(collecting, section);
		if (!section->live) /* not loaded */
			mark_targets(collecting, section, section->relocations, section->relocation_count);
	}
}

/* ---- ahead ---- */

static void collect_function(struct sk_collecting *collecting, sk_symbol function)
{
	struct sk_target target = sk_symbol_target(collecting->linker, function);

	mark_target(collecting, &target);
	collecting->linker->symbols.items[function].collected =
		target.kind == SK_TARGET_DEFINED && target.section->live && !target.section->mergeable;
}

static void collect_ahead(void *context)
{
	struct sk_collecting *collecting = context;

	collecting->start = sk_timing_now();
	for (size_t i = 0; i < collecting->function_count; i++)
		if (is_final(collecting->linker, collecting->functions[i]))
			collect_function(collecting, collecting->functions[i]);
	mark_all_roots(collecting);
	follow_all(collecting);
	collecting->is_ahead = false;
	collecting->end = sk_timing_now();
}

void sk_linker_collect_ahead(struct sk_linker *linker, const sk_symbol *functions, size_t count)
{
	struct sk_collecting *collecting;

	if (!linker->architecture || linker->options.asked_symbol_count) /* paths begin at the package's own sections */
		return;
	sk_thread_destructors_find(linker);
	collecting = linker->collecting = SK_NEW(linker->arena, struct sk_collecting);
	*collecting = (struct sk_collecting){.linker = linker,
					     .arena = sk_arena_create(),
					     .is_ahead = true,
					     .functions = functions,
					     .function_count = count};
	sk_timing_begin(linker->options.timing, "collect ahead", NULL);
	sk_beside_start(&collecting->beside, linker->options.threads, collect_ahead, collecting);
	sk_timing_end(linker->options.timing);
}

void sk_linker_wait_collected(struct sk_linker *linker)
{
	struct sk_collecting *collecting = linker->collecting;

	if (!collecting || collecting->arena == linker->arena)
		return;
	sk_beside_wait(&collecting->beside);
	sk_arena_adopt(linker->arena, collecting->arena);
	collecting->arena = linker->arena;
	if (linker->options.threads > 1)
		sk_timing_add_beside(linker->options.timing, "collect ahead", collecting->start, collecting->end);
}

/* ---- the pass ---- */

static struct sk_collecting *begin_collecting(struct sk_linker *linker)
{
	struct sk_collecting *collecting = SK_NEW(linker->arena, struct sk_collecting);

	collecting->linker = linker;
	collecting->arena = linker->arena;
	return collecting;
}

/* Mark the tables of constructors and destructors that live code needs, which may then need others. */
static void mark_constructors(struct sk_collecting *collecting)
{
	struct sk_constructors *constructors;
	size_t before;

	if (!collecting->tables.count)
		return;
	constructors = sk_constructors_search(collecting->linker, collecting->tables.items, collecting->tables.count);
	do {
		before = collecting->found.sections.count;
		sk_constructors_learn(constructors, &collecting->found);
		collecting->finding.root = constructor_reason;
		for (size_t i = 0; i < collecting->tables.count; i++)
			if (sk_constructors_need(constructors, collecting->tables.items[i]))
				mark(collecting, collecting->tables.items[i]);
		follow_all(collecting);
	} while (collecting->found.sections.count != before);
	sk_constructors_end(constructors);
}

void sk_collect(struct sk_linker *linker)
{
	struct sk_collecting *collecting = linker->collecting ? linker->collecting : begin_collecting(linker);

	sk_thread_destructors_find(linker);
	collecting->finding.from = SK_NONE;
	mark_synthetic(collecting);
	mark_symbols(collecting, "required by the command line", linker->required.items, linker->required.count);
	mark_symbols(collecting, "exported", linker->exported.items, linker->exported.count);
	mark_all_roots(collecting);
	collecting->finding.root = "kept by --no-gc-sections";
	for (size_t i = 0; linker->options.no_gc_sections && i < linker->symbols.count; i++)
		if (linker->symbols.items[i].rank == SK_DEFINITION_COMMON)
			mark(collecting, sk_symbol_target(linker, (sk_symbol)i).section);
	for (size_t i = 0; i < collecting->open_sections.count; i++)
		follow(collecting, collecting->open_sections.items[i]);
	follow_all(collecting);
	mark_constructors(collecting);
	sk_print_reasons(linker, &collecting->found);
}
