/* Expressions in signatures: what a value is, where it does not come from the task. */
#ifndef SK_SIGNATURE_EXPRESSIONS_H
#define SK_SIGNATURE_EXPRESSIONS_H

#include "format/signature/signature-tokens.h"
#include "format/signature/signature.h"

/* The expression at the cursor, for a value of that type (pointer: an address) that parameter number `parameter` or a
 * part of it has. False after an error. Names are looked up later (sk_signature_resolve_expressions). */
bool sk_signature_parse_value(struct sk_signature_parser *parser, enum sk_dtype dtype, bool pointer, uint32_t parameter,
			      const struct sk_value_expression **value);

/* The same for a number of something, which is fixed when linking: a number, extents, and their arithmetic. `of` says
 * for messages what it is a number of. */
bool sk_signature_parse_count(struct sk_signature_parser *parser, const char *of,
			      const struct sk_value_expression **value);

#endif
