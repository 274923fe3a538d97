#!/bin/bash
# Tensors of rank 0, which are one element, and tensors without elements: from the manifest to files, headers and the
# interfaces of programs.
. "$top_srcdir/tests/lib/lib.sh"

# array TYPE SHAPE BYTES…: a .npy file on standard output; BYTES as printf has them.
array() {
	dictionary="{'descr': '$1', 'fortran_order': ${order:-False}, 'shape': $2, }"
	printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "$dictionary"
	printf "${3-}"
}

# floats FILE: its elements.
floats() {
	tail -c +129 "$1" | od -An -v -tf4 -w4 | tr -d ' ' | tr '\n' ' '
}

cat >kernels.c <<'C'
#include "skkernel.h"
void total(const float *x, float *y, long n)
{
	float sum = 0;
	for (long i = 0; i < n; i++)
		sum += x[i];
	y[0] = sum;
}
SK_KERNEL(total, "op=Total; in x f32[n], out y f32[1], n i64");
float mean(const float *x, long n)
{
	float sum = 0;
	for (long i = 0; i < n; i++)
		sum += x[i];
	return sum / (float)n;
}
SK_KERNEL(mean, "in x f32[n], n i64 -> out y f32");
void scale(const float *x, const float *by, float *y, float factor, long n)
{
	for (long i = 0; i < n; i++)
		y[i] = x[i] * by[0] * factor;
}
SK_KERNEL(scale, "split=n; in x f32[n], in by f32[1], out y f32[n], factor f32, n i64");
C
compile kernels

# ---- rank 0 ----
cat >scalars.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [300]}
  by: {dtype: f32, shape: []}
  two: {dtype: f32, shape: [], fill: 2}
  three: {dtype: f32, shape: [], data: [3]}
  four: {dtype: f32, shape: [], data: four.npy}
  a: {dtype: f32, shape: [300]}
  b: {dtype: f32, shape: [300]}
  c: {dtype: f32, shape: [300]}
  sum: {dtype: f32, shape: []}
  part: {of: sum, shape: [], offset: []}
  mean: {dtype: f32, shape: [], role: output}
  state: {dtype: f32, shape: [], role: inout}
  final: {dtype: f32, shape: []}
tasks:
  - {name: a, kernel: scale, args: [x, by, a], set: {factor: 1}, scope: s}
  - {name: b, kernel: scale, args: [a, two, b], set: {factor: {tensor: three}}, scope: s}
  - {name: c, kernel: scale, args: [b, four, c], set: {factor: 1}, scope: s}
  - {name: sum, op: Total, args: [c, part], scope: s}
  - {name: mean, kernel: mean, args: [a, mean], scope: s}
  - {name: state, kernel: scale, args: [sum, state, final], set: {factor: {tensor: mean}}, scope: s}
M
array '<f4' '()' '\x00\x00\x80\x40' >four.npy
order=True array '<f4' '()' '\x00\x00\x00\x3f' >by.npy
array '<f4' '()' '\x00\x00\x80\x3f' >state.npy
array '<f4' '(300,)' "$(printf '\\x00\\x00\\x80\\x3f%.0s' {1..300})" >x.npy
"$sklink" scalars.yaml kernels.o -o scalars.sk --header scalars.h --report report.json
proved scalars.sk
"$skrun" scalars.sk --input x=x.npy --input by=by.npy --input state=state.npy --output final=final.npy --output \
	mean=mean.npy \
	--output state=state2.npy
# a is 0.5, b is 3, c is 12: the sum 3600, the mean 0.5.
[ "$(floats final.npy)$(floats mean.npy)" = '1800 0.5 ' ] || fail "results: $(floats final.npy)$(floats mean.npy)"
cmp state.npy state2.npy || fail "a file of rank 0 is not what it was"
"$skrun" scalars.sk --random 3 --verify | grep -q bit-identical
"$skrun" scalars.sk --random 3 --guard >guard.txt
"$skrun" scalars.sk --random 3 | grep -qE '^output  final  f32 \[\]: [-0-9.e+]+ \(sum' || fail "no summary of rank 0"
"$skrun" --list scalars.sk | grep -qx 'input   by  f32 \[\]' || fail "no list of rank 0"
"$skdump" --bindings scalars.sk >bindings.txt
grep -qE ' by +input +f32 +\[\] +4$' bindings.txt || fail "skdump: $(cat bindings.txt)"
gcc -Wall -Wextra -Werror -Wconversion -pedantic -xc -fsyntax-only - <<'C' || fail "the header is no C"
#include "scalars.h"
_Static_assert(SK_s_BYTES_by == 4 && SK_s_BYTES_final == 4, "bytes");
unsigned rank(void);
unsigned rank(void) { return SK_s_tensor_table[SK_s_TENSOR_by].rank; }
C
array '<f4' '(1,)' '\x00\x00\x80\x40' >one.npy
fails_with "one.npy: input 'by': the shape is \[1\], wanted is \[\]" "$skrun" scalars.sk --random 1 --input by=one.npy

# Properties that a tensor without dimensions cannot have.
refused() {
	printf 'sklink: 1\ntensors:\n  x: {dtype: f32, shape: [4]}\n  s: {dtype: f32, shape: []}\n%b\ntasks:\n  - {name: t, kernel: scale, args: [x, s, "y"], set: {factor: 1}}\n' \
		"  \"y\": {dtype: f32, shape: [4]}\\n$1" >bad.yaml
	fails_with "$2" "$sklink" bad.yaml kernels.o -o bad.sk
}
refused '  v: {of: s, as: u8}' "bad.yaml:6:18: view 'v' cannot be u8: 's' has no dimension that could count its 4 bytes"
refused '  v: {of: x, shape: []}' "bad.yaml:6:3: view 'v' needs as many dimensions as 'x', which is \[4\]"
refused '  v: {of: s, shape: [1]}' "bad.yaml:6:3: view 'v' needs as many dimensions as 's', which is \[\]"
refused '  c: {dtype: f32, shape: [], data: [1, 2]}' "bad.yaml:6:36: constant 'c' has 1 elements, not 2"
refused '  c: {dtype: f32, shape: [], data: [[1]]}' "bad.yaml:6:37: an element of constant 'c' is f32, not a list"
sed 's/f32, shape: \[4\]/f32, shape: []/' bad.yaml | sed 's/\[\[1\]\]/[1]/' >good.yaml
"$sklink" good.yaml kernels.o -o good.sk 2>warnings.txt
proved good.sk
cat >rows.c <<'C'
#include "skkernel.h"
void rows(const float *x, float *y, long m, long k) { for (long i = 0; i < m; i++) y[i] = x[i * k]; }
SK_KERNEL(rows, "in x f32[m,k], out y f32[m], m i64, k i64");
C
compile rows
printf 'sklink: 1\ntensors:\n  s: {dtype: f32, shape: []}\n  c: {dtype: i8, shape: [], fill: 1}\n  bits: {of: c, as: u8}\n  "y": {dtype: f32, shape: []}\ntasks:\n  - {name: t, kernel: rows, args: [s, "y"]}\n' >bad.yaml
fails_with "argument 'x' has 2 dimensions, but tensor 's' is \[\]" "$sklink" bad.yaml rows.o -o bad.sk

# ---- no elements ----
cat >product.c <<'C'
#include "skkernel.h"
void product(const float *a, const float *b, float *y, long m, long k, long n)
{
	for (long i = 0; i < m; i++)
		for (long j = 0; j < n; j++) {
			float sum = 0;
			for (long l = 0; l < k; l++)
				sum += a[i * k + l] * b[l * n + j];
			y[i * n + j] = sum;
		}
}
SK_KERNEL(product, "op=Product split=m; in a f32[m,k], in b f32[k,n], out y f32[m,n], m i64, k i64, n i64");
void append(const float *a, const float *b, float *y, long m, long n)
{
	for (long i = 0; i < m; i++)
		y[i] = a[i];
	for (long i = 0; i < n; i++)
		y[m + i] = b[i];
}
SK_KERNEL(append, "in a f32[m], in b f32[n], out y f32[m+n], m i64, n i64");
void head(const float *x, float *first, float *rest, long n)
{
	*first = x[0];
	for (long i = 1; i < n; i++)
		rest[i - 1] = x[i];
}
SK_KERNEL(head, "in x f32[n], out first f32[1], out rest f32[n-1], n i64");
void reduce(const float *x, float *y, float *room, long o, long k, long i, long bytes)
{
	for (long a = 0; a < o * i; a++)
		y[a] = (float)(k * 100 + bytes);
	for (long a = 0; a < o * k * i; a++)
		y[0] += room[0] = x[a];
}
SK_KERNEL(reduce, "op=Reduce; in x f32[o,k,i], out y f32[o,i], scratch room f32[k*i], o i64, k i64, i i64, bytes i64 = sizeof(x)");
C
compile product
cat >empty.yaml <<'M'
sklink: 1
tensors:
  a: {dtype: f32, shape: [5, 0]}
  b: {dtype: f32, shape: [0, 7]}
  y: {dtype: f32, shape: [5, 7]}
  none: {dtype: f32, shape: [0, 4], data: []}
  more: {dtype: f32, shape: [4, 0], data: none.npy}
  filled: {dtype: f32, shape: [0], fill: 3}
  t: {dtype: f32, shape: [0, 4]}
  u: {dtype: f32, shape: [0, 4], role: output}
  x: {dtype: f32, shape: [8]}
  some: {of: x, shape: [0], offset: [8]}
  joined: {dtype: f32, shape: [8]}
  one: {dtype: f32, shape: [1]}
  first: {dtype: f32, shape: []}
  rest: {dtype: f32, shape: [0]}
  cube: {dtype: f32, shape: [3, 0, 2]}
  flat: {dtype: f32, shape: [3, 2]}
  huge: {dtype: f32, shape: [0, 1024, 1024, 1024]}
  wide: {dtype: f32, shape: [0, 1024, 1024, 1024]}
tasks:
  - {name: y, op: Product, args: [a, b, "y"], scope: s}
  - {name: t, kernel: scale, args: [none, two, t], set: {factor: 1}, scope: s}
  - {name: u, kernel: scale, args: [t, two, u], set: {factor: {tensor: two}}, scope: s}
  - {name: joined, kernel: append, args: [x, some, joined], scope: s, after: u}
  - {name: rest, kernel: head, args: [one, first, rest], scope: s}
  - {name: reduce, op: Reduce, args: [cube, flat], scope: s}
  - {name: wide, kernel: scale, args: [huge, two, wide], set: {factor: 1}}
M
sed -i 's/^  one:/  two: {dtype: f32, shape: [], fill: 2}\n  one:/; s/  y: /  "y": /' empty.yaml
array '<f4' '(4, 0)' >none.npy
"$sklink" --scope-options s=profiling=1 empty.yaml kernels.o product.o -o empty.sk --header empty.h --report \
	report.json --explain u --explain y >out.txt 2>warnings.txt ||
	fail "$(cat warnings.txt)"
grep -q "^task 'u': it has nothing to compute" out.txt || fail "--explain: $(cat out.txt)"
grep -q '"idle": \["t", "u", "wide"\]' report.json || fail "--report: $(grep idle report.json)"
proved empty.sk
"$skrun" --list empty.sk | grep -qx 'output  u  f32 \[0, 4\]' || fail "--list: $("$skrun" --list empty.sk)"
for order in False True; do
	array '<f4' '(5, 0)' >a.npy
	array '<f4' '(1,)' '\x00\x00\x80\x3f' >one.npy
	"$skrun" empty.sk --random 1 --input a=a.npy --input one=one.npy --output y=y.npy --output flat=flat.npy \
		--output u=u.npy \
		--output rest=rest.npy --output joined=joined.npy --output first=first.npy
done
[ "$(floats y.npy)" = "$(printf '0 %.0s' {1..35})" ] || fail "an empty sum: $(floats y.npy)"
[ "$(floats flat.npy)" = '0 0 0 0 0 0 ' ] || fail "extents of 0: $(floats flat.npy)"
[ "$(floats first.npy)" = '1 ' ] || fail "one element: $(floats first.npy)"
order=
array '<f4' '(0, 4)' >wanted.npy
cmp u.npy wanted.npy || fail "the file of no elements"
"$skrun" empty.sk --random 1 | grep -qx 'output  u  f32 \[0, 4\]: (sum 0, hash cbf29ce484222325)' ||
	fail "a summary: $("$skrun" empty.sk --random 1)"
"$skrun" empty.sk --random 1 --verify | grep -q bit-identical || fail "runs differ"
for options in '--guard' '--check-races' '--check-split' '--profile' '--trace trace.json' '--unfused' '--serial' \
	'--measure costs.txt' '--device a3'; do
	"$skrun" empty.sk --random 1 $options >out.txt || fail "$options"
done
"$skrun" empty.sk --predict --costs costs.txt >out.txt
gcc -Wall -Wextra -Werror -Wconversion -pedantic -xc -fsyntax-only - <<'C' || fail "the header is no C"
#include "empty.h"
_Static_assert(SK_s_BYTES_u == 0 && SK_s_CAPACITY_a == 0, "bytes");
C

# Nothing at all to compute.
printf 'sklink: 1\ntensors:\n  s: {dtype: f32, shape: [0]}\n  b: {dtype: f32, shape: [1]}\n  "y": {dtype: f32, shape: [0]}\ntasks:\n  - {name: t, kernel: scale, args: [s, b, "y"], set: {factor: 1}, scope: s}\n' >nothing.yaml
"$sklink" nothing.yaml kernels.o -o nothing.sk --header nothing.h --report report.json
"$sklink" nothing.yaml kernels.o -r -o nothing.o
proved nothing.sk
"$skrun" nothing.sk --random 1 --verify | grep -q 'bit-identical (1 output, 0 bytes' || fail "nothing differs"
for options in '' '--guard' '--unfused' '--serial' '--profile' '--measure costs.txt' '--trace trace.json'; do
	"$skrun" nothing.sk --random 1 $options >out.txt || fail "nothing: $options"
done
"$skrun" nothing.sk --predict >out.txt
gcc -Wall -Wextra -Werror -Wconversion -pedantic -xc -fsyntax-only nothing.h || fail "the header of nothing is no C"

# Kernels that are called all the same: rows in a table, alignment, reads after an empty tensor, hidden state.
cat >called.c <<'C'
#include "skkernel.h"
void rows(const float *const *x, float *y, const float *behind, long m, long k, float *room)
{
	volatile float unused = behind[7];
	float sum = 0;
	(void)unused;
	for (long i = 0; i < m; i++)
		for (long j = 0; j < k; j++)
			sum += room[j] = x[i][j];
	for (long i = 0; i < m; i++)
		y[i] = sum + (float)k;
}
SK_KERNEL(rows, "align=64; rows ptr[m] of in x f32[m,k], out y f32[m], in behind f32[k]+32, m i64, k i64, scratch room f32[k*2]");
C
compile called
cat >called.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [16, 0]}
  cut: {of: x, offset: [3, 0], shape: [4, 0]}
  behind: {dtype: f32, shape: [0]}
  t: {dtype: f32, shape: [0]}
  none: {dtype: f32, shape: [0], fill: 1}
  two: {dtype: f32, shape: [], fill: 2}
  "y": {dtype: f32, shape: [4]}
  z: {dtype: f32, shape: [4]}
  w: {dtype: f32, shape: [4]}
tasks:
  - {name: t, kernel: scale, args: [behind, two, t], set: {factor: 1}}
  - {name: "y", kernel: rows, args: [cut, "y", behind], scope: s}
  - {name: z, kernel: rows, args: [cut, z, t], scope: s}
  - {name: w, kernel: rows, args: [cut, w, none], scope: s}
M
"$sklink" called.yaml kernels.o called.o -o called.sk
proved called.sk
"$skrun" called.sk --random 1 --guard --output y=y.npy --output z=z.npy --output w=w.npy
[ "$(floats y.npy)$(floats z.npy)$(floats w.npy)" = "$(printf '0 %.0s' {1..12})" ] ||
	fail "rows of nothing: $(floats y.npy)"
"$skrun" called.sk --random 1 --verify | grep -q bit-identical
cat >state.c <<'C'
#include "skkernel.h"
static int calls;
void count(const float *x, float *y, long n)
{
	calls++;
	for (long i = 0; i < n; i++)
		y[i] = (float)calls + 0 * x[i];
}
SK_KERNEL(count, "in x f32[n], out y f32[n], n i64");
C
compile state
cat >state.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [0]}
  u: {dtype: f32, shape: [0]}
  v: {dtype: f32, shape: [3]}
  "y": {dtype: f32, shape: [3]}
tasks:
  - {name: nothing, kernel: count, args: [x, u]}
  - {name: three, kernel: count, args: [v, "y"]}
M
"$sklink" state.yaml state.o -o state.sk
proved state.sk
"$skrun" state.sk --random 1 --output y=y.npy
[ "$(floats y.npy)" = '2 2 2 ' ] || fail "a kernel with hidden state was not called: $(floats y.npy)"
printf 'sklink: 1\ntensors:\n  x: {dtype: f32, shape: [3, 0]}\n  "y": {dtype: f32, shape: [2]}\ntasks:\n  - {name: t, kernel: rows, args: [x, "y"]}\n' >bad.yaml
fails_with "extent 'm' is 2 in argument 'y'.*, but 3 in argument 'x'" "$sklink" bad.yaml rows.o -o bad.sk

# ---- in programs ----
cat >program.c <<'C'
#include <stdalign.h>
#include <stdio.h>
#include <string.h>
#include "skrt.h"

static alignas(64) float memory[8][64];

static int bind(const struct skrt_module *module, struct skrt_instance *instance)
{
	for (uint32_t i = 0; i < skrt_module_tensor_count(module); i++) {
		struct skrt_tensor tensor = {.size = sizeof(tensor)};

		if (skrt_module_tensor(module, i, &tensor))
			return 1;
		if (tensor.bytes && skrt_instance_bind(instance, i, NULL, tensor.bytes) != SKRT_INVALID_ARGUMENT)
			return 2;
		if (skrt_instance_bind(instance, i, tensor.bytes ? memory[i] : NULL, tensor.bytes))
			return 3;
		if (!tensor.bytes && skrt_instance_bind_array(instance, tensor.name, tensor.dtype, tensor.rank, tensor.shape, NULL))
			return 4;
	}
	/* Nothing overlaps nothing, wherever that is. */
	return skrt_instance_bind(instance, 1, (char *)memory[2] + 64, 0);
}

int main(void)
{
	struct skrt_device *device;
	struct skrt_module *module;
	struct skrt_instance *instance;
	struct skrt_stream *stream;

	if (skrt_device_open(NULL, &device) || skrt_module_load(device, "state.sk", &module) ||
	    skrt_instance_create(module, &instance) || skrt_stream_create(device, &stream))
		return 10;
	int status = bind(module, instance);

	if (!status && skrt_run_network(stream, instance))
		status = 5;
	if (status)
		printf("%s\n", skrt_error());
	else
		printf("%g\n", (double)memory[3][0]);
	return status;
}
C
sanitize=$(sed -n 's/^SANITIZE_CFLAGS = //p' "$top_builddir/Makefile")
libskrt="$top_builddir/.libs/libskrt.a $(sed -n "s/^Libs.private: //p" "$top_builddir/loader/libskrt.pc")"
gcc -Wall -Wextra -Werror $sanitize -I"$top_srcdir/loader" -o program program.c $libskrt
[ "$(./program)" = 2 ] || fail "a program: $(./program)"
