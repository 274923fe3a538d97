/* Traps: code in place of undefined functions, with --unresolved-symbols=trap. Input: calls. Output: their target, an
 * instruction that no processor executes, with the function's name as its operand. The signal's handler can therefore
 * report the name, even for a package without a symbol table.
 *
 * Only calls get a trap. If its address is taken, a symbol may be data, and a kernel would then read the trap's
 * code. */
#include <string.h>

#include "base/arena.h"
#include "linker/linker-parts.h"
#include "linker/linker.h"
#include "linker/object.h"
#include "linker/output.h"

bool sk_trap_is_wanted(const struct sk_linker *linker, sk_symbol number)
{
	const struct sk_linker_options *options = &linker->options;

	for (size_t i = 0; i < options->trapped_count; i++)
		if (!strcmp(options->trapped[i], linker->symbols.items[number].name))
			return true;
	return options->trap || options->warn_unresolved;
}

bool sk_trap_serves(const struct sk_linker *linker, const struct sk_input_section *section,
		    const sk_elf_relocation *relocation)
{
	const struct sk_architecture *architecture = linker->architecture;
	uint32_t type = ELF64_R_TYPE(relocation->r_info);

	return (section->flags & SHF_EXECINSTR) && section->bytes &&
	       (architecture->is_branch(type, section->bytes, relocation->r_offset) ||
		architecture->calls_slot(type, section->bytes, relocation->r_offset, relocation->r_addend));
}

void sk_trap_add(struct sk_linker *linker, sk_symbol number)
{
	struct sk_linker_symbol *symbol = &linker->symbols.items[number];
	struct sk_input_section *code = &linker->made[SK_MADE_TRAPS], *names = &linker->made[SK_MADE_TRAP_NAMES];

	if (symbol->trap)
		return;
	symbol->trap = true;
	symbol->stub = (uint32_t)linker->traps.count;
	symbol->slot = (uint32_t)names->size; /* a trap has no GOT slot: this is the offset of its name */
	sk_array_push(linker->arena, &linker->traps, number);
	code->size += linker->architecture->trap_size;
	names->size += symbol->name_length + 1;
}

uint64_t sk_trap_address(const struct sk_linker *linker, sk_symbol number)
{
	return linker->made[SK_MADE_TRAPS].address +
	       (uint64_t)linker->symbols.items[number].stub * linker->architecture->trap_size;
}

void sk_traps_write(struct sk_linker *linker)
{
	for (size_t i = 0; i < linker->traps.count; i++) {
		const struct sk_linker_symbol *symbol = &linker->symbols.items[linker->traps.items[i]];
		uint64_t name = linker->made[SK_MADE_TRAP_NAMES].address + symbol->slot;
		uint64_t address = sk_trap_address(linker, linker->traps.items[i]);

		memcpy(linker->image + name, symbol->name, symbol->name_length); /* memory that is zeroed follows */
		linker->architecture->write_trap(linker->image + address, address, name);
	}
}
