/* Summaries for people: the contents of a package, the cores on which it runs, and its outputs. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "format/npy/npy.h"
#include "format/plan/dims.h"
#include "format/plan/plan.h"
#include "format/skplan.h"
#include "loader/flight/flight.h"
#include "loader/skrt.h"
#include "loader/skrun/skrun.h"

enum {
	SHOWN = 6, /* elements of an output's summary */
	MOST_OUTPUTS = 20,
};

/* Print "cores 2", on other devices than the host "device a3, cores 24 and 48". */
void sk_session_print_cores(const struct sk_session *session)
{
	const char *device = skrt_device_name(session->device);
	uint32_t first = skrt_device_cores(session->device, 0), second = skrt_device_cores(session->device, 1);

	if (strcmp(device, "host"))
		sk_print_named("device ", device, ", ");
	printf("cores %" PRIu32, first);
	if (second && second != first)
		printf(" and %" PRIu32, second);
}

static const char *role_name(enum skrt_role role)
{
	static const char *const names[] = {[SKRT_INPUT] = "input", [SKRT_OUTPUT] = "output", [SKRT_INOUT] = "inout"};

	return names[role];
}

/* Begin the line of a tensor; its shape follows. */
static void print_tensor(const struct skrt_tensor *tensor)
{
	printf("%-6s", role_name(tensor->role));
	sk_print_named("  ", tensor->name, "  ");
	printf("%s ", sk_element_type_name(tensor->dtype));
}

/* Print the shape of a tensor: expressions of the dimensions, or with --dim numbers. */
static void list_shape(const struct sk_session *session, uint32_t slot)
{
	const struct skrt_module *module = session->module;
	uint32_t binding = session->network.first_tensor + slot;
	const struct sk_plan_type *type = sk_plan_type(&module->plan.tensors[module->plan.bindings[binding]]);
	const struct sk_plan_type *sized = sk_plan_type(&session->plan->tensors[session->plan->bindings[binding]]);
	bool given = false;
	char text[SK_DIMS_TEXT_SIZE];

	for (uint32_t i = 0; i < module->dims.dimension_count; i++)
		given |= session->given[i];
	for (uint32_t i = 0; i < type->rank; i++) {
		uint32_t value = given ? SK_NO_INDEX : sk_sized_extent_value(module, type, i);

		snprintf(text, sizeof(text), "%" PRIu64, sized->shape[i]);
		if (value != SK_NO_INDEX)
			sk_dims_value_text(&module->dims, value, text, sizeof(text));
		sk_print_named(i ? ", " : "[", text, "");
	}
	printf(type->rank ? "]" : "[]");
}

/* Print the dimensions of a package with bounds. */
static bool list_dimensions(const struct sk_session *session)
{
	for (uint32_t i = 0; i < skrt_module_dimension_count(session->module); i++) {
		struct skrt_dimension dimension = {.size = sizeof(dimension)};

		if (!sk_succeeded(skrt_module_dimension(session->module, i, &dimension)))
			return false;
		if (strcmp(dimension.network, session->network.name))
			continue;
		sk_print_named("dimension  ", dimension.name, "  ");
		if (dimension.least == dimension.most) {
			printf("%" PRIu64 "\n", dimension.most);
			continue;
		}
		printf("%" PRIu64 "..%" PRIu64, dimension.least, dimension.most);
		if (dimension.multiple > 1)
			printf(", multiples of %" PRIu64, dimension.multiple);
		printf(", usually %" PRIu64 "\n", dimension.usual);
	}
	return true;
}

bool sk_session_list(struct sk_session *session)
{
	if (!list_dimensions(session))
		return false;
	for (uint32_t i = 0; i < session->slot_count; i++) {
		double range[2];

		print_tensor(&session->slots[i].tensor);
		list_shape(session, i);
		if (sk_session_range(session, i, range))
			printf(", random values from %.9g to %.9g", range[0], range[1]);
		printf("\n");
	}
	for (uint32_t i = 0; i < session->network.kernel_count; i++) {
		const struct skrt_kernel *kernel;
		struct skrt_kernel_info info = {.size = sizeof(info)};

		if (!sk_succeeded(skrt_module_kernel(session->module, session->network.first_kernel + i, &kernel)) ||
		    !sk_succeeded(skrt_kernel_describe(kernel, &info)))
			return false;
		sk_print_named("launch  ", info.name, "  ");
		if (info.kind == SKRT_SUPERKERNEL) {
			sk_print_named("superkernel of scope ", info.scope, ", ");
			printf("%" PRIu32 " task%s", info.task_count, sk_plural(info.task_count));
		} else {
			printf("a task by itself");
		}
		printf(", stream %" PRIu32 "%s\n", info.stream, info.has_serial_entry ? "" : ", no serial entry");
	}
	return true;
}

static void print_check(const struct sk_session *session, const char *check, const char *subject)
{
	uint32_t count = session->network.task_count;

	printf("%s: nothing found in %" PRIu32 " task%s: no %s\n", check, count, sk_plural(count), subject);
}

void sk_session_print_checks(const struct sk_session *session, uint64_t checks)
{
	if (checks & SKRT_GUARD)
		print_check(session, "Guard",
			    "access out of bounds, write to an input, or byte that is read or left unwritten");
	if (checks & SKRT_CHECK_RACES)
		print_check(session, "Races", "accesses of two cores to the same bytes that no await orders");
}

/* FNV-1a over the bytes: equal results have the same hash on every machine. */
static uint64_t hash_bytes(const unsigned char *bytes, uint64_t size)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (uint64_t i = 0; i < size; i++)
		hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
	return hash;
}

static void summarise(const struct sk_slot *slot)
{
	uint64_t count = sk_slot_element_count(slot);
	char text[64], shape[SK_SHAPE_SIZE];
	double sum = 0;

	print_tensor(&slot->tensor);
	printf("%s:", sk_print_shape(slot->tensor.rank, slot->tensor.shape, shape, sizeof(shape)));
	for (uint64_t i = 0; i < count && i < SHOWN; i++)
		printf(" %s", sk_element_print(slot->tensor.dtype, slot->data, i, text, sizeof(text)));
	for (uint64_t i = 0; i < count; i++)
		sum += sk_element_value(slot->tensor.dtype, slot->data, i);
	printf("%s (sum %.9g, hash %016" PRIx64 ")\n", count > SHOWN ? " …" : "", sum,
	       hash_bytes(slot->data, slot->tensor.bytes));
}

void sk_session_summarise(const struct sk_session *session, bool all)
{
	uint32_t outputs = 0;

	for (uint32_t i = 0; i < session->slot_count; i++)
		if (sk_slot_is_output(&session->slots[i]) && (outputs++ < MOST_OUTPUTS || all))
			summarise(&session->slots[i]);
	if (outputs > MOST_OUTPUTS && !all)
		printf("… and %" PRIu32 " more of %" PRIu32 " outputs, which --verbose shows\n", outputs - MOST_OUTPUTS,
		       outputs);
}
