/* Shared by the files of this room. */
#ifndef SK_SRC_DRAFT_DRAFT_PARTS_H
#define SK_SRC_DRAFT_DRAFT_PARTS_H

#include <elfutils/libdw.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/skplan.h"

struct sk_arena;

/* ==== draft-types.c ====
 *
 * Parameters from debug information (DWARF 2 to 5). */

/* A parameter as the debug information describes it. */
struct sk_draft_parameter {
	const char *name; /* an identifier that signatures may have */
	enum sk_dtype dtype; /* of the value, or of the elements; SK_DTYPE_NONE: signatures have no such parameter … */
	const char *type; /* … and this is its type, printable */
	bool tensor;
	bool constant; /* the function does not write to it */
	bool by_reference; /* the address of a scalar */
	bool descriptor; /* the address of gfortran's descriptor of an array */
	bool slice; /* of Rust: the address and the length */
	uint32_t rank;
	uint64_t extents[SK_MAX_RANK]; /* 0: unknown */
};

/* Describe the type of a parameter, or of the result of a function (void: no tensor, SK_DTYPE_NONE, no type). */
void sk_draft_describe(struct sk_arena *arena, Dwarf_Die *die, struct sk_draft_parameter *parameter);

/* ==== draft-function.c ====
 *
 * Signatures of functions with debug information. */

/* A draft of a signature. */
struct sk_draft {
	const char *signature;
	sk_texts notes; /* each a line about a fact that is not known */
	bool usable; /* false: the signature has placeholders, which the notes name */
};

/* Return a parameter's name as signatures can have it: an identifier that is not a word of their grammar, and p1, p2 …
 * by its number from 0 if it has no name. */
const char *sk_draft_name(struct sk_arena *arena, const char *name, size_t number);

/* Write the draft of a function. */
struct sk_draft sk_draft_function(struct sk_arena *arena, Dwarf_Die *function);

/* ==== draft-object.c ====
 *
 * Contents of an object as it will be when it is linked: addresses in its data are followed by their relocations. The
 * object may be damaged. */

/* A place in a section. */
struct sk_draft_place {
	size_t section; /* 0: none */
	uint64_t offset;
};

struct sk_draft_symbol {
	const char *name;
	struct sk_draft_place place; /* of the definition */
	uint64_t size;
	uint8_t type, binding; /* STT_…, STB_… */
};

struct sk_draft_object {
	Elf *elf;
	SK_ARRAY(struct sk_draft_symbol) symbols; /* those that are defined */
	struct sk_map names; /* the first symbol of each name */
};

/* Read the symbols of a relocatable object. Return false if it is another kind of file. */
bool sk_draft_open(struct sk_arena *arena, Elf *elf, struct sk_draft_object *object);

/* Find a symbol by its name or by its place; NULL: there is none. */
const struct sk_draft_symbol *sk_draft_find(const struct sk_draft_object *object, const char *name);
const struct sk_draft_symbol *sk_draft_function_at(const struct sk_draft_object *object, struct sk_draft_place place);

/* Return this number of bytes at the place, or NULL if the section ends before. */
const uint8_t *sk_draft_bytes(const struct sk_draft_object *object, struct sk_draft_place place, uint64_t size);

/* Return the number at the place, of 1 to 8 bytes; 0 if there is none. */
uint64_t sk_draft_number(const struct sk_draft_object *object, struct sk_draft_place place, uint64_t bytes);

/* Return the text at the place, or NULL if no zero ends it. */
const char *sk_draft_text(const struct sk_draft_object *object, struct sk_draft_place place);

/* Return the place that the relocation at a place means: that of an address, or of code relative to itself. */
struct sk_draft_place sk_draft_follow(const struct sk_draft_object *object, struct sk_draft_place place);

/* ==== draft-compilers.c ====
 *
 * Functions of compilers that leave their parameters in objects: TVM, IREE, Halide, Numba. */

struct sk_draft_entry {
	const char *name; /* an identifier: for the table */
	const char *symbol;
	bool local; /* the kernel needs `object` */
	struct sk_draft draft;
};

typedef SK_ARRAY(struct sk_draft_entry) sk_draft_entries;

/* Append the drafts of the object's functions. */
void sk_draft_of_compilers(struct sk_arena *arena, Elf *elf, sk_draft_entries *entries);

#endif
