/* .npy files. Reading takes a path and the wanted dtype, and returns a mapping. The header is parsed strictly, and the
 * file's size must fit the shape to the byte. Written files are those of numpy.save. The format is NumPy's NEP 1:
 * magic, version, length of the header, a Python dictionary of exactly three keys, then the elements. */
#include "config.h"

#include "format/npy/npy.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "format/skplan.h"

enum {
	MAGIC_SIZE = 6,
	HEADER_ALIGN = 64, /* of the first element, in written files */
	HEADER_LIMIT = 1 << 20,
	WRITE_LIMIT = 1 << 30, /* bytes a system call */
};

static const char magic[MAGIC_SIZE + 1] = "\x93NUMPY";

/* NumPy's names of each dtype in little-endian files. The first one is written, all are read. */
static const char *const descriptions[SK_DTYPE_COUNT][4] = {
	[SK_I8] = {"|i1", "<i1"}, [SK_U8] = {"|u1", "<u1"},
	[SK_I16] = {"<i2"},	  [SK_U16] = {"<u2"},
	[SK_I32] = {"<i4"},	  [SK_U32] = {"<u4"},
	[SK_I64] = {"<i8"},	  [SK_U64] = {"<u8"},
	[SK_F16] = {"<f2"},	  [SK_BF16] = {"<V2", "|V2", "<u2"},
	[SK_F32] = {"<f4"},	  [SK_F64] = {"<f8"},
	[SK_BOOL] = {"|b1"},
};

static bool refuse_file(char *error, size_t error_size, const char *format, ...) __attribute__((format(printf, 3, 4)));

static bool refuse_file(char *error, size_t error_size, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(error, error_size, format, arguments);
	va_end(arguments);
	return false;
}

/* ---- the header's dictionary ---- */

/* The remaining text, and the buffer for errors. */
struct parser {
	const char *at, *end;
	char *error;
	size_t error_size;
};

struct header {
	bool has_description, has_order, has_shape;
	char description[32];
	bool fortran_order;
	uint32_t rank;
	uint64_t shape[SK_MAX_RANK];
};

static void skip_space(struct parser *parser)
{
	while (parser->at < parser->end && (*parser->at == ' ' || *parser->at == '\n'))
		parser->at++;
}

static bool accept(struct parser *parser, char wanted)
{
	skip_space(parser);
	if (parser->at == parser->end || *parser->at != wanted)
		return false;
	parser->at++;
	return true;
}

static bool expect(struct parser *parser, char wanted, const char *place)
{
	if (accept(parser, wanted))
		return true;
	if (parser->at == parser->end)
		return refuse_file(parser->error, parser->error_size, "the header ends where '%c' is expected %s",
				   wanted, place);
	return refuse_file(parser->error, parser->error_size, "the header has byte 0x%02x where '%c' is expected %s",
			   (unsigned char)*parser->at, wanted, place);
}

static bool accept_word(struct parser *parser, const char *word)
{
	size_t length = strlen(word);

	skip_space(parser);
	if ((size_t)(parser->end - parser->at) < length || memcmp(parser->at, word, length))
		return false;
	parser->at += length;
	return true;
}

/* Parse a quoted string of printable characters without escapes. */
static bool parse_string(struct parser *parser, char *text, size_t size, const char *place)
{
	char quote;
	size_t length = 0;

	if (accept(parser, '\''))
		quote = '\'';
	else if (accept(parser, '"'))
		quote = '"';
	else
		return refuse_file(parser->error, parser->error_size, "the header has no string %s", place);
	while (parser->at < parser->end && *parser->at != quote) {
		if (*parser->at < ' ' || *parser->at > '~' || *parser->at == '\\')
			return refuse_file(parser->error, parser->error_size,
					   "the header has byte 0x%02x in the string %s", (unsigned char)*parser->at,
					   place);
		if (length + 1 == size)
			return refuse_file(parser->error, parser->error_size, "the header's string %s is too long",
					   place);
		text[length++] = *parser->at++;
	}
	text[length] = '\0';
	return expect(parser, quote, place);
}

static bool parse_extent(struct parser *parser, uint64_t *extent)
{
	skip_space(parser);
	if (parser->at == parser->end || *parser->at < '0' || *parser->at > '9')
		return refuse_file(parser->error, parser->error_size, "the header's shape is not a tuple of numbers");
	*extent = 0;
	while (parser->at < parser->end && *parser->at >= '0' && *parser->at <= '9') {
		if (__builtin_mul_overflow(*extent, 10, extent) ||
		    __builtin_add_overflow(*extent, (uint64_t)(*parser->at - '0'), extent))
			return refuse_file(parser->error, parser->error_size, "an extent of the shape exceeds 64 bits");
		parser->at++;
	}
	return true;
}

static bool parse_shape(struct parser *parser, struct header *header)
{
	if (!expect(parser, '(', "for the shape"))
		return false;
	header->rank = 0;
	while (!accept(parser, ')')) {
		if (header->rank == SK_MAX_RANK)
			return refuse_file(parser->error, parser->error_size, "the shape has more than %d dimensions",
					   SK_MAX_RANK);
		if (!parse_extent(parser, &header->shape[header->rank++]))
			return false;
		if (accept(parser, ','))
			continue;
		/* (3) is a number in Python, not a tuple. */
		if (header->rank == 1)
			return expect(parser, ',', "in a shape of one dimension");
		return expect(parser, ')', "after the shape");
	}
	return true;
}

static bool parse_value(struct parser *parser, struct header *header, const char *key)
{
	bool *seen = NULL;
	bool good = false;

	if (!strcmp(key, "descr")) {
		seen = &header->has_description;
		if (accept(parser, '['))
			return refuse_file(parser->error, parser->error_size,
					   "the elements are records, not plain numbers");
		good = parse_string(parser, header->description, sizeof(header->description), "for 'descr'");
	} else if (!strcmp(key, "fortran_order")) {
		seen = &header->has_order;
		header->fortran_order = accept_word(parser, "True");
		good = header->fortran_order || accept_word(parser, "False") ||
		       refuse_file(parser->error, parser->error_size, "'fortran_order' is neither True nor False");
	} else if (!strcmp(key, "shape")) {
		seen = &header->has_shape;
		good = parse_shape(parser, header);
	} else {
		return refuse_file(parser->error, parser->error_size, "the header has an unknown key '%s'", key);
	}
	if (good && *seen)
		return refuse_file(parser->error, parser->error_size, "the header has the key '%s' twice", key);
	*seen = true;
	return good;
}

static bool parse_dictionary(struct parser *parser, struct header *header)
{
	if (!expect(parser, '{', "at its start"))
		return false;
	while (!accept(parser, '}')) {
		char key[32];

		if (!parse_string(parser, key, sizeof(key), "for a key") || !expect(parser, ':', "after a key") ||
		    !parse_value(parser, header, key))
			return false;
		if (accept(parser, ','))
			continue;
		if (!expect(parser, '}', "after a value"))
			return false;
		break;
	}
	skip_space(parser);
	if (parser->at != parser->end)
		return refuse_file(parser->error, parser->error_size, "the header goes on after its dictionary");
	const char *missing = !header->has_description ? "descr"
			      : !header->has_order     ? "fortran_order"
			      : !header->has_shape     ? "shape"
						       : NULL;
	if (missing)
		return refuse_file(parser->error, parser->error_size, "the header has no key '%s'", missing);
	return true;
}

/* ---- reading ---- */

/* Return the manifest's name of a description, if its type is known. */
static const char *describe_type(const char *description)
{
	for (enum sk_dtype dtype = SK_DTYPE_NONE + 1; dtype < SK_DTYPE_COUNT; dtype++)
		if (!strcmp(descriptions[dtype][0], description))
			return sk_dtype_name(dtype);
	return description[0] == '>' ? "big-endian" : "not a type that kernels take";
}

static bool check_type(const struct header *header, enum sk_dtype dtype, char *error, size_t error_size)
{
	for (int i = 0; descriptions[dtype][i]; i++)
		if (!strcmp(descriptions[dtype][i], header->description))
			return true;
	return refuse_file(error, error_size, "the elements are '%s' (%s), wanted is %s ('%s')", header->description,
			   describe_type(header->description), sk_dtype_name(dtype), descriptions[dtype][0]);
}

/* Compute the bytes of an array. An extent of 0 makes it empty, however large the others are. */
static bool measure_array(enum sk_dtype dtype, uint32_t rank, const uint64_t *shape, uint64_t *bytes, char *error,
			  size_t error_size)
{
	char text[SK_SHAPE_SIZE];
	bool overflow = false;

	*bytes = sk_dtype_size(dtype);
	for (uint32_t i = 0; i < rank; i++) {
		if (shape[i] == 0) {
			*bytes = 0;
			return true;
		}
		overflow |= __builtin_mul_overflow(*bytes, shape[i], bytes);
	}
	return !overflow || refuse_file(error, error_size, "the shape %s is too large",
					sk_print_shape(rank, shape, text, sizeof(text)));
}

/* After the header the file must have exactly the elements of the shape. */
static bool check_size(const struct header *header, enum sk_dtype dtype, uint64_t found, uint64_t *bytes, char *error,
		       size_t error_size)
{
	char shape[SK_SHAPE_SIZE];

	if (!measure_array(dtype, header->rank, header->shape, bytes, error, error_size))
		return false;
	sk_print_shape(header->rank, header->shape, shape, sizeof(shape));
	if (found < *bytes)
		return refuse_file(error, error_size,
				   "the file is truncated: shape %s of %s needs %" PRIu64 " bytes of elements, %" PRIu64
				   " are there",
				   shape, sk_dtype_name(dtype), *bytes, found);
	if (found > *bytes)
		return refuse_file(error, error_size, "%" PRIu64 " bytes follow the %" PRIu64 " of shape %s",
				   found - *bytes, *bytes, shape);
	return true;
}

static uint64_t little_endian(const unsigned char *bytes, int count)
{
	uint64_t value = 0;

	for (int i = count - 1; i >= 0; i--)
		value = value << 8 | bytes[i];
	return value;
}

/* True if the order of elements changes when the first dimension is the contiguous one. */
static bool has_orders(const struct header *header)
{
	uint32_t long_ones = 0;

	for (uint32_t i = 0; i < header->rank; i++) {
		if (header->shape[i] == 0)
			return false;
		long_ones += header->shape[i] > 1;
	}
	return long_ones > 1;
}

/* Parse the mapped file, and set all of npy except the mapping. */
static bool parse_file(const unsigned char *bytes, uint64_t size, enum sk_dtype dtype, struct sk_npy *npy, char *error,
		       size_t error_size)
{
	if (size < MAGIC_SIZE || memcmp(bytes, magic, MAGIC_SIZE))
		return refuse_file(error, error_size, "not a .npy file (it does not begin with \\x93NUMPY)");
	if (size < MAGIC_SIZE + 2)
		return refuse_file(error, error_size, "the file is truncated in its header");
	unsigned major = bytes[MAGIC_SIZE], minor = bytes[MAGIC_SIZE + 1];
	if ((major != 1 && major != 2) || minor != 0)
		return refuse_file(error, error_size, ".npy version %u.%u; versions 1.0 and 2.0 are read", major,
				   minor);

	int length_size = major == 1 ? 2 : 4;
	uint64_t start = (uint64_t)(MAGIC_SIZE + 2 + length_size);
	if (size < start)
		return refuse_file(error, error_size, "the file is truncated in its header");
	uint64_t length = little_endian(bytes + MAGIC_SIZE + 2, length_size);
	if (length > size - start)
		return refuse_file(error, error_size,
				   "the file is truncated in its header: %" PRIu64 " bytes are announced, %" PRIu64
				   " are there",
				   length, size - start);
	if (length > HEADER_LIMIT)
		return refuse_file(error, error_size, "a header of %" PRIu64 " bytes is too long", length);

	struct header header = {0};
	struct parser parser = {
		.at = (const char *)bytes + start,
		.end = (const char *)bytes + start + length,
		.error = error,
		.error_size = error_size,
	};
	if (!parse_dictionary(&parser, &header) || !check_type(&header, dtype, error, error_size))
		return false;
	if (header.fortran_order && has_orders(&header))
		return refuse_file(error, error_size,
				   "the array is in Fortran order, wanted is C order (numpy.ascontiguousarray)");
	npy->rank = header.rank;
	memcpy(npy->shape, header.shape, sizeof(npy->shape));
	npy->data = bytes + start + length;
	return check_size(&header, dtype, size - start - length, &npy->bytes, error, error_size);
}

bool sk_npy_open(const char *path, enum sk_dtype dtype, struct sk_npy *npy, char *error, size_t error_size)
{
	struct stat status;

	memset(npy, 0, sizeof(*npy));
	if (sk_dtype_size(dtype) == 0)
		return refuse_file(error, error_size, "no such element type: %d", (int)dtype);
	/* O_NONBLOCK: opening a pipe must not wait for a writer. */
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file < 0)
		return refuse_file(error, error_size, "%s", strerror(errno));
	if (fstat(file, &status) || !S_ISREG(status.st_mode)) {
		close(file);
		return refuse_file(error, error_size, "not a regular file");
	}
	if (status.st_size == 0) {
		close(file);
		return refuse_file(error, error_size, "the file is empty");
	}
	const void *mapping = sk_map_file(file, (size_t)status.st_size, path);
	int reason = errno;
	close(file);
	if (!mapping)
		return refuse_file(error, error_size, "%s", strerror(reason));
	if (!parse_file(mapping, (uint64_t)status.st_size, dtype, npy, error, error_size)) {
		sk_unmap_file(mapping, (size_t)status.st_size);
		memset(npy, 0, sizeof(*npy));
		return false;
	}
	npy->mapping = mapping;
	npy->mapping_size = (size_t)status.st_size;
	return true;
}

void sk_npy_close(struct sk_npy *npy)
{
	if (npy->mapping)
		sk_unmap_file(npy->mapping, npy->mapping_size);
	memset(npy, 0, sizeof(*npy));
}

/* ---- writing ---- */

/* Make a header of version 1.0, which is always sufficient: eight extents of 20 digits are far below 65,535 bytes.
 * Return its size. */
static size_t make_header(enum sk_dtype dtype, uint32_t rank, const uint64_t *shape, char *header, size_t size)
{
	const size_t start = MAGIC_SIZE + 4;
	size_t used =
		start + (size_t)snprintf(header + start, size - start,
					 "{'descr': '%s', 'fortran_order': False, 'shape': (", descriptions[dtype][0]);

	for (uint32_t i = 0; i < rank; i++)
		used += (size_t)snprintf(header + used, size - used, "%s%" PRIu64, i ? ", " : "", shape[i]);
	used += (size_t)snprintf(header + used, size - used, "%s), }", rank == 1 ? "," : "");

	size_t total = (used + 1 + HEADER_ALIGN - 1) / HEADER_ALIGN * HEADER_ALIGN;
	memset(header + used, ' ', total - used - 1);
	header[total - 1] = '\n';
	memcpy(header, magic, MAGIC_SIZE);
	header[MAGIC_SIZE] = 1;
	header[MAGIC_SIZE + 1] = 0;
	header[MAGIC_SIZE + 2] = (char)((total - start) & 0xff);
	header[MAGIC_SIZE + 3] = (char)((total - start) >> 8);
	return total;
}

static bool write_all(int file, const void *bytes, uint64_t size)
{
	const char *at = bytes;

	while (size) {
		ssize_t count = write(file, at, size < WRITE_LIMIT ? size : WRITE_LIMIT);

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return false;
		at += count;
		size -= (uint64_t)count;
	}
	return true;
}

/* Open the destination: path itself if it is special, since /dev/null must not be replaced by a file. */
static int open_output(const char *path, bool *in_place)
{
	*in_place = sk_is_special(path);
	return *in_place ? sk_special_open(path) : sk_unfinished_create(path, 0666);
}

bool sk_npy_write(const char *path, enum sk_dtype dtype, uint32_t rank, const uint64_t *shape, const void *data,
		  char *error, size_t error_size)
{
	char header[512];
	uint64_t bytes;

	if (sk_dtype_size(dtype) == 0 || rank > SK_MAX_RANK)
		return refuse_file(error, error_size, "no such array: type %d, %" PRIu32 " dimensions", (int)dtype,
				   rank);
	if (!measure_array(dtype, rank, shape, &bytes, error, error_size))
		return false;
	size_t header_size = make_header(dtype, rank, shape, header, sizeof(header));

	bool in_place;
	int file = open_output(path, &in_place);
	if (file < 0)
		return refuse_file(error, error_size, "%s", strerror(errno));
	bool good = write_all(file, header, header_size) && write_all(file, data, bytes);
	int reason = errno;
	if (close(file) && good) {
		good = false;
		reason = errno;
	}
	if (good && !in_place && !sk_unfinished_finish(path)) {
		good = false;
		reason = errno;
	}
	if (good)
		return true;
	sk_unfinished_remove(path);
	return refuse_file(error, error_size, "%s", strerror(reason));
}
