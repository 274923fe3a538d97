/* Makes the dispatchers of a package again and compares them; see skdump.h. The addresses of kernels and constants are
 * taken from the plan's references. The comparison shows that they are right, since the code uses the same
 * addresses. */
#include "src/skdump/skdump.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/ranges.h"
#include "format/plan/plan.h"
#include "format/relocation-types.h"
#include "format/skplan.h"
#include "stubs/dispatcher/dispatcher.h"

struct comparison {
	struct sk_arena *arena; /* for one launch */
	struct sk_diag *diag;
	const struct sk_package_file *file;
};

static struct sk_place at(const struct sk_package_file *file, uint64_t address)
{
	if (address < file->text || !file->text)
		return (struct sk_place){.file = file->path};
	return (struct sk_place){.file = file->path, .section = ".text", .offset = address - file->text};
}

/* ---- targets of references in code ---- */

static bool is_code(const struct sk_package_file *file, const int32_t *reference)
{
	const struct sk_file_segment *segment =
		sk_package_file_segment(file, sk_package_file_target(file, reference), 1);

	return segment && segment->executable;
}

static bool check_kernels(struct sk_diag *diag, const struct sk_package_file *file)
{
	bool sound = true;

	for (uint32_t i = 0; i < file->plan.kernel_count; i++) {
		const struct sk_plan_kernel *kernel = &file->plan.kernels[i];

		if (is_code(file, &kernel->code) && (!kernel->vector_code || is_code(file, &kernel->vector_code)))
			continue;
		sk_error(diag, (struct sk_place){.file = file->path}, "the code of kernel '%s' is not in the package",
			 sk_plan_string(&kernel->name));
		sound = false;
	}
	return sound;
}

/* Return true if all of [address, address + size) is constants that libskrt takes from another file. */
static bool is_elsewhere(const struct sk_package_file *file, uint64_t address, uint64_t size)
{
	return file->weights && address >= file->weights_start &&
	       sk_within(address - file->weights_start, size, file->weights_size);
}

static bool check_constants(struct sk_diag *diag, const struct sk_package_file *file)
{
	const struct sk_plan *plan = file->plan.plan;
	const struct sk_file_segment *segment;
	uint64_t address;

	if (!plan->constants_size && plan->constants)
		sk_error(diag, (struct sk_place){.file = file->path},
			 "the plan has a place for constants but no constants");
	if (!plan->constants_size)
		return !plan->constants;
	address = sk_package_file_target(file, &plan->constants);
	segment = sk_package_file_segment(file, address, plan->constants_size);
	if (!plan->constants ||
	    (segment ? segment->writable || segment->executable : !is_elsewhere(file, address, plan->constants_size))) {
		sk_error(diag, (struct sk_place){.file = file->path}, "the constants are not in a read-only segment");
		return false;
	}
	if (!file->constants || file->constants == address)
		return true;
	sk_error(diag, (struct sk_place){.file = file->path},
		 "the constants are not where the section .sk.constants is");
	return false;
}

static bool check_symbol(struct sk_diag *diag, const struct sk_package_file *file, const char *name, uint64_t address)
{
	uint32_t symbol = sk_map_find(&file->symbols, name, strlen(name));

	if (symbol != SK_NONE && file->symbol_values.items[symbol] == address)
		return true;
	sk_error(diag, (struct sk_place){.file = file->path},
		 symbol == SK_NONE ? "the symbol '%s' is missing" : "the symbol '%s' is not where the plan says", name);
	return false;
}

/* ---- one entry ---- */

static uint64_t relocation_target(const struct sk_package_file *file, const struct sk_code_relocation *relocation)
{
	if (relocation->target == SK_CODE_CONSTANTS)
		return sk_package_file_target(file, &file->plan.plan->constants);
	if (relocation->target == SK_CODE_SYMBOL)
		return sk_package_file_target(file, &file->plan.symbols[relocation->index].address);

	const struct sk_plan_kernel *kernel = &file->plan.kernels[relocation->index];

	return sk_package_file_target(file, relocation->target == SK_CODE_VECTOR_KERNEL ? &kernel->vector_code
											: &kernel->code);
}

/* The machine is one that code has been made for. */
static bool relocate(const struct comparison *comparison, struct sk_code *code, uint64_t entry, const char *name)
{
	const struct sk_relocation_table *machine = sk_emitter_find(comparison->file->plan.plan->machine)->relocations;

	for (size_t i = 0; i < code->relocations.count; i++) {
		const struct sk_code_relocation *relocation = &code->relocations.items[i];
		uint64_t place = entry + relocation->offset;
		uint64_t target = relocation_target(comparison->file, relocation) + (uint64_t)relocation->addend;

		if (!sk_relocation_apply(machine, relocation->call ? machine->call : machine->relative32,
					 code->bytes.items + relocation->offset, target - place, place)) {
			sk_error(comparison->diag, at(comparison->file, place),
				 "the dispatcher '%s' cannot reach the functions that it calls according to the plan",
				 name);
			return false;
		}
	}
	return true;
}

static bool compare_bytes(const struct comparison *comparison, const struct sk_code *code, uint64_t entry,
			  const char *name)
{
	const uint8_t *found = comparison->file->bytes + entry;
	const char *function = name;
	size_t i = 0;

	if (memcmp(found, code->bytes.items, code->bytes.count) == 0)
		return true;
	while (found[i] == code->bytes.items[i])
		i++;
	for (size_t s = 0; s < code->symbols.count; s++)
		if (i - code->symbols.items[s].offset < code->symbols.items[s].size)
			function = code->symbols.items[s].name;
	sk_error(comparison->diag, at(comparison->file, entry + i),
		 "the dispatcher '%s' differs from its plan: byte %zu of '%s' is 0x%02x instead of 0x%02x", name, i,
		 function, found[i], code->bytes.items[i]);
	return false;
}

static bool compare_entry(const struct comparison *comparison, uint32_t launch, enum sk_entry_kind kind,
			  const int32_t *reference, const char *name)
{
	const struct sk_package_file *file = comparison->file;
	uint64_t entry = sk_package_file_target(file, reference);
	const struct sk_file_segment *segment;
	struct sk_code code = {.arena = comparison->arena};
	const char *reason = sk_dispatcher_emit(comparison->arena, &file->plan, file->dims.dims ? &file->dims : NULL,
						launch, kind, name, &code);

	if (reason) {
		sk_error(comparison->diag, (struct sk_place){.file = file->path},
			 "the dispatcher '%s' cannot be made again: %s", name, reason);
		return false;
	}
	segment = sk_package_file_segment(file, entry, code.bytes.count);
	if (!*reference || !segment || !segment->executable) {
		sk_error(comparison->diag, (struct sk_place){.file = file->path},
			 "the dispatcher '%s' is not in the package", name);
		return false;
	}
	return relocate(comparison, &code, entry, name) && compare_bytes(comparison, &code, entry, name);
}

/* func-align: check an entry, or a kernel that a launch calls. */
static bool check_alignment(const struct comparison *comparison, uint32_t alignment, uint64_t address, const char *name)
{
	if (!alignment || address % alignment == 0)
		return true;
	sk_error(comparison->diag, at(comparison->file, address), "'%s' is not aligned to %u bytes", name, alignment);
	return false;
}

static bool check_kernel(const struct comparison *comparison, const struct sk_plan_launch *launch,
			 const struct sk_plan_kernel *kernel)
{
	if (kernel->flags & SK_KERNEL_IMPORTED) /* its code is not in the package */
		return true;
	return check_alignment(comparison, sk_plan_form(launch)->func_align,
			       sk_package_file_target(comparison->file, &kernel->code),
			       sk_plan_string(&kernel->symbol));
}

/* Check the entry, the kernels that it calls, and their copies. */
static bool check_alignments(const struct comparison *comparison, const struct sk_plan_launch *launch)
{
	const struct sk_package_file *file = comparison->file;
	const char *name = sk_plan_string(&launch->name);
	struct sk_plan_calls calls = sk_plan_launch_calls(&file->plan, launch);
	bool sound = check_alignment(comparison, sk_plan_form(launch)->func_align,
				     sk_package_file_target(file, &launch->entry), name);

	for (const struct sk_plan_call *call = calls.first; call < calls.end; call++) {
		const struct sk_plan_kernel *kernel = &file->plan.kernels[call->kernel];

		sound &= check_kernel(comparison, launch, kernel);
		for (uint32_t copy = 1; copy < sk_plan_form(launch)->copies; copy++)
			sound &= check_kernel(comparison, launch, &file->plan.kernels[kernel->first_copy + copy - 1]);
	}
	return sound;
}

static bool compare_launch(const struct comparison *comparison, uint32_t launch)
{
	const struct sk_package_file *file = comparison->file;
	const struct sk_plan_launch *record = &file->plan.launches[launch];
	const char *name = sk_plan_string(&record->name);
	const char *serial = sk_arena_print(comparison->arena, "%s_serial", name);
	bool sound = compare_entry(comparison, launch, SK_ENTRY_PARALLEL, &record->entry, name);

	if (!record->serial_entry != (sk_plan_is_resident(record) || sk_plan_has_thunk(record))) {
		sk_error(comparison->diag, (struct sk_place){.file = file->path},
			 "launch '%s' has no serial entry if and only if its blocks wait for one another, or it has a "
			 "thunk",
			 name);
		return false;
	}
	if (record->serial_entry)
		sound &= compare_entry(comparison, launch, SK_ENTRY_SERIAL, &record->serial_entry, serial);
	sound &= check_alignments(comparison, record);
	if (!sound || sk_plan_form(record)->kind == SK_LAUNCH_TASK)
		return sound;
	sound = check_symbol(comparison->diag, file, name, sk_package_file_target(file, &record->entry));
	if (record->serial_entry)
		sound &= check_symbol(comparison->diag, file, serial,
				      sk_package_file_target(file, &record->serial_entry));
	return sound;
}

bool sk_reemit_compare(struct sk_diag *diag, const struct sk_package_file *file)
{
	bool sound = check_symbol(diag, file, file->plan_symbol, file->plan_offset);

	sound &= check_kernels(diag, file);
	sound &= check_constants(diag, file);
	if (!sound)
		return false;
	for (uint32_t launch = 0; launch < file->plan.launch_count; launch++) {
		struct comparison comparison = {.arena = sk_arena_create(), .diag = diag, .file = file};

		sound &= compare_launch(&comparison, launch);
		sk_arena_destroy(comparison.arena);
	}
	return sound;
}
