/* Signatures: how a kernel is called. Names of extents stand once, everything else refers to them by index. */
#ifndef SK_SIGNATURE_H
#define SK_SIGNATURE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "format/signature/attribute.h"
#include "format/skplan.h"

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

#endif
