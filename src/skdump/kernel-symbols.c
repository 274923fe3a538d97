/* See kernel-symbols.h. Of the names at an address one has to be right: functions may have been folded
 * (--icf) and have several entries, some of which lie within others. */
#include "src/skdump/kernel-symbols.h"

#include <string.h>

#include "src/signature/signature-parser.h"

/* So many names may be compared, of functions that share an address. */
#define MAX_LOOKS (UINT64_C(1) << 24)

#define ANY_SIZE UINT64_MAX /* not asked for */

struct looking {
	struct sk_arena *arena;
	struct sk_diag *diag;
	const struct sk_package_file *file;
	uint64_t looks_left;
};

enum verdict { UNKNOWN, SAME, OTHER };

/* The first function that begins behind the address. */
static size_t first_behind(const struct sk_package_file *file, uint64_t address)
{
	size_t low = 0, high = file->functions.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (file->functions.items[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool covers(const struct sk_file_function *function, uint64_t address)
{
	return address - function->address < function->size;
}

/* Whether the function of that name and size begins at the address. OTHER: *found begins there, or lies around it. */
static enum verdict look_up(struct looking *looking, const char *name, uint64_t address, uint64_t size,
			    const struct sk_file_function **found)
{
	const struct sk_file_function *functions = looking->file->functions.items;
	size_t end = first_behind(looking->file, address);

	*found = NULL;
	for (size_t i = end; i-- && functions[i].address == address && looking->looks_left; looking->looks_left--) {
		*found = &functions[i];
		if (!strcmp(functions[i].name, name) &&
		    (size == ANY_SIZE || size == (functions[i].size < UINT32_MAX ? functions[i].size : UINT32_MAX)))
			return SAME;
	}
	if (!*found && end && looking->looks_left && covers(&functions[functions[end - 1].widest], address))
		*found = &functions[functions[end - 1].widest];
	return *found ? OTHER : UNKNOWN;
}

/* What a package reaches an imported function by has the function's name with this behind it. Copies share it. */
#define STUB_SUFFIX "@plt"

static enum verdict check_stub(struct looking *looking, const struct sk_plan_kernel *kernel)
{
	const struct sk_package_file *file = looking->file;
	const char *symbol = sk_plan_string(&kernel->symbol), *copy = strstr(symbol, ".split");
	int length = (int)(copy ? (size_t)(copy - symbol) : strlen(symbol));
	const char *name = sk_arena_print(looking->arena, "%.*s" STUB_SUFFIX, length, symbol);
	const struct sk_file_function *found;
	enum verdict verdict = look_up(looking, name, sk_package_file_target(file, &kernel->code), ANY_SIZE, &found);

	if (verdict == OTHER)
		sk_error(looking->diag, (struct sk_place){.file = file->path},
			 "the code of kernel '%s' does not lead to the import '%.*s': the symbol table has '%s' there",
			 sk_plan_string(&kernel->name), length, symbol, found->name);
	return verdict;
}

static enum verdict check_function(struct looking *looking, const struct sk_plan_kernel *kernel,
				   const int32_t *reference, const char *name, uint32_t size)
{
	const struct sk_package_file *file = looking->file;
	const struct sk_file_function *found;
	enum verdict verdict = look_up(looking, name, sk_package_file_target(file, reference), size, &found);

	if (verdict == OTHER)
		sk_error(looking->diag, (struct sk_place){.file = file->path},
			 "the code of kernel '%s' is not the function '%s' of %u bytes: the symbol table has '%s' "
			 "there, of %llu",
			 sk_plan_string(&kernel->name), name, size, found->name, (unsigned long long)found->size);
	return verdict;
}

/* The plan names a side's function only by its signature. The sides of a copy are named after the kernel's. */
static const char *side_name(const struct looking *looking, const struct sk_plan_kernel *kernel, const char *said,
			     const char *suffix)
{
	const char *symbol = sk_plan_string(&kernel->symbol), *copy = strstr(symbol, ".split");
	int length = (int)(copy ? (size_t)(copy - symbol) : strlen(symbol));

	if (said)
		return sk_arena_join(looking->arena, said, copy ? copy : "");
	return sk_arena_print(looking->arena, "%.*s_mix_%s%s", length, symbol, suffix, copy ? copy : "");
}

static enum verdict check_kernel(struct looking *looking, const struct sk_plan_kernel *kernel)
{
	const struct sk_signature *signature =
		sk_signature_parse_folded(looking->arena, looking->diag, (struct sk_place){.file = looking->file->path},
					  sk_plan_string(&kernel->signature));
	enum verdict cube, vector;

	if (!signature || (signature->lane == SK_LANE_MIX) != (kernel->vector_code != 0)) {
		sk_error(looking->diag, (struct sk_place){.file = looking->file->path},
			 "kernel '%s' has not as many functions as its signature says", sk_plan_string(&kernel->name));
		return OTHER;
	}
	if (kernel->flags & SK_KERNEL_IMPORTED)
		return check_stub(looking, kernel);
	if (signature->lane != SK_LANE_MIX)
		return check_function(looking, kernel, &kernel->code, sk_plan_string(&kernel->symbol),
				      kernel->code_size);
	cube = check_function(looking, kernel, &kernel->code, side_name(looking, kernel, signature->aic, "aic"),
			      kernel->code_size);
	vector = check_function(looking, kernel, &kernel->vector_code,
				side_name(looking, kernel, signature->aiv, "aiv"), kernel->vector_code_size);
	return cube == OTHER || vector == UNKNOWN ? cube == OTHER ? OTHER : UNKNOWN
	       : cube == UNKNOWN		  ? UNKNOWN
						  : vector;
}

/* Of an import the address is that of the stub that leads to it. */
static enum verdict check_handed(struct looking *looking, const struct sk_plan_symbol *symbol)
{
	const struct sk_package_file *file = looking->file;
	const char *name = sk_plan_string(&symbol->name);
	uint64_t address = sk_package_file_target(file, &symbol->address);
	const struct sk_file_function *found;
	enum verdict verdict = look_up(looking, name, address, ANY_SIZE, &found);

	if (verdict == OTHER)
		verdict = look_up(looking, sk_arena_join(looking->arena, name, STUB_SUFFIX), address, ANY_SIZE, &found);
	if (verdict == OTHER)
		sk_error(looking->diag, (struct sk_place){.file = file->path},
			 "what kernels get as '%s' is not the symbol of that name: the symbol table has '%s' there",
			 name, found->name);
	return verdict;
}

static enum verdict check_entry(struct looking *looking, const int32_t *reference, const char *name)
{
	const struct sk_file_function *found;
	enum verdict verdict =
		look_up(looking, name, sk_package_file_target(looking->file, reference), ANY_SIZE, &found);

	if (verdict == OTHER)
		sk_error(looking->diag, (struct sk_place){.file = looking->file->path},
			 "the entry '%s' is not the function of that name: the symbol table has '%s' there", name,
			 found->name);
	return verdict;
}

static enum verdict check_entries(struct looking *looking, const struct sk_plan_launch *launch)
{
	const char *name = sk_plan_string(&launch->name);
	enum verdict verdict = check_entry(looking, &launch->entry, name);

	if (verdict != SAME || !launch->serial_entry)
		return verdict;
	return check_entry(looking, &launch->serial_entry, sk_arena_join(looking->arena, name, "_serial"));
}

bool sk_kernel_symbols_check(struct sk_arena *arena, struct sk_diag *diag, const struct sk_package_file *file,
			     struct sk_unknown_code *unknown)
{
	struct looking looking = {.arena = arena, .diag = diag, .file = file, .looks_left = MAX_LOOKS};
	unsigned errors = diag->errors;

	*unknown = (struct sk_unknown_code){0};
	for (uint32_t i = 0; i < file->plan.kernel_count && diag->errors == errors; i++)
		unknown->kernels += check_kernel(&looking, &file->plan.kernels[i]) == UNKNOWN;
	for (uint32_t i = 0; i < file->plan.symbol_count && diag->errors == errors; i++)
		unknown->symbols += check_handed(&looking, &file->plan.symbols[i]) == UNKNOWN;
	for (uint32_t i = file->plan.network_launch_count; i < file->plan.launch_count && diag->errors == errors; i++)
		unknown->entries += check_entries(&looking, &file->plan.launches[i]) == UNKNOWN;
	return diag->errors == errors;
}
