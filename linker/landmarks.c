/* Names of places in the image that linkers define: where it begins and ends, its tables of constructors, and the like.
 * Input: the names that inputs refer to and none defines. Output: their addresses. They are those of GNU ld and lld in
 * a shared object, where constants count as data that follows .bss, like data of the large code model.
 *
 * With -r these names stay undefined: the next linker's image has the places. */
#include <string.h>

#include "base/map.h"
#include "linker/linker-parts.h"
#include "linker/linker.h"
#include "linker/object.h"
#include "linker/output.h"

static const struct {
	const char *name;
	enum sk_landmark landmark;
} names[] = {
	{"__ehdr_start", SK_LANDMARK_START},
	{"__executable_start", SK_LANDMARK_START},
	{"etext", SK_LANDMARK_CODE_END},
	{"_etext", SK_LANDMARK_CODE_END},
	{"__etext", SK_LANDMARK_CODE_END},
	{"edata", SK_LANDMARK_DATA_END},
	{"_edata", SK_LANDMARK_DATA_END},
	{"__bss_start", SK_LANDMARK_ZERO_START},
	{"end", SK_LANDMARK_END},
	{"_end", SK_LANDMARK_END},
	{"__preinit_array_start", SK_LANDMARK_START}, /* packages have no such table: it is empty */
	{"__preinit_array_end", SK_LANDMARK_START},
	{"__init_array_start", SK_LANDMARK_INIT_START},
	{"__init_array_end", SK_LANDMARK_INIT_END},
	{"__fini_array_start", SK_LANDMARK_FINI_START},
	{"__fini_array_end", SK_LANDMARK_FINI_END},
};

static void provide_landmark(struct sk_linker *linker, const char *name, struct sk_input_section *section)
{
	sk_symbol number = sk_map_find(&linker->symbol_numbers, name, strlen(name));

	if (number != SK_NONE)
		sk_symbol_provide(linker, number, section);
}

void sk_landmarks_provide(struct sk_linker *linker)
{
	if (linker->options.relocatable)
		return;
	for (size_t i = 0; i < SK_LANDMARK_COUNT; i++)
		linker->landmarks[i] = (struct sk_input_section){.name = "a place in the image",
								 .type = SHT_PROGBITS,
								 .flags = SHF_ALLOC,
								 .alignment = 1,
								 .state = SK_NONE,
								 .loaded = true};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		provide_landmark(linker, names[i].name, &linker->landmarks[names[i].landmark]);
	provide_landmark(linker, "_DYNAMIC", &linker->made[SK_MADE_DYNAMIC]);
}

static void put(struct sk_linker *linker, enum sk_landmark landmark, struct sk_output *output, uint64_t address)
{
	linker->landmarks[landmark].output = output;
	linker->landmarks[landmark].address = address;
}

void sk_landmarks_place(struct sk_linker *linker)
{
	bool zero = false;

	for (int i = 0; i < SK_LANDMARK_COUNT; i++)
		put(linker, (enum sk_landmark)i, linker->outputs.items[0], 0);
	for (size_t i = 0; i < linker->outputs.count; i++) {
		struct sk_output *output = linker->outputs.items[i];
		enum sk_region region = sk_region_of(output->rank);
		uint64_t start = output->address, end = start + output->size;

		if (region == SK_REGION_NOT_LOADED)
			break;
		if (output->rank == SK_RANK_THREAD_ZERO_DATA) /* it has no place of its own */
			continue;
		put(linker, SK_LANDMARK_END, output, end);
		if (region <= SK_REGION_CODE)
			put(linker, SK_LANDMARK_CODE_END, output, end);
		if (region <= SK_REGION_WRITABLE && output->type != SHT_NOBITS) {
			put(linker, SK_LANDMARK_DATA_END, output, end);
			put(linker, SK_LANDMARK_ZERO_START, output, end);
		}
		if (output->rank == SK_RANK_ZERO_DATA && !zero) {
			put(linker, SK_LANDMARK_ZERO_START, output, start);
			zero = true;
		}
		if (output->rank == SK_RANK_INIT_ARRAY || output->rank == SK_RANK_FINI_ARRAY) {
			bool init = output->rank == SK_RANK_INIT_ARRAY;

			put(linker, init ? SK_LANDMARK_INIT_START : SK_LANDMARK_FINI_START, output, start);
			put(linker, init ? SK_LANDMARK_INIT_END : SK_LANDMARK_FINI_END, output, end);
		}
	}
}
