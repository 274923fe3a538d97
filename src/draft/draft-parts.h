/* Shared by the files of this room. */
#ifndef SK_SRC_DRAFT_DRAFT_PARTS_H
#define SK_SRC_DRAFT_DRAFT_PARTS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
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

/* Write the draft of a function. */
struct sk_draft sk_draft_function(struct sk_arena *arena, Dwarf_Die *function);

#endif
