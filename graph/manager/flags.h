/* The flags of graph-kernel fusion: what MindSpore's MS_DEV_GRAPH_KERNEL_FLAGS says, as fields. */
#ifndef SK_FLAGS_H
#define SK_FLAGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"

/* Whose lists of operators and whose rules of areas hold. */
enum sk_fusion_target { SK_TARGET_HOST, SK_TARGET_ASCEND, SK_TARGET_CPU, SK_TARGET_GPU };

enum { SK_FUSION_TARGETS = SK_TARGET_GPU + 1 };

/* What users call them. */
extern const char *const sk_fusion_targets[SK_FUSION_TARGETS];

struct sk_rules;
struct sk_switches;

struct sk_fusion_flags {
	unsigned opt_level; /* 0: no graph-kernel fusion */
	enum sk_fusion_target target;
	bool given; /* somebody has said how to fuse; otherwise all of that is the default, perhaps without some pass */
	const struct sk_switches *switches; /* of single passes; NULL: there are none */
	const struct sk_rules *rules; /* the user's */
	bool no_patterns; /* TorchAir's and the user's rules fuse nothing */
	struct sk_rules *own_rules; /* sklink's, which are read once a pass wants them */
	const char *text; /* that they were read from */
	struct sk_place place; /* where it stands */
#define BOOL(name, otherwise)	 bool name;
#define INTEGER(name, otherwise) int64_t name;
#define STRING(name, otherwise)	 const char *name;
#define LIST(name)		 sk_texts name;
#include "graph/manager/flags.def"
#undef BOOL
#undef INTEGER
#undef STRING
#undef LIST
};

/* A text of flags, and where it stands. */
struct sk_flags_text {
	const char *text; /* "--opt_level=1 --enable_expand_ops=Square,Gelu" */
	struct sk_place place;
	bool in_line; /* its characters stand there from `place` on, so that warnings can name the column */
};

/* Reads the text; what it does not name has its default. What is wrong with it is warned of, and left out. */
void sk_fusion_flags_read(struct sk_arena *arena, struct sk_diag *diag, struct sk_flags_text text,
			  enum sk_fusion_target target, struct sk_fusion_flags *flags);

/* Looking for what a misspelt name was meant to be takes time: of so many that are wrong, nobody reads on. */
static inline bool sk_flags_may_suggest(const struct sk_diag *diag)
{
	return diag->warnings < 100;
}

/* All flags by name, as JSON. */
const char *sk_fusion_flags_json(struct sk_arena *arena, const struct sk_fusion_flags *flags);

#endif
