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
#include "linker/texts.h"

/* Sections in the order in which they are found, nearest first, so that the way to each is a shortest one. */
struct collecting {
	struct sk_linker *linker;
	struct sk_found found;
	struct sk_finding finding; /* of what is found now */
};

static void mark(struct collecting *collecting, struct sk_input_section *section)
{
	struct sk_linker *linker = collecting->linker;

	if (!section || section->live || !section->loaded || section->discarded)
		return;
	section->live = true;
	sk_array_push(linker->arena, &collecting->found.sections, section);
	if (linker->options.asked_symbol_count)
		sk_array_push(linker->arena, &collecting->found.findings, collecting->finding);

	const struct sk_section_range *range = sk_range_bounded(section);

	for (size_t i = 0; range && i < range->sections.count; i++)
		mark(collecting, range->sections.items[i]);

	if (section->object)
		section->object->reached = true;
}

/* Of a mergeable section only what is referred to is needed. */
static void mark_target(struct collecting *collecting, const struct sk_target *target)
{
	mark(collecting, target->section);
	if (target->section && target->section->mergeable && target->section->live && target->kind != SK_TARGET_OUTSIDE)
		sk_merge_mark(collecting->linker, target->section, target->offset);
}

static void mark_targets(struct collecting *collecting, const struct sk_input_section *section,
			 const sk_elf_relocation *relocations, uint64_t count)
{
	collecting->finding.section = section;
	for (uint64_t i = 0; i < count; i++) {
		struct sk_target target = sk_relocation_target(collecting->linker, section, &relocations[i]);

		collecting->finding.offset = relocations[i].r_offset;
		mark_target(collecting, &target);
	}
}

/* What a function's unwind information refers to, language-specific tables and personality, is needed with it. */
static void mark_frames(struct collecting *collecting, const struct sk_input_section *section)
{
	const struct sk_frame *frame = section->mergeable ? NULL : section->frames;

	for (; frame; frame = frame->next) {
		mark_targets(collecting, frame->section, frame->relocations, frame->relocation_count);
		if (frame->cie->marked) /* a CIE has any number of FDEs */
			continue;
		frame->cie->marked = true;
		mark_targets(collecting, frame->cie->section, frame->cie->relocations, frame->cie->relocation_count);
	}
}

static void mark_symbols(struct collecting *collecting, const char *reason, const sk_symbol *symbols, size_t count)
{
	collecting->finding.root = reason;
	for (size_t i = 0; i < count; i++) {
		struct sk_target target = sk_symbol_target(collecting->linker, symbols[i]);

		mark_target(collecting, &target);
	}
}

/* Why the section is needed whoever reaches it, or NULL. */
static const char *root_reason(const struct sk_linker *linker, const struct sk_input_section *section)
{
	if (sk_is_constructors(section))
		return "a table of constructors or destructors of an object that takes part";
	if (section->flags & SHF_GNU_RETAIN)
		return "a section that is to be retained";
	return linker->options.no_gc_sections ? "kept by --no-gc-sections" : NULL;
}

static void mark_roots(struct collecting *collecting, const struct sk_object *object)
{
	for (uint32_t i = 0; i < object->part_count; i++) {
		struct sk_input_section *section = &object->parts[i];

		collecting->finding.root = root_reason(collecting->linker, section);
		if (!collecting->finding.root)
			continue;
		mark(collecting, section);
		if (section->mergeable && section->live)
			sk_merge_mark_all(collecting->linker, section);
	}
}

static void mark_synthetic(struct collecting *collecting)
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

void sk_collect(struct sk_linker *linker)
{
	struct collecting collecting = {.linker = linker, .finding = {.from = SK_NONE}};
	const struct sk_found *found = &collecting.found;

	mark_synthetic(&collecting);
	mark_symbols(&collecting, "required by the command line", linker->required.items, linker->required.count);
	mark_symbols(&collecting, "exported", linker->exported.items, linker->exported.count);
	for (size_t i = 0; i < linker->objects.count; i++)
		if (linker->objects.items[i]->pulled)
			mark_roots(&collecting, linker->objects.items[i]);
	collecting.finding.root = "kept by --no-gc-sections";
	for (size_t i = 0; linker->options.no_gc_sections && i < linker->symbols.count; i++)
		if (linker->symbols.items[i].rank == SK_DEFINITION_COMMON)
			mark(&collecting, sk_symbol_target(linker, (sk_symbol)i).section);
	collecting.finding.root = NULL;
	for (size_t i = 0; i < found->sections.count; i++) {
		const struct sk_input_section *section = found->sections.items[i];

		collecting.finding.from = (uint32_t)i;
		mark_targets(&collecting, section, section->relocations, section->relocation_count);
		mark_frames(&collecting, section);
	}
	sk_print_reasons(linker, found);
}
