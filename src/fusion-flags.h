/* Who says what graph-kernel fusion does: the command line, the manifest, or the environment. */
#ifndef SK_FUSION_FLAGS_H
#define SK_FUSION_FLAGS_H

#include "graph/manager/flags.h"
#include "src/outputs/outputs.h"

/* Reads the flags of the first that says something, for the target that is asked for, or that of the device. False if
 * there is no such target. */
bool sk_fusion_flags_given(const struct sk_link *link, struct sk_fusion_flags *flags);

/* The environment's flags, if they are those that count; NULL: they are not, or there is no model. */
const char *sk_fusion_flags_of_environment(const struct sk_link *link);

#endif
