/* Tables for people: cells of text come in, row by row; out come aligned columns, two spaces apart. */
#ifndef SK_TABLE_H
#define SK_TABLE_H

#include <stdio.h>

#include "base/arena.h"

struct sk_table {
	struct sk_arena *arena;
	const char *columns; /* a letter per column: 'l' or 'r', for its side */
	SK_ARRAY(const char *) cells;
};

void sk_table_init(struct sk_table *table, struct sk_arena *arena, const char *columns);

/* Adds the next cell, escaped: names come from files. */
void sk_table_cell(struct sk_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints and empties the table. A column without any text is left out, no line ends in spaces, and no cell is padded
 * beyond 256 characters. */
void sk_table_print(struct sk_table *table, const char *indent, FILE *stream);

#endif
