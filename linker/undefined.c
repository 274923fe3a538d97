/* Undefined symbols. Their uses are recorded while relocations are looked at. In the end each gets an error that lists
 * its users and possible meanings, or a trap and perhaps a warning. */
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/text.h"
#include "format/import-row.h"
#include "format/relocation-types.h"
#include "linker/linker-parts.h"
#include "linker/linker.h"
#include "linker/object.h"

/* At most as many users are listed as GNU ld lists in a row. */
enum { MAXIMUM_SUGGESTIONS = 20, MAXIMUM_USERS = 5, MAXIMUM_WITH_FUNCTIONS = 200 };

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

/* Return whether a guard serves the use. It cannot lie at a distance from the thread pointer, and libskrt calls the
 * functions of a table of constructors, which must exist. */
static bool guard_serves(const struct sk_linker *linker, const struct sk_input_section *section,
			 const sk_elf_relocation *relocation)
{
	enum sk_expression expression =
		linker->architecture->relocations->types[ELF64_R_TYPE(relocation->r_info)].expression;

	return !sk_is_constructors(section) &&
	       (!sk_is_thread_expression(expression) || expression == SK_EXPRESSION_THREAD_PAIR);
}

bool sk_undefined_use(struct sk_linker *linker, const struct sk_input_section *section,
		      const sk_elf_relocation *relocation, sk_symbol number)
{
	bool call = sk_trap_serves(linker, section, relocation);

	if (!sk_trap_is_wanted(linker, number) || (!call && !guard_serves(linker, section, relocation))) {
		note_missing(linker, number, section, relocation->r_offset);
		return false;
	}
	if (!call)
		sk_guard_add(linker, number);
	else if (!linker->symbols.items[number].guard)
		sk_trap_add(linker, number);
	note_user(linker, number, section, relocation->r_offset);
	return linker->symbols.items[number].guard;
}

void sk_undefined_require(struct sk_linker *linker, sk_symbol number)
{
	note_missing(linker, number, NULL, 0);
}

/* ---- users ---- */

/* Finding the functions takes a pass over all symbols of an object, so it is not done for thousands of users. */
static void list_users(struct sk_linker *linker, const struct sk_linker_symbol *symbol, bool with_functions)
{
	unsigned shown = 0, more = 0;

	for (uint32_t i = symbol->first_user; i != SK_NONE; i = linker->users.items[i].next) {
		const struct sk_user *user = &linker->users.items[i];

		if (!user->section) {
			sk_note(linker->diag, "required by the command line or the manifest");
		} else if (shown < MAXIMUM_USERS) {
			struct sk_place place = sk_section_place(linker->arena, user->section, user->offset);

			const char *function =
				with_functions ? sk_containing_function(linker, user->section, user->offset) : NULL;

			sk_note(linker->diag, "referenced by %s%s%s", sk_place_text(linker->arena, place),
				function ? " in " : "", function ? function : "");
			shown++;
		} else {
			more++;
		}
	}
	if (more)
		sk_note(linker->diag, "and %u more", more);
}

/* ---- suggestions ---- */

/* Return all names that the symbol may be a misspelling of. */
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

/* Return whether one or two modes fill the text: that of the result, after the one that is converted. */
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

/* Return whether a linker, or crt1.o, defines the name in programs, but not in shared objects. */
static bool exists_in_programs_only(const char *name)
{
	static const char *const names[] = {"__rela_iplt_start", "__rela_iplt_end", "__data_start", "data_start",
					    "_start"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* Return whether libstdc++.a needs it for std::locale, and so for each stream. */
static bool serves_locales(const char *name)
{
	static const char *const names[] = {"__newlocale", "__freelocale",    "__duplocale", "__uselocale",
					    "__strtof_l",  "__strtod_l",      "strtold_l",   "__strcoll_l",
					    "__strxfrm_l", "__nl_langinfo_l", "__wcscoll_l", "__wcsxfrm_l"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* Return the import that headers of another version call by this name, or NULL: "__isoc23_strtol", which also reads
 * numbers in base 2 that begin with 0b; "__exp_finite", which need not handle infinities. */
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

/* Return a hint if the name is an import with another version ("memcpy@GLIBC_2.2.5", from .symver), or NULL. */
static const char *version_hint(struct sk_linker *linker, const char *name)
{
	const char *at = strchr(name, '@');
	uint32_t number = at ? sk_map_find(&linker->symbol_numbers, name, (size_t)(at - name)) : SK_NONE;
	const struct sk_import *import = number != SK_NONE ? linker->symbols.items[number].import : NULL;

	return import ? sk_arena_print(linker->arena,
				       "; packages import %s of the version %s, which --defsym=%s=%s takes instead",
				       import->name, import->version, name, import->name)
		      : NULL;
}

/* Return advice about panics in the first object that uses the symbol, or NULL. */
static const char *advice_of_user(const struct sk_linker *linker, const struct sk_linker_symbol *symbol)
{
	const struct sk_object *object =
		symbol->first_user == SK_NONE ? NULL : linker->users.items[symbol->first_user].section->object;

	return object ? sk_panic_advice(object) : NULL;
}

/* Return a hint for a special name, or NULL. */
static const char *special_hint(struct sk_linker *linker, sk_symbol number)
{
	const struct sk_linker_symbol *symbol = &linker->symbols.items[number];
	const char *plain = renamed_import(linker, symbol->name);

	if (sk_is_library_data(symbol->name))
		return "; it is data of the C library that cannot be imported: recompile without it";
	if (sk_is_thread_destructor(linker, number))
		return "; it serves destructors of thread-local objects, which a package cannot have: libskrt's "
		       "threads outlive it";
	if (!strcmp(symbol->name, "atexit"))
		return "; it comes with each program and library: add libc_nonshared.a ('gcc "
		       "-print-file-name=libc_nonshared.a' prints its path)";
	if (!strcmp(symbol->name, "syscall"))
		return "; it can make any system call, so it cannot be imported: where it only waits for another "
		       "thread, as in libstdc++.a, --defsym=syscall=sched_yield does as well";
	if (sk_is_barrier(symbol->name))
		return sk_arena_print(linker->arena,
				      "; in it threads wait for one another, but blocks run in any order, even one "
				      "after the other: use a kernel without it or, if no kernel calls it, let "
				      "calls end the launch: --defsym=%s=abort",
				      symbol->name);
	if (symbol->import)
		return "; it is declared hidden, so it cannot come from the C library";
	if (exists_in_programs_only(symbol->name))
		return "; linkers define it in programs only, and a package is a shared object";
	if (plain)
		return sk_arena_print(
			linker->arena,
			"; headers of another version use it for '%s', which is an import: --defsym=%s=%s", plain,
			symbol->name, plain);
	if (sk_starts_with(symbol->name, "_Unwind_") && advice_of_user(linker, symbol))
		return sk_arena_print(linker->arena, "; %s", advice_of_user(linker, symbol));
	if (sk_starts_with(symbol->name, "_Unwind_"))
		return "; it is of the compiler's unwinder, which exceptions need: add libgcc_eh.a ('gcc "
		       "-print-file-name=libgcc_eh.a' prints its path)";
	if (sk_starts_with(symbol->name, "_gfortran_"))
		return "; it is of GNU Fortran's library: -lskcompat has matmul and the errors, libgfortran.a "
		       "('gfortran "
		       "-print-file-name=libgfortran.a' prints its path) the rest";
	if (serves_locales(symbol->name))
		return "; it serves the locales that streams of libstdc++ set up when a package is loaded, and cannot "
		       "be imported: print with printf";
	if (strchr(symbol->name, '@'))
		return version_hint(linker, symbol->name);
	if (is_compilers_helper(symbol->name))
		return "; it is a helper of the compiler's own library: add libgcc.a ('gcc "
		       "-print-libgcc-file-name' prints its path)";
	if (sk_trap_is_wanted(linker, number))
		return "; no trap can serve this use: a table of constructors, a distance from the thread pointer, or "
		       "-u needs it";
	return NULL;
}

/* Return a hint with similar names, or "". */
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
	const char *shown = near ? sk_demangled(linker, near) : "";

	if (near && !strcmp(shown, sk_demangled(linker, symbol->name))) /* constructors of a base, and of all */
		shown = near;
	return near ? sk_arena_print(linker->arena, "; did you mean '%s'?", shown) : "";
}

/* ---- messages ---- */

/* Advice, which is the same for all symbols that are not `special`, and for all of Rust's library. */
struct advice {
	bool given, given_of_rust;
};

static void give_advice(struct sk_linker *linker, const struct sk_input_section *section, bool special,
			struct advice *advice)
{
	if (section && sk_is_of_rust(section->object)) {
		if (!advice->given_of_rust)
			sk_note(linker->diag, "Rust's standard library needs it for files, threads or the like: do "
					      "without these or, if no call gets there, let uses end the launch "
					      "(--unresolved-symbols=trap)");
		advice->given_of_rust = true;
	} else if (!special) {
		if (!advice->given)
			sk_note(linker->diag, "no input defines it, and it is not an import ('skdump --imports' lists "
					      "these): add an archive that has it, let --defsym name another "
					      "function, or let calls of it end the launch "
					      "(--unresolved-symbols=trap)");
		advice->given = true;
	}
}

static void report_missing(struct sk_linker *linker)
{
	const char *const *names = NULL;
	size_t count = 0;
	struct advice advice = {false, false};

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
		give_advice(linker, section, special, &advice);
	}
}

/* --warn-unresolved-symbols */
static void warn_of_traps(struct sk_linker *linker)
{
	for (size_t i = 0; linker->options.warn_unresolved && i < linker->trapped.count; i++) {
		const struct sk_linker_symbol *symbol = &linker->symbols.items[linker->trapped.items[i].symbol];

		if (symbol->missing)
			continue;
		sk_warning(linker->diag, (struct sk_place){0}, "undefined symbol: %s; a %s of it ends the launch",
			   symbol->name, symbol->guard ? "use" : "call");
		list_users(linker, symbol, i < MAXIMUM_WITH_FUNCTIONS);
	}
}

void sk_undefined_report(struct sk_linker *linker)
{
	report_missing(linker);
	warn_of_traps(linker);
}
