/* Queries of a module's tensors, launches and tasks, by number or name. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "format/plan/plan.h"
#include "format/skplan.h"
#include "loader/base/status.h"
#include "loader/flight/flight.h"
#include "loader/skrt.h"

/* ---- tensors ---- */

static const struct sk_plan_tensor *tensor_of(const struct skrt_module *module, uint32_t binding)
{
	return &module->plan.tensors[module->plan.bindings[binding]];
}

static const char *tensor_name(const void *module, uint32_t binding)
{
	return sk_plan_string(&tensor_of(module, binding)->name);
}

/* Find the name among count names. Otherwise return SKRT_NOT_FOUND, with a similar name or any one of them as a
 * suggestion. */
static enum skrt_status find_name(const struct skrt_module *module, const char *kind, const char *name, uint32_t count,
				  const char *(*name_of)(const void *context, uint32_t index), uint32_t *index)
{
	char suggestion[128], first[91];

	for (uint32_t i = 0; i < count; i++) {
		if (strcmp(name_of(module, i), name))
			continue;
		*index = i;
		return SKRT_OK;
	}
	sk_nearest(suggestion, sizeof(suggestion), name, count, name_of, module);
	if (!*suggestion && count) {
		sk_escape(first, sizeof(first), name_of(module, 0));
		snprintf(suggestion, sizeof(suggestion), "; of %" PRIu32 " the first is '%s'", count, first);
	}
	return sk_fail(SKRT_NOT_FOUND, "%s: no %s '%s'%s", module->path, kind, name, suggestion);
}

static enum skrt_status check_index(const struct skrt_module *module, const char *kind, uint32_t index, uint32_t count)
{
	if (index < count)
		return SKRT_OK;
	return sk_fail(SKRT_INVALID_ARGUMENT, "%s: no %s number %" PRIu32 " (there are %" PRIu32 ")", module->path,
		       kind, index, count);
}

_Static_assert((int)SKRT_I8 == SK_I8 && (int)SKRT_BF16 == SK_BF16 && (int)SKRT_BOOL == SK_BOOL, "dtypes");
_Static_assert((int)SKRT_INPUT == SK_ROLE_INPUT && (int)SKRT_INOUT == SK_ROLE_INOUT, "roles");
_Static_assert((int)SKRT_MAX_RANK == SK_MAX_RANK, "rank");

uint32_t skrt_module_tensor_count(const struct skrt_module *module)
{
	return module->plan.binding_count;
}

enum skrt_status sk_module_tensor(const struct skrt_module *module, uint32_t index, struct skrt_tensor *tensor)
{
	enum skrt_status status = check_index(module, "bound tensor", index, module->plan.binding_count);
	if (status)
		return status;
	const struct sk_plan_tensor *record = tensor_of(module, index);
	*tensor = (struct skrt_tensor){
		.size = sizeof(*tensor),
		.name = sk_plan_string(&record->name),
		.dtype = (enum skrt_dtype)sk_plan_type(record)->dtype,
		.role = (enum skrt_role)record->role,
		.rank = sk_plan_type(record)->rank,
		.bytes = sk_plan_type(record)->bytes,
		.padding = sk_plan_type(record)->padding,
	};
	memcpy(tensor->shape, sk_plan_type(record)->shape,
	       sk_plan_type(record)->rank * sizeof(sk_plan_type(record)->shape[0]));
	return SKRT_OK;
}

enum skrt_status skrt_module_tensor(const struct skrt_module *module, uint32_t index, struct skrt_tensor *tensor)
{
	struct skrt_tensor own;

	if (!module || !tensor)
		return sk_fail_null(__func__);
	enum skrt_status status = sk_module_tensor(module, index, &own);
	return status ? status : sk_struct_write("skrt_tensor", &own, sizeof(own), tensor);
}

enum skrt_status skrt_module_find_tensor(const struct skrt_module *module, const char *name, uint32_t *index)
{
	if (!module || !name || !index)
		return sk_fail_null(__func__);
	return find_name(module, "input or output", name, module->plan.binding_count, tensor_name, index);
}

/* ---- kernels, and tasks ---- */

static const char *launch_name(const void *context, uint32_t index)
{
	const struct skrt_module *module = context;

	return sk_plan_string(&module->plan.launches[index].name);
}

static const char *task_name(const void *context, uint32_t index)
{
	const struct skrt_module *module = context;

	return sk_plan_string(&module->plan.tasks[index].name);
}

uint32_t skrt_module_kernel_count(const struct skrt_module *module)
{
	return module->plan.network_launch_count;
}

enum skrt_status skrt_module_kernel(struct skrt_module *module, uint32_t index, const struct skrt_kernel **kernel)
{
	if (!module || !kernel)
		return sk_fail_null(__func__);
	enum skrt_status status = sk_process_check(&module->process);
	if (!status)
		status = check_index(module, "launch", index, module->plan.network_launch_count);
	return status ? status : sk_module_prepare(module, index, kernel);
}

enum skrt_status skrt_module_find_kernel(struct skrt_module *module, const char *name,
					 const struct skrt_kernel **kernel)
{
	uint32_t index = 0;

	if (!module || !name || !kernel)
		return sk_fail_null(__func__);
	enum skrt_status status = sk_process_check(&module->process);
	if (!status)
		status = sk_module_check_records(module);
	if (!status)
		status = find_name(module, "launch", name, module->plan.network_launch_count, launch_name, &index);
	return status ? status : sk_module_prepare(module, index, kernel);
}

uint32_t skrt_module_task_count(const struct skrt_module *module)
{
	return module->plan.task_count;
}

enum skrt_status skrt_module_task(struct skrt_module *module, uint32_t index, const struct skrt_kernel **kernel)
{
	if (!module || !kernel)
		return sk_fail_null(__func__);
	enum skrt_status status = sk_process_check(&module->process);
	if (!status)
		status = check_index(module, "task", index, module->plan.task_count);
	if (!status)
		status = sk_module_check_records(module);
	if (status)
		return status;
	uint32_t launch = module->plan.tasks[index].task_launch;
	if (launch == SK_NO_INDEX)
		return sk_fail(SKRT_NOT_FOUND, "%s: task '%s' has no entry of its own (linked with --no-task-entries)",
			       module->path, task_name(module, index));
	return sk_module_prepare(module, launch, kernel);
}

enum skrt_status skrt_module_find_task(struct skrt_module *module, const char *name, const struct skrt_kernel **kernel)
{
	uint32_t index = 0;

	if (!module || !name || !kernel)
		return sk_fail_null(__func__);
	enum skrt_status status = sk_process_check(&module->process);
	if (!status)
		status = sk_module_check_records(module);
	if (!status)
		status = find_name(module, "task", name, module->plan.task_count, task_name, &index);
	return status ? status : skrt_module_task(module, index, kernel);
}

/* ---- networks ---- */

static enum skrt_status describe_network(const struct sk_plan_network *network, struct skrt_network *result)
{
	const struct skrt_network own = {
		.size = sizeof(own),
		.name = network->name,
		.first_tensor = network->first_binding,
		.tensor_count = network->binding_count,
		.first_kernel = network->first_launch,
		.kernel_count = network->launch_count,
		.first_task = network->first_task,
		.task_count = network->task_count,
	};

	return sk_struct_write("skrt_network", &own, sizeof(own), result);
}

/* A package without names of networks needs no checks for these queries. */
static enum skrt_status check_networks(struct skrt_module *module)
{
	enum skrt_status status = sk_process_check(&module->process);

	return status || !sk_plan_has_networks(&module->plan) ? status : sk_module_check_records(module);
}

enum skrt_status skrt_module_network(struct skrt_module *module, uint32_t index, struct skrt_network *network)
{
	struct sk_plan_network own = {0};

	if (!module || !network)
		return sk_fail_null(__func__);
	enum skrt_status status = check_networks(module);
	for (uint32_t i = 0; i <= index && !status; i++)
		if (!sk_plan_next_network(&module->plan, &own))
			status = sk_fail(SKRT_NOT_FOUND, "%s: no network number %" PRIu32 " (there are %" PRIu32 ")",
					 module->path, index, i);
	return status ? status : describe_network(&own, network);
}

/* Write the names: "short, long"; the text ends with "…" if there is not enough room. */
static void list_networks(const struct skrt_module *module, char *text, size_t size)
{
	static const char rest[] = ", …";
	struct sk_plan_network own = {0};
	size_t used = 0;

	*text = '\0';
	while (sk_plan_next_network(&module->plan, &own)) {
		if (strlen(own.name) + sizeof(", ") + sizeof(rest) > size - used) {
			snprintf(text + used, size - used, "%s", used ? rest : "…");
			return;
		}
		used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", own.name);
	}
}

enum skrt_status sk_module_find_network(struct skrt_module *module, const char *name, struct sk_plan_network *network)
{
	bool named = sk_plan_has_networks(&module->plan);
	struct sk_plan_network own = {0};
	uint32_t count = 0, matches = 0;
	char names[256];
	enum skrt_status status = check_networks(module);

	if (status)
		return status;
	for (; sk_plan_next_network(&module->plan, &own); count++)
		if (name ? named && !strcmp(own.name, name) : !count) {
			*network = own;
			matches++;
		}
	if (matches && (name || count == 1))
		return SKRT_OK;
	list_networks(module, names, sizeof(names));
	if (!named)
		return sk_fail(SKRT_NOT_FOUND, "%s: no network '%s': the package has one, without a name", module->path,
			       name);
	if (!name)
		return sk_fail(SKRT_INVALID_ARGUMENT, "%s: the package has several networks, name one of them: %s",
			       module->path, names);
	return sk_fail(SKRT_NOT_FOUND, "%s: no network '%s'; there are %s", module->path, name, names);
}

enum skrt_status skrt_module_find_network(struct skrt_module *module, const char *name, struct skrt_network *network)
{
	struct sk_plan_network own;

	if (!module || !network)
		return sk_fail_null(__func__);
	enum skrt_status status = sk_module_find_network(module, name, &own);
	return status ? status : describe_network(&own, network);
}
