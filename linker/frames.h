/* Where things stand in records of unwind tables (LSB 3.0, section 10.6) and in their index: for frames.c, which reads
 * and places them, and frames-write.c. */
#ifndef SK_LINKER_FRAMES_H
#define SK_LINKER_FRAMES_H

enum {
	SK_FRAME_ID_OFFSET = 4, /* of the CIE pointer (0 in a CIE), behind the length */
	SK_FRAME_START_OFFSET = 8, /* of the function's start in an FDE */
	SK_FRAME_TERMINATOR_SIZE = 4,
	SK_FRAME_HEADER_SIZE = 12,
	SK_FRAME_ENTRY_SIZE = 8,
};

#endif
