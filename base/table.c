/* Aligned columns; see text.h. */
#include "base/text.h"

#include <stdarg.h>
#include <string.h>

#include "base/arena.h"

/* A wider cell shifts the cells after it in its row. Otherwise all other rows would be as long as the longest. */
enum { MOST_PADDED = 256 };

void sk_table_init(struct sk_table *table, struct sk_arena *arena, const char *columns)
{
	*table = (struct sk_table){.arena = arena, .columns = columns};
}

void sk_table_cell(struct sk_table *table, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	char *text = sk_arena_print_list(table->arena, format, args);
	va_end(args);
	sk_array_push(table->arena, &table->cells, sk_arena_escape(table->arena, text));
}

/* Count the characters of UTF-8 text. */
static size_t width_of(const char *text)
{
	size_t width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

static void print_row(const struct sk_table *table, const char *const *cells, const size_t *widths, FILE *stream)
{
	size_t columns = strlen(table->columns), spaces = 0, last = columns;

	while (last && !*cells[last - 1])
		last--;
	for (size_t c = 0; c < last; c++) {
		size_t width = width_of(cells[c]), padding = widths[c] > width ? widths[c] - width : 0;

		if (!widths[c])
			continue;
		if (table->columns[c] == 'r')
			spaces += padding;
		fprintf(stream, "%*s%s", (int)spaces, "", cells[c]);
		spaces = 2 + (table->columns[c] == 'r' ? 0 : padding);
	}
	fputc('\n', stream);
}

void sk_table_print(struct sk_table *table, const char *indent, FILE *stream)
{
	size_t columns = strlen(table->columns);
	size_t *widths = SK_NEW_ARRAY(table->arena, size_t, columns);

	for (size_t i = 0; i < table->cells.count; i++) {
		size_t width = width_of(table->cells.items[i]);

		if (width > MOST_PADDED)
			width = MOST_PADDED;
		if (width > widths[i % columns])
			widths[i % columns] = width;
	}
	for (size_t i = 0; i + columns <= table->cells.count; i += columns) {
		fputs(indent, stream);
		print_row(table, &table->cells.items[i], widths, stream);
	}
	table->cells.count = 0;
}
