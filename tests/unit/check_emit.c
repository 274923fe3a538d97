/* Every instruction form of the encoder with every kind of operand. `check_emit assembly` prints them as text for the
 * system's assembler, `check_emit bytes` the encoder's bytes; tests/unit/emit.sh compares the two. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "format/x86_64/registers.h"
#include "stubs/x86_64/emitter.h"

static const char *const names64[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
				      "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
static const char *const names32[] = {"eax", "ecx", "edx",  "ebx",  "esp",  "ebp",  "esi",  "edi",
				      "r8d", "r9d", "r10d", "r11d", "r12d", "r13d", "r14d", "r15d"};
static const char *const names16[] = {"ax",  "cx",  "dx",   "bx",   "sp",   "bp",   "si",   "di",
				      "r8w", "r9w", "r10w", "r11w", "r12w", "r13w", "r14w", "r15w"};
static const char *const names8[] = {"al",  "cl",  "dl",   "bl",   "spl",  "bpl",  "sil",  "dil",
				     "r8b", "r9b", "r10b", "r11b", "r12b", "r13b", "r14b", "r15b"};

static bool print_bytes;

static void print_memory(const struct sk_x86_operands *o)
{
	printf("[%s", names64[o->rm]);
	if (o->scale)
		printf("+%s*%u", names64[o->index], o->scale);
	printf("%+" PRId32 "]", o->disp);
}

/* The row's assembly with the operands put in. */
static void print_assembly(enum sk_x86_form form, const struct sk_x86_operands *o, size_t length)
{
	static const struct {
		const char *operand;
		const char *const *names;
		bool rm;
	} registers[] = {
		{"r64", names64, false}, {"r32", names32, false}, {"r16", names16, false},
		{"r8", names8, false},	 {"s64", names64, true},  {"s32", names32, true},
	};
	const char *text = sk_x86_instructions[form].assembly;
	/* The mnemonic is not an operand. */
	const char *at = text + strcspn(text, " ");

	printf("%.*s", (int)(at - text), text);
	while (*at) {
		size_t word = strcspn(at, " ,[]+");
		bool found = false;

		for (size_t i = 0; i < sizeof(registers) / sizeof(registers[0]) && !found; i++) {
			if (word != strlen(registers[i].operand) || strncmp(at, registers[i].operand, word) != 0)
				continue;
			fputs(registers[i].names[registers[i].rm ? o->rm : o->reg], stdout);
			found = true;
		}
		if (found) {
			at += word;
		} else if (strncmp(at, "[m]", 3) == 0) {
			print_memory(o);
			at += 3;
		} else if (strncmp(at, "[rip+rel32]", 11) == 0) {
			printf("[rip%+" PRId32 "]", o->disp);
			at += 11;
		} else if (word == 1 && (*at == 'x' || *at == 'y')) {
			printf("xmm%u", *at == 'x' ? o->reg : o->rm);
			at++;
		} else if (strncmp(at, "rel", 3) == 0) {
			printf(".%+" PRId64, (int64_t)o->immediate + (int64_t)length);
			at += word;
		} else if (*at == 'i' && word > 1) {
			printf("%" PRId64, (int64_t)o->immediate);
			at += word;
		} else if (word) {
			printf("%.*s", (int)word, at);
			at += word;
		} else {
			putchar(*at++);
		}
	}
	putchar('\n');
}

static void show(enum sk_x86_form form, struct sk_x86_operands operands)
{
	uint8_t bytes[SK_X86_LONGEST];
	size_t length = sk_x86_encode(bytes, form, operands);

	if (print_bytes)
		fwrite(bytes, 1, length, stdout);
	else
		print_assembly(form, &operands, length);
}

/* The immediates are such that the assembler has no shorter form for them. */
static void vary_immediate(enum sk_x86_form form, struct sk_x86_operands o)
{
	static const int64_t small[] = {2, 0x55, 127, -128, -2}, medium[] = {200, -200, 0x12345678, -0x12345678},
			     large[] = {0x123456789abcdef, -0x123456789abcdef};
	const struct sk_x86_instruction *in = &sk_x86_instructions[form];
	const int64_t *values = in->immediate == 1 ? small : in->immediate == 4 ? medium : large;
	size_t count = in->immediate == 1 ? 5 : in->immediate == 4 ? 4 : 2;

	/* For shifts, only numbers below 64. */
	if (in->opcode == 0xc1)
		count = 2;
	/* add and sub with eax have a form of their own, which the dispatcher does not need. */
	if (in->opcode == 0x81 && o.rm == SK_RAX)
		return;
	if (in->immediate == 0)
		show(form, o);
	for (size_t i = 0; in->immediate && i < count; i++) {
		o.immediate = (uint64_t)values[i];
		show(form, o);
	}
}

static void vary_memory(enum sk_x86_form form, struct sk_x86_operands o)
{
	static const int32_t disps[] = {0, 8, -8, 127, 128, -128, -129, 0x12345678};
	static const uint8_t indices[] = {SK_RAX, SK_RBP, SK_R10, SK_R12, SK_R13};

	for (o.rm = SK_RAX; o.rm <= SK_R15; o.rm++) {
		for (size_t i = 0; i < sizeof(disps) / sizeof(disps[0]); i++) {
			o.disp = disps[i];
			o.scale = 0;
			vary_immediate(form, o);
			for (size_t k = 0; k < sizeof(indices) && (o.reg & 7) == SK_RBP; k++) {
				o.index = indices[k];
				for (o.scale = 1; o.scale <= 8; o.scale *= 2)
					vary_immediate(form, o);
			}
		}
	}
}

/* Its ModRM byte is part of the opcode. */
static bool is_fence(enum sk_x86_form form)
{
	return form == SK_X86_STORE_FENCE || form == SK_X86_LOAD_FENCE || form == SK_X86_FULL_FENCE;
}

static void vary_operands(enum sk_x86_form form, struct sk_x86_operands o)
{
	switch ((enum sk_x86_layout)sk_x86_instructions[form].layout) {
	case SK_X86_BARE:
		vary_immediate(form, o);
		break;
	case SK_X86_IN_OPCODE:
	case SK_X86_REGISTERS:
		/* sfence has no operands. */
		for (o.rm = SK_RAX; o.rm <= (is_fence(form) ? SK_RAX : SK_R15); o.rm++)
			vary_immediate(form, o);
		break;
	case SK_X86_WITH_MEMORY:
		vary_memory(form, o);
		break;
	case SK_X86_RIP:
		o.disp = 0x12345678;
		show(form, o);
		o.disp = -8;
		show(form, o);
		break;
	}
}

/* Return whether the form has an operand in ModRM's register field. */
static bool has_register(enum sk_x86_form form)
{
	const char *text = sk_x86_instructions[form].assembly;
	const char *operands = text + strcspn(text, " ");

	return strstr(operands, "r64") || strstr(operands, "r32") || strstr(operands, "r16") ||
	       strstr(operands, "r8") || strstr(operands, " x");
}

int main(int argc, char **argv)
{
	if (argc != 2 || (strcmp(argv[1], "assembly") != 0 && strcmp(argv[1], "bytes") != 0)) {
		fputs("usage: check_emit assembly|bytes\n", stderr);
		return 2;
	}
	print_bytes = argv[1][0] == 'b';
	if (!print_bytes)
		puts(".intel_syntax noprefix");
	for (unsigned form = 0; form < SK_X86_FORM_COUNT; form++) {
		struct sk_x86_operands operands = {0};

		for (; operands.reg <= (has_register(form) ? SK_R15 : SK_RAX); operands.reg++)
			vary_operands(form, operands);
	}
	return 0;
}
