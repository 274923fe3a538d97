/* Names and what they mean: the linker's symbol table, the definitions that there are of each symbol, and the one that
 * counts. */
#ifndef SK_LINKER_SYMBOL_H
#define SK_LINKER_SYMBOL_H

#include "format/import-row.h"
#include "linker/object.h"

struct sk_linker;

/* An entry of the linker's symbol table: a global name, or a synthetic local symbol. */
struct sk_linker_symbol {
	const char *name; /* NULL: only a handle */
	uint32_t name_length;
	uint32_t first_definition, last_definition; /* in linker->definitions: all that there are, pulled or not */
	/* The definition that counts. */
	struct sk_object *object; /* NULL: none, or synthetic */
	uint32_t index; /* in the object's symbol table */
	struct sk_input_section *section; /* NULL: absolute, or none */
	uint64_t value, size; /* offset in the section, or absolute value; alignment of a common symbol */
	uint8_t rank; /* enum sk_definition_rank */
	uint8_t type; /* STT_… */
	uint8_t visibility; /* the most constraining one seen */
	bool wanted; /* a pulled object needs it, not weakly */
	bool local; /* synthetic and not exported, or an object's own */
	bool traced;
	bool exported;
	bool collected; /* ahead of the link: what it means is code or data in a section that is live */
	uint16_t version; /* of an exported one, in .gnu.version; 0: none, which is written as VER_NDX_GLOBAL */
	bool missing; /* undefined, which is an error */
	bool trap; /* undefined, and calls of it lead to a trap: the one of number `stub` */
	bool thread_local; /* with -r: undefined, and referred to as a thread-local variable */
	bool needed; /* undefined, and a reference that stays is not weak */
	sk_symbol alias; /* the symbol that this one stands for, or SK_NONE */
	const struct sk_import *import; /* what it is if nobody defines it, or NULL */
	uint32_t slot, stub; /* GOT slot; PLT stub, or of data the slot that stands for it; or SK_NONE */
	uint32_t dynamic_index; /* in .dynsym; with -r: of an undefined symbol, among those that stay, from 1 */
	const struct sk_object *wanted_by; /* the first that needs it; NULL: the command line */
	uint32_t first_user, last_user; /* if undefined: in linker->users */
};

/* Of two definitions the higher rank wins. */
enum sk_definition_rank {
	SK_DEFINITION_NONE,
	SK_DEFINITION_PROVIDED, /* by the linker, unless somebody else has one */
	SK_DEFINITION_WEAK,
	SK_DEFINITION_COMMON,
	SK_DEFINITION_STRONG,
	SK_DEFINITION_ASSIGNED, /* by the command line */
};

struct sk_definition {
	uint32_t object, index; /* the symbol's number in the object */
	uint32_t next;
};

/* A local function that may be a kernel. */
struct sk_local_function {
	uint32_t object, index; /* the symbol's number in the object */
	sk_symbol symbol; /* that stands for it; SK_NONE: nobody wants it */
	/* Of the first one with its name in the input, or in the member: how many there are. */
	uint32_t of_name, of_member;
};

/* Which function an IFUNC is, as the command line says. */
struct sk_ifunc_choice {
	const char *text; /* as written */
	const char *function; /* in it */
	bool used; /* there is such an IFUNC */
};

/* Where an undefined symbol is used. */
struct sk_user {
	const struct sk_input_section *section;
	uint64_t offset;
	uint32_t next;
};

/* ---- symbols.c ---- */

sk_symbol sk_symbol_intern(struct sk_linker *linker, const char *name, size_t length);
/* A symbol that is not found by its name. */
sk_symbol sk_symbol_add(struct sk_linker *linker, const char *name, size_t length);

enum sk_definition_rank sk_definition_rank(const sk_elf_symbol *symbol);
void sk_symbol_add_definition(struct sk_linker *linker, sk_symbol symbol, uint32_t object, uint32_t index);

/* Defines the symbol at the start of the section unless an object does. */
void sk_symbol_provide(struct sk_linker *linker, sk_symbol symbol, struct sk_input_section *section);

/* A definition by the linker or its caller. */
void sk_symbol_define(struct sk_linker *linker, sk_symbol symbol, struct sk_input_section *section, uint64_t value,
		      uint64_t size, uint8_t type);

/* An object needs the symbol; NULL: the command line. */
void sk_symbol_want(struct sk_linker *linker, sk_symbol symbol, const struct sk_object *by);

/* What a symbol says of its size may be too much: as many of these bytes from the value on as the section has. */
uint64_t sk_size_within(const struct sk_input_section *section, uint64_t value, uint64_t size);

/* The symbol for a definition of this name in one object: another one, if objects are isolated. */
sk_symbol sk_isolated_symbol(struct sk_linker *linker, sk_symbol name);

/* ---- versioned.c ---- */

/* The name that a reference means: an import's own, if its version stands behind it. */
const char *sk_version_reference(const struct sk_linker *linker, const char *name);

/* An object's definition has been entered as that symbol: with its default version it is that, too. */
void sk_version_define(struct sk_linker *linker, const struct sk_object *object, uint32_t index, sk_symbol symbol);

/* An error for each reference to foo@V2 that would get a definition of foo without that version. */
bool sk_versions_hold(struct sk_linker *linker);

/* An error if a definition of an object that takes part has a version that is not the default and that nobody defines.
 */
void sk_version_check(struct sk_linker *linker, const struct sk_object *object, uint32_t index);

/* The version that the symbol's definition says, in .gnu.version; 0: none, or one that the version script does not
 * define. */
uint16_t sk_version_own(const struct sk_linker *linker, sk_symbol symbol);

/* ---- functions.c ---- */

/* Why the symbol cannot be called as a kernel, or NULL. */
const char *sk_why_not_kernel(const struct sk_object *object, uint32_t index);

/* The local function of this name in the input (or the member) that is meant. NULL: there is none, or several, which is
 * an error. */
struct sk_local_function *sk_find_local_kernel(struct sk_linker *linker, struct sk_lookup where, const char *name);

/* A symbol for a local symbol of an object that has been pulled. */
sk_symbol sk_local_symbol(struct sk_linker *linker, struct sk_object *object, uint32_t index);

/* The symbol for the function, whose object has been pulled. */
sk_symbol sk_local_function_symbol(struct sk_linker *linker, struct sk_local_function *function);

/* ---- resolve.c ---- */

/* The object takes part in the link from now on. */
bool sk_object_pull(struct sk_linker *linker, struct sk_object *object);

/* The same of what defines a symbol that somebody needs, whose name is for --why-extract. */
bool sk_object_extract(struct sk_linker *linker, struct sk_object *object, const char *symbol, const char *needed_by);

/* Pulls members until nothing more is wanted. */
bool sk_symbols_resolve(struct sk_linker *linker);

/* ---- aliases.c ---- */

/* The symbol that an undefined reference to this name means. */
sk_symbol sk_alias_reference(struct sk_linker *linker, const char *name);

/* ---- ifuncs.c ---- */

/* Whether the command line says which function an IFUNC of this name is. */
bool sk_ifunc_is_chosen(const struct sk_linker *linker, const char *name);

/* The symbol, whose definition is an IFUNC of an object that has been pulled, becomes an alias of the chosen function,
 * if there is one. Symbols can move. */
void sk_ifunc_choose(struct sk_linker *linker, sk_symbol symbol);

/* Adds to the message added last which functions the IFUNC's resolver takes the addresses of. The object is loaded. */
void sk_ifunc_note_choices(struct sk_linker *linker, const struct sk_object *object, uint32_t index);

/* ---- imports.c ---- */

/* The names of the rows mean them, unless somebody defines them. */
void sk_imports_enter(struct sk_linker *linker, const struct sk_import_list *list);

/* True for functions in which threads wait for one another. */
bool sk_is_barrier(const char *name);

/* True for objects of the C library that kernels are known to use and that a package cannot import. */
bool sk_is_library_data(const char *name);

#endif
