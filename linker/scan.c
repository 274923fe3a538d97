/* Looks at every relocation of live sections, except in sections for which the collection has found nothing to do.
 * Input: live sections. Output: the GOT slots, PLT stubs and loader relocations that they need, and an error for each
 * relocation that a package cannot hold. After this pass a relocation can fail only by its range.
 *
 * With -r, slots are symbols that relocations must name, and no symbol is missing: undefined ones stay undefined. */
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "format/relocation-types.h"
#include "linker/linker-parts.h"
#include "linker/linker.h"
#include "linker/object.h"
#include "linker/output.h"

/* The action for a relocation. */
enum action {
	NOTHING, /* none: the value is known at link time */
	ADDRESS, /* the loader adds the image's base address */
	IMPORT, /* the loader writes the address of an import */
	STUB, /* a PLT stub */
	WORD, /* a GOT slot that stands for the data and holds its value */
	SLOT, /* a GOT slot */
	STAYS, /* -r: an undefined symbol */
	THREAD_SLOTS, /* slots for a thread-local variable */
	NOT_PIC, /* refused, as are the next ones */
	ELSEWHERE,
	NO_PLACE,
	NO_NULL,
	LOCAL_EXEC,
	NOT_IN_BLOCK,
	NOT_DESCRIPTOR,
	DESTRUCTOR,
	THREAD,
	NO_THREAD,
	INDIRECT,
	SIZE,
};

/* Legality: expression by kind of target. */
static const uint8_t actions[SK_EXPRESSION_COUNT][SK_TARGET_KIND_COUNT] = {
	/*                           DEFINED  ABSOLUTE IMPORT   DATA     WEAK     THREAD  ITS IMPORT INDIRECT */
	[SK_EXPRESSION_NONE] = {NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING},
	[SK_EXPRESSION_WORD] = {ADDRESS, NOTHING, IMPORT, IMPORT, NOTHING, THREAD, THREAD, INDIRECT},
	[SK_EXPRESSION_NARROW] = {NOT_PIC, NOTHING, NOT_PIC, NOT_PIC, NOTHING, THREAD, THREAD, INDIRECT},
	[SK_EXPRESSION_RELATIVE] = {NOTHING, NO_PLACE, STUB, WORD, NO_NULL, THREAD, THREAD, INDIRECT},
	[SK_EXPRESSION_CALL] = {NOTHING, NO_PLACE, STUB, ELSEWHERE, NOTHING, THREAD, THREAD, INDIRECT},
	[SK_EXPRESSION_SLOT] = {SLOT, SLOT, SLOT, SLOT, SLOT, THREAD, THREAD, INDIRECT},
	[SK_EXPRESSION_TABLE] = {NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING},
	[SK_EXPRESSION_FROM_TABLE] = {NOTHING, NO_PLACE, STUB, WORD, NO_NULL, THREAD, THREAD, INDIRECT},
	[SK_EXPRESSION_CALL_FROM_TABLE] = {NOTHING, NO_PLACE, STUB, ELSEWHERE, NOTHING, THREAD, THREAD, INDIRECT},
	[SK_EXPRESSION_SLOT_FROM_TABLE] = {SLOT, SLOT, SLOT, SLOT, SLOT, THREAD, THREAD, INDIRECT},
	[SK_EXPRESSION_THREAD] = {NO_THREAD, NO_THREAD, NO_THREAD, NO_THREAD, NO_THREAD, LOCAL_EXEC, LOCAL_EXEC,
				  NO_THREAD},
	[SK_EXPRESSION_THREAD_SLOT] = {NO_THREAD, NO_THREAD, NO_THREAD, NO_THREAD, NO_THREAD, THREAD_SLOTS,
				       THREAD_SLOTS, NO_THREAD},
	[SK_EXPRESSION_DESCRIPTOR] = {NO_THREAD, NO_THREAD, NO_THREAD, NO_THREAD, NO_THREAD, THREAD_SLOTS, THREAD_SLOTS,
				      NO_THREAD},
	[SK_EXPRESSION_DESCRIPTOR_CALL] = {NO_THREAD, NO_THREAD, NO_THREAD, NO_THREAD, NO_THREAD, NOTHING, NOTHING,
					   NO_THREAD},
	[SK_EXPRESSION_THREAD_PAIR] = {NO_THREAD, NO_THREAD, NO_THREAD, NO_THREAD, NO_THREAD, THREAD_SLOTS,
				       NOT_IN_BLOCK, NO_THREAD},
	[SK_EXPRESSION_BLOCK_PAIR] = {NO_THREAD, NO_THREAD, NO_THREAD, NO_THREAD, NO_THREAD, THREAD_SLOTS, NOT_IN_BLOCK,
				      NO_THREAD},
	[SK_EXPRESSION_THREAD_OFFSET] = {NO_THREAD, NO_THREAD, NO_THREAD, NO_THREAD, NO_THREAD, NOTHING, NOT_IN_BLOCK,
					 NO_THREAD},
	[SK_EXPRESSION_SIZE] = {SIZE, SIZE, SIZE, SIZE, SIZE, SIZE, SIZE, SIZE},
};

/* The same with -r. An undefined symbol is an import, whatever its name. Absolute addresses and accesses to
 * thread-local variables stay unchanged: only the next linker knows whether they are part of a program, and its
 * addresses. */
static const uint8_t relocatable_actions[SK_EXPRESSION_COUNT][SK_TARGET_KIND_COUNT] = {
	/*                           DEFINED  ABSOLUTE IMPORT   DATA     WEAK     THREAD  ITS IMPORT INDIRECT */
	[SK_EXPRESSION_NONE] = {NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING},
	[SK_EXPRESSION_WORD] = {ADDRESS, NOTHING, IMPORT, IMPORT, IMPORT, THREAD, IMPORT, INDIRECT},
	[SK_EXPRESSION_NARROW] = {NOTHING, NOTHING, STAYS, STAYS, STAYS, THREAD, STAYS, INDIRECT},
	[SK_EXPRESSION_RELATIVE] = {NOTHING, NO_PLACE, STAYS, STAYS, STAYS, THREAD, STAYS, INDIRECT},
	[SK_EXPRESSION_CALL] = {NOTHING, NO_PLACE, STAYS, STAYS, STAYS, THREAD, STAYS, INDIRECT},
	[SK_EXPRESSION_SLOT] = {SLOT, SLOT, STAYS, STAYS, STAYS, THREAD, STAYS, INDIRECT},
	[SK_EXPRESSION_TABLE] = {NOTHING, NOTHING, STAYS, STAYS, STAYS, NOTHING, STAYS, NOTHING},
	[SK_EXPRESSION_FROM_TABLE] = {NOTHING, NO_PLACE, STAYS, STAYS, STAYS, THREAD, STAYS, INDIRECT},
	[SK_EXPRESSION_CALL_FROM_TABLE] = {NOTHING, NO_PLACE, STAYS, STAYS, STAYS, THREAD, STAYS, INDIRECT},
	[SK_EXPRESSION_SLOT_FROM_TABLE] = {SLOT, SLOT, STAYS, STAYS, STAYS, THREAD, STAYS, INDIRECT},
	[SK_EXPRESSION_THREAD] = {NO_THREAD, NO_THREAD, STAYS, STAYS, STAYS, NOTHING, STAYS, NO_THREAD},
	[SK_EXPRESSION_THREAD_SLOT] = {NO_THREAD, NO_THREAD, STAYS, STAYS, STAYS, NOTHING, STAYS, NO_THREAD},
	[SK_EXPRESSION_DESCRIPTOR] = {NO_THREAD, NO_THREAD, STAYS, STAYS, STAYS, NOTHING, STAYS, NO_THREAD},
	[SK_EXPRESSION_DESCRIPTOR_CALL] = {NO_THREAD, NO_THREAD, STAYS, STAYS, STAYS, NOTHING, STAYS, NO_THREAD},
	[SK_EXPRESSION_THREAD_PAIR] = {NO_THREAD, NO_THREAD, STAYS, STAYS, STAYS, NOTHING, STAYS, NO_THREAD},
	[SK_EXPRESSION_BLOCK_PAIR] = {NO_THREAD, NO_THREAD, STAYS, STAYS, STAYS, NOTHING, STAYS, NO_THREAD},
	[SK_EXPRESSION_THREAD_OFFSET] = {NO_THREAD, NO_THREAD, STAYS, STAYS, STAYS, NOTHING, STAYS, NO_THREAD},
	[SK_EXPRESSION_SIZE] = {SIZE, SIZE, SIZE, SIZE, SIZE, SIZE, SIZE, SIZE},
};

static const char *const refusals[] = {
	[NO_PLACE] = "needs the distance to a place in the package, but the symbol is a plain number; define it as a "
		     "function or a variable (--defsym can name another symbol)",
	[NOT_PIC] = "needs an absolute address, which is not known when linking; recompile with -fPIC",
	[ELSEWHERE] = "cannot reach data of the C library, which may lie anywhere; recompile with -fPIC (-fPIE is not "
		      "enough)",
	[NO_NULL] = "cannot yield 0 for an undefined weak symbol, wherever the package is loaded; recompile with -fPIC",
	[LOCAL_EXEC] =
		"is of the local-exec model: the instruction holds the variable's distance from the thread "
		"pointer, which for a package is known only when it has been loaded; recompile with -fPIC, or make "
		"an object for a program of it (-r)",
	[NOT_IN_BLOCK] = "asks for an imported variable as if it were in the package's block; recompile with "
			 "-ftls-model=initial-exec",
	[NOT_DESCRIPTOR] = "is not in the instruction that the psABI defines for it; recompile with "
			   "-mtls-dialect=gnu",
	[DESTRUCTOR] =
		"asks for the destructor of a thread-local object, which a package cannot have: libskrt's threads "
		"outlive it, and others may end at any time; let a function of the kernel's own destroy the "
		"kernel's objects, or make the object trivially destructible",
	[THREAD] = "treats a thread-local variable as an ordinary one; correct its declaration",
	[NO_THREAD] = "treats a symbol as thread-local that is not; correct its declaration",
	[INDIRECT] = "refers to an IFUNC, which chooses its function at run time; name the function: "
		     "--ifunc=SYMBOL=FUNCTION",
	[SIZE] = "asks for the size of a symbol, which is not supported; write the difference of two labels instead",
};

static void refuse_relocation(struct sk_linker *linker, const struct sk_input_section *section,
			      const sk_elf_relocation *relocation, const struct sk_relocation_type *type,
			      const char *text)
{
	sk_error(linker->diag, sk_section_place(linker->arena, section, relocation->r_offset),
		 "relocation %s against '%s' %s", type->name, sk_relocation_name(linker, section, relocation), text);
	sk_note_kernel(linker, section);
}

/* ---- slots and stubs ---- */

static void use_import(struct sk_linker *linker, sk_symbol number)
{
	struct sk_linker_symbol *symbol = &linker->symbols.items[number];

	if (symbol->dynamic_index)
		return;
	sk_array_push(linker->arena, &linker->imported, number);
	symbol->dynamic_index = (uint32_t)linker->imported.count; /* the first symbol is the null symbol */
}

static void need_slot(struct sk_linker *linker, const struct sk_input_section *section,
		      const sk_elf_relocation *relocation, const struct sk_target *target)
{
	uint32_t slot = (uint32_t)linker->slots.count;

	if (sk_slot_of(linker, section, relocation, target) != SK_NONE)
		return;
	if (target->symbol != SK_NONE) {
		linker->symbols.items[target->symbol].slot = slot;
	} else {
		struct sk_object *object = section->object;

		if (!object->local_slots)
			object->local_slots = SK_NEW_ARRAY(linker->arena, uint32_t, object->first_global + 1);
		object->local_slots[ELF64_R_SYM(relocation->r_info)] = slot + 1;
	}
	sk_array_push(linker->arena, &linker->slots,
		      (struct sk_got_slot){.symbol = sk_is_import(target->kind) ? target->symbol : SK_NONE,
					   .section = target->section,
					   .value = target->value});
	if (sk_is_import(target->kind)) {
		use_import(linker, target->symbol);
		linker->import_address_count++;
	} else if (target->kind == SK_TARGET_DEFINED) {
		linker->address_count++;
	}
}

static void need_stub(struct sk_linker *linker, const struct sk_input_section *section,
		      const sk_elf_relocation *relocation, const struct sk_target *target)
{
	struct sk_linker_symbol *symbol = &linker->symbols.items[target->symbol];

	need_slot(linker, section, relocation, target);
	if (symbol->stub != SK_NONE)
		return;
	symbol->stub = (uint32_t)linker->stubs.count;
	sk_array_push(linker->arena, &linker->stubs, target->symbol);
}

/* Make a GOT slot with an imported pointer's value. Code that reads the pointer as its own data reads that slot. */
static bool need_word(struct sk_linker *linker, const struct sk_input_section *section,
		      const sk_elf_relocation *relocation, const struct sk_target *target)
{
	const char *name = linker->symbols.items[target->symbol].import->pointee;
	struct sk_target pointee = {.kind = SK_TARGET_DATA};

	if (!name)
		return false;
	pointee.symbol = sk_symbol_intern(linker, name, strlen(name));
	if (sk_symbol_target(linker, pointee.symbol).kind != SK_TARGET_DATA)
		return false;
	need_slot(linker, section, relocation, &pointee);
	linker->symbols.items[target->symbol].stub = linker->symbols.items[pointee.symbol].slot;
	return true;
}

/* Note a word that the loader must write. Read-only sections become read-only after that. */
static bool need_address(struct sk_linker *linker, struct sk_input_section *section,
			 const sk_elf_relocation *relocation, const struct sk_relocation_type *type,
			 const struct sk_target *target)
{
	if ((section->flags & SHF_EXECINSTR) && linker->options.relocatable) /* as NARROW ones */
		return true;
	if ((section->flags & SHF_EXECINSTR) || !section->loaded) {
		refuse_relocation(linker, section, relocation, type,
				  "would have to be written into code or tables that are never writable, and no "
				  "instruction has it that can be rewritten; recompile with -fPIC");
		return false;
	}
	section->holds_addresses = true;
	if (sk_is_import(target->kind) && relocation->r_addend && !linker->options.relocatable) {
		refuse_relocation(linker, section, relocation, type, "needs an address inside an imported symbol");
		return false;
	}
	return true;
}

/* ---- references left to the next linker ---- */

/* Return the symbol of the relocation in its object, or NULL if it has none or is synthetic. */
static const sk_elf_symbol *symbol_of(const struct sk_input_section *section, const sk_elf_relocation *relocation)
{
	uint32_t index = (uint32_t)ELF64_R_SYM(relocation->r_info);

	return section->object && index ? &section->object->symbols[index] : NULL;
}

static void leave_undefined(struct sk_linker *linker, const struct sk_input_section *section,
			    const sk_elf_relocation *relocation, const struct sk_target *target)
{
	const sk_elf_symbol *raw = symbol_of(section, relocation);

	use_import(linker, target->symbol);
	if (!raw || ELF64_ST_BIND(raw->st_info) != STB_WEAK)
		linker->symbols.items[target->symbol].needed = true;
	if (raw && ELF64_ST_TYPE(raw->st_info) == STT_TLS)
		linker->symbols.items[target->symbol].thread_local = true;
}

bool sk_needs_symbol(const struct sk_linker *linker, const struct sk_input_section *section,
		     const sk_elf_relocation *relocation, const struct sk_target *target)
{
	const sk_elf_symbol *raw = symbol_of(section, relocation);
	uint32_t number = ELF64_R_TYPE(relocation->r_info);
	enum sk_expression expression = linker->architecture->relocations->types[number].expression;
	bool slot = sk_expression_is_slot(expression);
	bool merged = target->section && (target->section->flags & SHF_MERGE) && !target->section->object;

	if (sk_is_thread_expression(expression) || (slot && !sk_is_relaxed(linker, section, relocation, target)))
		return true;
	/* A section symbol and the addend together select the string. */
	return merged && (slot || !raw || ELF64_ST_TYPE(raw->st_info) != STT_SECTION);
}

/* ---- relocations without an action ---- */

/* Return whether the symbol registers thread-local destructors. An archive's own function for that is ignored: it would
 * have to be loaded when threads end. */
static bool asks_for_destructor(const struct sk_linker *linker, const struct sk_target *target)
{
	return target->kind == SK_TARGET_DEFINED && target->symbol != SK_NONE && !linker->options.relocatable &&
	       sk_is_thread_destructor(linker, target->symbol);
}

bool sk_needs_scan(const struct sk_linker *linker, const struct sk_input_section *section,
		   const sk_elf_relocation *relocation, const struct sk_target *target)
{
	const struct sk_relocation_type *type =
		sk_relocation_type_find(linker->architecture->relocations, ELF64_R_TYPE(relocation->r_info));

	if (!type || target->kind != SK_TARGET_DEFINED || linker->options.relocatable ||
	    asks_for_destructor(linker, target))
		return true;
	switch (type->expression) {
	case SK_EXPRESSION_RELATIVE:
	case SK_EXPRESSION_CALL:
		return false;
	case SK_EXPRESSION_SLOT:
		return !sk_is_relaxed(linker, section, relocation, target);
	default:
		return true;
	}
}

/* ---- the pass ---- */

/* Return the type, or NULL if no package can hold such a relocation. */
static const struct sk_relocation_type *supported_type(struct sk_linker *linker, const struct sk_input_section *section,
						       const sk_elf_relocation *relocation)
{
	uint32_t number = ELF64_R_TYPE(relocation->r_info);
	const struct sk_relocation_type *type = sk_relocation_type_find(linker->architecture->relocations, number);

	if (type && type->expression != SK_EXPRESSION_UNSUPPORTED)
		return type;
	if (type)
		refuse_relocation(linker, section, relocation, type, "is of a type that is not supported");
	else
		sk_error(linker->diag, sk_section_place(linker->arena, section, relocation->r_offset),
			 "relocation against '%s' is of the unknown type %u",
			 sk_relocation_name(linker, section, relocation), number);
	return NULL;
}

/* Return whether the relocation's target exists. */
static bool leads_somewhere(struct sk_linker *linker, const struct sk_input_section *section,
			    const sk_elf_relocation *relocation, const struct sk_relocation_type *type,
			    const struct sk_target *target)
{
	if (target->kind == SK_TARGET_OUTSIDE)
		refuse_relocation(linker, section, relocation, type,
				  "lies outside the strings or records it refers to");
	else if (target->kind == SK_TARGET_MISSING)
		refuse_relocation(linker, section, relocation, type,
				  target->section->discarded
					  ? "refers to a section that another object's group has replaced"
					  : "refers to a section that is not loaded");
	else
		return true;
	return false;
}

/* Return whether the instruction that loads a descriptor is known. */
static bool can_rewrite(const struct sk_linker *linker, const struct sk_input_section *section,
			const sk_elf_relocation *relocation)
{
	return (section->flags & SHF_EXECINSTR) && section->bytes &&
	       linker->architecture->can_rewrite_descriptor(ELF64_R_TYPE(relocation->r_info), section->bytes,
							    relocation->r_offset, relocation->r_addend);
}

/* Add the choices of an IFUNC to the message. */
static void note_choices(struct sk_linker *linker, const struct sk_input_section *section,
			 const sk_elf_relocation *relocation, const struct sk_target *target)
{
	const struct sk_linker_symbol *symbol =
		target->symbol == SK_NONE ? NULL : &linker->symbols.items[target->symbol];

	if (symbol && symbol->object)
		sk_ifunc_note_choices(linker, symbol->object, symbol->index);
	else if (!symbol)
		sk_ifunc_note_choices(linker, section->object, (uint32_t)ELF64_R_SYM(relocation->r_info));
}

static void perform_action(struct sk_linker *linker, enum action action, struct sk_input_section *section,
			   const sk_elf_relocation *relocation, const struct sk_relocation_type *type,
			   const struct sk_target *target)
{
	switch (action) {
	case NOTHING:
		break;
	case STAYS:
		leave_undefined(linker, section, relocation, target);
		break;
	case ADDRESS:
		if (need_address(linker, section, relocation, type, target))
			linker->address_count++;
		break;
	case IMPORT:
		if (!need_address(linker, section, relocation, type, target))
			break;
		leave_undefined(linker, section, relocation, target);
		linker->import_address_count++;
		break;
	case STUB:
		need_stub(linker, section, relocation, target);
		break;
	case WORD:
		if (!need_word(linker, section, relocation, target))
			refuse_relocation(linker, section, relocation, type, refusals[ELSEWHERE]);
		break;
	case SLOT:
		if (!sk_is_relaxed(linker, section, relocation, target))
			need_slot(linker, section, relocation, target);
		break;
	case THREAD_SLOTS:
		if (type->expression == SK_EXPRESSION_DESCRIPTOR && !can_rewrite(linker, section, relocation))
			refuse_relocation(linker, section, relocation, type, refusals[NOT_DESCRIPTOR]);
		else
			sk_thread_slots_need(linker, type->expression, target);
		if (sk_is_import(target->kind))
			use_import(linker, target->symbol);
		break;
	case INDIRECT:
		refuse_relocation(linker, section, relocation, type, refusals[action]);
		note_choices(linker, section, relocation, target);
		break;
	default:
		refuse_relocation(linker, section, relocation, type, refusals[action]);
	}
}

static void scan_relocation(struct sk_linker *linker, struct sk_input_section *section,
			    const sk_elf_relocation *relocation)
{
	const struct sk_relocation_type *type = supported_type(linker, section, relocation);

	if (!type || type->expression == SK_EXPRESSION_NONE)
		return;
	if (type->expression >= SK_EXPRESSION_TABLE && type->expression <= SK_EXPRESSION_SLOT_FROM_TABLE)
		linker->made[SK_MADE_GOT].live = true;

	struct sk_target target = sk_relocation_target(linker, section, relocation);

	if (!leads_somewhere(linker, section, relocation, type, &target))
		return;
	if (target.kind == SK_TARGET_UNDEFINED && linker->options.relocatable)
		target.kind = SK_TARGET_IMPORT;
	if (target.kind == SK_TARGET_UNDEFINED || target.section == &linker->guards) {
		if (!sk_undefined_use(linker, section, relocation, target.symbol))
			return;
		target = sk_relocation_target(linker, section, relocation);
	}

	bool narrowed = sk_is_narrowed(linker, section, relocation, &target);
	enum sk_expression expression = narrowed ? SK_EXPRESSION_RELATIVE : type->expression;
	enum action action = linker->options.relocatable ? relocatable_actions[expression][target.kind]
							 : actions[expression][target.kind];

	if (asks_for_destructor(linker, &target))
		action = DESTRUCTOR;
	if (target.section == &linker->guards && expression == SK_EXPRESSION_THREAD_PAIR)
		action = THREAD_SLOTS;
	if (narrowed && sk_is_import(target.kind) && relocation->r_addend) {
		refuse_relocation(linker, section, relocation, type, "needs an address inside an imported symbol");
		return;
	}
	perform_action(linker, action, section, relocation, type, &target);
	if (linker->options.relocatable &&
	    (target.kind == SK_TARGET_DEFINED || target.kind == SK_TARGET_THREAD_LOCAL) &&
	    sk_needs_symbol(linker, section, relocation, &target))
		need_slot(linker, section, relocation, &target);
}

static bool is_code_at(const struct sk_target *target)
{
	return target->kind == SK_TARGET_DEFINED && (target->section->flags & SHF_EXECINSTR) &&
	       target->value < target->section->size;
}

/* Check tables of constructors: libskrt calls the functions in them, and trusts them only this far. */
static void check_constructors(struct sk_linker *linker, const struct sk_input_section *section)
{
	uint64_t entries = section->size / sizeof(Elf64_Addr);
	bool *seen = SK_NEW_ARRAY(linker->arena, bool, section->relocation_count);

	if (entries != section->relocation_count) {
		sk_error(linker->diag, sk_section_place(linker->arena, section, 0),
			 "the table of constructors or destructors has %" PRIu64
			 " entries, and relocations for %" PRIu32 " of them",
			 entries, section->relocation_count);
		return;
	}
	for (uint64_t i = 0; i < entries; i++) {
		const sk_elf_relocation *relocation = &section->relocations[i];
		const struct sk_relocation_type *type =
			sk_relocation_type_find(linker->architecture->relocations, ELF64_R_TYPE(relocation->r_info));
		struct sk_target target = sk_relocation_target(linker, section, relocation);
		uint64_t entry = relocation->r_offset / sizeof(Elf64_Addr);
		bool whole = relocation->r_offset % sizeof(Elf64_Addr) == 0 && entry < entries && !seen[entry];

		target.value += (uint64_t)relocation->r_addend;
		if (target.kind == SK_TARGET_UNDEFINED || !type) /* reported elsewhere */
			return;
		if (whole && type->expression == SK_EXPRESSION_WORD && is_code_at(&target)) {
			seen[entry] = true;
			continue;
		}
		sk_error(linker->diag, sk_section_place(linker->arena, section, relocation->r_offset),
			 whole ? "an entry of the table of constructors or destructors is not a function of the "
				 "package: '%s'"
			       : "no entry of the table of constructors or destructors begins here, or another one is "
				 "here already: '%s'",
			 sk_relocation_name(linker, section, relocation));
		return;
	}
}

static void scan_section(struct sk_linker *linker, struct sk_input_section *section)
{
	if (sk_is_constructors(section) && !linker->options.relocatable)
		check_constructors(linker, section);
	for (uint64_t i = 0; !section->scanned && i < section->relocation_count; i++)
		scan_relocation(linker, section, &section->relocations[i]);
}

static void scan_frame(struct sk_linker *linker, struct sk_frame *frame)
{
	for (uint64_t i = 0; frame->live && !frame->scanned && i < frame->relocation_count; i++)
		scan_relocation(linker, frame->section, &frame->relocations[i]);
}

bool sk_scan(struct sk_linker *linker)
{
	unsigned errors = linker->diag->errors;

	for (size_t i = 0; i < linker->synthetic.count; i++)
		if (linker->synthetic.items[i]->section.loaded)
			scan_section(linker, &linker->synthetic.items[i]->section);
	for (size_t i = 0; i < linker->objects.count; i++) {
		struct sk_object *object = linker->objects.items[i];

		for (uint32_t j = 0; object->unscanned && j < object->part_count; j++)
			if (object->parts[j].live && object->parts[j].loaded)
				scan_section(linker, &object->parts[j]);
	}
	for (size_t i = 0; i < linker->copies.count; i++)
		if (linker->copies.items[i]->live)
			scan_section(linker, linker->copies.items[i]);
	sk_frames_visit_unscanned(linker, scan_frame);
	for (size_t i = 0; i < linker->required.count; i++) {
		sk_symbol number = linker->required.items[i];

		if (sk_symbol_target(linker, number).kind == SK_TARGET_UNDEFINED)
			sk_undefined_require(linker, number);
	}
	sk_traps_end(linker);
	sk_undefined_report(linker);
	return linker->diag->errors == errors;
}
