/* Thousands of kernel objects, and a manifest with a task for each. */
#ifndef BENCH_OBJECTS_H
#define BENCH_OBJECTS_H

enum { BENCH_MOST_OBJECTS = 100000 };

/* Write copies of an object to the folder, which it makes: FOLDER/k0.o and so on. The object's function is called
 * kernel_00000, and each copy has another number. FOLDER/objects.txt lists them, FOLDER/manifest.yaml has the tasks. */
void bench_write_objects(const char *kernel, const char *folder, unsigned count);

#endif
