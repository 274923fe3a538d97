/* Messages as protobuf's text format; see onnx-parts.h. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "graph/onnx/onnx-parts.h"

static void print_message(const struct sk_onnx_type *type, const void *message, unsigned depth, FILE *stream);

/* Escape bytes other than printable ASCII as three octal digits, so that a following digit is not taken for part of the
 * escape. */
static void print_string(const uint8_t *bytes, size_t size, FILE *stream)
{
	putc('"', stream);
	for (size_t i = 0; i < size; i++)
		if (bytes[i] == '"' || bytes[i] == '\\')
			fprintf(stream, "\\%c", bytes[i]);
		else if (bytes[i] >= ' ' && bytes[i] <= '~')
			putc(bytes[i], stream);
		else
			fprintf(stream, "\\%03o", bytes[i]);
	putc('"', stream);
}

/* Print the digits that distinguish the number from all others of its type. */
static void print_real(double real, int digits, FILE *stream)
{
	if (isfinite(real))
		fprintf(stream, "%.*g", digits, real);
	else
		fputs(isnan(real) ? "nan" : real > 0 ? "inf" : "-inf", stream);
}

/* Print the value after the name of its field. */
static void print_value(const struct sk_onnx_field *field, const void *value, unsigned depth, FILE *stream)
{
	const struct sk_onnx_bytes *bytes = value;
	size_t words = 0;
	int64_t integer;
	float single;
	double real;

	switch (field->kind) {
	case SK_ONNX_INTEGER:
		memcpy(&integer, value, sizeof(integer));
		while (field->words && field->words[words])
			words++;
		if (integer >= 0 && (uint64_t)integer < words)
			fprintf(stream, ": %s", field->words[integer]);
		else
			fprintf(stream, ": %" PRId64, integer);
		break;
	case SK_ONNX_FLOAT:
		memcpy(&single, value, sizeof(single));
		fputs(": ", stream);
		print_real((double)single, 9, stream);
		break;
	case SK_ONNX_DOUBLE:
		memcpy(&real, value, sizeof(real));
		fputs(": ", stream);
		print_real(real, 17, stream);
		break;
	case SK_ONNX_STRING:
		fputs(": ", stream);
		print_string(*(const uint8_t *const *)value, strlen(*(const char *const *)value), stream);
		break;
	case SK_ONNX_BYTES:
		fputs(": ", stream);
		print_string(bytes->bytes, bytes->size, stream);
		break;
	case SK_ONNX_MESSAGE:
		fputs(" {\n", stream);
		print_message(field->type, value, depth + 1, stream);
		fprintf(stream, "%*s}", (int)(2 * depth), "");
		break;
	case SK_ONNX_IGNORED:
		break;
	}
	putc('\n', stream);
}

static void print_field(const struct sk_onnx_field *field, const void *value, unsigned depth, FILE *stream)
{
	fprintf(stream, "%*s%s", (int)(2 * depth), "", field->name);
	print_value(field, value, depth, stream);
}

static void print_list(const struct sk_onnx_field *field, const void *value, unsigned depth, FILE *stream)
{
	const struct sk_onnx_bytes *bytes = value;
	const SK_ARRAY(char) *list = value;
	bool reals = field->kind == SK_ONNX_FLOAT || field->kind == SK_ONNX_DOUBLE;
	size_t size = field->kind == SK_ONNX_FLOAT ? sizeof(float) : reals ? sizeof(double) : sk_onnx_item_size(field);

	for (size_t i = 0; i < (reals ? bytes->size / size : list->count); i++)
		print_field(field, reals ? (const char *)bytes->bytes + i * size : list->items + i * size, depth,
			    stream);
}

/* True if the field is not 0 or empty, which are the defaults in files. */
static bool is_set(const struct sk_onnx_field *field, const void *value)
{
	static const char nothing[sizeof(struct sk_onnx_bytes)];
	size_t size = field->kind == SK_ONNX_FLOAT   ? sizeof(float)
		      : field->kind == SK_ONNX_BYTES ? sizeof(struct sk_onnx_bytes)
						     : sizeof(int64_t);

	return memcmp(value, nothing, size) != 0;
}

static void print_message(const struct sk_onnx_type *type, const void *message, unsigned depth, FILE *stream)
{
	for (size_t i = 0; i < type->count; i++) {
		const struct sk_onnx_field *field = &type->fields[i];
		const char *value = (const char *)message + field->offset;

		if (field->kind == SK_ONNX_IGNORED)
			continue;
		if (field->repeated)
			print_list(field, value, depth, stream);
		else if (field->kind == SK_ONNX_MESSAGE ? *(void *const *)(const void *)value != NULL
							: sk_onnx_has(message, (unsigned)i) || is_set(field, value))
			print_field(field, field->kind == SK_ONNX_MESSAGE ? *(void *const *)(const void *)value : value,
				    depth, stream);
	}
}

void sk_onnx_print(const struct sk_onnx_model *model, FILE *stream)
{
	print_message(&sk_onnx_model_type, model, 0, stream);
}
