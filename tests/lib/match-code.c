/* See match-code.h. */
#include "tests/lib/match-code.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "format/plan/plan.h"
#include "src/skdump/skdump.h"
#include "stubs/dispatcher/dispatcher.h"

static void relocate(const struct sk_package_file *file, struct sk_code *code, uint64_t entry)
{
	for (size_t i = 0; i < code->relocations.count; i++) {
		const struct sk_code_relocation *relocation = &code->relocations.items[i];
		const struct sk_plan_kernel *kernel = &file->plan.kernels[relocation->index];
		const int32_t *target = relocation->target == SK_CODE_CONSTANTS ? &file->plan.plan->constants
					: relocation->target == SK_CODE_KERNEL	? &kernel->code
										: &kernel->vector_code;
		uint64_t value = sk_package_file_target(file, target) + (uint64_t)relocation->addend -
				 (entry + relocation->offset);

		memcpy(code->bytes.items + relocation->offset, &value, 4);
	}
}

/* Return the address at which the code from this address on must end: functions are aligned, and padded, to 64 bytes.
 * */
static uint64_t room_at(const struct sk_package_file *file, uint64_t entry, size_t parts)
{
	for (size_t i = 0; i < file->functions.count; i++)
		if (file->functions.items[i].address > entry && parts-- == 1)
			return file->functions.items[i].address;
	return entry;
}

static void make_entry(const struct sk_package_file *file, uint8_t *bytes, uint32_t launch, enum sk_entry_kind kind,
		       const int32_t *reference)
{
	struct sk_arena *arena = sk_arena_create();
	struct sk_code code = {.arena = arena};
	uint64_t entry = sk_package_file_target(file, reference);

	if (!sk_dispatcher_emit(arena, &file->plan, NULL, launch, kind, "entry", &code) &&
	    entry + code.bytes.count <= room_at(file, entry, code.symbols.count) && entry < file->size) {
		relocate(file, &code, entry);
		memcpy(bytes + entry, code.bytes.items, code.bytes.count);
	}
	sk_arena_destroy(arena);
}

bool match_code(const char *path, uint8_t *bytes, size_t size)
{
	struct sk_arena *arena = sk_arena_create();
	struct sk_package_file file;
	struct sk_diag diag;
	bool differs = false;

	sk_diag_init(&diag, arena);
	if (sk_package_file_open(arena, &diag, path, &file)) {
		for (uint32_t i = 0; i < file.plan.launch_count; i++) {
			const struct sk_plan_launch *launch = &file.plan.launches[i];

			make_entry(&file, bytes, i, SK_ENTRY_PARALLEL, &launch->entry);
			if (launch->serial_entry && !sk_plan_is_resident(launch))
				make_entry(&file, bytes, i, SK_ENTRY_SERIAL, &launch->serial_entry);
		}
		differs = memcmp(bytes, file.bytes, size) != 0;
		sk_package_file_close(&file);
	}
	sk_arena_destroy(arena);
	return differs;
}
