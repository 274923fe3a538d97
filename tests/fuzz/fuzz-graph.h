/* The steps that fuzz targets of models share. */
#ifndef SK_TESTS_FUZZ_GRAPH_H
#define SK_TESTS_FUZZ_GRAPH_H

/* Read the file. Every graph that the reader makes must have the properties that the later passes rely on, and every
 * byte of its constants is read. The graph written as text must be read as the same graph. */
void fuzz_model(const char *path);

#endif
