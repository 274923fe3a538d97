/* What fuzz targets do with a model. */
#ifndef SK_TESTS_FUZZ_GRAPH_H
#define SK_TESTS_FUZZ_GRAPH_H

/* Reads the file. What the passes behind the reader take for granted must hold of every graph that it makes (every byte
 * of the constants is looked at, too), and what is written of it as text must be read as the same graph. */
void fuzz_model(const char *path);

#endif
