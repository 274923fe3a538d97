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

/* Texts of the map and the dependencies of `output`. */
sk_bytes sk_map_text(struct sk_linker *linker);
sk_bytes sk_dependencies_text(struct sk_linker *linker, const char *output);

/* ---- cref.c ---- */

/* The lines of the cross reference table. */
sk_lines sk_cross_references(struct sk_linker *linker);

/* ---- kernels.c ---- */

/* Adds to the message added last through which kernel the section is part of the image, if through any. */
void sk_note_kernel(struct sk_linker *linker, const struct sk_input_section *section);

/* An object of the input (SK_NONE: of any) that has a local function of this name, or NULL. For messages: it looks at
 * every local symbol. */
const struct sk_object *sk_find_local_function(const struct sk_linker *linker, uint32_t input, const char *name);

#endif
