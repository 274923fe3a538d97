/* See planning.h. The passes, in order: segments; launches with their names and reasons; the strict check of scopes,
 * which may split some of them and start over; follows; a check of the names. */
#include "src/planning/planning.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/text.h"
#include "format/skplan.h"
#include "src/model/model.h"
#include "src/planning/planning-parts.h"

/* Numbers of `before` are compared by cache lines: as many of them count as one step. */
enum { NUMBERS_OF_A_LINE = 16 };

struct fuser {
	struct sk_model *model;
	struct sk_arena *arena;
	const struct sk_dependencies *dependencies;
	struct sk_segments *segments;
	struct sk_fusion *fusion;
};

static const struct sk_task *task_at(const struct fuser *fuser, uint32_t task)
{
	return &fuser->model->tasks.items[task];
}

/* ---- launches ---- */

/* Segments are numbered by level, but only if a scope has several. Return 0 for a single one. */
static uint32_t *number_segments(const struct fuser *fuser)
{
	const struct sk_segments *segments = fuser->segments;
	uint32_t *numbers = SK_NEW_ARRAY(fuser->arena, uint32_t, segments->groups.count);

	for (size_t s = 0; s < segments->sets.count; s++) {
		const struct sk_tag_set *set = &segments->sets.items[s];
		uint32_t count = 0, first = SK_NONE;

		for (size_t level = 0; level < set->segments.count; level++) {
			uint32_t group = set->segments.items[level];

			if (group == SK_NONE)
				continue;
			numbers[group] = ++count;
			if (count == 1)
				first = group;
		}
		if (count == 1)
			numbers[first] = 0;
	}
	return numbers;
}

/* Return the scopes of a launch for its name. Scopes of a manifest are identifiers; those of a model can be any
 * text. */
static const char *scope_identifier(const struct fuser *fuser, const struct sk_launch *launch)
{
	const struct sk_task *task = task_at(fuser, launch->tasks[0]);
	const char *symbol = fuser->model->scopes.items[task->said.scopes.items[0]].symbol;

	return task->told.origin ? sk_identifier(fuser->arena, symbol ? symbol : launch->scope) : launch->scope;
}

/* Nodes of different models often have the same names, since exporters generate them. Names of a manifest's tasks are
 * the user's. */
static const char *single_name(const struct fuser *fuser, uint32_t task)
{
	const char *identifier = sk_identifier(fuser->arena, task_at(fuser, task)->name);

	if (fuser->model->names_launches && task_at(fuser, task)->told.origin)
		return sk_arena_print(fuser->arena, "sk_%s_task_%s", fuser->model->package, identifier);
	return sk_arena_print(fuser->arena, "sk_task_%s", identifier);
}

/* A scope that is fused whole gets a name without its tasks, for programs that look up the entry. */
static void name_launch(const struct fuser *fuser, struct sk_launch *launch, uint32_t segment)
{
	const char *first = sk_identifier(fuser->arena, task_at(fuser, launch->tasks[0])->name);
	const char *last = sk_identifier(fuser->arena, task_at(fuser, launch->tasks[launch->task_count - 1])->name);

	if (launch->kind != SK_LAUNCH_SUPERKERNEL) {
		launch->name = single_name(fuser, launch->tasks[0]);
		return;
	}

	const char *scope = scope_identifier(fuser, launch);
	char *name = segment ? sk_arena_print(fuser->arena, "sk_%s_start_%s_end_%s", scope, first, last)
			     : sk_arena_print(fuser->arena, "sk_%s", scope);

	for (char *comma = name; (comma = strchr(comma, ','));)
		*comma = '_';
	launch->name = name;
}

static void make_launch(struct fuser *fuser, uint32_t number, uint32_t node, uint32_t segment)
{
	const struct sk_segments *segments = fuser->segments;
	const struct sk_group *group = &segments->groups.items[node];
	struct sk_launch *launch = &fuser->fusion->launches[number];

	launch->tasks = group->tasks.items;
	launch->task_count = (uint32_t)group->tasks.count;
	launch->stream = task_at(fuser, launch->tasks[0])->said.stream;
	launch->kind = group->set != SK_NONE			   ? SK_LAUNCH_SUPERKERNEL
		       : task_at(fuser, launch->tasks[0])->said.exchange ? SK_LAUNCH_EXCHANGE
									 : SK_LAUNCH_SINGLE;
	launch->scope = group->set == SK_NONE ? NULL : segments->sets.items[group->set].label;
	if (group->set != SK_NONE)
		launch->options = sk_launch_options_join(fuser->model, segments->sets.items[group->set].scopes,
							 segments->sets.items[group->set].scope_count);
	name_launch(fuser, launch, segment);
	for (uint32_t i = 0; i < launch->task_count; i++) {
		uint32_t t = launch->tasks[i], set = segments->set_of[t];

		fuser->fusion->tasks[t] = (struct sk_task_placement){
			.launch = number,
			.step = i,
			.scope = set == SK_NONE ? NULL : segments->sets.items[set].label,
			.reason = segment > 1 ? segments->split[t] : segments->verdict[t],
			.cause = segment > 1 ? segments->cause[t] : SK_NONE,
		};
	}
}

static void make_launches(struct fuser *fuser)
{
	const struct sk_segments *segments = fuser->segments;
	struct sk_fusion *fusion = fuser->fusion;
	size_t count = segments->groups.count;
	const uint32_t *numbers = number_segments(fuser);
	uint32_t *keys = SK_NEW_ARRAY(fuser->arena, uint32_t, count);

	for (size_t g = 0; g < count; g++)
		keys[g] = segments->groups.items[g].tasks.items[0];
	const uint32_t *sorted = sk_order_sort(&segments->order, keys);

	fusion->launches = SK_NEW_ARRAY(fuser->arena, struct sk_launch, count);
	fusion->launch_count = (uint32_t)count;
	for (uint32_t l = 0; l < count; l++)
		make_launch(fuser, l, sorted[l], numbers[sorted[l]]);
}

/* ---- follows ---- */

struct chain {
	uint32_t length; /* launches */
	uint32_t stream;
};

/* The longest first. */
static int compare_chains(const void *a, const void *b)
{
	const struct chain *left = a, *right = b;

	if (left->length != right->length)
		return left->length < right->length ? 1 : -1;
	return (left->stream > right->stream) - (left->stream < right->stream);
}

static uint32_t stream_of(const struct fuser *fuser, const struct sk_launch *launch)
{
	return fuser->dependencies->stream[launch->tasks[0]];
}

/* Number the chains. Launches of one stream are ordered, since stream order binds between launches. */
static void number_chains(struct fuser *fuser)
{
	struct sk_fusion *fusion = fuser->fusion;
	uint32_t streams = fuser->dependencies->stream_count, count = fusion->launch_count;
	struct chain *chains = SK_NEW_ARRAY(fuser->arena, struct chain, streams);
	uint32_t *chain_of = SK_NEW_ARRAY(fuser->arena, uint32_t, streams);

	for (uint32_t s = 0; s < streams; s++)
		chains[s].stream = s;
	for (uint32_t l = 0; l < count; l++)
		fusion->launches[l].position = ++chains[stream_of(fuser, &fusion->launches[l])].length;
	qsort(chains, streams, sizeof(*chains), compare_chains);
	for (uint32_t c = 0; c < streams; c++)
		chain_of[chains[c].stream] = c;
	for (uint32_t l = 0; l < count; l++)
		fusion->launches[l].chain = chain_of[stream_of(fuser, &fusion->launches[l])];

	/* Streams with all tasks in launches of other streams have no chain. */
	fusion->kept_chains = streams;
	while (fusion->kept_chains && chains[fusion->kept_chains - 1].length == 0)
		fusion->kept_chains--;
	if (count && fusion->kept_chains > SK_MAX_BEFORE / count)
		fusion->kept_chains = SK_MAX_BEFORE / count;
}

static int compare_descending(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return (left < right) - (left > right);
}

typedef SK_ARRAY(uint32_t) launch_list;

/* List the launches that any task of the launch depends on, from the last to the first. seen[l] is the last launch that
 * listed l, + 1. */
static void list_predecessors(const struct fuser *fuser, uint32_t number, uint32_t *seen, launch_list *list)
{
	const struct sk_segments *segments = fuser->segments;
	const struct sk_launch *launch = &fuser->fusion->launches[number];

	list->count = 0;
	for (uint32_t i = 0; i < launch->task_count; i++) {
		uint32_t t = launch->tasks[i];

		for (uint32_t p = segments->first_predecessor[t]; p < segments->first_predecessor[t + 1]; p++) {
			uint32_t other = fuser->fusion->tasks[segments->predecessors[p]].launch;

			if (other == number || seen[other] == number + 1)
				continue;
			seen[other] = number + 1;
			sk_array_push(fuser->arena, list, other);
		}
	}
	if (list->count)
		qsort(list->items, list->count, sizeof(*list->items), compare_descending);
}

/* Remove from the predecessors, which are in descending order, those that a later one follows. Merge the positions in
 * kept chains into `before`. Return the number of predecessors that stay. */
static uint32_t reduce(struct sk_fusion *fusion, launch_list *earlier, uint32_t *before)
{
	uint32_t stay = 0;

	for (size_t i = 0; i < earlier->count; i++) {
		const struct sk_launch *other = &fusion->launches[earlier->items[i]];

		if (other->chain < fusion->kept_chains) {
			if (before[other->chain] >= other->position)
				continue;
			before[other->chain] = other->position;
		}
		fusion->steps += fusion->kept_chains / NUMBERS_OF_A_LINE + 1;
		for (uint32_t c = 0; c < fusion->kept_chains; c++)
			if (other->before[c] > before[c])
				before[c] = other->before[c];
		earlier->items[stay++] = earlier->items[i];
	}
	return stay;
}

static void find_follows(struct fuser *fuser)
{
	struct sk_fusion *fusion = fuser->fusion;
	uint32_t *seen = SK_NEW_ARRAY(fuser->arena, uint32_t, fusion->launch_count);
	launch_list earlier = {0};

	number_chains(fuser);
	for (uint32_t l = 0; l < fusion->launch_count; l++) {
		struct sk_launch *launch = &fusion->launches[l];
		uint32_t *before = SK_NEW_ARRAY(fuser->arena, uint32_t, fusion->kept_chains);

		list_predecessors(fuser, l, seen, &earlier);
		launch->follow_count = reduce(fusion, &earlier, before);
		launch->before = before;
		launch->follows = SK_NEW_ARRAY(fuser->arena, uint32_t, launch->follow_count);
		for (uint32_t i = 0; i < launch->follow_count; i++)
			launch->follows[i] = earlier.items[launch->follow_count - 1 - i];
	}
}

/* ---- launches that run once ---- */

/* A task that runs once is started before the first launch, whichever that is. So tasks that run every time must not
 * have to precede it. */
static void check_once(const struct fuser *fuser)
{
	const struct sk_model *model = fuser->model;
	const struct sk_segments *segments = fuser->segments;

	for (uint32_t t = 0; t < model->tasks.count; t++) {
		const struct sk_task *task = task_at(fuser, t), *earlier = task;

		for (uint32_t p = segments->first_predecessor[t]; p < segments->first_predecessor[t + 1]; p++)
			if (task->said.once && earlier->said.once)
				earlier = task_at(fuser, segments->predecessors[p]);
		if (!task->said.once || earlier->said.once)
			continue;
		sk_error(model->diag, task->place,
			 "task '%s' runs once, but comes after task '%s', which runs every time", task->name,
			 earlier->name);
		sk_note(model->diag,
			"'%s' is declared at %s; tasks that run once come first in their stream, or have a stream of "
			"their own",
			earlier->name, sk_place_text(model->arena, earlier->place));
	}
}

/* ---- names ---- */

static struct sk_place place_of_launch(const struct fuser *fuser, const struct sk_launch *launch)
{
	const struct sk_task *task = task_at(fuser, launch->tasks[0]);

	return launch->kind != SK_LAUNCH_SUPERKERNEL ? task->place
						: fuser->model->scopes.items[task->said.scopes.items[0]].place;
}

static bool ends_with(const char *name, const char *end)
{
	return strlen(name) > strlen(end) && strcmp(name + strlen(name) - strlen(end), end) == 0;
}

static const char unfused[] = "sk_unfused_";

static bool begins_like_entry(const char *name)
{
	return strncmp(name, unfused, strlen(unfused)) == 0;
}

/* Add the identifiers of all tasks to the map, if the name of a launch could be that of a task's entry: scopes that
 * begin with "unfused_" are rare. */
static void map_identifiers(const struct fuser *fuser, struct sk_map *identifiers)
{
	const struct sk_fusion *fusion = fuser->fusion;
	uint32_t like_entries = 0;

	sk_map_init(identifiers, fuser->arena);
	for (uint32_t l = 0; l < fusion->launch_count; l++)
		like_entries += begins_like_entry(fusion->launches[l].name);
	for (uint32_t t = 0; like_entries && t < fuser->model->tasks.count; t++) {
		const char *identifier = sk_identifier(fuser->arena, task_at(fuser, t)->name);

		sk_map_insert(identifiers, identifier, strlen(identifier), t);
	}
}

/* Return true if sklink makes a symbol of that name in addition to the launches' own: sk_plan, sk_constants,
 * sk_weights, sk_guards, NAME_serial of a launch, and sk_unfused_<task>, also with _serial. */
static bool is_reserved(const struct sk_map *launches, const struct sk_map *identifiers, const char *name)
{
	static const char serial[] = "_serial";
	size_t length = strlen(name), base = ends_with(name, serial) ? length - strlen(serial) : length;

	if (strcmp(name, "sk_plan") == 0 || strcmp(name, "sk_constants") == 0 || strcmp(name, "sk_weights") == 0 ||
	    strcmp(name, "sk_guards") == 0)
		return true;
	if (base < length && sk_map_find(launches, name, base) != SK_NONE)
		return true;
	if (!begins_like_entry(name))
		return false;
	name += strlen(unfused);
	length -= strlen(unfused);
	return sk_map_find(identifiers, name, length) != SK_NONE ||
	       (ends_with(name, serial) && sk_map_find(identifiers, name, length - strlen(serial)) != SK_NONE);
}

/* Check that launch names are unique, since they are symbols. */
static bool check_names(struct fuser *fuser)
{
	struct sk_model *model = fuser->model;
	const struct sk_fusion *fusion = fuser->fusion;
	struct sk_map names, identifiers;
	bool good = true;

	sk_map_init(&names, fuser->arena);
	map_identifiers(fuser, &identifiers);
	for (uint32_t l = 0; l < fusion->launch_count; l++) {
		const struct sk_launch *launch = &fusion->launches[l];
		uint32_t other = sk_map_insert(&names, launch->name, strlen(launch->name), l);

		if (other == l)
			continue;
		sk_error(model->diag, place_of_launch(fuser, launch), "two launches have the same name '%s'",
			 launch->name);
		sk_note(model->diag, "the other one comes from %s",
			sk_place_text(fuser->arena, place_of_launch(fuser, &fusion->launches[other])));
		good = false;
	}
	for (uint32_t l = 0; l < fusion->launch_count; l++) {
		const struct sk_launch *launch = &fusion->launches[l];

		if (!is_reserved(&names, &identifiers, launch->name))
			continue;
		sk_error(model->diag, place_of_launch(fuser, launch),
			 "the launch would be named '%s', a name that sklink itself needs", launch->name);
		good = false;
	}
	return good;
}

bool sk_fusion_before(const struct sk_fusion *fusion, uint32_t earlier, uint32_t later)
{
	const struct sk_launch *launch = &fusion->launches[earlier];

	return earlier != later && launch->chain < fusion->kept_chains &&
	       fusion->launches[later].before[launch->chain] >= launch->position;
}

struct sk_fusion *sk_fusion_build(struct sk_model *model)
{
	struct sk_arena *arena = model->arena;
	const struct sk_dependencies *dependencies =
		sk_launch_options_check(model) ? sk_dependencies_build(model) : NULL;

	if (!dependencies)
		return NULL;

	struct sk_segments *segments = sk_segments_build(model, dependencies);

	if (!segments)
		return NULL;

	struct sk_fusion *fusion = SK_NEW(arena, struct sk_fusion);
	struct fuser fuser = {model, arena, dependencies, segments, fusion};
	unsigned errors = model->diag->errors;

	fusion->tasks = SK_NEW_ARRAY(arena, struct sk_task_placement, model->tasks.count);
	fusion->dependencies = dependencies;
	do {
		sk_segments_place(segments);
		/* Each task is in a group, and the groups form an acyclic graph. */
		make_launches(&fuser);
	} while (sk_strict_check(segments, fusion));
	/* Every scope is fused as far as its options allow. */
	find_follows(&fuser);
	fusion->steps += dependencies->steps + segments->steps + segments->ancestry.steps + segments->order.steps;
	check_once(&fuser);
	return check_names(&fuser) && model->diag->errors == errors ? fusion : NULL;
}
