/* Counts for a finished link; no counters are kept while it runs. */
#include "base/map.h"
#include "linker/linker-parts.h"
#include "linker/linker.h"
#include "linker/object.h"
#include "linker/output.h"

static void count_sections(const struct sk_object *object, struct sk_linker_statistics *statistics)
{
	for (uint32_t i = 0; i < object->part_count; i++) {
		const struct sk_input_section *section = &object->parts[i];

		bool counts = section->loaded && section->size;

		statistics->sections += counts;
		statistics->kept += counts && section->live;
		statistics->replaced += counts && section->discarded;
		statistics->folded += counts && section->folded;
		for (uint32_t j = 0; section->live && j < section->fragment_count; j++)
			statistics->fragments += section->fragments[j].entry != SK_NONE;
	}
}

static void count_objects(const struct sk_linker *linker, struct sk_linker_statistics *statistics)
{
	statistics->objects = linker->objects.count;
	for (size_t i = 0; i < linker->objects.count; i++) {
		const struct sk_object *object = linker->objects.items[i];

		if (!object->pulled)
			continue;
		statistics->pulled++;
		statistics->symbols += object->symbol_count ? object->symbol_count - 1 : 0; /* the first is null */
		count_sections(object, statistics);
	}
}

static void count_relocations(const struct sk_linker *linker, struct sk_linker_statistics *statistics)
{
	for (size_t i = 0; i < linker->outputs.count; i++) {
		const struct sk_output *output = linker->outputs.items[i];

		for (size_t j = 0; j < output->sections.count; j++)
			statistics->relocations += output->sections.items[j]->relocation_count;
	}
}

void sk_linker_count(const struct sk_linker *linker, struct sk_linker_statistics *statistics)
{
	*statistics = (struct sk_linker_statistics){
		.inputs = linker->inputs.count, .input_size = linker->input_size, .output_size = linker->file_size};
	count_objects(linker, statistics);
	count_relocations(linker, statistics);
	for (size_t i = 0; i < linker->merged.count; i++)
		statistics->entries += linker->merged.items[i]->entries.count;
}
