/* A program that runs the package without libskrt, on the calling thread: serial ./composite.sk */
#include <dlfcn.h>
#include <stdalign.h>
#include <stdio.h>

static alignas(64) float x[16], y[16];
static alignas(64) char workspace[4096]; /* skdump prints the size that a package needs */

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: serial PACKAGE, with a slash in its path, as in ./composite.sk\n");
		return 1;
	}

	void *package = dlopen(argv[1], RTLD_NOW);
	int (*composite)(void *const *tensors, void *workspace) =
		package ? (int (*)(void *const *, void *))dlsym(package, "sk_composite_serial") : NULL;

	if (!composite) {
		fprintf(stderr, "serial: %s\n", dlerror());
		return 1;
	}
	for (int i = 0; i < 16; i++)
		x[i] = (float)i;
	if (composite((void *const[]){x, y}, workspace)) /* inputs and outputs in the manifest's order */
		return 1;
	for (int i = 0; i < 16; i++)
		printf("%g%c", y[i], i == 15 ? '\n' : ' ');
	dlclose(package);
	return 0;
}
