/* Resolves names that depend on the manifest alone: scopes, and the tensors, earlier tasks and events that tasks name.
 * Input: all sections. Output: task->after, record and wait as indices, and certainty that every tensor that a task
 * names exists. */
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/document.h"
#include "base/map.h"
#include "src/manifest/manifest.h"
#include "src/model/model.h"

uint32_t sk_manifest_scope(const struct sk_document *document, const struct sk_node *name)
{
	struct sk_model *model = document->owner;
	uint32_t scope = sk_map_find(&model->scope_names, name->text, name->length);
	struct sk_scope new = {.place = sk_node_place(document, name)};

	if (scope != SK_NONE)
		return scope;
	new.name = sk_arena_copy(model->arena, name->text, name->length);
	sk_array_push(model->arena, &model->scopes, new);
	return sk_map_insert(&model->scope_names, new.name, name->length, (uint32_t)model->scopes.count - 1);
}

static void resolve_after(struct sk_model *model, uint32_t index)
{
	struct sk_task *task = &model->tasks.items[index];

	for (size_t i = 0; i < task->said.names->after.count; i++) {
		const struct sk_name *name = &task->said.names->after.items[i];
		uint32_t other = sk_map_find(&model->task_names, name->text, strlen(name->text));

		if (other == SK_NONE)
			sk_error(model->diag, name->place, "unknown task '%s'%s", name->text,
				 SK_SUGGEST_NAME(model, name->text, model->tasks.items, index));
		else if (other == index)
			sk_error(model->diag, name->place, "task '%s' cannot come after itself", name->text);
		else if (other > index)
			sk_error(model->diag, name->place,
				 "task '%s' comes later than '%s': tasks must be listed in a valid order", name->text,
				 task->name);
		else
			sk_array_push(model->arena, &task->said.after, other);
	}
}

/* Return a task after this one that records the event, or NULL. */
static const struct sk_task *find_later_recorder(const struct sk_model *model, const struct sk_task *task,
						 const char *event)
{
	for (const struct sk_task *later = task; later < model->tasks.items + model->tasks.count; later++)
		for (size_t i = 0; later->said.names && i < later->said.names->record.count; i++)
			if (!strcmp(later->said.names->record.items[i].text, event))
				return later;
	return NULL;
}

/* A task that waits for an event recorded after it would wait forever: streams run their tasks in this order. */
static void report_wait(const struct sk_model *model, const struct sk_task *task, const struct sk_name *name)
{
	const struct sk_task *later =
		model->diag->errors < SK_MAX_SUGGESTIONS ? find_later_recorder(model, task, name->text) : NULL;

	sk_error(model->diag, name->place, "no task before '%s' records event '%s'%s", task->name, name->text,
		 later ? "" : SK_SUGGEST_NAME(model, name->text, model->events.items, model->events.count));
	if (later == task)
		sk_note(model->diag, "the task records it itself, when it has ended: it would wait forever");
	else if (later)
		sk_note(model->diag,
			"task '%s' records it, at %s; tasks are listed in a valid order, so the wait would never end",
			later->name, sk_place_text(model->arena, later->place));
}

/* Waits are resolved before the task's own records: a task cannot wait for itself. */
static void resolve_waits(struct sk_model *model, struct sk_task *task)
{
	for (size_t i = 0; i < task->said.names->wait.count; i++) {
		const struct sk_name *name = &task->said.names->wait.items[i];
		uint32_t event = sk_map_find(&model->event_names, name->text, strlen(name->text));

		if (event == SK_NONE)
			report_wait(model, task, name);
		else
			sk_array_push(model->arena, &task->said.wait, event);
	}
}

static void resolve_records(struct sk_model *model, struct sk_task_said *said, struct sk_name *recorded)
{
	for (size_t i = 0; i < said->names->record.count; i++) {
		const struct sk_name *name = &said->names->record.items[i];
		uint32_t new = (uint32_t)model->events.count;
		uint32_t event = sk_map_insert(&model->event_names, name->text, strlen(name->text), new);

		if (event != new) {
			sk_error(model->diag, name->place, "event '%s' is recorded twice", name->text);
			sk_note(model->diag, "first recorded at %s",
				sk_place_text(model->arena, recorded[event].place));
			continue;
		}
		sk_array_push(model->arena, &model->events, (struct sk_event){.name = name->text});
		recorded[event] = *name;
		sk_array_push(model->arena, &said->record, event);
	}
}

void sk_manifest_resolve_names(struct sk_model *model)
{
	size_t records = 0;

	for (size_t t = 0; t < model->tasks.count; t++)
		records += model->tasks.items[t].said.names ? model->tasks.items[t].said.names->record.count : 0;

	struct sk_name *recorded = SK_NEW_ARRAY(model->arena, struct sk_name, records + 1);

	for (uint32_t t = 0; t < model->tasks.count && !sk_diag_is_hopeless(model->diag); t++) {
		struct sk_task *task = &model->tasks.items[t];

		if (!task->said.names)
			continue;
		resolve_after(model, t);
		resolve_waits(model, task);
		resolve_records(model, &task->said, recorded);
	}
}
