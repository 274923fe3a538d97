/* What users are told about a link. */
#ifndef SK_LINKER_TEXTS_H
#define SK_LINKER_TEXTS_H

#include "linker/output.h"

struct sk_linker;
struct sk_object;

/* ---- texts.c ---- */

/* A line for the caller, if it wants any. */
#define SK_PRINT(linker, ...)                                                                                          \
	((linker)->options.print ? (linker)->options.print((linker)->options.print_context,                            \
							   sk_arena_print((linker)->arena, __VA_ARGS__))               \
				 : (void)0)

/* The object has been pulled; its sections have been collected or not. */
void sk_print_object(struct sk_linker *linker, const struct sk_object *object);
void sk_print_collected(struct sk_linker *linker);

/* --why-extract, in lld's form. */
sk_bytes sk_extractions_text(struct sk_linker *linker);

/* Texts of the map and the dependencies of `output`. */
sk_bytes sk_map_text(struct sk_linker *linker);
sk_bytes sk_dependencies_text(struct sk_linker *linker, const char *output);

/* ---- why-live.c ---- */

/* How a section that is live was found. */
struct sk_finding {
	const char *root; /* why it is needed whoever refers to it; NULL: */
	uint32_t from; /* the number of the section whose code or unwind information refers to it */
	const struct sk_input_section *section; /* where that reference stands, */
	uint64_t offset; /* and at which offset */
};

/* All live sections, in the order in which they were found; the findings only if somebody asks. */
struct sk_found {
	SK_ARRAY(struct sk_input_section *) sections;
	SK_ARRAY(struct sk_finding) findings;
};

/* For each symbol that somebody asks about, why its section is part of the image. */
void sk_print_reasons(struct sk_linker *linker, const struct sk_found *found);

/* ---- cref.c ---- */

/* The lines of the cross reference table. */
sk_texts sk_cross_references(struct sk_linker *linker);

/* ---- kernels.c ---- */

/* Adds to the message added last through which kernel the section is part of the image, if through any. */
void sk_note_kernel(struct sk_linker *linker, const struct sk_input_section *section);

/* An object of the input (SK_NONE: of any) that has a local function of this name, or NULL. For messages: it looks at
 * every local symbol. */
const struct sk_object *sk_find_local_function(const struct sk_linker *linker, uint32_t input, const char *name);

#endif
