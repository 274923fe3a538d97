/* Files of switches: JSON, or lines of text. */
#ifndef SK_READ_SWITCHES_H
#define SK_READ_SWITCHES_H

#include "graph/manager/switches.h"

/* Reads the switches of the text, and all errors in it. False after one. */
bool sk_switches_parse(struct sk_arena *arena, struct sk_diag *diag, const char *file, const void *text, size_t size,
		       struct sk_switches *switches);

/* The same for a file. */
bool sk_switches_read(struct sk_arena *arena, struct sk_diag *diag, const char *file, struct sk_switches *switches);

#endif
