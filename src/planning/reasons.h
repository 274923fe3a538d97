/* Reasons: why a task was fused, or was not. A code is stable, for programs; the sentence is for people. */
#ifndef SK_REASONS_H
#define SK_REASONS_H

#include "src/model/model.h"

struct sk_fusion;

/* The names are the reference system's (FusionFailReason, ScopeBreakReason) where it has one for the same thing. */
enum sk_reason {
	SK_REASON_CAN_FUSE, /* in the first segment of its scope */

	/* In a later segment; the cause is the task that ended the one before for it: */
	SK_REASON_SCOPE_FUSE_PART, /* a task of the scope that is launched by itself */
	SK_REASON_EXTERNAL_DEPEND, /* a task of another scope, or of none, comes in between */
	SK_REASON_ISOLATED_EVENT, /* it waits for an event of a task of the scope that is launched by itself */
	SK_REASON_EXIST_DEADLOCK, /* it waits for an event that is recorded behind the segment before: one launch
				     would hold the cores and wait for what needs them */
	SK_REASON_SYNCALL_OP_DROP, /* it calls sk_sync_all, on fewer cores than a task there needs (sync-split.h) */
	SK_REASON_SYNCALL_OP_RISE, /* it needs more cores than a task there that calls sk_sync_all */

	/* Launched by itself: */
	SK_REASON_OP_UNSUPPORT, /* its kernel is marked unfusible */
	SK_REASON_EXCEED_CORE_MAX, /* it has more blocks than the device has cores */
	SK_REASON_EXCEED_STREAM_MAX, /* it is in a third stream of a scope that takes two */
	SK_REASON_SCOPE_CHECK_BYPASS, /* its scope cannot be fused whole, and wants strict-scope-check=bypass */
	SK_REASON_NOT_IN_SCOPE, /* stands outside every scope */
	SK_REASON_IN_UNFUSIBLE_SCOPE, /* `scope: null` */
	SK_REASON_RUNS_ONCE, /* `once: true` */
	SK_REASON_COUNT,
};

/* "OP_UNSUPPORT" */
const char *sk_reason_code(enum sk_reason reason);

/* A sentence without a full stop about the task, which names the cause, in the model's arena. */
const char *sk_reason_text(const struct sk_model *model, const struct sk_fusion *fusion, uint32_t task);

#endif
