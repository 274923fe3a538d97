/* The registers of a thread on x86-64: where a signal interrupted it, and where it continues. */
#include "config.h"

#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "loader/arch/machine.h"
#include "loader/arch/x86_64/refusal.h"

enum {
	TRAP_FLAG = 0x100, /* a flag: every instruction raises SIGTRAP */
	ERROR_WRITE = 1 << 1, /* of a page fault's error code: the access was a write … */
	ERROR_FETCH = 1 << 4, /* … of an instruction */
	STACK_FAULT = 12, /* exceptions … */
	GENERAL_PROTECTION = 13,
	PAGE_FAULT = 14,
};

static struct sk_refusal find_refusal(const greg_t *registers, int number)
{
	greg_t exception = registers[REG_TRAPNO];

	if ((number != SIGSEGV && number != SIGBUS) || (exception != STACK_FAULT && exception != GENERAL_PROTECTION))
		return (struct sk_refusal){.kind = SK_REFUSAL_NONE};
	return sk_refusal_find(registers, exception == STACK_FAULT);
}

struct sk_interrupted sk_context_read(const void *context, int number)
{
	const greg_t *registers = ((const ucontext_t *)context)->uc_mcontext.gregs;
	/* A trap is raised after its instruction, which may be the function's last, so step back into it. */
	uint64_t pc = (uint64_t)registers[REG_RIP] - (number == SIGTRAP ? 1 : 0);

	return (struct sk_interrupted){
		.pc = (const void *)(uintptr_t)pc,
		.sp = (const void *)(uintptr_t)registers[REG_RSP],
		.write = registers[REG_ERR] & ERROR_WRITE,
		.fetch = registers[REG_TRAPNO] == PAGE_FAULT && registers[REG_ERR] & ERROR_FETCH,
		.refusal = find_refusal(registers, number),
	};
}

void sk_context_go_on(void *context, void (*place)(void), void *sp)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;

	registers[REG_EFL] &= ~(greg_t)TRAP_FLAG;
	registers[REG_RSP] = (greg_t)(uintptr_t)sp;
	registers[REG_RIP] = (greg_t)(uintptr_t)place;
}

/* ---- the thread's own memory: the base of FS ---- */

enum { SET_FS = 0x1002, GET_FS = 0x1003 }; /* asm/prctl.h */

static const uint64_t mark = 0x6b736472636f7265;

/* The C library's wrapper would set errno, which is in the thread's own memory. */
static long arch_prctl(int operation, uintptr_t argument)
{
	long result = SYS_arch_prctl;

	__asm__ volatile("syscall" : "+a"(result) : "D"(operation), "S"(argument) : "rcx", "r11", "memory");
	return result;
}

void sk_thread_record_make(struct sk_thread_record *record)
{
	*record = (struct sk_thread_record){.self = record, .mark = mark};
	__asm__ volatile("movq %%fs:0, %0" : "=r"(record->thread)); /* FS:0 holds its own address */
}

/* Compilers must not guard this function's stack: the guard's value is in the thread's own memory. */
bool sk_context_find_thread(const void *context)
{
	struct sk_thread_record *record = ((const ucontext_t *)context)->uc_stack.ss_sp;

	if (!record || record->self != record || record->mark != mark ||
	    arch_prctl(GET_FS, (uintptr_t)&record->found) || record->found == record->thread)
		return false;
	arch_prctl(SET_FS, record->thread);
	return true;
}
