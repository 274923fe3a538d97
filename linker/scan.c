/* Looks at every relocation of what is reached, once: live sections come in; the GOT slots, PLT stubs and loader
 * relocations that they need go out, and an error for everything that a package cannot hold. After this pass no
 * relocation can fail for any reason but its range.
 *
 * With -r slots are symbols that relocations must name, and nothing is missing: what is undefined stays so. */
#include <inttypes.h>
#include <string.h>

#include "linker/frames.h"
#include "linker/link.h"
#include "linker/object.h"
#include "linker/output.h"
#include "linker/passes.h"
#include "linker/relocation.h"
#include "linker/section.h"
#include "linker/symbol.h"
#include "linker/texts.h"
#include "src/base/nearest.h"

enum { MAXIMUM_SUGGESTIONS = 20, MAXIMUM_USERS = 20, MAXIMUM_WITH_FUNCTIONS = 200 };

/* What a relocation takes. */
enum action {
	NOTHING, /* a value that is known when linking */
	ADDRESS, /* the loader adds where the image lies */
	IMPORT, /* the loader writes the address of an import */
	STUB, /* a PLT stub */
	WORD, /* a GOT slot that stands for the data, with what that holds */
	SLOT, /* a GOT slot */
	STAYS, /* -r: an undefined symbol */
	THREAD_SLOTS, /* slots by which a thread-local variable is found */
	NOT_PIC, /* refused, and so is what follows */
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

/* The same with -r. What is undefined is an import, whatever its name. Absolute addresses, and accesses to thread-local
 * variables, stay as they are: the next linker knows whether they are a program's, and where that lies. */
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
	[LOCAL_EXEC] = "is of the local-exec model: the instruction holds the variable's distance from the thread "
		       "pointer, which for a package is known only when it has been loaded; recompile with -fPIC",
	[NOT_IN_BLOCK] = "asks for an imported variable as if it were in the package's block; recompile with "
			 "-ftls-model=initial-exec",
	[NOT_DESCRIPTOR] = "does not stand in the instruction that the psABI has for it; recompile with "
			   "-mtls-dialect=gnu",
	[DESTRUCTOR] =
		"asks for the destructor of a thread-local object, which a package cannot have: libskrt's threads "
		"outlive it, and others may end at any time; let a function of the kernel's own destroy what the "
		"kernel has made, or make the object trivially destructible",
	[THREAD] = "takes a thread-local variable for an ordinary one; declare it as what it is",
	[NO_THREAD] = "takes for thread-local what is not; declare it as what it is",
	[INDIRECT] = "refers to an IFUNC, whose function the processor would choose; say which one it is: "
		     "--ifunc=SYMBOL=FUNCTION",
	[SIZE] = "asks for the size of a symbol, which is not supported; write the difference of two labels instead",
};

static void refuse(struct sk_linker *linker, const struct sk_input_section *section,
		   const sk_elf_relocation *relocation, const struct sk_relocation_type *type, const char *text)
{
	sk_error(linker->diag, sk_section_place(linker->arena, section, relocation->r_offset),
		 "relocation %s against '%s' %s", type->name, sk_relocation_name(linker, section, relocation), text);
	sk_note_kernel(linker, section);
}

/* ---- undefined symbols ---- */

static void note_user(struct sk_linker *linker, sk_symbol number, const struct sk_input_section *section,
		      uint64_t offset)
{
	struct sk_linker_symbol *symbol = &linker->symbols.items[number];
	uint32_t user = (uint32_t)linker->users.count;

	sk_array_push(linker->arena, &linker->users, (struct sk_user){section, offset, SK_NONE});
	if (symbol->last_user == SK_NONE)
		symbol->first_user = user;
	else
		linker->users.items[symbol->last_user].next = user;
	symbol->last_user = user;
}

static void note_missing(struct sk_linker *linker, sk_symbol number, const struct sk_input_section *section,
			 uint64_t offset)
{
	if (!linker->symbols.items[number].missing)
		sk_array_push(linker->arena, &linker->undefined, number);
	linker->symbols.items[number].missing = true;
	note_user(linker, number, section, offset);
}

/* A trap serves a call; everything else that is undefined is missing. */
static void use_undefined(struct sk_linker *linker, const struct sk_input_section *section,
			  const sk_elf_relocation *relocation, sk_symbol number)
{
	if (!sk_trap_is_wanted(linker, number) || !sk_trap_serves(linker, section, relocation)) {
		note_missing(linker, number, section, relocation->r_offset);
		return;
	}
	sk_trap_add(linker, number);
	note_user(linker, number, section, relocation->r_offset);
}

/* " in f": the function that holds the byte, or "". */
static const char *containing_function(struct sk_linker *linker, const struct sk_input_section *section,
				       uint64_t offset)
{
	const struct sk_object *object = section->object;

	for (uint32_t i = 1; object && i < object->symbol_count; i++) {
		const sk_elf_symbol *symbol = &object->symbols[i];

		if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && offset >= symbol->st_value &&
		    offset - symbol->st_value < symbol->st_size &&
		    sk_object_section(object, sk_object_symbol_section(object, i)) == section)
			return sk_arena_print(linker->arena, " in %s",
					      sk_demangled(linker, object->names + symbol->st_name));
	}
	return "";
}

/* Looking for the functions goes through all symbols of an object, so it is not done for thousands of users. */
static void list_users(struct sk_linker *linker, const struct sk_linker_symbol *symbol, bool with_functions)
{
	unsigned shown = 0, more = 0;

	for (uint32_t i = symbol->first_user; i != SK_NONE; i = linker->users.items[i].next) {
		const struct sk_user *user = &linker->users.items[i];

		if (!user->section) {
			sk_note(linker->diag, "required by the command line or the manifest");
		} else if (shown < MAXIMUM_USERS) {
			struct sk_place place = sk_section_place(linker->arena, user->section, user->offset);

			sk_note(linker->diag, "referenced by %s%s", sk_place_text(linker->arena, place),
				with_functions ? containing_function(linker, user->section, user->offset) : "");
			shown++;
		} else {
			more++;
		}
	}
	if (more)
		sk_note(linker->diag, "and %u more", more);
}

/* Everything that the name may have been meant to be. */
static const char *const *candidates(struct sk_linker *linker, size_t *count)
{
	size_t functions;
	const char *const *names = sk_linker_function_names(linker, SK_ANYWHERE, &functions);
	const struct sk_import_list *own = linker->architecture->imports;
	const char **all = SK_NEW_ARRAY(linker->arena, const char *, functions + sk_imports.count + own->count);

	if (functions)
		memcpy(all, names, functions * sizeof(*all));
	*count = functions;
	for (size_t i = 0; i < sk_imports.count; i++)
		all[(*count)++] = sk_imports.rows[i].name;
	for (size_t i = 0; i < own->count; i++)
		all[(*count)++] = own->rows[i].name;
	return all;
}

/* "si", "df": a machine mode of GCC's. */
static bool is_mode(const char *text)
{
	return strchr("qhsdtbx", text[0]) && (text[1] == 'i' || text[1] == 'f' || text[1] == 'c');
}

/* One or two modes fill the text: that of the result, and in front of it the one that is converted. */
static bool are_modes(const char *text, size_t length)
{
	return (length == 2 || (length == 4 && is_mode(text + 2))) && is_mode(text);
}

/* A name of the compiler's low-level library ("__floatuntisf", "__udivti3"; GCC Internals, "The GCC low-level runtime
 * library"; clang's has the same names): an operation, modes, and perhaps the number of operands. */
static bool is_compilers_helper(const char *name)
{
	static const char *const operations[] = {
		"absv",	   "add",  "addv",   "ashl",	"ashr",	  "bswap",    "clrsb", "clz",	 "cmp",
		"ctz",	   "div",  "divmod", "eq",	"extend", "ffs",      "fix",   "fixuns", "float",
		"floatun", "ge",   "gt",     "le",	"lshr",	  "lt",	      "mod",   "mul",	 "mulo",
		"mulv",	   "ne",   "neg",    "negv",	"parity", "popcount", "powi",  "sub",	 "subv",
		"trunc",   "ucmp", "udiv",   "udivmod", "umod",	  "unord",
	};
	static const char processor[] = "__cpu_"; /* __cpu_model and others: __builtin_cpu_supports */
	size_t length = strlen(name);

	if (!strncmp(name, processor, strlen(processor)))
		return true;
	if (length < 5 || strncmp(name, "__", 2) != 0)
		return false;
	length -= name[length - 1] >= '2' && name[length - 1] <= '4';
	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		size_t operation = 2 + strlen(operations[i]);

		if (operation < length && !strncmp(name + 2, operations[i], operation - 2) &&
		    are_modes(name + operation, length - operation))
			return true;
	}
	return false;
}

/* What C++ calls for a thread-local object that has a destructor. */
static const char *const thread_destructors[] = {"__cxa_thread_atexit", "__cxa_thread_atexit_impl"};

static bool is_thread_destructor(const char *name)
{
	return !strcmp(name, thread_destructors[0]) || !strcmp(name, thread_destructors[1]);
}

/* What ggml's kernels call to wait for all of its threads. */
static bool is_barrier_of_threads(const char *name)
{
	return !strcmp(name, "ggml_barrier") || !strncmp(name, "ggml_threadpool_", strlen("ggml_threadpool_"));
}

/* The import that headers of another age call by this name, or NULL: "__isoc23_strtol", which also reads numbers in
 * base 2 that begin with 0b, "__exp_finite", which need not know infinities. */
static const char *renamed_import(struct sk_linker *linker, const char *name)
{
	static const char newer[] = "__isoc23_", prefix[] = "__", suffix[] = "_finite";
	size_t length = strlen(name), ends = strlen(prefix) + strlen(suffix);
	const char *plain = NULL;

	if (!strncmp(name, newer, strlen(newer)))
		plain = name + strlen(newer);
	else if (length > ends && !strncmp(name, prefix, strlen(prefix)) &&
		 !strcmp(name + length - strlen(suffix), suffix))
		plain = sk_arena_copy(linker->arena, name + strlen(prefix), length - ends);

	uint32_t number = plain ? sk_map_find(&linker->symbol_numbers, plain, strlen(plain)) : SK_NONE;

	return number != SK_NONE && linker->symbols.items[number].import ? plain : NULL;
}

/* What is special about the name, or NULL. */
static const char *special_hint(struct sk_linker *linker, sk_symbol number)
{
	const struct sk_linker_symbol *symbol = &linker->symbols.items[number];
	const char *plain = renamed_import(linker, symbol->name);

	if (sk_is_library_data(symbol->name))
		return "; it is data of the C library that cannot be imported: recompile without it";
	if (is_thread_destructor(symbol->name))
		return "; it serves destructors of thread-local objects, which a package cannot have: libskrt's "
		       "threads outlive it";
	if (!strcmp(symbol->name, "__cxa_atexit"))
		return "; it has static objects destroyed when the process ends, when the package may be gone: "
		       "recompile with -fno-use-cxa-atexit, so that they are destroyed with the package, or let "
		       "--defsym name a function that returns 0, so that they never are";
	if (is_barrier_of_threads(symbol->name))
		return "; it waits for ggml's threads, which there are none of: blocks run in any order, so take a "
		       "kernel that does without";
	if (symbol->import)
		return "; it is declared hidden, so it cannot come from the C library";
	if (plain)
		return sk_arena_print(linker->arena,
				      "; headers of another age mean '%s', which is an import, by it: --defsym=%s=%s",
				      plain, symbol->name, plain);
	if (is_compilers_helper(symbol->name))
		return "; it is a helper of the compiler's own library: add libgcc.a, whose path 'gcc "
		       "-print-libgcc-file-name' prints";
	if (sk_trap_is_wanted(linker, number))
		return "; only calls can trap: here its address is wanted, and it may be data";
	return NULL;
}

/* What looks like the name, or "". */
static const char *search_hint(struct sk_linker *linker, const struct sk_linker_symbol *symbol,
			       const char *const **names, size_t *count)
{
	const struct sk_object *local = sk_find_local_function(linker, SK_NONE, symbol->name);

	if (local)
		return sk_arena_print(linker->arena, "; %s has a function of this name, but it is local (static)",
				      sk_object_name(linker->arena, local));
	if (!*names)
		*names = candidates(linker, count);

	const char *near = sk_nearest_name(symbol->name, *names, *count);

	return near ? sk_arena_print(linker->arena, "; did you mean '%s'?", sk_demangled(linker, near)) : "";
}

static void report_undefined(struct sk_linker *linker)
{
	const char *const *names = NULL;
	size_t count = 0;
	bool told = false; /* what can be done, which is the same for all */

	for (size_t i = 0; i < linker->undefined.count; i++) {
		const struct sk_linker_symbol *symbol = &linker->symbols.items[linker->undefined.items[i]];
		const char *special = special_hint(linker, linker->undefined.items[i]), *hint = special ? special : "";

		if (!special && i < MAXIMUM_SUGGESTIONS)
			hint = search_hint(linker, symbol, &names, &count);
		sk_error(linker->diag, (struct sk_place){0}, "undefined symbol: %s%s",
			 sk_demangled(linker, symbol->name), hint);
		if (sk_diag_is_full(linker->diag))
			continue;
		list_users(linker, symbol, i < MAXIMUM_WITH_FUNCTIONS);

		const struct sk_input_section *section = linker->users.items[symbol->first_user].section;

		if (section)
			sk_note_kernel(linker, section);
		if (!special && !told)
			sk_note(linker->diag, "no input defines it, and imports are a list, which 'skdump --imports' "
					      "prints: add an archive that has it, let --defsym name another "
					      "function, or let calls of it end the launch "
					      "(--unresolved-symbols=trap)");
		told |= !special;
	}
}

/* --warn-unresolved-symbols */
static void warn_of_traps(struct sk_linker *linker)
{
	for (size_t i = 0; linker->options.warn_unresolved && i < linker->traps.count; i++) {
		const struct sk_linker_symbol *symbol = &linker->symbols.items[linker->traps.items[i]];

		if (symbol->missing)
			continue;
		sk_warning(linker->diag, (struct sk_place){0}, "undefined symbol: %s; a call of it ends the launch",
			   symbol->name);
		list_users(linker, symbol, i < MAXIMUM_WITH_FUNCTIONS);
	}
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

/* What an imported pointer holds stands in a GOT slot as well, and code that reads the pointer as its own reads that.
 */
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

/* A word that the loader must write. Sections that are read-only otherwise become read-only after that. */
static bool need_address(struct sk_linker *linker, struct sk_input_section *section,
			 const sk_elf_relocation *relocation, const struct sk_relocation_type *type,
			 const struct sk_target *target)
{
	if ((section->flags & SHF_EXECINSTR) && linker->options.relocatable) /* as NARROW ones */
		return true;
	if ((section->flags & SHF_EXECINSTR) || !section->loaded) {
		refuse(linker, section, relocation, type,
		       "would have to be written into code or tables that are never writable; recompile with -fPIC");
		return false;
	}
	section->holds_addresses = true;
	if (sk_is_import(target->kind) && relocation->r_addend && !linker->options.relocatable) {
		refuse(linker, section, relocation, type, "wants an address inside of what is imported");
		return false;
	}
	return true;
}

/* ---- what an object leaves to the next linker ---- */

/* The symbol of the relocation in its object; NULL: it has none, or is synthetic. */
static const sk_elf_symbol *symbol_of(const struct sk_input_section *section, const sk_elf_relocation *relocation)
{
	uint32_t index = ELF64_R_SYM(relocation->r_info);

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
	bool slot = expression == SK_EXPRESSION_SLOT;
	bool merged = target->section && (target->section->flags & SHF_MERGE) && !target->section->object;

	if (sk_is_thread_expression(expression) || (slot && !sk_is_relaxed(linker, section, relocation, target)))
		return true;
	/* A section's symbol and the addend together say which string is meant. */
	return merged && (slot || !raw || ELF64_ST_TYPE(raw->st_info) != STT_SECTION);
}

/* ---- the pass ---- */

/* The type, or NULL if no package can hold such a relocation. */
static const struct sk_relocation_type *supported_type(struct sk_linker *linker, const struct sk_input_section *section,
						       const sk_elf_relocation *relocation)
{
	uint32_t number = ELF64_R_TYPE(relocation->r_info);
	const struct sk_relocation_type *type = sk_relocation_type_find(linker->architecture->relocations, number);

	if (type && type->expression != SK_EXPRESSION_UNSUPPORTED)
		return type;
	if (type)
		refuse(linker, section, relocation, type, "is of a type that is not supported");
	else
		sk_error(linker->diag, sk_section_place(linker->arena, section, relocation->r_offset),
			 "relocation against '%s' is of the unknown type %u",
			 sk_relocation_name(linker, section, relocation), number);
	return NULL;
}

/* Whether there is anything where the relocation points. */
static bool leads_somewhere(struct sk_linker *linker, const struct sk_input_section *section,
			    const sk_elf_relocation *relocation, const struct sk_relocation_type *type,
			    const struct sk_target *target)
{
	if (target->kind == SK_TARGET_OUTSIDE)
		refuse(linker, section, relocation, type, "lies outside the strings or records it refers to");
	else if (target->kind == SK_TARGET_MISSING)
		refuse(linker, section, relocation, type,
		       target->section->discarded ? "refers to a section that another object's group has replaced"
						  : "refers to a section that is not loaded");
	else
		return true;
	return false;
}

/* Whether the instruction that asks for a descriptor is known. */
static bool can_rewrite(const struct sk_linker *linker, const struct sk_input_section *section,
			const sk_elf_relocation *relocation)
{
	return (section->flags & SHF_EXECINSTR) && section->bytes &&
	       linker->architecture->can_rewrite_descriptor(ELF64_R_TYPE(relocation->r_info), section->bytes,
							    relocation->r_offset, relocation->r_addend);
}

/* Of an IFUNC. */
static void note_choices(struct sk_linker *linker, const struct sk_input_section *section,
			 const sk_elf_relocation *relocation, const struct sk_target *target)
{
	const struct sk_linker_symbol *symbol =
		target->symbol == SK_NONE ? NULL : &linker->symbols.items[target->symbol];

	if (symbol && symbol->object)
		sk_ifunc_note_choices(linker, symbol->object, symbol->index);
	else if (!symbol)
		sk_ifunc_note_choices(linker, section->object, ELF64_R_SYM(relocation->r_info));
}

static void take(struct sk_linker *linker, enum action action, struct sk_input_section *section,
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
			refuse(linker, section, relocation, type, refusals[ELSEWHERE]);
		break;
	case SLOT:
		if (!sk_is_relaxed(linker, section, relocation, target))
			need_slot(linker, section, relocation, target);
		break;
	case THREAD_SLOTS:
		if (type->expression == SK_EXPRESSION_DESCRIPTOR && !can_rewrite(linker, section, relocation))
			refuse(linker, section, relocation, type, refusals[NOT_DESCRIPTOR]);
		else
			sk_thread_slots_need(linker, type->expression, target);
		if (sk_is_import(target->kind))
			use_import(linker, target->symbol);
		break;
	case INDIRECT:
		refuse(linker, section, relocation, type, refusals[action]);
		note_choices(linker, section, relocation, target);
		break;
	default:
		refuse(linker, section, relocation, type, refusals[action]);
	}
}

/* An archive's own function that serves destructors is as good as none: it would have to be there when threads end. */
static bool asks_for_destructor(const struct sk_linker *linker, const struct sk_target *target)
{
	return target->kind == SK_TARGET_DEFINED && target->symbol != SK_NONE && !linker->options.relocatable &&
	       (target->symbol == linker->thread.destructors[0] || target->symbol == linker->thread.destructors[1]);
}

static void find_destructors(struct sk_linker *linker)
{
	for (size_t i = 0; i < sizeof(thread_destructors) / sizeof(thread_destructors[0]); i++)
		linker->thread.destructors[i] =
			sk_map_find(&linker->symbol_numbers, thread_destructors[i], strlen(thread_destructors[i]));
}

static void scan_relocation(struct sk_linker *linker, struct sk_input_section *section,
			    const sk_elf_relocation *relocation)
{
	const struct sk_relocation_type *type = supported_type(linker, section, relocation);

	if (!type || type->expression == SK_EXPRESSION_NONE)
		return;
	if (type->expression == SK_EXPRESSION_TABLE || type->expression == SK_EXPRESSION_FROM_TABLE)
		linker->made[SK_MADE_GOT].live = true;

	struct sk_target target = sk_relocation_target(linker, section, relocation);

	if (!leads_somewhere(linker, section, relocation, type, &target))
		return;
	if (target.kind == SK_TARGET_UNDEFINED && linker->options.relocatable)
		target.kind = SK_TARGET_IMPORT;
	if (target.kind == SK_TARGET_UNDEFINED) {
		use_undefined(linker, section, relocation, target.symbol);
		return;
	}

	enum action action = linker->options.relocatable ? relocatable_actions[type->expression][target.kind]
							 : actions[type->expression][target.kind];

	if (asks_for_destructor(linker, &target))
		action = DESTRUCTOR;
	take(linker, action, section, relocation, type, &target);
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

/* libskrt calls what stands there, and trusts it no more than this. */
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
		if (target.kind == SK_TARGET_UNDEFINED || !type) /* errors of their own */
			return;
		if (whole && type->expression == SK_EXPRESSION_WORD && is_code_at(&target)) {
			seen[entry] = true;
			continue;
		}
		sk_error(linker->diag, sk_section_place(linker->arena, section, relocation->r_offset),
			 whole ? "an entry of the table of constructors or destructors is no function of the package: "
				 "'%s'"
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
	for (uint64_t i = 0; i < section->relocation_count; i++)
		scan_relocation(linker, section, &section->relocations[i]);
}

static void scan_frame(struct sk_linker *linker, struct sk_frame *frame)
{
	for (uint64_t i = 0; frame->live && i < frame->relocation_count; i++)
		scan_relocation(linker, frame->section, &frame->relocations[i]);
}

bool sk_scan(struct sk_linker *linker)
{
	unsigned errors = linker->diag->errors;

	find_destructors(linker);
	for (size_t i = 0; i < linker->synthetic.count; i++)
		if (linker->synthetic.items[i]->section.loaded)
			scan_section(linker, &linker->synthetic.items[i]->section);
	for (size_t i = 0; i < linker->objects.count; i++) {
		struct sk_object *object = linker->objects.items[i];

		for (uint32_t j = 1; object->reached && j < object->part_count; j++)
			if (object->parts[j].live && object->parts[j].loaded)
				scan_section(linker, &object->parts[j]);
	}
	for (size_t i = 0; i < linker->copies.count; i++)
		if (linker->copies.items[i]->live)
			scan_section(linker, linker->copies.items[i]);
	sk_frames_visit(linker, scan_frame);
	for (size_t i = 0; i < linker->required.count; i++) {
		sk_symbol number = linker->required.items[i];

		if (sk_symbol_target(linker, number).kind == SK_TARGET_UNDEFINED)
			note_missing(linker, number, NULL, 0);
	}
	report_undefined(linker);
	warn_of_traps(linker);
	return linker->diag->errors == errors;
}
