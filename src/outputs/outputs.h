/* What a link tells beside the package itself: the files and texts that its user has asked for, and when all files get
 * their names. In: a link whose parts are complete. Out: files, and what stands on standard output. */
#ifndef SK_OUTPUTS_H
#define SK_OUTPUTS_H

#include <stdbool.h>
#include <stdint.h>

struct sk_command_line;
struct sk_diag;
struct sk_link;

bool sk_outputs_want_facts(const struct sk_command_line *command);

/* Whether all that outputs are to be about is in the plan: a misspelt task is found before anything is made. False
 * after errors. */
bool sk_outputs_check(const struct sk_link *link);

/* Completes the map, and the text for standard output, for which there may be no memory: before there is a package. */
void sk_outputs_prepare(struct sk_link *link);

/* The package, and all files about it. False after an error. */
bool sk_outputs_write(const struct sk_link *link);

/* What was asked for about a link that has succeeded. */
void sk_outputs_print(const struct sk_link *link);

/* All files get their names if there has been no error. Whoever gets the exit status 1 finds them as they were. */
void sk_outputs_finish(struct sk_diag *diag);

#endif
