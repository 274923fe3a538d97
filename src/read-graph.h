/* A model file becomes the tasks of a network. */
#ifndef SK_READ_GRAPH_H
#define SK_READ_GRAPH_H

#include "src/outputs/outputs.h"

/* Reads the model file into the link's model, which is empty but for what a manifest says of it: tensors, tasks with an
 * op, and scopes. What depends on constants only is computed. False after errors. */
bool sk_network_read(struct sk_link *link, const char *path);

/* The plan is complete: writes the last dumps, which say where values lie. False after an error. */
bool sk_network_dump_places(const struct sk_link *link);

#endif
