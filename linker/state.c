/* The hidden state, the barriers of threads and the instruction sets that each function reaches. Thousands of kernels
 * can share most of the sections that they reach, so no relocation is followed twice: sections that reach one another
 * become one component, and the answers for kernels come from the components. Components that reach nothing of
 * interest, which most do, are left out.
 *
 * Components are found by Tarjan's depth-first search ("Depth-first search and linear graph algorithms", 1972), with
 * the targets of open components on a separate stack (Nuutila and Soisalon-Soininen, "On finding the strongly connected
 * components in a directed graph", 1994). Each search continues from the results of the one before. */
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/import-row.h"
#include "linker/linker-parts.h"
#include "linker/linker.h"
#include "linker/object.h"
#include "linker/output.h"

enum {
	OPEN = UINT32_MAX, /* its component is not complete */
	NOTHING = UINT32_MAX - 1, /* it reaches nothing of interest */
};

/* ---- targets of a section ---- */

static size_t target_count(const struct sk_input_section *section)
{
	const struct sk_section_range *range = sk_range_bounded(section);

	return section->relocation_count + (range ? range->sections.count : 0);
}

/* Return the section that the target means; for an imported function the one that stands for its state. */
static struct sk_input_section *section_meant(struct sk_linker *linker, const struct sk_target *target)
{
	if (target->kind != SK_TARGET_IMPORT)
		return target->section;
	return linker->symbols.items[target->symbol].import->class == SK_IMPORT_STATE ? &linker->library_state : NULL;
}

/* Return the barrier of threads that the target means, or NULL. An undefined one is a separate error unless the next
 * linker defines it. A barrier in a section .text.sk_team_of_one does not wait (compat/openmp.c). */
static const char *barrier_meant(const struct sk_linker *linker, const struct sk_target *target)
{
	const char *name;

	if (target->symbol == SK_NONE || (target->kind != SK_TARGET_DEFINED &&
					  (target->kind != SK_TARGET_UNDEFINED || !linker->options.relocatable)))
		return NULL;
	name = linker->symbols.items[target->symbol].name;
	if (!name || !sk_is_barrier(name) || (target->section && strstr(target->section->name, ".sk_team_of_one")))
		return NULL;
	return name;
}

static struct sk_input_section *section_of_relocation(struct sk_linker *linker, struct sk_reached_section *node,
						      const sk_elf_relocation *relocation)
{
	struct sk_target target = sk_relocation_target(linker, node->section, relocation);

	node->barrier = node->barrier ? node->barrier : barrier_meant(linker, &target);
	return section_meant(linker, &target);
}

/* Return whether the section is part of the link, and of an object that can reach anything of interest. */
static bool may_lead_on(const struct sk_input_section *section)
{
	return section && section->loaded && !section->discarded && !(section->object && section->object->plain);
}

/* Return the section that the target of a relocation means, or NULL if it leads no further. */
static struct sk_input_section *target_section(struct sk_linker *linker, struct sk_reached_section *node, size_t number)
{
	const struct sk_input_section *section = node->section;
	struct sk_input_section *target =
		number < section->relocation_count
			? section_of_relocation(linker, node, &section->relocations[number])
			: sk_range_bounded(section)->sections.items[number - section->relocation_count];

	return may_lead_on(target) ? target : NULL;
}

/* Return whether no value lasts in the section from call to call of a kernel: it is known, or promised by
 * .sk_within_call in its name. */
static bool is_within_call(const struct sk_input_section *section)
{
	static const char caught[] = "._ZZN12_GLOBAL__N_110get_globalEvE6global"; /* libstdc++.a's eh_globals.o */
	const char *found = strstr(section->name, caught);

	return section->within_call || strstr(section->name, ".sk_within_call") || (found && !found[strlen(caught)]);
}

bool sk_is_state(const struct sk_input_section *section)
{
	enum sk_rank rank = sk_section_rank(section);

	/* sk_object_load must use the same conditions for an object's sections (plain). */
	return (rank == SK_RANK_DATA || rank == SK_RANK_ZERO_DATA) && section->size && !is_within_call(section);
}

/* Return the one of two thread-local sections that fewer kernels may reach; each may be NULL. */
static struct sk_input_section *stricter_storage(struct sk_input_section *one, struct sk_input_section *other)
{
	return !other || (one && !is_within_call(one)) ? one : other;
}

/* ---- components ---- */

static void enter_section(struct sk_linker *linker, struct sk_input_section *section)
{
	struct sk_reached *reached = &linker->reached;
	uint32_t number = (uint32_t)reached->nodes.count;

	sk_array_push(linker->arena, &reached->nodes,
		      (struct sk_reached_section){.section = section, .low = number, .component = OPEN});
	section->node = number + 1;
	sk_array_push(linker->arena, &reached->open, number);
	sk_array_push(linker->arena, &reached->path,
		      (struct sk_path_step){.node = number, .first_target = reached->targets.count});
}

/* Pop the targets of the component from the stack, without duplicates. */
static void add_targets(struct sk_linker *linker, struct sk_component *component, size_t first)
{
	struct sk_reached *reached = &linker->reached;

	reached->search++;
	for (size_t i = first; i < reached->targets.count; i++) {
		struct sk_component *target = &reached->components.items[reached->targets.items[i]];

		if (target->search == reached->search)
			continue;
		target->search = reached->search;
		component->isa |= target->isa;
		component->stateful |= target->stateful;
		component->barrier = component->barrier ? component->barrier : target->barrier;
		component->thread_storage = stricter_storage(component->thread_storage, target->thread_storage);
		sk_array_push(linker->arena, &component->targets, reached->targets.items[i]);
	}
	reached->targets.count = first;
}

/* Return the number of a component with these contents. */
static uint32_t add_component(struct sk_linker *linker, const struct sk_component *component)
{
	struct sk_reached *reached = &linker->reached;

	if (!component->states.count && !component->isa && !component->thread_storage && !component->barrier &&
	    !component->targets.count)
		return NOTHING;
	if (!component->states.count && component->targets.count == 1) {
		const struct sk_component *only = &reached->components.items[component->targets.items[0]];

		/* It is equivalent to its only target. */
		if (component->isa == only->isa && component->thread_storage == only->thread_storage &&
		    component->barrier == only->barrier)
			return component->targets.items[0];
	}
	sk_array_push(linker->arena, &reached->components, *component);
	return (uint32_t)reached->components.count - 1;
}

/* All targets of the step's section have been looked at, and none of them leads back to a node before it: the open
 * nodes from it on are a component. */
static void close_component(struct sk_linker *linker, const struct sk_path_step *step)
{
	struct sk_reached *reached = &linker->reached;
	struct sk_component component = {0};
	size_t first = reached->open.count;

	do {
		const struct sk_reached_section *node = &reached->nodes.items[reached->open.items[--first]];
		struct sk_input_section *section = node->section;

		component.barrier = component.barrier ? component.barrier : node->barrier;
		component.isa |= section->object ? section->object->isa : 0;
		if (sk_is_state(section))
			sk_array_push(linker->arena, &component.states, section);
		component.stateful |= sk_is_state(section);
		if (section->flags & SHF_TLS)
			component.thread_storage = stricter_storage(section, component.thread_storage);
	} while (reached->open.items[first] != step->node);
	add_targets(linker, &component, step->first_target);

	uint32_t number = add_component(linker, &component);

	for (size_t i = first; i < reached->open.count; i++)
		reached->nodes.items[reached->open.items[i]].component = number;
	reached->open.count = first;
}

/* Add an edge from the end of the path to the node. */
static void lead_to(struct sk_linker *linker, uint32_t target)
{
	struct sk_reached *reached = &linker->reached;
	struct sk_reached_section *node = &reached->nodes.items[reached->path.items[reached->path.count - 1].node];
	const struct sk_reached_section *to = &reached->nodes.items[target];

	if (to->component == OPEN)
		node->low = to->low < node->low ? to->low : node->low;
	else if (to->component != NOTHING)
		sk_array_push(linker->arena, &reached->targets, to->component);
}

/* Assign components to the section and everything that it reaches. */
static void search_components(struct sk_linker *linker, struct sk_input_section *start)
{
	struct sk_reached *reached = &linker->reached;

	enter_section(linker, start);
	while (reached->path.count) {
		struct sk_path_step *step = &reached->path.items[reached->path.count - 1];
		struct sk_reached_section *node = &reached->nodes.items[step->node];

		if (step->next < target_count(node->section)) {
			struct sk_input_section *target = target_section(linker, node, step->next++);

			if (target && target->node)
				lead_to(linker, target->node - 1);
			else if (target)
				enter_section(linker, target);
			continue;
		}
		if (node->low == step->node)
			close_component(linker, step);

		uint32_t done = step->node;

		if (--reached->path.count)
			lead_to(linker, done);
	}
}

/* Return the number of the component that the section reaches, or NOTHING. */
static uint32_t component_of(struct sk_linker *linker, struct sk_input_section *section)
{
	if (!may_lead_on(section))
		return NOTHING;
	if (!section->node)
		search_components(linker, section);
	return linker->reached.nodes.items[section->node - 1].component;
}

static uint32_t component_of_code(struct sk_linker *linker, sk_symbol code)
{
	struct sk_target target = sk_symbol_target(linker, code);

	return component_of(linker, section_meant(linker, &target));
}

/* ---- joined states ---- */

static struct sk_state_group *group_at(struct sk_linker *linker, uint32_t number)
{
	struct sk_state_group *groups = linker->reached.groups.items;

	while (groups[number].parent != number)
		number = groups[number].parent = groups[groups[number].parent].parent;
	return &groups[number];
}

static void merge_groups(struct sk_linker *linker, struct sk_state_group *old, uint32_t group)
{
	old->parent = group;
	linker->reached.groups.items[group].has_library |= old->has_library;
}

/* Join all states that the components on the stack lead to. If an earlier search has visited a component, all states
 * after it are already joined with that search's states, so each component is left only once. */
static void join_component(struct sk_linker *linker)
{
	struct sk_reached *reached = &linker->reached;
	uint32_t group = (uint32_t)reached->groups.count;

	if (!reached->targets.count)
		return;
	sk_array_push(linker->arena, &reached->groups, (struct sk_state_group){.parent = group});
	while (reached->targets.count) {
		struct sk_component *component =
			&reached->components.items[reached->targets.items[--reached->targets.count]];

		/* Functions cannot leave an address in the library's state, but a function that changes it may leave
		 * one in others. */
		if (component->states.count && component->states.items[0] == &linker->library_state) {
			reached->groups.items[group].has_library = true;
			continue;
		}
		if (component->group)
			merge_groups(linker, group_at(linker, component->group), group);
		if (component->group || !component->stateful)
			continue;
		component->group = group;
		for (size_t i = 0; i < component->targets.count; i++)
			sk_array_push(linker->arena, &reached->targets, component->targets.items[i]);
	}
}

/* Add the component to the next join. */
static void add_to_join(struct sk_linker *linker, uint32_t component)
{
	if (component != NOTHING)
		sk_array_push(linker->arena, &linker->reached.targets, component);
}

static void join_constructors(struct sk_linker *linker, struct sk_object *object)
{
	for (uint32_t i = 0; i < object->part_count; i++) {
		if (object->parts[i].type != SHT_INIT_ARRAY) /* an address that a destructor leaves is never used */
			continue;
		add_to_join(linker, component_of(linker, &object->parts[i]));
		join_component(linker);
	}
}

void sk_linker_join_states(struct sk_linker *linker, const sk_symbol *symbols, const uint32_t *owners, size_t count)
{
	if (!sk_symbols_resolve(linker))
		return;
	sk_array_push(linker->arena, &linker->reached.groups, (struct sk_state_group){0});
	for (size_t i = 0, next; i < count; i = next) {
		for (next = i; next < count && owners[next] == owners[i]; next++)
			component_of_code(linker, symbols[next]); /* a search needs an empty stack */
		for (size_t j = i; j < next; j++)
			add_to_join(linker, component_of_code(linker, symbols[j]));
		join_component(linker);
	}
	for (size_t i = 0; i < linker->objects.count; i++)
		if (linker->objects.items[i]->pulled && !linker->objects.items[i]->plain)
			join_constructors(linker, linker->objects.items[i]);
}

/* ---- answers ---- */

struct sk_function sk_linker_look_at(struct sk_linker *linker, sk_symbol code)
{
	struct sk_function function = {0};
	struct sk_target target;

	if (!sk_symbols_resolve(linker))
		return function;
	target = sk_symbol_target(linker, code);
	function.imported = sk_is_import(target.kind);
	function.leads_on = component_of(linker, section_meant(linker, &target)) != NOTHING;
	if (target.section)
		function.size = sk_size_within(target.section, target.value, linker->symbols.items[target.symbol].size);
	return function;
}

/* Return whether the search visits the library's state for the first time. */
static bool is_new_library(struct sk_linker *linker)
{
	bool is_new = linker->reached.import_search != linker->reached.search;

	linker->reached.import_search = linker->reached.search;
	return is_new;
}

/* Return the section that represents the state, or NULL if the search has visited it already. */
static struct sk_input_section *distinct_state(struct sk_linker *linker, const struct sk_component *component,
					       struct sk_input_section *section)
{
	struct sk_state_group *group;

	if (section == &linker->library_state)
		return is_new_library(linker) ? section : NULL;
	if (!component->group)
		return section;
	group = group_at(linker, component->group);
	if (group->search == linker->reached.search)
		return NULL;
	group->search = linker->reached.search;
	if (!group->state)
		group->state = section;
	return group->state;
}

static void add_answer(struct sk_linker *linker, struct sk_component *start, struct sk_input_section *state)
{
	if (state->state == SK_NONE) {
		state->state = (uint32_t)linker->states.count;
		sk_array_push(linker->arena, &linker->states, state);
	}
	sk_array_push(linker->arena, &start->answer, state->state);
}

/* Collect all states that the component leads to, near ones first. The stack of targets, empty between searches, is the
 * list of visited components. */
static void collect_states(struct sk_linker *linker, uint32_t number)
{
	struct sk_reached *reached = &linker->reached;
	struct sk_component *start = &reached->components.items[number];

	start->search = ++reached->search;
	start->answered = true;
	sk_array_push(linker->arena, &reached->targets, number);
	for (size_t i = 0; i < reached->targets.count; i++) {
		const struct sk_component *component = &reached->components.items[reached->targets.items[i]];

		for (size_t j = 0; j < component->states.count; j++) {
			struct sk_input_section *state = distinct_state(linker, component, component->states.items[j]);

			if (state)
				add_answer(linker, start, state);
		}
		if (component->group && group_at(linker, component->group)->has_library && is_new_library(linker))
			add_answer(linker, start, &linker->library_state);
		for (size_t j = 0; j < component->targets.count; j++) {
			struct sk_component *target = &reached->components.items[component->targets.items[j]];

			if (target->search == reached->search)
				continue;
			target->search = reached->search;
			sk_array_push(linker->arena, &reached->targets, component->targets.items[j]);
		}
	}
	reached->targets.count = 0;
}

bool sk_linker_find_state(struct sk_linker *linker, sk_symbol code, const uint32_t **sections, size_t *count)
{
	bool resolved = sk_symbols_resolve(linker);
	uint32_t number = resolved ? component_of_code(linker, code) : NOTHING;

	*sections = NULL;
	*count = 0;
	if (number == NOTHING)
		return resolved;

	const struct sk_component *component = &linker->reached.components.items[number];

	if (!component->answered)
		collect_states(linker, number);
	*sections = component->answer.items;
	*count = component->answer.count;
	return true;
}

bool sk_linker_state_is_library(const struct sk_linker *linker, uint32_t state)
{
	return linker->states.items[state] == &linker->library_state;
}

const char *sk_linker_state_name(struct sk_linker *linker, uint32_t state)
{
	const struct sk_input_section *section = linker->states.items[state];

	if (!section->object)
		return section->name;
	return sk_arena_print(linker->arena, "%s in %s", section->name, sk_object_name(linker->arena, section->object));
}

const char *sk_linker_thread_storage(struct sk_linker *linker, sk_symbol code, bool *within_call)
{
	uint32_t number = sk_symbols_resolve(linker) ? component_of_code(linker, code) : NOTHING;
	const struct sk_input_section *section =
		number == NOTHING ? NULL : linker->reached.components.items[number].thread_storage;

	*within_call = section && is_within_call(section);
	if (!section || !section->object)
		return section ? section->name : NULL;
	return sk_arena_print(linker->arena, "%s in %s", section->name, sk_object_name(linker->arena, section->object));
}

const char *sk_linker_panic_advice(const struct sk_linker *linker, sk_symbol code)
{
	const struct sk_object *object = linker->symbols.items[code].object;

	return object && object->loaded ? sk_panic_advice(object) : NULL;
}

const char *sk_linker_find_barrier(struct sk_linker *linker, sk_symbol code)
{
	uint32_t number = sk_symbols_resolve(linker) ? component_of_code(linker, code) : NOTHING;

	return number == NOTHING ? NULL : linker->reached.components.items[number].barrier;
}

uint32_t sk_linker_find_isa(struct sk_linker *linker, sk_symbol code)
{
	uint32_t number = sk_symbols_resolve(linker) && linker->isa ? component_of_code(linker, code) : NOTHING;

	return number == NOTHING ? 0 : linker->reached.components.items[number].isa;
}
