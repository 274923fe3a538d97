/* Signatures, which describe how to call a compiled function; attributes; conversion of numbers to the bits of a
 * type. */
#ifndef SK_FORMAT_SIGNATURE_SIGNATURE_H
#define SK_FORMAT_SIGNATURE_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/map.h"
#include "format/skplan.h"

struct sk_arena;

/* ==== attribute.c ====
 *
 * Attributes of a node of a graph, or of a task with an operator, in addition to operands: `axis`, `pads`. */

enum sk_attribute_kind {
	SK_ATTRIBUTE_INTEGER,
	SK_ATTRIBUTE_REAL,
	SK_ATTRIBUTE_STRING,
	SK_ATTRIBUTE_INTEGERS, /* lists, which may be empty */
	SK_ATTRIBUTE_REALS,
	SK_ATTRIBUTE_STRINGS,
};

/* The word for the default value of an attribute. */
#define SK_ATTRIBUTE_DEFAULT "same"

struct sk_attribute {
	const char *name;
	struct sk_place place;
	enum sk_attribute_kind kind;
	int64_t integer;
	double real;
	const char *string; /* NUL-terminated; may have any other bytes */
	const int64_t *integers;
	const double *reals;
	const char *const *strings;
	size_t count; /* of a list */
};

/* True if the attribute is an integer, or a real number with an integral value. */
bool sk_attribute_integer(const struct sk_attribute *attribute, int64_t *integer);

/* True if both have the same value. Numbers are compared by value, real ones in 32 bits. */
bool sk_attribute_same(const struct sk_attribute *one, const struct sk_attribute *other);

/* Return "1", "linear", "[0, 1]", in the arena, for messages; long texts end with "…". */
const char *sk_attribute_text(struct sk_arena *arena, const struct sk_attribute *attribute);

/* Return the attribute of that name, or NULL. */
const struct sk_attribute *sk_attribute_find(const struct sk_attribute *attributes, size_t count, const char *name);

/* ==== signature ====
 *
 * Signatures: how a kernel is called. Names of extents are stored once, and referred to by index. */

enum { SK_MAX_FACTORS = 4, SK_MAX_PARAMETERS = 128, SK_MAX_AXES = 3, SK_MAX_ATTRIBUTES = 32 };

/* A dimension of a parameter: a product of names, or an integer, or a sum of these that begins with a name. */
struct sk_extent {
	uint64_t constant; /* the integer; 1 if there are only names */
	uint32_t names[SK_MAX_FACTORS]; /* indices into the signature's extents */
	uint32_t name_count;
	const struct sk_extent *more; /* the rest of the sum; NULL: none */
	bool subtracted; /* in the rest of a sum: this product is */
};

enum sk_value_kind {
	SK_VALUE_NUMBER,
	SK_VALUE_REAL, /* of a float: only as a whole value */
	SK_VALUE_NULL, /* of a pointer: only as a whole value … */
	SK_VALUE_SYMBOL, /* … likewise the address of a symbol */
	SK_VALUE_ATTRIBUTE, /* of the task: an integer; as a whole value also a real number, or the address of a list */
	SK_VALUE_EXTENT, /* the whole extent, even if it is divided */
	SK_VALUE_BEGIN, /* of a divided extent, the call's part: its first element … */
	SK_VALUE_END, /* … the element after its last one … */
	SK_VALUE_SIZE, /* … and the number of its elements */
	SK_VALUE_SIZEOF, /* bytes of a parameter */
	SK_VALUE_OPERANDS, /* the number of operands of a table; a NUMBER, once that is known */
	SK_VALUE_BLOCK_INDEX,
	SK_VALUE_BLOCK_COUNT,
	SK_VALUE_ADD,
	SK_VALUE_SUBTRACT,
	SK_VALUE_MULTIPLY,
	SK_VALUE_DIVIDE,
};

/* The expression of a value: `4*size(n)`. */
struct sk_value_expression {
	enum sk_value_kind kind;
	const struct sk_value_expression *left, *right; /* ADD, SUBTRACT, MULTIPLY, DIVIDE; ATTRIBUTE: left is the
							   default, or NULL */
	uint64_t number; /* NUMBER; REAL: the bits in the type of the value */
	const char *name; /* SYMBOL, and names as written; REAL: the number, with its sign */
	uint32_t index; /* EXTENT, BEGIN, END, SIZE: of the extent; SIZEOF: of the parameter; SYMBOL: in `symbols` */
	uint32_t axis; /* BLOCK_INDEX, BLOCK_COUNT: 0, 1, 2 for .x, .y, .z; else SK_NONE */
	const char *text; /* the whole expression as written; NULL for parts of others */
};

enum sk_parameter_kind {
	SK_PARAMETER_TENSOR, /* pointer */
	SK_PARAMETER_SCALAR, /* by value, or by reference */
	SK_PARAMETER_BLOCK,
	SK_PARAMETER_SCRATCH,
	SK_PARAMETER_STRUCT, /* a struct, or a pointer to it, that is made before each call; its fields follow it */
};

struct sk_parameter {
	enum sk_parameter_kind kind;
	const char *name; /* NULL for BLOCK */
	enum sk_dtype dtype;
	enum sk_access access; /* TENSOR */
	uint32_t alias_of; /* TENSOR y@x: the parameter x that y may be identical to; else SK_NONE */
	bool whole; /* TENSOR: divided, but passed whole: the function finds its part by itself */
	bool optional; /* TENSOR: "in?", "out?": may be absent; then a null pointer is passed */
	uint32_t rank; /* TENSOR */
	struct sk_extent extents[SK_MAX_RANK];
	uint32_t row_dimension; /* TENSOR: the elements of this dimension and the later ones are a row … */
	uint32_t stride; /* … and rows are this many elements apart: index into the extents; SK_NONE: no gaps */
	uint64_t over_read; /* TENSOR: bytes after it that may be read, but are not used */
	int32_t displacement; /* TENSOR: bytes that are added to its address when it is passed; 0: none */
	bool by_reference; /* SCALAR: "ref" */
	bool pointer; /* SCALAR: an address, "ptr"; its dtype is U64 */
	const struct sk_value_expression *value; /* SCALAR: after '='; NULL: none */
	uint64_t scratch_bytes; /* SCRATCH, STRUCT; 0: see scratch_count */
	const struct sk_value_expression *scratch_count; /* SCRATCH: elements of the dtype (NONE: bytes), or NULL */
	bool by_value; /* STRUCT: passed itself; the bits mark its parts of 8 bytes that hold only floats: */
	uint64_t float_parts;
	uint32_t owner; /* of a field: its STRUCT; else SK_NONE */
	uint64_t offset; /* of a field: bytes from the struct's start */
	uint64_t elements; /* of a field, SCALAR: the length of the array of equal values that it begins; 0: not an
			      array */
	bool repeated; /* of a field: a later element, with the name and the value of the first one */
	uint32_t operands; /* STRUCT: the number of tensors "x[0]", "x[1]" … of one kind in "in x[2]" or "in x[]", which
			      are its fields; else 0 */
	uint32_t first_operand; /* TENSOR: the first one of its table; else SK_NONE */
	/* If a STRUCT's only field is a table: the number of addresses, and the distance of one to the next in bytes
	 * (NULL: the tensor's bytes divided by the number). NULL: one address. */
	const struct sk_value_expression *table_count, *table_stride;
};

/* SPLIT: the function computes up to `tile` elements of the extent at once, and is called for each tile. */
struct sk_signature_loop {
	uint32_t extent;
	uint64_t tile; /* 1: each= */
};

enum sk_lane_kind { SK_LANE_ANY, SK_LANE_CUBE, SK_LANE_VECTOR, SK_LANE_MIX };

struct sk_signature {
	const char *text; /* normalised: one space where the grammar has space, no others */
	const char *frame; /* frame=NAME; NULL: none */
	enum sk_lane_kind lane;
	enum sk_step_kind spread; /* PLAIN, BLOCKS, BLOCKS_RANGE, SPLIT */
	uint32_t spread_extent; /* SPLIT, BLOCKS_RANGE: index into extents; else SK_NONE */
	const struct sk_value_expression *grid[SK_MAX_AXES]; /* BLOCKS: their numbers along x, y, z; NULL: the remaining
								blocks */
	uint32_t grid_rank; /* 0: the task determines the number of blocks */
	const struct sk_value_expression *operations; /* arithmetic operations of a whole task; NULL: unknown */
	struct sk_signature_loop loops[SK_MAX_LOOPS]; /* the first one covers spread_extent */
	uint32_t loop_count;
	uint64_t unit; /* split=NAME:N: parts are multiples of N elements; 0: not given */
	bool elementwise; /* SPLIT: parameters with the extent have no other dimension */
	bool unfusible, untiled, reentrant, nontemporal, sync_all;
	bool early_wait, early_set; /* early-start=wait, set, both */
	uint32_t mix_ratio; /* MIX: vector blocks for each cube block */
	const char *aic, *aiv; /* MIX: symbols of the sides; NULL: NAME_mix_aic, NAME_mix_aiv */
	uint32_t align; /* align=: alignment of the pointers to tensors in each call; 0: not given */
	const char *op; /* op=NAME, or NULL */
	const struct sk_attribute *conditions; /* op=NAME(group=1): required attributes of the task */
	uint32_t condition_count;
	const char **attributes; /* names of those in conditions or values */
	uint32_t attribute_count;
	uint64_t isa; /* isa=: instruction sets, as in format/plan/isa.h */
	const char **symbols; /* names of symbols with addresses that are passed */
	uint32_t symbol_count;
	const char **extents; /* names */
	uint32_t extent_count;
	struct sk_parameter *parameters; /* in C order */
	uint32_t parameter_count;
	uint32_t open_table; /* "in x[]": the parameter, which has 1 operand here; else SK_NONE */
	size_t operands_at; /* in the text: the place for the number of that table's operands */
	const struct sk_signature *
		*of_operands; /* of an open table: this signature by the number, as far as requested */
	const struct sk_signature *open; /* of a signature for a number of operands: the one with the open table; else
					    NULL */
	bool returns_status; /* -> status */
	uint32_t status; /* -> status NAME: the parameter; else SK_NONE */
	const char *result; /* -> out NAME DTYPE; else NULL */
	enum sk_dtype result_dtype;
};

/* True if the kernel is divided into blocks, any number of them for each core. */
static inline bool sk_signature_has_blocks(const struct sk_signature *signature)
{
	return signature->spread == SK_STEP_BLOCKS || signature->spread == SK_STEP_BLOCKS_RANGE;
}

/* True if y may be x (y@x), or any operand of a table of that name. */
static inline bool sk_signature_may_alias(const struct sk_signature *signature, uint32_t y, uint32_t x)
{
	uint32_t alias_of = signature->parameters[y].alias_of;

	return alias_of != SK_NONE && (alias_of == x || signature->parameters[x].first_operand == alias_of);
}

/* ==== number.c ====
 *
 * Numbers, and their bits in an element type. */

/* A number as written. */
struct sk_number {
	enum { SK_NUMBER_INTEGER, SK_NUMBER_REAL } kind;
	bool negative; /* INTEGER: `integer` is below 0 */
	int64_t integer; /* INTEGER: also up to 2^64-1, as bits */
	double real; /* REAL */
	const char *text; /* REAL: as written, for types that round differently from f64; NULL: `real` is the number */
};

/* Convert an integer to the bits of an integer type (bool: 0 or 1), zero-extended. `negative`: the value is in two's
 * complement. False if the type cannot represent it. */
bool sk_integer_bits(uint64_t value, bool negative, enum sk_dtype type, uint64_t *bits);

/* Convert a number to the bits of a type, zero-extended. Floating-point types round to nearest. False if that gives
 * infinity or 0 for another number, or if an integer type cannot represent the number. */
bool sk_number_bits(const struct sk_number *number, enum sk_dtype type, uint64_t *bits);

/* The same for a computed number. Integer types accept only numbers below 2^53, since larger doubles represent several
 * integers. */
bool sk_real_bits(double number, enum sk_dtype type, uint64_t *bits);

/* ==== signature-parser.c ====
 *
 * Signatures: how to call a compiled function. One parser serves both places of signatures, objects and the manifest.
 * The grammar is in doc/reference/signatures.md. */

/* Parse a signature, and check all conditions on it alone. NULL after errors, which name the column within the
 * signature. `place` is the place of the text's first character. In a text file, the column is added to it; in an
 * object (a place with a section or without a line) it is used unchanged. The text is copied. */
const struct sk_signature *sk_signature_parse(struct sk_arena *arena, struct sk_diag *diag, struct sk_place place,
					      const char *text);

/* The same for a text that is not in the file character by character (folded over lines, escaped): the place is used
 * unchanged. */
const struct sk_signature *sk_signature_parse_folded(struct sk_arena *arena, struct sk_diag *diag,
						     struct sk_place place, const char *text);

/* Return the text after op=, of *length characters, without parsing. NULL: it occurs never or several times, so that
 * the text must be parsed. */
const char *sk_signature_glance_op(const char *text, size_t *length);

/* Return the most operands of the open table of a signature. */
uint32_t sk_signature_most_operands(const struct sk_signature *signature);

/* Return the signature for that number of operands of an open table, which must be possible. It is made once; NULL,
 * with an error, if its text is too long. */
const struct sk_signature *sk_signature_of_operands(struct sk_arena *arena, struct sk_diag *diag, struct sk_place place,
						    const struct sk_signature *open, uint32_t operands);

/* Get the names of all element types, for messages. */
void sk_dtype_names(const char *names[SK_DTYPE_COUNT - 1]);

/* Return the index of a parameter or an extent by name, or SK_NONE. The result is not a parameter. */
uint32_t sk_signature_find_parameter(const struct sk_signature *signature, const char *name);
uint32_t sk_signature_find_extent(const struct sk_signature *signature, const char *name);

/* True if the tensor parameter has the extent in any dimension. */
bool sk_parameter_has_extent(const struct sk_parameter *parameter, uint32_t extent);

/* Return the dimension of the tensor parameter that starts with the extent; SK_NONE: none. */
uint32_t sk_parameter_dimension_of(const struct sk_parameter *parameter, uint32_t extent);

/* True if calls get a part of the extent. */
bool sk_signature_divides(const struct sk_signature *signature, uint32_t extent);

/* True for parameters that are never referred to by name: blocks, structs that are not tables of operands, later
 * elements of an array, and fields that only the signature gives values. Names of such fields may be equal, as in
 * structs of the same type. */
bool sk_parameter_is_nameless(const struct sk_parameter *parameter);

/* True if the first dimension of the tensor parameter starts with this extent, so that a range of the extent is one
 * contiguous part of the tensor. */
bool sk_parameter_is_divided_by(const struct sk_parameter *parameter, uint32_t extent);

#endif
