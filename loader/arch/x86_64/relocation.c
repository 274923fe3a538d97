/* Names of the relocations of x86-64 that packages cannot have. */
#include "config.h"

#include "loader/arch/machine.h"

const char *sk_dynamic_name(uint32_t type)
{
	switch (type) {
	case R_X86_64_IRELATIVE:
		return "an indirect function (R_X86_64_IRELATIVE)";
	case R_X86_64_COPY:
		return "a copied variable (R_X86_64_COPY)";
	case R_X86_64_DTPOFF64:
		return "a thread-local variable that may be another module's (R_X86_64_DTPOFF64)";
	case R_X86_64_TLSDESC:
		return "a descriptor of a thread-local variable (R_X86_64_TLSDESC)";
	default:
		return "an unknown kind of relocation";
	}
}
