/* Types, shapes and elements; see onnx-parts.h. */
#include "graph/onnx/onnx-parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/ranges.h"
#include "format/skplan.h"
#include "graph/graph.h"

/* TensorProto.DataType, by number, and the type here. */
static const struct {
	const char *name;
	enum sk_dtype dtype; /* NONE: not supported by sklink */
} element_types[] = {
	{"undefined", SK_DTYPE_NONE},
	{"float", SK_F32},
	{"uint8", SK_U8},
	{"int8", SK_I8},
	{"uint16", SK_U16},
	{"int16", SK_I16},
	{"int32", SK_I32},
	{"int64", SK_I64},
	{"string", SK_DTYPE_NONE},
	{"bool", SK_BOOL},
	{"float16", SK_F16},
	{"double", SK_F64},
	{"uint32", SK_U32},
	{"uint64", SK_U64},
	{"complex64", SK_DTYPE_NONE},
	{"complex128", SK_DTYPE_NONE},
	{"bfloat16", SK_BF16},
	{"float8e4m3fn", SK_DTYPE_NONE},
	{"float8e4m3fnuz", SK_DTYPE_NONE},
	{"float8e5m2", SK_DTYPE_NONE},
	{"float8e5m2fnuz", SK_DTYPE_NONE},
	{"uint4", SK_DTYPE_NONE},
	{"int4", SK_DTYPE_NONE},
	{"float4e2m1", SK_DTYPE_NONE},
	{"float8e8m0", SK_DTYPE_NONE},
	{"uint2", SK_DTYPE_NONE},
	{"int2", SK_DTYPE_NONE},
	{"float6e2m3", SK_DTYPE_NONE},
	{"float6e3m2", SK_DTYPE_NONE},
};

int64_t sk_onnx_element_of(enum sk_dtype dtype)
{
	size_t count = sizeof(element_types) / sizeof(element_types[0]);

	for (size_t i = 0; i < count && dtype; i++)
		if (element_types[i].dtype == dtype)
			return (int64_t)i;
	return 0;
}

static const char *take_element(struct sk_arena *arena, int64_t number, struct sk_value *value)
{
	size_t count = sizeof(element_types) / sizeof(element_types[0]);

	if (sk_narrow_take(number, value))
		return NULL;
	if (number < 0 || (uint64_t)number >= count)
		return sk_arena_print(arena, "its elements are of type %" PRId64 ", which is unknown", number);
	value->dtype = element_types[number].dtype;
	return value->dtype ? NULL
			    : sk_arena_print(arena, "its elements are of type %s, which sklink does not have",
					     element_types[number].name);
}

static const char *rank_too_large(struct sk_arena *arena, size_t rank)
{
	return sk_arena_print(arena, "it has %zu dimensions; tensors have at most %d", rank, SK_MAX_RANK);
}

/* Count the bytes of the known dimensions. If one of them is 0, the others may be anything. */
static bool count_bytes(const struct sk_value *value, uint64_t *bytes)
{
	bool fits = true;

	*bytes = sk_dtype_size(value->dtype);
	for (uint32_t i = 0; i < value->rank; i++)
		if (value->shape[i] != SK_UNKNOWN)
			fits = sk_mul(*bytes, value->shape[i], bytes) && fits;
	for (uint32_t i = 0; i < value->rank; i++)
		fits = fits || !value->shape[i];
	for (uint32_t i = 0; i < value->rank; i++)
		*bytes = value->shape[i] ? *bytes : 0;
	return fits && *bytes <= INT64_MAX;
}

/* ---- types ---- */

static void take_dimension(const struct sk_onnx_dimension *dimension, struct sk_value *value)
{
	uint32_t i = value->rank++;

	/* Some exporters write -1 for an unknown dimension. */
	if (sk_onnx_has(&dimension->message, SK_ONNX_DIMENSION_VALUE) && dimension->value >= 0) {
		value->shape[i] = (uint64_t)dimension->value;
		return;
	}
	value->shape[i] = SK_UNKNOWN;
	value->symbols[i] = dimension->parameter && *dimension->parameter ? dimension->parameter : NULL;
}

const char *sk_onnx_take_type(struct sk_arena *arena, const struct sk_onnx_value_type *type, struct sk_value *value)
{
	static const char *const others[] = {"a sequence", "a map", "opaque", "a sparse tensor", "optional"};
	uint64_t bytes;
	const char *wrong;

	for (unsigned i = SK_ONNX_TYPE_OTHER; i < SK_ONNX_TYPES; i++)
		if (type && sk_onnx_has(&type->message, i))
			return sk_arena_print(arena, "it is %s, not a tensor", others[i - SK_ONNX_TYPE_OTHER]);
	if (!type || !type->tensor)
		return NULL;
	if (type->tensor->element && (wrong = take_element(arena, type->tensor->element, value)))
		return wrong;
	if (!type->tensor->shape)
		return NULL;
	if (type->tensor->shape->dimensions.count > SK_MAX_RANK)
		return rank_too_large(arena, type->tensor->shape->dimensions.count);
	value->shaped = true;
	value->rank = 0;
	for (size_t i = 0; i < type->tensor->shape->dimensions.count; i++)
		take_dimension(&type->tensor->shape->dimensions.items[i], value);
	return count_bytes(value, &bytes) ? NULL : "it is too large";
}

/* ---- contents ---- */

/* The contents of a value without elements. */
static const uint64_t nothing;

static const char *wrong_size(struct sk_arena *arena, uint64_t is, uint64_t expected, const char *unit)
{
	return sk_arena_print(arena, "it has %" PRIu64 " %s, but its shape takes %" PRIu64, is, unit, expected);
}

/* Kernels expect bools of 0 or 1, so other values become 1. */
static const void *clean_bools(struct sk_arena *arena, const uint8_t *bytes, uint64_t size)
{
	uint64_t clean = 0;

	while (clean < size && bytes[clean] <= 1)
		clean++;
	if (clean == size)
		return bytes;

	uint8_t *copy = sk_arena_alloc(arena, size, 1);

	for (uint64_t i = 0; i < size; i++)
		copy[i] = bytes[i] != 0;
	return copy;
}

static const char *take_raw(struct sk_arena *arena, struct sk_onnx_bytes raw, uint64_t size, struct sk_value *value)
{
	if (raw.size != size)
		return wrong_size(arena, raw.size, size, "bytes");
	value->contents = !size ? &nothing : value->dtype == SK_BOOL ? clean_bools(arena, raw.bytes, size) : raw.bytes;
	return NULL;
}

/* True if the type can represent the number; 16-bit floats are given as their bits. */
static bool in_range(enum sk_dtype dtype, int64_t number)
{
	switch (dtype) {
	case SK_I8:
		return number >= INT8_MIN && number <= INT8_MAX;
	case SK_U8:
		return number >= 0 && number <= UINT8_MAX;
	case SK_I16:
		return number >= INT16_MIN && number <= INT16_MAX;
	case SK_U16:
	case SK_F16:
	case SK_BF16:
		return number >= 0 && number <= UINT16_MAX;
	case SK_I32:
		return number >= INT32_MIN && number <= INT32_MAX;
	case SK_U32:
		return number >= 0 && number <= UINT32_MAX;
	default:
		return true;
	}
}

static const char *take_integers(struct sk_arena *arena, const int64_t *integers, size_t count, uint64_t expected,
				 struct sk_value *value)
{
	uint32_t size = sk_dtype_size(value->dtype);
	uint8_t *contents;

	if (count != expected)
		return wrong_size(arena, count, expected, "elements");
	contents = sk_arena_alloc(arena, count + 1, size);
	for (size_t i = 0; i < count; i++) {
		int64_t number = value->dtype == SK_BOOL ? integers[i] != 0 : integers[i];

		if (!in_range(value->dtype, number))
			return sk_arena_print(arena, "element %zu is %" PRId64 ", which is not of type %s", i, number,
					      sk_dtype_name(value->dtype));
		memcpy(contents + i * size, &number, size); /* little-endian: the low bytes come first */
	}
	value->contents = contents;
	return NULL;
}

/* Convert integers with a packed byte each. */
static const char *take_bytes(struct sk_arena *arena, const int64_t *integers, size_t count, uint64_t expected,
			      const struct sk_value *value, struct sk_value *packed)
{
	for (size_t i = 0; i < count; i++)
		if (!in_range(SK_U8, integers[i]))
			return sk_arena_print(arena,
					      "element %zu of int32_data is %" PRId64
					      ", which is not a byte with elements of type %s",
					      i, integers[i], sk_narrow_name(value));
	return count == expected ? take_integers(arena, integers, count, expected, packed)
				 : wrong_size(arena, count, expected, "bytes");
}

/* Convert elements in the field of their type. */
static const char *take_typed(struct sk_arena *arena, const struct sk_onnx_tensor *tensor, uint64_t bytes,
			      struct sk_value *value)
{
	uint64_t count = bytes / sk_dtype_size(value->dtype);

	switch (value->dtype) {
	case SK_F32:
		return take_raw(arena, tensor->floats, bytes, value);
	case SK_F64:
		return take_raw(arena, tensor->doubles, bytes, value);
	case SK_I64:
		return take_integers(arena, tensor->integers64.items, tensor->integers64.count, count, value);
	case SK_U32:
	case SK_U64:
		return take_integers(arena, tensor->unsigned64.items, tensor->unsigned64.count, count, value);
	default:
		return take_integers(arena, tensor->integers32.items, tensor->integers32.count, count, value);
	}
}

/* Parse digits, without anything before or after them. */
static bool parse_number(const char *text, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno;
}

static const char *find_entry(const struct sk_onnx_tensor *tensor, const char *key)
{
	for (size_t i = 0; i < tensor->external.count; i++) {
		const struct sk_onnx_entry *entry = &tensor->external.items[i];

		if (entry->key && !strcmp(entry->key, key))
			return entry->value ? entry->value : "";
	}
	return NULL;
}

/* Find the bytes in another file. */
static const char *find_external(struct sk_onnx_files *files, const struct sk_onnx_tensor *tensor, uint64_t size,
				 struct sk_onnx_bytes *found)
{
	struct sk_arena *arena = files->diag->arena;
	const char *location = find_entry(tensor, "location");
	const char *offset_text = find_entry(tensor, "offset"), *length_text = find_entry(tensor, "length");
	uint64_t offset = 0, length = size;
	struct sk_onnx_bytes bytes;
	const char *wrong;

	if (!location)
		return "its data is in another file, but no location says in which";
	if (offset_text && !parse_number(offset_text, &offset))
		return sk_arena_print(arena, "its data has the offset '%s', which is not a number", offset_text);
	if (length_text && !parse_number(length_text, &length))
		return sk_arena_print(arena, "its data has the length '%s', which is not a number", length_text);
	if (length != size)
		return wrong_size(arena, length, size, "bytes");
	wrong = sk_onnx_files_external(files, location, &bytes);
	if (wrong)
		return sk_arena_print(arena, "cannot read its data in '%s': %s", location, wrong);
	if (!bytes.bytes) {
		*found = (struct sk_onnx_bytes){sk_onnx_files_zeros(length), length};
		return found->bytes ? NULL : "there is no memory for its elements";
	}
	if (!sk_within(offset, length, bytes.size))
		return sk_arena_print(
			arena, "its data is in '%s' from byte %" PRIu64 " to %" PRIu64 ", but that file has %zu bytes",
			location, offset, offset + length, bytes.size);
	*found = (struct sk_onnx_bytes){bytes.bytes + offset, length};
	return NULL;
}

/* Find the packed bytes of a type that only files have: raw, or in integers of a byte each. */
static const char *take_narrow(struct sk_onnx_files *files, const struct sk_onnx_tensor *tensor, uint64_t elements,
			       struct sk_value *value)
{
	struct sk_arena *arena = files->diag->arena;
	uint64_t size = sk_narrow_bytes(value, elements);
	struct sk_onnx_bytes bytes = tensor->raw;
	struct sk_value packed = {.dtype = SK_U8};
	const char *wrong = NULL;

	if (tensor->location == SK_ONNX_EXTERNAL) {
		wrong = find_external(files, tensor, size, &bytes);
	} else if (!sk_onnx_has(&tensor->message, SK_ONNX_TENSOR_RAW)) {
		wrong = take_bytes(arena, tensor->integers32.items, tensor->integers32.count, size, value, &packed);
		bytes = (struct sk_onnx_bytes){packed.contents, size};
	}
	if (wrong)
		return wrong;
	if (bytes.size != size)
		return wrong_size(arena, bytes.size, size, "bytes");
	value->packed = true;
	value->contents = size ? bytes.bytes : (const void *)&nothing;
	return NULL;
}

static const char *take_shape(struct sk_arena *arena, const struct sk_onnx_tensor *tensor, struct sk_value *value)
{
	if (tensor->dimensions.count > SK_MAX_RANK)
		return rank_too_large(arena, tensor->dimensions.count);
	value->shaped = true;
	value->rank = (uint32_t)tensor->dimensions.count;
	for (uint32_t i = 0; i < value->rank; i++) {
		if (tensor->dimensions.items[i] < 0)
			return sk_arena_print(arena, "dimension %u is %" PRId64, i, tensor->dimensions.items[i]);
		value->shape[i] = (uint64_t)tensor->dimensions.items[i];
		value->symbols[i] = NULL;
	}
	return NULL;
}

const char *sk_onnx_take_tensor(struct sk_onnx_files *files, const struct sk_onnx_tensor *tensor,
				struct sk_value *value)
{
	struct sk_arena *arena = files->diag->arena;
	struct sk_onnx_bytes outside;
	const char *wrong = take_element(arena, tensor->element, value);
	uint64_t bytes;

	if (!wrong)
		wrong = take_shape(arena, tensor, value);
	if (wrong)
		return wrong;
	if (sk_onnx_has(&tensor->message, SK_ONNX_TENSOR_SEGMENT))
		return "it is a segment of a tensor, which is not supported";
	if (!count_bytes(value, &bytes))
		return "it is too large";
	if (value->element)
		return take_narrow(files, tensor, bytes / sk_dtype_size(value->dtype), value);
	if (tensor->location == SK_ONNX_EXTERNAL) {
		wrong = find_external(files, tensor, bytes, &outside);
		return wrong ? wrong : take_raw(arena, outside, bytes, value);
	}
	if (sk_onnx_has(&tensor->message, SK_ONNX_TENSOR_RAW))
		return take_raw(arena, tensor->raw, bytes, value);
	return take_typed(arena, tensor, bytes, value);
}
