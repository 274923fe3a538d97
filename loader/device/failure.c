/* Messages of failed launches: the core, the task, kernel and tile, and the failure. Input: the plan, the result of
 * each core's call, and their stacks, which are unchanged since. */
#include "config.h"

#include "loader/device/device.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/text.h"
#include "format/plan/plan.h"
#include "format/skabi.h"
#include "format/skplan.h"
#include "loader/arch/machine.h"
#include "loader/checks/checks.h"
#include "loader/core/core.h"
#include "loader/flight/flight.h"
#include "loader/image/image.h"

/* ---- text ---- */

struct text {
	char *start;
	size_t size, used;
};

static void add_text(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add_text(struct text *text, const char *format, ...)
{
	va_list arguments;

	if (text->used >= text->size)
		return;
	va_start(arguments, format);
	text->used += (size_t)vsnprintf(text->start + text->used, text->size - text->used, format, arguments);
	va_end(arguments);
}

/* ---- places and faults ---- */

/* Find the kernel, or vector side of one, that begins nearest before the address; without the symbol table it is the
 * most likely one. */
static const char *nearest_kernel(const struct sk_plan_view *plan, uintptr_t address, uint64_t *offset)
{
	const char *nearest = NULL;
	uintptr_t best = 0;

	for (uint32_t i = 0; i < plan->kernel_count; i++) {
		uintptr_t code = (uintptr_t)sk_plan_address(&plan->kernels[i].code);
		uintptr_t vector = (uintptr_t)sk_plan_address(&plan->kernels[i].vector_code);

		if (code <= address && code > best) {
			best = code;
			nearest = sk_plan_string(&plan->kernels[i].symbol);
		}
		if (vector <= address && vector > best) {
			best = vector;
			nearest = sk_plan_string(&plan->kernels[i].name);
		}
	}
	*offset = address - best;
	return nearest;
}

/* Write "swiglu+0x12 (0x1234 in the package)" or "memcpy of libc.so.6". */
static void add_place(struct text *text, const struct skrt_module *module, const void *address)
{
	const struct sk_image *image = &module->image;
	char name[128];
	const char *nearest;
	uint64_t offset;
	Dl_info info;

	if (sk_image_holds(image, address, 1, PROT_READ)) {
		uint64_t at = (uintptr_t)address - image->bias;

		if (sk_image_function_at(image, module->path, address, name, sizeof(name), &offset))
			add_text(text, "%s+0x%" PRIx64 " (0x%" PRIx64 " in the package)", name, offset, at);
		else if ((nearest = nearest_kernel(&module->plan, (uintptr_t)address, &offset)))
			add_text(text, "%s+0x%" PRIx64 " (0x%" PRIx64 " in the package)", nearest, offset, at);
		else
			add_text(text, "0x%" PRIx64 " in the package", at);
	} else if (dladdr(address, &info) && info.dli_fname) {
		const char *file = strrchr(info.dli_fname, '/');

		add_text(text, "%s of %s", info.dli_sname ? info.dli_sname : "a function",
			 file ? file + 1 : info.dli_fname);
	} else {
		add_text(text, "address 0x%" PRIx64, (uint64_t)(uintptr_t)address);
	}
}

static const char *signal_text(const struct sk_fault *fault)
{
	switch (fault->signal) {
	case SIGBUS:
		return "bus error (SIGBUS)";
	case SIGFPE:
		return fault->code == FPE_INTDIV ? "integer division by zero, or its result is too large (SIGFPE)"
						 : "floating-point exception (SIGFPE)";
	case SIGILL:
		return "illegal instruction (SIGILL)";
	case SIGTRAP:
		return fault->code == SI_KERNEL ? "breakpoint instruction (SIGTRAP)" : "debug trap (SIGTRAP)";
	default:
		return "segmentation fault (SIGSEGV)";
	}
}

/* Return the start of a tensor that no kernel writes, in memory that is not guarded; NULL: another kind of tensor, or
 * not bound. */
static const char *start_of_input(const struct skrt_instance *instance, const struct sk_plan_tensor *tensor)
{
	const struct skrt_module *module = instance->module;

	if (tensor->role == SK_ROLE_CONSTANT && tensor->space == SK_SPACE_CONSTANT)
		return (const char *)module->constants + tensor->offset;
	for (uint32_t i = 0; i < module->plan.binding_count && tensor->role == SK_ROLE_INPUT; i++)
		if (&module->plan.tensors[module->plan.bindings[i]] == tensor)
			return instance->bindings[i];
	return NULL;
}

/* Write ", at byte 0 of tensor 'x', an input, which no kernel may write": the program may have mapped it read-only. */
static void add_input(struct text *text, const struct skrt_instance *instance, const void *address)
{
	const struct sk_plan_view *plan = &instance->module->plan;

	for (uint32_t i = 0; i < plan->tensor_count; i++) {
		const struct sk_plan_tensor *tensor = &plan->tensors[i];
		const char *start = start_of_input(instance, tensor);
		uint64_t at = (uintptr_t)address - (uintptr_t)start;

		if (!start || at >= sk_plan_type(tensor)->bytes + sk_plan_type(tensor)->padding)
			continue;
		add_text(text, ", at byte %" PRIu64 " of tensor '%s', %s, which no kernel may write", at,
			 sk_plan_string(&tensor->name), tensor->role == SK_ROLE_INPUT ? "an input" : "a constant");
		return;
	}
}

/* Write the tensor of an address that could not be accessed, if it is known. */
static void add_tensor(struct text *text, const struct skrt_instance *instance, const void *address, bool write)
{
	char place[SK_FINDING_SIZE];

	if (instance && instance->guard && sk_guard_describe(instance->guard, address, place, sizeof(place)))
		add_text(text, ", %s", place);
	else if (instance && write)
		add_input(text, instance, address);
	add_text(text, "; ");
}

static void add_refusal(struct text *text, const struct skrt_instance *instance, const struct sk_refusal *refusal)
{
	uint64_t address = (uintptr_t)refusal->address;

	switch (refusal->kind) {
	case SK_REFUSAL_PRIVILEGED:
		add_text(text, "the instruction '%s', which only the system may execute; ", refusal->instruction);
		break;
	case SK_REFUSAL_ADDRESS:
		add_text(text, "access to 0x%" PRIx64 ", an address that no processor can have; ", address);
		break;
	case SK_REFUSAL_ALIGNMENT:
		add_text(text, "access to 0x%" PRIx64 " by an instruction that needs a multiple of %" PRIu32, address,
			 refusal->alignment);
		add_tensor(text, instance, refusal->address, false);
		break;
	case SK_REFUSAL_JUMP:
		add_text(text, "a jump or return to an address that no processor can have; ");
		break;
	default:
		add_text(text,
			 "an access that is not aligned as its instruction needs it, an address that no processor can "
			 "have, or an instruction that only the system may execute, or not with these operands; ");
	}
}

/* Write the address that a fault could not read or write. */
static void add_address(struct text *text, const struct skrt_instance *instance, const struct sk_fault *fault)
{
	if (fault->refusal.kind != SK_REFUSAL_NONE) {
		add_refusal(text, instance, &fault->refusal);
		return;
	}
	if (fault->signal == SIGBUS && fault->code == BUS_ADRALN) {
		add_text(text, "an access that is not aligned, while the kernel has alignment checks on; ");
		return;
	}
	add_text(text, "%s at address 0x%" PRIx64,
		 fault->fetch	? "instruction fetch"
		 : fault->write ? "write"
				: "read",
		 (uint64_t)(uintptr_t)fault->address);
	add_tensor(text, instance, fault->address, fault->write);
}

/* Recognise an access in the stack's guard, or any access while the stack pointer is in the guard: the first access of
 * a function with a large array may be anywhere in the array. */
static bool is_overflow(const struct sk_call *call)
{
	return call->fault.signal == SIGSEGV &&
	       (sk_fibre_guards(&call->fibre, call->fault.address) || sk_fibre_guards(&call->fibre, call->fault.sp));
}

/* Return the place that called the function, which is at its first instruction, or missing: its return address is the
 * last word on the stack, even after a jump. */
__attribute__((no_sanitize_address)) /* frames that never returned are poisoned */
static const void *
caller_of(const struct sk_call *call)
{
	const void *sp = call->fault.sp;

	if ((uintptr_t)sp % sizeof(void *) != 0 || !sk_fibre_holds(&call->fibre, sp))
		return call->fault.pc;
	return *(const char *const *)sp - 1;
}

/* A use of an undefined symbol. */
struct missing {
	const char *name; /* NULL: none */
	int64_t offset; /* of the used byte from it */
	const char *use; /* "called" */
	const void *place;
};

static struct missing find_missing(const struct skrt_module *module, const struct sk_call *call)
{
	const struct sk_fault *fault = &call->fault;
	struct missing missing = {.use = "called", .place = fault->pc};

	if (fault->kind != SK_FAULT_SIGNAL)
		return missing;
	if (fault->signal == SIGILL)
		missing.name = sk_image_trap_at(&module->image, fault->pc);
	else if (fault->signal == SIGSEGV && fault->refusal.kind == SK_REFUSAL_NONE)
		missing.name = sk_image_guard_at(&module->image, fault->address, &missing.offset);
	if (missing.name && (fault->signal == SIGILL || fault->fetch))
		missing.place = caller_of(call);
	else if (missing.name)
		missing.use = fault->write ? "written" : "read";
	return missing;
}

/* Write "gone, which was not linked,", or "table+0x10, which …". */
static void add_missing(struct text *text, const struct missing *missing)
{
	uint64_t distance = missing->offset < 0 ? -(uint64_t)missing->offset : (uint64_t)missing->offset;

	add_text(text, "%s", missing->name);
	if (distance)
		add_text(text, "%s0x%" PRIx64, missing->offset < 0 ? "-" : "+", distance);
	add_text(text, ", which was not linked,");
}

/* Write the pointer to functions that a call to address 0 read, if the code shows it, or that it called a weak function
 * that no input defines: that is where the package begins. */
static void add_hook(struct text *text, const struct skrt_module *module, const struct sk_fault *fault,
		     const void *call)
{
	const struct sk_image *image = &module->image;
	const char *start = (const char *)image->bias + image->segments[0].address;
	const uint8_t *code = call, *from = code;
	const void *word;
	char name[128];
	uint64_t offset;

	if (fault->address == start)
		add_text(text, ", which calls a weak function that was not linked");
	if (fault->address)
		return;
	while (code - from < SK_HOOK_REACH && sk_image_holds(image, from - 1, 1, PROT_EXEC))
		from--;
	word = sk_hook_of_call(from, code + 1);
	if (word && sk_image_holds(image, word, sizeof(void *), PROT_READ) &&
	    sk_image_variable_at(image, module->path, word, name, sizeof(name), &offset) && !offset)
		add_text(text, ", by the pointer '%s', which is 0", name);
}

/* Return the place of a fault. For a missing instruction it is the caller's. */
static const void *find_instruction(const struct skrt_module *module, const struct sk_call *call)
{
	const void *caller = call->fault.fetch ? caller_of(call) : call->fault.pc;

	return sk_image_holds(&module->image, caller, 1, PROT_EXEC) ? caller : call->fault.pc;
}

/* Write "segmentation fault (SIGSEGV): write at address 0x10; at f+0x12 …". Instance: NULL without. */
static void add_fault(struct text *text, const struct skrt_module *module, const struct skrt_instance *instance,
		      const struct sk_call *call)
{
	const struct sk_fault *fault = &call->fault;
	struct missing missing = find_missing(module, call);
	const void *place = missing.place;

	if (fault->kind == SK_FAULT_ENDED) {
		add_text(text, "%s was called at ", fault->function);
	} else if (missing.name) {
		add_missing(text, &missing);
		add_text(text, " was %s at ", missing.use);
	} else if (fault->kind == SK_FAULT_NO_STORAGE) {
		add_text(text, "no memory for the thread's %zu bytes of thread-local storage",
			 module->image.package.storage.size);
		return;
	} else if (fault->kind == SK_FAULT_EXPELLED) {
		add_text(text, "it was at ");
	} else if (is_overflow(call)) {
		add_text(text, "stack overflow (SIGSEGV): the stack has %zu bytes; at ", call->fibre.size);
	} else {
		add_text(text, "%s: ", signal_text(fault));
		if (fault->signal == SIGSEGV || fault->signal == SIGBUS)
			add_address(text, instance, fault);
		place = find_instruction(module, call);
		add_text(text, place == fault->pc ? "at " : "called at ");
	}
	add_place(text, module, place);
	if (place != fault->pc && !missing.name)
		add_hook(text, module, fault, place);
	if (fault->lost_thread)
		add_text(text, "; a kernel on this core had changed FS, by which a thread finds its own memory");
}

/* ---- launches ---- */

/* Write "core 3", or with several lanes "cube core 3". */
static void add_core(struct text *text, const struct sk_plan_view *plan, const struct sk_device_core *core)
{
	if (plan->lane_count > 1)
		add_text(text, "%s ", sk_plan_string(&plan->lanes[core->abi.lane]));
	add_text(text, "core %" PRIu32, core->abi.index);
}

/* Write "task 'act': kernel swiglu". */
static void add_task(struct text *text, const struct sk_plan_view *plan, uint32_t task, uint32_t kernel)
{
	add_text(text, "task '%s': kernel %s", sk_plan_string(&plan->tasks[task].name),
		 sk_plan_string(&plan->kernels[kernel].name));
}

/* Write ", in the tile of elements 64 to 127", in the task's elements. */
static void add_tile(struct text *text, struct sk_core_range tile)
{
	if (tile.low < tile.high)
		add_text(text, ", in the tile of elements %" PRIu64 " to %" PRIu64, tile.low, tile.high - 1);
}

/* The failure of a core: a status that it returned, or a fault. */
struct failure {
	const struct sk_device_core *core;
	uint32_t task; /* SK_NO_INDEX: not known */
	struct sk_core_range tile; /* empty: not known, or none */
};

static bool has_failed(const struct sk_device_core *core)
{
	const struct sk_call *call = &core->call;
	bool told = call->result == SK_STATUS_ABORTED && core->abi.failed_task == SK_NO_INDEX;

	if (!call->begun || call->fault.kind == SK_FAULT_EXPELLED)
		return false;
	return call->fault.kind != SK_FAULT_NONE || (call->result && !told);
}

/* Find the place where a core was left; checked launches know it without the stack. */
static struct sk_located locate(const struct sk_device_core *core, const struct skrt_kernel *kernel)
{
	if (!core->flight->checks)
		return sk_locate(kernel, false, &core->call);
	return (struct sk_located){core->planned_call, sk_checks_tile(core)};
}

/* A dispatcher that has returned a status has no frame left from which the tile could be read. */
static struct failure failure_of(const struct sk_device_core *core, const struct skrt_kernel *kernel)
{
	struct sk_located located = {.call = SK_NO_INDEX};

	if (core->call.fault.kind != SK_FAULT_NONE || core->flight->checks)
		located = locate(core, kernel);
	if (core->call.fault.kind == SK_FAULT_NONE)
		return (struct failure){core, core->abi.failed_task, located.tile};
	if (located.call == SK_NO_INDEX)
		return (struct failure){core, SK_NO_INDEX, located.tile};
	return (struct failure){core, kernel->module->plan.calls[located.call].task, located.tile};
}

/* An iterator over all cores of the launch. */
struct cores {
	const struct sk_flight *flight;
	uint32_t lane, index;
};

static const struct sk_device_core *next_core(struct cores *cores)
{
	const struct skrt_kernel *kernel = cores->flight->kernel;

	while (cores->lane < kernel->module->plan.lane_count) {
		if (kernel->lane_steps[cores->lane] && cores->index < kernel->cores[cores->lane])
			return cores->flight->lanes[cores->lane].cores[cores->index++];
		cores->lane++;
		cores->index = 0;
	}
	return NULL;
}

/* Choose the failure to report: of the cores that failed themselves, the one with the earliest task. */
static struct failure find_failure(const struct sk_flight *flight)
{
	struct cores cores = {.flight = flight};
	struct failure found = {.task = SK_NO_INDEX};
	const struct sk_device_core *core;

	while ((core = next_core(&cores))) {
		struct failure failure;

		if (!has_failed(core))
			continue;
		failure = failure_of(core, flight->kernel);
		if (!found.core || failure.task < found.task)
			found = failure;
	}
	return found;
}

/* Write "core 3, in the tile of elements 64 to 127". */
static void add_place_of_failure(struct text *text, const struct sk_plan_view *plan, const struct failure *failure)
{
	add_core(text, plan, failure->core);
	add_tile(text, failure->tile);
}

static void add_failure(struct text *text, const struct skrt_kernel *kernel, const struct failure *failure)
{
	const struct sk_plan_view *plan = &kernel->module->plan;
	const struct sk_device_core *core = failure->core;
	bool known = failure->task < plan->task_count;
	struct missing missing = find_missing(kernel->module, &core->call);

	if (known)
		add_task(text, plan, failure->task, plan->tasks[failure->task].kernel);
	if (known && (missing.name || core->call.fault.kind == SK_FAULT_ENDED)) {
		add_text(text, " %s ", missing.name && !strcmp(missing.use, "written") ? "wrote" : missing.use);
		if (missing.name)
			add_missing(text, &missing);
		else
			add_text(text, "%s", core->call.fault.function);
		add_text(text, " on ");
		add_place_of_failure(text, plan, failure);
		add_text(text, ", at ");
		add_place(text, kernel->module, missing.place);
	} else if (core->call.fault.kind) {
		add_text(text, known ? " on " : "");
		add_place_of_failure(text, plan, failure);
		add_text(text, ": ");
		add_fault(text, kernel->module, core->flight->instance, &core->call);
	} else if (known && core->flight->checks && sk_checks_finding(core->flight->checks)) {
		add_text(text, " on ");
		add_place_of_failure(text, plan, failure);
		add_text(text, ": %s", sk_checks_finding(core->flight->checks));
	} else if (known && core->call.result == SK_STATUS_NOT_AWAITED) {
		add_text(text, " returned without sk_wait_pre_task_end on ");
		add_place_of_failure(text, plan, failure);
	} else if (known) {
		add_text(text, " returned status %d on ", core->call.result);
		add_place_of_failure(text, plan, failure);
	} else {
		add_place_of_failure(text, plan, failure);
		add_text(text, ": the dispatcher returned %d", core->call.result);
	}
}

/* ---- hangs ---- */

/* Return the core that owns the word, and the step of the number; SK_NO_INDEX: not in the plan. */
static const struct sk_device_core *owner_of(const struct sk_flight *flight, const struct sk_device_core *waiting,
					     uint32_t *step)
{
	const struct sk_plan_view *plan = &flight->kernel->module->plan;
	const struct sk_plan_launch *record = &plan->launches[flight->kernel->launch];

	const volatile uint64_t *word = waiting->word;

	/* Any core of the lane may be the late one, so find its word. */
	for (uint64_t left = waiting->words; left > 1 && *word >= waiting->target; left--)
		word += SK_PROGRESS_STRIDE / sizeof(*word);
	*step = SK_NO_INDEX;
	for (uint32_t i = 0; i < plan->lane_count; i++) {
		uint64_t offset = (uintptr_t)word - (uintptr_t)flight->lanes[i].words;

		if (offset >= (uint64_t)flight->kernel->cores[i] * SK_PROGRESS_STRIDE)
			continue;
		for (uint32_t j = record->first_step; j < record->first_step + sk_plan_form(record)->step_count; j++)
			if (plan->steps[j].lane == i && flight->bases[i] + plan->steps[j].number == waiting->target)
				*step = j;
		return flight->lanes[i].cores[offset / SK_PROGRESS_STRIDE];
	}
	return NULL;
}

/* Return the step with the await: the first of the lane that awaits `awaited`. A second one would be superfluous. */
static uint32_t awaiting_step(const struct sk_plan_view *plan, const struct sk_plan_launch *launch, uint32_t lane,
			      uint32_t awaited)
{
	for (uint32_t i = launch->first_step; i < launch->first_step + sk_plan_form(launch)->step_count; i++)
		for (uint32_t j = 0; plan->steps[i].lane == lane && j < plan->steps[i].await_count; j++)
			if (plan->awaits[plan->steps[i].first_await + j].step == awaited)
				return i;
	return SK_NO_INDEX;
}

static const char *task_name(const struct sk_plan_view *plan, uint32_t step)
{
	return sk_plan_string(&sk_plan_step_task(plan, &plan->steps[step])->name);
}

/* Write "core 1, before task 'b', awaits task 'a' (step 3) of core 0, which has left without publishing it". */
static void add_wait(struct text *text, const struct sk_flight *flight, const struct sk_device_core *core)
{
	const struct sk_plan_view *plan = &flight->kernel->module->plan;
	const struct sk_plan_launch *record = &plan->launches[flight->kernel->launch];
	char block[128];
	uint32_t step;

	if (sk_block_describe(flight->kernel, core, block, sizeof(block))) {
		add_core(text, plan, core);
		add_text(text, " %s", block);
		return;
	}

	const struct sk_device_core *owner = owner_of(flight, core, &step);
	uint32_t awaiting = step == SK_NO_INDEX ? step : awaiting_step(plan, record, core->abi.lane, step);

	add_core(text, plan, core);
	if (awaiting != SK_NO_INDEX)
		add_text(text, ", before task '%s',", task_name(plan, awaiting));
	if (step != SK_NO_INDEX)
		add_text(text, " awaits task '%s' (step %" PRIu32 ") of ", task_name(plan, step),
			 plan->steps[step].number);
	else
		add_text(text, " awaits a step that the plan does not have, of ");
	if (!owner) {
		add_text(text, "no core");
		return;
	}
	add_core(text, plan, owner);
	if (owner->call.fault.kind)
		add_text(text, ", which was still at work");
	else if (owner->word)
		add_text(text, owner == core ? ", which is itself" : ", which waits too");
	else
		add_text(text, ", which has left without publishing it");
}

static void add_timeout(struct text *text, const struct skrt_device *device)
{
	locale_t own = uselocale(sk_c_locale());

	add_text(text, "not ended within %g s: ", (double)device->watch.timeout * 1e-9);
	uselocale(own);
}

static void describe_hang(const struct sk_flight *flight, struct text *text)
{
	const struct skrt_kernel *kernel = flight->kernel;
	const struct sk_plan_view *plan = &kernel->module->plan;
	struct cores cores = {.flight = flight};
	const struct sk_device_core *core;
	const char *separator = "";

	if (atomic_load(&flight->aborted) == SK_ABORT_TIMEOUT)
		add_timeout(text, flight->device);
	else
		add_text(text, "hangs: ");
	while ((core = next_core(&cores))) {
		if (core->call.fault.kind != SK_FAULT_EXPELLED)
			continue;
		struct sk_located located = locate(core, kernel);

		add_text(text, "%s", separator);
		if (located.call != SK_NO_INDEX) {
			add_task(text, plan, plan->calls[located.call].task, plan->calls[located.call].kernel);
			add_text(text, " on ");
		}
		add_core(text, plan, core);
		add_tile(text, located.tile);
		add_text(text, ": ");
		add_fault(text, kernel->module, flight->instance, &core->call);
		separator = "; ";
	}
	cores = (struct cores){.flight = flight};
	while ((core = next_core(&cores))) {
		if (!core->call.begun || !core->word || core->transport)
			continue;
		add_text(text, "%s", separator);
		add_wait(text, flight, core);
		separator = "; ";
	}
	if (!*separator)
		add_text(text, "no core has reached a task");
}

/* ---- complete messages ---- */

static void add_title(struct text *text, const struct skrt_kernel *kernel)
{
	char title[128];

	sk_kernel_title(kernel, title, sizeof(title));
	add_text(text, "%s: ", title);
}

/* A core that left through a signal may have held a lock of the C library; the next thread that needs it would wait for
 * ever. */
static void add_loss(struct text *text, const struct sk_image *image, bool *lost)
{
	if (!image->locking)
		return;
	*lost = true;
	add_text(text, "; the package imports %s, which may have held a lock: the device is lost", image->locking);
}

static bool left_by_signal(const struct skrt_module *module, const struct sk_call *call)
{
	struct missing missing = find_missing(module, call);

	/* Not in the C library, which may have been passed the address of missing data. */
	if (missing.name && sk_image_holds(&module->image, missing.place, 1, PROT_EXEC))
		return false;
	return call->begun && (call->fault.kind == SK_FAULT_SIGNAL || call->fault.kind == SK_FAULT_EXPELLED);
}

/* Check the parts of the plan that only messages use, for tasks and kernels. If they are damaged, the text says that
 * instead. */
static bool check_plan(const struct skrt_kernel *kernel, struct text *text)
{
	if (!sk_module_check_steps(kernel))
		return true;
	add_text(text, "it has failed; the place is not known, since the package is damaged: %s", skrt_error());
	return false;
}

bool sk_failure_is_one(const struct sk_flight *flight)
{
	struct cores cores = {.flight = flight};
	const struct sk_device_core *core;

	while ((core = next_core(&cores)))
		if (!core->call.over || core->call.result || core->call.fault.kind)
			return true;
	return false;
}

/* Write "exchange 'ar' (…): rank 1 did not come within 60 s". */
static void add_exchange(struct text *text, const struct sk_flight *flight)
{
	add_text(text, "%s", flight->exchange);
	if (!flight->exchange_late)
		return;
	locale_t own = uselocale(sk_c_locale());

	add_text(text, " within %g s", (double)flight->device->watch.timeout * 1e-9);
	uselocale(own);
}

void sk_failure_describe(const struct sk_flight *flight, char *error, size_t error_size, bool *lost)
{
	struct text text = {.start = error, .size = error_size};
	struct cores cores = {.flight = flight};
	const struct sk_device_core *core;
	bool by_signal = false, failed = false;

	while ((core = next_core(&cores))) {
		by_signal |= left_by_signal(flight->kernel->module, &core->call);
		failed |= has_failed(core);
	}
	/* An exchange that has not ended cannot be taken back, nor can a later one begin. */
	*lost |= *flight->exchange != '\0';
	if (*flight->exchange && !failed) {
		add_exchange(&text, flight);
		if (!by_signal)
			return;
		add_text(&text, "; ");
	}
	add_title(&text, flight->kernel);
	if (check_plan(flight->kernel, &text)) {
		struct failure failure = find_failure(flight);

		if (failure.core)
			add_failure(&text, flight->kernel, &failure);
		else
			describe_hang(flight, &text);
	}
	if (by_signal)
		add_loss(&text, &flight->kernel->module->image, lost);
	if (*flight->exchange && failed)
		add_text(&text, "; meanwhile, in %s", flight->exchange);
}

void sk_failure_describe_function(const struct skrt_module *module, const char *function, const struct sk_call *call,
				  char *error, size_t error_size, bool *lost)
{
	struct text text = {.start = error, .size = error_size};

	add_text(&text, "%s: %s", module->path, function);
	if (call->fault.kind == SK_FAULT_ENDED) {
		add_text(&text, " called %s at ", call->fault.function);
		add_place(&text, module, call->fault.pc);
	} else {
		add_text(&text, call->fault.kind == SK_FAULT_EXPELLED ? " has " : ": ");
		if (call->fault.kind == SK_FAULT_EXPELLED)
			add_timeout(&text, module->device);
		add_fault(&text, module, NULL, call);
	}
	if (left_by_signal(module, call))
		add_loss(&text, &module->image, lost);
}

void sk_failure_describe_serial(const struct skrt_instance *instance, const struct skrt_kernel *kernel,
				const struct sk_call *call, char *error, size_t error_size, bool *lost)
{
	struct text text = {.start = error, .size = error_size};
	const struct sk_plan_view *plan = &kernel->module->plan;

	add_title(&text, kernel);
	add_text(&text, "serial run: ");
	if (call->fault.kind == SK_FAULT_EXPELLED)
		add_timeout(&text, kernel->module->device);
	if (call->fault.kind == SK_FAULT_NONE) {
		add_text(&text, "a kernel returned status %d", call->result);
		return;
	}
	if (check_plan(kernel, &text)) {
		struct sk_located located = sk_locate(kernel, true, call);

		if (located.call != SK_NO_INDEX) {
			add_task(&text, plan, plan->calls[located.call].task, plan->calls[located.call].kernel);
			add_tile(&text, located.tile);
			add_text(&text, ": ");
		}
		add_fault(&text, kernel->module, instance, call);
	}
	if (left_by_signal(kernel->module, call))
		add_loss(&text, &kernel->module->image, lost);
}
