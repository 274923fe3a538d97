/* The passes of a link, from a model to a linked image. Each room collects all its errors; the first room with one is
 * the last to run. */
#ifndef SK_LINK_PASSES_H
#define SK_LINK_PASSES_H

#include "src/outputs/outputs.h"

/* The linker knows all inputs from here on: as soon as somebody asks what is in them. False if one is none, which is
 * said once. */
bool sk_link_inputs(struct sk_link *link);

/* Inputs, kernels and arguments: a model that knows what tasks there are becomes one that does not change any more. The
 * link's command says what the inputs are. False after an error. */
bool sk_pass_inputs(struct sk_link *link);
bool sk_pass_bind(struct sk_link *link);

/* A bound model becomes a plan that is proved, and an image that only has to be written. False after an error. */
bool sk_pass_link(struct sk_link *link);

#endif
