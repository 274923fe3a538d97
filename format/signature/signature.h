/* How to call a function that is already compiled: its signature, attributes, and written numbers in the bits of a
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
 * Attributes: what a node of a graph, or a task that names an operator, says besides its operands: `axis`, `pads`. */

enum sk_attribute_kind {
	SK_ATTRIBUTE_INTEGER,
	SK_ATTRIBUTE_REAL,
	SK_ATTRIBUTE_STRING,
	SK_ATTRIBUTE_INTEGERS, /* lists, which may be empty */
	SK_ATTRIBUTE_REALS,
	SK_ATTRIBUTE_STRINGS,
};

/* The word for what an attribute is that is not given. */
#define SK_ATTRIBUTE_DEFAULT "same"

struct sk_attribute {
	const char *name;
	struct sk_place place;
	enum sk_attribute_kind kind;
	int64_t integer;
	double real;
	const char *string; /* NUL-terminated, any bytes in front of that */
	const int64_t *integers;
	const double *reals;
	const char *const *strings;
	size_t count; /* of a list */
};

/* True if it is a whole number, real or not. */
bool sk_attribute_integer(const struct sk_attribute *attribute, int64_t *integer);

/* True if they have the same value: numbers by what they are, real ones as 32 bits can tell them. */
bool sk_attribute_same(const struct sk_attribute *one, const struct sk_attribute *other);

/* "1", "linear", "[0, 1]", in the arena; long ones end with "…". For messages. */
const char *sk_attribute_text(struct sk_arena *arena, const struct sk_attribute *attribute);

/* The one of that name, or NULL. */
const struct sk_attribute *sk_attribute_find(const struct sk_attribute *attributes, size_t count, const char *name);

/* ==== signature ====
 *
 * Signatures: how a kernel is called. Names of extents stand once, everything else refers to them by index. */

enum { SK_MAX_FACTORS = 4, SK_MAX_PARAMETERS = 128, SK_MAX_AXES = 3, SK_MAX_ATTRIBUTES = 32 };

/* One dimension of a parameter: a product of names, or an integer; or a sum of these, that begins with a name. */
struct sk_extent {
	uint64_t constant; /* the integer; 1 where there are only names */
	uint32_t names[SK_MAX_FACTORS]; /* indices into the signature's extents */
	uint32_t name_count;
	const struct sk_extent *more; /* the rest of the sum; NULL: there is none */
	bool subtracted; /* of the rest of a sum: this product is */
};

enum sk_value_kind {
	SK_VALUE_NUMBER,
	SK_VALUE_REAL, /* of a float: only by itself */
	SK_VALUE_NULL, /* of a pointer: only by itself … */
	SK_VALUE_SYMBOL, /* … and the address of a symbol, too */
	SK_VALUE_ATTRIBUTE, /* of the task: an integer; by itself also a real one, or the address of a list */
	SK_VALUE_EXTENT, /* all of an extent, however it is divided */
	SK_VALUE_BEGIN, /* of a divided extent, the call's part: its first element … */
	SK_VALUE_END, /* … the one behind its last … */
	SK_VALUE_SIZE, /* … and how many they are */
	SK_VALUE_SIZEOF, /* bytes of a parameter */
	SK_VALUE_OPERANDS, /* how many a table has; a NUMBER, once that is known */
	SK_VALUE_BLOCK_INDEX,
	SK_VALUE_BLOCK_COUNT,
	SK_VALUE_ADD,
	SK_VALUE_SUBTRACT,
	SK_VALUE_MULTIPLY,
	SK_VALUE_DIVIDE,
};

/* What a signature says of a value: `4*size(n)`. */
struct sk_value_expression {
	enum sk_value_kind kind;
	const struct sk_value_expression *left, *right; /* ADD, SUBTRACT, MULTIPLY, DIVIDE; ATTRIBUTE: left is what it
							   is if the task does not have it, or NULL */
	uint64_t number; /* NUMBER; REAL: the bits, in the type that it is for */
	const char *name; /* SYMBOL, and names as they are written; REAL: the number, with its sign */
	uint32_t index; /* EXTENT, BEGIN, END, SIZE: of the extent; SIZEOF: of the parameter; SYMBOL: in `symbols` */
	uint32_t axis; /* BLOCK_INDEX, BLOCK_COUNT: 0, 1, 2 for .x, .y, .z; else SK_NONE */
	const char *text; /* all of it as it is written, of expressions that are no parts of others */
};

enum sk_parameter_kind {
	SK_PARAMETER_TENSOR, /* pointer */
	SK_PARAMETER_SCALAR, /* by value, or by reference */
	SK_PARAMETER_BLOCK,
	SK_PARAMETER_SCRATCH,
	SK_PARAMETER_STRUCT, /* a struct that is made in front of each call, or a pointer to it; its fields come behind
				it */
};

struct sk_parameter {
	enum sk_parameter_kind kind;
	const char *name; /* NULL for BLOCK */
	enum sk_dtype dtype;
	enum sk_access access; /* TENSOR */
	uint32_t alias_of; /* TENSOR y@x: the parameter x that y may be; else SK_NONE */
	bool whole; /* TENSOR: divided, but passed as it is: the function finds its part by itself */
	bool optional; /* TENSOR: "in?", "out?": there may be none, and a null pointer is passed */
	uint32_t rank; /* TENSOR */
	struct sk_extent extents[SK_MAX_RANK];
	uint32_t row_dimension; /* TENSOR: the elements of this dimension and of those behind it are a row … */
	uint32_t stride; /* … and rows lie so many elements apart: index into the extents; SK_NONE: without gaps */
	uint64_t over_read; /* TENSOR: bytes behind it that may be read, and are not used */
	bool by_reference; /* SCALAR: "ref" */
	bool pointer; /* SCALAR: an address, "ptr"; its dtype is U64 */
	const struct sk_value_expression *value; /* SCALAR: behind '='; NULL: there is none */
	uint64_t scratch_bytes; /* SCRATCH, STRUCT; 0: see scratch_count */
	const struct sk_value_expression *scratch_count; /* SCRATCH: elements of the dtype (NONE: bytes), or NULL */
	bool by_value; /* STRUCT: passed itself; of its parts of 8 bytes those hold floats alone whose bits are set
			  here: */
	uint64_t float_parts;
	uint32_t owner; /* of a field: the STRUCT that it stands in; else SK_NONE */
	uint64_t offset; /* of a field: bytes from the struct's start */
	uint64_t elements; /* of a field, SCALAR: it is the first one of an array, which others repeat; 0: it is none */
	bool repeated; /* of a field: a further element, with the name and the value of the first one */
	uint32_t operands; /* STRUCT: it is "in x[2]" or "in x[]", so many tensors "x[0]", "x[1]" … of one kind,
			      which are its fields; else 0 */
	uint32_t first_operand; /* TENSOR: of the table that it is in; else SK_NONE */
	/* The only field of a STRUCT that is a table: so many addresses, and how many bytes each is behind the one
	 * before (NULL: the tensor's bytes by the number). NULL: one address. */
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
	enum sk_lane_kind lane;
	enum sk_step_kind spread; /* PLAIN, BLOCKS, BLOCKS_RANGE, SPLIT */
	uint32_t spread_extent; /* SPLIT, BLOCKS_RANGE: index into extents; else SK_NONE */
	const struct sk_value_expression *grid[SK_MAX_AXES]; /* BLOCKS: their numbers along x, y, z; NULL: the rest */
	uint32_t grid_rank; /* 0: the task says how many blocks there are */
	const struct sk_value_expression *operations; /* arithmetic ones of a whole task; NULL: unknown */
	struct sk_signature_loop loops[SK_MAX_LOOPS]; /* the first one goes through spread_extent */
	uint32_t loop_count;
	uint64_t unit; /* split=NAME:N: parts are multiples of N elements; 0: nothing is said */
	bool elementwise; /* SPLIT: every parameter that has the extent has only it */
	bool unfusible, untiled, reentrant, nontemporal, sync_all;
	bool early_wait, early_set; /* early-start=wait, set, both */
	uint32_t mix_ratio; /* MIX: vector blocks for each cube block */
	const char *aic, *aiv; /* MIX: symbols of the sides; NULL: NAME_mix_aic, NAME_mix_aiv */
	uint32_t align; /* align=: pointers to tensors are multiples of it, in each call; 0: nothing is said */
	const char *op; /* op=NAME, or NULL */
	const struct sk_attribute *conditions; /* op=NAME(group=1): what attributes of the task must be */
	uint32_t condition_count;
	const char **attributes; /* names of those that it says anything of, as condition or value */
	uint32_t attribute_count;
	uint64_t isa; /* isa=: instruction sets, as format/plan/isa.h has them */
	const char **symbols; /* names of those whose addresses it passes */
	uint32_t symbol_count;
	const char **extents; /* names */
	uint32_t extent_count;
	struct sk_parameter *parameters; /* in C order */
	uint32_t parameter_count;
	uint32_t open_table; /* "in x[]": the parameter, which has 1 operand here; else SK_NONE */
	size_t operands_at; /* in the text: where the number of that table's operands goes */
	const struct sk_signature *
		*of_operands; /* of an open table: this one by the number, as far as it was asked for */
	const struct sk_signature *open; /* which this one is, for a number of operands; else NULL */
	bool returns_status; /* -> status */
	uint32_t status; /* -> status NAME: the parameter; else SK_NONE */
	const char *result; /* -> out NAME DTYPE; else NULL */
	enum sk_dtype result_dtype;
};

/* It is cut into blocks, however many a core has of them. */
static inline bool sk_signature_has_blocks(const struct sk_signature *signature)
{
	return signature->spread == SK_STEP_BLOCKS || signature->spread == SK_STEP_BLOCKS_RANGE;
}

/* y@x: y may be x, or any operand of a table of that name. */
static inline bool sk_signature_may_alias(const struct sk_signature *signature, uint32_t y, uint32_t x)
{
	uint32_t alias_of = signature->parameters[y].alias_of;

	return alias_of != SK_NONE && (alias_of == x || signature->parameters[x].first_operand == alias_of);
}

/* ==== number.c ====
 *
 * Numbers, and their bits in an element type. */

/* A number as it is written. */
struct sk_number {
	enum { SK_NUMBER_INTEGER, SK_NUMBER_REAL } kind;
	bool negative; /* INTEGER: `integer` is below 0 */
	int64_t integer; /* INTEGER: also up to 2^64-1, as bits */
	double real; /* REAL */
	const char *text; /* REAL: as written, for types that round otherwise than f64; NULL: `real` is the number */
};

/* The bits of an integer in an integer type (bool: 0 or 1), zero-extended. `negative`: the value is that of two's
 * complement. False if the type does not have it. */
bool sk_integer_bits(uint64_t value, bool negative, enum sk_dtype type, uint64_t *bits);

/* The bits of a number, zero-extended. Floating-point types get the nearest value that they have;
 * false if that is infinite or 0 though the number is neither, and if an integer type does not have the number. */
bool sk_number_bits(const struct sk_number *number, enum sk_dtype type, uint64_t *bits);

/* The same of a number that nobody wrote. Of an integer type only numbers below 2^53 are: larger ones stand
 * for others, too. */
bool sk_real_bits(double number, enum sk_dtype type, uint64_t *bits);

/* ==== signature-parser.c ====
 *
 * Signatures: how to call a function that is already compiled. One parser for both places where a signature can stand,
 * in an object and in the manifest. The grammar is in doc/reference/signatures.md. */

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
