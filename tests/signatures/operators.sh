#!/bin/bash
# Tasks that name operators with attributes: numbers, words and lists reach the function, tensors that are absent are
# null, and operands are matched by direction. As `op` and as `kernel`, fused and not, on several numbers of cores,
# against plain loops.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
cat >kernels.c <<'C'
#include "skkernel.h"
#include <stddef.h>

struct shape { const int64_t *dims; const float *weights; int64_t rank; };

/* y[i] = alpha * x[i] + bias[i] + the weights' sum + (last - axis) + the dimensions' product; the sum of x if it is an output. */
int affine(float *y, const float *bias, float *half, const float *x, int64_t n, int64_t axis, float alpha, double beta,
	   const struct shape *shape, const int64_t *none, uint8_t last)
{
	float all = (float)beta;

	if (none)
		return 1;
	for (int64_t d = 0; d < shape->rank; d++)
		all += shape->weights[d] * (float)shape->dims[d];
	for (int64_t i = 0; i < n; i++) {
		y[i] = alpha * x[i] + (bias ? bias[i] : 0) + all + (float)(last - axis);
		if (half)
			half[i] = x[i] / 2;
	}
	return 0;
}
SK_KERNEL(affine, "split=n op=Affine(mode=linear,k=2,ratio=0.1,kind=[1,2]); out y f32[n], in? bias f32[n], out? half f32[n], "
		  "in x f32[n], n i64, axis i64 = attr(axis), alpha f32 = attr(alpha,0.25), beta f64 = attr(beta), "
		  "shape {dims ptr = attr(dims), weights ptr = attr(weights), rank i64 = attr(rank)}*, none ptr = attr(none, "
		  "null), last u8 = 2*attr(axis)+1 -> status");

void increment(float *y, const float *x, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] += x[i];
}
SK_KERNEL(increment, "split=n op=Increment; inout y f32[n], in x f32[n], n i64");
C
compile kernels
cat >main.c <<'C'
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
enum { N = 1000 };
static float x[N], b[N], y[N], z[N], h[N];

int main(int count, char **arguments)
{
	void *package = dlopen(arguments[1], RTLD_NOW);
	int (*run)(void *const *, void *) = package ? dlsym(package, "sk_s_serial") : NULL;
	void *tensors[] = {x, b, y, z, h};

	if (!run || count != 2)
		return 1;
	for (int i = 0; i < N; i++) {
		x[i] = (float)((i * 7919 + 13) % 1000) / 8;
		b[i] = (float)(i % 17);
	}
	if (run(tensors, aligned_alloc(64, 1 << 20)))
		return 1;
	for (int i = 0; i < N; i++) {
		/* weights * dims: 0.5 * 3 - 2 * 4 = -6.5; last - axis is 2 * 3 + 1 - 3 */
		float wanted = 3 * x[i] + b[i] + (100 - 6.5f) + 4;
		float other = 0.25f * x[i] + (-1 - 6.5f) + (2 * 0 + 1);

		if (y[i] != wanted || z[i] != other + wanted || h[i] != x[i] / 2) {
			printf("%d: %g %g %g\n", i, y[i], z[i], h[i]);
			return 1;
		}
	}
	return 0;
}
C
cc -o main main.c -ldl

# model FIRST SECOND THIRD: with these three tasks.
model() {
	cat <<-M
	sklink: 1
	tensors:
	$(tensors '[1000]' x b)
	$(tensors '[1000], role: output' y z h)
	tasks:
	  - {name: first, scope: s, $1, attr: {axis: 3, alpha: 3, beta: 100.0, $common}}
	  - {name: second, scope: s, $2, attr: {axis: 0, beta: -1, none: [], $common}}
	  - {name: third, scope: s, $3}
	M
}
common='dims: [3, 4], weights: [0.5, -2], rank: 2, mode: linear, k: 2, ratio: 0.1, kind: [1, 2.0]'
model 'kernel: affine, args: [y, b, h, x]' 'kernel: affine, args: {x: x, y: z}' 'kernel: increment, args: [z, y]' \
	>by-name.yaml
model 'op: Affine, inputs: [b, x], outputs: [y, h]' 'op: Affine, inputs: [null, x], outputs: z' \
	'op: Increment, inputs: [z, y], outputs: z' >by-op.yaml
model 'op: Affine, args: [y, b, h, x]' 'op: Affine, args: [z, ~, null, x]' 'op: Increment, args: [z, y]' >by-place.yaml
for form in by-name by-op by-place; do
	"$sklink" $form.yaml kernels.o -o $form.sk
	proved $form.sk
	works $form.sk
	"$skrun" $form.sk --random 1 --unfused >out.txt || fail "$form: --unfused"
done

# Equal lists are one constant: two of 16 and 8 bytes, at multiples of 64.
"$skdump" --all by-op.sk >plan.txt
grep -q 'constants  *72 bytes' plan.txt || { cat plan.txt; fail "there are other constants"; }

# ---- which kernel ----

# library NAME RESULT WORDS…: libNAME.a with a kernel NAME of op=Fill, which writes the result, for each of the words in
# its signature.
library() {
	name=$1 result=$2
	shift 2
	echo '#include "skkernel.h"' >$name.c
	for words in "$@"; do
		kernel=$name$((number += 1))
		cat >>$name.c <<-C
		void $kernel(float *y, long n) { for (long i = 0; i < n; i++) y[i] = $((result + number)); }
		SK_KERNEL($kernel, "$words, n i64");
		C
	done
	number=0
	compile $name
	ar rc lib$name.a $name.o
}
number=0
library first 10 'split=n op=Fill; out y f32[n]' 'split=n op=Fill(k=1); out y f32[n]' \
	'split=n op=Fill isa=x86-64-v3; out y f32[n]' \
	'split=n op=Fill isa=x86-64-v4; out y f32[n]' 'split=n op=Fill(k=2); out y f32[n]' 'op=Fill(k=2); out y f32[n]'
library second 20 'split=n op=Fill; out y f32[n]' 'split=n op=Fill(k=3,l=1); out y f32[n]'
cat >model.yaml <<-M
sklink: 1
tensors: {y: {dtype: f32, shape: [64]}}
tasks:
  - {name: t, op: Fill, args: [y], attr: {}}
M
# picks KERNEL ATTRIBUTES ARGUMENT…: linking the model with the arguments picks the kernel for a task with these
# attributes.
picks() {
	wanted=$1
	sed -i "s/attr: .*/attr: {$2}}/" model.yaml
	shift 2
	"$sklink" -L . "$@" -o out.sk
	"$skdump" --explain t out.sk | grep -q "kernel '$wanted'" || { "$skdump" --explain t out.sk;
		fail "not $wanted: $*"; }
}
picks first3 '' model.yaml -lfirst -lsecond
picks first3 '' --isa=x86-64-v3 model.yaml -lfirst -lsecond
picks first1 '' --isa=x86-64-v2 model.yaml -lfirst -lsecond
picks first4 '' --isa x86-64-v4 model.yaml -lfirst -lsecond
picks second1 '' model.yaml -lsecond -lfirst
picks second1 '' model.yaml second.o -lfirst
picks first2 'k: 1' model.yaml -lsecond -lfirst
picks first2 'k: 1' --isa=x86-64-v4 model.yaml -lfirst
picks second2 'k: 3, l: 1' model.yaml -lfirst -lsecond
"$sklink" -L . --isa=native model.yaml -lfirst -lsecond -o out.sk
grep -q . <<<"$("$skrun" out.sk)" || fail "a package for this machine does not run on it"

# The explanation of a task gives the reason why each of the other kernels was not picked.
# others NAME OBJECT REASON: the explanation in said.txt names the kernel, and the reason against it.
others() {
	grep -qxF "    $1 (./lib$2.a($2.o)): $3" said.txt || { cat said.txt; fail "--explain does not say of $1: $3"; }
}
sed -i 's/attr: .*/attr: {k: 1}}/' model.yaml
"$sklink" -L . model.yaml -lfirst -lsecond -o out.sk --explain t >said.txt
grep -q "kernel 'first2'" said.txt || { cat said.txt; fail "first2 is not picked"; }
others first1 first "attribute 'k' is 1, but the kernel does not know it"
others first4 first 'needs x86-64-v4, which --isa does not allow'
others first5 first "attribute 'k' is 1, but the kernel wants 2"
others second2 second "attribute 'k' is 1, but the kernel wants 3"
! grep -q '^    first2 ' said.txt || fail "the picked kernel is among the others"
sed -i 's/attr: .*/attr: {}}/' model.yaml
"$sklink" -L . model.yaml -lfirst -lsecond -o out.sk --explain t >said.txt
others first1 first 'it fits, but first3 uses more of the instruction set'
others second1 second 'it fits, but first3 is in an earlier library'
[ "$(grep -n 'second1 (' said.txt | cut -d: -f1)" -lt "$(grep -n 'first2 (' said.txt | cut -d: -f1)" ] ||
	fail "the nearest is not the first"
cat >fixed.c <<'C'
#include "skkernel.h"
void any(float *y, long n) { for (long i = 0; i < n; i++) y[i] = 1; }
SK_KERNEL(any, "op=Fill; out y f32[n], n i64");
void only(float *y) { for (long i = 0; i < 64; i++) y[i] = 2; }
SK_KERNEL(only, "op=Fill; out y f32[64]");
C
compile fixed
ar rc libfixed.a fixed.o
"$sklink" -L . model.yaml -lfixed -o out.sk --explain t >said.txt
others any fixed 'it fits, but only has more conditions and fixed dimensions'

sed -i 's/attr: .*/attr: {k: 2}}/' model.yaml
fails_with "model.yaml:4:19: two kernels for op 'Fill' fit task 't' equally well" "$sklink" -L . model.yaml -lfirst -o \
	out.sk
grep -qF '>>> first5 (./libfirst.a(first.o)): split=n op=Fill(k=2)' err.txt || { cat err.txt;
	fail "the first one is not named"; }
grep -qF '>>> first6 (./libfirst.a(first.o))' err.txt || { cat err.txt; fail "the second one is not named"; }
sed -i 's/attr: .*/attr: {k: 3}}/' model.yaml
refused "no kernel for op 'Fill' fits task 't'" -L . -lfirst -lsecond
grep -qF "first2 (./libfirst.a(first.o)): attribute 'k' is 3, but the kernel wants 1" err.txt || { cat err.txt;
	fail "no reason"; }
grep -qF 'needs x86-64-v4, which --isa does not allow' err.txt || { cat err.txt;
	fail "no reason for the instruction set"; }
refused 'no kernel has op=Fill' libfirst.a
grep -q "only if they are under 'library' or given by -l" err.txt || fail "nothing is said of the archive"
refused "--isa does not know 'x86-64-v5'; did you mean 'x86-64-v2'" -L . -lfirst --isa=x86-64-v5

# The files of --repro record the processor that was meant.
sed -i 's/attr: .*/attr: {k: 1}}/' model.yaml
"$sklink" -L . --isa=native model.yaml -lfirst -o out.sk --repro repro.tar
tar xOf repro.tar --wildcards '*/response.txt' >response.txt
grep -q -- '--isa=x86-64' response.txt || { cat response.txt; fail "--repro does not name the processor"; }
