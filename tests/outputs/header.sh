#!/bin/bash
# sklink --header: valid C and C++ under every warning, with the numbers that the plan has; enough to call the serial
# entries, and with --embed to load the package without a file.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
sanitize=$(sed -n 's/^SANITIZE_CFLAGS = //p' "$top_builddir/Makefile")
libskrt="$top_builddir/.libs/libskrt.a $(sed -n "s/^Libs.private: //p" "$top_builddir/loader/libskrt.pc")"
cp "$top_srcdir/tests/lib/kernels.c" . && compile kernels
cat >more.c <<'C'
#include "skkernel.h"
void narrow(const int8_t *x, const double *s, uint8_t *y, uint32_t *count, void *scratch, int64_t n)
{
	uint8_t *copy = scratch;
	for (int64_t i = 0; i < n; i++)
		copy[i] = (uint8_t)(x[i] + (int)s[0]);
	for (int64_t i = 0; i < n; i++)
		y[i] = copy[n - 1 - i];
	++*count;
}
SK_KERNEL(narrow, "in x i8[n], in s f64[1], out y u8[n], inout count u32[1], scratch room[100], n i64");
C
compile more
cat >model.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [2, 3, 700]}
  a: {dtype: f32, shape: [2, 3, 700]}
  "y": {dtype: f32, shape: [2, 3, 700]}
  "layer.0": {dtype: i8, shape: [70]}
  layer_0: {dtype: f64, shape: [1]}
  "*/\"evil\"\\??/é": {dtype: u8, shape: [70]}
  layer-0: {dtype: u32, shape: [1], role: inout}
tasks:
  - {name: one, kernel: prefix, args: [x, a], scope: main}
  - {name: two, kernel: scale, args: [a, y], set: {factor: 2}, scope: main}
  - {name: three, kernel: narrow, args: ["layer.0", layer_0, "*/\"evil\"\\??/é", layer-0]}
M
"$sklink" model.yaml kernels.o more.o -o model.sk --header model.h
"$sklink" model.yaml kernels.o more.o -o embedded.sk --header embedded.h --embed --soname my-net.so.3

# ---- C11 and C++17, alone, twice, and two packages together ----
warnings='-Wall -Wextra -Wconversion -Wsign-conversion -Wshadow -Wundef -pedantic -Werror'
printf '#include "model.h"\n#include "embedded.h"\n#include "model.h"\n#include "embedded.h"\nint f(void);\nint f(void) { return 0; }\n' >both.c
printf '#define SK_my_net_IMPLEMENTATION\n#include "embedded.h"\n' >bytes.c
for name in model embedded; do
	printf '#include "%s.h"\n' $name >$name-only.c
done
for compiler in gcc clang; do
	command -v $compiler >/dev/null || continue
	for file in both model-only embedded-only bytes; do
		$compiler -std=c11 $warnings -Wstrict-prototypes -c $file.c -o $compiler-$file.o ||
			fail "$compiler, C: $file"
	done
done
for compiler in g++ clang++; do
	command -v $compiler >/dev/null || continue
	for file in both model-only embedded-only bytes; do
		$compiler -std=c++17 $warnings -x c++ -c $file.c -o $compiler-$file.o || fail "$compiler, C++: $file"
	done
	nm $compiler-bytes.o | grep -q ' R SK_my_net_package$' || fail "the bytes have no C name in C++"
done

# ---- the package named in it, called as a shared object, and compared with libskrt ----
cat >use.c <<'C'
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "embedded.h"
#include "model.h"
#include "skrt.h"

static alignas(64) float x[SK_main_BYTES_x / sizeof(float)], y[SK_main_BYTES_y / sizeof(float)];
static alignas(64) int8_t narrow[SK_main_BYTES_layer_x2E0];
static alignas(64) double summand[1] = {3};
static alignas(64) uint8_t narrowed[70];
static alignas(64) uint32_t count[1];
static alignas(64) unsigned char workspace[SK_main_WORKSPACE_sk_main + SK_main_WORKSPACE_sk_task_three];

static void check(int right, const char *what)
{
	if (!right) {
		printf("FAIL: %s: %s\n", what, skrt_error());
		exit(1);
	}
}

static void compare(const struct skrt_module *module, const struct sk_package_tensor *table, uint32_t entries)
{
	check(skrt_module_tensor_count(module) == entries, "number of tensors");
	for (uint32_t i = 0; i < entries; i++) {
		struct skrt_tensor tensor = {.size = sizeof(tensor)};
		uint64_t stride = 1;

		check(!skrt_module_tensor(module, i, &tensor), "tensor");
		check(!strcmp(tensor.name, table[i].name), "name");
		check(tensor.dtype == (enum skrt_dtype)table[i].dtype && tensor.role == (enum skrt_role)table[i].role, "type");
		check(tensor.rank == table[i].rank && tensor.bytes == table[i].bytes, "size");
		check(!memcmp(tensor.shape, table[i].shape, sizeof(tensor.shape)), "shape");
		for (uint32_t j = tensor.rank; j-- > 0; stride *= tensor.shape[j])
			check(table[i].strides[j] == stride, "strides");
		check(stride * table[i].element_bytes == tensor.bytes, "size of an element");
		check(table[i].capacity == tensor.bytes + tensor.padding, "capacity");
	}
}

static void check_results(void)
{
	float sum = 0;
	for (int i = 0; i < 4200; i++)
		check(y[i] == 2 * (sum += x[i]), "y");
	for (int i = 0; i < 70; i++)
		check(narrowed[i] == (uint8_t)(narrow[69 - i] + 3), "narrowed");
	memset(y, 0, sizeof(y));
	memset(narrowed, 0, sizeof(narrowed));
}

static struct skrt_device *device;
static struct skrt_module *module;

static enum skrt_status load(const void *package, size_t size)
{
	struct skrt_source source = {.size = sizeof(source), .memory = package, .bytes = size};

	return skrt_module_load_from(device, &source, &module);
}

int main(void)
{
	void *tensors[SK_main_TENSORS];
	struct skrt_instance *instance;
	struct skrt_stream *stream;

	tensors[SK_main_TENSOR_x] = x;
	tensors[SK_main_TENSOR_y] = y;
	tensors[SK_main_TENSOR_layer_x2E0] = narrow;
	tensors[SK_main_TENSOR_layer_0] = summand;
	tensors[SK_main_TENSOR__x2A_x2F_x22evil_x22_x5C_x3F_x3F_x2F_xC3_xA9] = narrowed;
	tensors[SK_main_TENSOR_layer_x2D0] = count;
	for (int i = 0; i < 4200; i++)
		x[i] = (float)(i % 7);
	for (int i = 0; i < 70; i++)
		narrow[i] = (int8_t)(i * 5);
	check(SK_main_LAUNCHES == 2 && SK_main_LANES == 1, "numbers of launches and lanes");
	check(!strcmp(SK_main_launch_table[0].name, "sk_main") && SK_main_launch_table[0].tasks == 2, "the first launch");
	check(SK_main_launch_table[0].workspace_bytes >= sizeof(x) && !SK_main_launch_table[0].scratch_bytes, "workspace");
	check(!strcmp(SK_main_launch_table[1].name, "sk_task_three") && SK_main_launch_table[1].scratch_bytes == 128, "scratch");
	check(SK_main_WORKSPACE_sk_task_three == SK_main_launch_table[1].workspace_bytes + 128, "serial workspace");

	/* The entries, from the package that the program is linked with. */
	check(!sk_main_serial(tensors, workspace) && !sk_task_three_serial(tensors, workspace), "serial entries");
	check_results();
	check(count[0] == 1, "count");

	/* The bytes, and fewer of them. */
	check(!skrt_device_open(NULL, &device), "device");
	check(load(SK_my_net_package, 5000) == SKRT_BAD_PACKAGE, "half a package");
	check(strstr(skrt_error(), "truncated") != NULL, "half a package");
	check(load(NULL, 0) == SKRT_INVALID_ARGUMENT, "NULL");
	check(!load(SK_my_net_package, sizeof(SK_my_net_package)), "load");
	check(sizeof(SK_my_net_package) == SK_my_net_PACKAGE_BYTES, "size");
	compare(module, SK_my_net_tensor_table, SK_my_net_TENSORS);
	compare(module, SK_main_tensor_table, SK_main_TENSORS);
	check(!skrt_instance_create(module, &instance) && !skrt_stream_create(device, &stream), "instance");
	for (uint32_t i = 0; i < SK_my_net_TENSORS; i++)
		check(!skrt_instance_bind(instance, i, tensors[i], SK_my_net_tensor_table[i].capacity), "bind");
	check(!skrt_run_network(stream, instance), "run");
	check_results();
	check(count[0] == 2, "count");
	check(!skrt_stream_destroy(stream) && !skrt_instance_destroy(instance) && !skrt_module_unload(module) &&
	      !skrt_device_close(device), "end");
	puts("right");
	return 0;
}
C
$CC -I"$top_srcdir/loader" -O1 -c use.c -o use.o
$CC $sanitize use.o gcc-bytes.o ./model.sk -o use $libskrt
[ "$(./use)" = right ] || fail "$(./use)"
grep -q '^/\* inout, u32 \[1\] \*/$' model.h || fail "the comment of a tensor"
grep -q '^/\* input, f64 \[1\] \*/$' model.h || fail "the comment of another one"
! grep -q 'evil"\|é' model.h || fail "a name of a tensor is not quoted"

# ---- a launch without memory of its own, a package without a workspace ----
cat >tiny.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [64]}
  y: {dtype: f32, shape: [64]}
tasks:
  - {name: only, kernel: scale, args: [x, y], set: {factor: 2}}
M
"$sklink" tiny.yaml kernels.o -o tiny.sk --header tiny.h --no-task-entries
printf '#include "tiny.h"\nunsigned char workspace[SK_task_only_WORKSPACE_sk_task_only];\n' >tiny.c
gcc -std=c11 $warnings -c tiny.c || fail "a workspace of no bytes"

# ---- determinism, and files that are not replaced ----
mkdir elsewhere && cp model.yaml kernels.o more.o elsewhere/
(cd elsewhere && "$sklink" model.yaml kernels.o more.o -o other.sk --header other.h)
cmp model.h elsewhere/other.h || fail "the header depends on where it is written"
fails_with '^sklink: error: kernels.o: is also an input' "$sklink" tiny.yaml kernels.o -o bad.sk --header kernels.o
fails_with '^sklink: error: ./tiny.yaml: is also an input' "$sklink" tiny.yaml kernels.o -o bad.sk --header ./tiny.yaml
fails_with 'nowhere/bad.h: cannot create' "$sklink" tiny.yaml kernels.o -o bad.sk --header nowhere/bad.h
sed 's/kernel: scale/kernel: skale/' tiny.yaml >wrong.yaml
fails_with "kernel 'skale'" "$sklink" wrong.yaml kernels.o -o bad.sk --header bad.h
fails_with '^sklink: error: --embed puts the package into a header; say --header=FILE$' "$sklink" tiny.yaml kernels.o \
	-o bad.sk --embed
fails_with '^sklink: error: --embed wants a package that can be loaded' "$sklink" tiny.yaml kernels.o -o bad.o --embed \
	--header bad.h -r
fails_with '^sklink: error: --version-script selects a package.s exports; with -r, ' "$sklink" tiny.yaml kernels.o -o \
	bad.o --version-script v -r
[ -z "$(ls | grep '^bad\|tmp')" ] || fail "left behind: $(ls)"
