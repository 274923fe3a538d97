/* Traps and guards: places for undefined symbols, with --unresolved-symbols=trap. Input: uses of them. Output: their
 * targets, at which a use ends the launch, and from which libskrt finds the symbol's name, even in a package without a
 * symbol table.
 *
 * A call leads to a trap, an instruction that no processor executes, with the function's name as its operand. For other
 * uses the symbol may be data. It lies in a guard, some pages of its own that nothing is mapped at; the table of guards
 * (format/skguards.h) has the names. Jumps to a guard fault as well. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "format/skguards.h"
#include "linker/linker-parts.h"
#include "linker/linker.h"
#include "linker/object.h"
#include "linker/output.h"

bool sk_trap_is_wanted(struct sk_linker *linker, sk_symbol number)
{
	const struct sk_linker_options *options = &linker->options;
	const char *name = linker->symbols.items[number].name;

	for (size_t i = 0; i < options->trapped_count; i++)
		if (!strcmp(options->trapped[i], name))
			return true;
	return options->trap || options->warn_unresolved || sk_is_panic(linker, name) ||
	       sk_is_of_unwinding(linker, name);
}

bool sk_trap_serves(const struct sk_linker *linker, const struct sk_input_section *section,
		    const sk_elf_relocation *relocation)
{
	const struct sk_architecture *architecture = linker->architecture;
	uint32_t type = ELF64_R_TYPE(relocation->r_info);

	return (section->flags & SHF_EXECINSTR) && section->bytes &&
	       (architecture->is_branch(type, section->bytes, relocation->r_offset) ||
		architecture->calls_slot(type, section->bytes, relocation->r_offset, relocation->r_addend));
}

/* Put the symbol's name into .sk.traps. */
static void add_name(struct sk_linker *linker, sk_symbol number)
{
	struct sk_linker_symbol *symbol = &linker->symbols.items[number];
	const char *text = symbol->name;

	if (symbol->named)
		return;
	symbol->named = true;
	if (sk_is_panic(linker, symbol->name))
		text = sk_arena_print(linker->arena, "%s, a panic of Rust", sk_demangled(linker, symbol->name));
	linker->made[SK_MADE_TRAP_NAMES].size += strlen(text) + 1;
	sk_array_push(linker->arena, &linker->trapped, (struct sk_trapped){.symbol = number, .text = text});
}

void sk_trap_add(struct sk_linker *linker, sk_symbol number)
{
	struct sk_linker_symbol *symbol = &linker->symbols.items[number];

	if (symbol->trap)
		return;
	symbol->trap = true;
	symbol->stub = (uint32_t)linker->traps.count;
	add_name(linker, number);
	sk_array_push(linker->arena, &linker->traps, number);
	linker->made[SK_MADE_TRAPS].size += linker->architecture->trap_size;
}

void sk_guard_add(struct sk_linker *linker, sk_symbol number)
{
	struct sk_linker_symbol *symbol = &linker->symbols.items[number];

	if (symbol->guard)
		return;
	add_name(linker, number);
	sk_array_push(linker->arena, &linker->guarded, number);
	symbol->guard = (uint32_t)linker->guarded.count;
	symbol->value = linker->guards.size + SK_GUARD_SIZE / 2;
	linker->guards.size += SK_GUARD_SIZE;
}

uint64_t sk_trap_address(const struct sk_linker *linker, sk_symbol number)
{
	return linker->made[SK_MADE_TRAPS].address +
	       (uint64_t)linker->symbols.items[number].stub * linker->architecture->trap_size;
}

/* ---- the list ---- */

/* A section that a kernel leads to, or else a constructor or destructor. */
struct step {
	const struct sk_input_section *section;
	const char *root;
	bool constructor;
	uint32_t distance;
};

/* The search from all kernels at once, and then from all constructors, breadth first. */
struct search {
	struct sk_linker *linker;
	struct sk_map numbers; /* of sections, by address -> steps */
	SK_ARRAY(struct step) steps;
	size_t done; /* steps that have been followed */
};

static void enter_section(struct search *search, struct step step)
{
	const struct sk_input_section **key;
	uint32_t fresh = (uint32_t)search->steps.count;

	if (!step.section || !step.section->live ||
	    sk_map_find(&search->numbers, (const char *)&step.section, sizeof(step.section)) != SK_NONE)
		return;
	key = SK_NEW(search->linker->arena, const struct sk_input_section *);
	*key = step.section;
	sk_map_insert(&search->numbers, (const char *)key, sizeof(*key), fresh);
	sk_array_push(search->linker->arena, &search->steps, step);
}

static void follow_steps(struct search *search)
{
	for (; search->done < search->steps.count; search->done++) {
		struct step step = search->steps.items[search->done];
		const struct sk_input_section *section = step.section;

		step.distance++;
		for (uint32_t j = 0; j < section->relocation_count; j++) {
			step.section = sk_relocation_target(search->linker, section, &section->relocations[j]).section;
			enter_section(search, step);
		}
	}
}

static void search_from_kernels(struct search *search)
{
	struct sk_linker *linker = search->linker;

	sk_map_init(&search->numbers, linker->arena);
	for (size_t i = 0; i < linker->order.count; i++) {
		sk_symbol code = linker->order.items[i].code;
		const char *name = linker->symbols.items[code].name;

		enter_section(search, (struct step){.section = sk_symbol_target(linker, code).section,
						    .root = name ? sk_demangled(linker, name) : ""});
	}
	follow_steps(search);
}

/* Find the use of the symbol that is nearest to a kernel. */
static void find_nearest(const struct search *search, struct sk_trapped *trapped)
{
	const struct sk_linker *linker = search->linker;

	for (uint32_t i = linker->symbols.items[trapped->symbol].first_user; i != SK_NONE;
	     i = linker->users.items[i].next) {
		const struct sk_user *user = &linker->users.items[i];
		uint32_t number = sk_map_find(&search->numbers, (const char *)&user->section, sizeof(user->section));

		trapped->user = trapped->user ? trapped->user : user;
		const struct step *step = number == SK_NONE ? NULL : &search->steps.items[number];

		if (!step || (trapped->root &&
			      (trapped->constructor < step->constructor ||
			       (trapped->constructor == step->constructor && trapped->distance <= step->distance))))
			continue;
		trapped->root = step->root;
		trapped->constructor = step->constructor;
		trapped->distance = step->distance;
		trapped->user = user;
	}
}

static int compare_trapped(const void *a, const void *b)
{
	const struct sk_trapped *left = a, *right = b;
	int left_class = left->root ? left->constructor : 2, right_class = right->root ? right->constructor : 2;

	if (left_class != right_class)
		return left_class - right_class;
	if (left->distance != right->distance)
		return left->distance < right->distance ? -1 : 1;
	return (left->symbol > right->symbol) - (left->symbol < right->symbol);
}

/* Place the names in the order of the list. */
static void place_names(struct sk_linker *linker)
{
	uint32_t place = 0;

	for (size_t i = 0; i < linker->trapped.count; i++) {
		const struct sk_trapped *trapped = &linker->trapped.items[i];

		linker->symbols.items[trapped->symbol].trap_name = place;
		place += (uint32_t)strlen(trapped->text) + 1;
	}
}

/* ---- constructors ---- */

/* Warn if the function at the place uses one of the symbols itself. Functions that it calls may not come to the use. */
static void check_constructor(struct search *search, const struct sk_target *function)
{
	struct sk_linker *linker = search->linker;
	const char *name =
		function->section ? sk_containing_function(linker, function->section, function->value) : NULL;

	for (size_t i = 0; i < linker->trapped.count && name; i++) {
		const struct sk_linker_symbol *symbol = &linker->symbols.items[linker->trapped.items[i].symbol];

		for (uint32_t j = symbol->first_user; j != SK_NONE; j = linker->users.items[j].next) {
			const struct sk_user *user = &linker->users.items[j];
			const char *in = user->section == function->section
						 ? sk_containing_function(linker, user->section, user->offset)
						 : NULL;

			if (!in || strcmp(in, name) != 0)
				continue;
			sk_warning(linker->diag, sk_section_place(linker->arena, user->section, user->offset),
				   "'%s' runs when the package is loaded or unloaded, and uses '%s', which no input "
				   "defines; loading fails if it comes to that",
				   name, sk_demangled(linker, symbol->name));
			break;
		}
	}
}

/* Do it for each function of the tables of constructors and destructors that the image has. */
static void visit_constructors(struct search *search,
			       void (*visit)(struct search *search, const struct sk_target *function))
{
	struct sk_linker *linker = search->linker;

	for (size_t i = 0; i < linker->objects.count; i++) {
		const struct sk_object *object = linker->objects.items[i];

		for (uint32_t j = 0; object->reached && j < object->part_count; j++) {
			const struct sk_input_section *table = &object->parts[j];
			bool counts = table->live && sk_is_constructors(table);

			for (uint32_t k = 0; counts && k < table->relocation_count; k++) {
				struct sk_target target = sk_relocation_target(linker, table, &table->relocations[k]);

				target.value += (uint64_t)table->relocations[k].r_addend;
				visit(search, &target);
			}
		}
	}
}

static void enter_constructor(struct search *search, const struct sk_target *function)
{
	const char *name =
		function->section ? sk_containing_function(search->linker, function->section, function->value) : NULL;

	enter_section(search,
		      (struct step){.section = function->section, .root = name ? name : "", .constructor = true});
}

void sk_traps_end(struct sk_linker *linker)
{
	static const char table[] = "sk_guards";
	struct search search = {.linker = linker};
	size_t count = linker->guarded.count;

	if (!linker->trapped.count)
		return;
	search_from_kernels(&search);
	visit_constructors(&search, enter_constructor);
	follow_steps(&search);
	for (size_t i = 0; i < linker->trapped.count; i++)
		find_nearest(&search, &linker->trapped.items[i]);
	qsort(linker->trapped.items, linker->trapped.count, sizeof(*linker->trapped.items), compare_trapped);
	place_names(linker);
	visit_constructors(&search, check_constructor);
	if (!count)
		return;

	sk_symbol symbol = sk_symbol_intern(linker, table, strlen(table));
	uint64_t size = sizeof(struct sk_guards) + count * sizeof(int32_t);

	linker->made[SK_MADE_GUARD_TABLE].size = size;
	sk_symbol_define(linker, symbol, &linker->made[SK_MADE_GUARD_TABLE], 0, size, STT_OBJECT);
	linker->symbols.items[symbol].exported = true;
	sk_array_push(linker->arena, &linker->exported, symbol);
}

const char *sk_trapped_text(struct sk_linker *linker, const struct sk_trapped *trapped)
{
	const char *name = sk_demangled(linker, linker->symbols.items[trapped->symbol].name);
	const char *place = sk_place_text(
		linker->arena, sk_section_place(linker->arena, trapped->user->section, trapped->user->offset));
	const char *kind = trapped->constructor ? "constructor" : "kernel";

	if (!trapped->root)
		return sk_arena_print(linker->arena, "%s: used by %s", name, place);
	if (!trapped->distance)
		return sk_arena_print(linker->arena, "%s: used by %s, %s %s itself", name, place, kind, trapped->root);
	return sk_arena_print(linker->arena, "%s: used by %s, %u reference%s away from %s %s", name, place,
			      trapped->distance, trapped->distance == 1 ? "" : "s", kind, trapped->root);
}

/* ---- the bytes ---- */

static void write_guards(struct sk_linker *linker)
{
	const struct sk_input_section *section = &linker->made[SK_MADE_GUARD_TABLE];
	struct sk_guards *table = (struct sk_guards *)sk_image_at(linker, section);

	table->version = SK_GUARDS_VERSION;
	table->count = (uint32_t)linker->guarded.count;
	table->first = (int64_t)(linker->guards.address - section->address);
	for (size_t i = 0; i < linker->guarded.count; i++)
		table->names[i] =
			(int32_t)(linker->made[SK_MADE_TRAP_NAMES].address +
				  linker->symbols.items[linker->guarded.items[i]].trap_name - section->address);
}

void sk_traps_write(struct sk_linker *linker)
{
	for (size_t i = 0; i < linker->trapped.count; i++) { /* memory that is zeroed follows each name */
		const struct sk_trapped *trapped = &linker->trapped.items[i];

		memcpy(linker->image + linker->made[SK_MADE_TRAP_NAMES].address +
			       linker->symbols.items[trapped->symbol].trap_name,
		       trapped->text, strlen(trapped->text));
	}
	for (size_t i = 0; i < linker->traps.count; i++) {
		const struct sk_linker_symbol *symbol = &linker->symbols.items[linker->traps.items[i]];
		uint64_t address = sk_trap_address(linker, linker->traps.items[i]);

		linker->architecture->write_trap(linker->image + address, address,
						 linker->made[SK_MADE_TRAP_NAMES].address + symbol->trap_name);
	}
	if (linker->guarded.count)
		write_guards(linker);
}
