/* The emitter of dispatchers for AArch64. It emits none. */
#include <elf.h>

#include "format/relocation-types.h"
#include "stubs/dispatcher/dispatcher.h"

static const char *emit(struct sk_arena *scratch, const struct sk_entry_ops *program, struct sk_code *code)
{
	(void)scratch, (void)program, (void)code;
	return "AArch64 is a skeleton";
}

const struct sk_emitter sk_emitter_aarch64 = {
	.machine = EM_AARCH64,
	.name = "AArch64",
	.relocations = &sk_relocations_aarch64,
	.emit = emit,
};
