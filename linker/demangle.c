/* Names as programmers write them: what compilers of C++ and Rust have made of a name comes in, "foo(int)" goes out,
 * for messages, lines and the map. libiberty knows how; without it, and where it does not know, names stay as
 * they are. */
#include "config.h"

#include <string.h>

#include "linker/linker-parts.h"

#ifdef HAVE_LIBIBERTY
#include <libiberty/demangle.h>
#include <setjmp.h>

#include "base/arena.h"
#include "linker/linker.h"

/* A name can say "the same twice" again and again, and so stand for more text than there is memory. */
enum { LONGEST = 16 << 10 };

struct text {
	char bytes[LONGEST];
	size_t size;
	jmp_buf too_long; /* the only way out of libiberty, which keeps nothing but its stack while it prints */
};

static void add(const char *bytes, size_t size, void *context)
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
	return demangle(name, DMGL_PARAMS | DMGL_ANSI, add, text) && text->size;
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
