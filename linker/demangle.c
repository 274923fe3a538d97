/* Demangling for messages, printed lines and the map. Input: a mangled name of a C++ or Rust compiler. Output: the name
 * as in the source, "foo(int)". libiberty does the work; without it, and for names that it does not know, names stay
 * unchanged. */
#include "config.h"

#include <string.h>

#include "linker/linker-parts.h"

#ifdef HAVE_LIBIBERTY
#include <libiberty/demangle.h>
#include <setjmp.h>

#include "base/arena.h"
#include "linker/linker.h"

/* A mangled name can repeat parts of itself, so its demangled text can be larger than memory. */
enum { LONGEST = 16 << 10 };

struct text {
	char bytes[LONGEST];
	size_t size;
	jmp_buf too_long; /* the only way out of libiberty, which allocates only on its stack while it prints */
};

static void add_characters(const char *bytes, size_t size, void *context)
{
	struct text *text = context;

	if (size >= LONGEST - text->size)
		longjmp(text->too_long, 1);
	memcpy(text->bytes + text->size, bytes, size);
	text->size += size;
}

typedef int demangler(const char *name, int options, demangle_callbackref add, void *context);

static bool print_with(demangler *demangle, const char *name, struct text *text)
{
	text->size = 0;
	if (setjmp(text->too_long))
		return false;
	return demangle(name, DMGL_PARAMS | DMGL_ANSI, add_characters, text) && text->size;
}

const char *sk_demangled(const struct sk_linker *linker, const char *name)
{
	struct text text;

	if (linker->options.no_demangle || name[0] != '_' || (name[1] != 'Z' && name[1] != 'R'))
		return name;
	/* Rust's older names are C++ names with a hash. */
	if (!print_with(rust_demangle_callback, name, &text) && !print_with(cplus_demangle_v3_callback, name, &text))
		return name;
	return sk_arena_copy(linker->arena, text.bytes, text.size);
}

#else

const char *sk_demangled(const struct sk_linker *linker, const char *name)
{
	(void)linker;
	return name;
}

#endif
