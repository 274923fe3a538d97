/* run IMAGE NAME…: print a line NAME=RESULT for the result of each function of the image. */
#include <dlfcn.h>
#include <stdio.h>

#ifndef RESULT
#define RESULT long
#endif

int main(int argc, char **argv)
{
	void *image = argc < 2 ? NULL : dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);

	if (!image)
		return fprintf(stderr, "%s\n", dlerror()), 1;
	for (int i = 2; i < argc; i++) {
		RESULT (*function)(void) = (RESULT(*)(void))dlsym(image, argv[i]);

		if (!function)
			return fprintf(stderr, "%s\n", dlerror()), 1;
		printf("%s=%ld\n", argv[i], (long)function());
	}
	return 0;
}
