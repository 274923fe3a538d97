/* Texts about values and dimensions of a .sk.dims; see dims.h. A text that is longer than its buffer ends with "…", so
 * that no part of an expression is taken for the whole one. */
#include "format/plan/dims.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "format/plan/plan.h"
#include "format/skdims.h"

enum { MOST_DEPTH = 32 }; /* of operands in a text */

struct text {
	char *start, *at;
	size_t left;
	unsigned depth;
	bool cut;
};

static void put(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct text *text, const char *format, ...)
{
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(text->at, text->left, format, args);
	va_end(args);
	if (length < 0 || text->left == 0)
		return;
	text->cut |= (size_t)length >= text->left;
	length = (size_t)length < text->left ? length : (int)text->left - 1;
	text->at += length;
	text->left -= (size_t)length;
}

/* Begin a text in the buffer. */
static struct text begin(char *text, size_t text_size)
{
	if (text_size)
		*text = '\0';
	return (struct text){.start = text, .at = text, .left = text_size};
}

/* Mark a text that is cut: its last character and what the mark needs give way to "…". */
static void finish(const struct text *text)
{
	size_t length = (size_t)(text->at - text->start), mark = strlen("…"), room = length + text->left;

	if (!text->cut)
		return;
	length -= length < mark ? length : mark;
	while (length && ((unsigned char)text->start[length] & 0xc0) == 0x80)
		length--;
	snprintf(text->start + length, room - length, room > mark ? "…" : "");
}

/* Put the name of a dimension as readers of expressions take it (base/sizes.h): with its network, if there are several,
 * and in double quotes if it would be read as something else. */
static void put_dimension(const struct sk_dims_dimension *dimension, struct text *text)
{
	const char *network = sk_plan_string(&dimension->network), *name = sk_plan_string(&dimension->name);

	if (*network)
		put(text, "\"%s:%s\"", network, name);
	else
		put(text, sk_is_size_name(name) ? "%s" : "\"%s\"", name);
}

/* Put a value; `sum` is true if it may be a sum without parentheses. */
static void put_value(const struct sk_dims_view *dims, uint32_t index, bool sum, struct text *text)
{
	const struct sk_dims_value *value = &dims->values[index];
	bool adds = value->op == SK_DIMS_ADD || value->op == SK_DIMS_SUBTRACT;

	if (text->cut)
		return;
	if (++text->depth > MOST_DEPTH) {
		put(text, "…");
		--text->depth;
		return;
	}
	put(text, "%s", adds && !sum ? "(" : "");
	switch ((enum sk_dims_op)value->op) {
	case SK_DIMS_NUMBER:
		put(text, "%" PRIu64, value->number);
		break;
	case SK_DIMS_DIMENSION:
		put_dimension(&dims->dimensions[value->a], text);
		break;
	case SK_DIMS_ADD:
	case SK_DIMS_MULTIPLY:
		put_value(dims, value->a, adds, text);
		put(text, "%c", adds ? '+' : '*');
		put_value(dims, value->b, adds, text);
		break;
	case SK_DIMS_SUBTRACT:
		put_value(dims, value->a, true, text);
		put(text, "-%" PRIu64, value->number);
		break;
	case SK_DIMS_FLOOR:
		put(text, "floor(");
		put_value(dims, value->a, false, text);
		put(text, "/%" PRIu64 ")", value->number);
		break;
	case SK_DIMS_MIN:
	case SK_DIMS_MAX:
		put(text, "%s(", value->op == SK_DIMS_MIN ? "min" : "max");
		put_value(dims, value->a, true, text);
		put(text, ",");
		put_value(dims, value->b, true, text);
		put(text, ")");
		break;
	case SK_DIMS_OP_COUNT:
		break;
	}
	put(text, "%s", adds && !sum ? ")" : "");
	--text->depth;
}

void sk_dims_value_text(const struct sk_dims_view *dims, uint32_t value, char *text, size_t text_size)
{
	struct text to = begin(text, text_size);

	put_value(dims, value, true, &to);
	finish(&to);
}

/* ---- names ---- */

/* sizes NULL: only the names. */
static void put_names(const struct sk_dims_view *dims, const char *network, const uint64_t *sizes, char *text,
		      size_t text_size)
{
	struct text to = begin(text, text_size);
	const char *separator = "";

	for (uint32_t i = 0; i < dims->dimension_count; i++) {
		const char *own = sk_plan_string(&dims->dimensions[i].network);

		if ((network && strcmp(own, network) != 0) ||
		    (sizes && dims->dimensions[i].least == dims->dimensions[i].most))
			continue;
		put(&to, "%s%s%s%s", separator, network ? "" : own, network || !*own ? "" : ":",
		    sk_plan_string(&dims->dimensions[i].name));
		if (sizes)
			put(&to, "=%" PRIu64, sizes[i]);
		separator = ", ";
	}
	finish(&to);
}

void sk_dims_names_text(const struct sk_dims_view *dims, const char *network, char *text, size_t text_size)
{
	put_names(dims, network, NULL, text, text_size);
}

void sk_dims_sizes_text(const struct sk_dims_view *dims, const char *network, const uint64_t *sizes, char *text,
			size_t text_size)
{
	put_names(dims, network, sizes, text, text_size);
}
