/* The table of -z keywords; see command-parts.h. Most of ld's choices are settled for packages: asking for the settled
 * value is accepted, and asking for the opposite is an error that gives the reason. */
#include "src/command/command-parts.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/ranges.h"
#include "src/command/command.h"

enum { MINIMUM_PAGE = 4096, MAXIMUM_PAGE = 16 << 20 };

enum meaning { ALWAYS, NEVER, SET, CLEAR, PAGE_SIZE, COMMON_PAGE_SIZE };

static const struct keyword {
	const char *name;
	enum meaning meaning;
	size_t field; /* for SET and CLEAR */
	const char *reason; /* for NEVER */
} keywords[] = {
	{"max-page-size", PAGE_SIZE, 0, NULL},
	{"common-page-size", COMMON_PAGE_SIZE, 0, NULL},
	{"relro", CLEAR, offsetof(struct sk_command_line, no_relro), NULL},
	{"norelro", SET, offsetof(struct sk_command_line, no_relro), NULL},
	{"nodelete", SET, offsetof(struct sk_command_line, no_delete), NULL},
	{"muldefs", SET, offsetof(struct sk_command_line, allow_multiple_definition), NULL},
	{"noexecstack", ALWAYS, 0, NULL},
	{"execstack", NEVER, 0, "the stack of a package is not executable"},
	{"text", ALWAYS, 0, NULL},
	{"notext", NEVER, 0, "the loader does not write into code; recompile such objects with -fPIC"},
	{"now", ALWAYS, 0, NULL},
	{"lazy", NEVER, 0, "imports are bound when the package is loaded"},
	{"defs", ALWAYS, 0, NULL},
	{"undefs", NEVER, 0, "each undefined symbol must be one of the known imports"},
	{"separate-code", ALWAYS, 0, NULL},
	{"origin", ALWAYS, 0, NULL},
	{"combreloc", ALWAYS, 0, NULL},
	{"pack-relative-relocs", ALWAYS, 0, NULL},
	{"nopack-relative-relocs", ALWAYS, 0, NULL},
	{"nodlopen", NEVER, 0, "a package is made to be loaded"},
	{"initfirst", NEVER, 0, "constructors run when the package is loaded, and in no special order among libraries"},
	{"interpose", NEVER, 0, "a package's exports are only for programs that look them up there"},
	{"stack-size", NEVER, 0, "kernels run on the stacks that libskrt gives its cores, or on their caller's"},
	{"noseparate-code", NEVER, 0, "code and data have pages of their own"},
};

enum { KEYWORD_COUNT = sizeof(keywords) / sizeof(keywords[0]) };

/* Return the page size; 0 after an error. */
static uint64_t read_size(struct sk_diag *diag, struct sk_place place, const char *keyword, const char *value)
{
	char *end = NULL;

	errno = 0;
	unsigned long long size = value && *value >= '0' && *value <= '9' ? strtoull(value, &end, 0) : 0;

	if (end && !*end && !errno && size >= MINIMUM_PAGE && size <= MAXIMUM_PAGE && sk_is_power_of_two(size))
		return size;
	sk_error(diag, place, "-z %s wants a power of two from %d to %d, not '%s'", keyword, MINIMUM_PAGE, MAXIMUM_PAGE,
		 value ? value : "");
	return 0;
}

static void unknown_keyword(struct sk_diag *diag, struct sk_place place, const char *keyword)
{
	const char *names[KEYWORD_COUNT];

	for (int i = 0; i < KEYWORD_COUNT; i++)
		names[i] = keywords[i].name;
	sk_error(diag, place, "unknown keyword '-z %s'%s", keyword,
		 sk_did_you_mean(diag->arena, keyword, names, KEYWORD_COUNT));
}

void sk_keyword_apply(struct sk_diag *diag, struct sk_place place, const char *keyword, struct sk_command_line *command)
{
	const char *equals = strchr(keyword, '='), *value = equals ? equals + 1 : NULL;
	const char *name = sk_arena_copy(diag->arena, keyword, equals ? (size_t)(equals - keyword) : strlen(keyword));
	int i = 0;

	while (i < KEYWORD_COUNT && strcmp(keywords[i].name, name))
		i++;
	if (i == KEYWORD_COUNT) {
		unknown_keyword(diag, place, name);
		return;
	}

	const struct keyword *known = &keywords[i];

	if (known->meaning == NEVER)
		sk_error(diag, place, "-z %s: %s", name, known->reason);
	else if (known->meaning == PAGE_SIZE)
		command->max_page_size = read_size(diag, place, name, value);
	else if (known->meaning == COMMON_PAGE_SIZE)
		read_size(diag, place, name, value);
	else if (value)
		sk_error(diag, place, "-z %s takes no value", name);
	else if (known->meaning != ALWAYS)
		*(bool *)((char *)command + known->field) = known->meaning == SET;
}
