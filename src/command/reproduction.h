/* --repro: a tar archive with all that a link has read, so that it can be done again elsewhere. `tar xf FILE`, then
 * `sklink @response.txt` in its folder makes the same package or says the same errors.
 *
 * Files lie in the archive where they lie on this machine, from the root on, so that paths which files hold (of
 * constants, of members of thin archives) still lead to them; --chroot=. takes care of those that start with a slash.
 */
#ifndef SK_REPRODUCTION_H
#define SK_REPRODUCTION_H

#include "linker/linker.h"
#include "src/command/command.h"

/* Writes the archive that the command asks for; `flags` are those of fusion that the environment has, NULL if they do
 * not count. False after an error in the sink. */
bool sk_reproduction_write(struct sk_diag *diag, const struct sk_command_line *command, const char *flags,
			   struct sk_linker *linker);

#endif
