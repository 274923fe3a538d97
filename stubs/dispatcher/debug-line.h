/* Debug information for dispatchers: each step's code belongs to its task's line in the manifest. In: the code of all
 * entries, as sk_dispatcher_emit has made it. Out: the contents of .debug_info, .debug_line and .debug_abbrev, one
 * compilation unit whose source is the manifest, and where in them addresses and offsets are missing.
 *
 * Format: DWARF 4, which every reader knows and which names a file without a directory. */
#ifndef SK_DEBUG_LINE_H
#define SK_DEBUG_LINE_H

#include "stubs/dispatcher/dispatcher.h"

enum sk_debug_part { SK_DEBUG_INFO, SK_DEBUG_LINE, SK_DEBUG_ABBREV, SK_DEBUG_PARTS };

/* What the linker fills in: 32 bits, where the contents of the part begin in its joined section; or, if part is
 * SK_DEBUG_PARTS, 64 bits: the address of the code plus addend. */
struct sk_debug_reference {
	uint64_t offset;
	enum sk_debug_part part;
	uint64_t addend;
};

struct sk_debug_section {
	const char *name;
	SK_ARRAY(uint8_t) bytes;
	SK_ARRAY(struct sk_debug_reference) references;
};

struct sk_debug {
	struct sk_arena *arena;
	struct sk_debug_section parts[SK_DEBUG_PARTS];
};

/* `source` is the manifest's path, to appear as it is; producer, the program's name and version. The code is of
 * launches of the plan and has at least one function. */
void sk_debug_build(struct sk_debug *debug, struct sk_arena *arena, const char *source, const char *producer,
		    const struct sk_plan_view *plan, const struct sk_code *code);

#endif
