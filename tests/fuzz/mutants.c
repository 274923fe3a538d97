/* See mutants.h. */
#include "tests/fuzz/mutants.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* splitmix64. */
static uint64_t next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static size_t below(uint64_t *state, size_t limit)
{
	return limit ? next(state) % limit : 0;
}

/* ---- ELF ---- */

/* A part of a file. */
struct range {
	size_t start, size;
};

/* Choose the start of an object: the start of the file, or one of an archive's members. */
static struct range choose_object(uint64_t *state, const uint8_t *bytes, size_t size)
{
	size_t from = below(state, size), first = 0;

	if (size < 8 || memcmp(bytes, "!<arch>\n", 8) != 0)
		return (struct range){0, size};
	for (size_t i = 0; i + SELFMAG <= size; i++) {
		if (memcmp(bytes + i, ELFMAG, SELFMAG) != 0)
			continue;
		if (!first || i <= from)
			first = i;
	}
	return (struct range){first, size - first};
}

static struct range section_table(const uint8_t *bytes, struct range object)
{
	Elf64_Ehdr header;

	if (object.size < sizeof(header))
		return object;
	memcpy(&header, bytes + object.start, sizeof(header));

	uint64_t size = (uint64_t)header.e_shnum * sizeof(Elf64_Shdr);

	if (header.e_shoff > object.size || size > object.size - header.e_shoff || !size)
		return object;
	return (struct range){object.start + header.e_shoff, size};
}

/* The contents of a section that holds no code: symbols, names, relocations, frames, records, groups, tables. */
static struct range choose_data(uint64_t *state, const uint8_t *bytes, struct range object)
{
	struct range table = section_table(bytes, object);
	size_t count = table.size / sizeof(Elf64_Shdr);

	for (int attempts = 0; count && attempts < 20; attempts++) {
		Elf64_Shdr header;

		memcpy(&header, bytes + table.start + below(state, count) * sizeof(header), sizeof(header));
		if (header.sh_type != SHT_NULL && header.sh_type != SHT_NOBITS && !(header.sh_flags & SHF_EXECINSTR) &&
		    header.sh_size && header.sh_offset <= object.size &&
		    header.sh_size <= object.size - header.sh_offset)
			return (struct range){object.start + header.sh_offset, header.sh_size};
	}
	return object;
}

/* A number that is likely to matter where sizes, offsets and counts are read. */
static uint64_t interesting(uint64_t *state, size_t size)
{
	static const uint64_t numbers[] = {
		0,
		1,
		2,
		7,
		8,
		0x7f,
		0x80,
		0xff,
		0xfff1,
		0xfff2,
		0xffff,
		0x7fffffff,
		0x80000000,
		0xffffffff,
		0x100000000,
		(uint64_t)1 << 40,
		INT64_MAX,
		UINT64_MAX,
		(uint64_t)1 << 63,
	};
	size_t count = sizeof(numbers) / sizeof(numbers[0]), choice = below(state, count + 3);

	if (choice < count)
		return numbers[choice];
	return choice == count ? size : choice == count + 1 ? below(state, size) : size - below(state, 16);
}

/* Change a byte, or an aligned number, of the range. */
static void change(uint64_t *state, struct mutant *mutant, struct range range)
{
	size_t at = below(state, range.size), width = (size_t)1 << below(state, 4);
	uint8_t *byte = mutant->bytes + range.start + at;
	uint64_t value;

	switch (below(state, 4)) {
	case 0:
		*byte = (uint8_t)next(state);
		return;
	case 1:
		*byte ^= (uint8_t)(1 << below(state, 8));
		return;
	case 2: /* another number of the range */
		at = at / width * width;
		if (at + width <= range.size)
			memmove(mutant->bytes + range.start + at,
				mutant->bytes + range.start + below(state, range.size / width) * width, width);
		return;
	default:
		at = at / width * width;
		value = interesting(state, mutant->size);
		if (at + width <= range.size)
			memcpy(mutant->bytes + range.start + at, &value, width);
	}
}

static struct mutant copy_of(const uint8_t *bytes, size_t size)
{
	struct mutant mutant = {.bytes = malloc(size ? size : 1), .size = size};

	if (!mutant.bytes)
		abort();
	if (size)
		memcpy(mutant.bytes, bytes, size);
	return mutant;
}

struct mutant mutant_of_elf(const uint8_t *bytes, size_t size, uint64_t number)
{
	uint64_t state = number;
	struct mutant mutant = copy_of(bytes, size);
	struct range object = choose_object(&state, bytes, size), range = {0, size};

	switch (below(&state, 8)) {
	case 0:
		mutant.kind = "header";
		range = (struct range){object.start,
				       object.size < sizeof(Elf64_Ehdr) ? object.size : sizeof(Elf64_Ehdr)};
		break;
	case 1:
	case 2:
		mutant.kind = "section table";
		range = section_table(bytes, object);
		break;
	case 3:
	case 4:
	case 5:
		mutant.kind = "data";
		range = choose_data(&state, bytes, object);
		break;
	case 6:
		mutant.kind = "any byte";
		/* Headers of archives' members are rare among any bytes. */
		if (object.start >= 60 && below(&state, 2))
			range = (struct range){object.start - 60, 60};
		break;
	default:
		mutant.kind = "truncation";
		mutant.size = below(&state, 2) ? below(&state, size) : size - below(&state, size < 256 ? size : 256);
		return mutant;
	}
	for (size_t changes = 1 + below(&state, 3); changes-- && range.size;)
		change(&state, &mutant, range);
	return mutant;
}

/* ---- text ---- */

static const char *const words[] = {
	"sklink: 1\n",
	"device: a3\n",
	"tensors:\n",
	"tasks:\n",
	"kernels:\n",
	"scopes:\n",
	"library: lib.a\n",
	"name: ",
	"kernel: ",
	"op: ",
	"args: ",
	"set: ",
	"stream: ",
	"scope: ",
	"after: ",
	"record: ",
	"wait: ",
	"blocks: ",
	"dtype: ",
	"shape: ",
	"offset: ",
	"of: ",
	"role: ",
	"data: ",
	"unwritten: keep",
	"signature: ",
	"symbol: ",
	"object: ",
	"options: ",
	"null",
	"inout",
	"output",
	"temporary",
	"constant",
	"f32",
	"f64",
	"i64",
	"u8",
	"bf16",
	"bool",
	"split=n; ",
	"blocks=n; ",
	"block, ",
	"ref n i32",
	"scratch t[8]",
	" -> status",
	" -> out r f64",
	"reentrant ",
	"mix=1:2 ",
	"stream-fusion=1",
	"[",
	"]",
	"{",
	"}",
	": ",
	", ",
	"- ",
	"\n",
	"\n  ",
	"\"",
	"'",
	"#",
	"&a ",
	"*a",
	"!!str ",
	"<<: ",
	"---\n",
	"0",
	"1",
	"-1",
	"2",
	"64",
	"65535",
	"65536",
	"1048576",
	"1048577",
	"4294967295",
	"4294967296",
	"9223372036854775807",
	"18446744073709551615",
	"18446744073709551616",
	"1e308",
	".nan",
	"-.inf",
	"0x1f",
	"\xc3\xa9",
	"\xff",
	"@",
	"*",
	"%",
};

/* Replace the bytes of the range by length bytes. */
static void replace(struct mutant *mutant, struct range range, const void *bytes, size_t length)
{
	size_t rest = mutant->size - range.start - range.size;
	uint8_t *result = malloc(mutant->size - range.size + length + 1);

	if (!result)
		abort();
	memcpy(result, mutant->bytes, range.start);
	memcpy(result + range.start, bytes, length);
	memcpy(result + range.start + length, mutant->bytes + range.start + range.size, rest);
	free(mutant->bytes);
	mutant->bytes = result;
	mutant->size = range.start + length + rest;
}

/* A line with its end, or a few bytes. */
static struct range choose_piece(uint64_t *state, const struct mutant *mutant)
{
	size_t start = below(state, mutant->size), end = start;

	if (below(state, 2)) {
		size_t length = 1 + below(state, 32);

		return (struct range){start, length < mutant->size - start ? length : mutant->size - start};
	}
	while (start && mutant->bytes[start - 1] != '\n')
		start--;
	while (end < mutant->size && mutant->bytes[end] != '\n')
		end++;
	return (struct range){start, (end < mutant->size ? end + 1 : end) - start};
}

struct mutant mutant_of_text(const uint8_t *bytes, size_t size, uint64_t number)
{
	uint64_t state = number;
	struct mutant mutant = copy_of(bytes, size);

	mutant.kind = "text";
	for (size_t changes = 1 + below(&state, 4); changes-- && mutant.size;) {
		struct range piece = choose_piece(&state, &mutant), place = {below(&state, mutant.size), 0};
		const char *word = words[below(&state, sizeof(words) / sizeof(words[0]))];

		switch (below(&state, 7)) {
		case 0:
			replace(&mutant, piece, "", 0);
			break;
		case 1: /* insert the piece again, after itself or elsewhere */
			if (below(&state, 2))
				place.start = piece.start + piece.size;
			replace(&mutant, place, mutant.bytes + piece.start, piece.size);
			break;
		case 2:
			mutant.bytes[place.start] ^= (uint8_t)(1 << below(&state, 8));
			break;
		case 3:
			if (below(&state, 4) == 0)
				mutant.size = place.start;
			break;
		case 4:
			piece.size = piece.size < 8 ? piece.size : 8;
			replace(&mutant, piece, word, strlen(word));
			break;
		default:
			replace(&mutant, place, word, strlen(word));
		}
	}
	return mutant;
}

/* ---- messages ---- */

/* A message on its way from its old bytes to its new ones. */
struct rewriting {
	uint64_t *state;
	size_t fields; /* so far, of the whole tree */
	size_t target; /* the field that changes; SIZE_MAX: none */
	unsigned action;
};

struct bytes {
	uint8_t *bytes;
	size_t size, capacity;
};

static void append(struct bytes *to, const void *bytes, size_t size)
{
	if (to->size + size > to->capacity) {
		to->capacity = 2 * (to->size + size);
		to->bytes = realloc(to->bytes, to->capacity);
		if (!to->bytes)
			abort();
	}
	if (size)
		memcpy(to->bytes + to->size, bytes, size);
	to->size += size;
}

static void append_varint(struct bytes *to, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		append(to, &(uint8_t){(uint8_t)(value | 0x80)}, 1);
	append(to, &(uint8_t){(uint8_t)value}, 1);
}

static bool take_varint(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
	*value = 0;
	for (unsigned i = 0; i < 10 && *at < end; i++) {
		uint8_t byte = *(*at)++;

		*value |= (uint64_t)(byte & 0x7f) << 7 * i;
		if (byte < 0x80)
			return true;
	}
	return false;
}

struct field {
	uint64_t tag, value; /* of a varint */
	const uint8_t *payload;
	size_t size;
};

static bool take_field(const uint8_t **at, const uint8_t *end, struct field *field)
{
	uint64_t size;

	if (!take_varint(at, end, &field->tag) || !(field->tag >> 3))
		return false;
	field->payload = *at;
	switch (field->tag & 7) {
	case 0:
		if (!take_varint(at, end, &field->value))
			return false;
		field->size = (size_t)(*at - field->payload);
		return true;
	case 1:
	case 5:
		size = (field->tag & 7) == 1 ? 8 : 4;
		break;
	case 2:
		if (!take_varint(at, end, &size))
			return false;
		break;
	default:
		return false;
	}
	if (size > (size_t)(end - *at))
		return false;
	field->payload = *at;
	field->size = size;
	*at += size;
	return true;
}

static bool is_message(const uint8_t *at, size_t size)
{
	const uint8_t *end = at + size;
	struct field field;

	while (at < end)
		if (!take_field(&at, end, &field))
			return false;
	return size > 0;
}

static void append_field(struct bytes *to, uint64_t tag, const void *payload, size_t size)
{
	append_varint(to, tag);
	if ((tag & 7) == 2)
		append_varint(to, size);
	append(to, payload, size);
}

static void append_changed(struct rewriting *rewriting, const struct field *field, const struct bytes *payload,
			   struct bytes *to)
{
	uint64_t *state = rewriting->state;
	struct mutant part = copy_of(payload->bytes, payload->size);

	switch (rewriting->action) {
	case 0: /* taken out */
		break;
	case 1:
		append_field(to, field->tag, payload->bytes, payload->size);
		append_field(to, field->tag, payload->bytes, payload->size);
		break;
	case 2:
		append_field(to, (1 + below(state, 26)) << 3 | (field->tag & 7), payload->bytes, payload->size);
		break;
	case 3:
		append_field(to, (field->tag & ~(uint64_t)7) | below(state, 6), payload->bytes, payload->size);
		break;
	default:
		if ((field->tag & 7) == 0) {
			append_varint(to, field->tag);
			append_varint(to,
				      below(state, 2) ? interesting(state, 16) : field->value + below(state, 5) - 2);
			break;
		}
		if (part.size)
			change(state, &part, (struct range){0, part.size});
		if (below(state, 3) == 0)
			part.size = below(state, part.size);
		append_field(to, field->tag, part.bytes, part.size);
	}
	free(part.bytes);
}

static void rewrite(struct rewriting *rewriting, const uint8_t *at, size_t size, struct bytes *to)
{
	const uint8_t *end = at + size;
	struct field field;

	while (at < end && take_field(&at, end, &field)) {
		bool chosen = rewriting->fields++ == rewriting->target;
		struct bytes payload = {0};

		if ((field.tag & 7) == 2 && is_message(field.payload, field.size))
			rewrite(rewriting, field.payload, field.size, &payload);
		else
			append(&payload, field.payload, field.size);
		if (chosen)
			append_changed(rewriting, &field, &payload, to);
		else
			append_field(to, field.tag, payload.bytes, payload.size);
		free(payload.bytes);
	}
}

struct mutant mutant_of_message(const uint8_t *bytes, size_t size, uint64_t number)
{
	uint64_t state = number;
	struct mutant mutant = {.kind = "fields"};
	struct rewriting counting = {.state = &state, .target = SIZE_MAX};
	struct bytes current = {0}, counted = {0};

	if (!is_message(bytes, size) || below(&state, 8) == 0) {
		mutant = mutant_of_elf(bytes, size, number);
		mutant.kind = "any byte";
		return mutant;
	}
	append(&current, bytes, size);
	rewrite(&counting, bytes, size, &counted);
	free(counted.bytes);
	for (size_t changes = 1 + below(&state, 3); changes--;) {
		struct rewriting rewriting = {.state = &state,
					      .target = below(&state, counting.fields),
					      .action = (unsigned)below(&state, 8)};
		struct bytes changed = {0};

		rewrite(&rewriting, current.bytes, current.size, &changed);
		free(current.bytes);
		current = changed;
	}
	mutant.bytes = current.bytes ? current.bytes : malloc(1);
	mutant.size = current.size;
	return mutant;
}
