/* A tiny encoder; see protobuf-writer.h. */
#include "tests/lib/protobuf-writer.h"

#include <stdlib.h>
#include <string.h>

static void append(struct writer *writer, const void *bytes, size_t size)
{
	if (writer->size + size > writer->capacity) {
		writer->capacity = 2 * (writer->size + size);
		writer->bytes = realloc(writer->bytes, writer->capacity);
		if (!writer->bytes)
			abort();
	}
	if (size)
		memcpy(writer->bytes + writer->size, bytes, size);
	writer->size += size;
}

static size_t encode(uint64_t value, uint8_t bytes[10])
{
	size_t size = 0;

	for (; value >= 0x80; value >>= 7)
		bytes[size++] = (uint8_t)(value | 0x80);
	bytes[size++] = (uint8_t)value;
	return size;
}

static void append_varint(struct writer *writer, uint64_t value)
{
	uint8_t bytes[10];

	append(writer, bytes, encode(value, bytes));
}

void write_integer(struct writer *writer, unsigned field, int64_t integer)
{
	append_varint(writer, field << 3);
	append_varint(writer, (uint64_t)integer);
}

void write_float(struct writer *writer, unsigned field, float real)
{
	append_varint(writer, field << 3 | 5);
	append(writer, &real, sizeof(real));
}

void write_bytes(struct writer *writer, unsigned field, const void *bytes, size_t size)
{
	append_varint(writer, field << 3 | 2);
	append_varint(writer, size);
	append(writer, bytes, size);
}

void write_text(struct writer *writer, unsigned field, const char *text)
{
	write_bytes(writer, field, text, strlen(text));
}

void write_packed(struct writer *writer, unsigned field, const int64_t *integers, size_t count)
{
	write_begin(writer, field);
	for (size_t i = 0; i < count; i++)
		append_varint(writer, (uint64_t)integers[i]);
	write_end(writer);
}

void write_raw(struct writer *writer, const void *bytes, size_t size)
{
	append(writer, bytes, size);
}

void write_begin(struct writer *writer, unsigned field)
{
	if (writer->depth == WRITER_DEPTH)
		abort();
	append_varint(writer, field << 3 | 2);
	writer->open[writer->depth++] = writer->size;
}

/* The length is inserted before the message's bytes. */
void write_end(struct writer *writer)
{
	size_t start = writer->open[--writer->depth], size = writer->size - start;
	uint8_t bytes[10];
	size_t length = encode(size, bytes);

	append(writer, bytes, length);
	memmove(writer->bytes + start + length, writer->bytes + start, size);
	memcpy(writer->bytes + start, bytes, length);
}

void write_reset(struct writer *writer)
{
	free(writer->bytes);
	*writer = (struct writer){0};
}
