/* sklink -r: a linked object instead of an image. Live sections come in, joined into the output sections that an image
 * would have, with the relocations that sk_scan has let through; one ET_REL object goes out, which any linker makes
 * part of a program or a shared object.
 *
 * A relative reference inside an output section is final, since linkers do not divide sections. All others stay, with
 * the section's symbol and an offset; or with a symbol of their own (a slot) where the next linker goes by the symbol:
 * in GOT accesses, and for strings and records that it may join with others. Nothing is global but what the caller
 * exports, so several such objects fit into one program. */
#include <stdlib.h>
#include <string.h>

#include "linker/internal.h"

/* Where the bytes of an input section, or of a record in it, stand in the output. */
struct part {
	struct sk_output *output;
	uint8_t *bytes;
	uint64_t base; /* in the input section */
	uint64_t address; /* in the output section */
};

/* ---- one relocation ---- */

/* The number of the symbol that stands for the target, and the addend that goes with it. */
static uint32_t name_target(const struct sk_linker *linker, const struct sk_input_section *section,
			    const sk_elf_relocation *relocation, const struct sk_target *target, int64_t *addend)
{
	const struct sk_symbol_table *table = &linker->symbol_table;

	*addend = relocation->r_addend;
	if (target->kind == SK_TARGET_IMPORT || target->kind == SK_TARGET_UNDEFINED || target->kind == SK_TARGET_WEAK)
		return table->first_global + linker->symbols.items[target->symbol].dynamic_index - 1;
	if (sk_needs_symbol(linker, section, relocation, target)) {
		uint32_t slot = sk_slot_of(linker, section, relocation, target);

		/* Debug information has none, and can do without: its addresses are not relative. */
		if (slot != SK_NONE)
			return table->first_slot + slot;
	}
	if (!target->section)
		return STN_UNDEF;
	/* As unsigned numbers they cannot overflow, and that is how the next linker adds. */
	*addend = (int64_t)((uint64_t)*addend + target->section->address + target->value);
	return target->section->output->number; /* the null symbol is in front of the sections' */
}

static void leave(struct sk_linker *linker, const struct sk_input_section *section, const sk_elf_relocation *relocation,
		  const struct sk_target *target, const struct part *part, uint32_t type, uint64_t place)
{
	int64_t addend;
	uint32_t symbol = name_target(linker, section, relocation, target, &addend);

	/* A function of the C library is reached by a stub, however its call is marked. */
	if (type == linker->architecture->relative32 && target->kind == SK_TARGET_IMPORT &&
	    linker->symbols.items[target->symbol].import != SK_NONE)
		type = linker->architecture->call;
	sk_array_push(
		linker->arena, &part->output->relocations,
		(Elf64_Rela){.r_offset = place, .r_info = ELF64_R_INFO((uint64_t)symbol, type), .r_addend = addend});
}

static void emit(struct sk_linker *linker, const struct sk_input_section *section, const sk_elf_relocation *relocation,
		 const struct part *part)
{
	uint32_t number = ELF64_R_TYPE(relocation->r_info);
	enum sk_expression expression = linker->architecture->types[number].expression;
	struct sk_target target = sk_relocation_target(linker, section, relocation);
	uint64_t field = relocation->r_offset - part->base;

	if (expression == SK_EXPRESSION_NONE)
		return;
	if (expression == SK_EXPRESSION_SLOT && sk_is_relaxed(linker, section, relocation, &target)) {
		field = linker->architecture->relax(part->bytes, field);
		expression = SK_EXPRESSION_RELATIVE;
		number = linker->architecture->relative32;
	}

	uint64_t place = part->address + field, value = target.value + (uint64_t)relocation->r_addend;
	bool relative = expression == SK_EXPRESSION_RELATIVE || expression == SK_EXPRESSION_CALL;
	bool absolute = expression == SK_EXPRESSION_WORD || expression == SK_EXPRESSION_NARROW;

	if (relative && target.section && target.section->output == part->output)
		sk_relocate_field(linker, section, relocation, part->bytes + field,
				  value + target.section->address - place);
	else if (absolute && target.kind == SK_TARGET_ABSOLUTE)
		sk_relocate_field(linker, section, relocation, part->bytes + field, value);
	else
		leave(linker, section, relocation, &target, part, number, place);
}

void sk_relocatable_emit(struct sk_linker *linker, const struct sk_input_section *section,
			 const sk_elf_relocation *relocation, uint8_t *bytes)
{
	emit(linker, section, relocation,
	     &(struct part){.output = section->output, .bytes = bytes, .address = section->address});
}

/* ---- contents ---- */

static void fill_output(struct sk_linker *linker, const struct sk_output *output)
{
	uint8_t *contents = linker->image + output->file_offset;

	if (output->rank == SK_RANK_TEXT)
		memset(contents, linker->architecture->text_fill, output->size);
	for (size_t i = 0; i < output->sections.count; i++) {
		const struct sk_input_section *section = output->sections.items[i];
		uint8_t *bytes = contents + section->address;

		sk_section_copy(section, bytes);
		for (uint32_t j = 0; j < section->relocation_count; j++)
			sk_relocatable_emit(linker, section, &section->relocations[j], bytes);
	}
}

static void fill_frame(struct sk_linker *linker, struct sk_frame *frame)
{
	if (!frame->live)
		return;

	struct sk_output *output = linker->made[SK_MADE_FRAMES].output;
	const struct part part = {
		.output = output,
		.bytes = linker->image + output->file_offset + frame->output_offset,
		.base = frame->offset,
		.address = frame->output_offset,
	};

	sk_frame_copy(frame, part.bytes);
	for (uint64_t i = 0; i < frame->relocation_count; i++)
		emit(linker, frame->section, &frame->relocations[i], &part);
}

static bool fill(struct sk_linker *linker)
{
	unsigned errors = linker->diag->errors;

	for (size_t i = 0; i < linker->outputs.count; i++) {
		const struct sk_output *output = linker->outputs.items[i];

		if (output->type != SHT_NOBITS && output->rank < SK_RANK_CONSTANTS)
			fill_output(linker, output);
	}
	sk_frames_visit(linker, fill_frame);
	return linker->diag->errors == errors;
}

/* ---- the sections that only objects have ---- */

static int compare_relocations(const void *a, const void *b)
{
	const Elf64_Rela *left = a, *right = b;

	if (left->r_offset != right->r_offset)
		return left->r_offset < right->r_offset ? -1 : 1;
	return (left->r_info > right->r_info) - (left->r_info < right->r_info);
}

/* ".rela.text" and so on. The array of output sections grows meanwhile. */
static void add_relocations(struct sk_linker *linker, uint32_t symbols)
{
	size_t count = linker->outputs.count;

	for (size_t i = 0; i < count; i++) {
		const struct sk_output *output = linker->outputs.items[i];
		Elf64_Rela *items = output->relocations.items;
		size_t size = output->relocations.count * sizeof(*items);

		if (!size)
			continue;
		qsort(items, output->relocations.count, sizeof(*items), compare_relocations);

		const char *name = sk_arena_print(linker->arena, ".rela%s", output->name);
		struct sk_output *table = sk_image_add_tail(linker, name, SHT_RELA, items, size, sizeof(uint64_t));

		table->flags = SHF_INFO_LINK;
		table->entry_size = sizeof(*items);
		table->link = symbols;
		table->info = output->number;
	}
}

/* Without it linkers assume that the code wants an executable stack. */
static void add_stack_note(struct sk_linker *linker)
{
	sk_image_add_tail(linker, ".note.GNU-stack", SHT_PROGBITS, NULL, 0, 1);
}

/* What is not loaded is for skdump, and of no use in a program. */
static void exclude_unloaded(struct sk_linker *linker)
{
	for (size_t i = 0; i < linker->outputs.count; i++)
		if (linker->outputs.items[i]->rank == SK_RANK_NOT_LOADED)
			linker->outputs.items[i]->flags |= SHF_EXCLUDE;
}

bool sk_relocatable_make(struct sk_linker *linker)
{
	/* Everything has its place in its output section. */
	if (!sk_layout(linker))
		return false;
	exclude_unloaded(linker);
	sk_image_prepare(linker);
	sk_timing_next(linker->options.timing, "relocate");
	/* Symbols have their numbers. */
	sk_image_make_symbols(linker);
	/* Code and data are in the file; what they do not know is on the lists of relocations. */
	if (!fill(linker))
		return false;
	sk_timing_next(linker->options.timing, "finish");
	sk_image_add_uncopied(linker);
	if (!sk_debug_write(linker))
		return false;
	add_stack_note(linker);
	add_relocations(linker, sk_image_add_symbols(linker)->number);
	sk_image_add_headers(linker);
	return true;
}
