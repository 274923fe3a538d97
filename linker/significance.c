/* Sections with significant addresses. Input: live sections. Output: `significant` on those that a program may tell
 * apart by comparing addresses, so that folding them could change its behaviour.
 *
 * Compilers of LLVM's family list them in .llvm_addrsig: the numbers of the object's symbols with significant
 * addresses, each as a ULEB128. For other objects the linker infers them as mold does: every target of a relocation
 * that is not a direct call or jump in code. Addresses of exported symbols are always significant. Unwind tables and
 * debug information compare no addresses; nor do dispatchers and the plan. */
#include "linker/linker-parts.h"
#include "linker/object.h"

static void set(struct sk_target target)
{
	if (target.section)
		target.section->significant = true;
}

static struct sk_target symbol_target(struct sk_linker *linker, const struct sk_object *object, uint32_t symbol)
{
	uint32_t section = sk_object_symbol_section(object, symbol);

	if (symbol >= object->first_global)
		return sk_symbol_target(linker, object->globals[symbol - object->first_global]);
	return (struct sk_target){.section = section ? sk_object_section(object, section) : NULL};
}

static bool read_table(struct sk_linker *linker, const struct sk_object *object)
{
	enum { DIGIT = 7, LARGEST_SHIFT = 28 /* five bytes hold any 32-bit number */ };
	const uint8_t *bytes = object->more->significant_symbols;
	uint64_t symbol = 0;
	unsigned shift = 0;

	for (uint64_t i = 0; i < object->more->significant_size; i++) {
		symbol |= (uint64_t)(bytes[i] & 0x7f) << shift;
		if (bytes[i] & 0x80) {
			shift += DIGIT;
			if (shift > LARGEST_SHIFT)
				break;
			continue;
		}
		if (symbol >= object->symbol_count)
			return SK_BAD_OBJECT(linker, object, "section .llvm_addrsig refers to symbol %llu of %u",
					     (unsigned long long)symbol, object->symbol_count);
		set(symbol_target(linker, object, (uint32_t)symbol));
		symbol = 0;
		shift = 0;
	}
	if (shift)
		return SK_BAD_OBJECT(linker, object, "section .llvm_addrsig holds a damaged number");
	return true;
}

static void infer(struct sk_linker *linker, const struct sk_input_section *section)
{
	for (uint64_t i = 0; i < section->relocation_count; i++) {
		const sk_elf_relocation *relocation = &section->relocations[i];
		uint32_t type = ELF64_R_TYPE(relocation->r_info);

		if (!(section->flags & SHF_EXECINSTR) ||
		    !linker->architecture->is_branch(type, section->bytes, relocation->r_offset))
			set(sk_relocation_target(linker, section, relocation));
	}
}

static bool find_in_object(struct sk_linker *linker, const struct sk_object *object)
{
	if (object->more->significant_symbols)
		return read_table(linker, object);
	for (uint32_t i = 0; i < object->part_count; i++)
		if (object->parts[i].live && object->parts[i].loaded)
			infer(linker, &object->parts[i]);
	return true;
}

bool sk_find_significant(struct sk_linker *linker)
{
	bool ok = true;

	for (size_t i = 0; i < linker->objects.count; i++)
		if (linker->objects.items[i]->reached)
			ok &= find_in_object(linker, linker->objects.items[i]);
	for (size_t i = 0; i < linker->exported.count; i++)
		set(sk_symbol_target(linker, linker->exported.items[i]));
	for (size_t i = 0; i < linker->handed.count; i++)
		set(sk_symbol_target(linker, linker->handed.items[i]));
	return ok;
}
