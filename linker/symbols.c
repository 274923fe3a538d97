/* Names and what they mean. Objects' global symbols come in, once interned and hashed; which definition counts goes
 * out.
 *
 * Resolution does not depend on the order of inputs: every definition that any input has is on its symbol's list, and a
 * member is pulled as soon as a pulled object needs one of its symbols, wherever the archive stands. The first
 * definition in command-line order is the one that is pulled. Among pulled definitions a strong one beats a common one
 * beats a weak one; of two weak ones the first pulled counts; two strong ones are an error. What the command line
 * assigns (aliases.c) beats all. */
#include <string.h>

#include "linker/internal.h"

sk_symbol sk_symbol_add(struct sk_linker *linker, const char *name, size_t length)
{
	sk_array_push(linker->arena, &linker->symbols,
		      (struct sk_linker_symbol){.name = name,
						.name_length = (uint32_t)length,
						.first_definition = SK_NONE,
						.last_definition = SK_NONE,
						.alias = SK_NONE,
						.import = SK_NONE,
						.slot = SK_NONE,
						.stub = SK_NONE,
						.first_user = SK_NONE,
						.last_user = SK_NONE});
	return (sk_symbol)linker->symbols.count - 1;
}

sk_symbol sk_symbol_intern(struct sk_linker *linker, const char *name, size_t length)
{
	uint32_t fresh = (uint32_t)linker->symbols.count;
	uint32_t number = sk_map_insert(&linker->symbol_numbers, name, length, fresh);

	return number == fresh ? sk_symbol_add(linker, name, length) : number;
}

static void enqueue(struct sk_linker *linker, sk_symbol symbol)
{
	sk_array_push(linker->arena, &linker->wanted, symbol);
}

void sk_symbol_add_definition(struct sk_linker *linker, sk_symbol number, uint32_t object, uint32_t index)
{
	struct sk_linker_symbol *symbol = &linker->symbols.items[number];
	uint32_t definition = (uint32_t)linker->definitions.count;

	sk_array_push(linker->arena, &linker->definitions, (struct sk_definition){object, index, SK_NONE});
	if (symbol->last_definition == SK_NONE)
		symbol->first_definition = definition;
	else
		linker->definitions.items[symbol->last_definition].next = definition;
	symbol->last_definition = definition;
	if (symbol->wanted && symbol->rank == SK_DEFINITION_NONE)
		enqueue(linker, number);
}

void sk_symbol_want(struct sk_linker *linker, sk_symbol number)
{
	struct sk_linker_symbol *symbol = &linker->symbols.items[number];

	if (symbol->alias != SK_NONE) {
		sk_symbol_want(linker, symbol->alias);
		return;
	}
	if (symbol->wanted)
		return;
	symbol->wanted = true;
	if (symbol->rank == SK_DEFINITION_NONE)
		enqueue(linker, number);
}

/* The most constraining visibility counts (gABI, "Symbol Visibility"); the numbers are in that order but for 0. */
static void constrain(struct sk_linker_symbol *symbol, uint8_t other)
{
	uint8_t visibility = ELF64_ST_VISIBILITY(other);

	if (visibility != STV_DEFAULT && (symbol->visibility == STV_DEFAULT || visibility < symbol->visibility))
		symbol->visibility = visibility;
}

enum sk_definition_rank sk_definition_rank(const sk_elf_symbol *symbol)
{
	if (symbol->st_shndx == SHN_COMMON)
		return SK_DEFINITION_COMMON;
	return ELF64_ST_BIND(symbol->st_info) == STB_WEAK ? SK_DEFINITION_WEAK : SK_DEFINITION_STRONG;
}

static void report_duplicate(struct sk_linker *linker, const struct sk_linker_symbol *symbol,
			     const struct sk_object *object, uint32_t index)
{
	sk_error(linker->diag, sk_symbol_place(linker->arena, object, index), "duplicate symbol: %s", symbol->name);
	if (symbol->object)
		sk_note(linker->diag, "first defined at %s",
			sk_place_text(linker->arena, sk_symbol_place(linker->arena, symbol->object, symbol->index)));
	else
		sk_note(linker->diag, "first defined in the package's own code");
}

/* A pulled object defines the symbol. */
static void offer(struct sk_linker *linker, struct sk_linker_symbol *symbol, struct sk_object *object, uint32_t index)
{
	const sk_elf_symbol *raw = &object->symbols[index];
	enum sk_definition_rank rank = sk_definition_rank(raw);
	uint64_t alignment = raw->st_value ? raw->st_value : 1;
	uint32_t section = sk_object_symbol_section(object, index);

	if (rank == SK_DEFINITION_STRONG && symbol->rank == SK_DEFINITION_STRONG) {
		if (!linker->options.allow_multiple_definition)
			report_duplicate(linker, symbol, object, index);
		return;
	}
	if (rank == SK_DEFINITION_COMMON && symbol->rank == SK_DEFINITION_COMMON) {
		if (raw->st_size > symbol->size)
			symbol->size = raw->st_size;
		if (alignment > symbol->value)
			symbol->value = alignment;
		return;
	}
	if (rank <= symbol->rank)
		return;
	symbol->rank = rank;
	symbol->object = object;
	symbol->index = index;
	symbol->section = section ? sk_object_section(object, section) : NULL;
	symbol->value = rank == SK_DEFINITION_COMMON ? alignment : raw->st_value;
	symbol->size = raw->st_size;
	symbol->type = ELF64_ST_TYPE(raw->st_info);
}

bool sk_object_pull(struct sk_linker *linker, struct sk_object *object)
{
	if (object->pulled)
		return true;
	object->pulled = true;
	if (!object->loaded && !sk_object_load(&linker->reader, object)) {
		/* Later passes go on, to collect errors: the object has nothing in it for them. */
		object->entries = SK_NEW_ARRAY(linker->arena, struct sk_section_entry, object->header_count);
		object->parts = SK_NEW(linker->arena, struct sk_input_section);
		object->part_count = 1;
		object->group_count = 0;
		object->frame_count = 0;
		return false;
	}
	sk_object_join(linker, object);
	for (uint32_t i = object->first_global; i < object->symbol_count; i++) {
		const sk_elf_symbol *raw = &object->symbols[i];
		sk_symbol number = object->globals[i - object->first_global];
		struct sk_linker_symbol *symbol = &linker->symbols.items[number];
		uint32_t section = sk_object_symbol_section(object, i);

		constrain(symbol, raw->st_other);
		if (raw->st_shndx != SHN_UNDEF && !(section && sk_object_section(object, section)->discarded))
			offer(linker, symbol, object, i);
		else if (ELF64_ST_BIND(raw->st_info) != STB_WEAK)
			sk_symbol_want(linker, number);
	}
	sk_report_object(linker, object);
	return true;
}

void sk_symbol_provide(struct sk_linker *linker, sk_symbol number, struct sk_input_section *section)
{
	struct sk_linker_symbol *symbol = &linker->symbols.items[number];

	if (symbol->rank != SK_DEFINITION_NONE)
		return;
	symbol->rank = SK_DEFINITION_PROVIDED;
	symbol->section = section;
}

void sk_symbol_define(struct sk_linker *linker, sk_symbol number, struct sk_input_section *section, uint64_t value,
		      uint64_t size, uint8_t type)
{
	struct sk_linker_symbol *symbol = &linker->symbols.items[number];

	if (symbol->rank >= SK_DEFINITION_STRONG) {
		sk_error(linker->diag, (struct sk_place){0}, "duplicate symbol: %s", symbol->name);
		if (symbol->object)
			sk_note(linker->diag, "defined at %s",
				sk_place_text(linker->arena,
					      sk_symbol_place(linker->arena, symbol->object, symbol->index)));
		sk_note(linker->diag, "defined in the package's own code");
		return;
	}
	symbol->rank = SK_DEFINITION_STRONG;
	symbol->alias = SK_NONE;
	symbol->object = NULL;
	symbol->section = section;
	symbol->value = value;
	symbol->size = size;
	symbol->type = type;
}

/* Pulls the first definition; the next ones, too, as long as groups of other objects have replaced it. */
static bool define(struct sk_linker *linker, sk_symbol number)
{
	bool ok = true;

	/* Pulling can move both arrays. */
	for (uint32_t i = linker->symbols.items[number].first_definition;
	     i != SK_NONE && linker->symbols.items[number].rank == SK_DEFINITION_NONE;
	     i = linker->definitions.items[i].next)
		ok &= sk_object_pull(linker, linker->objects.items[linker->definitions.items[i].object]);
	return ok;
}

bool sk_symbols_resolve(struct sk_linker *linker)
{
	bool ok = true;

	while (linker->wanted_done < linker->wanted.count) {
		sk_symbol number = linker->wanted.items[linker->wanted_done++];

		if (linker->symbols.items[number].rank == SK_DEFINITION_NONE)
			ok &= (linker->options.isolate_objects ? sk_isolated_bind : define)(linker, number);
	}
	return ok;
}

/* The storage of a common symbol, once somebody refers to it. */
static struct sk_input_section *common_section(struct sk_linker *linker, struct sk_linker_symbol *symbol)
{
	if (!symbol->section) {
		symbol->section = SK_NEW(linker->arena, struct sk_input_section);
		*symbol->section = (struct sk_input_section){.name = "COMMON",
							     .type = SHT_NOBITS,
							     .flags = SHF_ALLOC | SHF_WRITE,
							     .rank = SK_RANK_ZERO_DATA,
							     .state = SK_NONE,
							     .loaded = true};
		sk_array_push(linker->arena, &linker->commons, symbol->section);
	}
	/* Threads that relocate come by here, too, but find these numbers. */
	if (symbol->section->size != symbol->size || symbol->section->alignment != symbol->value) {
		symbol->section->size = symbol->size;
		symbol->section->alignment = (uint32_t)symbol->value;
	}
	return symbol->section;
}

/* The symbol `target` lies in the section; `selected`, an addend that is part of the place, points into it from there.
 */
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
	if (symbol->rank == SK_DEFINITION_NONE)
		/* What is declared hidden is promised to be in the package. */
		target->kind = symbol->import != SK_NONE && symbol->visibility == STV_DEFAULT ? SK_TARGET_IMPORT
											      : SK_TARGET_UNDEFINED;
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

/* Whether symbol and addend together name a place. They do not if the addend is counted from a GOT slot. */
static bool is_place(const struct sk_linker *linker, const sk_elf_relocation *relocation)
{
	const struct sk_relocation_type *type =
		sk_relocation_type_find(linker->architecture, ELF64_R_TYPE(relocation->r_info));

	return !type || type->expression != SK_EXPRESSION_SLOT;
}

struct sk_target sk_relocation_target(struct sk_linker *linker, const struct sk_input_section *section,
				      const sk_elf_relocation *relocation)
{
	const struct sk_object *object = section->object;
	uint32_t index = ELF64_R_SYM(relocation->r_info);
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
	uint32_t index = ELF64_R_SYM(relocation->r_info);

	if (!object || (index && index >= object->first_global)) {
		sk_symbol number = object ? object->globals[index - object->first_global] : index;
		const char *name = linker->symbols.items[sk_alias_follow(linker, number)].name;

		return name ? name : "";
	}
	if (!index)
		return "";

	const sk_elf_symbol *raw = &object->symbols[index];
	uint32_t number = sk_object_symbol_section(object, index);

	return number && ELF64_ST_TYPE(raw->st_info) == STT_SECTION ? sk_object_section_name(object, number)
								    : object->names + raw->st_name;
}
