/* Instruction sets of x86-64; see format/plan/isa.h. The low bits of a set are levels as in
 * GNU_PROPERTY_X86_ISA_1_NEEDED: x86-64, -v2, -v3, -v4; further ones are not defined yet. */
#include "format/plan/isa.h"

#include <stdio.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "format/plan/plan.h"
#include "format/x86_64/cpuid.h"

enum { LEAF_1, LEAF_7, LEAF_7_1, LEAF_EXTENDED };
enum { EAX, EBX, ECX, EDX };

/* Bits of XCR0: SSE and AVX; and the masks and both halves of AVX-512; AMX's configuration and tiles. */
enum { STATE_NONE = 0, STATE_AVX = 0x6, STATE_AVX512 = 0xe6, STATE_AMX = 0x60000 };

enum { LEVELS = 4, FIRST_FEATURE = 32, OSXSAVE = 1 << 27 };

static const struct {
	const char *name;
	uint8_t bit, level, leaf, reg, position;
	uint32_t state;
} features[] = {
#define SK_ISA(bit, name, level, leaf, reg, position, state) {name, bit, level, leaf, reg, position, state},
#include "format/x86_64/isa.def"
#undef SK_ISA
};

enum { FEATURES = sizeof(features) / sizeof(features[0]) };

const char *const sk_isa_names[] = {
	"x86-64",
	"x86-64-v2",
	"x86-64-v3",
	"x86-64-v4",
#define SK_ISA(bit, name, level, leaf, reg, position, state) name,
#include "format/x86_64/isa.def"
#undef SK_ISA
};

const size_t sk_isa_name_count = sizeof(sk_isa_names) / sizeof(sk_isa_names[0]);

/* ---- names ---- */

/* Return the psABI's levels up to this one, from 1. */
static uint64_t levels_up_to(unsigned level)
{
	return (UINT64_C(1) << level) - 1;
}

uint64_t sk_isa_find(const char *name, size_t length)
{
	for (size_t i = 0; i < sk_isa_name_count; i++) {
		if (strlen(sk_isa_names[i]) != length || memcmp(sk_isa_names[i], name, length))
			continue;
		return i < LEVELS ? levels_up_to((unsigned)i + 1) : UINT64_C(1) << features[i - LEVELS].bit;
	}
	return 0;
}

uint64_t sk_isa_find_all(const char *names, const char **unknown, size_t *length)
{
	uint64_t set = 0;

	for (;; names += *length + 1) {
		uint64_t found;

		*unknown = names;
		*length = strcspn(names, "+");
		found = sk_isa_find(names, *length);
		if (!found)
			return 0;
		set |= found;
		if (!names[*length])
			return set;
	}
}

/* Return the features of all levels of the set. */
static uint64_t features_of_levels(uint64_t set)
{
	uint64_t found = 0;

	for (size_t i = 0; i < FEATURES; i++)
		for (unsigned level = features[i].level; level && level <= LEVELS; level++)
			if (set & UINT64_C(1) << (level - 1))
				found |= UINT64_C(1) << features[i].bit;
	return found;
}

uint64_t sk_isa_expand(uint64_t set)
{
	return set | features_of_levels(set);
}

uint64_t sk_isa_default(void)
{
	return levels_up_to(3);
}

static void append_name(char *text, const char *name)
{
	size_t used = strlen(text);

	snprintf(text + used, SK_ISA_TEXT_SIZE - used, "%s%s", used ? "+" : "", name);
}

/* The text has room for all names, and all numbers of unknown bits, together. */
const char *sk_isa_text(char text[SK_ISA_TEXT_SIZE], uint64_t set)
{
	uint64_t left = set & ~features_of_levels(set);
	unsigned level = LEVELS;
	char name[16];

	while (level > 1 && !(set & UINT64_C(1) << (level - 1)))
		level--;
	*text = '\0';
	if (!set)
		append_name(text, "none declared");
	else
		append_name(text, sk_isa_names[level - 1]);
	left &= ~levels_up_to(LEVELS);
	for (size_t i = 0; i < FEATURES; i++) {
		if (left & UINT64_C(1) << features[i].bit)
			append_name(text, features[i].name);
		left &= ~(UINT64_C(1) << features[i].bit);
	}
	for (unsigned bit = 0; bit < 64; bit++) {
		if (!(left & UINT64_C(1) << bit))
			continue;
		snprintf(name, sizeof(name), "bit-%u", bit);
		append_name(text, name);
	}
	return text;
}

/* ---- processors ---- */

uint64_t sk_isa_of(const struct sk_cpuid *cpuid)
{
	uint64_t set = 1, missing = 0; /* baseline x86-64, which runs this code */

	for (size_t i = 0; i < FEATURES; i++) {
		if ((cpuid->leaves[features[i].leaf][features[i].reg] >> features[i].position & 1) &&
		    (cpuid->state & features[i].state) == features[i].state)
			set |= UINT64_C(1) << features[i].bit;
		else
			missing |= UINT64_C(1) << features[i].bit;
	}
	for (unsigned level = 2; level <= LEVELS; level++)
		if (!(features_of_levels(levels_up_to(level)) & missing))
			set |= UINT64_C(1) << (level - 1);
	return set;
}

uint64_t sk_isa_of_processor(void)
{
	struct sk_cpuid cpuid = {0};

#if defined(__x86_64__)
	static const uint32_t leaves[4][2] = {
		[LEAF_1] = {1, 0}, [LEAF_7] = {7, 0}, [LEAF_7_1] = {7, 1}, [LEAF_EXTENDED] = {0x80000001, 0}};

	for (int i = 0; i < 4; i++) {
		uint32_t *leaf = cpuid.leaves[i];

		if (!__get_cpuid_count(leaves[i][0], leaves[i][1], &leaf[EAX], &leaf[EBX], &leaf[ECX], &leaf[EDX]))
			memset(leaf, 0, sizeof(cpuid.leaves[i]));
	}
	if (cpuid.leaves[LEAF_1][ECX] & OSXSAVE) {
		uint32_t low, high;

		__asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
		cpuid.state = (uint64_t)high << 32 | low;
	}
#endif
	return sk_isa_of(&cpuid);
}

/* ---- packages ---- */

bool sk_isa_check(const struct sk_plan_view *plan, uint64_t has, char *error, size_t error_size)
{
	char needed_text[SK_ISA_TEXT_SIZE], missing_text[SK_ISA_TEXT_SIZE], has_text[SK_ISA_TEXT_SIZE];
	uint64_t needed = plan->plan->isa, missing;
	const char *kernel = NULL;

	if (!(needed & ~has))
		return true;
	for (uint32_t i = 0; i < plan->kernel_count && !kernel; i++) {
		if (!(plan->kernels[i].isa & ~has))
			continue;
		kernel = sk_plan_string(&plan->kernels[i].name);
		needed = plan->kernels[i].isa;
	}
	/* Report the missing features one by one: for a needed level, the features of the level that are missing. */
	missing = ((needed & ~levels_up_to(LEVELS)) | features_of_levels(needed)) & ~has;
	snprintf(error, error_size, "%s%s%s needs %s; this processor has %s and lacks %s",
		 kernel ? "kernel '" : "a constructor", kernel ? kernel : "", kernel ? "'" : "",
		 sk_isa_text(needed_text, needed), sk_isa_text(has_text, has),
		 sk_isa_text(missing_text, missing) + strlen("x86-64+"));
	return false;
}
