/* Equal strings and records, once. */
#ifndef SK_LINKER_MERGE_H
#define SK_LINKER_MERGE_H

#include "base/map.h"
#include "linker/section.h"

struct sk_linker;

/* A string or a record, once. */
struct sk_merged_entry {
	const uint8_t *bytes;
	uint64_t offset; /* in the merged section */
	uint32_t size;
	uint32_t whole; /* the entry whose end it is; itself: it stands alone */
};

/* What mergeable sections of one kind become. */
struct sk_merged {
	struct sk_input_section section;
	const char *output_name; /* of the sections that go in */
	struct sk_map numbers; /* of entries, by contents */
	SK_ARRAY(struct sk_merged_entry) entries;
};

/* The string or record at the offset of a live mergeable section is needed; or all of them. */
void sk_merge_mark(struct sk_linker *linker, struct sk_input_section *section, uint64_t offset);
void sk_merge_mark_all(struct sk_linker *linker, struct sk_input_section *section);

/* After sk_merge: where a byte of a mergeable section has gone. False: nobody needed it, so it is not there. */
bool sk_merge_find(const struct sk_input_section *section, uint64_t offset, uint64_t *merged_offset);

#endif
