/* A model file becomes the tasks of a network. */
#ifndef SK_READ_GRAPH_H
#define SK_READ_GRAPH_H

#include "src/outputs/outputs.h"

/* Reads the file that the command names into the link's empty model: tensors, tasks with an op, and one scope. What
 * depends on constants only is computed. False after errors. */
bool sk_network_read(const struct sk_link *link);

#endif
