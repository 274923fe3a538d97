/* The outputs of a link besides the package itself: the files and texts that the user has asked for, and the renaming
 * of all files. Input: a complete link. Output: files, and text on standard output. */
#ifndef SK_OUTPUTS_H
#define SK_OUTPUTS_H

#include <stdbool.h>
#include <stdint.h>

struct sk_command_line;
struct sk_diag;
struct sk_link;

bool sk_outputs_want_facts(const struct sk_command_line *command);

/* Check that every task that an output names is in the plan, so that a misspelt name is found before anything is made.
 * Return false after errors. */
bool sk_outputs_check(const struct sk_link *link);

/* Complete the map and the text for standard output. Memory for them may run out, so this comes before the package is
 * written. */
void sk_outputs_prepare(struct sk_link *link);

/* Write the package and all files about it. Return false after an error. */
bool sk_outputs_write(const struct sk_link *link);

/* Print the requested text about a link that has succeeded. */
void sk_outputs_print(const struct sk_link *link);

/* Rename all files to their final names if there has been no error. If sklink exits with status 1, the old files are
 * unchanged. */
void sk_outputs_finish(struct sk_diag *diag);

#endif
