/* The decoder of protobuf's wire format (protobuf.dev, "Encoding"); see onnx-parts.h. Each message is read twice: the
 * first time its fields are counted, so that lists are allocated in their final size. */
#include "graph/onnx/onnx-parts.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"

/* The depth of nested messages. In models it is that of nested bodies of If and Loop. */
enum { MAX_DEPTH = 100 };

/* The encodings of fields. Groups (3 and 4) were deprecated before ONNX. */
enum wire { VARINT = 0, FIXED64 = 1, DELIMITED = 2, FIXED32 = 5 };

struct decoder {
	struct sk_diag *diag;
	struct sk_place place;
	const char *format; /* "an ONNX model" */
	const uint8_t *start; /* of the file */
};

struct raw_field {
	uint32_t number;
	enum wire wire;
	uint64_t value; /* unless DELIMITED */
	struct sk_onnx_bytes bytes; /* DELIMITED: the contents; otherwise the encoded number */
};

static bool decode(struct decoder *decoder, const struct sk_onnx_type *type, struct sk_onnx_bytes bytes, void *message,
		   unsigned depth);

static bool report_damage(struct decoder *decoder, const uint8_t *at, const char *what)
{
	sk_error(decoder->diag, decoder->place, "this is not %s, or a damaged one: at byte %zu %s", decoder->format,
		 (size_t)(at - decoder->start), what);
	return false;
}

/* ---- fields ---- */

static bool take_varint(struct sk_onnx_bytes *bytes, uint64_t *value)
{
	*value = 0;
	for (unsigned i = 0; i < 10 && i < bytes->size; i++) {
		*value |= (uint64_t)(bytes->bytes[i] & 0x7f) << 7 * i;
		if (bytes->bytes[i] < 0x80) {
			bytes->bytes += i + 1;
			bytes->size -= i + 1;
			return true;
		}
	}
	return false;
}

static bool take_bytes(struct sk_onnx_bytes *bytes, uint64_t size, struct sk_onnx_bytes *taken)
{
	if (size > bytes->size)
		return false;
	*taken = (struct sk_onnx_bytes){bytes->bytes, size};
	bytes->bytes += size;
	bytes->size -= size;
	return true;
}

/* Return NULL, or the error. */
static const char *take_field(struct sk_onnx_bytes *bytes, struct raw_field *field)
{
	uint64_t tag, size;

	*field = (struct raw_field){0};
	if (!take_varint(bytes, &tag) || tag >> 32 || !(tag >> 3))
		return "there is no field";
	field->number = (uint32_t)tag >> 3;
	field->wire = tag & 7;
	switch (tag & 7) {
	case VARINT:
		field->bytes.bytes = bytes->bytes;
		return take_varint(bytes, &field->value) ? NULL : "a number has no end";
	case FIXED64:
	case FIXED32:
		size = field->wire == FIXED64 ? 8 : 4;
		if (!take_bytes(bytes, size, &field->bytes))
			return "a number has no end";
		memcpy(&field->value, field->bytes.bytes, size); /* little-endian, as the machine */
		return NULL;
	case DELIMITED:
		return take_varint(bytes, &size) && take_bytes(bytes, size, &field->bytes)
			       ? NULL
			       : "a field is longer than its message";
	default:
		return "a field has an encoding that does not exist";
	}
}

/* Return the index of the field; SK_NONE: unknown, or not needed. */
static uint32_t find_field(const struct sk_onnx_type *type, uint32_t number)
{
	for (size_t i = 0; i < type->count; i++)
		if (type->fields[i].number == number)
			return (uint32_t)i;
	return UINT32_MAX;
}

/* Return the encoding of the kind. */
static enum wire wire_of(enum sk_onnx_kind kind)
{
	return kind == SK_ONNX_INTEGER	? VARINT
	       : kind == SK_ONNX_FLOAT	? FIXED32
	       : kind == SK_ONNX_DOUBLE ? FIXED64
					: DELIMITED;
}

/* Lists of numbers may be packed: several in one field. */
static bool is_packed(const struct sk_onnx_field *field, const struct raw_field *raw)
{
	return field->repeated && raw->wire == DELIMITED && wire_of(field->kind) != DELIMITED;
}

static bool fits(const struct sk_onnx_field *field, const struct raw_field *raw)
{
	return field->kind == SK_ONNX_IGNORED || raw->wire == wire_of(field->kind) || is_packed(field, raw);
}

/* ---- sizes of lists ---- */

static size_t count_varints(struct sk_onnx_bytes bytes)
{
	size_t count = 0;

	for (size_t i = 0; i < bytes.size; i++)
		count += bytes.bytes[i] < 0x80;
	return count;
}

/* Return the items that the field adds to its list; for floats and doubles, the bytes. */
static size_t count_items(const struct sk_onnx_field *field, const struct raw_field *raw)
{
	if (field->kind == SK_ONNX_FLOAT || field->kind == SK_ONNX_DOUBLE)
		return raw->bytes.size;
	return is_packed(field, raw) ? count_varints(raw->bytes) : 1;
}

static bool count_fields(struct decoder *decoder, const struct sk_onnx_type *type, struct sk_onnx_bytes bytes,
			 size_t *counts)
{
	while (bytes.size) {
		const uint8_t *at = bytes.bytes;
		struct raw_field raw;
		const char *wrong = take_field(&bytes, &raw);
		uint32_t position = wrong ? UINT32_MAX : find_field(type, raw.number);

		if (wrong)
			return report_damage(decoder, at, wrong);
		if (position == UINT32_MAX)
			continue;

		const struct sk_onnx_field *field = &type->fields[position];

		if (!fits(field, &raw))
			return report_damage(decoder, at, "a field has the encoding of another type");
		if (field->kind == SK_ONNX_MESSAGE && !field->repeated && counts[position])
			return report_damage(decoder, at, "a field occurs again that can be there once");
		counts[position] += count_items(field, &raw);
	}
	return true;
}

/* All lists are arrays of one layout. */
typedef SK_ARRAY(char) untyped_list;

static void reserve_lists(struct decoder *decoder, const struct sk_onnx_type *type, const size_t *counts, char *message)
{
	for (size_t i = 0; i < type->count; i++) {
		const struct sk_onnx_field *field = &type->fields[i];
		untyped_list *list = (untyped_list *)(message + field->offset);

		if (!counts[i] || !field->repeated || wire_of(field->kind) == FIXED32 ||
		    wire_of(field->kind) == FIXED64 || field->kind == SK_ONNX_IGNORED)
			continue;
		list->items = sk_arena_alloc(decoder->diag->arena, counts[i], sk_onnx_item_size(field));
		list->capacity = counts[i];
	}
}

/* ---- values ---- */

static bool take_string(struct decoder *decoder, struct sk_onnx_bytes bytes, const char **string)
{
	if (bytes.size > INT32_MAX || (bytes.size && memchr(bytes.bytes, 0, bytes.size)))
		return report_damage(decoder, bytes.bytes, "a name has a NUL");
	*string = sk_arena_copy(decoder->diag->arena, (const char *)bytes.bytes, bytes.size);
	return true;
}

/* Floats and doubles in one piece stay in the file; several pieces are joined. */
static bool take_reals(struct decoder *decoder, const struct sk_onnx_field *field, const struct raw_field *raw,
		       size_t total, struct sk_onnx_bytes *reals)
{
	size_t size = field->kind == SK_ONNX_FLOAT ? sizeof(float) : sizeof(double);
	uint8_t *joined = (uint8_t *)(uintptr_t)reals->bytes;

	if (raw->bytes.size % size)
		return report_damage(decoder, raw->bytes.bytes, "a list ends within a number");
	if (raw->bytes.size == total) {
		*reals = raw->bytes;
		return true;
	}
	if (!joined)
		joined = sk_arena_alloc(decoder->diag->arena, total, 1);
	if (raw->bytes.size)
		memcpy(joined + reals->size, raw->bytes.bytes, raw->bytes.size);
	reals->bytes = joined;
	reals->size += raw->bytes.size;
	return true;
}

static bool take_integers(struct decoder *decoder, struct sk_onnx_bytes bytes, untyped_list *list)
{
	int64_t *integers = (int64_t *)(void *)list->items;
	uint64_t value;

	while (bytes.size) {
		if (!take_varint(&bytes, &value))
			return report_damage(decoder, bytes.bytes, "a number has no end");
		integers[list->count++] = (int64_t)value;
	}
	return true;
}

static bool take_one(struct decoder *decoder, const struct sk_onnx_field *field, const struct raw_field *raw, void *to,
		     unsigned depth)
{
	switch (field->kind) {
	case SK_ONNX_INTEGER:
		*(int64_t *)to = (int64_t)raw->value;
		return true;
	case SK_ONNX_FLOAT:
	case SK_ONNX_DOUBLE:
		memcpy(to, raw->bytes.bytes, raw->bytes.size);
		return true;
	case SK_ONNX_STRING:
		return take_string(decoder, raw->bytes, to);
	case SK_ONNX_BYTES:
		*(struct sk_onnx_bytes *)to = raw->bytes;
		return true;
	case SK_ONNX_MESSAGE:
		return decode(decoder, field->type, raw->bytes, to, depth + 1);
	case SK_ONNX_IGNORED:
		return true;
	}
	return true;
}

static bool take_item(struct decoder *decoder, const struct sk_onnx_field *field, const struct raw_field *raw,
		      size_t total, void *to, unsigned depth)
{
	untyped_list *list = to;

	if (field->kind == SK_ONNX_IGNORED)
		return true;
	if (field->kind == SK_ONNX_FLOAT || field->kind == SK_ONNX_DOUBLE)
		return take_reals(decoder, field, raw, total, to);
	if (is_packed(field, raw))
		return take_integers(decoder, raw->bytes, list);
	return take_one(decoder, field, raw, list->items + list->count++ * sk_onnx_item_size(field), depth);
}

static bool take_raw_field(struct decoder *decoder, const struct sk_onnx_field *field, const struct raw_field *raw,
			   size_t total, char *message, unsigned depth)
{
	void *to = message + field->offset;

	if (field->repeated)
		return take_item(decoder, field, raw, total, to, depth);
	if (field->kind == SK_ONNX_MESSAGE)
		to = *(void **)to = sk_arena_alloc(decoder->diag->arena, 1, field->type->size);
	return take_one(decoder, field, raw, to, depth);
}

static bool decode(struct decoder *decoder, const struct sk_onnx_type *type, struct sk_onnx_bytes bytes, void *message,
		   unsigned depth)
{
	size_t counts[SK_ONNX_MAX_FIELDS] = {0};
	struct raw_field raw;

	if (depth >= MAX_DEPTH)
		return report_damage(decoder, bytes.bytes, "messages lie in one another more than 100 times");
	if (!count_fields(decoder, type, bytes, counts))
		return false;
	reserve_lists(decoder, type, counts, message);
	while (bytes.size && !take_field(&bytes, &raw)) {
		uint32_t position = find_field(type, raw.number);

		if (position == UINT32_MAX)
			continue;
		((struct sk_onnx_message *)message)->present |= 1u << position;
		if (!take_raw_field(decoder, &type->fields[position], &raw, counts[position], message, depth))
			return false;
	}
	return true;
}

bool sk_onnx_decode_message(struct sk_diag *diag, const char *path, struct sk_onnx_bytes bytes, const char *format,
			    const struct sk_onnx_type *type, void *message)
{
	struct decoder decoder = {.diag = diag, .place = {.file = path}, .format = format, .start = bytes.bytes};

	return decode(&decoder, type, bytes, message, 0);
}

struct sk_onnx_model *sk_onnx_decode(struct sk_diag *diag, const char *path, struct sk_onnx_bytes bytes)
{
	struct sk_onnx_model *model = SK_NEW(diag->arena, struct sk_onnx_model);

	return sk_onnx_decode_message(diag, path, bytes, "an ONNX model", &sk_onnx_model_type, model) ? model : NULL;
}

/* Writers usually begin with ir_version, a small number, but a model may begin with another field. */
bool sk_onnx_looks_encoded(struct sk_onnx_bytes bytes)
{
	struct raw_field raw;
	uint32_t position;

	if (!bytes.size || take_field(&bytes, &raw))
		return false;
	position = find_field(&sk_onnx_model_type, raw.number);
	if (position == UINT32_MAX || !fits(&sk_onnx_model_type.fields[position], &raw))
		return false;
	return raw.number == 1 && raw.wire == VARINT && raw.value < 1000;
}
