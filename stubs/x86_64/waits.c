/* Ops by which cores wait for one another or publish their progress, and ops that may end a launch. In: an op. Out: the
 * usual path in place; rare paths become tails after the function's return. */
#include "stubs/x86_64/emitter.h"

#include "base/arena.h"
#include "format/skabi.h"
#include "format/skplan.h"
#include "format/x86_64/registers.h"
#include "stubs/dispatcher/ops.h"

/* eax = the contents of the copy; of 64 bits the lower half, or 1 if only the upper half is not 0. */
static void load_status(struct sk_x86_emitter *e, const struct sk_plan_argument *argument)
{
	int32_t copy = (int32_t)e->status;

	/* mov eax, [copy] */
	PUT(e, LOAD32, .reg = SK_RAX, .rm = SK_RSP, .disp = copy);
	if (sk_dtype_size(argument->dtype) != 8)
		return;
	/* test eax, eax; jne known; cmp [copy + 4], eax; je known; inc eax;  known: */
	uint32_t known = sk_x86_new_label(e);

	PUT(e, TEST32, .rm = SK_RAX, .reg = SK_RAX);
	sk_x86_jump(e, SK_X86_JUMP_NOT_EQUAL, known);
	PUT(e, COMPARE32_MEMORY, .reg = SK_RAX, .rm = SK_RSP, .disp = copy + 4);
	sk_x86_jump(e, SK_X86_JUMP_EQUAL, known);
	PUT(e, INCREMENT32, .rm = SK_RAX);
	sk_x86_set_label(e, known);
}

void sk_x86_emit_status(struct sk_x86_emitter *e, const struct sk_op *op)
{
	uint32_t failed = e->leave;

	if (!e->program->serial) {
		failed = sk_x86_new_label(e);
		sk_array_push(e->arena, &e->tails,
			      (struct sk_x86_tail){.label = failed, .reached = SK_NO_INDEX, .task = op->status.task});
	}
	if (op->status.argument)
		load_status(e, op->status.argument);
	PUT(e, TEST32, .rm = SK_RAX, .reg = SK_RAX);
	sk_x86_jump(e, SK_X86_JUMP_NOT_EQUAL, failed);
}

void sk_x86_emit_feed(struct sk_x86_emitter *e, const struct sk_op *op)
{
	/* mov rdi, core; mov esi, step; mov rax, [core.runtime]; call [rax + feed] */
	PUT(e, MOVE64, .rm = SK_RDI, .reg = CORE);
	sk_x86_set_register(e, SK_RSI, op->feed.step);
	PUT(e, LOAD64, .reg = SK_RAX, .rm = CORE, .disp = CORE_RUNTIME);
	PUT(e, CALL_MEMORY, .rm = SK_RAX, .disp = RUNTIME_FEED);
}

void sk_x86_emit_waited(struct sk_x86_emitter *e, const struct sk_op *op)
{
	uint32_t forgotten = sk_x86_new_label(e);

	sk_array_push(e->arena, &e->tails,
		      (struct sk_x86_tail){
			      .label = forgotten, .reached = SK_NO_INDEX, .task = op->waited.task, .forgotten = true});
	/* cmp dword ptr [block.waited], 0; je forgotten */
	PUT(e, COMPARE_MEMORY32_BYTE, .rm = SK_RSP, .disp = (int32_t)e->frame.block + BLOCK_WAITED);
	sk_x86_jump(e, SK_X86_JUMP_EQUAL, forgotten);
}

/* The slow path's arguments: rsi is the word, rdx the number to wait for, rcx the number of remaining words. */
void sk_x86_emit_await(struct sk_x86_emitter *e, const struct sk_op *op)
{
	uint32_t waits = sk_x86_new_label(e), reached = sk_x86_new_label(e);

	if (op->await.lane == e->lane) {
		/* lea rdx, [base + number] */
		PUT(e, ADDRESS, .reg = SK_RDX, .rm = BASE, .disp = (int32_t)op->await.number);
	} else {
		/* mov edx, number; add rdx, [core.lanes[lane].base] */
		sk_x86_set_register(e, SK_RDX, op->await.number);
		PUT(e, ADD64_MEMORY, .reg = SK_RDX, .rm = CORE, .disp = LANE(op->await.lane) + LANE_BASE);
	}
	if (op->kind == SK_OP_AWAIT_HOME) {
		/* mov rsi, [core.homes]; mov rsi, [rsi + home.word]; cmp [rsi], rdx; jb waits */
		PUT(e, LOAD64, .reg = SK_RSI, .rm = CORE, .disp = CORE_HOMES);
		PUT(e, LOAD64, .reg = SK_RSI, .rm = SK_RSI, .disp = 16 * (int32_t)op->await.home + HOME_WORD);
		PUT(e, COMPARE_MEMORY64, .rm = SK_RSI, .reg = SK_RDX);
		sk_x86_jump(e, SK_X86_JUMP_BELOW, waits);
	} else {
		/*       mov rsi, [core.lanes[lane].words]; mov ecx, [core.lanes[lane].count]
		 * next: cmp [rsi], rdx; jb waits; sub rsi, -stride; dec ecx; jne next
		 * -128 fits into a byte, 128 does not. */
		uint32_t next = sk_x86_new_label(e);

		PUT(e, LOAD64, .reg = SK_RSI, .rm = CORE, .disp = LANE(op->await.lane) + LANE_WORDS);
		PUT(e, LOAD32, .reg = SK_RCX, .rm = CORE, .disp = LANE(op->await.lane) + LANE_COUNT);
		sk_x86_set_label(e, next);
		PUT(e, COMPARE_MEMORY64, .rm = SK_RSI, .reg = SK_RDX);
		sk_x86_jump(e, SK_X86_JUMP_BELOW, waits);
		PUT(e, SUBTRACT64_BYTE, .rm = SK_RSI, .immediate = (uint64_t)-SK_PROGRESS_STRIDE);
		PUT(e, DECREMENT32, .rm = SK_RCX);
		sk_x86_jump(e, SK_X86_JUMP_NOT_EQUAL, next);
	}
	sk_x86_set_label(e, reached);
	sk_array_push(e->arena, &e->tails,
		      (struct sk_x86_tail){.label = waits,
					   .reached = reached,
					   .one_word = op->kind == SK_OP_AWAIT_HOME,
					   .task = e->part.task});
}

/* The call that the kernel has omitted is made for it, so that later cores are not released too early. */
static void emit_forgotten(struct sk_x86_emitter *e)
{
	int32_t block = (int32_t)e->frame.block;

	/* lea rdi, [block]; mov rax, [block.functions]; call [rax + wait_pre_task_end]; mov eax, SK_STATUS_NOT_AWAITED
	 */
	PUT(e, ADDRESS, .reg = SK_RDI, .rm = SK_RSP, .disp = block);
	PUT(e, LOAD64, .reg = SK_RAX, .rm = SK_RSP, .disp = block + BLOCK_FUNCTIONS);
	PUT(e, CALL_MEMORY, .rm = SK_RAX, .disp = FUNCTIONS_WAIT_PRE_TASK_END);
	PUT(e, SET32, .rm = SK_RAX, .immediate = (uint32_t)SK_STATUS_NOT_AWAITED);
}

/* ecx is free: the status is in eax. */
static void emit_blame(struct sk_x86_emitter *e, uint32_t task)
{
	if (e->program->thunk) {
		/* mov ecx, [words + task]; mov [core.failed_task], ecx */
		PUT(e, LOAD32, .reg = SK_RCX, .rm = BINDINGS, .disp = sk_x86_word(task));
		PUT(e, STORE32, .reg = SK_RCX, .rm = CORE, .disp = CORE_FAILED_TASK);
		return;
	}
	/* mov dword ptr [core.failed_task], task */
	PUT(e, STORE32_IMMEDIATE, .rm = CORE, .disp = CORE_FAILED_TASK, .immediate = task);
}

void sk_x86_emit_tails(struct sk_x86_emitter *e)
{
	bool awaits = false;

	for (size_t i = 0; i < e->tails.count; i++) {
		const struct sk_x86_tail *tail = &e->tails.items[i];

		if (e->part.frame || e->part.task != tail->task)
			sk_x86_begin_part(e, tail->task, false);
		sk_x86_set_label(e, tail->label);
		if (tail->reached == SK_NO_INDEX) {
			/* …; jmp leave */
			if (tail->forgotten)
				emit_forgotten(e);
			emit_blame(e, tail->task);
			sk_x86_jump(e, SK_X86_JUMP, e->leave);
			continue;
		}
		/* mov ecx, 1, of a home; mov rdi, core; mov rax, [core.runtime]; call [rax + await]; test eax, eax;
		 * je reached; jmp aborted */
		if (tail->one_word)
			PUT(e, SET32, .rm = SK_RCX, .immediate = 1);
		PUT(e, MOVE64, .rm = SK_RDI, .reg = CORE);
		PUT(e, LOAD64, .reg = SK_RAX, .rm = CORE, .disp = CORE_RUNTIME);
		PUT(e, CALL_MEMORY, .rm = SK_RAX, .disp = RUNTIME_AWAIT);
		PUT(e, TEST32, .rm = SK_RAX, .reg = SK_RAX);
		sk_x86_jump(e, SK_X86_JUMP_EQUAL, tail->reached);
		sk_x86_jump(e, SK_X86_JUMP, e->aborted);
		awaits = true;
	}
	e->tails.count = 0;
	if (!awaits)
		return;
	sk_x86_set_label(e, e->aborted);
	/* mov eax, SK_STATUS_ABORTED; jmp leave */
	PUT(e, SET32, .rm = SK_RAX, .immediate = (uint32_t)SK_STATUS_ABORTED);
	sk_x86_jump(e, SK_X86_JUMP, e->leave);
}

void sk_x86_emit_publish(struct sk_x86_emitter *e, const struct sk_op *op)
{
	/* lea rax, [base + number]; mov [progress], rax */
	PUT(e, ADDRESS, .reg = SK_RAX, .rm = BASE, .disp = (int32_t)op->publish.number);
	PUT(e, STORE64, .reg = SK_RAX, .rm = PROGRESS);
}
