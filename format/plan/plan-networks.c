/* The plan's reader: the networks that launches, tasks and bindings belong to, as format/skplan.h defines it. */
#include <string.h>

#include "format/plan/plan-checker.h"
#include "format/plan/plan.h"
#include "format/skplan.h"

/* True if the name belongs to the network: "short:x" for "short". */
static bool is_of(const int32_t *name, const char *network)
{
	size_t length = strlen(network);

	return !strncmp(sk_plan_string(name), network, length) && sk_plan_string(name)[length] == ':';
}

bool sk_plan_has_networks(const struct sk_plan_view *view)
{
	return view->network_launch_count && sk_plan_form(&view->launches[0])->network;
}

bool sk_plan_next_network(const struct sk_plan_view *view, struct sk_plan_network *network)
{
	struct sk_plan_network next = {.first_launch = network->first_launch + network->launch_count,
				       .first_task = network->first_task + network->task_count,
				       .first_binding = network->first_binding + network->binding_count};
	uint32_t launch = next.first_launch, task = next.first_task, binding = next.first_binding;

	if (!sk_plan_has_networks(view)) {
		bool first = !network->name;

		*network = (struct sk_plan_network){
			"", 0, view->network_launch_count, 0, view->task_count, 0, view->binding_count};
		return first;
	}
	if (launch >= view->network_launch_count)
		return false;
	next.name = sk_plan_string(&sk_plan_form(&view->launches[launch])->network);
	while (launch < view->network_launch_count &&
	       !strcmp(sk_plan_string(&sk_plan_form(&view->launches[launch])->network), next.name))
		launch++;
	while (task < view->task_count && is_of(&view->tasks[task].name, next.name))
		task++;
	while (binding < view->binding_count && is_of(&view->tensors[view->bindings[binding]].name, next.name))
		binding++;
	next.launch_count = launch - next.first_launch;
	next.task_count = task - next.first_task;
	next.binding_count = binding - next.first_binding;
	*network = next;
	return true;
}

/* ---- checking ---- */

static bool check_launches(struct sk_plan_checker *checker)
{
	const struct sk_plan_view *view = checker->view;

	checker->record = "launch";
	for (checker->index = 0; checker->index < view->launch_count; checker->index++) {
		const struct sk_plan_launch *launch = &view->launches[checker->index];
		const char *name = sk_plan_string(&sk_plan_form(launch)->network);

		if ((sk_plan_form(launch)->network != 0) != (sk_plan_form(&view->launches[0])->network != 0))
			return sk_plan_fail(checker, "some launches are of networks with names, and others are not");
		if (sk_plan_form(launch)->network && (!*name || strchr(name, ':')))
			return sk_plan_fail(checker, "its network's name is empty, or has a colon");
		if (sk_plan_form(launch)->network && sk_plan_form(launch)->flags & SK_LAUNCH_ONCE)
			return sk_plan_fail(checker, "it runs once, but is of one of several networks");
	}
	checker->record = NULL;
	return true;
}

static bool check_tasks(struct sk_plan_checker *checker, const struct sk_plan_network *network)
{
	const struct sk_plan_view *view = checker->view;

	checker->record = "task";
	for (uint32_t i = 0; i < network->task_count; i++) {
		const struct sk_plan_task *task = &view->tasks[network->first_task + i];

		checker->index = network->first_task + i;
		if (task->launch < network->first_launch ||
		    task->launch - network->first_launch >= network->launch_count ||
		    (task->task_launch != SK_NO_INDEX &&
		     strcmp(sk_plan_string(&sk_plan_form(&view->launches[task->task_launch])->network),
			    network->name) != 0))
			return sk_plan_fail(checker, "its launches are not those of its network");
	}
	checker->record = NULL;
	return true;
}

bool sk_plan_check_networks(const struct sk_plan_view *view, char *error, size_t error_size)
{
	struct sk_plan_checker checker = sk_plan_checker_at(view, error, error_size);
	struct sk_plan_network network = {0};
	const char *names[SK_MAX_NETWORKS];
	uint32_t count = 0;

	if (!check_launches(&checker))
		return false;
	if (!sk_plan_has_networks(view))
		return true;
	while (sk_plan_next_network(view, &network)) {
		if (count == SK_MAX_NETWORKS)
			return sk_plan_fail(&checker, "more than %d networks are not supported", SK_MAX_NETWORKS);
		for (uint32_t i = 0; i < count; i++)
			if (!strcmp(names[i], network.name))
				return sk_plan_fail(&checker, "the launches of a network do not stand together");
		names[count++] = network.name;
		if (!check_tasks(&checker, &network))
			return false;
	}
	if (network.first_task + network.task_count != view->task_count)
		return sk_plan_fail(&checker, "task %u is of no network", network.first_task + network.task_count);
	if (network.first_binding + network.binding_count != view->binding_count)
		return sk_plan_fail(&checker, "binding %u is of no network",
				    network.first_binding + network.binding_count);
	return true;
}

/* An argument's tensor, unless it is a constant, has a name of the network. */
static bool check_argument(const struct sk_plan_checker *checker, const struct sk_plan_argument *argument,
			   const char *network)
{
	const struct sk_plan_view *view = checker->view;
	const struct sk_plan_tensor *tensor = &view->tensors[argument->tensor];

	if (argument->kind == SK_ARGUMENT_STATE || argument->space == SK_SPACE_NONE ||
	    argument->space == SK_SPACE_CONSTANT || argument->space == SK_SPACE_SIZES)
		return true;
	if (argument->space == SK_SPACE_BINDING)
		tensor = &view->tensors[view->bindings[argument->index]];
	return is_of(&tensor->name, network) ||
	       sk_plan_fail(checker, "tensor %u is not of network '%.60s'", argument->tensor, network);
}

bool sk_plan_check_launch_network(struct sk_plan_checker *checker, const struct sk_plan_launch *launch)
{
	const struct sk_plan_view *view = checker->view;
	struct sk_plan_calls calls = sk_plan_launch_calls(view, launch);
	const char *network = sk_plan_string(&sk_plan_form(launch)->network);

	for (const struct sk_plan_call *call = calls.first; sk_plan_form(launch)->network && call < calls.end; call++) {
		if (!is_of(&view->tasks[call->task].name, network))
			return sk_plan_fail(checker, "task %u is not of network '%.60s'", call->task, network);
		for (uint32_t i = 0; i < call->argument_count; i++)
			if (!check_argument(checker, &view->arguments[call->first_argument + i], network))
				return false;
	}
	return true;
}
