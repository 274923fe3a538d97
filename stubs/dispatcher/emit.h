/* What an architecture does for the dispatcher: one row of functions each. */
#ifndef SK_EMIT_H
#define SK_EMIT_H

#include "stubs/dispatcher/dispatcher.h"
#include "stubs/dispatcher/ops.h"

struct sk_emitter {
	uint32_t machine; /* EM_… */
	const char *name;
	/* ELF's types of the references that dispatchers and plans have: S + A - P, and what a call wants. */
	uint32_t relative_type, call_type;
	uint32_t reference_size; /* bytes of either */
	/* Writes a reference of that type at `place` to `target` (S + A) into its field. False: it does not reach. */
	bool (*apply)(uint32_t type, uint8_t *field, uint64_t target, uint64_t place);
	/* Turns ops into code, behind what is there. Returns NULL, or the reason why it cannot be done (in scratch). */
	const char *(*emit)(struct sk_arena *scratch, const struct sk_entry_ops *program, struct sk_code *code);
};

extern const struct sk_emitter sk_emit_x86_64;

/* The row of an ELF machine; NULL: it has none. */
const struct sk_emitter *sk_emitter_find(uint32_t machine);

#endif
