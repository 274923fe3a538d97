/* Computes the values of relocations and writes them. Input: live sections. Output: their bytes in the image, and the
 * list of relocations for the loader. The arithmetic is the same for all machines; the machine's table
 * (format/relocation-types.h) writes the bits. */
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/timing.h"
#include "format/relocation-types.h"
#include "linker/linker-parts.h"
#include "linker/linker.h"
#include "linker/object.h"
#include "linker/output.h"

static uint64_t address_of(const struct sk_target *target)
{
	return (target->section ? target->section->address : 0) + target->value;
}

static uint64_t slot_address(const struct sk_linker *linker, uint32_t slot)
{
	return linker->made[SK_MADE_GOT].address + slot * sizeof(uint64_t);
}

static uint64_t stub_address(const struct sk_linker *linker, sk_symbol symbol)
{
	return linker->made[SK_MADE_PLT].address +
	       (uint64_t)linker->symbols.items[symbol].stub * linker->architecture->stub_size;
}

/* Return the address to use from code. It is the target's own, the stub of an import or the slot that stands for it, or
 * the trap of an undefined function. An undefined weak function, which is never called, has the package's beginning. */
static uint64_t near_address(const struct sk_linker *linker, const struct sk_target *target)
{
	if (target->kind == SK_TARGET_IMPORT)
		return stub_address(linker, target->symbol);
	if (target->kind == SK_TARGET_DATA)
		return slot_address(linker, linker->symbols.items[target->symbol].stub);
	if (target->kind == SK_TARGET_UNDEFINED && linker->symbols.items[target->symbol].trap)
		return sk_trap_address(linker, target->symbol);
	return address_of(target);
}

static void leave_address(struct sk_linker *linker, uint64_t place, uint64_t value)
{
	sk_array_push(linker->arena, &linker->relative,
		      (Elf64_Rela){.r_offset = place,
				   .r_info = ELF64_R_INFO(0, linker->architecture->relocations->loader_relative),
				   .r_addend = (int64_t)value});
}

static void leave_import(struct sk_linker *linker, uint64_t place, sk_symbol symbol)
{
	uint64_t index = linker->symbols.items[symbol].dynamic_index;

	sk_array_push(linker->arena, &linker->import_relocations,
		      (Elf64_Rela){.r_offset = place,
				   .r_info = ELF64_R_INFO(index, linker->architecture->relocations->loader_import)});
}

static const struct sk_relocation_type *type_of(const struct sk_linker *linker, const sk_elf_relocation *relocation)
{
	return &linker->architecture->relocations->types[ELF64_R_TYPE(relocation->r_info)];
}

/* Write the value as a field of that type, which is not the relocation's own if the instruction has been rewritten. */
static void relocate_as(struct sk_linker *linker, const struct sk_input_section *section,
			const sk_elf_relocation *relocation, uint32_t number, uint8_t *field, uint64_t value,
			uint64_t place)
{
	const struct sk_relocation_type *type = &linker->architecture->relocations->types[number];

	if (!sk_relocation_apply(linker->architecture->relocations, number, field, value, place))
		sk_error(linker->diag, sk_section_place(linker->arena, section, relocation->r_offset),
			 "relocation %s out of range: %" PRId64 " is not in [%" PRId64 ", %" PRId64
			 "]; references '%s'",
			 type_of(linker, relocation)->name, (int64_t)value, type->minimum, type->maximum,
			 sk_relocation_name(linker, section, relocation));
}

void sk_relocate_field(struct sk_linker *linker, const struct sk_input_section *section,
		       const sk_elf_relocation *relocation, uint8_t *field, uint64_t value, uint64_t place)
{
	relocate_as(linker, section, relocation, ELF64_R_TYPE(relocation->r_info), field, value, place);
}

/* Rewrite the instruction of a narrowed relocation with the field at that offset in the bytes. Return the offset of the
 * new field, and in *value the distance to the target. It is out of range if another relocation has rewritten the
 * instruction. */
static uint64_t narrow(const struct sk_linker *linker, const sk_elf_relocation *relocation,
		       const struct sk_target *target, uint8_t *bytes, uint64_t field, uint64_t address,
		       uint64_t *value)
{
	*value = INT64_MAX;
	if (!sk_can_narrow(linker, relocation, target, bytes, field))
		return field;
	*value = 0;
	field = linker->architecture->narrow(bytes, field, value);
	*value += near_address(linker, target) + (uint64_t)relocation->r_addend - (address + field);
	return field;
}

/* Compute the value of a relocation in *value, and the type of its field in *number. Return the offset of the field in
 * the bytes, which may have moved with the instruction. */
static uint64_t compute(const struct sk_linker *linker, const struct sk_input_section *section,
			const sk_elf_relocation *relocation, const struct sk_target *target, uint8_t *bytes,
			uint64_t base, uint64_t address, uint64_t *value, uint32_t *number)
{
	const struct sk_architecture *architecture = linker->architecture;
	uint64_t field = relocation->r_offset - base, place = address + field;
	uint64_t addend = (uint64_t)relocation->r_addend;

	*value = 0;
	*number = ELF64_R_TYPE(relocation->r_info);
	switch (type_of(linker, relocation)->expression) {
	case SK_EXPRESSION_RELATIVE:
	case SK_EXPRESSION_CALL:
		*value = near_address(linker, target) + addend - place;
		break;
	case SK_EXPRESSION_SLOT:
		if (sk_is_relaxed(linker, section, relocation, target)) {
			field = architecture->relax(bytes, field);
			*value = near_address(linker, target) + addend - (address + field);
		} else {
			uint32_t slot = sk_slot_of(linker, section, relocation, target);

			*value = slot_address(linker, slot) + addend - place;
		}
		break;
	case SK_EXPRESSION_DESCRIPTOR:
		architecture->rewrite_descriptor(bytes, field);
		*value = slot_address(linker, sk_thread_slot_of(linker, SK_EXPRESSION_DESCRIPTOR, target)) + addend -
			 place;
		break;
	case SK_EXPRESSION_THREAD_SLOT:
	case SK_EXPRESSION_THREAD_PAIR:
	case SK_EXPRESSION_BLOCK_PAIR:
		*value = slot_address(linker,
				      sk_thread_slot_of(linker, type_of(linker, relocation)->expression, target)) +
			 addend - place;
		break;
	case SK_EXPRESSION_DESCRIPTOR_CALL:
		*value = architecture->no_descriptor_call;
		break;
	case SK_EXPRESSION_THREAD_OFFSET:
		*value = sk_thread_offset(linker, target->section, target->value) + addend;
		break;
	case SK_EXPRESSION_TABLE:
		*value = linker->made[SK_MADE_GOT].address + addend - place;
		break;
	case SK_EXPRESSION_FROM_TABLE:
	case SK_EXPRESSION_CALL_FROM_TABLE:
		*value = near_address(linker, target) + addend - linker->made[SK_MADE_GOT].address;
		break;
	case SK_EXPRESSION_SLOT_FROM_TABLE:
		*value = sk_slot_of(linker, section, relocation, target) * sizeof(uint64_t) + addend;
		break;
	default: /* WORD, NARROW: the others need no action, or have been refused */
		if (sk_is_narrowed(linker, section, relocation, target)) {
			*number = architecture->relocations->relative32;
			field = narrow(linker, relocation, target, bytes, field, address, value);
		} else {
			*value = address_of(target) + addend;
		}
	}
	return field;
}

void sk_relocate_one(struct sk_linker *linker, const struct sk_input_section *section,
		     const sk_elf_relocation *relocation, uint8_t *bytes, uint64_t base, uint64_t address)
{
	enum sk_expression expression = type_of(linker, relocation)->expression;
	uint64_t value;
	uint32_t number;

	if (expression == SK_EXPRESSION_NONE)
		return;

	struct sk_target target = sk_relocation_target(linker, section, relocation);
	uint64_t field = compute(linker, section, relocation, &target, bytes, base, address, &value, &number);
	bool whole = expression == SK_EXPRESSION_WORD && number == ELF64_R_TYPE(relocation->r_info);

	if (whole && target.kind == SK_TARGET_DEFINED)
		leave_address(linker, address + field, value);
	else if (whole && sk_is_import(target.kind))
		leave_import(linker, address + field, target.symbol);
	relocate_as(linker, section, relocation, number, bytes + field, value, address + field);
}

/* ---- sections, in several threads ---- */

/* Relocate a section that leaves nothing to the loader and has no error: threads share only data that they read. Return
 * false if it is not such a section. */
static bool relocate_alone(struct sk_linker *linker, const struct sk_input_section *section, uint8_t *bytes)
{
	const struct sk_relocation_table *relocations = linker->architecture->relocations;

	if (section->holds_addresses)
		return false;
	for (uint32_t i = 0; i < section->relocation_count; i++) {
		const sk_elf_relocation *relocation = &section->relocations[i];
		const struct sk_relocation_type *type = type_of(linker, relocation);
		uint64_t value;
		uint32_t number;

		if (type->expression == SK_EXPRESSION_NONE)
			continue;

		struct sk_target target = sk_relocation_target(linker, section, relocation);
		uint64_t field =
			compute(linker, section, relocation, &target, bytes, 0, section->address, &value, &number);

		if (!sk_relocation_apply(relocations, number, bytes + field, value, section->address + field))
			return false;
	}
	return true;
}

struct pass {
	struct sk_linker *linker;
	const struct sk_output *output;
	bool *left; /* by section of the output */
};

/* Fill the gap between the section and the next one. */
static void fill_gap(const struct pass *pass, size_t number)
{
	const struct sk_output *output = pass->output;
	const struct sk_input_section *section = output->sections.items[number];
	uint64_t end = number + 1 < output->sections.count ? output->sections.items[number + 1]->address
							   : output->address + output->size;
	uint64_t start = section->address + section->size;

	if (output->rank == SK_RANK_TEXT)
		memset(pass->linker->image + start, pass->linker->architecture->text_fill, end - start);
}

static void relocate_some(void *context, size_t first, size_t end)
{
	const struct pass *pass = context;

	for (size_t i = first; i < end; i++) {
		const struct sk_input_section *section = pass->output->sections.items[i];
		uint8_t *bytes = sk_image_at(pass->linker, section);

		fill_gap(pass, i);
		if (section == pass->linker->uncopied) /* other threads may still read it */
			continue;
		sk_section_copy(section, bytes);
		pass->left[i] = !relocate_alone(pass->linker, section, bytes);
	}
}

static void relocate_left(struct sk_linker *linker, const struct sk_input_section *section)
{
	uint8_t *bytes = sk_image_at(linker, section);

	sk_section_copy(section, bytes); /* a part may have been relocated */
	for (uint32_t i = 0; i < section->relocation_count; i++)
		sk_relocate_one(linker, section, &section->relocations[i], bytes, 0, section->address);
}

static void relocate_output(struct sk_linker *linker, const struct sk_output *output)
{
	struct pass pass = {linker, output, SK_NEW_ARRAY(linker->arena, bool, output->sections.count)};

	sk_parallel(linker->options.threads, output->sections.count, relocate_some, &pass);
	for (size_t i = 0; i < output->sections.count; i++)
		if (pass.left[i])
			relocate_left(linker, output->sections.items[i]);
}

/* Write a word for thread-local variables; only the offsets in the block are known. */
static void write_thread_slot(struct sk_linker *linker, const struct sk_got_slot *slot, uint64_t place)
{
	const struct sk_relocation_table *relocations = linker->architecture->relocations;
	bool block = slot->kind == SK_SLOT_BLOCK, import = slot->symbol != SK_NONE;
	uint64_t offset = import || block ? 0 : sk_thread_offset(linker, slot->section, slot->value);
	uint64_t symbol = import ? linker->symbols.items[slot->symbol].dynamic_index : 0;
	uint32_t type = block ? relocations->loader_block : relocations->loader_distance;

	if (slot->kind == SK_SLOT_OFFSET)
		memcpy(linker->image + place, &offset, sizeof(offset));
	else
		sk_array_push(linker->arena, &linker->import_relocations,
			      (Elf64_Rela){.r_offset = place,
					   .r_info = ELF64_R_INFO(symbol, type),
					   .r_addend = (int64_t)offset});
}

static void write_slots(struct sk_linker *linker)
{
	for (uint32_t i = 0; i < linker->slots.count; i++) {
		const struct sk_got_slot *slot = &linker->slots.items[i];
		uint64_t place = slot_address(linker, i);

		if (slot->kind != SK_SLOT_ADDRESS)
			write_thread_slot(linker, slot, place);
		else if (slot->symbol != SK_NONE)
			leave_import(linker, place, slot->symbol);
		else if (slot->section)
			leave_address(linker, place, slot->section->address + slot->value);
		else
			memcpy(linker->image + place, &slot->value, sizeof(slot->value));
	}
}

static void write_stubs(struct sk_linker *linker)
{
	for (size_t i = 0; i < linker->stubs.count; i++) {
		sk_symbol symbol = linker->stubs.items[i];
		uint64_t address = stub_address(linker, symbol);

		linker->architecture->write_stub(linker->image + address, address,
						 slot_address(linker, linker->symbols.items[symbol].slot));
	}
}

bool sk_relocate(struct sk_linker *linker)
{
	unsigned errors = linker->diag->errors;

	for (size_t i = 0; i < linker->outputs.count; i++) {
		const struct sk_output *output = linker->outputs.items[i];

		if (output->type != SHT_NOBITS && output->rank < SK_RANK_CONSTANTS)
			relocate_output(linker, output);
	}
	write_slots(linker);
	write_stubs(linker);
	sk_traps_write(linker);
	return linker->diag->errors == errors;
}

bool sk_relocate_uncopied(struct sk_linker *linker)
{
	unsigned errors = linker->diag->errors;

	if (linker->uncopied)
		relocate_left(linker, linker->uncopied);
	return linker->diag->errors == errors;
}
