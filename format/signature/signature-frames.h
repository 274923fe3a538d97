/* Frames: how compilers pass tensors whose kernels have no C prototype. A signature with `frame=NAME` lists tensors and
 * scalars; what comes in as that goes out as the text of a signature that has the structs, which is parsed in its
 * place. */
#ifndef SK_SIGNATURE_FRAMES_H
#define SK_SIGNATURE_FRAMES_H

#include "format/signature/signature-parts.h"

enum { SK_FRAMES = 6 };
extern const char *const sk_frame_names[SK_FRAMES];

/* The same signature without the attribute's effect, with structs in place of its parameters: a source for the parser
 * whose errors stand at the places that its parts come from. NULL after an error. `number` is that of the frame. */
struct sk_signature_source *sk_signature_expand(struct sk_signature_source *source,
						const struct sk_signature *signature, uint32_t number);

#endif
