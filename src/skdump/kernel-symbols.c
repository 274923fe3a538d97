/* See skdump.h. It is enough if one of the names at an address is right: functions may have been folded (--icf) and
 * have several entries, some of which lie within others. If another function has the name and the size of a kernel's,
 * the kernel's is also there as NAME.KERNEL (linker/labels.c). */
#include "src/skdump/skdump.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "format/plan/plan.h"
#include "format/signature/signature.h"
#include "format/skplan.h"

/* Limit on the names compared for functions that share an address. */
#define MAX_LOOKS (UINT64_C(1) << 24)

#define ANY_SIZE UINT64_MAX /* do not compare the size */

/* A function that the plan assigns to a kernel, or to a side of one. */
struct claim {
	const struct sk_plan_kernel *kernel;
	const char *name;
	uint32_t size;
	uint64_t address;
	uint32_t twins; /* all functions of this name and size */
};

struct twins {
	uint64_t address; /* of one of them */
	bool apart; /* another one, of a kernel or not, has a different address */
};

struct looking {
	struct sk_arena *arena;
	struct sk_diag *diag;
	const struct sk_package_file *file;
	uint64_t looks_left;
	SK_ARRAY(struct claim) claims;
	SK_ARRAY(struct twins) twins;
	struct sk_map twin_numbers; /* by struct twin_key */
	struct sk_map thunks; /* by address: their numbers */
};

enum verdict { UNKNOWN, SAME, OTHER };

static bool covers(const struct sk_file_function *function, uint64_t address)
{
	return address - function->address < function->size;
}

/* Return the size that the plan has for a kernel with this function. */
static uint32_t size_in_plan(const struct sk_file_function *function)
{
	return function->size < UINT32_MAX ? (uint32_t)function->size : UINT32_MAX;
}

/* Check that the function of that name and size begins at the address. OTHER: *found begins there, or contains the
 * address. */
static enum verdict look_up(struct looking *looking, const char *name, uint64_t address, uint64_t size,
			    const struct sk_file_function **found)
{
	const struct sk_file_function *functions = looking->file->functions.items;
	size_t end = sk_package_file_behind(looking->file, address);

	*found = NULL;
	for (size_t i = end; i-- && functions[i].address == address && looking->looks_left; looking->looks_left--) {
		*found = &functions[i];
		if (!strcmp(functions[i].name, name) && (size == ANY_SIZE || size == size_in_plan(&functions[i])))
			return SAME;
	}
	if (!*found && end && looking->looks_left && covers(&functions[functions[end - 1].widest], address))
		*found = &functions[functions[end - 1].widest];
	return *found ? OTHER : UNKNOWN;
}

/* A package calls an imported function through a stub with the function's name and this suffix. Copies share it. */
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

/* ---- functions of kernels ---- */

/* Only this many characters of a name are compared. Kernels with equal keys count as one, and are then not proved,
 * which does no harm. */
enum { KEY_NAME = 1024 };

struct twin_key {
	char bytes[sizeof(uint32_t) + KEY_NAME];
	size_t length;
};

static void make_key(struct twin_key *key, const char *name, uint32_t size)
{
	size_t length = strnlen(name, KEY_NAME);

	memcpy(key->bytes, &size, sizeof(size));
	memcpy(key->bytes + sizeof(size), name, length);
	key->length = sizeof(size) + length;
}

static void add_claim(struct looking *looking, const struct sk_plan_kernel *kernel, const int32_t *reference,
		      const char *name, uint32_t size)
{
	struct claim claim = {kernel, name, size, sk_package_file_target(looking->file, reference),
			      (uint32_t)looking->twins.count};
	struct twin_key key;
	uint32_t number;

	make_key(&key, name, size);
	number = sk_map_find(&looking->twin_numbers, key.bytes, key.length);
	if (number != SK_NONE) {
		claim.twins = number;
	} else {
		sk_map_insert(&looking->twin_numbers, sk_arena_copy(looking->arena, key.bytes, key.length), key.length,
			      claim.twins);
		sk_array_push(looking->arena, &looking->twins, (struct twins){.address = claim.address});
	}
	sk_array_push(looking->arena, &looking->claims, claim);
}

/* Mark names that belong to several functions. */
static void find_twins(struct looking *looking)
{
	for (size_t i = 0; i < looking->file->functions.count; i++) {
		const struct sk_file_function *function = &looking->file->functions.items[i];
		struct twin_key key;
		uint32_t number;

		make_key(&key, function->name, size_in_plan(function));
		number = sk_map_find(&looking->twin_numbers, key.bytes, key.length);
		if (number != SK_NONE)
			looking->twins.items[number].apart |= looking->twins.items[number].address != function->address;
	}
}

static enum verdict check_claim(struct looking *looking, const struct claim *claim)
{
	const char *kernel = sk_plan_string(&claim->kernel->name);
	const struct sk_place place = {.file = looking->file->path};
	const struct sk_file_function *found;
	enum verdict verdict = look_up(looking, claim->name, claim->address, claim->size, &found);

	if (verdict == OTHER)
		sk_error(looking->diag, place,
			 "the code of kernel '%s' is not the function '%s' of %u bytes: the symbol table has '%s' "
			 "there, of %llu",
			 kernel, claim->name, claim->size, found->name, (unsigned long long)found->size);
	if (verdict != SAME || !looking->twins.items[claim->twins].apart)
		return verdict;

	const char *label = sk_arena_print(looking->arena, "%s.%s", claim->name, kernel);

	if (look_up(looking, label, claim->address, claim->size, &found) == SAME)
		return SAME;
	for (size_t i = 0; i < looking->file->functions.count && looking->looks_left; i++, looking->looks_left--)
		if (!strcmp(looking->file->functions.items[i].name, label)) {
			sk_error(looking->diag, place,
				 "the code of kernel '%s' is a different function '%s' from the one that the symbol "
				 "table has as '%s'",
				 kernel, claim->name, label);
			return OTHER;
		}
	return UNKNOWN;
}

/* The plan names a side's function only in its signature. The sides of a copy are named after the kernel's. */
static const char *side_name(const struct looking *looking, const struct sk_plan_kernel *kernel, const char *said,
			     const char *suffix)
{
	const char *symbol = sk_plan_string(&kernel->symbol), *copy = strstr(symbol, ".split");
	int length = (int)(copy ? (size_t)(copy - symbol) : strlen(symbol));

	if (said)
		return sk_arena_join(looking->arena, said, copy ? copy : "");
	return sk_arena_print(looking->arena, "%.*s_mix_%s%s", length, symbol, suffix, copy ? copy : "");
}

/* Return false after an error. */
static bool claim_functions(struct looking *looking, const struct sk_plan_kernel *kernel)
{
	const struct sk_signature *signature =
		sk_signature_parse_folded(looking->arena, looking->diag, (struct sk_place){.file = looking->file->path},
					  sk_plan_string(&kernel->signature));
	bool mix = signature && signature->lane == SK_LANE_MIX;

	if (!signature || mix != (kernel->vector_code != 0)) {
		sk_error(looking->diag, (struct sk_place){.file = looking->file->path},
			 "kernel '%s' does not have as many functions as its signature says",
			 sk_plan_string(&kernel->name));
		return false;
	}
	if (kernel->flags & SK_KERNEL_IMPORTED)
		return true;
	add_claim(looking, kernel, &kernel->code,
		  mix ? side_name(looking, kernel, signature->aic, "aic") : sk_plan_string(&kernel->symbol),
		  kernel->code_size);
	if (mix)
		add_claim(looking, kernel, &kernel->vector_code, side_name(looking, kernel, signature->aiv, "aiv"),
			  kernel->vector_code_size);
	return true;
}

/* Return the number of kernels with an unknown function. Stop at the first error. */
static uint32_t check_kernels(struct looking *looking)
{
	const struct sk_plan_view *plan = &looking->file->plan;
	const struct sk_plan_kernel *last = NULL;
	unsigned errors = looking->diag->errors;
	uint32_t unknown = 0;

	sk_map_init(&looking->twin_numbers, looking->arena);
	sk_map_init(&looking->thunks, looking->arena);
	for (uint32_t i = 0; i < plan->kernel_count; i++)
		if (!claim_functions(looking, &plan->kernels[i]))
			return 0;
	find_twins(looking);
	for (size_t i = 0; i < looking->claims.count && looking->diag->errors == errors; i++) {
		const struct claim *claim = &looking->claims.items[i];

		if (check_claim(looking, claim) != UNKNOWN || claim->kernel == last)
			continue;
		last = claim->kernel;
		unknown++;
	}
	for (uint32_t i = 0; i < plan->kernel_count && looking->diag->errors == errors; i++)
		if (plan->kernels[i].flags & SK_KERNEL_IMPORTED)
			unknown += check_stub(looking, &plan->kernels[i]) == UNKNOWN;
	return unknown;
}

/* ---- symbols passed to kernels, and entries ---- */

/* The address for an import is that of its stub. */
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
			 "the address that kernels get for '%s' is not the symbol of that name: the symbol table has "
			 "'%s' there",
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

/* Thunks are numbered in the order of their launches. */
static const char *thunk_name(struct looking *looking, const struct sk_plan_launch *launch)
{
	uint64_t address = sk_package_file_target(looking->file, &launch->entry);
	const char *key = sk_arena_copy(looking->arena, (const char *)&address, sizeof(address));
	uint32_t number = sk_map_insert(&looking->thunks, key, sizeof(address), (uint32_t)looking->thunks.count);

	return sk_arena_print(looking->arena, "sk_thunk.%u", number);
}

static enum verdict check_entries(struct looking *looking, const struct sk_plan_launch *launch)
{
	const char *name = sk_plan_has_thunk(launch) ? thunk_name(looking, launch) : sk_plan_string(&launch->name);
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

	*unknown = (struct sk_unknown_code){.kernels = check_kernels(&looking)};
	for (uint32_t i = 0; i < file->plan.symbol_count && diag->errors == errors; i++)
		unknown->symbols += check_handed(&looking, &file->plan.symbols[i]) == UNKNOWN;
	for (uint32_t i = file->plan.network_launch_count; i < file->plan.launch_count && diag->errors == errors; i++)
		unknown->entries += check_entries(&looking, &file->plan.launches[i]) == UNKNOWN;
	return diag->errors == errors;
}
