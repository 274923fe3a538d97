/* Signatures: how to call a function that is already compiled. One parser for both places where a signature can stand,
 * in an object and in the manifest. The grammar is in doc/signatures.md. */
#ifndef SK_SIGNATURE_PARSER_H
#define SK_SIGNATURE_PARSER_H

#include "base/arena.h"
#include "base/diag.h"
#include "format/signature/signature.h"

/* Parses and checks all that concerns one signature alone. NULL after errors; they name the column within the
 * signature. place is where the first character of the text stands: in a text file, the column is added to it; in an
 * object (a place with a section or without a line) it is taken as it is. The text is copied. */
const struct sk_signature *sk_signature_parse(struct sk_arena *arena, struct sk_diag *diag, struct sk_place place,
					      const char *text);

/* The same for text whose characters do not stand in the file as they are (folded over lines, escaped): the place is
 * taken as it is. */
const struct sk_signature *sk_signature_parse_folded(struct sk_arena *arena, struct sk_diag *diag,
						     struct sk_place place, const char *text);

/* What a text says behind op=, found without parsing it: *length characters. NULL: the text has none or several, so
 * that only parsing tells. */
const char *sk_signature_glance_op(const char *text, size_t *length);

/* How many operands the open table of a signature can have. */
uint32_t sk_signature_most_operands(const struct sk_signature *signature);

/* The signature that the one with an open table is for so many operands, which that can have. It is made once; NULL,
 * with an error, if its text is too long then. */
const struct sk_signature *sk_signature_of_operands(struct sk_arena *arena, struct sk_diag *diag, struct sk_place place,
						    const struct sk_signature *open, uint32_t operands);

/* The names of all element types, for messages. */
void sk_dtype_names(const char *names[SK_DTYPE_COUNT - 1]);

/* The index of a parameter or an extent by name, or SK_NONE. The result is not among the parameters. */
uint32_t sk_signature_find_parameter(const struct sk_signature *signature, const char *name);
uint32_t sk_signature_find_extent(const struct sk_signature *signature, const char *name);

/* True if the tensor parameter has the extent in any dimension. */
bool sk_parameter_has_extent(const struct sk_parameter *parameter, uint32_t extent);

/* The dimension of the tensor parameter that starts with the extent; SK_NONE: there is none. */
uint32_t sk_parameter_dimension_of(const struct sk_parameter *parameter, uint32_t extent);

/* True if calls get a part of the extent. */
bool sk_signature_divides(const struct sk_signature *signature, uint32_t extent);

/* True of what nobody calls by its name: blocks, structs that are no tables of operands, elements behind the first one
 * of an array, and fields that the signature alone says something of. Names of such fields may be equal, as they are in
 * structs of the same type. */
bool sk_parameter_is_nameless(const struct sk_parameter *parameter);

/* True if the first dimension of the tensor parameter starts with this extent: whoever gets a range of it gets one
 * contiguous piece of the tensor. */
bool sk_parameter_is_divided_by(const struct sk_parameter *parameter, uint32_t extent);

#endif
