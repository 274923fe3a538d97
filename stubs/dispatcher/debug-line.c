/* Debug information; see dispatcher.h. */
#include "stubs/dispatcher/dispatcher.h"

#include <string.h>

#include "base/arena.h"

/* DWARF 4 section 7. */
enum {
	VERSION = 4,
	ADDRESS_SIZE = 8,

	DW_TAG_COMPILE_UNIT = 0x11,
	DW_TAG_SUBPROGRAM = 0x2e,
	DW_CHILDREN_NO = 0,
	DW_CHILDREN_YES = 1,

	DW_AT_NAME = 0x03,
	DW_AT_STMT_LIST = 0x10,
	DW_AT_LOW_PC = 0x11,
	DW_AT_HIGH_PC = 0x12,
	DW_AT_LANGUAGE = 0x13,
	DW_AT_PRODUCER = 0x25,
	DW_AT_DECL_FILE = 0x3a,
	DW_AT_DECL_LINE = 0x3b,

	DW_FORM_ADDR = 0x01,
	DW_FORM_DATA2 = 0x05,
	DW_FORM_DATA4 = 0x06,
	DW_FORM_STRING = 0x08,
	DW_FORM_DATA1 = 0x0b,
	DW_FORM_SEC_OFFSET = 0x17,

	DW_LANG_ASSEMBLER = 0x8001, /* DW_LANG_Mips_Assembler, which assemblers use */

	DW_LNS_COPY = 1,
	DW_LNS_ADVANCE_PC = 2,
	DW_LNS_ADVANCE_LINE = 3,
	DW_LNE_END_SEQUENCE = 1,
	DW_LNE_SET_ADDRESS = 2,
};

/* Numbers of the abbreviations. */
enum { UNIT = 1, FUNCTION = 2 };

/* Special opcodes: one byte for a line distance from -5 to 8 and a short code distance. */
enum { LINE_BASE = -5, LINE_RANGE = 14, OPCODE_BASE = 13 };

/* ---- bytes ---- */

static uint8_t *add_room(struct sk_debug *debug, enum sk_debug_part part, size_t size)
{
	__typeof__(debug->parts[part].bytes) *bytes = &debug->parts[part].bytes;
	uint8_t *room;

	while (bytes->capacity < bytes->count + size)
		bytes->items = sk_array_reserve(debug->arena, bytes->items, bytes->capacity, &bytes->capacity, 1);
	room = bytes->items + bytes->count;
	bytes->count += size;
	return room;
}

static void put_value(struct sk_debug *debug, enum sk_debug_part part, uint64_t value, size_t size)
{
	memcpy(add_room(debug, part, size), &value, size);
}

static void put_text(struct sk_debug *debug, enum sk_debug_part part, const char *text)
{
	size_t size = strlen(text) + 1;

	memcpy(add_room(debug, part, size), text, size);
}

static void put_uleb128(struct sk_debug *debug, enum sk_debug_part part, uint64_t value)
{
	do {
		put_value(debug, part, (value & 0x7f) | (value > 0x7f ? 0x80 : 0), 1);
		value >>= 7;
	} while (value);
}

static void put_sleb128(struct sk_debug *debug, enum sk_debug_part part, int64_t value)
{
	bool more = true;

	while (more) {
		uint64_t low = (uint64_t)value & 0x7f;

		value = (value - (int64_t)low) / 128;
		more = value != (low & 0x40 ? -1 : 0);
		put_value(debug, part, low | (more ? 0x80 : 0), 1);
	}
}

static void put_reference(struct sk_debug *debug, enum sk_debug_part part, struct sk_debug_reference reference)
{
	reference.offset = debug->parts[part].bytes.count;
	sk_array_push(debug->arena, &debug->parts[part].references, reference);
	put_value(debug, part, 0, reference.part == SK_DEBUG_PARTS ? ADDRESS_SIZE : 4);
}

static void put_address(struct sk_debug *debug, enum sk_debug_part part, uint64_t offset)
{
	put_reference(debug, part, (struct sk_debug_reference){.part = SK_DEBUG_PARTS, .addend = offset});
}

static void put_offset(struct sk_debug *debug, enum sk_debug_part part, enum sk_debug_part target)
{
	put_reference(debug, part, (struct sk_debug_reference){.part = target});
}

/* The 32-bit length at `at` counts the bytes after it. */
static void set_length(struct sk_debug *debug, enum sk_debug_part part, uint64_t at)
{
	uint32_t length = (uint32_t)(debug->parts[part].bytes.count - at - 4);

	memcpy(debug->parts[part].bytes.items + at, &length, sizeof(length));
}

/* ---- .debug_abbrev, .debug_info ---- */

static void put_abbreviations(struct sk_debug *debug)
{
	/* clang-format off */
	static const uint8_t bytes[] = {
		UNIT, DW_TAG_COMPILE_UNIT, DW_CHILDREN_YES,
		DW_AT_PRODUCER, DW_FORM_STRING,
		DW_AT_LANGUAGE, DW_FORM_DATA2,
		DW_AT_NAME, DW_FORM_STRING,
		DW_AT_STMT_LIST, DW_FORM_SEC_OFFSET,
		DW_AT_LOW_PC, DW_FORM_ADDR,
		DW_AT_HIGH_PC, DW_FORM_DATA4, /* from low_pc */
		0, 0,
		FUNCTION, DW_TAG_SUBPROGRAM, DW_CHILDREN_NO,
		DW_AT_NAME, DW_FORM_STRING,
		DW_AT_DECL_FILE, DW_FORM_DATA1,
		DW_AT_DECL_LINE, DW_FORM_DATA4,
		DW_AT_LOW_PC, DW_FORM_ADDR,
		DW_AT_HIGH_PC, DW_FORM_DATA4,
		0, 0,
		0,
	};
	/* clang-format on */

	memcpy(add_room(debug, SK_DEBUG_ABBREV, sizeof(bytes)), bytes, sizeof(bytes));
}

static void put_unit(struct sk_debug *debug, const char *source, const char *producer, const struct sk_code *code)
{
	put_value(debug, SK_DEBUG_INFO, 0, 4); /* length: see sk_debug_build */
	put_value(debug, SK_DEBUG_INFO, VERSION, 2);
	put_offset(debug, SK_DEBUG_INFO, SK_DEBUG_ABBREV);
	put_value(debug, SK_DEBUG_INFO, ADDRESS_SIZE, 1);
	put_value(debug, SK_DEBUG_INFO, UNIT, 1);
	put_text(debug, SK_DEBUG_INFO, producer);
	put_value(debug, SK_DEBUG_INFO, DW_LANG_ASSEMBLER, 2);
	put_text(debug, SK_DEBUG_INFO, source);
	put_offset(debug, SK_DEBUG_INFO, SK_DEBUG_LINE);
	put_address(debug, SK_DEBUG_INFO, 0);
	put_value(debug, SK_DEBUG_INFO, code->bytes.count, 4);
}

/* Return the line of the code at the offset; *row is the row where the last search ended. */
static uint32_t line_at(const struct sk_plan_view *plan, const struct sk_code *code, uint64_t offset, size_t *row)
{
	while (*row + 1 < code->parts.count && code->parts.items[*row + 1].offset <= offset)
		++*row;
	return plan->tasks[code->parts.items[*row].task].line;
}

static void put_functions(struct sk_debug *debug, const struct sk_plan_view *plan, const struct sk_code *code)
{
	size_t row = 0;

	for (size_t i = 0; i < code->symbols.count; i++) {
		const struct sk_code_symbol *symbol = &code->symbols.items[i];

		put_value(debug, SK_DEBUG_INFO, FUNCTION, 1);
		put_text(debug, SK_DEBUG_INFO, symbol->name);
		put_value(debug, SK_DEBUG_INFO, 1, 1); /* the file */
		put_value(debug, SK_DEBUG_INFO, line_at(plan, code, symbol->offset, &row), 4);
		put_address(debug, SK_DEBUG_INFO, symbol->offset);
		put_value(debug, SK_DEBUG_INFO, symbol->size, 4);
	}
	put_value(debug, SK_DEBUG_INFO, 0, 1); /* no more functions */
}

/* ---- .debug_line ---- */

static void put_line_header(struct sk_debug *debug, const char *source)
{
	static const uint8_t operands[OPCODE_BASE - 1] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
	uint64_t start;

	put_value(debug, SK_DEBUG_LINE, 0, 4); /* length: see sk_debug_build */
	put_value(debug, SK_DEBUG_LINE, VERSION, 2);
	start = debug->parts[SK_DEBUG_LINE].bytes.count;
	put_value(debug, SK_DEBUG_LINE, 0, 4); /* length of the header */
	put_value(debug, SK_DEBUG_LINE, 1, 1); /* code addresses are counted in bytes */
	put_value(debug, SK_DEBUG_LINE, 1, 1); /* operations of an instruction */
	put_value(debug, SK_DEBUG_LINE, 1, 1); /* each row is a good breakpoint */
	put_value(debug, SK_DEBUG_LINE, (uint8_t)LINE_BASE, 1);
	put_value(debug, SK_DEBUG_LINE, LINE_RANGE, 1);
	put_value(debug, SK_DEBUG_LINE, OPCODE_BASE, 1);
	memcpy(add_room(debug, SK_DEBUG_LINE, sizeof(operands)), operands, sizeof(operands));
	put_value(debug, SK_DEBUG_LINE, 0, 1); /* no directories */
	put_text(debug, SK_DEBUG_LINE, source);
	put_value(debug, SK_DEBUG_LINE, 0, 3); /* directory, time and size: unknown */
	put_value(debug, SK_DEBUG_LINE, 0, 1); /* no more files */
	set_length(debug, SK_DEBUG_LINE, start);
}

/* Add a row of the line table. */
static void put_row(struct sk_debug *debug, uint64_t code_distance, int64_t line_distance)
{
	uint64_t special = UINT64_MAX;

	if (line_distance >= LINE_BASE && line_distance < LINE_BASE + LINE_RANGE && code_distance < UINT8_MAX)
		special = (uint64_t)(line_distance - LINE_BASE) + LINE_RANGE * code_distance + OPCODE_BASE;
	if (special <= UINT8_MAX) {
		put_value(debug, SK_DEBUG_LINE, special, 1);
		return;
	}
	put_value(debug, SK_DEBUG_LINE, DW_LNS_ADVANCE_PC, 1);
	put_uleb128(debug, SK_DEBUG_LINE, code_distance);
	put_value(debug, SK_DEBUG_LINE, DW_LNS_ADVANCE_LINE, 1);
	put_sleb128(debug, SK_DEBUG_LINE, line_distance);
	put_value(debug, SK_DEBUG_LINE, DW_LNS_COPY, 1);
}

static void put_extended(struct sk_debug *debug, unsigned opcode, size_t size)
{
	put_value(debug, SK_DEBUG_LINE, 0, 1);
	put_uleb128(debug, SK_DEBUG_LINE, 1 + size);
	put_value(debug, SK_DEBUG_LINE, opcode, 1);
}

static void put_rows(struct sk_debug *debug, const struct sk_plan_view *plan, const struct sk_code *code)
{
	uint64_t place = 0;
	uint32_t line = 1;

	put_extended(debug, DW_LNE_SET_ADDRESS, ADDRESS_SIZE);
	put_address(debug, SK_DEBUG_LINE, 0);
	for (size_t i = 0; i < code->parts.count; i++) {
		const struct sk_code_part *part = &code->parts.items[i];
		uint32_t next = plan->tasks[part->task].line;

		put_row(debug, part->offset - place, (int64_t)next - line);
		place = part->offset;
		line = next;
	}
	put_value(debug, SK_DEBUG_LINE, DW_LNS_ADVANCE_PC, 1);
	put_uleb128(debug, SK_DEBUG_LINE, code->bytes.count - place);
	put_extended(debug, DW_LNE_END_SEQUENCE, 0);
}

void sk_debug_build(struct sk_debug *debug, struct sk_arena *arena, const char *source, const char *producer,
		    const struct sk_plan_view *plan, const struct sk_code *code)
{
	static const char *const names[] = {
		[SK_DEBUG_INFO] = ".debug_info", [SK_DEBUG_LINE] = ".debug_line", [SK_DEBUG_ABBREV] = ".debug_abbrev"};

	*debug = (struct sk_debug){.arena = arena};
	for (int i = 0; i < SK_DEBUG_PARTS; i++)
		debug->parts[i].name = names[i];
	put_abbreviations(debug);
	put_unit(debug, source, producer, code);
	put_functions(debug, plan, code);
	set_length(debug, SK_DEBUG_INFO, 0);
	put_line_header(debug, source);
	put_rows(debug, plan, code);
	set_length(debug, SK_DEBUG_LINE, 0);
}
