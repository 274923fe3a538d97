/* The flags of graph-kernel fusion: what MindSpore's MS_DEV_GRAPH_KERNEL_FLAGS says, as fields. */
#ifndef SK_FLAGS_H
#define SK_FLAGS_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/arena.h"
#include "src/base/diag.h"

/* Whose lists of operators and whose rules of areas hold. */
enum sk_fusion_target { SK_TARGET_HOST, SK_TARGET_ASCEND, SK_TARGET_CPU, SK_TARGET_GPU };

struct sk_rules;

struct sk_fusion_flags {
	unsigned opt_level; /* 0: no graph-kernel fusion */
	enum sk_fusion_target target;
	bool given; /* somebody has said some; otherwise all of them are the defaults */
	const struct sk_rules *rules; /* the user's; NULL: there are none */
	struct sk_place place; /* where the text of the flags stands */
#define BOOL(name, otherwise)	 bool name;
#define INTEGER(name, otherwise) int64_t name;
#define STRING(name, otherwise)	 const char *name;
#define LIST(name)		 sk_texts name;
#include "src/fusion/manager/flags.def"
#undef BOOL
#undef INTEGER
#undef STRING
#undef LIST
};

#endif
