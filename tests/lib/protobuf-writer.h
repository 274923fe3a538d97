/* Writes protobuf's wire format into memory, as far as tests that make models need it. Fields are written in the order
 * of the calls; messages within messages by begin and end. */
#ifndef SK_TESTS_PROTOBUF_WRITER_H
#define SK_TESTS_PROTOBUF_WRITER_H

#include <stddef.h>
#include <stdint.h>

enum { WRITER_DEPTH = 400 };

struct writer {
	uint8_t *bytes;
	size_t size, capacity;
	size_t open[WRITER_DEPTH]; /* where the messages begin that have not ended */
	unsigned depth;
};

void write_integer(struct writer *writer, unsigned field, int64_t integer);
void write_float(struct writer *writer, unsigned field, float real);
void write_text(struct writer *writer, unsigned field, const char *text);
void write_bytes(struct writer *writer, unsigned field, const void *bytes, size_t size);
void write_packed(struct writer *writer, unsigned field, const int64_t *integers, size_t count);
/* A field of any kind, as it is. */
void write_raw(struct writer *writer, const void *bytes, size_t size);

void write_begin(struct writer *writer, unsigned field);
void write_end(struct writer *writer);

/* Free the bytes, and leave an empty writer. */
void write_reset(struct writer *writer);

#endif
