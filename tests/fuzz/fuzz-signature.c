/* Fuzz target: a signature. An accepted signature is written, and the text must be accepted again and stay the same. A
 * task that calls such a kernel, with tensors as the signature wants them, must be refused or planned. */
#include "tests/fuzz/fuzz-plan.h"
#include "tests/fuzz/fuzz.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/text.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "linker/linker.h"
#include "src/bind/bind.h"
#include "src/manifest/manifest.h"
#include "src/model/model.h"
#include "tests/lib/fake-linker.h"

static const struct sk_place nowhere = {.file = "fuzz"};

/* Extents that nothing divides without a rest, but for some. */
static uint64_t extent_of(uint32_t number)
{
	static const uint64_t extents[] = {300, 7, 64, 13, 2, 5, 1, 12};

	return extents[number % (sizeof(extents) / sizeof(extents[0]))];
}

static void print_tensor(struct sk_text *text, const struct sk_parameter *parameter, uint32_t number)
{
	fprintf(text->stream, "  t%u: {dtype: %s, shape: [", number, sk_dtype_name(parameter->dtype));
	for (uint32_t d = 0; d < parameter->rank; d++) {
		uint64_t size = parameter->extents[d].constant % 1000000;

		for (uint32_t i = 0; i < parameter->extents[d].name_count; i++)
			size *= extent_of(parameter->extents[d].names[i]);
		fprintf(text->stream, "%s%" PRIu64, d ? ", " : "", size ? size : 1);
	}
	fprintf(text->stream, "]%s}\n", parameter->access == (SK_ACCESS_READ | SK_ACCESS_WRITE) ? ", role: inout" : "");
}

/* A manifest with a task that has all that the signature asks for; some of the tensors are the same. */
static const char *manifest_of(struct sk_arena *arena, const struct sk_signature *signature)
{
	bool blocks = signature->spread == SK_STEP_BLOCKS_RANGE ||
		      (signature->spread == SK_STEP_BLOCKS && !signature->grid_rank);
	struct sk_text text;
	const char *comma = "";

	sk_text_open(&text);
	fprintf(text.stream, "sklink: 1\ntensors:\n  r: {dtype: %s, shape: [1]}\n",
		signature->result ? sk_dtype_name(signature->result_dtype) : "f32");
	for (uint32_t p = 0; p < signature->parameter_count; p++)
		if (signature->parameters[p].kind == SK_PARAMETER_TENSOR)
			print_tensor(&text, &signature->parameters[p], p);
	fprintf(text.stream, "tasks:\n  - {name: t, kernel: f, scope: s, args: [");
	for (uint32_t p = 0; p < signature->parameter_count; p++) {
		const struct sk_parameter *parameter = &signature->parameters[p];

		if (parameter->kind != SK_PARAMETER_TENSOR)
			continue;
		fprintf(text.stream, "%st%u", comma, parameter->alias_of == SK_NONE ? p : parameter->alias_of);
		comma = ", ";
	}
	fprintf(text.stream, "%s], set: {", signature->result ? *comma ? ", r" : "r" : "");
	comma = "";
	for (uint32_t p = 0; p < signature->parameter_count; p++) {
		const struct sk_parameter *parameter = &signature->parameters[p];

		if (parameter->kind != SK_PARAMETER_SCALAR || parameter->value ||
		    sk_signature_find_extent(signature, parameter->name) != SK_NONE)
			continue;
		fprintf(text.stream, "%s%s: 1", comma, parameter->name);
		comma = ", ";
	}
	fprintf(text.stream, "}%s}\n", blocks ? ", blocks: 5" : "");
	sk_text_close(arena, &text);
	return text.bytes;
}

static void call_kernel(struct sk_arena *arena, const struct sk_signature *signature)
{
	const struct fake_function functions[] = {{"k.o", "f", signature->text, 0, false}};
	const char *manifest = manifest_of(arena, signature);
	struct sk_diag diag;

	sk_diag_init(&diag, arena);

	struct sk_linker *linker = fake_linker_create(arena, &diag, functions, 1);
	struct sk_model *model = sk_model_create(arena, &diag);

	sk_linker_add_file(linker, "k.o", false);
	if (sk_manifest_parse(model, "no-such-folder/fuzz.yaml", manifest, strlen(manifest)) &&
	    sk_kernels_find(model, linker) && sk_model_bind(model) && sk_model_assign_roles(model))
		fuzz_plan(model, &diag);
	else
		fuzz_promise(diag.errors, "a task that is refused gives an error");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct sk_arena *arena = sk_arena_create();
	const char *text = sk_arena_copy(arena, (const char *)bytes, size);
	struct sk_diag diag;

	sk_diag_init(&diag, arena);

	const struct sk_signature *signature = sk_signature_parse(arena, &diag, nowhere, text);

	fuzz_promise(!signature == (diag.errors != 0), "a signature that is refused gives an error");
	if (signature) {
		const struct sk_signature *again = sk_signature_parse(arena, &diag, nowhere, signature->text);

		fuzz_promise(again && !strcmp(again->text, signature->text),
			     "a signature can be read as it is written");
		call_kernel(arena, signature);
	}
	sk_arena_destroy(arena);
	return 0;
}
