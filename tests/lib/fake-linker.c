/* See fake-linker.h. Defines every function of linker.h that src/bind/kernels calls, so that nothing of the real linker
 * is drawn into the test program. The code of a function is its number in the table. */
#include "tests/lib/fake-linker.h"

#include <elf.h>
#include <string.h>

struct sk_linker {
	struct sk_arena *arena;
	struct sk_diag *diag;
	const struct fake_function *functions;
	size_t count;
	bool *pulled;
	SK_ARRAY(const char *) files;
};

struct sk_linker *fake_linker_create(struct sk_arena *arena, struct sk_diag *diag,
				     const struct fake_function *functions, size_t count)
{
	struct sk_linker *linker = SK_NEW(arena, struct sk_linker);

	linker->arena = arena;
	linker->diag = diag;
	linker->functions = functions;
	linker->count = count;
	linker->pulled = SK_NEW_ARRAY(arena, bool, count);
	return linker;
}

bool fake_linker_pulled(const struct sk_linker *linker, const char *symbol)
{
	for (size_t i = 0; i < linker->count; i++)
		if (linker->pulled[i] && !strcmp(linker->functions[i].symbol, symbol))
			return true;
	return false;
}

/* "lib.a(m.o)" is in "lib.a". */
static bool is_in(const struct fake_function *function, const char *file)
{
	size_t length = strcspn(function->object, "(");

	return strlen(file) == length && !strncmp(function->object, file, length);
}

static uint32_t input_of(const struct sk_linker *linker, const struct fake_function *function)
{
	for (uint32_t i = 0; i < linker->files.count; i++)
		if (is_in(function, linker->files.items[i]))
			return i;
	return SK_NONE;
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

uint32_t sk_linker_add_file(struct sk_linker *linker, const char *path, bool whole_archive)
{
	const char *name = file_name(path);

	(void)whole_archive;
	for (uint32_t i = 0; i < linker->files.count; i++)
		if (!strcmp(linker->files.items[i], name))
			return i;
	for (size_t i = 0; i < linker->count; i++)
		if (is_in(&linker->functions[i], name)) {
			sk_array_push(linker->arena, &linker->files, name);
			return (uint32_t)linker->files.count - 1;
		}
	sk_error(linker->diag, (struct sk_place){.file = path}, "not an object");
	return SK_NONE;
}

const char *sk_linker_search(struct sk_linker *linker, const char *name)
{
	for (size_t i = 0; i < linker->count; i++)
		if (is_in(&linker->functions[i], name))
			return sk_arena_print(linker->arena, "/search/%s", name);
	return NULL;
}

static struct sk_kernel_record make_record(const struct sk_linker *linker, size_t index)
{
	const struct fake_function *function = &linker->functions[index];

	return (struct sk_kernel_record){
		.symbol = function->symbol,
		.signature = function->signature,
		.object = function->object,
		.member = strchr(function->object, '(') != NULL,
		.input = input_of(linker, function),
		.place = {.file = function->object, .section = ".sk.kernels", .offset = 16 * index},
		.code = (sk_symbol)index};
}

bool sk_linker_find_kernel(struct sk_linker *linker, struct sk_lookup where, const char *symbol,
			   struct sk_kernel_record *record)
{
	for (int archives = 0; archives < 2; archives++)
		for (size_t i = 0; i < linker->count; i++) {
			const struct fake_function *function = &linker->functions[i];
			uint32_t place = input_of(linker, function);

			if (place == SK_NONE || (where.input != SK_NONE && place != where.input) ||
			    strcmp(function->symbol, symbol) != 0 ||
			    archives != (strchr(function->object, '(') != NULL))
				continue;
			*record = make_record(linker, i);
			if (function->not_a_function) {
				sk_error(linker->diag, record->place, "'%s' is not a function", symbol);
				return false;
			}
			linker->pulled[i] = true;
			return true;
		}
	return false;
}

uint16_t sk_linker_machine(const struct sk_linker *linker)
{
	(void)linker;
	return EM_X86_64;
}

struct sk_function sk_linker_look_at(struct sk_linker *linker, sk_symbol code)
{
	(void)linker;
	(void)code;
	return (struct sk_function){.leads_on = true};
}

bool sk_linker_find_record(struct sk_linker *linker, struct sk_lookup where, const char *name,
			   struct sk_kernel_record *record)
{
	(void)linker;
	(void)where;
	(void)name;
	(void)record;
	return false; /* every record is a function's */
}

void sk_linker_visit_kernels(struct sk_linker *linker, uint32_t input,
			     void (*visit)(void *context, const struct sk_kernel_record *record), void *context)
{
	for (uint32_t file = 0; file < linker->files.count; file++)
		for (size_t i = 0; i < linker->count; i++) {
			struct sk_kernel_record record = make_record(linker, i);

			if (record.input == file && record.signature && (input == SK_NONE || input == file))
				visit(context, &record);
		}
}

const char *const *sk_linker_function_names(struct sk_linker *linker, struct sk_lookup where, size_t *count)
{
	const char **names = SK_NEW_ARRAY(linker->arena, const char *, linker->count + 1);

	*count = 0;
	for (size_t i = 0; i < linker->count; i++) {
		uint32_t place = input_of(linker, &linker->functions[i]);

		if (place != SK_NONE && (where.input == SK_NONE || where.input == place))
			names[(*count)++] = linker->functions[i].symbol;
	}
	return names;
}

void sk_linker_join_states(struct sk_linker *linker, const sk_symbol *symbols, const uint32_t *owners, size_t count)
{
	(void)linker;
	(void)symbols;
	(void)owners;
	(void)count;
}

sk_symbol sk_linker_find_address(struct sk_linker *linker, sk_symbol function, const char *name, const char **reason)
{
	(void)function;
	*reason = NULL;
	for (size_t i = 0; i < linker->count; i++)
		if (!strcmp(linker->functions[i].symbol, name))
			return (sk_symbol)i;
	*reason = "no input defines it";
	return SK_NONE;
}

bool sk_linker_find_state(struct sk_linker *linker, sk_symbol code, const uint32_t **sections, size_t *count)
{
	*sections = &linker->functions[code].state;
	*count = linker->functions[code].state != 0;
	return true;
}

const char *sk_linker_thread_storage(struct sk_linker *linker, sk_symbol code, bool *within_call)
{
	*within_call = false;
	return linker->functions[code].thread_storage;
}

const char *sk_linker_panic_advice(const struct sk_linker *linker, sk_symbol code)
{
	(void)linker, (void)code;
	return NULL;
}

const char *sk_linker_find_barrier(struct sk_linker *linker, sk_symbol code)
{
	return linker->functions[code].barrier;
}

bool sk_linker_state_is_library(const struct sk_linker *linker, uint32_t state)
{
	(void)linker, (void)state;
	return false;
}

const char *sk_linker_state_name(struct sk_linker *linker, uint32_t state)
{
	return sk_arena_print(linker->arena, ".bss.s%u in k.o", state);
}

uint32_t sk_linker_find_isa(struct sk_linker *linker, sk_symbol code)
{
	return linker->functions[code].isa;
}

uint32_t sk_linker_find_constructor_isa(struct sk_linker *linker)
{
	(void)linker;
	return 0;
}

void sk_linker_need_isa(struct sk_linker *linker, uint32_t levels)
{
	(void)linker;
	(void)levels;
}
