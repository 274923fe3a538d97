/* See planning-parts.h. First the properties of the task itself, then the limit of streams, which counts only tasks
 * that could be fused. */
#include "src/planning/planning-parts.h"

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "src/model/model.h"
#include "src/planning/planning.h"

enum { STREAM_LIMIT = 2 };

/* On a device with cube and vector cores each block needs a core; threads of a host run any number of blocks in
 * turn. */
static bool exceeds_cores(const struct sk_profile *device, const struct sk_task *task)
{
	return device->lane_count > 1 && task->bound.block_count > device->lanes[task->bound.lane].cores;
}

bool sk_launches_exchange_alone(const struct sk_model *model, const struct sk_task *task)
{
	for (size_t i = 0; i < task->said.scopes.count && task->said.exchange; i++)
		if (model->scopes.items[task->said.scopes.items[i]].no_exchange_fusion)
			return true;
	return false;
}

static enum sk_reason judge(const struct sk_segments *segments, uint32_t number)
{
	const struct sk_model *model = segments->model;
	const struct sk_task *task = &model->tasks.items[number];

	if (task->said.once)
		return SK_REASON_RUNS_ONCE;
	if (task->said.never_fuse)
		return SK_REASON_IN_UNFUSIBLE_SCOPE;
	if (segments->set_of[number] == SK_NONE)
		return SK_REASON_NOT_IN_SCOPE;
	if (model->kernels.items[task->bound.kernel].signature->unfusible || sk_launches_exchange_alone(model, task))
		return SK_REASON_OP_UNSUPPORT;
	if (exceeds_cores(model->device, task))
		return SK_REASON_EXCEED_CORE_MAX;
	return SK_REASON_CAN_FUSE;
}

static bool allows_any_stream(const struct sk_segments *segments, const struct sk_tag_set *set)
{
	for (size_t i = 0; i < set->scope_count; i++)
		if (segments->model->scopes.items[set->scopes[i]].stream_fusion)
			return true;
	return false;
}

/* The streams of a tag set so far. */
struct limit {
	uint32_t streams[STREAM_LIMIT];
	uint32_t count;
	bool reported;
};

static bool takes_stream(struct limit *limit, uint32_t stream)
{
	for (uint32_t i = 0; i < limit->count; i++)
		if (limit->streams[i] == stream)
			return true;
	if (limit->count == STREAM_LIMIT)
		return false;
	limit->streams[limit->count++] = stream;
	return true;
}

static void warn_of_stream(const struct sk_segments *segments, const struct sk_task *task, const char *label,
			   const struct limit *limit)
{
	sk_warning(segments->model->diag, task->place,
		   "task '%s' is not fused: it is in stream %u, the third stream of scope '%s', which takes two; more "
		   "need options: \"stream-fusion=1\"",
		   task->name, task->said.stream, label);
	sk_note(segments->model->diag, "the first two are streams %u and %u", limit->streams[0], limit->streams[1]);
}

/* Without stream-fusion=1 on one of its scopes, a tag set contains at most two streams: the first two. */
static void limit_streams(struct sk_segments *segments)
{
	struct limit *limits = SK_NEW_ARRAY(segments->model->arena, struct limit, segments->sets.count);

	for (uint32_t t = 0; t < segments->model->tasks.count; t++) {
		if (segments->verdict[t] != SK_REASON_CAN_FUSE)
			continue;
		const struct sk_tag_set *set = &segments->sets.items[segments->set_of[t]];
		const struct sk_task *task = &segments->model->tasks.items[t];
		struct limit *limit = &limits[segments->set_of[t]];

		if (takes_stream(limit, task->said.stream) || allows_any_stream(segments, set))
			continue;
		segments->verdict[t] = SK_REASON_EXCEED_STREAM_MAX;
		if (!limit->reported)
			warn_of_stream(segments, task, set->label, limit);
		limit->reported = true;
	}
}

void sk_verdicts_find(struct sk_segments *segments)
{
	for (uint32_t t = 0; t < segments->model->tasks.count; t++)
		segments->verdict[t] = judge(segments, t);
	limit_streams(segments);
}
