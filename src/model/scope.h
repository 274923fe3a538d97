/* Scopes: the tasks that one superkernel shall run, and how. A task says which ones it is in. */
#ifndef SK_SCOPE_H
#define SK_SCOPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"

/* strict-scope-check: what is done where a scope cannot be fused whole. The greater one wins. */
enum sk_strict_check {
	SK_STRICT_NONE, /* it is split */
	SK_STRICT_BYPASS, /* it is not fused at all */
	SK_STRICT_ABORT, /* the link fails */
};

typedef SK_ARRAY(struct sk_name) sk_names;

/* What a scope's options say about its superkernels; all 0 where they say nothing. */
struct sk_launch_options {
	uint32_t func_align;
	uint32_t preload; /* enum sk_preload */
	uint32_t split_mode;
	uint32_t cube_cores, vector_cores; /* debug-aic-num, debug-aiv-num */
	bool sync_all, flush_all; /* debug-sync-all, debug-dcci-all */
	bool profiling;
	bool no_tile_fusion; /* tile-fusion=0 */
	bool no_parallel_fusion; /* parallel-fusion=0 */
	uint32_t tile_bytes; /* tile-bytes: of all that a tile's calls touch; 0: sklink chooses */
	bool debug; /* compile-options=-g */
	struct sk_place cube_place, vector_place, split_place, debug_place; /* of these options */
	/* The dcci lists: names of kernels, or of what they compute (op=). */
	sk_names flush_before, flush_after, flush_never;
};

struct sk_scope {
	const char *name;
	const char *base; /* of one of several networks: what the scope is called in each; NULL: there is one network */
	const char *symbol; /* takes the place of the name in symbols of its launches; NULL: the name does */
	struct sk_place place;
	bool declared; /* it stands under `scopes` */
	bool has_options; /* `options:` */
	bool stream_fusion; /* stream-fusion=1 */
	enum sk_strict_check strict;
	struct sk_launch_options launch;
	bool starts_late; /* early-start=0 or 2 */
	bool feeds_sync_all; /* feed-sync-all=1 */
};

#endif
