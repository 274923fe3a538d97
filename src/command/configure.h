/* What the command line says to the linker. In: a command that has been understood. Out: a linker that is set up, and
 * knows the inputs and what else the package depends on. */
#ifndef SK_CONFIGURE_H
#define SK_CONFIGURE_H

#include "base/timing.h"
#include "linker/linker.h"
#include "src/command/command.h"

/* The caller destroys it. timing: NULL if nobody wants to know. lines: the stream that the linker prints to, which may
 * become another one. */
struct sk_linker *sk_command_create_linker(const struct sk_command_line *command, struct sk_arena *arena,
					   struct sk_diag *diag, struct sk_timing *timing, FILE **lines);

/* What the linker does not read itself. */
void sk_command_add_dependencies(const struct sk_command_line *command, struct sk_linker *linker);

/* Threads read the inputs while this one reads the manifest. */
void sk_command_read_ahead(const struct sk_command_line *command, struct sk_arena *arena, struct sk_linker *linker);

/* All inputs, in the order of the command line, and the symbols that it requires. Errors are in the sink. */
void sk_command_add_inputs(const struct sk_command_line *command, struct sk_linker *linker, struct sk_timing *timing);

/* No output is one of the files that the linker has read: a file that replaces one of those it is made from would be a
 * loss that nobody wants. False after an error. */
bool sk_command_check_outputs(const struct sk_command_line *command, struct sk_diag *diag, struct sk_linker *linker);

#endif
