/* Shared functions of the parser; see signature-parts.h. */
#include <ctype.h>
#include <stdarg.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "format/signature/signature-parts.h"
#include "format/signature/signature.h"
#include "format/skplan.h"

/* Return the place in the signature that the text was made from; the place of the frame if there is none. */
static const char *find_outside(const struct sk_signature_source *source, const char *at)
{
	size_t offset = (size_t)(at - source->text);

	for (size_t i = 0; i < source->pieces.count; i++) {
		const struct sk_signature_piece *piece = &source->pieces.items[i];

		if (offset >= piece->at && offset < piece->at + piece->length)
			return piece->original + (offset - piece->at);
	}
	return source->outer->frame_at;
}

static void report(struct sk_signature_source *source, const char *at, const char *text)
{
	uint32_t column;
	struct sk_place place;

	for (; source->outer; source = source->outer) {
		source->failed = true;
		at = find_outside(source, at);
	}
	column = (uint32_t)(at - source->text) + 1;
	place = source->place;
	if (place.line && !place.section && !source->folded)
		place.column += column - 1;
	sk_error(source->diag, place, "signature, column %u: %s", column, text);
	source->failed = true;
}

void sk_signature_error(struct sk_signature_source *source, const char *at, const char *format, ...)
{
	va_list args;

	va_start(args, format);

	const char *text = sk_arena_print_list(source->arena, format, args);

	va_end(args);
	report(source, at, text);
}

void sk_signature_append(struct sk_signature_source *source, const char *text, size_t length)
{
	memcpy(source->normal + source->normal_length, text, length);
	source->normal_length += length;
}

bool sk_signature_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool sk_signature_is_word_character(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

bool sk_signature_is_one_of(const char *word, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(word, words[i]))
			return true;
	return false;
}

uint32_t sk_signature_attribute(struct sk_signature_source *source, struct sk_signature *signature, const char *at,
				const char *name)
{
	for (uint32_t i = 0; i < signature->attribute_count; i++)
		if (!strcmp(signature->attributes[i], name))
			return i;
	if (signature->attribute_count == SK_MAX_ATTRIBUTES) {
		sk_signature_error(source, at, "more than %d attributes of a task", SK_MAX_ATTRIBUTES);
		return SK_NONE;
	}
	signature->attributes[signature->attribute_count] = name;
	return signature->attribute_count++;
}

const char *sk_signature_attributes_end(const struct sk_signature_source *source)
{
	const char *end = strchr(source->text, ';');

	while (end && end != source->text && end[-1] == '\'' && end[1] == '\'')
		end = strchr(end + 1, ';');
	return end;
}

const char *sk_signature_glance_op(const char *text, size_t *length)
{
	const char *found = NULL, *end = sk_signature_attributes_end(&(struct sk_signature_source){.text = text});

	for (const char *at = text; end && end - at >= 3; at++) {
		if (memcmp(at, "op=", 3) != 0 || (at > text && !sk_signature_is_blank(at[-1])))
			continue;
		if (found)
			return NULL;
		found = at + 3;
	}
	*length = 0;
	while (found && found + *length < end && found[*length] != '(' && !sk_signature_is_blank(found[*length]))
		++*length;
	return *length ? found : NULL;
}

bool sk_parameter_is_nameless(const struct sk_parameter *parameter)
{
	return !parameter->name || (parameter->kind == SK_PARAMETER_STRUCT && !parameter->operands) ||
	       parameter->repeated || (parameter->owner != SK_NONE && parameter->value);
}

uint32_t sk_signature_find_parameter(const struct sk_signature *signature, const char *name)
{
	for (uint32_t i = 0; i < signature->parameter_count; i++)
		if (!sk_parameter_is_nameless(&signature->parameters[i]) &&
		    !strcmp(signature->parameters[i].name, name))
			return i;
	return SK_NONE;
}

uint32_t sk_signature_find_extent(const struct sk_signature *signature, const char *name)
{
	for (uint32_t i = 0; i < signature->extent_count; i++)
		if (!strcmp(signature->extents[i], name))
			return i;
	return SK_NONE;
}

bool sk_parameter_has_extent(const struct sk_parameter *parameter, uint32_t extent)
{
	for (uint32_t d = 0; d < parameter->rank; d++)
		for (const struct sk_extent *part = &parameter->extents[d]; part; part = part->more)
			for (uint32_t i = 0; i < part->name_count; i++)
				if (part->names[i] == extent)
					return true;
	return false;
}

uint32_t sk_parameter_dimension_of(const struct sk_parameter *parameter, uint32_t extent)
{
	for (uint32_t d = 0; d < parameter->rank; d++)
		if (parameter->extents[d].name_count && parameter->extents[d].names[0] == extent &&
		    !parameter->extents[d].more)
			return d;
	return SK_NONE;
}

bool sk_signature_divides(const struct sk_signature *signature, uint32_t extent)
{
	return signature->spread_extent == extent ||
	       (signature->loop_count == SK_MAX_LOOPS && signature->loops[1].extent == extent);
}

bool sk_parameter_is_divided_by(const struct sk_parameter *parameter, uint32_t extent)
{
	return parameter->kind == SK_PARAMETER_TENSOR && parameter->extents[0].name_count > 0 &&
	       parameter->extents[0].names[0] == extent;
}
