/* The functions that the linker would call for AArch64. They never rewrite an instruction. */
#include <elf.h>
#include <stddef.h>
#include <string.h>

#include "format/import-row.h"
#include "linker/linker-parts.h"

static bool can_relax(uint32_t type, const uint8_t *bytes, uint64_t offset, int64_t addend)
{
	(void)type, (void)bytes, (void)offset, (void)addend;
	return false;
}

static uint64_t relax(uint8_t *bytes, uint64_t offset)
{
	(void)bytes;
	return offset;
}

static bool is_branch(uint32_t type, const uint8_t *bytes, uint64_t offset)
{
	(void)bytes, (void)offset;
	return type == R_AARCH64_CALL26;
}

static void write_stub(uint8_t *stub, uint64_t address, uint64_t slot)
{
	(void)address, (void)slot;
	memset(stub, 0, 16); /* udf #0 */
}

const struct sk_import_list sk_imports_aarch64 = {.machine = "AArch64"};

const struct sk_architecture sk_architecture_aarch64 = {
	.machine = EM_AARCH64,
	.name = "AArch64",
	.emulation = "aarch64linux",
	.page_size = 65536,
	.relocations = &sk_relocations_aarch64,
	.can_relax = can_relax,
	.relax = relax,
	.is_branch = is_branch,
	.calls_slot = can_relax,
	.unwind_section = SHT_PROGBITS,
	.imports = &sk_imports_aarch64,
	.stub_size = 16,
	.write_stub = write_stub,
	.trap_size = 16,
	.write_trap = write_stub,
};
