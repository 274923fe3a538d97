/* The reader of .sk.dims, evaluation of its values, and plans of one size. */
#ifndef SK_FORMAT_PLAN_DIMS_H
#define SK_FORMAT_PLAN_DIMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/skdims.h"

struct sk_plan_call;
struct sk_plan_view;

struct sk_dims_view {
	const struct sk_dims *dims; /* NULL: the package is static, and all counts are 0 */
	const struct sk_dims_dimension *dimensions;
	const struct sk_dims_value *values;
	const struct sk_dims_field *fields;
	const struct sk_dims_slot *slots;
	uint32_t dimension_count, value_count, field_count, slot_count;
	uint64_t *most; /* by value: at the largest sizes; owned by the view */
	uint32_t first_field[SK_DIMS_TABLE_COUNT + 1]; /* the fields of a table are from here to the next one's */
};

/* Check the whole section against an open plan, and fill the view: bounds, order, operands, overflow at the largest
 * sizes; each field is one that may vary (format/skdims.h), inside its table, and its record has the value's maximum.
 * Tell the plan's view the number of slots, which checks of launches need. The bytes must be aligned to 8 and outlive
 * the view, which sk_dims_close releases. Errors are text in the caller's buffer: "sizes: field 3: record 17 is out of
 * range (12 steps)". */
bool sk_dims_open(const void *bytes, size_t size, struct sk_plan_view *plan, struct sk_dims_view *dims, char *error,
		  size_t error_size);
void sk_dims_close(struct sk_dims_view *dims);

/* Return the dimension of that name in the network ("" if there is one); SK_NO_INDEX: none. */
uint32_t sk_dims_find(const struct sk_dims_view *dims, const char *network, const char *name);

/* True if the dimension takes the size. */
bool sk_dims_takes(const struct sk_dims_dimension *dimension, uint64_t size);

/* Write "seq is 513; package 'm.sk' takes 1..512" for a size that the dimension does not take. */
void sk_dims_refusal_text(const struct sk_dims_dimension *dimension, uint64_t size, const char *package, char *text,
			  size_t text_size);

/* Write the names of the network's dimensions, "batch, seq"; network NULL: of all networks, as "network:seq". */
void sk_dims_names_text(const struct sk_dims_view *dims, const char *network, char *text, size_t text_size);

enum { SK_DIMS_TEXT_SIZE = 1024 }; /* room for texts about a network's dimensions; longer ones end with "…" */

/* Write "batch=2, seq=37": the sizes, by dimension, of the network's dimensions; network NULL: of all networks. Without
 * such a dimension the text is empty. */
void sk_dims_sizes_text(const struct sk_dims_view *dims, const char *network, const uint64_t *sizes, char *text,
			size_t text_size);

struct sk_dims_size {
	uint32_t dimension;
	uint64_t size;
};

/* Read "seq=37" or "network:seq=37", the text of an option --dim, for a dimension of the network (NULL: of any one).
 * False, with an error that names the package: it is not that, or the dimension does not take the size. */
bool sk_dims_read_size(const struct sk_dims_view *dims, const char *network, const char *package, const char *text,
		       struct sk_dims_size *size, char *error, size_t error_size);

/* True if the value is computed from the dimension. False also without memory. */
bool sk_dims_depends(const struct sk_dims_view *dims, uint32_t value, uint32_t dimension);

/* Evaluate all values for sizes of all dimensions, which the dimensions must take. */
void sk_dims_evaluate(const struct sk_dims_view *dims, const uint64_t *sizes, uint64_t *values);

/* Return the value of a field, by table, record and offset in the record; SK_NO_INDEX: it has the record's number at
 * all sizes. In logarithmic time. */
uint32_t sk_dims_value_of(const struct sk_dims_view *dims, enum sk_dims_table table, uint32_t record, size_t offset);

/* The same for a field of an argument of a call: in a plan with lists it is that of the list's record, and then the
 * offset of an operand is relative to its tensor. */
uint32_t sk_dims_argument_value(const struct sk_dims_view *dims, const struct sk_plan_view *plan,
				const struct sk_plan_call *call, uint32_t argument, size_t offset);

/* Return the fields of a record, which are consecutive; none: NULL. In logarithmic time. */
const struct sk_dims_field *sk_dims_fields_of(const struct sk_dims_view *dims, enum sk_dims_table table,
					      uint32_t record, uint32_t *count);

/* Return the slot of a value; SK_NO_INDEX: code does not read it. */
uint32_t sk_dims_slot_of(const struct sk_dims_view *dims, uint32_t value);

/* Copy a plan for sizes of all dimensions. The whole plan must have been checked (sk_plan_check_all). Unlike plans of
 * packages, such a plan may have steps, loops and partitions with an extent of 0, and arguments of 0 bytes: their calls
 * are not made. Its references to code and constants are not valid. Release the copy with sk_plan_close. No memory:
 * false. */
bool sk_dims_concretise(const struct sk_dims_view *dims, const struct sk_plan_view *plan, const uint64_t *sizes,
			struct sk_plan_view *concrete);

/* Write an expression such as "512*batch*seq" for a value into the buffer. Names are those of --dim: in double
 * quotes if they would be read as something else, and in a package of several networks "network:seq", in quotes, too. A
 * text that is longer than the buffer ends with "…". */
void sk_dims_value_text(const struct sk_dims_view *dims, uint32_t value, char *text, size_t text_size);

#endif
