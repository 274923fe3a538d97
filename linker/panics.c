/* Panics of Rust. A panic ends the launch, by a trap with the panic's name. Its machinery (messages, backtraces, counts
 * in thread-local variables, unwinding) is in each staticlib, and would need files, threads and locks. Input: names.
 * Output: the functions that are replaced by traps, whether an input defines them or not. With -r they stay.
 *
 * A panic that code would catch (catch_unwind) ends the launch as well. Where the inputs have a panic handler of their
 * own (#[panic_handler]), it handles them. */
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "linker/linker-parts.h"
#include "linker/linker.h"
#include "linker/object.h"

/* Return whether the name, in one of Rust's two ways to write them, is of a function in core::panicking, the module by
 * which all code of Rust panics, or of one that std and alloc have beside it. The older way is that of C++, with a hash
 * at the end; the newer one has a hash of the crate before its name, and I before the names of generic functions. */
static bool is_of_panics(const char *name)
{
	static const char *const functions[] = {"4core9panicking", "3std9panicking11begin_panic",
						"3std9panicking20rust_panic_with_hook",
						"3std9panicking15panic_with_hook", "5alloc5alloc18handle_alloc_error"};
	bool older = sk_starts_with(name, "_ZN");

	if (!older && !sk_starts_with(name, "_RNvNtCs") && !sk_starts_with(name, "_RINvNtCs"))
		return false;
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		const char *found = older ? name + 3 : strstr(name, functions[i]);
		size_t length = strlen(functions[i]);

		if (!found || !sk_starts_with(found, functions[i]) || (!older && found[-1] != '_'))
			continue;
		/* A name in the module; or else the whole function, not a closure in it. */
		if (i == 0 ? found[length] >= '0' && found[length] <= '9'
			   : !older || sk_starts_with(found + length, "17h"))
			return true;
	}
	return false;
}

/* Return whether an object that is not of Rust's library defines the panic handler. */
static bool has_handler(const struct sk_linker *linker)
{
	static const char name[] = "rust_begin_unwind";
	sk_symbol symbol = sk_map_find(&linker->symbol_numbers, name, strlen(name));
	uint32_t i = symbol == SK_NONE ? SK_NONE : linker->symbols.items[symbol].first_definition;

	for (; i != SK_NONE; i = linker->definitions.items[i].next)
		if (!sk_is_of_rust(linker->objects.items[linker->definitions.items[i].object]))
			return true;
	return false;
}

bool sk_is_panic(struct sk_linker *linker, const char *name)
{
	if (linker->options.relocatable || !is_of_panics(name) || has_handler(linker))
		return false;
	linker->panics = true;
	return true;
}

void sk_panic_note(struct sk_linker *linker, sk_symbol number)
{
	if (is_of_panics(linker->symbols.items[number].name))
		sk_array_push(linker->arena, &linker->panic_functions, number);
}

void sk_panics_end(struct sk_linker *linker)
{
	for (size_t i = 0; i < linker->panic_functions.count; i++) {
		struct sk_linker_symbol *symbol = &linker->symbols.items[linker->panic_functions.items[i]];

		if (symbol->rank == SK_DEFINITION_ASSIGNED || !sk_is_panic(linker, symbol->name))
			continue;
		symbol->rank = SK_DEFINITION_NONE;
		symbol->object = NULL;
		symbol->section = NULL;
		symbol->value = symbol->size = 0;
	}
	linker->panic_functions.count = 0;
}

bool sk_is_of_unwinding(const struct sk_linker *linker, const char *name)
{
	return linker->panics && (sk_starts_with(name, "_Unwind_") || !strcmp(name, "rust_eh_personality"));
}

bool sk_is_of_rust(const struct sk_object *object)
{
	static const char start[] = "std-", end[] = ".rcgu.o";
	size_t length = object && object->member ? object->member_length : 0;

	return length > strlen(start) + strlen(end) && !memcmp(object->member, start, strlen(start)) &&
	       !memcmp(object->member + length - strlen(end), end, strlen(end));
}

/* Return whether the object has a local function of a name that begins so. */
static bool has_function(const struct sk_object *object, const char *start)
{
	for (uint32_t i = 1; i < object->first_global; i++)
		if (ELF64_ST_TYPE(object->symbols[i].st_info) == STT_FUNC &&
		    sk_starts_with(object->names + object->symbols[i].st_name, start))
			return true;
	return false;
}

/* Return whether functions of Rust's panics are local in the object. */
static bool has_panics(const struct sk_object *object)
{
	for (uint32_t i = 1; i < object->first_global; i++)
		if (ELF64_ST_TYPE(object->symbols[i].st_info) == STT_FUNC &&
		    is_of_panics(object->names + object->symbols[i].st_name))
			return true;
	return false;
}

const char *sk_panic_advice(const struct sk_object *object)
{
	if (has_function(object, "debug.defaultPanic"))
		return "Zig's panics, which print the stack, reach it: 'pub const panic = "
		       "@import(\"std\").debug.no_panic;' in the root file lets them end the launch instead";
	if (has_function(object, "_ZN4core9panicking") || has_function(object, "_ZN3std9panicking") ||
	    has_panics(object))
		return "link-time optimisation has made the functions of Rust's panics local, so that they cannot be "
		       "left out: compile without -Clto";
	return NULL;
}
