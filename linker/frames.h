/* Records of unwind tables (LSB 3.0, section 10.6) and their index: frames.c reads them and gives them their places,
 * frames-write.c writes them. */
#ifndef SK_LINKER_FRAMES_H
#define SK_LINKER_FRAMES_H

#include "linker/section.h"

struct sk_linker;

enum {
	SK_FRAME_ID_OFFSET = 4, /* of the CIE pointer (0 in a CIE), behind the length */
	SK_FRAME_START_OFFSET = 8, /* of the function's start in an FDE */
	SK_FRAME_TERMINATOR_SIZE = 4,
	SK_FRAME_HEADER_SIZE = 12,
	SK_FRAME_ENTRY_SIZE = 8,
};

/* After the array has stopped moving: finds each FDE's function and chains the FDEs to it. The linker knows the symbols
 * of synthetic sections; NULL: the frames are an object's. */
void sk_frames_attach(const struct sk_linker *linker, struct sk_frame *frames, uint64_t count);

/* Copies a live record, with its length and the distance to its CIE as they are in the joined section. */
void sk_frame_copy(const struct sk_frame *frame, uint8_t *bytes);

/* Calls visit for every record if any stays; those that do are live. Or without those of objects in which sk_scan has
 * nothing to do. */
typedef void sk_frame_visitor(struct sk_linker *linker, struct sk_frame *frame);
void sk_frames_visit(struct sk_linker *linker, sk_frame_visitor *visit);
void sk_frames_visit_unscanned(struct sk_linker *linker, sk_frame_visitor *visit);

#endif
