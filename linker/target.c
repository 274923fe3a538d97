/* Targets of relocations: their kind, their name, and how code reaches them: directly, by a slot of the GOT, or with -r
 * by a symbol of their own. Input: relocations and symbols. Output: the section and offset of the target, after folding
 * and merging. */
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/relocation-types.h"
#include "linker/linker-parts.h"
#include "linker/linker.h"
#include "linker/object.h"
#include "linker/output.h"

/* Return whether the variable is an environment of Numba (numba/core/lowering.py of 0.50 to 0.68): the address of an
 * object of Python, which only Numba's own loader writes. */
static bool is_environment(const char *name)
{
	return name && !strncmp(name, "_ZN08NumbaEnv", strlen("_ZN08NumbaEnv"));
}

/* Return the storage of a common symbol; it is made at the first reference. */
static struct sk_input_section *common_section(struct sk_linker *linker, struct sk_linker_symbol *symbol)
{
	bool thread_local = symbol->type == STT_TLS;

	if (!symbol->section) {
		symbol->section = SK_NEW(linker->arena, struct sk_input_section);
		*symbol->section =
			(struct sk_input_section){.name = "COMMON",
						  .type = SHT_NOBITS,
						  .flags = SHF_ALLOC | SHF_WRITE | (thread_local ? SHF_TLS : 0),
						  .rank = thread_local ? SK_RANK_THREAD_ZERO_DATA : SK_RANK_ZERO_DATA,
						  .state = SK_NONE,
						  .within_call = is_environment(symbol->name),
						  .loaded = true};
		sk_array_push(linker->arena, &linker->commons, symbol->section);
	}
	/* Threads that relocate also call this, but these numbers are then up to date. */
	if (symbol->section->size != symbol->size || symbol->section->alignment != symbol->value) {
		symbol->section->size = symbol->size;
		symbol->section->alignment = (uint32_t)symbol->value;
	}
	return symbol->section;
}

/* Set the target: the symbol `target` lies in the section; `selected`, an addend that is part of the place, is added to
 * it. */
static void set_section(struct sk_target *target, uint8_t type, struct sk_input_section *section, uint64_t selected)
{
	target->section = sk_section_follow(section);
	target->folded = target->section != section;
	section = target->section;
	target->offset = target->value + selected;
	if (!section->loaded || section->discarded)
		target->kind = SK_TARGET_MISSING;
	else if (type == STT_TLS || (section->flags & SHF_TLS))
		target->kind = SK_TARGET_THREAD_LOCAL;
	else
		target->kind = type == STT_GNU_IFUNC ? SK_TARGET_INDIRECT : SK_TARGET_DEFINED;
	if (!section->mergeable)
		return;
	if (target->offset > section->size) {
		target->kind = SK_TARGET_OUTSIDE;
	} else if (section->merged) {
		if (sk_merge_find(section, target->offset, &target->value)) {
			target->value -= selected;
			target->section = &section->merged->section;
		} else {
			target->kind = SK_TARGET_MISSING;
		}
	}
}

/* `target` is empty. */
static void find_target(struct sk_linker *linker, sk_symbol number, struct sk_target *target)
{
	number = sk_alias_follow(linker, number);

	struct sk_linker_symbol *symbol = &linker->symbols.items[number];

	target->symbol = number;
	if (symbol->rank == SK_DEFINITION_COMMON) {
		set_section(target, symbol->type, common_section(linker, symbol), 0);
		return;
	}
	target->value = symbol->value;
	if (symbol->guard)
		set_section(target, STT_NOTYPE, &linker->guards, 0);
	else if (symbol->rank == SK_DEFINITION_NONE)
		/* A hidden symbol must be defined in the package. */
		target->kind = !symbol->import || symbol->visibility != STV_DEFAULT ? SK_TARGET_UNDEFINED
			       : symbol->import->thread_local			    ? SK_TARGET_THREAD_IMPORT
			       : symbol->import->data				    ? SK_TARGET_DATA
										    : SK_TARGET_IMPORT;
	else if (symbol->section)
		set_section(target, symbol->type, symbol->section, 0);
	else
		target->kind = SK_TARGET_ABSOLUTE;
}

struct sk_target sk_symbol_target(struct sk_linker *linker, sk_symbol number)
{
	struct sk_target target = {0};

	find_target(linker, number, &target);
	return target;
}

/* Return whether symbol and addend together name a place, which is false if the addend is counted from a GOT slot. */
static bool is_place(const struct sk_linker *linker, const sk_elf_relocation *relocation)
{
	const struct sk_relocation_type *type =
		sk_relocation_type_find(linker->architecture->relocations, ELF64_R_TYPE(relocation->r_info));

	return !type || (!sk_expression_is_slot(type->expression) && !sk_is_thread_expression(type->expression));
}

struct sk_target sk_relocation_target(struct sk_linker *linker, const struct sk_input_section *section,
				      const sk_elf_relocation *relocation)
{
	const struct sk_object *object = section->object;
	uint32_t index = (uint32_t)ELF64_R_SYM(relocation->r_info);
	struct sk_target target = {0};

	if (!object) {
		find_target(linker, index, &target);
		return target;
	}
	if (index && index >= object->first_global) {
		find_target(linker, object->globals[index - object->first_global], &target);
		if (target.kind == SK_TARGET_UNDEFINED && ELF64_ST_BIND(object->symbols[index].st_info) == STB_WEAK)
			target.kind = SK_TARGET_WEAK;
		return target;
	}
	target.kind = SK_TARGET_ABSOLUTE;
	target.symbol = SK_NONE;
	if (!index) /* no symbol: the addend alone */
		return target;

	const sk_elf_symbol *raw = &object->symbols[index];
	uint32_t number = sk_object_symbol_section(object, index);
	uint8_t type = ELF64_ST_TYPE(raw->st_info);
	uint64_t selected = type == STT_SECTION && is_place(linker, relocation) ? (uint64_t)relocation->r_addend : 0;

	target.value = raw->st_value;
	if (number)
		set_section(&target, type, sk_object_section(object, number), selected);
	return target;
}

const char *sk_relocation_name(const struct sk_linker *linker, const struct sk_input_section *section,
			       const sk_elf_relocation *relocation)
{
	const struct sk_object *object = section->object;
	uint32_t index = (uint32_t)ELF64_R_SYM(relocation->r_info);

	if (!object || (index && index >= object->first_global)) {
		sk_symbol number = object ? object->globals[index - object->first_global] : index;
		const char *name = linker->symbols.items[sk_alias_follow(linker, number)].name;

		return name ? sk_demangled(linker, name) : "";
	}
	if (!index)
		return "";

	const sk_elf_symbol *raw = &object->symbols[index];
	uint32_t number = sk_object_symbol_section(object, index);

	return number && ELF64_ST_TYPE(raw->st_info) == STT_SECTION
		       ? sk_object_section_name(object, number)
		       : sk_demangled(linker, object->names + raw->st_name);
}

uint32_t sk_slot_of(const struct sk_linker *linker, const struct sk_input_section *section,
		    const sk_elf_relocation *relocation, const struct sk_target *target)
{
	if (target->symbol != SK_NONE)
		return linker->symbols.items[target->symbol].slot;

	const uint32_t *slots = section->object->local_slots;

	/* Slots of local symbols are numbered from 1, so that 0 in a new array means none. */
	return slots && slots[ELF64_R_SYM(relocation->r_info)] ? slots[ELF64_R_SYM(relocation->r_info)] - 1 : SK_NONE;
}

bool sk_is_relaxed(const struct sk_linker *linker, const struct sk_input_section *section,
		   const sk_elf_relocation *relocation, const struct sk_target *target)
{
	uint32_t type = ELF64_R_TYPE(relocation->r_info);

	/* Calls of a trap also need no slot. */
	bool here = target->kind == SK_TARGET_DEFINED ||
		    (target->kind == SK_TARGET_UNDEFINED && linker->symbols.items[target->symbol].trap);

	return here && (section->flags & SHF_EXECINSTR) && section->bytes &&
	       linker->architecture->can_relax(type, section->bytes, relocation->r_offset, relocation->r_addend);
}

bool sk_can_narrow(const struct sk_linker *linker, const sk_elf_relocation *relocation, const struct sk_target *target,
		   const uint8_t *bytes, uint64_t offset)
{
	bool to_code = target->section ? target->section->flags & SHF_EXECINSTR : target->kind == SK_TARGET_IMPORT;

	return linker->architecture->can_narrow(ELF64_R_TYPE(relocation->r_info), bytes, offset, to_code);
}

bool sk_is_narrowed(const struct sk_linker *linker, const struct sk_input_section *section,
		    const sk_elf_relocation *relocation, const struct sk_target *target)
{
	return linker->architecture->can_narrow && (section->flags & SHF_EXECINSTR) && section->type == SHT_PROGBITS &&
	       section->loaded && section->bytes && !linker->options.relocatable &&
	       target->kind != SK_TARGET_ABSOLUTE && target->kind != SK_TARGET_WEAK &&
	       sk_can_narrow(linker, relocation, target, section->bytes, relocation->r_offset);
}
