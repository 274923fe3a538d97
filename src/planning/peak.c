/* See planning.h. A buffer is a tensor with bytes of its own or, without slices, also a slice. It is alive from its
 * first to its last use. The copies of a Split's parts would be made before the first use of one of them, and those of
 * a Concat's parts after the last one is computed; the whole is also used at that time. No part of a Split contains
 * parts of a Concat, since a part of a slice is copied already. */
#include "src/planning/planning.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/skplan.h"
#include "src/model/model.h"

/* Times are twice the number of a task, with room for a copy in between. */
struct buffer {
	bool used;
	uint64_t first, last, written; /* written: the last write */
	uint64_t bytes; /* 0: the caller's memory */
};

struct event {
	uint64_t time;
	uint64_t begun, ended; /* bytes */
};

struct buffers {
	const struct sk_model *model;
	struct buffer *tensors; /* by tensor */
	struct buffer *slices; /* by slice */
};

static void use(struct buffer *buffer, uint64_t time, bool writes)
{
	buffer->first = buffer->used && buffer->first < time ? buffer->first : time;
	buffer->last = buffer->used && buffer->last > time ? buffer->last : time;
	buffer->written = writes && time > buffer->written ? time : buffer->written;
	buffer->used = true;
}

/* Return the buffer that contains the slice. */
static struct buffer *outer_of(const struct buffers *buffers, const struct sk_node_part *slice)
{
	return slice->outer == SK_NONE ? &buffers->tensors[slice->tensor] : &buffers->slices[slice->outer];
}

static void find_uses(const struct buffers *buffers, bool sliced)
{
	const struct sk_model *model = buffers->model;

	for (size_t t = 0; t < model->tasks.count; t++) {
		const struct sk_task *task = &model->tasks.items[t];

		for (size_t a = 0; a < task->said.args.count; a++) {
			uint32_t index = task->said.args.items[a].tensor;

			if (index == SK_NONE)
				continue;

			const struct sk_tensor *tensor = &model->tensors.items[index];
			uint32_t root = tensor->view_of == SK_NONE ? index : tensor->view_of;

			use(tensor->slice && !sliced ? &buffers->slices[tensor->slice - 1] : &buffers->tensors[root],
			    2 * t + 2, task->said.directed && a >= task->said.input_count);
		}
	}
}

static void copy_parts(const struct buffers *buffers, const struct sk_virtual_node *node)
{
	struct buffer *parts = buffers->slices + node->first_slice;
	uint64_t time = node->joins ? 0 : UINT64_MAX;
	bool used = false;

	for (uint32_t i = 0; i < node->slice_count; i++) {
		uint64_t end = node->joins ? parts[i].written + 1 : parts[i].first - 1;

		if (!parts[i].used)
			continue;
		time = node->joins == (end > time) ? end : time;
		used = true;
	}
	for (uint32_t i = 0; i < node->slice_count; i++)
		if (parts[i].used)
			use(&parts[i], time, !node->joins);
	if (used)
		use(outer_of(buffers, &buffers->model->slices.items[node->first_slice]), time, node->joins);
}

/* At equal times, ends come before beginnings. */
static int compare_events(const void *a, const void *b)
{
	const struct event *one = a, *other = b;

	return one->time != other->time ? (one->time > other->time) - (one->time < other->time)
					: (one->begun > other->begun) - (one->begun < other->begun);
}

static size_t add_events(struct event *events, const struct buffer *buffers, size_t count)
{
	size_t added = 0;

	for (size_t i = 0; i < count; i++) {
		if (!buffers[i].used || !buffers[i].bytes)
			continue;
		events[added++] = (struct event){buffers[i].first, buffers[i].bytes, 0};
		events[added++] = (struct event){buffers[i].last + 1, 0, buffers[i].bytes};
	}
	return added;
}

static uint64_t sweep(const struct buffers *buffers)
{
	const struct sk_model *model = buffers->model;
	struct event *events =
		SK_NEW_ARRAY(model->arena, struct event, 2 * (model->tensors.count + model->slices.count) + 1);
	size_t count = add_events(events, buffers->tensors, model->tensors.count);
	uint64_t alive = 0, peak = 0;

	count += add_events(events + count, buffers->slices, model->slices.count);
	qsort(events, count, sizeof(*events), compare_events);
	for (size_t i = 0; i < count; i++) {
		alive = alive + events[i].begun - events[i].ended;
		peak = alive > peak ? alive : peak;
	}
	return peak;
}

static uint64_t measure_peak(const struct sk_model *model, bool sliced)
{
	struct buffers buffers = {model, SK_NEW_ARRAY(model->arena, struct buffer, model->tensors.count + 1),
				  SK_NEW_ARRAY(model->arena, struct buffer, model->slices.count + 1)};

	for (size_t i = 0; i < model->tensors.count; i++)
		if (model->tensors.items[i].role == SK_ROLE_TEMPORARY)
			buffers.tensors[i].bytes = model->tensors.items[i].bytes;
	for (size_t i = 0; i < model->slices.count; i++)
		buffers.slices[i].bytes = model->slices.items[i].bytes;
	find_uses(&buffers, sliced);
	/* Inner parts first. */
	for (size_t i = model->virtual_nodes.count; i-- && !sliced;)
		if (!model->virtual_nodes.items[i].joins && model->virtual_nodes.items[i].slice_count)
			copy_parts(&buffers, &model->virtual_nodes.items[i]);
	for (size_t i = 0; i < model->virtual_nodes.count && !sliced; i++)
		if (model->virtual_nodes.items[i].joins && model->virtual_nodes.items[i].slice_count)
			copy_parts(&buffers, &model->virtual_nodes.items[i]);
	return sweep(&buffers);
}

struct sk_peak sk_peak_of_slices(const struct sk_model *model)
{
	return (struct sk_peak){measure_peak(model, true), measure_peak(model, false)};
}
