#!/bin/bash
# --header and -r with bounds: the header is valid C and C++ and gives the dimensions; its functions fill in the slots
# of serial entries, which then compute, called by dlopen or linked into a program, the bits of static packages; and
# libskrt finds the sizes of a linked package.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/sizes.sh"
libskrt="$top_builddir/.libs/libskrt.a $(sed -n "s/^Libs.private: //p" "$top_builddir/loader/libskrt.pc")"
sanitize=$(sed -n 's/^SANITIZE_CFLAGS = //p' "$top_builddir/Makefile")

for name in rows widths; do
	"$sklink" $name.yaml kernels.o -o $name.sk --header $name.h --soname $name
	"$sklink" $name.yaml kernels.o -r -o $name.o --header $name-linked.h --soname ${name}_linked
	for package in $name.sk $name.o; do
		"$skdump" --verify $package || fail "$package is not proved"
	done
	diff <("$skdump" $name.sk | grep '^  dimension') <("$skdump" $name.o | grep '^  dimension') ||
		fail "the object has other dimensions"
done
"$sklink" rows.yaml kernels.o --dim batch=8 --dim seq=512 --header static.h -o static.sk
grep -q 'SK_PACKAGE_DIMENSION\|set_sizes' static.h && fail "a static package has dimensions"

warnings='-Wall -Wextra -Wconversion -Wsign-conversion -Wshadow -Wundef -pedantic -Werror'
printf '#include "%s"\n' rows.h widths.h rows-linked.h widths-linked.h rows.h >all.c
for compiler in 'gcc -std=c11' 'clang -std=c11' 'g++ -std=c++17 -x c++' 'clang++ -std=c++17 -x c++'; do
	command -v ${compiler%% *} >/dev/null || continue
	$compiler $warnings -c all.c -o all.o || fail "$compiler"
done

# run.c PACKAGE: at many sizes, the serial entry of a package has the results of its kernels; so has that of the linked
# one, and so has libskrt with the linked one.
cat >run.c <<'C'
#include <dlfcn.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.c"
#include "rows-linked.h"
#include "rows.h"
#include "skrt.h"

enum { WIDTH = 64, MOST = 8 * 512 * WIDTH };
static alignas(64) float x[MOST], w[WIDTH * WIDTH], b[WIDTH], y[MOST], h[MOST], p[MOST], wanted[MOST];
static alignas(64) char workspace[SK_rows_WORKSPACE_sk_s], other[SK_rows_linked_WORKSPACE_sk_s];



static void check(int good, const char *what)
{
	if (good)
		return;
	printf("%s: %s\n", what, skrt_error());
	exit(1);
}

static void compute(long n)
{
	product(x, w, h, n, WIDTH, WIDTH);
	bias(h, b, p, n, WIDTH);
	for (long i = 0; i < n * WIDTH; i++)
		wanted[i] = 2 * (p[i] + x[i]);
	memset(y, 0, sizeof(y));
}

static void check_y(long n, const char *what)
{
	check(!memcmp(y, wanted, (size_t)n * WIDTH * sizeof(float)), what);
	for (long i = n * WIDTH; i < MOST; i++)
		check(y[i] == 0, what);
}

int main(int argc, char **argv)
{
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	int (*entry)(void *const *, void *) = library ? dlsym(library, "sk_s_serial") : NULL;
	void *tensors[SK_rows_TENSORS + SK_rows_SLOTS], *slots[SK_rows_linked_TENSORS + SK_rows_linked_SLOTS];
	uint64_t shape[8], sizes[SK_rows_DIMENSIONS];
	struct skrt_device *device;
	struct skrt_module *module;
	struct skrt_instance *instance;
	struct skrt_stream *stream;
	const struct skrt_kernel *kernel;

	check(entry != NULL, "dlopen");
	for (int i = 0; i < MOST; i++)
		x[i] = (float)(i * 7 % 1000) / 500 - 1;
	for (int i = 0; i < WIDTH * WIDTH; i++)
		w[i] = (float)(i * 13 % 100) / 100;
	for (int i = 0; i < WIDTH; i++)
		b[i] = (float)i;
	tensors[SK_rows_TENSOR_x] = x;
	tensors[SK_rows_TENSOR_w] = w;
	tensors[SK_rows_TENSOR_b] = b;
	tensors[SK_rows_TENSOR_y] = y;
	memcpy(slots, tensors, SK_rows_TENSORS * sizeof(*tensors));
	check(!skrt_device_open(NULL, &device) && !skrt_module_load_linked(device, &sk_plan_rows_linked, &module) &&
		      !skrt_instance_create(module, &instance) && !skrt_stream_create(device, &stream), "load");
	check(!skrt_module_kernel(module, 0, &kernel), "kernel");
	check(skrt_module_dimension_count(module) == SK_rows_linked_DIMENSIONS, "dimensions of the linked package");
	check(!skrt_instance_bind(instance, SK_rows_TENSOR_x, x, sizeof(x)) &&
		      !skrt_instance_bind(instance, SK_rows_TENSOR_w, w, sizeof(w)) &&
		      !skrt_instance_bind(instance, SK_rows_TENSOR_b, b, sizeof(b)) &&
		      !skrt_instance_bind(instance, SK_rows_TENSOR_y, y, sizeof(y)), "bind");
	for (uint64_t batch = SK_rows_LEAST_batch; batch <= SK_rows_MOST_batch; batch += 3)
		for (uint64_t seq = SK_rows_LEAST_seq; seq <= SK_rows_MOST_seq; seq += 73) {
			long n = (long)(batch * seq);

			sizes[SK_rows_DIMENSION_batch] = batch;
			sizes[SK_rows_DIMENSION_seq] = seq;
			check(!SK_rows_set_sizes(tensors, sizes) && !SK_rows_linked_set_sizes(slots, sizes), "sizes");
			check(SK_rows_shape(SK_rows_TENSOR_x, sizes, shape) == (uint64_t)n * WIDTH * 4 &&
				      shape[0] == batch && shape[1] == seq && shape[2] == WIDTH, "shape");
			compute(n);
			check(!entry(tensors, workspace), "serial");
			check_y(n, "serial");
			compute(n);
			check(!sk_s_serial(slots, other), "linked");
			check_y(n, "linked");
			compute(n);
			check(!skrt_instance_set_dimension(instance, "batch", batch) &&
				      !skrt_instance_set_dimension(instance, "seq", seq) &&
				      !skrt_launch(stream, instance, kernel) && !skrt_synchronise(stream), "libskrt");
			check_y(n, "libskrt");
		}
	sizes[SK_rows_DIMENSION_seq] = 513;
	check(SK_rows_set_sizes(tensors, sizes) == SK_rows_DIMENSION_seq + 1, "too large a size");
	check(SK_rows_shape(SK_rows_TENSORS, sizes, shape) == 0, "no such tensor");
	check(!strcmp(SK_rows_dimension_table[SK_rows_DIMENSION_seq].name, "seq") &&
		      SK_rows_dimension_table[SK_rows_DIMENSION_seq].usual == 128, "table");
	skrt_stream_destroy(stream);
	skrt_instance_destroy(instance);
	skrt_module_unload(module);
	skrt_device_close(device);
	dlclose(library);
	return 0;
}
C
# shellcheck disable=SC2086 # words
gcc -std=gnu11 $sanitize -Wall -I"$top_srcdir/loader" -I"$top_srcdir/format" run.c rows.o -o run $libskrt -ldl -lm -lpthread ||
	fail "the program does not link"
./run ./rows.sk || fail "wrong results"

# A network of several has dimensions with its name.
cat >net.pbtxt <<'M'
ir_version: 8
opset_import { version: 17 }
graph {
  name: "net"
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "n" } dim { dim_value: 4 } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 } } }
  node { name: "act" op_type: "Relu" input: "x" output: "y" }
}
M
"$sklink" net.pbtxt -L "$top_builddir/kernels" -lskernels --dim a:n=1..8 --dim b:n=4..64:4 --header net.h --soname net \
	-o net.sk
grep -q '^#define SK_net_DIMENSION_b_x3An 1$' net.h && grep -q '^#define SK_net_MOST_b_x3An UINT64_C(64)$' net.h ||
	fail "$(grep DIMENSION net.h)"
