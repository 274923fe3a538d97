/* Chooses definitions. Input: wanted names. Members that define them are pulled, loaded and joined, and of several
 * definitions of a name one is chosen, until nothing more is wanted.
 *
 * Resolution does not depend on the order of inputs: all definitions of all inputs are on their symbols' lists. A
 * member is pulled as soon as a pulled object needs one of its symbols, wherever the archive is on the command line.
 * The first definition in command-line order is the one that is pulled. Among pulled definitions a strong one beats a
 * common one, and a common one beats a weak one; of two weak ones the first pulled is chosen; two strong ones are an
 * error, unless the name cannot be misunderstood (duplicates.c). An assignment on the command line (aliases.c) beats
 * all.
 *
 * With --isolate-objects, for all objects or some, equal names in different objects mean different things: every
 * definition of an isolated object is a separate symbol, to which its object's references refer. A weak one outside of
 * groups gives way to a strong one. For objects without a definition the name means that of the other objects or, if
 * they have none, the first one of an isolated object. */
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "linker/linker-parts.h"
#include "linker/linker.h"
#include "linker/object.h"

/* The most constraining visibility applies (gABI, "Symbol Visibility"); the numbers are in that order except for 0. */
static void constrain(struct sk_linker_symbol *symbol, uint8_t other)
{
	uint8_t visibility = ELF64_ST_VISIBILITY(other);

	if (visibility != STV_DEFAULT && (symbol->visibility == STV_DEFAULT || visibility < symbol->visibility))
		symbol->visibility = visibility;
}

/* Offer a pulled object's definition of the symbol. Symbols can move. */
static void offer(struct sk_linker *linker, sk_symbol number, struct sk_object *object, uint32_t index)
{
	struct sk_linker_symbol *symbol = &linker->symbols.items[number];
	const sk_elf_symbol *raw = &object->symbols[index];
	enum sk_definition_rank rank = sk_definition_rank(raw);
	uint64_t alignment = raw->st_value ? raw->st_value : 1;
	uint32_t section = sk_object_symbol_section(object, index);

	if (rank == SK_DEFINITION_STRONG && symbol->rank == SK_DEFINITION_STRONG) {
		bool same = symbol->object == object && /* foo, and foo@@V2 */
			    raw->st_shndx == object->symbols[symbol->index].st_shndx &&
			    raw->st_value == object->symbols[symbol->index].st_value;

		if (!same && !linker->options.allow_multiple_definition)
			sk_duplicate_add(linker, number, object, index);
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
	symbol->rank = (uint8_t)rank;
	symbol->object = object;
	symbol->index = index;
	symbol->section = section ? sk_object_section(object, section) : NULL;
	symbol->value = rank == SK_DEFINITION_COMMON ? alignment : raw->st_value;
	symbol->size = raw->st_size;
	symbol->type = ELF64_ST_TYPE(raw->st_info);
}

/* "The first object to give a group wins": the members of a COMDAT group that already exists are discarded. */
static void join_groups(struct sk_linker *linker, struct sk_object *object)
{
	for (uint32_t i = 0; i < object->more->group_count; i++) {
		const struct sk_section_group *group = &object->more->groups[i];
		uint32_t fresh = (uint32_t)linker->groups.count;

		if (!group->comdat || object->isolated ||
		    sk_map_insert(&linker->groups, group->name, strlen(group->name), fresh) == fresh)
			continue;
		for (uint64_t j = 0; j < group->count; j++)
			if (object->entries[group->members[j]].part < object->part_count)
				sk_object_section(object, group->members[j])->discarded = true;
	}
}

/* Discard a section with a name of an earlier one that begins with ".gnu.linkonce.", the predecessor of groups. */
static void discard_linkonce(struct sk_linker *linker, struct sk_input_section *section)
{
	uint32_t group = (uint32_t)linker->groups.count;

	if (section->loaded && sk_starts_with(section->name, ".gnu.linkonce.") && !section->object->isolated)
		section->discarded =
			sk_map_insert(&linker->groups, section->name, strlen(section->name), group) != group;
}

/* Note that the object needs an executable stack. Kernels run on stacks that libskrt makes, or on a program's. */
static void take_stack(struct sk_linker *linker, const struct sk_object *object)
{
	if (!object->executable_stack)
		return;
	sk_warning(linker->diag, (struct sk_place){.file = sk_object_name(linker->arena, object)},
		   "requires an executable stack (as its section " SK_STACK_NOTE
		   " says), which libskrt does not give: the address of a function inside of another one, or of an "
		   "internal procedure of Fortran, leads to code there, which cannot be called; make it a function of "
		   "its own");
	linker->executable_stack = true;
}

/* Join the parts that the object shares with those before it: groups and ranges. */
static void join_shared(struct sk_linker *linker, struct sk_object *object)
{
	if (object->obsolete_debug)
		sk_warning(linker->diag,
			   (struct sk_place){.file = sk_object_name(linker->arena, object), .section = ".zdebug_info"},
			   "debug information in this obsolete form is dropped; recompile with -gz=zlib");
	take_stack(linker, object);
	linker->isa |= object->isa;
	for (uint32_t i = 0; object->joined_by_name && i < object->part_count; i++)
		discard_linkonce(linker, &object->parts[i]);
	join_groups(linker, object);
	for (uint32_t i = 0; object->joined_by_name && i < object->part_count; i++)
		sk_range_add(linker, &object->parts[i]);
}

/* Return whether a variable holds one of the functions of Halide's runtime that its users can replace
 * (halide_set_custom_…, halide_set_error_handler). */
static bool is_custom(const char *name)
{
	static const char prefix[] = "_ZN6Halide7Runtime8Internal";

	return name && !strncmp(name, prefix, strlen(prefix)) &&
	       (strstr(name, "custom_") || strstr(name, "error_handler"));
}

/* Return whether the definition is a hook: a weak variable without a value, or with that of Halide's own function. */
static bool is_hook(const struct sk_linker *linker, const struct sk_object *object, uint32_t index)
{
	const sk_elf_symbol *raw = &object->symbols[index];
	uint32_t section = sk_object_symbol_section(object, index);

	if (sk_definition_rank(raw) != SK_DEFINITION_WEAK || ELF64_ST_TYPE(raw->st_info) != STT_OBJECT || !section)
		return false;
	return sk_object_section(object, section)->type == SHT_NOBITS ||
	       is_custom(linker->symbols.items[object->globals[index - object->first_global]].name);
}

/* Enter the symbols that the object refers to into the linker's table. Of an archive's members few are pulled, and only
 * those refer to anything. */
static void enter_references(struct sk_linker *linker, struct sk_object *object)
{
	bool versioned = object->more->versioned_names;

	for (uint32_t i = object->first_global; i < object->symbol_count; i++) {
		const char *name = object->names + object->symbols[i].st_name;

		if (object->symbols[i].st_shndx == SHN_UNDEF)
			object->globals[i - object->first_global] =
				sk_alias_reference(linker, versioned ? sk_version_reference(linker, name) : name);
	}
}

bool sk_object_pull(struct sk_linker *linker, struct sk_object *object)
{
	if (object->pulled)
		return true;
	object->pulled = true;
	if (!object->loaded && !sk_object_load(&linker->reader, object)) {
		/* Later passes go on, to collect errors: the object is empty for them. */
		object->entries = SK_NEW_ARRAY(linker->arena, struct sk_section_entry, object->header_count);
		object->parts = SK_NEW(linker->arena, struct sk_input_section);
		object->part_count = 0; /* and one that stands for all */
		object->frame_count = 0;
		enter_references(linker, object);
		return false;
	}
	join_shared(linker, object);
	enter_references(linker, object);
	for (uint32_t i = object->first_global; i < object->symbol_count; i++) {
		const sk_elf_symbol *raw = &object->symbols[i];
		sk_symbol number = object->globals[i - object->first_global];
		struct sk_linker_symbol *symbol = &linker->symbols.items[number];
		uint32_t section = sk_object_symbol_section(object, i);

		bool defined =
			raw->st_shndx != SHN_UNDEF && !(section && sk_object_section(object, section)->discarded);

		constrain(symbol, raw->st_other);
		if (defined && is_hook(linker, object, i))
			sk_array_push(linker->arena, &linker->hooks, (struct sk_hook){object, i});
		if (defined) {
			if (object->more->versioned_names)
				sk_version_check(linker, object, i);
			offer(linker, number, object, i);
			sk_panic_note(linker, number);
			symbol = &linker->symbols.items[number];
			if (symbol->object == object && symbol->type == STT_GNU_IFUNC && symbol->alias == SK_NONE) {
				sk_ifunc_choose(linker, number);
				symbol = &linker->symbols.items[number];
			}
		}
		symbol->referred |= !defined;
		/* Calls of a function that --defsym assigns go to the assigned one, even in the object that defines
		 * it. */
		if (defined ? symbol->rank == SK_DEFINITION_ASSIGNED : ELF64_ST_BIND(raw->st_info) != STB_WEAK)
			sk_symbol_want(linker, number, object);
	}
	sk_print_object(linker, object);
	return true;
}

bool sk_object_extract(struct sk_linker *linker, struct sk_object *object, const char *symbol, const char *needed_by)
{
	if (linker->options.extractions_file && !object->pulled && object->member)
		sk_array_push(linker->arena, &linker->extractions, (struct sk_extraction){needed_by, object, symbol});
	return sk_object_pull(linker, object);
}

/* Make the definer of the symbol take part. */
static bool extract(struct sk_linker *linker, struct sk_object *object, sk_symbol number)
{
	const struct sk_linker_symbol *symbol = &linker->symbols.items[number];
	const char *needed_by = "<command line>";

	if (symbol->wanted_by && linker->options.extractions_file)
		needed_by = sk_object_name(linker->arena, symbol->wanted_by);
	return sk_object_extract(linker, object, symbol->name, needed_by);
}

/* Pull the first definition, and the next ones as long as groups of other objects have replaced it. Those of isolated
 * objects are not for all. */
static bool define(struct sk_linker *linker, sk_symbol number)
{
	bool ok = true;

	/* Pulling can move both arrays. */
	for (uint32_t i = linker->symbols.items[number].first_definition;
	     i != SK_NONE && linker->symbols.items[number].rank == SK_DEFINITION_NONE;
	     i = linker->definitions.items[i].next) {
		struct sk_object *object = linker->objects.items[linker->definitions.items[i].object];

		if (!object->isolated)
			ok &= extract(linker, object, number);
	}
	return ok;
}

static enum sk_definition_rank rank_of(const struct sk_linker *linker, const struct sk_definition *definition)
{
	const struct sk_object *object = linker->objects.items[definition->object];

	if (!linker->inputs.items[object->input].whole)
		return SK_DEFINITION_NONE;
	return sk_definition_rank(&object->symbols[definition->index]);
}

/* Choose an isolated object's definition for a name that an object without one wants. */
static bool bind_isolated(struct sk_linker *linker, sk_symbol name)
{
	const struct sk_definition *definitions = linker->definitions.items, *best = NULL;

	for (uint32_t i = linker->symbols.items[name].first_definition; i != SK_NONE; i = definitions[i].next)
		if (linker->objects.items[definitions[i].object]->isolated &&
		    (!best || rank_of(linker, &definitions[i]) > rank_of(linker, best)))
			best = &definitions[i];
	if (!best)
		return true;

	struct sk_object *object = linker->objects.items[best->object];
	uint32_t index = best->index;
	bool ok = extract(linker, object, name); /* may add definitions, which moves them */
	struct sk_linker_symbol *symbol = &linker->symbols.items[name];

	symbol->alias = object->globals[index - object->first_global];
	symbol->rank = linker->symbols.items[symbol->alias].rank;
	symbol->object = object;
	symbol->index = index;
	return ok;
}

/* Return whether a strong definition in another object replaces this one: it is weak, and its object is isolated.
 * Members of groups are whole functions that every object has, and stay its own. Kernels were chosen by object and
 * name. An assignment on the command line holds. */
static bool gives_way(const struct sk_linker *linker, const struct sk_object *object, uint32_t index)
{
	const struct sk_linker_symbol *own = &linker->symbols.items[object->globals[index - object->first_global]];
	uint32_t section = sk_object_symbol_section(object, index);

	return object->isolated && sk_definition_rank(&object->symbols[index]) == SK_DEFINITION_WEAK &&
	       !(section && sk_object_section_flags(object, section) & SHF_GROUP) && !own->kernel &&
	       (own->alias == SK_NONE || own->replaced);
}

/* Return the first strong definition of those that begin here, or SK_NONE: of objects that take part in any case, or
 * also of members. One that is for all objects is preferred to an isolated object's. */
static uint32_t first_strong(const struct sk_linker *linker, uint32_t first, bool members)
{
	const struct sk_definition *definitions = linker->definitions.items;
	uint32_t strong = SK_NONE;

	for (uint32_t i = first; i != SK_NONE; i = definitions[i].next) {
		const struct sk_object *object = linker->objects.items[definitions[i].object];
		enum sk_definition_rank rank = members ? sk_definition_rank(&object->symbols[definitions[i].index])
						       : rank_of(linker, &definitions[i]);

		if (rank != SK_DEFINITION_STRONG)
			continue;
		if (!object->isolated)
			return i;
		if (strong == SK_NONE)
			strong = i;
	}
	return strong;
}

/* Let weak definitions of isolated objects mean a strong one: weak hooks are made to be replaced. */
static void replace_weak(struct sk_linker *linker)
{
	const struct sk_definition *definitions = linker->definitions.items;

	for (size_t name = 0; linker->replaced_weak != linker->definitions.count && name < linker->symbols.count;
	     name++) {
		uint32_t first = linker->symbols.items[name].first_definition;
		uint32_t strong = first_strong(linker, first, false);

		for (uint32_t i = first; strong != SK_NONE && i != SK_NONE; i = definitions[i].next) {
			const struct sk_object *object = linker->objects.items[definitions[i].object];
			const struct sk_object *other = linker->objects.items[definitions[strong].object];
			sk_symbol own = object->globals[definitions[i].index - object->first_global];
			sk_symbol meant = other->globals[definitions[strong].index - other->first_global];

			if (own != meant && gives_way(linker, object, definitions[i].index)) {
				linker->symbols.items[own].alias = meant;
				linker->symbols.items[own].replaced = true;
			}
		}
	}
	linker->replaced_weak = linker->definitions.count;
}

void sk_symbol_keep(struct sk_linker *linker, sk_symbol number)
{
	struct sk_linker_symbol *symbol = &linker->symbols.items[number];

	symbol->kernel = true;
	if (symbol->replaced)
		symbol->alias = SK_NONE;
	symbol->replaced = false;
}

/* Pull the first archive's member that defines the hook strongly, as GNU ld does for common symbols. With isolated
 * objects the hook becomes an alias of it. */
static bool fill_hook(struct sk_linker *linker, struct sk_hook hook)
{
	sk_symbol own = hook.object->globals[hook.index - hook.object->first_global];
	const char *name = linker->symbols.items[own].name;
	sk_symbol shared = sk_symbol_intern(linker, name, strlen(name));
	uint32_t first = first_strong(linker, linker->symbols.items[shared].first_definition, true);

	if (first == SK_NONE || linker->symbols.items[own].alias != SK_NONE ||
	    linker->symbols.items[own].rank >= SK_DEFINITION_STRONG)
		return true;

	const struct sk_definition *strong = &linker->definitions.items[first];
	struct sk_object *object = linker->objects.items[strong->object];
	sk_symbol meant = object->globals[strong->index - object->first_global];
	bool ok = sk_object_extract(linker, object, name, sk_object_name(linker->arena, hook.object));

	if (meant != own) {
		linker->symbols.items[own].alias = meant;
		linker->symbols.items[own].replaced = true;
	}
	return ok;
}

/* Define the symbols that are wanted, and those that their definitions want. */
static bool define_wanted(struct sk_linker *linker)
{
	bool ok = true;

	while (linker->wanted_done < linker->wanted.count) {
		sk_symbol number = linker->wanted.items[linker->wanted_done++];

		if (linker->symbols.items[number].rank == SK_DEFINITION_NONE)
			ok &= define(linker, number);
		if (linker->isolates && linker->symbols.items[number].rank == SK_DEFINITION_NONE)
			ok &= bind_isolated(linker, number);
	}
	return ok;
}

bool sk_symbols_resolve(struct sk_linker *linker)
{
	if (linker->isolates)
		replace_weak(linker);

	bool ok = define_wanted(linker);

	while (linker->hooks_done < linker->hooks.count) {
		ok &= fill_hook(linker, linker->hooks.items[linker->hooks_done++]);
		ok &= define_wanted(linker);
	}
	sk_panics_end(linker);
	sk_duplicates_check(linker);
	return ok && sk_versions_hold(linker);
}
