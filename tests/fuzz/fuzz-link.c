/* One link through linker.h, as sklink does it, with everything that an input holds asked for; see fuzz.h. */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/map.h"
#include "linker/linker.h"
#include "tests/lib/whole-link.h"

#define OUTPUT "linked.sk"
#define SCRIPT "linked.script" /* exports everything */
#define MAP    "linked.map"
#define ORDER  "linked.order" /* every word of the input */
#define WHY    "linked.why"

enum { CALL_SIZE = 16 };

static void read_record(void *context, const struct sk_kernel_record *record)
{
	*(size_t *)context += strlen(record->symbol) + strlen(record->signature) + strlen(record->object);
}

/* Add a function that calls every kernel that can be found, like sklink's dispatchers. */
static void add_calls(struct sk_linker *linker, const char *const *names, size_t count)
{
	struct sk_section_spec spec = {
		.name = ".text.fuzz", .kind = SK_SECTION_TEXT, .alignment = 64, .size = count * CALL_SIZE};
	sk_section section = sk_linker_add_section(linker, &spec);

	sk_linker_define(linker, section, "fuzz_entry", 0, spec.size, SK_SYMBOL_FUNCTION, true);
	for (size_t i = 0; i < count; i++) {
		struct sk_kernel_record record;
		const uint32_t *states;
		size_t state_count;

		if (!sk_linker_find_kernel(linker, SK_ANYWHERE, names[i], &record))
			continue;
		sk_linker_relocate(linker, section, i * CALL_SIZE,
				   i % 2 ? SK_RELOCATION_CALL : SK_RELOCATION_RELATIVE32, record.code, -4);
		if (i % 3 == 0)
			sk_linker_order(linker, record.code, NULL);
		if (!sk_linker_find_state(linker, record.code, &states, &state_count))
			continue;
		for (size_t j = 0; j < state_count; j++)
			fuzz_promise(sk_linker_state_name(linker, states[j]) != NULL, "a state has a name");
	}
}

/* Request, link, write. Return true if there is a file. */
static bool link_input(struct sk_linker *linker, struct sk_diag *diag, const char *path, bool whole_archive)
{
	uint32_t input = sk_linker_add_file(linker, path, whole_archive);
	size_t count, length = 0;

	sk_linker_visit_kernels(linker, SK_NONE, read_record, &length);

	const char *const *names = sk_linker_function_names(linker, (struct sk_lookup){.input = input}, &count);

	for (size_t i = 0; i < count; i++)
		sk_linker_require(linker, names[i]);
	if (count)
		add_calls(linker, names, count);
	fuzz_promise(input != SK_NONE || diag->errors, "a file that is not added gives an error");
	return link_whole(linker) && !diag->errors && sk_linker_write(linker, OUTPUT, NULL) && sk_files_finish(diag);
}

/* One of these, by the contents of the input: mutants of one file get all of them. */
static const struct sk_linker_options *choose_options(const char *path)
{
	static const char *const asked[] = {"mul", "choose", "pointers", "scale", "none"};
	static const struct sk_linker_options options[] = {
		{0},
		{.icf = SK_ICF_ALL, .print_icf_sections = true, .cross_references = true},
		{.icf = SK_ICF_SAFE, .isolate_objects = true, .version_script = SCRIPT, .cross_references = true},
		{.icf = SK_ICF_ALL, .no_gc_sections = true, .compress_debug = true, .map_file = MAP},
		{.ordering_file = ORDER,
		 .asked_symbols = asked,
		 .asked_symbol_count = sizeof(asked) / sizeof(asked[0]),
		 .extractions_file = WHY,
		 .discard_locals = true},
	};
	FILE *file = fopen(path, "rb"), *script = fopen(SCRIPT, "w"), *order = fopen(ORDER, "w");
	unsigned sum = 0;

	for (int byte; file && order && (byte = getc(file)) != EOF;) {
		sum += (unsigned)byte;
		putc(byte > ' ' && byte < 0x7f ? byte : '\n', order);
	}
	if (file)
		fclose(file);
	fuzz_promise(order && fclose(order) == 0, "the list of words is there");
	fuzz_promise(script && fputs("V1 { global: *; };\n", script) >= 0 && fclose(script) == 0,
		     "the script is there");
	return &options[sum % (sizeof(options) / sizeof(options[0]))];
}

static bool link_once(const char *path, bool whole_archive, bool relocatable)
{
	struct sk_arena *arena = sk_arena_create();
	struct sk_diag diag;

	sk_diag_init(&diag, arena);

	struct sk_linker_options options = *choose_options(path);

	options.relocatable = relocatable;

	struct sk_linker *linker = sk_linker_create(arena, &diag, &options);
	bool linked = link_input(linker, &diag, path, whole_archive);

	fuzz_promise(linked == !diag.errors, "a link fails if and only if there is an error");
	unlink(SCRIPT);
	unlink(MAP);
	unlink(ORDER);
	unlink(WHY);
	fuzz_promise(linked == (unlink(OUTPUT) == 0), "there is an output file if and only if there is no error");
	sk_linker_destroy(linker);
	sk_arena_destroy(arena);
	return linked;
}

/* To a package and, as with -r, to an object, which wants less of its inputs. */
void fuzz_link(const char *path, bool whole_archive)
{
	bool package = link_once(path, whole_archive, false), object = link_once(path, whole_archive, true);

	if (package && object)
		fuzz_accept();
}
