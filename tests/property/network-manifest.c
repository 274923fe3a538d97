/* See network.h: the manifest of a network. */
#include "tests/property/network.h"

#include <string.h>

static const char *role_name(enum sk_role role)
{
	static const char *const names[] = {"", "input", "output", "inout", "constant", "temporary"};

	return names[role];
}

static void print_list(FILE *stream, const char *key, const uint64_t *values, uint32_t count)
{
	fprintf(stream, ", %s: [", key);
	for (uint32_t i = 0; i < count; i++)
		fprintf(stream, "%s%llu", i ? ", " : "", (unsigned long long)values[i]);
	fputc(']', stream);
}

/* The manifest must give the role unless sklink would infer the same. */
static bool role_follows(const struct network_tensor *tensor)
{
	switch (tensor->role) {
	case SK_ROLE_INOUT:
		return false;
	case SK_ROLE_OUTPUT:
		return !tensor->read;
	default:
		return true;
	}
}

static void print_role(const struct network *network, uint32_t number, FILE *stream)
{
	const struct network_tensor *tensor = &network->tensors[number];
	bool flawed = network->flawed == number;
	enum sk_role role = flawed ? network->flaw : tensor->role;

	if (role && (flawed || !tensor->silent || !role_follows(tensor)))
		fprintf(stream, ", role: %s", role_name(role));
	if (!flawed && role == SK_ROLE_OUTPUT && tensor->unwritten < tensor->elements)
		fputs(", unwritten: keep", stream);
}

/* As a file, a list, one number for all elements, or letters. */
static void print_data(const struct network *network, uint32_t number, FILE *stream)
{
	const struct network_tensor *tensor = &network->tensors[number];
	const uint64_t *contents = network->contents[number];

	switch (tensor->data) {
	case DATA_TEXT:
		fputs(", text: ", stream);
		for (uint64_t i = 0; i < tensor->elements; i++)
			fputc((int)contents[i], stream);
		break;
	case DATA_LIST:
		print_list(stream, "data", contents, (uint32_t)tensor->elements);
		break;
	case DATA_FILL:
		fprintf(stream, ", fill: %llu", (unsigned long long)contents[0]);
		break;
	case DATA_FILE:
		fprintf(stream, ", data: c%u.npy", number);
	}
}

static void print_tensor(const struct network *network, uint32_t number, FILE *stream)
{
	const struct network_tensor *tensor = &network->tensors[number];
	const struct network_tensor *root = &network->tensors[tensor->root];

	if (tensor->view_of != NETWORK_NONE) {
		fprintf(stream, "  t%u: {of: t%u", number, tensor->view_of);
		print_list(stream, "offset", tensor->offset, tensor->rank);
	} else {
		fprintf(stream, "  t%u: {dtype: %s", number, sk_dtype_name(root->dtype));
	}
	print_list(stream, "shape", tensor->shape, tensor->rank);
	if (tensor->view_of == NETWORK_NONE && tensor->role == SK_ROLE_CONSTANT)
		print_data(network, number, stream);
	if (tensor->view_of == NETWORK_NONE)
		print_role(network, number, stream);
	fputs("}\n", stream);
}

/* Print the attributes and, after a semicolon if there are any, the parameters. */
static void print_signature(const struct network_task *task, FILE *stream)
{
	const struct kernel *kernel = task->kernel;
	const char *unfusible = task->unfusible ? "unfusible " : "",
		   *nontemporal = task->nontemporal ? "nontemporal " : "";

	fprintf(stream, "%s%s%s%s", task->lane, unfusible, nontemporal, kernel->attributes);
	if (*task->lane || *unfusible || *nontemporal || *kernel->attributes)
		fputs("; ", stream);
	for (const char *text = kernel->parameters; *text; text++) {
		if (*text == 'T')
			fputs(sk_dtype_name(task->dtype), stream);
		else
			fputc(*text, stream);
	}
}

/* Tensors that tasks use, and those that they are parts of, as bits. */
static uint64_t tensors_in_use(const struct network *network)
{
	uint64_t used = 0;

	for (uint32_t i = 0; i < network->task_count; i++) {
		const struct network_task *task = &network->tasks[i];

		for (uint32_t j = 0; !task->dropped && j < task->kernel->tensor_count; j++)
			used |= UINT64_C(1) << task->tensors[j];
		for (uint32_t j = 0; !task->dropped && j < task->kernel->set_count; j++)
			if (task->sets[j].kind == SET_TENSOR)
				used |= UINT64_C(1) << task->sets[j].tensor;
	}
	for (uint32_t i = network->tensor_count; i-- > 0;)
		if ((used >> i & 1) && network->tensors[i].view_of != NETWORK_NONE)
			used |= UINT64_C(1) << network->tensors[i].view_of;
	return used;
}

static bool same_kernel(const struct network_task *a, const struct network_task *b)
{
	return a->kernel == b->kernel && a->dtype == b->dtype && a->lane == b->lane && a->unfusible == b->unfusible &&
	       a->nontemporal == b->nontemporal;
}

/* The first task with the same kernel: entries are named after it. */
static uint32_t entry_of(const struct network *network, uint32_t task)
{
	uint32_t first = 0;

	while (network->tasks[first].dropped || !same_kernel(&network->tasks[first], &network->tasks[task]))
		first++;
	return first;
}

static void print_kernel(const struct network_task *task, uint32_t number, FILE *stream)
{
	fprintf(stream, "  k%u: {symbol: %s_%s, signature: \"", number, task->kernel->function,
		sk_dtype_name(task->dtype));
	print_signature(task, stream);
	fputs("\"}\n", stream);
}

static void print_sets(const struct network_task *task, FILE *stream)
{
	const struct kernel *kernel = task->kernel;

	for (uint32_t i = 0; i < kernel->set_count; i++) {
		const struct network_set *set = &task->sets[i];

		fprintf(stream, "%s%s: ", i ? ", " : ", set: {", kernel->sets[i].name);
		if (set->kind == SET_NUMBER)
			fprintf(stream, "%llu", (unsigned long long)set->number);
		else if (set->kind == SET_EXTENT)
			fprintf(stream, "%c", set->extent);
		else
			fprintf(stream, "{tensor: t%u}", set->tensor);
	}
	if (kernel->set_count)
		fputc('}', stream);
}

static void print_bits(FILE *stream, const char *key, const char *prefix, uint32_t bits)
{
	const char *separator = "";

	if (!bits)
		return;
	fprintf(stream, ", %s: [", key);
	for (uint32_t i = 0; i < 32; i++) {
		if (!(bits >> i & 1))
			continue;
		fprintf(stream, "%s%s%u", separator, prefix, i);
		separator = ", ";
	}
	fputc(']', stream);
}

static void print_task(const struct network *network, uint32_t number, FILE *stream)
{
	const struct network_task *task = &network->tasks[number];

	fprintf(stream, "  - {name: n%u, kernel: k%u, args: [", number, entry_of(network, number));
	for (uint32_t i = 0; i < task->kernel->tensor_count; i++)
		fprintf(stream, "%st%u", i ? ", " : "", task->tensors[i]);
	fputc(']', stream);
	print_sets(task, stream);
	if (task->stream)
		fprintf(stream, ", stream: %u", task->stream);
	if (task->never_fuse)
		fputs(", scope: null", stream);
	else
		print_bits(stream, "scope", "s", task->scopes);
	print_bits(stream, "after", "n", task->after);
	if (task->record)
		fprintf(stream, ", record: e%u", number);
	print_bits(stream, "wait", "e", task->wait);
	if (task->blocks)
		fprintf(stream, ", blocks: %u", task->blocks);
	if (task->once)
		fputs(", once: true", stream);
	if (number % 3 == 0)
		fprintf(stream, ", cost: {cycles: %u}", 100 * (number + 1)); /* used by predictions only */
	fputs("}\n", stream);
}

static uint32_t scopes_in_use(const struct network *network)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < network->task_count; i++)
		if (!network->tasks[i].dropped && !network->tasks[i].never_fuse)
			used |= network->tasks[i].scopes;
	return used;
}

/* The kernel of the scope's first task. */
static uint32_t kernel_of_scope(const struct network *network, uint32_t scope)
{
	uint32_t task = 0;

	while (network->tasks[task].dropped || network->tasks[task].never_fuse ||
	       !(network->tasks[task].scopes >> scope & 1))
		task++;
	return entry_of(network, task);
}

static void print_options(const struct network *network, uint32_t scope, bool two_lanes, FILE *stream)
{
	const char *separator = "";

	for (uint32_t i = 0; network_options[i].name; i++) {
		const struct network_option *option = &network_options[i];
		uint32_t value = network->options[scope][i];

		if (!value || (option->two_lanes && !two_lanes))
			continue;
		fprintf(stream, "%s%s=", separator, option->name);
		if (strcmp(option->values[value - 1], "KERNEL"))
			fputs(option->values[value - 1], stream);
		else
			fprintf(stream, "k%u", kernel_of_scope(network, scope));
		separator = ":";
	}
	if (network->strict == scope)
		fprintf(stream, "%sstrict-scope-check=abort", separator);
}

static void print_scopes(const struct network *network, bool two_lanes, FILE *stream)
{
	uint32_t used = scopes_in_use(network);

	fputs(used ? "scopes:\n" : "", stream);
	for (uint32_t s = 0; s < network->scope_count; s++) {
		if (!(used >> s & 1))
			continue;
		fprintf(stream, "  s%u: {options: \"", s);
		print_options(network, s, two_lanes, stream);
		fputs("\"}\n", stream);
	}
}

void network_print(const struct network *network, const char *device, FILE *stream)
{
	uint64_t used = tensors_in_use(network);

	fprintf(stream, "sklink: 1\ndevice: %s%s\ntensors:\n", device, network->splits ? ".profile" : "");
	for (uint32_t i = 0; i < network->tensor_count; i++)
		if (used >> i & 1)
			print_tensor(network, i, stream);
	fputs("kernels:\n", stream);
	for (uint32_t i = 0; i < network->task_count; i++)
		if (!network->tasks[i].dropped && entry_of(network, i) == i)
			print_kernel(&network->tasks[i], i, stream);
	fputs("tasks:\n", stream);
	for (uint32_t i = 0; i < network->task_count; i++)
		if (!network->tasks[i].dropped)
			print_task(network, i, stream);
	print_scopes(network, !strcmp(device, "a3"), stream);
}
