/* See planning-parts.h. The candidates come from a list schedule: among the runs that could start first on a lane, the
 * one with the longest path to the end of the launch takes the cores on which it can start first. One candidate is the
 * order in which runs are taken. The other is the order in which they end: an await waits until all cores have passed
 * a step, and with it all steps before it. */
#include "src/planning/planning-parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/skplan.h"
#include "src/model/model.h"
#include "src/planning/planning.h"

enum {
	MOST_RUNS = 1 << 16, /* of a launch; with more the list's order stays */
	MOST_TRIES = 4, /* runs that could start first and are compared */
};

/* A better order must save this part of the list's time, because the times are estimates. */
static const double least_gain = 1.0 / 64;

/* ---- the graph of runs ---- */

/* A stream of the launch: places + 1. */
struct stream {
	uint32_t last, fixed, fence;
};

struct edge {
	uint32_t to;
	struct sk_run_edge edge;
};

struct grapher {
	struct sk_run_graph *graph;
	const uint32_t *run_of; /* by place of a task in the launch's runs */
	const uint32_t *places; /* by task */
	struct stream *streams; /* by stream number of the dependencies */
	uint32_t *before_in_stream; /* by place in network order */
	SK_ARRAY(struct edge) edges;
};

static const struct sk_task *task_at(const struct sk_run_graph *graph, uint32_t number)
{
	return &graph->model->tasks.items[number];
}

static enum sk_step_kind kind_of(const struct sk_run_graph *graph, const struct sk_task *task)
{
	return graph->model->kernels.items[task->bound.kernel].signature->spread;
}

static bool is_divided(const struct sk_run_graph *graph, const struct sk_task *task)
{
	return kind_of(graph, task) == SK_STEP_SPLIT;
}

/* Return the number of blocks that the rows of a run's task are cut into, or 0. */
static uint32_t blocks_of(const struct sk_run_graph *graph, const struct sk_run *run, const struct sk_task *task)
{
	return kind_of(graph, task) == SK_STEP_BLOCKS_RANGE ? task->bound.block_count : run->parts.blocks;
}

/* Return whether each core needs only its own part of what the conflict is about, so that it awaits no other core. */
static bool stays_on_cores(const struct grapher *grapher, uint32_t from, uint32_t to, uint32_t number,
			   const struct sk_conflict *conflict)
{
	const struct sk_run_graph *graph = grapher->graph;
	const struct sk_task *one = task_at(graph, conflict->task), *other = task_at(graph, number);
	const struct sk_run *before = &graph->runs->runs[from], *after = &graph->runs->runs[to];
	uint32_t blocks = blocks_of(graph, before, one);

	if (one->bound.lane != other->bound.lane)
		return false;
	if (kind_of(graph, one) == SK_STEP_PLAIN && kind_of(graph, other) == SK_STEP_PLAIN)
		return one->said.stream == other->said.stream;
	if (blocks != blocks_of(graph, after, other) ||
	    (!blocks && (!before->unit || before->extent != after->extent || before->unit != after->unit)))
		return false;
	return sk_divides_alike(graph->model, one, &one->bound.arguments[conflict->earlier], other,
				&other->bound.arguments[conflict->later]);
}

static void add_edge(struct grapher *grapher, uint32_t earlier, uint32_t later, enum sk_run_edge_kind kind)
{
	struct sk_run_graph *graph = grapher->graph;
	uint32_t from = grapher->run_of[grapher->places[earlier]], to = grapher->run_of[grapher->places[later]];

	if (from == to)
		return;
	sk_array_push(graph->arena, &grapher->edges, (struct edge){to, {from, kind}});
}

/* Launches are ordered as wholes. */
static bool is_here(const struct sk_run_graph *graph, uint32_t task)
{
	return graph->fusion->tasks[task].launch == graph->launch;
}

static void add_demands(struct grapher *grapher, uint32_t number)
{
	const struct sk_run_graph *graph = grapher->graph;
	const struct sk_dependencies *dependencies = graph->fusion->dependencies;
	const struct sk_task *task = task_at(graph, number);

	for (uint32_t i = dependencies->first_conflict[number]; i < dependencies->first_conflict[number + 1]; i++) {
		const struct sk_conflict *conflict = &dependencies->conflicts[i];
		uint32_t from;

		if (!is_here(graph, conflict->task))
			continue;
		from = grapher->run_of[grapher->places[conflict->task]];
		add_edge(grapher, conflict->task, number,
			 stays_on_cores(grapher, from, grapher->run_of[grapher->places[number]], number, conflict)
				 ? SK_EDGE_SAME_CORES
				 : SK_EDGE_AWAIT);
	}
	for (size_t i = 0; i < task->said.after.count; i++)
		if (is_here(graph, task->said.after.items[i]))
			add_edge(grapher, task->said.after.items[i], number, SK_EDGE_AWAIT);
	for (uint32_t i = dependencies->first_recorder[number]; i < dependencies->first_recorder[number + 1]; i++)
		if (is_here(graph, dependencies->recorders[i]))
			add_edge(grapher, dependencies->recorders[i], number, SK_EDGE_AWAIT);
}

/* The orders that a stream demands within a launch are those of tile-order.c: its undivided tasks, and all of its tasks
 * around one that records or awaits an event, keep their order. place: in network order. */
static void add_stream(struct grapher *grapher, uint32_t place)
{
	const struct sk_run_graph *graph = grapher->graph;
	const uint32_t *tasks = graph->fusion->launches[graph->launch].tasks;
	const struct sk_task *task = task_at(graph, tasks[place]);
	struct stream *stream = &grapher->streams[graph->fusion->dependencies->stream[tasks[place]]];
	bool fence = task->said.record.count || task->said.wait.count, fixed = !is_divided(graph, task);

	if (stream->fence)
		add_edge(grapher, tasks[stream->fence - 1], tasks[place], SK_EDGE_ORDER);
	if (fixed && stream->fixed)
		add_edge(grapher, tasks[stream->fixed - 1], tasks[place], SK_EDGE_ORDER);
	for (uint32_t p = stream->last; fence && p > stream->fence; p = grapher->before_in_stream[p - 1])
		add_edge(grapher, tasks[p - 1], tasks[place], SK_EDGE_ORDER);
	grapher->before_in_stream[place] = stream->last;
	stream->last = place + 1;
	stream->fixed = fixed ? place + 1 : stream->fixed;
	stream->fence = fence ? place + 1 : stream->fence;
}

/* Sort the edges by the run that they lead to. */
static void sort_edges(struct grapher *grapher)
{
	struct sk_run_graph *graph = grapher->graph;
	uint32_t count = graph->runs->count, *next = SK_NEW_ARRAY(graph->arena, uint32_t, count + (size_t)2);

	for (size_t i = 0; i < grapher->edges.count; i++)
		next[grapher->edges.items[i].to + 2]++;
	for (uint32_t run = 2; run < count + 2; run++)
		next[run] += next[run - 1];
	graph->edges = SK_NEW_ARRAY(graph->arena, struct sk_run_edge, grapher->edges.count + 1);
	for (size_t i = 0; i < grapher->edges.count; i++)
		graph->edges[next[grapher->edges.items[i].to + 1]++] = grapher->edges.items[i].edge;
	graph->first_edge = next;
}

static void build_graph(struct sk_run_graph *graph, const uint32_t *places)
{
	const struct sk_launch *launch = &graph->fusion->launches[graph->launch];
	struct sk_launch_runs *runs = graph->runs;
	uint32_t *run_of = SK_NEW_ARRAY(graph->arena, uint32_t, launch->task_count);
	struct grapher grapher = {
		.graph = graph,
		.run_of = run_of,
		.places = places,
		.streams = SK_NEW_ARRAY(graph->arena, struct stream, graph->fusion->dependencies->stream_count),
		.before_in_stream = SK_NEW_ARRAY(graph->arena, uint32_t, launch->task_count),
	};

	for (uint32_t i = 0; i < runs->count; i++)
		for (uint32_t m = 0; m < runs->runs[i].count; m++)
			run_of[runs->runs[i].first + m] = i;
	for (uint32_t place = 0; place < launch->task_count; place++) {
		add_demands(&grapher, launch->tasks[place]);
		add_stream(&grapher, place);
	}
	sort_edges(&grapher);
	graph->works = SK_NEW_ARRAY(graph->arena, struct sk_run_work, SK_MAX_SIDES * (size_t)runs->count);
	graph->sides = SK_NEW_ARRAY(graph->arena, uint8_t, runs->count);
	sk_run_times_measure(graph);
}

/* ---- the list schedule ---- */

struct item {
	double key;
	uint32_t run;
};

/* A binary heap: the least key first, and of equal keys the first run. */
struct heap {
	struct item *items;
	uint32_t count;
};

struct lister {
	const struct sk_run_graph *graph;
	const struct sk_order *followers; /* the graph's edges, from each run to those that follow it */
	double *tails; /* by run: the longest path from its start to the end of the launch */
	double *ready, *ends; /* by run */
	uint32_t *homes; /* by run: the first core of the last run that it continues */
	uint32_t *left; /* by run: edges to it from runs that have not been taken */
	double *free[SK_MAX_LANES]; /* by core */
	struct heap available[SK_MAX_LANES], waiting[SK_MAX_LANES]; /* by -tail, and by the time when they are ready */
	uint32_t *taken; /* runs in order */
	uint32_t taken_count;
};

static bool comes_first(struct item a, struct item b)
{
	return a.key != b.key ? a.key < b.key : a.run < b.run;
}

static void push_item(struct heap *heap, struct item item)
{
	uint32_t at = heap->count++;

	for (; at > 0 && comes_first(item, heap->items[(at - 1) / 2]); at = (at - 1) / 2)
		heap->items[at] = heap->items[(at - 1) / 2];
	heap->items[at] = item;
}

static struct item pop_item(struct heap *heap)
{
	struct item first = heap->items[0], last = heap->items[--heap->count];
	uint32_t at = 0;

	for (uint32_t child; (child = 2 * at + 1) < heap->count; at = child) {
		if (child + 1 < heap->count && comes_first(heap->items[child + 1], heap->items[child]))
			child++;
		if (!comes_first(heap->items[child], last))
			break;
		heap->items[at] = heap->items[child];
	}
	heap->items[at] = last;
	return first;
}

static const struct sk_run_work *work_of(const struct sk_run_graph *graph, uint32_t run, uint32_t side)
{
	return &graph->works[run * SK_MAX_SIDES + side];
}

static double time_of(const struct sk_run_graph *graph, uint32_t run)
{
	double time = work_of(graph, run, 0)->time;

	return graph->sides[run] > 1 && work_of(graph, run, 1)->time > time ? work_of(graph, run, 1)->time : time;
}

/* Runs are in a topological order. Return the longest path. */
static double find_tails(const struct sk_run_graph *graph, double *tails)
{
	double longest = 0;

	for (uint32_t run = graph->runs->count; run-- > 0;) {
		tails[run] += time_of(graph, run);
		longest = tails[run] > longest ? tails[run] : longest;
		for (uint32_t e = graph->first_edge[run]; e < graph->first_edge[run + 1]; e++) {
			const struct sk_run_edge *edge = &graph->edges[e];
			double tail = tails[run] + (edge->kind == SK_EDGE_AWAIT ? graph->model->device->await : 0);

			if (edge->kind != SK_EDGE_ORDER && tail > tails[edge->run])
				tails[edge->run] = tail;
		}
	}
	return longest;
}

/* Return when the side could start from this first core. */
static double start_at(const struct lister *lister, const struct sk_run_work *work, uint32_t first, double ready)
{
	for (uint32_t part = 0; part < work->parts; part++) {
		double free = lister->free[work->lane][sk_run_work_core(work, first, part)];

		ready = free > ready ? free : ready;
	}
	return ready;
}

/* Return when the run could start, and the first core for that: its home, unless it starts earlier elsewhere. */
static double find_start(const struct lister *lister, uint32_t run, uint32_t *first)
{
	const struct sk_run_work *work = work_of(lister->graph, run, 0);
	double least;

	*first = work->fixed ? work->first : lister->homes[run];
	least = start_at(lister, work, *first, lister->ready[run]);
	if (lister->graph->sides[run] > 1) {
		const struct sk_run_work *other = work_of(lister->graph, run, 1);

		return start_at(lister, other, other->first, least);
	}
	for (uint32_t core = 0; core < work->cores && !work->fixed; core++) {
		double start = start_at(lister, work, core, lister->ready[run]) + lister->graph->model->device->await;

		if (start >= least)
			continue;
		least = start;
		*first = core;
	}
	return least;
}

static void occupy(struct lister *lister, uint32_t run, uint32_t first)
{
	for (uint32_t side = 0; side < lister->graph->sides[run]; side++) {
		const struct sk_run_work *work = work_of(lister->graph, run, side);

		for (uint32_t part = 0; part < work->parts; part++) {
			double *free = &lister->free[work->lane]
						    [sk_run_work_core(work, work->fixed ? work->first : first, part)];

			*free = (*free > lister->ready[run] ? *free : lister->ready[run]) + work->time;
			lister->ends[run] = *free > lister->ends[run] ? *free : lister->ends[run];
		}
	}
}

/* The followers of a run that has been taken learn when they are ready. */
static void let_follow(struct lister *lister, uint32_t run, uint32_t first)
{
	const struct sk_run_graph *graph = lister->graph;

	for (uint32_t e = lister->followers->nodes.items[run].edges; e != SK_NONE;
	     e = lister->followers->edges.items[e].next) {
		uint32_t to = lister->followers->edges.items[e].to;

		if (--lister->left[to])
			continue;
		for (uint32_t i = graph->first_edge[to]; i < graph->first_edge[to + 1]; i++) {
			const struct sk_run_edge *edge = &graph->edges[i];
			double end = lister->ends[edge->run];

			if (edge->kind == SK_EDGE_ORDER)
				continue;
			end += edge->kind == SK_EDGE_AWAIT ? graph->model->device->await : 0;
			lister->ready[to] = end > lister->ready[to] ? end : lister->ready[to];
		}
		lister->homes[to] = work_of(graph, to, 0)->lane == work_of(graph, run, 0)->lane ? first : 0;
		push_item(&lister->waiting[work_of(graph, to, 0)->lane], (struct item){lister->ready[to], to});
	}
}

/* Return the earliest time at which a core of the lane is free and a run is ready. */
static double next_time(const struct lister *lister, uint32_t lane)
{
	double least = lister->free[lane][0];

	for (uint32_t core = 1; core < lister->graph->cores[lane]; core++)
		least = lister->free[lane][core] < least ? lister->free[lane][core] : least;
	if (!lister->available[lane].count && lister->waiting[lane].items[0].key > least)
		return lister->waiting[lane].items[0].key;
	return least;
}

/* Take one of the runs of the lane that are ready at this time. */
static void take_run(struct lister *lister, uint32_t lane, double time)
{
	struct heap *available = &lister->available[lane], *waiting = &lister->waiting[lane];
	struct item items[MOST_TRIES];
	uint32_t count = 0, best = 0, best_first = 0, first;
	double least = 0;

	while (waiting->count && waiting->items[0].key <= time) {
		uint32_t run = pop_item(waiting).run;

		push_item(available, (struct item){-lister->tails[run], run});
	}
	for (; count < MOST_TRIES && available->count; count++) {
		double start;

		items[count] = pop_item(available);
		start = find_start(lister, items[count].run, &first);
		if (count && start >= least)
			continue;
		least = start;
		best = count;
		best_first = first;
	}
	for (uint32_t i = 0; i < count; i++)
		if (i != best)
			push_item(available, items[i]);
	lister->taken[lister->taken_count++] = items[best].run;
	occupy(lister, items[best].run, best_first);
	let_follow(lister, items[best].run, best_first);
}

static void take_runs(struct lister *lister)
{
	uint32_t lanes = lister->graph->model->device->lane_count;

	while (lister->taken_count < lister->graph->runs->count) {
		uint32_t best = SK_NONE;
		double least = 0;

		for (uint32_t lane = 0; lane < lanes; lane++) {
			double time;

			if (!lister->available[lane].count && !lister->waiting[lane].count)
				continue;
			time = next_time(lister, lane);
			if (best != SK_NONE && time >= least)
				continue;
			best = lane;
			least = time;
		}
		take_run(lister, best, least);
	}
}

static void find_followers(const struct sk_run_graph *graph, struct sk_order *followers)
{
	sk_order_init(followers, graph->arena);
	for (uint32_t run = 0; run < graph->runs->count; run++)
		sk_order_add(followers);
	for (uint32_t run = 0; run < graph->runs->count; run++)
		for (uint32_t e = graph->first_edge[run]; e < graph->first_edge[run + 1]; e++)
			sk_order_add_edges(followers, &graph->edges[e].run, 1, run);
}

static void list_runs(struct lister *lister)
{
	const struct sk_run_graph *graph = lister->graph;
	uint32_t count = graph->runs->count;

	lister->ready = SK_NEW_ARRAY(graph->arena, double, count);
	lister->ends = SK_NEW_ARRAY(graph->arena, double, count);
	lister->homes = SK_NEW_ARRAY(graph->arena, uint32_t, count);
	lister->left = SK_NEW_ARRAY(graph->arena, uint32_t, count);
	lister->taken = SK_NEW_ARRAY(graph->arena, uint32_t, count);
	for (uint32_t lane = 0; lane < graph->model->device->lane_count; lane++) {
		lister->free[lane] = SK_NEW_ARRAY(graph->arena, double, graph->cores[lane]);
		lister->available[lane].items = SK_NEW_ARRAY(graph->arena, struct item, count);
		lister->waiting[lane].items = SK_NEW_ARRAY(graph->arena, struct item, count);
	}
	for (uint32_t run = 0; run < count; run++) {
		lister->left[run] = lister->followers->nodes.items[run].degree;
		if (!lister->left[run])
			push_item(&lister->waiting[work_of(graph, run, 0)->lane], (struct item){0, run});
	}
	take_runs(lister);
}

/* ---- candidates ---- */

struct chooser {
	struct sk_run_graph *graph;
	struct sk_tile_groups *groups;
	struct sk_launch_runs best;
	struct sk_run_times most; /* that an order may take … */
	double least; /* … and the sum of the best one's */
};

static void set_places(const struct chooser *chooser)
{
	const struct sk_run_graph *graph = chooser->graph;
	const uint32_t *tasks = graph->runs->tasks;

	for (uint32_t place = 0; place < graph->fusion->launches[graph->launch].task_count; place++)
		chooser->groups->places[tasks[place]] = place;
}

/* Put the runs in this order, with their first cores, and estimate the time. Keep it if it is less. */
static void try_order(struct chooser *chooser, const struct sk_launch_runs *listed, const uint32_t *order)
{
	struct sk_run_graph *graph = chooser->graph;
	uint32_t count = listed->count, *tasks, placed = 0;
	struct sk_run_times times;

	tasks = SK_NEW_ARRAY(graph->arena, uint32_t, graph->fusion->launches[graph->launch].task_count);
	*graph->runs = *listed;
	graph->runs->tasks = tasks;
	graph->runs->runs = SK_NEW_ARRAY(graph->arena, struct sk_run, count);
	for (uint32_t i = 0; i < count; i++) {
		struct sk_run *run = &graph->runs->runs[i];

		*run = listed->runs[order[i]];
		memcpy(tasks + placed, listed->tasks + run->first, run->count * sizeof(*tasks));
		run->first = placed;
		run->first_core = 0;
		placed += run->count;
	}
	set_places(chooser);
	sk_placement_choose(graph->model, graph->fusion, graph->launch, chooser->groups);
	times = sk_run_times_estimate(graph, order, graph->runs->runs);
	if (times.skipping > chooser->most.skipping || times.awaiting > chooser->most.awaiting ||
	    times.skipping + times.awaiting >= chooser->least)
		return;
	chooser->best = *graph->runs;
	chooser->best.ordered = true;
	chooser->least = times.skipping + times.awaiting;
}

static int compare_items(const void *a, const void *b)
{
	return comes_first(*(const struct item *)b, *(const struct item *)a) -
	       comes_first(*(const struct item *)a, *(const struct item *)b);
}

/* Return the runs in the order of their ends, where the edges leave a choice. */
static const uint32_t *sort_by_ends(const struct lister *lister)
{
	uint32_t count = lister->graph->runs->count;
	struct item *items = SK_NEW_ARRAY(lister->graph->arena, struct item, count);
	uint32_t *keys = SK_NEW_ARRAY(lister->graph->arena, uint32_t, count);

	for (uint32_t i = 0; i < count; i++)
		items[i] = (struct item){lister->ends[i], i};
	qsort(items, count, sizeof(*items), compare_items);
	for (uint32_t i = 0; i < count; i++)
		keys[items[i].run] = i;
	return sk_order_sort(lister->followers, keys);
}

/* Return a time that no order is below. */
static double least_time(const struct sk_run_graph *graph, double longest)
{
	double busy[SK_MAX_LANES] = {0};

	for (uint32_t run = 0; run < graph->runs->count; run++)
		for (uint32_t side = 0; side < graph->sides[run]; side++) {
			const struct sk_run_work *work = work_of(graph, run, side);

			busy[work->lane] += work->time * work->parts / work->cores;
		}
	for (uint32_t lane = 0; lane < SK_MAX_LANES; lane++)
		longest = busy[lane] > longest ? busy[lane] : longest;
	return longest;
}

static void choose_order(struct chooser *chooser, const struct sk_launch_runs *listed)
{
	struct sk_run_graph *graph = chooser->graph;
	struct sk_order followers;
	struct lister lister = {
		.graph = graph, .followers = &followers, .tails = SK_NEW_ARRAY(graph->arena, double, listed->count)};

	if (least_time(graph, find_tails(graph, lister.tails)) > chooser->most.skipping)
		return;
	find_followers(graph, &followers);
	list_runs(&lister);
	try_order(chooser, listed, lister.taken);
	*graph->runs = *listed;
	try_order(chooser, listed, sort_by_ends(&lister));
}

void sk_run_order_choose(const struct sk_model *model, const struct sk_fusion *fusion, uint32_t launch,
			 struct sk_tile_groups *groups)
{
	struct sk_launch_runs *runs = &groups->launches[launch], listed;
	const struct sk_launch_options *options = &fusion->launches[launch].options;
	struct sk_run_graph graph = {
		.model = model, .fusion = fusion, .arena = model->arena, .launch = launch, .runs = runs};
	struct chooser chooser = {.graph = &graph, .groups = groups};
	struct sk_run_times times;
	uint32_t *order;

	sk_placement_choose(model, fusion, launch, groups);
	if (runs->count < 3 || runs->count > MOST_RUNS || options->sync_all || options->stream_order)
		return;
	build_graph(&graph, groups->places);
	order = SK_NEW_ARRAY(model->arena, uint32_t, runs->count);
	for (uint32_t i = 0; i < runs->count; i++)
		order[i] = i;
	times = sk_run_times_estimate(&graph, order, runs->runs);
	chooser.most = (struct sk_run_times){times.skipping * (1 - least_gain), times.awaiting * (1 - least_gain)};
	chooser.least = times.skipping + times.awaiting;
	listed = *runs;
	chooser.best = listed;
	choose_order(&chooser, &listed);
	*runs = chooser.best;
	set_places(&chooser);
}
