/* The table of -z keywords; see keywords.h. Most of what ld lets its users choose is settled for packages: asking for
 * it is right, and asking for the opposite an error that says why. */
#include "src/command/keywords.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/checked.h"

enum { MINIMUM_PAGE = 4096, MAXIMUM_PAGE = 16 << 20 };

static const char page_size[] = "max-page-size";

enum meaning { ALWAYS, NEVER, PROTECT, LEAVE_WRITABLE, PAGE_SIZE };

static const struct keyword {
	const char *name;
	enum meaning meaning;
	const char *reason; /* of NEVER */
} keywords[] = {
	{page_size, PAGE_SIZE, NULL},
	{"relro", PROTECT, NULL},
	{"norelro", LEAVE_WRITABLE, NULL},
	{"noexecstack", ALWAYS, NULL},
	{"execstack", NEVER, "the stack of a package is not executable"},
	{"text", ALWAYS, NULL},
	{"notext", NEVER, "the loader does not write into code; recompile with -fPIC what would need it"},
	{"now", ALWAYS, NULL},
	{"lazy", NEVER, "imports are bound when the package is loaded"},
	{"defs", ALWAYS, NULL},
	{"undefs", NEVER, "what is not defined must be one of the known imports"},
	{"separate-code", ALWAYS, NULL},
	{"noseparate-code", NEVER, "code and data have pages of their own"},
};

enum { KEYWORD_COUNT = sizeof(keywords) / sizeof(keywords[0]) };

static void set_page_size(struct sk_diag *diag, struct sk_place place, const char *value,
			  struct sk_command_line *command)
{
	char *end = NULL;

	errno = 0;
	unsigned long long size = value && *value >= '0' && *value <= '9' ? strtoull(value, &end, 0) : 0;

	if (!end || *end || errno || size < MINIMUM_PAGE || size > MAXIMUM_PAGE || !sk_is_power_of_two(size))
		sk_error(diag, place, "-z %s wants a power of two from %d to %d, not '%s'", page_size, MINIMUM_PAGE,
			 MAXIMUM_PAGE, value ? value : "");
	else
		command->max_page_size = size;
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
	if (value && keywords[i].meaning != PAGE_SIZE) {
		sk_error(diag, place, "-z %s takes no value", name);
		return;
	}
	switch (keywords[i].meaning) {
	case ALWAYS:
		break;
	case NEVER:
		sk_error(diag, place, "-z %s: %s", name, keywords[i].reason);
		break;
	case PROTECT:
	case LEAVE_WRITABLE:
		command->no_relro = keywords[i].meaning == LEAVE_WRITABLE;
		break;
	case PAGE_SIZE:
		set_page_size(diag, place, value, command);
		break;
	}
}
