/* The machine that libskrt runs on, for all other rooms of the runtime. Here is what must be inline, since awaits and
 * traces use it:
 *
 *   SK_MACHINE                   its number in ELF headers and plans (EM_…)
 *   SK_CALL_SIZE                 bytes of a dispatcher's call of a kernel
 *   sk_pause()                   spends a moment of a loop that waits
 *   sk_counter()                 the counter that dispatchers note times of, read when what stands before has been
 * executed sk_order_nontemporal()       what this thread has stored past its caches is seen before what it stores from
 * here on sk_call_target(call)         where a dispatcher's call of a kernel leads that stands at the address; NULL: it
 * is none sk_dynamic_kind(type)        what a relocation of a package wants
 *
 * and below what need not be inline. A machine is a header beside this one and a folder. */
#ifndef SK_LOADER_MACHINE_H
#define SK_LOADER_MACHINE_H

#include <stdint.h>

/* What relocations of loaded packages want: the word at the place becomes the image's bias and the addend, or the
 * symbol's address. */
enum sk_dynamic_kind { SK_DYNAMIC_UNSUPPORTED, SK_DYNAMIC_BIAS, SK_DYNAMIC_SYMBOL };

#if defined(__x86_64__)
#include "loader/arch/x86_64.h"
#else
#error "libskrt runs on x86-64 only so far"
#endif

/* What an unsupported type of relocation stands for, for messages. */
const char *sk_dynamic_name(uint32_t type);

#endif
