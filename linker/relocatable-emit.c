/* Relocations of a linked object (-r). Input: those of a live section. Output: each is resolved into the section's
 * bytes if the value is known, and is otherwise left to the next linker. */
#include "base/arena.h"
#include "base/map.h"
#include "format/relocation-types.h"
#include "linker/linker-parts.h"
#include "linker/object.h"
#include "linker/output.h"

/* The place of an input section's bytes, or of a record in it, in the output. */
struct part {
	struct sk_output *output;
	uint8_t *bytes;
	uint64_t base; /* in the input section */
	uint64_t address; /* in the output section */
};

/* Return the number of the symbol that stands for the target, and the addend that goes with it. */
static uint32_t name_target(const struct sk_linker *linker, const struct sk_input_section *section,
			    const sk_elf_relocation *relocation, const struct sk_target *target, int64_t *addend)
{
	const struct sk_symbol_table *table = &linker->symbol_table;

	*addend = relocation->r_addend;
	if (sk_is_import(target->kind) || target->kind == SK_TARGET_UNDEFINED || target->kind == SK_TARGET_WEAK)
		return table->first_global + linker->symbols.items[target->symbol].dynamic_index - 1;
	if (sk_needs_symbol(linker, section, relocation, target)) {
		uint32_t slot = sk_slot_of(linker, section, relocation, target);

		/* Debug information has no slots and needs none: its addresses are not relative. */
		if (slot != SK_NONE)
			return table->first_slot + slot;
	}
	if (!target->section)
		return STN_UNDEF;
	/* Unsigned numbers do not overflow, and the next linker adds in the same way. */
	*addend = (int64_t)((uint64_t)*addend + target->section->address + target->value);
	return target->section->output->number; /* the null symbol comes before those of the sections */
}

static void leave(struct sk_linker *linker, const struct sk_input_section *section, const sk_elf_relocation *relocation,
		  const struct sk_target *target, const struct part *part, uint32_t type, uint64_t place)
{
	int64_t addend;
	uint32_t symbol = name_target(linker, section, relocation, target, &addend);

	/* Calls of the C library's functions go through a stub, even if they are marked as direct. */
	if (type == linker->architecture->relocations->relative32 && target->kind == SK_TARGET_IMPORT &&
	    linker->symbols.items[target->symbol].import)
		type = linker->architecture->relocations->call;
	sk_array_push(
		linker->arena, &part->output->relocations,
		(Elf64_Rela){.r_offset = place, .r_info = ELF64_R_INFO((uint64_t)symbol, type), .r_addend = addend});
}

static void emit_relocation(struct sk_linker *linker, const struct sk_input_section *section,
			    const sk_elf_relocation *relocation, const struct part *part)
{
	uint32_t number = ELF64_R_TYPE(relocation->r_info);
	enum sk_expression expression = linker->architecture->relocations->types[number].expression;
	struct sk_target target = sk_relocation_target(linker, section, relocation);
	uint64_t field = relocation->r_offset - part->base;

	if (expression == SK_EXPRESSION_NONE)
		return;
	if (expression == SK_EXPRESSION_SLOT && sk_is_relaxed(linker, section, relocation, &target)) {
		field = linker->architecture->relax(part->bytes, field);
		expression = SK_EXPRESSION_RELATIVE;
		number = linker->architecture->relocations->relative32;
	}

	uint64_t place = part->address + field, value = target.value + (uint64_t)relocation->r_addend;
	bool relative = expression == SK_EXPRESSION_RELATIVE || expression == SK_EXPRESSION_CALL;
	bool absolute = expression == SK_EXPRESSION_WORD || expression == SK_EXPRESSION_NARROW;

	if (relative && target.section && target.section->output == part->output)
		sk_relocate_field(linker, section, relocation, part->bytes + field,
				  value + target.section->address - place, place);
	else if (absolute && target.kind == SK_TARGET_ABSOLUTE)
		sk_relocate_field(linker, section, relocation, part->bytes + field, value, place);
	else
		leave(linker, section, relocation, &target, part, number, place);
}

void sk_relocatable_emit(struct sk_linker *linker, const struct sk_input_section *section,
			 const sk_elf_relocation *relocation, uint8_t *bytes)
{
	emit_relocation(linker, section, relocation,
			&(struct part){.output = section->output, .bytes = bytes, .address = section->address});
}

void sk_relocatable_emit_frame(struct sk_linker *linker, struct sk_frame *frame)
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
		emit_relocation(linker, frame->section, &frame->relocations[i], &part);
}
