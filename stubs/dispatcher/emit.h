/* What an architecture does for the dispatcher: one row of functions each. */
#ifndef SK_EMIT_H
#define SK_EMIT_H

#include "format/relocation-types.h"
#include "stubs/dispatcher/dispatcher.h"
#include "stubs/dispatcher/ops.h"

struct sk_emitter {
	uint32_t machine; /* EM_… */
	const char *name;
	const struct sk_relocation_table *relocations;
	/* Turns ops into code, behind what is there. Returns NULL, or the reason why it cannot be done (in scratch). */
	const char *(*emit)(struct sk_arena *scratch, const struct sk_entry_ops *program, struct sk_code *code);
};

#define SK_MACHINE(name) extern const struct sk_emitter sk_emitter_##name;
#include "format/machines.def"
#undef SK_MACHINE

/* The row of an ELF machine; NULL: it has none. */
const struct sk_emitter *sk_emitter_find(uint32_t machine);

#endif
