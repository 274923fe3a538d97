/* The text of the header, in its order. Names of launches are C identifiers. Names of tensors may be any text, so they
 * become identifiers here and never appear in comments. */
#include "src/outputs/outputs-parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/text.h"
#include "format/plan/dims.h"
#include "format/plan/plan.h"
#include "format/skplan.h"
#include "src/planning/planning.h"

struct writer {
	struct sk_arena *arena;
	FILE *stream;
	const struct sk_header_contents *contents;
	const char *name;
	const struct sk_plan_view *plan;
	const char **tensors; /* identifiers by binding number */
	bool *has_serial_entry; /* by launch */
};

/* ---- names ---- */

static const struct sk_plan_tensor *tensor_at(const struct writer *writer, uint32_t binding)
{
	return &writer->plan->tensors[writer->plan->bindings[binding]];
}

static void name_tensors(struct writer *writer)
{
	uint32_t count = writer->plan->binding_count;

	writer->tensors = SK_NEW_ARRAY(writer->arena, const char *, count ? count : 1);
	for (uint32_t i = 0; i < count; i++)
		writer->tensors[i] = sk_identifier(writer->arena, sk_plan_string(&tensor_at(writer, i)->name));
}

/* ---- launches ---- */

/* The plan's references to code are zero until it is linked. */
static void find_serial_entries(struct writer *writer)
{
	const struct sk_plan_image *image = writer->contents->image;

	writer->has_serial_entry = SK_NEW_ARRAY(writer->arena, bool, writer->plan->launch_count);
	for (size_t i = 0; i < image->relocations.count; i++)
		if (image->relocations.items[i].target == SK_PLAN_SERIAL_ENTRY)
			writer->has_serial_entry[image->relocations.items[i].index] = true;
}

/* Return the bytes that a serial entry's `workspace` needs; never 0, so that it can be the size of an array. */
static uint64_t serial_workspace(const struct writer *writer, const struct sk_plan_launch *launch)
{
	uint64_t size = sk_plan_serial_workspace(writer->plan, launch);

	return size ? size : 1;
}

static void write_launches(const struct writer *writer)
{
	const struct sk_plan_view *plan = writer->plan;
	FILE *stream = writer->stream;

	fputs("\n/* ---- launches, in the order in which the network runs them ----\n"
	      " *\n"
	      " * NAME is the dispatcher: a runtime calls it on every core. NAME_serial runs all tasks of the launch "
	      "on the\n"
	      " * calling thread: tensors[n] is the address of binding number n; workspace is aligned to 64 bytes and "
	      "has\n",
	      stream);
	fprintf(stream, " * SK_%s_WORKSPACE_NAME bytes. Returns 0, or the status of the kernel that failed. */\n\n",
		writer->name);
	fputs("struct sk_core;\n", stream);
	for (uint32_t i = 0; i < plan->network_launch_count; i++) {
		const struct sk_plan_launch *launch = &plan->launches[i];
		const char *name = sk_plan_string(&launch->name);

		fprintf(stream, "\n%sint %s(struct sk_core *core);\n",
			sk_plan_form(launch)->flags & SK_LAUNCH_ONCE
				? "/* Runs once: its results in the workspace serve all runs. */\n"
				: "",
			name);
		if (!writer->has_serial_entry[i])
			continue;
		fprintf(stream, "int %s_serial(void *const *tensors, void *workspace);\n", name);
		fprintf(stream, "#define SK_%s_WORKSPACE_%s UINT64_C(%" PRIu64 ")\n", writer->name, name,
			serial_workspace(writer, launch));
	}
}

static void write_launch_table(const struct writer *writer)
{
	const struct sk_plan_view *plan = writer->plan;
	FILE *stream = writer->stream;

	fprintf(stream, "\n#define SK_%s_LAUNCHES %" PRIu32 "\n", writer->name, plan->network_launch_count);
	if (!plan->network_launch_count) /* C has no empty arrays */
		return;
	fprintf(stream, "static const struct sk_package_launch SK_%s_launch_table[SK_%s_LAUNCHES] = {\n", writer->name,
		writer->name);
	for (uint32_t i = 0; i < plan->network_launch_count; i++) {
		const struct sk_plan_launch *launch = &plan->launches[i];

		fprintf(stream, "\t{\"%s\", %" PRIu32 ", %" PRIu32 ", {", sk_plan_string(&launch->name),
			sk_plan_form(launch)->step_count, sk_plan_form(launch)->stream);
		for (uint32_t lane = 0; lane < SK_MAX_LANES; lane++)
			fprintf(stream, "%s%" PRIu32, lane ? ", " : "", sk_plan_form(launch)->lane_steps[lane]);
		fprintf(stream, "}, UINT64_C(%" PRIu64 "), UINT64_C(%" PRIu64 ")},\n", plan->plan->workspace_size,
			sk_plan_form(launch)->scratch_size);
	}
	fputs("};\n", stream);
}

/* ---- networks ---- */

static void write_networks(const struct writer *writer)
{
	struct sk_plan_network network = {0};
	FILE *stream = writer->stream;

	if (!sk_plan_has_networks(writer->plan))
		return;
	fputs("\n/* ---- networks: their launches and tensors, by number; tensors of other networks "
	      "are not\n"
	      " * accessed ---- */\n",
	      stream);
	while (sk_plan_next_network(writer->plan, &network)) {
		const char *name = sk_identifier(writer->arena, network.name);
		const struct {
			const char *what;
			uint32_t number;
		} lines[] = {{"FIRST_LAUNCH", network.first_launch},
			     {"LAUNCHES", network.launch_count},
			     {"FIRST_TENSOR", network.first_binding},
			     {"TENSORS", network.binding_count}};

		fputc('\n', stream);
		for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
			fprintf(stream, "#define SK_%s_NETWORK_%s_%s %" PRIu32 "\n", writer->name, name, lines[i].what,
				lines[i].number);
	}
}

/* ---- tensors ---- */

static const char *role_name(uint8_t role)
{
	static const char *const names[] = {
		[SK_ROLE_INPUT] = "input", [SK_ROLE_OUTPUT] = "output", [SK_ROLE_INOUT] = "inout"};

	return names[role];
}

/* "f32 [64, 1024]" */
static void print_shape(FILE *stream, const struct sk_plan_tensor *tensor)
{
	fprintf(stream, "%s [", sk_dtype_name((enum sk_dtype)sk_plan_type(tensor)->dtype));
	for (uint32_t i = 0; i < sk_plan_type(tensor)->rank; i++)
		fprintf(stream, "%s%" PRIu64, i ? ", " : "", sk_plan_type(tensor)->shape[i]);
	putc(']', stream);
}

static void write_bindings(const struct writer *writer)
{
	FILE *stream = writer->stream;
	uint32_t count = writer->plan->binding_count;

	fputs("\n/* ---- tensors to bind: their numbers, and their sizes ----\n"
	      " *\n"
	      " * Row-major and contiguous, aligned to 64 bytes. A tensor has BYTES bytes; the memory that it lies in "
	      "has\n"
	      " * CAPACITY bytes or more, since kernels may read up to there, though they use nothing after the "
	      "tensor. "
	      "*/\n\n",
	      stream);
	fprintf(stream, "#define SK_%s_TENSORS %" PRIu32 "\n", writer->name, count);
	for (uint32_t i = 0; i < count; i++) {
		const struct sk_plan_tensor *tensor = tensor_at(writer, i);

		fprintf(stream, "\n/* %s, ", role_name(tensor->role));
		print_shape(stream, tensor);
		fprintf(stream,
			" */\n#define SK_%s_TENSOR_%s %" PRIu32 "\n#define SK_%s_BYTES_%s UINT64_C(%" PRIu64 ")\n"
			"#define SK_%s_CAPACITY_%s UINT64_C(%" PRIu64 ")\n",
			writer->name, writer->tensors[i], i, writer->name, writer->tensors[i],
			sk_plan_type(tensor)->bytes, writer->name, writer->tensors[i],
			sk_plan_type(tensor)->bytes + sk_plan_type(tensor)->padding);
	}
}

static void print_extents(FILE *stream, const uint64_t *extents, uint32_t rank)
{
	fputs(", {", stream);
	for (uint32_t i = 0; i < rank; i++)
		fprintf(stream, "%sUINT64_C(%" PRIu64 ")", i ? ", " : "", extents[i]);
	fputs(rank ? "}" : "0}", stream);
}

static void write_tensor_table(const struct writer *writer)
{
	FILE *stream = writer->stream;
	uint32_t count = writer->plan->binding_count;

	if (!count)
		return;
	fprintf(stream, "\nstatic const struct sk_package_tensor SK_%s_tensor_table[SK_%s_TENSORS] = {\n", writer->name,
		writer->name);
	for (uint32_t i = 0; i < count; i++) {
		const struct sk_plan_tensor *tensor = tensor_at(writer, i);
		uint64_t strides[SK_MAX_RANK] = {0}, stride = 1;

		for (uint32_t j = sk_plan_type(tensor)->rank; j-- > 0;
		     stride *= sk_plan_type(tensor)->shape[j]) /* at most the tensor's size in bytes */
			strides[j] = stride;
		fputs("\t{", stream);
		sk_header_print_string(stream, sk_plan_string(&tensor->name));
		fprintf(stream, ", %u, %u, %u, %" PRIu32 ", UINT64_C(%" PRIu64 ")", sk_plan_type(tensor)->dtype,
			tensor->role, sk_plan_type(tensor)->rank,
			sk_dtype_size((enum sk_dtype)sk_plan_type(tensor)->dtype), sk_plan_type(tensor)->bytes);
		print_extents(stream, sk_plan_type(tensor)->shape, sk_plan_type(tensor)->rank);
		print_extents(stream, strides, sk_plan_type(tensor)->rank);
		fprintf(stream, ", UINT64_C(%" PRIu64 ")},\n",
			sk_plan_type(tensor)->bytes + sk_plan_type(tensor)->padding);
	}
	fputs("};\n", stream);
}

/* ---- declarations common to all packages ---- */

static void write_types(const struct writer *writer)
{
	fputs("\n/* ---- the same as tables ---- */\n\n"
	      "#ifndef SK_PACKAGE_TYPES\n"
	      "#define SK_PACKAGE_TYPES\n"
	      "struct sk_package_tensor {\n"
	      "\tconst char *name; /* in the manifest */\n"
	      "\tuint32_t dtype; /* as enum skrt_dtype of skrt.h: 1 i8, 2 u8, 3 i16, 4 u16, 5 i32, 6 u32, 7 i64, 8 "
	      "u64,\n"
	      "\t\t\t   9 f16, 10 bf16, 11 f32, 12 f64, 13 bool */\n"
	      "\tuint32_t role; /* 1 input, 2 output, 3 inout */\n"
	      "\tuint32_t rank;\n"
	      "\tuint32_t element_bytes;\n"
	      "\tuint64_t bytes;\n"
	      "\tuint64_t shape[8]; /* from the outermost extent; 0 from rank on */\n"
	      "\tuint64_t strides[8]; /* in elements */\n"
	      "\tuint64_t capacity; /* bytes that the memory has at least: skrt_instance_bind's */\n"
	      "};\n\n"
	      "struct sk_package_launch {\n"
	      "\tconst char *name;\n"
	      "\tuint32_t tasks;\n"
	      "\tuint32_t stream;\n"
	      "\tuint32_t lane_steps[2]; /* of each lane's cores; 0: they have nothing to do */\n"
	      "\tuint64_t workspace_bytes; /* of an instance of the package: all launches share them */\n"
	      "\tuint64_t scratch_bytes; /* of each core */\n"
	      "};\n"
	      "#endif\n",
	      writer->stream);
	fprintf(writer->stream, "\n#define SK_%s_LANES %" PRIu32 " /*", writer->name, writer->plan->lane_count);
	for (uint32_t i = 0; i < writer->plan->lane_count; i++)
		fprintf(writer->stream, "%s %s", i ? "," : "", sk_plan_string(&writer->plan->lanes[i]));
	fputs(" */\n", writer->stream);
}

/* ---- the package itself ---- */

static void write_plan(const struct writer *writer)
{
	const char *symbol = writer->contents->plan_symbol;

	if (symbol)
		fprintf(writer->stream,
			"\n/* ---- the linked package: skrt_module_load_linked(device, &%s, &module) ---- */\n\n"
			"struct sk_plan;\nextern const struct sk_plan %s;\n",
			symbol, symbol);
}

static void write_bytes(const struct writer *writer)
{
	const struct sk_header_contents *contents = writer->contents;
	const char *name = writer->name;
	FILE *stream = writer->stream;

	if (!contents->bytes)
		return;
	fprintf(stream,
		"\n/* ---- the package's bytes ----\n"
		" *\n"
		" * For skrt_module_load_from, as `memory` and `bytes` (SK_%s_package, SK_%s_PACKAGE_BYTES).\n"
		" * One source file of the program defines SK_%s_IMPLEMENTATION before it includes this. */\n\n"
		"#define SK_%s_PACKAGE_BYTES UINT64_C(%" PRIu64 ")\n"
		"extern const unsigned char SK_%s_package[SK_%s_PACKAGE_BYTES];\n"
		"#ifdef SK_%s_IMPLEMENTATION\n"
		"#ifdef __cplusplus\nalignas(64)\n#else\n_Alignas(64)\n#endif\n"
		"const unsigned char SK_%s_package[SK_%s_PACKAGE_BYTES] = {",
		name, name, name, name, contents->size, name, name, name, name, name);
	for (uint64_t i = 0; i < contents->size; i++)
		fprintf(stream, "%s%u,", i % 32 ? "" : "\n", contents->bytes[i]);
	fputs("\n};\n#endif\n", stream);
}

static const char *make_text(struct sk_arena *arena, const struct sk_header_contents *contents)
{
	struct sk_text text;

	sk_text_open(&text);

	struct writer writer = {.arena = arena,
				.stream = text.stream,
				.contents = contents,
				.name = contents->name,
				.plan = contents->plan};

	name_tensors(&writer);
	find_serial_entries(&writer);
	fprintf(writer.stream,
		"/* Superkernel package %s. Made by sklink: changes will be lost. C11 and C++. */\n"
		"#ifndef SK_PACKAGE_%s_H\n#define SK_PACKAGE_%s_H\n\n"
		"#include <stdint.h>\n\n"
		"#ifdef __cplusplus\nextern \"C\" {\n#endif\n",
		writer.name, writer.name, writer.name);
	write_launches(&writer);
	write_networks(&writer);
	write_bindings(&writer);
	write_types(&writer);
	write_launch_table(&writer);
	write_tensor_table(&writer);
	if (contents->dims->dims)
		sk_header_write_sizes(arena, contents, writer.tensors, writer.stream);
	write_plan(&writer);
	write_bytes(&writer);
	fputs("\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n", writer.stream);
	sk_text_close(arena, &text);
	return text.bytes;
}

bool sk_header_write(struct sk_arena *arena, struct sk_diag *diag, const char *path,
		     const struct sk_header_contents *contents)
{
	enum { EMBEDDED_LIMIT = 256 << 20 }; /* compilers do not read larger files */

	if (contents->size > EMBEDDED_LIMIT) {
		sk_error(diag, (struct sk_place){.file = path},
			 "a package of more than %d MiB cannot be embedded; load it from its file",
			 EMBEDDED_LIMIT >> 20);
		return false;
	}

	const char *text = make_text(arena, contents);

	return sk_file_write_text(diag, path, text, strlen(text));
}
