/* The header's part about sizes with bounds. Functions evaluate the values of the section .sk.dims as libskrt does. See
 * outputs-parts.h. */
#include "src/outputs/outputs-parts.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/text.h"
#include "format/plan/dims.h"
#include "format/plan/plan.h"
#include "format/skdims.h"
#include "format/skplan.h"

struct writer {
	struct sk_arena *arena;
	FILE *stream;
	const char *name;
	const struct sk_plan_view *plan;
	const struct sk_dims_view *dims;
	const char *const *tensors;
};

/* Question marks are escaped, since they could form trigraphs. */
void sk_header_print_string(FILE *stream, const char *text)
{
	putc('"', stream);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c < ' ' || c >= 0x7f || c == '"' || c == '\\' || c == '?')
			fprintf(stream, "\\%03o", c);
		else
			putc(c, stream);
	}
	putc('"', stream);
}

/* Return "seq", or "step_x3Aseq" of one of several networks. */
static const char *dimension_identifier(const struct writer *writer, const struct sk_dims_dimension *dimension)
{
	const char *network = sk_plan_string(&dimension->network), *name = sk_plan_string(&dimension->name);

	return sk_identifier(writer->arena,
			     *network ? sk_arena_join_all(writer->arena, network, ":", name, NULL) : name);
}

static void write_dimensions(const struct writer *writer)
{
	const char *name = writer->name;
	FILE *stream = writer->stream;

	fprintf(stream,
		"\n/* ---- sizes: dimensions by number, and the sizes that they take ----\n"
		" *\n"
		" * All numbers above are those of the largest sizes. `tensors` of serial entries has SK_%s_TENSORS "
		"addresses,\n"
		" * and after them SK_%s_SLOTS words, which SK_%s_set_sizes fills in. */\n\n"
		"#define SK_%s_DIMENSIONS %" PRIu32 "\n#define SK_%s_SLOTS %" PRIu32 "\n",
		name, name, name, name, writer->dims->dimension_count, name, writer->dims->slot_count);
	for (uint32_t i = 0; i < writer->dims->dimension_count; i++) {
		const struct sk_dims_dimension *dimension = &writer->dims->dimensions[i];
		const char *own = dimension_identifier(writer, dimension);

		fprintf(stream,
			"\n#define SK_%s_DIMENSION_%s %" PRIu32 "\n#define SK_%s_LEAST_%s UINT64_C(%" PRIu64
			")\n#define SK_%s_MOST_%s UINT64_C(%" PRIu64 ")\n",
			name, own, i, name, own, dimension->least, name, own, dimension->most);
	}
	fputs("\n#ifndef SK_PACKAGE_DIMENSION\n"
	      "#define SK_PACKAGE_DIMENSION\n"
	      "struct sk_package_dimension {\n"
	      "\tconst char *name;\n"
	      "\tconst char *network; /* \"\": there is one network */\n"
	      "\tuint64_t least, most;\n"
	      "\tuint64_t multiple; /* that sizes are multiples of */\n"
	      "\tuint64_t usual; /* the size that the package is planned for */\n"
	      "};\n"
	      "#endif\n",
	      stream);
	fprintf(stream, "\nstatic const struct sk_package_dimension SK_%s_dimension_table[SK_%s_DIMENSIONS] = {\n",
		name, name);
	for (uint32_t i = 0; i < writer->dims->dimension_count; i++) {
		const struct sk_dims_dimension *dimension = &writer->dims->dimensions[i];

		fputs("\t{", stream);
		sk_header_print_string(stream, sk_plan_string(&dimension->name));
		fputs(", ", stream);
		sk_header_print_string(stream, sk_plan_string(&dimension->network));
		fprintf(stream,
			", UINT64_C(%" PRIu64 "), UINT64_C(%" PRIu64 "), UINT64_C(%" PRIu64 "), UINT64_C(%" PRIu64
			")},\n",
			dimension->least, dimension->most, dimension->multiple, dimension->usual);
	}
	fputs("};\n", stream);
}

static void write_value(const struct writer *writer, uint32_t index)
{
	const struct sk_dims_value *value = &writer->dims->values[index];
	FILE *stream = writer->stream;

	fprintf(stream, "\tvalues[%" PRIu32 "] = ", index);
	switch ((enum sk_dims_op)value->op) {
	case SK_DIMS_NUMBER:
		fprintf(stream, "UINT64_C(%" PRIu64 ")", value->number);
		break;
	case SK_DIMS_DIMENSION:
		fprintf(stream, "sizes[%" PRIu32 "]", value->a);
		break;
	case SK_DIMS_ADD:
	case SK_DIMS_MULTIPLY:
		fprintf(stream, "values[%" PRIu32 "] %c values[%" PRIu32 "]", value->a,
			value->op == SK_DIMS_ADD ? '+' : '*', value->b);
		break;
	case SK_DIMS_SUBTRACT:
	case SK_DIMS_FLOOR:
		fprintf(stream, "values[%" PRIu32 "] %c UINT64_C(%" PRIu64 ")", value->a,
			value->op == SK_DIMS_FLOOR ? '/' : '-', value->number);
		break;
	case SK_DIMS_MIN:
	case SK_DIMS_MAX:
		fprintf(stream,
			"values[%" PRIu32 "] %c values[%" PRIu32 "] ? values[%" PRIu32 "] : values[%" PRIu32 "]",
			value->a, value->op == SK_DIMS_MIN ? '<' : '>', value->b, value->a, value->b);
		break;
	case SK_DIMS_OP_COUNT:
		break;
	}
	fputs(";\n", stream);
}

static void write_values(const struct writer *writer)
{
	fprintf(writer->stream,
		"\n#define SK_%s_VALUES %" PRIu32 "\n"
		"static inline void SK_%s_evaluate(const uint64_t *sizes, uint64_t *values)\n{\n",
		writer->name, writer->dims->value_count + !writer->dims->value_count, writer->name);
	if (!writer->dims->value_count)
		fputs("\t(void)sizes;\n\tvalues[0] = 0;\n", writer->stream);
	for (uint32_t i = 0; i < writer->dims->value_count; i++)
		write_value(writer, i);
	fputs("}\n", writer->stream);
}

static void write_slots(const struct writer *writer)
{
	const char *name = writer->name;
	FILE *stream = writer->stream;

	fprintf(stream,
		"\n/* Fill in the words after the tensors' addresses, for sizes of the dimensions by number. Returns "
		"0; or, "
		"and\n"
		" * nothing is filled in, the number of the first dimension that does not take its size, plus 1. */\n"
		"static inline int SK_%s_set_sizes(void **tensors, const uint64_t *sizes)\n{\n"
		"\tuint64_t values[SK_%s_VALUES];\n\n"
		"\tfor (int i = 0; i < SK_%s_DIMENSIONS; i++)\n"
		"\t\tif (sizes[i] < SK_%s_dimension_table[i].least || sizes[i] > SK_%s_dimension_table[i].most ||\n"
		"\t\t    sizes[i] %% SK_%s_dimension_table[i].multiple)\n"
		"\t\t\treturn i + 1;\n"
		"\tSK_%s_evaluate(sizes, values);\n",
		name, name, name, name, name, name, name);
	for (uint32_t i = 0; i < writer->dims->slot_count; i++)
		fprintf(stream, "\ttensors[%" PRIu32 "] = (void *)(uintptr_t)values[%" PRIu32 "];\n",
			writer->plan->binding_count + i, writer->dims->slots[i].value);
	if (!writer->dims->slot_count)
		fputs("\t(void)tensors;\n", stream);
	fputs("\treturn 0;\n}\n", stream);
}

/* "values[3]", or the number that the record has at all sizes. */
static void print_field(const struct writer *writer, uint32_t type, size_t offset, uint64_t number)
{
	uint32_t value = sk_dims_value_of(writer->dims, SK_DIMS_TYPES, type, offset);

	if (value == SK_NO_INDEX)
		fprintf(writer->stream, "UINT64_C(%" PRIu64 ")", number);
	else
		fprintf(writer->stream, "values[%" PRIu32 "]", value);
}

static void write_shapes(const struct writer *writer)
{
	const struct sk_plan_view *plan = writer->plan;
	FILE *stream = writer->stream;

	fprintf(stream,
		"\n/* Set the shape of a tensor, by number, for sizes of the dimensions by number, which they take. "
		"Returns "
		"its\n"
		" * bytes. */\n"
		"static inline uint64_t SK_%s_shape(int tensor, const uint64_t *sizes, uint64_t *shape)\n{\n"
		"\tuint64_t values[SK_%s_VALUES];\n\n"
		"\tSK_%s_evaluate(sizes, values);\n"
		"\tswitch (tensor) {\n",
		writer->name, writer->name, writer->name);
	for (uint32_t i = 0; i < plan->binding_count; i++) {
		const struct sk_plan_type *type = sk_plan_type(&plan->tensors[plan->bindings[i]]);
		uint32_t number = (uint32_t)(type - plan->types);

		fprintf(stream, "\tcase SK_%s_TENSOR_%s:\n", writer->name, writer->tensors[i]);
		for (uint32_t d = 0; d < type->rank; d++) {
			fprintf(stream, "\t\tshape[%" PRIu32 "] = ", d);
			print_field(writer, number, offsetof(struct sk_plan_type, shape) + d * sizeof(*type->shape),
				    type->shape[d]);
			fputs(";\n", stream);
		}
		fputs("\t\treturn ", stream);
		print_field(writer, number, offsetof(struct sk_plan_type, bytes), type->bytes);
		fputs(";\n", stream);
	}
	fputs("\tdefault:\n\t\t(void)shape;\n\t\treturn 0;\n\t}\n}\n", stream);
}

void sk_header_write_sizes(struct sk_arena *arena, const struct sk_header_contents *contents,
			   const char *const *tensors, FILE *stream)
{
	const struct writer writer = {.arena = arena,
				      .stream = stream,
				      .name = contents->name,
				      .plan = contents->plan,
				      .dims = contents->dims,
				      .tensors = tensors};

	write_dimensions(&writer);
	write_values(&writer);
	write_slots(&writer);
	write_shapes(&writer);
}
