/* See dispatcher-rig.h. */
#include "config.h" /* REG_RIP is an extension */

#include "tests/lib/dispatcher-rig.h"

#include "base/arena.h"
#include "format/plan/plan.h"
#include "format/skabi.h"
#include "format/skplan.h"
#include "stubs/dispatcher/dispatcher.h"
#include <check.h>
#include <elf.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unwind.h>

/* libgcc's; the headers do not declare them. */
void __register_frame(void *);
void __deregister_frame(void *);

/* ---- plans ---- */

struct rig_plan *rig_plan_new(void)
{
	struct rig_plan *plan = calloc(1, sizeof(*plan));

	plan->arena = sk_arena_create();
	plan->header.machine = EM_X86_64;
	strcpy(plan->lanes.names[0], "cube");
	strcpy(plan->lanes.names[1], "vector");
	for (int lane = 0; lane < SK_MAX_LANES; lane++)
		plan->lanes.references[lane] =
			(int32_t)(plan->lanes.names[lane] - (char *)&plan->lanes.references[lane]);
	plan->launch.form = (int32_t)((char *)&plan->form - (char *)&plan->launch.form);
	plan->view = (struct sk_plan_view){
		.plan = &plan->header,
		.lanes = plan->lanes.references,
		.launches = &plan->launch,
		.tasks = plan->tasks,
		.kernels = plan->kernels,
		.steps = plan->steps,
		.calls = plan->calls,
		.awaits = plan->awaits,
		.arguments = plan->arguments,
		.loops = plan->loops,
		.terms = plan->terms,
		.patterns = plan->patterns,
		.partitions = plan->partitions,
		.homes = plan->homes,
		.lane_count = SK_MAX_LANES,
		.launch_count = 1,
		.network_launch_count = 1,
		.binding_count = MOST_BINDINGS,
	};
	return plan;
}

void rig_plan_free(struct rig_plan *plan)
{
	sk_arena_destroy(plan->arena);
	free(plan);
}

uint32_t rig_home(struct rig_plan *plan, uint32_t lane, uint32_t stream)
{
	plan->homes[plan->view.home_count] = (struct sk_plan_home){.lane = lane, .stream = stream};
	plan->form.home_count = ++plan->view.home_count;
	return plan->view.home_count - 1;
}

uint32_t rig_partition(struct rig_plan *plan, uint64_t extent, uint64_t unit)
{
	plan->partitions[plan->view.partition_count] = (struct sk_plan_partition){.extent = extent, .unit = unit};
	plan->form.partition_count = ++plan->view.partition_count;
	return plan->view.partition_count - 1;
}

struct sk_plan_step *rig_step(struct rig_plan *plan, enum sk_step_kind kind, void (*function)(void))
{
	uint32_t index = plan->view.step_count++;
	struct sk_plan_step *step = &plan->steps[index];

	if (kind == SK_STEP_PLAIN && plan->view.home_count == 0)
		rig_home(plan, 0, 0);
	*step = (struct sk_plan_step){
		.first_call = plan->view.call_count,
		.kind = (uint8_t)kind,
		.core_set = kind == SK_STEP_PLAIN ? 0 : SK_ALL_CORES,
		.partition = SK_NO_INDEX,
		.first_await = plan->view.await_count,
	};
	plan->form.step_count = plan->view.step_count;
	rig_call_too(plan, function);
	return step;
}

static struct sk_plan_step *last_step(struct rig_plan *plan)
{
	return &plan->steps[plan->view.step_count - 1];
}

struct sk_plan_call *rig_last_call(struct rig_plan *plan)
{
	return &plan->calls[plan->view.call_count - 1];
}

struct sk_plan_call *rig_call_too(struct rig_plan *plan, void (*function)(void))
{
	plan->functions[plan->view.kernel_count] = function;
	plan->calls[plan->view.call_count++] = (struct sk_plan_call){
		.task = plan->view.task_count++,
		.kernel = plan->view.kernel_count++,
		.first_argument = plan->view.argument_count,
		.scale = 1,
	};
	last_step(plan)->call_count++;
	return rig_last_call(plan);
}

void rig_argument(struct rig_plan *plan, struct sk_plan_argument argument)
{
	plan->arguments[plan->view.argument_count++] = argument;
	rig_last_call(plan)->argument_count++;
}

void rig_loop(struct rig_plan *plan, uint64_t extent, uint64_t tile)
{
	struct sk_plan_call *call = rig_last_call(plan);

	if (call->loop_count++ == 0)
		call->first_loop = plan->view.loop_count;
	plan->loops[plan->view.loop_count++] = (struct sk_plan_loop){.extent = extent, .tile = tile};
}

static struct sk_plan_argument *last_argument(struct rig_plan *plan)
{
	return &plan->arguments[plan->view.argument_count - 1];
}

void rig_term(struct rig_plan *plan, struct sk_plan_term term)
{
	if (last_argument(plan)->size++ == 0)
		last_argument(plan)->index = plan->view.term_count;
	plan->terms[plan->view.term_count++] = term;
}

void rig_pattern(struct rig_plan *plan, struct sk_plan_pattern pattern)
{
	plan->patterns[plan->view.pattern_count++] = pattern;
	last_argument(plan)->value |= plan->view.pattern_count; /* beside a displacement */
}

void rig_await(struct rig_plan *plan, const struct sk_plan_step *awaited)
{
	plan->awaits[plan->view.await_count++].step = (uint32_t)(awaited - plan->steps);
	last_step(plan)->await_count++;
}

/* Numbers the steps as the plan's format wants it. */
static void number_steps(struct rig_plan *plan)
{
	memset(plan->form.lane_steps, 0, sizeof(plan->form.lane_steps));
	for (uint32_t i = 0; i < plan->view.step_count; i++)
		plan->steps[i].number = ++plan->form.lane_steps[plan->steps[i].lane];
}

/* ---- code ---- */

static void write32(uint8_t *at, int64_t value)
{
	int32_t narrow = (int32_t)value;

	ck_assert_int_eq(narrow, value);
	memcpy(at, &narrow, sizeof(narrow));
}

enum { CODE_ROOM = 1 << 20, JUMP_BYTES = 16 };

struct rig_code rig_load(struct rig_plan *plan, enum sk_entry_kind kind)
{
	struct rig_code loaded = {.size = CODE_ROOM, .code = {.arena = plan->arena}};

	number_steps(plan);

	const char *reason = sk_dispatcher_emit(plan->arena, &plan->view, plan->dims, 0, kind, "launch", &loaded.code);
	struct sk_code *code = &loaded.code;

	ck_assert_msg(reason == NULL, "%s", reason);
	loaded.memory = mmap(NULL, CODE_ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert(loaded.memory != MAP_FAILED);

	uint8_t *jumps = loaded.memory + (code->bytes.count + 63) / 64 * 64;

	loaded.unwind = jumps + plan->view.kernel_count * JUMP_BYTES;
	ck_assert(loaded.unwind + code->eh_frame.count + 4 <= loaded.memory + CODE_ROOM);
	memcpy(loaded.memory, code->bytes.items, code->bytes.count);
	for (uint32_t i = 0; i < plan->view.kernel_count; i++) {
		/* movabs r11, function; jmp r11: the test program lies too far away for a call. */
		uint8_t *jump = jumps + i * JUMP_BYTES;

		memcpy(jump, "\x49\xbb", 2);
		memcpy(jump + 2, &plan->functions[i], 8);
		memcpy(jump + 10, "\x41\xff\xe3", 3);
	}
	for (size_t i = 0; i < code->relocations.count; i++) {
		const struct sk_code_relocation *it = &code->relocations.items[i];
		const uint8_t *target = it->target == SK_CODE_KERNEL   ? jumps + it->index * JUMP_BYTES
					: it->target == SK_CODE_SYMBOL ? RIG_SYMBOL(&loaded, it->index)
								       : RIG_CONSTANTS(&loaded);

		ck_assert(it->call == (it->target == SK_CODE_KERNEL));
		write32(loaded.memory + it->offset, target + it->addend - (loaded.memory + it->offset));
	}
	ck_assert_uint_eq(code->eh_frame_starts.count, code->symbols.count);
	memcpy(loaded.unwind, code->eh_frame.items, code->eh_frame.count);
	for (size_t i = 0; i < code->eh_frame_starts.count; i++) {
		uint8_t *at = loaded.unwind + code->eh_frame_starts.items[i];

		write32(at, loaded.memory + code->symbols.items[i].offset - at);
	}
	ck_assert_int_eq(mprotect(loaded.memory, CODE_ROOM, PROT_READ | PROT_EXEC), 0);
	__register_frame(loaded.unwind);
	return loaded;
}

void rig_unload(struct rig_code *loaded)
{
	__deregister_frame(loaded->unwind);
	munmap(loaded->memory, loaded->size);
}

void *rig_entry(const struct rig_code *loaded)
{
	return loaded->memory + loaded->code.symbols.items[0].offset;
}

/* int checked_call(void *entry, void *a, void *b, uint64_t flags, uint64_t *changed): sets rbx, rbp and r12 to r15 to
 * 0x5a5a01 … 06 and the flags, calls entry(a, b), counts the registers that differ afterwards. */
int checked_call(void *entry, void *a, void *b, uint64_t flags, uint64_t *changed);
extern const char checked_call_return[];

__asm__(".pushsection .text\n"
	".globl checked_call, checked_call_return\n"
	".hidden checked_call, checked_call_return\n"
	".type checked_call, @function\n"
	"checked_call:\n"
	".cfi_startproc\n"
	"	push %rbx\n	.cfi_adjust_cfa_offset 8\n	.cfi_rel_offset rbx, 0\n"
	"	push %rbp\n	.cfi_adjust_cfa_offset 8\n	.cfi_rel_offset rbp, 0\n"
	"	push %r12\n	.cfi_adjust_cfa_offset 8\n	.cfi_rel_offset r12, 0\n"
	"	push %r13\n	.cfi_adjust_cfa_offset 8\n	.cfi_rel_offset r13, 0\n"
	"	push %r14\n	.cfi_adjust_cfa_offset 8\n	.cfi_rel_offset r14, 0\n"
	"	push %r15\n	.cfi_adjust_cfa_offset 8\n	.cfi_rel_offset r15, 0\n"
	"	push %r8\n	.cfi_adjust_cfa_offset 8\n"
	"	mov %rdi, %rax\n"
	"	mov %rsi, %rdi\n"
	"	mov %rdx, %rsi\n"
	"	mov $0x5a5a01, %ebx\n"
	"	mov $0x5a5a02, %ebp\n"
	"	mov $0x5a5a03, %r12d\n"
	"	mov $0x5a5a04, %r13d\n"
	"	mov $0x5a5a05, %r14d\n"
	"	mov $0x5a5a06, %r15d\n"
	"	push %rcx\n	.cfi_adjust_cfa_offset 8\n"
	"	popf\n		.cfi_adjust_cfa_offset -8\n"
	"	call *%rax\n"
	"checked_call_return:\n"
	"	pushf\n		.cfi_adjust_cfa_offset 8\n"
	"	andq $~0x100, (%rsp)\n"
	"	popf\n		.cfi_adjust_cfa_offset -8\n"
	"	mov (%rsp), %r8\n"
	"	xor %ecx, %ecx\n"
	"	cmp $0x5a5a01, %rbx\n	setne %dl\n	add %dl, %cl\n"
	"	cmp $0x5a5a02, %rbp\n	setne %dl\n	add %dl, %cl\n"
	"	cmp $0x5a5a03, %r12\n	setne %dl\n	add %dl, %cl\n"
	"	cmp $0x5a5a04, %r13\n	setne %dl\n	add %dl, %cl\n"
	"	cmp $0x5a5a05, %r14\n	setne %dl\n	add %dl, %cl\n"
	"	cmp $0x5a5a06, %r15\n	setne %dl\n	add %dl, %cl\n"
	"	mov %rcx, (%r8)\n"
	"	pop %r8\n	.cfi_adjust_cfa_offset -8\n"
	"	pop %r15\n	.cfi_adjust_cfa_offset -8\n"
	"	pop %r14\n	.cfi_adjust_cfa_offset -8\n"
	"	pop %r13\n	.cfi_adjust_cfa_offset -8\n"
	"	pop %r12\n	.cfi_adjust_cfa_offset -8\n"
	"	pop %rbp\n	.cfi_adjust_cfa_offset -8\n"
	"	pop %rbx\n	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	".cfi_endproc\n"
	".size checked_call, .-checked_call\n"
	".popsection\n");

enum { PLAIN_FLAGS = 0x202, TRAP_FLAG = 0x100 };

int rig_call(void *entry, void *a, void *b)
{
	uint64_t changed = 1;
	int status = checked_call(entry, a, b, PLAIN_FLAGS, &changed);

	ck_assert_msg(changed == 0, "the dispatcher changed %u registers that it must preserve", (unsigned)changed);
	return status;
}

/* The search for the dispatcher's frame, then for checked_call's after it. */
struct unwinding {
	const struct rig_code *loaded;
	bool inside; /* the last frame was the dispatcher's */
	bool reached;
};

static bool is_inside(const struct rig_code *loaded, uintptr_t address)
{
	uintptr_t start = (uintptr_t)loaded->memory;

	return address >= start && address < start + loaded->code.bytes.count;
}

static _Unwind_Reason_Code visit_frame(struct _Unwind_Context *context, void *argument)
{
	static const struct {
		int dwarf;
		uintptr_t value;
	} preserved[] = {{3, 0x5a5a01}, {6, 0x5a5a02}, {12, 0x5a5a03}, {13, 0x5a5a04}, {14, 0x5a5a05}, {15, 0x5a5a06}};
	struct unwinding *unwinding = argument;
	uintptr_t address = _Unwind_GetIP(context);

	if (unwinding->inside) {
		unwinding->reached = address == (uintptr_t)checked_call_return;
		for (size_t i = 0; i < sizeof(preserved) / sizeof(preserved[0]); i++)
			unwinding->reached &= _Unwind_GetGR(context, preserved[i].dwarf) == preserved[i].value;
		return _URC_NORMAL_STOP;
	}
	unwinding->inside = is_inside(unwinding->loaded, address);
	return _URC_NO_REASON;
}

void rig_check_backtrace(const struct rig_code *loaded)
{
	struct unwinding unwinding = {.loaded = loaded};

	_Unwind_Backtrace(visit_frame, &unwinding);
	ck_assert_msg(unwinding.inside, "the unwinder does not find the dispatcher's frame");
	ck_assert_msg(unwinding.reached, "the unwinder does not find the dispatcher's caller");
}

/* The data of the trap handler; tests that step run on one thread. */
static struct {
	const struct rig_code *loaded;
	unsigned count;
	uintptr_t lost; /* the first instruction from which the caller was not found */
} stepping;

static void on_trap(int number, siginfo_t *info, void *context)
{
	uintptr_t address = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
	struct unwinding unwinding = {.loaded = stepping.loaded};

	(void)number;
	(void)info;
	if (!is_inside(stepping.loaded, address))
		return;
	_Unwind_Backtrace(visit_frame, &unwinding);
	stepping.count++;
	if (!unwinding.reached && !stepping.lost)
		stepping.lost = address;
}

int rig_call_stepping(const struct rig_code *loaded, void *a, void *b, unsigned *count)
{
	struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO}, before;
	uint64_t changed = 1;

	stepping.loaded = loaded;
	stepping.count = 0;
	stepping.lost = 0;
	sigaction(SIGTRAP, &action, &before);

	int status = checked_call(rig_entry(loaded), a, b, PLAIN_FLAGS | TRAP_FLAG, &changed);

	sigaction(SIGTRAP, &before, NULL);
	ck_assert_uint_eq(changed, 0);
	ck_assert_msg(!stepping.lost, "no way out of the dispatcher at +0x%lx",
		      (unsigned long)(stepping.lost - (uintptr_t)loaded->memory));
	*count = stepping.count;
	return status;
}

/* ---- cores ---- */

static int spin(struct sk_core *core, const volatile uint64_t *word, uint64_t target, uint64_t count)
{
	(void)core;
	for (uint64_t i = 0; i < count; i++, word += SK_PROGRESS_STRIDE / sizeof(*word))
		while (*word < target)
			sched_yield();
	return 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* As struct sk_plan_partition says. */
static struct sk_core_range core_range(const struct sk_plan_partition *partition, uint64_t core, uint64_t count)
{
	uint64_t units = (partition->extent + partition->unit - 1) / partition->unit;
	uint64_t low = core * partition->blocks / count, high = (core + 1) * partition->blocks / count;

	if (partition->blocks) {
		uint64_t row = partition->extent / partition->rows;

		return (struct sk_core_range){.low = low * partition->rows / partition->blocks * row,
					      .high = high * partition->rows / partition->blocks * row};
	}
	return (struct sk_core_range){
		.low = least(partition->extent, core * units / count * partition->unit),
		.high = least(partition->extent, (core + 1) * units / count * partition->unit),
	};
}

static void fill_core(const struct rig_plan *plan, struct rig_device *device, uint32_t lane, uint32_t index,
		      void *workspace)
{
	struct sk_core *core = &device->cores[lane][index];

	*core = (struct sk_core){
		.lane = lane,
		.index = index,
		.count = device->counts[lane],
		.failed_task = SK_NO_INDEX,
		.progress = (volatile uint64_t *)device->progress[lane][index],
		.bindings = device->bindings,
		.workspace = workspace,
		.scratch = device->scratch[lane][index],
		.ranges = device->ranges[lane][index],
		.homes = device->homes[lane][index],
		.runtime = &device->runtime,
	};
	for (uint32_t other = 0; other < SK_MAX_LANES; other++)
		core->lanes[other] = (struct sk_lane){
			.words = (const volatile uint64_t *)device->progress[other][0],
			.count = device->counts[other],
		};
	for (uint32_t i = 0; i < plan->view.partition_count; i++)
		device->ranges[lane][index][i] = core_range(&plan->partitions[i], index, device->counts[lane]);
	for (uint32_t i = 0; i < plan->view.home_count; i++) {
		const struct sk_plan_home *home = &plan->homes[i];
		uint32_t at = home->stream % device->counts[home->lane];

		device->homes[lane][index][i] = (struct sk_home){
			.word = (const volatile uint64_t *)device->progress[home->lane][at],
			.mine = home->lane == lane && at == index,
		};
	}
}

struct rig_device *rig_device_new(const struct rig_plan *plan, uint32_t lane0, uint32_t lane1, void *workspace)
{
	struct rig_device *device = aligned_alloc(128, (sizeof(*device) + 127) / 128 * 128);

	memset(device, 0, sizeof(*device));
	device->counts[0] = lane0;
	device->counts[1] = lane1;
	device->runtime.await = spin;
	for (uint32_t lane = 0; lane < SK_MAX_LANES; lane++) {
		for (uint32_t index = 0; index < device->counts[lane]; index++)
			fill_core(plan, device, lane, index, workspace);
	}
	return device;
}

void rig_device_free(struct rig_device *device)
{
	free(device);
}

uint64_t rig_progress(const struct rig_device *device, uint32_t lane, uint32_t core)
{
	return *(const volatile uint64_t *)device->progress[lane][core];
}

void rig_set_progress(struct rig_device *device, uint32_t lane, uint32_t core, uint64_t value)
{
	*(volatile uint64_t *)device->progress[lane][core] = value;
}

struct core_run {
	pthread_t thread;
	void *entry;
	struct sk_core *core;
	int status;
};

static void *run_core(void *argument)
{
	struct core_run *run = argument;

	run->status = rig_call(run->entry, run->core, NULL);
	return NULL;
}

int rig_run(const struct rig_plan *plan, struct rig_device *device, void *entry)
{
	struct core_run runs[SK_MAX_LANES * MOST_CORES];
	unsigned count = 0;
	int status = 0;

	for (uint32_t lane = 0; lane < SK_MAX_LANES; lane++) {
		for (uint32_t i = 0; i < device->counts[lane] && plan->form.lane_steps[lane] != 0; i++)
			runs[count++] = (struct core_run){.entry = entry, .core = &device->cores[lane][i]};
	}
	for (unsigned i = 0; i < count; i++)
		ck_assert_int_eq(pthread_create(&runs[i].thread, NULL, run_core, &runs[i]), 0);
	for (unsigned i = 0; i < count; i++) {
		pthread_join(runs[i].thread, NULL);
		if (!status)
			status = runs[i].status;
	}
	for (uint32_t lane = 0; lane < SK_MAX_LANES; lane++) {
		for (uint32_t i = 0; i < device->counts[lane]; i++) {
			for (uint32_t other = 0; other < SK_MAX_LANES; other++)
				device->cores[lane][i].lanes[other].base += plan->form.lane_steps[other];
		}
	}
	return status;
}

/* ---- the log ---- */

_Thread_local struct rig_log rig_log;

void rig_log_call(unsigned count, const uint64_t *values)
{
	struct rig_call_record *call = &rig_log.calls[rig_log.count++];

	ck_assert(rig_log.count <= MOST && count <= MOST_VALUES);
	call->count = count;
	memcpy(call->values, values, count * sizeof(*values));
}

void rig_expect(unsigned *at, unsigned count, const uint64_t *values)
{
	ck_assert_msg(*at < rig_log.count, "call %u did not happen", *at);

	const struct rig_call_record *call = &rig_log.calls[(*at)++];

	ck_assert_uint_eq(call->count, count);
	for (unsigned i = 0; i < count; i++)
		ck_assert_msg(call->values[i] == values[i], "call %u, value %u: 0x%llx, expected 0x%llx", *at - 1, i,
			      (unsigned long long)call->values[i], (unsigned long long)values[i]);
}
