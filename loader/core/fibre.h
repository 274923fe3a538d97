/* Fibres: stacks of their own on which a thread runs one thing after another, switching by hand. A fibre that has begun
 * stays on the thread that began it until it has ended; then any thread may begin it anew.
 *
 *   fibre.c          stacks, and what sanitizers and valgrind are told
 *   loader/arch/x86_64/fibre.S   the switch
 *
 * A thread's own stack is a fibre too, without memory of its own: the one that sk_fibre_of_thread makes. */
#ifndef SK_LOADER_FIBRE_H
#define SK_LOADER_FIBRE_H

#include <stdbool.h>
#include <stddef.h>

#include "loader/arch/machine.h"

/* Bytes below each stack that nobody may touch. A function without stack clash protection touches a large array
 * wherever it likes, far below the stack, where another fibre's may lie: the guard is as large as address space is
 * cheap, which costs no memory. A process of which address space is counted (RLIMIT_AS) has the small one. */
enum { SK_FIBRE_GUARD = 1 << 30, SK_FIBRE_SMALL_GUARD = 256 << 10 };

struct sk_fibre {
	void *sp; /* while it does not run: where its registers lie on its stack; NULL: it has not begun */
	char *stack; /* lowest byte; the guard lies below. A thread's: NULL, or what only AddressSanitizer wants to know
		      */
	size_t size, guard; /* bytes of the stack, and of its guard */
	struct sk_fibre *(*run)(void *context);
	void *context;
	bool escaped; /* a signal handler sends the thread here: see sk_fibre_escape */
	void *tsan; /* ThreadSanitizer's fibre; NULL: not prepared yet */
	void *fake_stack; /* AddressSanitizer's, while it does not run */
	unsigned valgrind; /* number of the stack */
};

/* Makes a stack of `size` bytes (rounded up to pages), which takes memory only as far as it is used. False: there is no
 * room, and errno says why. */
bool sk_fibre_open(struct sk_fibre *fibre, size_t size);

/* Frees the stack. The fibre must not run. */
void sk_fibre_close(struct sk_fibre *fibre);

/* The calling thread's own stack; valid while it lasts. */
void sk_fibre_of_thread(struct sk_fibre *fibre);

/* The next switch to the fibre calls run(context), in the standard modes of floating point, whatever those of the
 * thread are. It ends with the fibre that goes on, which has begun, or by a switch. Whatever the fibre did before is
 * forgotten. */
void sk_fibre_prepare(struct sk_fibre *fibre, struct sk_fibre *(*run)(void *context), void *context);

/* Leaves `from`, which runs, and goes on where `to` was left. Returns when somebody switches back. Registers that a
 * function must preserve are preserved, and modes and exception flags of floating point. `last` says that nobody will.
 */
void sk_fibre_switch(struct sk_fibre *from, struct sk_fibre *to, bool last);

/* For signal handlers: where a thread must go on, with the stack pointer to->sp, to leave its fibre for good and arrive
 * in `to`. The handler also sets to->escaped. */
void sk_fibre_escape(void);

/* Foreign code may return with control state that other code does not expect. This puts right what a switch does not:
 * before the thread does anything else. */
void sk_fibre_tidy(void);

/* Whether the address lies in the fibre's stack; in its guard. */
bool sk_fibre_holds(const struct sk_fibre *fibre, const void *address);
bool sk_fibre_guards(const struct sk_fibre *fibre, const void *address);

#endif
