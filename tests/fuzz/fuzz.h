/* Shared by the fuzz targets. A target is one function with libFuzzer's name, and is linked twice: with libFuzzer
 * (configure --enable-fuzzing) and with tests/fuzz/mutate.c, which runs it over files and over mutants of them.
 *
 *   fuzz-object.c    one object through the linker, everything in it required
 *   fuzz-archive.c   the same for an archive, on demand and whole
 *   fuzz-manifest.c  a manifest through all stages that need no object
 *   fuzz-signature.c a signature through the parser and back, and a task that calls such a kernel to a plan
 *   fuzz-npy.c       a .npy file, as every type of elements
 *   fuzz-onnx.c      an ONNX file to a graph, and as text back to it
 *   fuzz-pbtxt.c     the same for a model as text
 *   fuzz-rules.c     a file of rules, applied to a graph of operators
 *   fuzz-switches.c  a file of switches of passes
 *   fuzz-package.c   a package through libskrt's loading and skdump's proof; nothing in it is run
 *
 * A target runs in a scratch directory, and removes the files that it writes there. It ends the process if a promise is
 * broken that no sanitizer checks. */
#ifndef SK_TESTS_FUZZ_H
#define SK_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { FUZZ_PATH_SIZE = 32 };

/* A file in memory with these bytes, and a path to open it by. Returns its descriptor, which the caller closes. */
int fuzz_file(const uint8_t *bytes, size_t size, char path[FUZZ_PATH_SIZE]);

/* Abort with the text unless the promise is kept. */
void fuzz_promise(bool kept, const char *text);

/* The input has come through everything there is, without an error. The counter shows that a target reaches its depths.
 */
void fuzz_accept(void);
uint64_t fuzz_accepted(void);

/* Link the file: every function in it is requested, required and called. */
void fuzz_link(const char *path, bool whole_archive);

#endif
