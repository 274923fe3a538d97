/* Collects what nobody needs. Everything synthetic is needed, and what it, the required and exported symbols and
 * sections that ask to be retained (SHF_GNU_RETAIN) refer to, and so on. So are the constructors and destructors of
 * every pulled object, whether or not anything else of it is reached: that is how an object fills a table of another
 * one, and GNU ld and lld keep them as well. Who refers to __start_NAME or __stop_NAME needs all sections of that name.
 * If the user wants no collection, all of every pulled object is needed. */
#include "linker/link.h"
#include "linker/merge.h"
#include "linker/passes.h"
#include "linker/relocation.h"
#include "linker/section.h"
#include "linker/symbol.h"

typedef SK_ARRAY(struct sk_input_section *) worklist;

static void mark(struct sk_linker *linker, worklist *work, struct sk_input_section *section)
{
	if (!section || section->live || !section->loaded || section->discarded)
		return;
	section->live = true;
	sk_array_push(linker->arena, work, section);

	const struct sk_section_range *range = sk_range_bounded(section);

	for (size_t i = 0; range && i < range->sections.count; i++)
		mark(linker, work, range->sections.items[i]);

	if (section->object)
		section->object->reached = true;
}

static void mark_whole(struct sk_linker *linker, worklist *work, struct sk_input_section *section)
{
	mark(linker, work, section);
	if (section->mergeable && section->live)
		sk_merge_mark_all(linker, section);
}

/* Of a mergeable section only what is referred to is needed. */
static void mark_target(struct sk_linker *linker, worklist *work, const struct sk_target *target)
{
	mark(linker, work, target->section);
	if (target->section && target->section->mergeable && target->section->live && target->kind != SK_TARGET_OUTSIDE)
		sk_merge_mark(linker, target->section, target->offset);
}

static void mark_targets(struct sk_linker *linker, worklist *work, const struct sk_input_section *section,
			 const sk_elf_relocation *relocations, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		struct sk_target target = sk_relocation_target(linker, section, &relocations[i]);

		mark_target(linker, work, &target);
	}
}

/* What a function's unwind information refers to, language-specific tables and personality, is needed with it. */
static void mark_frames(struct sk_linker *linker, worklist *work, const struct sk_input_section *section)
{
	for (const struct sk_frame *frame = section->frames; frame; frame = frame->next) {
		mark_targets(linker, work, frame->section, frame->relocations, frame->relocation_count);
		if (frame->cie->marked) /* a CIE has any number of FDEs */
			continue;
		frame->cie->marked = true;
		mark_targets(linker, work, frame->cie->section, frame->cie->relocations, frame->cie->relocation_count);
	}
}

static bool is_root(const struct sk_linker *linker, const struct sk_input_section *section)
{
	return linker->options.no_gc_sections || (section->flags & SHF_GNU_RETAIN) || sk_is_constructors(section);
}

void sk_collect(struct sk_linker *linker)
{
	worklist work = {0};

	for (size_t i = 0; i < linker->synthetic.count; i++) {
		struct sk_input_section *section = &linker->synthetic.items[i]->section;

		mark(linker, &work, section);
		if (!section->live) /* not loaded */
			mark_targets(linker, &work, section, section->relocations, section->relocation_count);
	}
	for (size_t i = 0; i < linker->required.count; i++) {
		struct sk_target target = sk_symbol_target(linker, linker->required.items[i]);

		mark_target(linker, &work, &target);
	}
	for (size_t i = 0; i < linker->exported.count; i++) {
		struct sk_target target = sk_symbol_target(linker, linker->exported.items[i]);

		mark_target(linker, &work, &target);
	}
	for (size_t i = 0; i < linker->objects.count; i++) {
		struct sk_object *object = linker->objects.items[i];

		for (uint32_t j = 1; object->pulled && j < object->part_count; j++)
			if (is_root(linker, &object->parts[j]))
				mark_whole(linker, &work, &object->parts[j]);
	}
	for (size_t i = 0; linker->options.no_gc_sections && i < linker->symbols.count; i++)
		if (linker->symbols.items[i].rank == SK_DEFINITION_COMMON)
			mark(linker, &work, sk_symbol_target(linker, (sk_symbol)i).section);
	while (work.count) {
		struct sk_input_section *section = work.items[--work.count];

		mark_targets(linker, &work, section, section->relocations, section->relocation_count);
		mark_frames(linker, &work, section);
	}
}
