/* Signatures of functions with debug information; see draft-parts.h. Input: the function's entry in the debug
 * information. Output: text. */
#include "src/draft/draft-parts.h"

#include <dwarf.h>
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "format/convention.h"
#include "format/skplan.h"

struct writer {
	struct sk_arena *arena;
	SK_ARRAY(struct sk_draft_parameter) parameters;
	const char *count; /* the only integer among them; NULL: there is not exactly one */
	FILE *out;
	struct sk_draft draft;
};

/* ---- parameters ---- */

const char *sk_draft_name(struct sk_arena *arena, const char *name, size_t number)
{
	static const char *const words[] = {"in",  "out",  "inout", "ref", "block", "scratch", "i8",
					    "u8",  "i16",  "u16",   "i32", "u32",   "i64",     "u64",
					    "f16", "bf16", "f32",   "f64", "bool"};

	if (!name || !*name)
		return sk_arena_print(arena, "p%zu", number + 1);
	name = sk_identifier(arena, name);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(name, words[i]))
			return sk_arena_print(arena, "%s_", name);
	return name;
}

/* A function that is also inlined has its parameters, in their order, in its abstract form. */
static void read_parameters(struct writer *writer, Dwarf_Die *function)
{
	Dwarf_Die child, origin;
	Dwarf_Attribute attribute;

	if (dwarf_formref_die(dwarf_attr(function, DW_AT_abstract_origin, &attribute), &origin))
		function = &origin;
	for (int more = dwarf_child(function, &child); more == 0; more = dwarf_siblingof(&child, &child)) {
		struct sk_draft_parameter parameter = {0};

		if (dwarf_tag(&child) != DW_TAG_formal_parameter)
			continue;
		parameter.name = sk_draft_name(writer->arena, dwarf_diename(&child), writer->parameters.count);
		sk_draft_describe(writer->arena, &child, &parameter);
		sk_array_push(writer->arena, &writer->parameters, parameter);
	}
}

static void find_count(struct writer *writer)
{
	size_t integers = 0;

	for (size_t i = 0; i < writer->parameters.count; i++) {
		const struct sk_draft_parameter *parameter = &writer->parameters.items[i];

		if (parameter->tensor || !parameter->dtype || sk_dtype_is_float(parameter->dtype))
			continue;
		writer->count = parameter->name;
		integers++;
	}
	if (integers != 1)
		writer->count = NULL;
}

/* ---- text ---- */

static bool is_counted(const struct writer *writer, const struct sk_draft_parameter *parameter)
{
	return writer->count && parameter->tensor && parameter->rank == 1 && !parameter->extents[0] &&
	       !parameter->descriptor && !parameter->slice;
}

static bool is_parameter(const struct writer *writer, const char *name)
{
	for (size_t i = 0; i < writer->parameters.count; i++)
		if (!strcmp(writer->parameters.items[i].name, name))
			return true;
	return false;
}

/* Return the name of an extent that is not known: x_0 for the first one of x, unless a parameter has this name. */
static const char *extent_name(const struct writer *writer, const struct sk_draft_parameter *parameter, uint32_t number)
{
	const char *name = sk_arena_print(writer->arena, "%s_%u", parameter->name, number);

	while (is_parameter(writer, name))
		name = sk_arena_print(writer->arena, "%s_", name);
	return name;
}

static void put_extents(const struct writer *writer, const struct sk_draft_parameter *parameter)
{
	for (uint32_t i = 0; i < parameter->rank; i++) {
		fputs(i ? "," : "[", writer->out);
		if (parameter->extents[i])
			fprintf(writer->out, "%" PRIu64, parameter->extents[i]);
		else if (is_counted(writer, parameter))
			fputs(writer->count, writer->out);
		else
			fputs(extent_name(writer, parameter, i), writer->out);
	}
	fputc(']', writer->out);
}

static void put_parameter(const struct writer *writer, const struct sk_draft_parameter *parameter)
{
	if (parameter->tensor) {
		fprintf(writer->out, "%s %s %s", parameter->constant ? "in" : "inout", parameter->name,
			sk_dtype_name(parameter->dtype));
		put_extents(writer, parameter);
		if (parameter->descriptor)
			fputs(" as gfortran", writer->out);
		if (parameter->slice)
			fprintf(writer->out, ", %s u64", extent_name(writer, parameter, 0));
	} else if (parameter->dtype) {
		fprintf(writer->out, "%s%s %s", parameter->by_reference ? "ref " : "", parameter->name,
			sk_dtype_name(parameter->dtype));
	} else {
		fprintf(writer->out, "%s ptr = null", parameter->name);
	}
}

static void put_result(struct writer *writer, Dwarf_Die *function)
{
	struct sk_draft_parameter result = {0};

	sk_draft_describe(writer->arena, function, &result);
	if (!result.tensor && result.dtype == SK_I32)
		fputs(" -> status", writer->out);
	else if (!result.tensor && result.dtype && result.dtype != SK_F16 && result.dtype != SK_BF16)
		fprintf(writer->out, " -> out result %s", sk_dtype_name(result.dtype));
}

/* ---- notes ---- */

static void add_note(struct writer *writer, const char *text)
{
	sk_array_push(writer->arena, &writer->draft.notes, text);
}

/* Return the names of the parameters that a note is about, or NULL. */
static const char *join_names(const struct writer *writer,
			      bool (*fits)(const struct writer *writer, const struct sk_draft_parameter *parameter))
{
	const char *names = NULL;

	for (size_t i = 0; i < writer->parameters.count; i++)
		if (fits(writer, &writer->parameters.items[i]))
			names = sk_arena_join_all(writer->arena, names ? names : "", names ? ", " : "",
						  writer->parameters.items[i].name, NULL);
	return names;
}

static bool is_written(const struct writer *writer, const struct sk_draft_parameter *parameter)
{
	(void)writer;
	return parameter->tensor && !parameter->constant;
}

static bool has_unknown_extents(const struct writer *writer, const struct sk_draft_parameter *parameter)
{
	bool known = true;

	for (uint32_t i = 0; i < parameter->rank; i++)
		known &= parameter->extents[i] != 0;
	return parameter->tensor && !known && !parameter->slice && !is_counted(writer, parameter);
}

static void note_placeholders(struct writer *writer)
{
	for (size_t i = 0; i < writer->parameters.count; i++) {
		const struct sk_draft_parameter *parameter = &writer->parameters.items[i];

		if (parameter->dtype)
			continue;
		writer->draft.usable = false;
		add_note(writer,
			 sk_arena_print(writer->arena,
					"%s: %s; describe it instead of 'ptr = null': a tensor, or a struct {...}*",
					parameter->name, parameter->type));
	}
}

static void note_result(struct writer *writer, Dwarf_Die *function)
{
	struct sk_draft_parameter result = {0};

	sk_draft_describe(writer->arena, function, &result);
	if (!result.tensor && result.dtype == SK_I32)
		add_note(writer, "status: the result is taken for one, where 0 means success; otherwise say '-> out "
				 "result i32'");
	else if (result.tensor || (!result.dtype && result.type && !strcmp(result.type, "void *")))
		add_note(writer, "result: the address that the function returns is not used");
	else if (result.type || result.dtype == SK_F16 || result.dtype == SK_BF16) {
		writer->draft.usable = false;
		add_note(writer, sk_arena_print(writer->arena, "result: signatures have none of this type: %s",
						result.type ? result.type : sk_dtype_name(result.dtype)));
	}
}

static void add_notes(struct writer *writer, Dwarf_Die *function)
{
	const char *written = join_names(writer, is_written), *open = join_names(writer, has_unknown_extents);
	const char *counted = join_names(writer, is_counted);

	note_placeholders(writer);
	if (written)
		add_note(writer,
			 sk_arena_print(writer->arena,
					"%s: 'out' if the function writes all of it and reads nothing of it before, "
					"'in' if it writes nothing",
					written));
	if (counted)
		add_note(writer, sk_arena_print(writer->arena, "%s: taken for the number of elements of %s",
						writer->count, counted));
	if (open)
		add_note(writer,
			 sk_arena_print(writer->arena,
					"%s: the extents are not known; write them with the names of scalars, or as "
					"numbers",
					open));
	note_result(writer, function);
}

struct sk_draft sk_draft_function(struct sk_arena *arena, Dwarf_Die *function)
{
	struct writer writer = {.arena = arena, .draft.usable = true};
	struct sk_text text;

	read_parameters(&writer, function);
	find_count(&writer);
	sk_text_open(&text);
	writer.out = text.stream;
	for (size_t i = 0; i < writer.parameters.count; i++) {
		fputs(i ? ", " : "", text.stream);
		put_parameter(&writer, &writer.parameters.items[i]);
	}
	put_result(&writer, function);
	sk_text_close(arena, &text);
	writer.draft.signature = text.bytes;
	add_notes(&writer, function);
	return writer.draft;
}
