/* A folder for the files of a test case. It is made before the first test and removed after the last one, in the
 * process that starts them; so no file stays, even if a test dies. */
#ifndef SK_TESTS_SCRATCH_H
#define SK_TESTS_SCRATCH_H

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char scratch_folder[] = "/tmp/sklink-check.XXXXXX";

static inline void scratch_make(void)
{
	ck_assert_ptr_nonnull(mkdtemp(scratch_folder));
}

static inline void scratch_remove(void)
{
	DIR *folder = opendir(scratch_folder);

	for (struct dirent *entry; folder && (entry = readdir(folder));)
		unlinkat(dirfd(folder), entry->d_name, 0); /* does nothing to . and .. */
	if (folder)
		closedir(folder);
	rmdir(scratch_folder);
}

static inline void scratch_add(TCase *tests)
{
	tcase_add_unchecked_fixture(tests, scratch_make, scratch_remove);
}

/* The bytes of a file, which the caller frees. */
static inline unsigned char *read_file(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");

	ck_assert_ptr_nonnull(file);
	fseek(file, 0, SEEK_END);
	*size = (size_t)ftell(file);
	rewind(file);

	unsigned char *bytes = malloc(*size);

	ck_assert_uint_eq(fread(bytes, 1, *size, file), *size);
	fclose(file);
	return bytes;
}

#endif
