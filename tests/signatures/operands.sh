#!/bin/bash
# Kernels of any number of operands: a table of as many addresses as the task has tensors for it. By op, by name and by
# place, with several numbers of them in one package, in place of one of them, divided in every way there is, against
# plain loops.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
cat >kernels.c <<'C'
#include "skkernel.h"

/* y = w[0] * (1 * x[0] + 2 * x[1] + …) */
void weigh(float *y, const float *w, const float *const *x, int64_t n, int32_t count)
{
	for (int64_t i = 0; i < n; i++) {
		float sum = 0;

		for (int32_t k = 0; k < count; k++)
			sum += (float)(k + 1) * x[k][i];
		y[i] = w[0] * sum;
	}
}
SK_KERNEL(weigh, "split=n op=Weigh; out y@x f32[n], in w f32[1], in x[] f32[n], n i64, count i32 = count(x)");

/* Rows side by side. */
int stack(const float *const *x, int64_t count, float *y, int64_t rows, int64_t k, int64_t all)
{
	for (int64_t r = 0; r < rows; r++)
		for (int64_t c = 0; c < all; c++)
			y[r * all + c] = x[c / k][r * k + c % k];
	return all != count * k;
}
SK_KERNEL(stack, "tile=m:3 op=Stack; in x[] f32[m,k], count i64 = count(x), out y f32[m,a], m i64, k i64, a i64 -> status");

/* The last of the largest, block by block; the scratch has the largest of the elements before. */
void largest(const struct sk_block *block, float *t, const float *const *x, float *y, uint64_t n, uint64_t bytes)
{
	uint64_t low, high, count = bytes / 4;

	sk_block_range(block, n, &low, &high);
	for (uint64_t i = low; i < high; i++) {
		for (uint64_t k = 0; k < count; k++)
			t[k] = x[k][i];
		y[i] = t[0];
		for (uint64_t k = 1; k < count; k++)
			y[i] = y[i] < t[k] ? t[k] : y[i];
	}
}
SK_KERNEL(largest, "blocks=n op=Largest; block, scratch t f32[count(x)], in x[] f32[n], out y f32[n], n u64, bytes u64 = 4*count(x)");

/* Always three. */
void three(const float *const *x, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[0][i] + x[1][i] + x[2][i];
}
SK_KERNEL(three, "split=n op=Three; in x[3] f32[n], out y f32[n], n i64");
C
compile kernels
cat >main.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
enum { N = 1200, ROW = 4 };
static float w[1] = {0.5f}, a[N], b[N], c[N], d[N], one[N], five[N], place[N], most[N], three[N], stacked[3 * N];

int main(int count, char **arguments)
{
	void *package = dlopen(arguments[1], RTLD_NOW);
	int (*run)(void *const *, void *) = package ? dlsym(package, "sk_s_serial") : NULL;
	void *tensors[] = {w, a, b, c, d, one, five, place, most, three, stacked};

	if (!run || count != 2)
		return 1;
	for (int i = 0; i < N; i++) {
		a[i] = (float)(i * 7919 % 1000);
		b[i] = (float)(i * 104729 % 997);
		c[i] = (float)(i % 17);
		d[i] = (float)(i % 5);
	}
	if (run(tensors, aligned_alloc(64, 1 << 20)))
		return 1;
	for (int i = 0; i < N; i++) {
		float all = 0.5f * (1 * a[i] + 2 * b[i] + 3 * c[i] + 4 * d[i] + 5 * (0.5f * a[i]));
		float in_place = 0.5f * (1 * all + 2 * (all + a[i] + b[i]));
		float larger = in_place < all ? all : in_place;

		if (one[i] != 0.5f * a[i] || five[i] != all || three[i] != all + a[i] + b[i] || place[i] != in_place ||
		    most[i] != (larger < c[i] ? c[i] : larger) || stacked[i / ROW * 3 * ROW + i % ROW] != most[i] ||
		    stacked[(i / ROW * 3 + 1) * ROW + i % ROW] != a[i] || stacked[(i / ROW * 3 + 2) * ROW + i % ROW] != b[i]) {
			printf("%d: %g %g %g %g %g\n", i, one[i], five[i], three[i], place[i], most[i]);
			return 1;
		}
	}
	return 0;
}
C
cc -o main main.c -ldl

# model NAME TASK…: with these tasks.
model() {
	cat >$1.yaml <<-M
	sklink: 1
	tensors:
	  w: {dtype: f32, shape: [1]}
	$(tensors '[300, 4]' a b c d)
	$(tensors '[300, 4], role: output' one five place most three)
	  stacked: {dtype: f32, shape: [300, 12], role: output}
	tasks:
	  - {name: one, scope: s, $2}
	  - {name: five, scope: s, $3}
	  - {name: three, scope: s, $4}
	  - {name: copy, scope: s, $5}
	  - {name: place, scope: s, $6}
	  - {name: most, scope: s, $7}
	  - {name: stack, scope: s, $8}
	M
}
model by-op 'op: Weigh, inputs: [w, a], outputs: one' 'op: Weigh, inputs: [w, a, b, c, d, one], outputs: five' \
	'op: Three, inputs: [five, a, b], outputs: three' 'op: Three, inputs: [five, a, b], outputs: place' \
	'op: Weigh, inputs: [w, five, place], outputs: place' 'op: Largest, inputs: [place, five, c], outputs: most' \
	'op: Stack, inputs: [most, a, b], outputs: stacked'
model by-place 'op: Weigh, args: [one, w, a]' 'op: Weigh, args: [five, w, a, b, c, d, one]' \
	'op: Three, args: [five, a, b, three]' \
	'kernel: three, args: [five, a, b, place]' 'kernel: weigh, args: [place, w, five, place]' \
	'op: Largest, args: [place, five, c, most]' 'kernel: stack, args: [most, a, b, stacked]'
model by-name 'kernel: weigh, args: {y: one, w: w, "x[0]": a}' \
	'kernel: weigh, args: {"x[4]": one, "x[3]": d, "x[2]": c, "x[1]": b, "x[0]": a, w: w, y: five}' \
	'kernel: three, args: {y: three, "x[0]": five, "x[1]": a, "x[2]": b}' \
	'op: Three, args: {y: place, "x[0]": five, "x[1]": a, "x[2]": b}' \
	'op: Weigh, args: {"x[1]": place, "x[0]": five, w: w, y: place}' \
	'kernel: largest, args: {"x[0]": place, "x[1]": five, "x[2]": c, y: most}' \
	'op: Stack, args: {y: stacked, "x[0]": most, "x[1]": a, "x[2]": b}'
for form in by-op by-place by-name; do
	for device in host a3; do
		sed "s/^sklink: 1/&\ndevice: $device/" $form.yaml >on-device.yaml
		"$sklink" on-device.yaml kernels.o -o $form.sk
		proved $form.sk
		works $form.sk
		for options in --unfused --check-races '--check-split --cores 3'; do
			"$skrun" $form.sk --random 1 $options >out.txt || { cat out.txt; fail "$form: $options"; }
		done
	done
done

# One function, and a signature for each number of operands; tasks of one number share it. Fields are in tile groups
# like pointers.
for text in 'in x[1] f32[n]' 'in x[5] f32[n]' 'in x[2] f32[n]' 'in x[3] f32[m,k]'; do
	grep -qaF "$text" by-op.sk || fail "no signature with '$text'"
done
"$skdump" --reasons by-op.sk >reasons.txt
grep -q '^ *five .* TILE_JOINED' reasons.txt || { cat reasons.txt; fail "tables of operands are in no tile group"; }

# ---- errors ----

# one_task TASK: model.yaml.
one_task() {
	cat >model.yaml <<-M
	sklink: 1
	tensors:
	  w: {dtype: f32, shape: [1]}
	  i: {dtype: i32, shape: [8]}
	  short: {dtype: f32, shape: [7]}
	$(tensors '[8]' a b)
	$(tensors '[8], role: output' y)
	tasks:
	  - {name: it, $1}
	M
}
one_task 'kernel: weigh, args: [y, w]'
refused "model.yaml:.*: kernel 'weigh': 'x' is 1 to 123 tensors, but 0 are left for it" kernels.o
one_task "kernel: weigh, inputs: [w$(printf ', a%.0s' {1..124})], outputs: y"
refused "'x' is 1 to 123 tensors, but 124 are left for it" kernels.o
one_task "op: Weigh, inputs: [w$(printf ', a%.0s' {1..124})], outputs: y"
refused "weigh \(.*\): 'x' is 1 to 123 tensors, but 124 are left for it" kernels.o
one_task "op: Weigh, inputs: [w$(printf ', a%.0s' {1..123})], outputs: y"
"$sklink" model.yaml kernels.o -o most.sk
proved most.sk
"$skrun" most.sk --random 1 --verify >out.txt || fail "123 operands"
one_task 'kernel: weigh, inputs: [w, a, i], outputs: y'
refused "argument 'x\[1\]' is f32, but tensor 'i' is i32" kernels.o
one_task 'kernel: weigh, inputs: [w, a, short], outputs: y'
refused "extent 'n' is 7 in 'x\[1\]'.*but 8|extent 'n'" kernels.o
one_task 'kernel: weigh, inputs: [w, a, null], outputs: y'
refused "argument 'x\[1\]' cannot be absent" kernels.o
one_task 'kernel: weigh, args: {w: w, x: a, y: y}'
refused "'x' is a table of tensors, which are 'x\[0\]', 'x\[1\]'|'x' is 1 to 123 tensors, but 0" kernels.o
one_task 'kernel: weigh, args: {w: w, "x[0]": a, "x[2]": b, y: y}'
refused "no parameter 'x\[2\]'" kernels.o
one_task 'kernel: three, args: [a, b, y, y]'
refused "'y' overlaps 'x\[2\]', and one of them is written; a signature that allows this says y@x$" kernels.o
