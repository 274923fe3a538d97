/* See package.h. Names of launches are C identifiers; sonames and file names may be any text. */
#include "src/package/package.h"

#include <ctype.h>
#include <string.h>

#include "base/arena.h"
#include "format/plan/plan.h"

/* Replace each character except letters, digits and underscores by an underscore. */
static char *c_identifier(struct sk_arena *arena, const char *text, size_t length)
{
	char *name = sk_arena_copy(arena, text, length);

	for (char *c = name; *c; c++)
		if (!isalnum((unsigned char)*c) || (unsigned char)*c >= 0x80)
			*c = '_';
	return name;
}

const char *sk_package_stem(struct sk_arena *arena, const char *text)
{
	const char *slash = text ? strrchr(text, '/') : NULL, *name = slash ? slash + 1 : text;
	size_t length = name ? strcspn(name, ".") : 0;

	return length ? c_identifier(arena, name, length) : NULL;
}

const char *sk_package_name(struct sk_arena *arena, const char *given, const struct sk_plan_view *plan)
{
	const char *launch = plan->launch_count ? sk_plan_string(&plan->launches[0].name) : "package";

	if (given)
		return given;
	if (!strncmp(launch, "sk_", 3) && launch[3])
		launch += 3;
	return c_identifier(arena, launch, strlen(launch));
}

const char *sk_plan_symbol_name(struct sk_arena *arena, const char *package_name, bool relocatable)
{
	return relocatable ? sk_arena_print(arena, "sk_plan_%s", package_name) : "sk_plan";
}
