/* What an architecture does for the dispatcher: one row of functions each. */
#ifndef SK_EMIT_H
#define SK_EMIT_H

#include "stubs/dispatcher/dispatcher.h"
#include "stubs/dispatcher/ops.h"

struct sk_emitter {
	uint32_t machine; /* EM_X86_64 … */
	/* Turns ops into code, behind what is there. Returns NULL, or the reason why it cannot be done (in scratch). */
	const char *(*emit)(struct sk_arena *scratch, const struct sk_program *program, struct sk_code *code);
};

extern const struct sk_emitter sk_emit_x86_64;

#endif
