#!/bin/bash
# Addresses at a distance from their tensors (`at -20480`): three dispatches of IREE in one binding, and kernels in
# every way to divide work and to pass addresses. Each kernel takes its distance off again, so that a number that is not
# passed as it should be leads out of all tensors.
set -eu
. "$top_srcdir/tests/lib/lib.sh"

cat >kernels.c <<'C'
#include <stdint.h>
#include <string.h>
#include "skkernel.h"

/* IREE: iree/hal/local/executable_library.h */
typedef struct {
	uint32_t size_x, size_y;
	uint16_t size_z, constant_count;
	uint32_t count_x, count_y;
	uint16_t count_z;
	uint8_t max_concurrency, binding_count;
	const uint32_t *constants;
	char *const *bindings;
	const size_t *lengths;
} dispatch_v0;
typedef struct {
	uint32_t x, y;
} workgroup_v0;

/* The three parts of the last binding begin at its bytes 0, 20480 and 40960. A workgroup computes 4 rows. */
static void dense(const float *x, const float *b, float *y, uint32_t group, float factor)
{
	for (uint32_t i = 4 * group; i < 4 * group + 4; i++)
		for (int j = 0; j < 80; j++) {
			float v = x[i * 80 + j] * factor + b[j];

			y[i * 80 + j] = v > 0 ? v : 0;
		}
}

int first(const void *environment, const dispatch_v0 *d, const workgroup_v0 *group)
{
	if (d->binding_count != 3 || d->lengths[2] != 20480)
		return 1;
	dense((const float *)d->bindings[0], (const float *)d->bindings[1], (float *)d->bindings[2], group->x, 2);
	return 0;
}
int second(const void *environment, const dispatch_v0 *d, const workgroup_v0 *group)
{
	if (d->binding_count != 3 || d->lengths[0] != 20480 || d->lengths[1] != 320 + 320 || d->lengths[2] != 40960)
		return 1;
	dense((const float *)d->bindings[0], (const float *)(d->bindings[1] + 320), (float *)(d->bindings[2] + 20480),
	      group->x, 0.5f);
	return 0;
}
int third(const void *environment, const dispatch_v0 *d, const workgroup_v0 *group)
{
	if (d->binding_count != 3 || d->lengths[0] != 40960 || d->lengths[2] != 61440)
		return 1;
	dense((const float *)(d->bindings[0] + 20480), (const float *)(d->bindings[1] + 640),
	      (float *)(d->bindings[2] + 40960), group->x, 3);
	return 0;
}

static void *off(const void *address, int64_t bytes)
{
	return (void *)((uintptr_t)address - (uintptr_t)bytes);
}
static void twice(const float *x, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = 2 * x[i];
}
void simple(const float *x, float *y, int64_t n) { twice(off(x, -64), off(y, 2147483644), n); }
SK_KERNEL(simple, "split=n; in x f32[n] at -64, out y@x f32[n] at 2147483644, n i64");
void alone(const float *x, float *y, int64_t n) { twice(off(x, 8), off(y, -2147483647), n); }
SK_KERNEL(alone, "in x f32[n] at 8, out y f32[n] at -2147483647, n i64");
void whole(const float *x, float *y, int64_t b, int64_t e)
{
	twice((float *)off(x, -64) + b, (float *)off(y, 4096) + b, e - b);
}
SK_KERNEL(whole, "split=n; in x f32[n] at -64 whole, out y f32[n] at 4096 whole, b i64 = begin(n), e i64 = end(n)");
void blocked(const struct sk_block *block, const float *x, float *y, int64_t n)
{
	uint64_t low, high;

	sk_block_range(block, (uint64_t)n, &low, &high);
	twice((float *)off(x, 64) + low, (float *)off(y, -20480) + low, (int64_t)(high - low));
}
SK_KERNEL(blocked, "blocks=n; block, in x f32[n] at 64, out y f32[n] at -20480, n i64");
void tiled(const float *x, float *y, int64_t m, int64_t n, int64_t k)
{
	for (int64_t i = 0; i < m; i++)
		twice((float *)off(x, -1048576) + i * k, (float *)off(y, 32) + i * k, n);
}
SK_KERNEL(tiled, "tile=m:4,n:16; in x f32[m,n] at -1048576, out y f32[m,n] at 32, m i64, n i64, k i64 = n");
struct boxed { const float *x; float *y; int64_t n; };
void boxed(struct boxed *p, int64_t n) { twice(off(p->x, 20480), off(p->y, -20480), n); }
SK_KERNEL(boxed, "split=n; p {in x f32[n] at 20480, out y f32[n] at -20480}*, n i64");
struct pair { const float *x; float *y; };
void by_value(struct pair p, int64_t n) { twice(off(p.x, 12), off(p.y, -12), n); }
SK_KERNEL(by_value, "split=n; p {in x f32[n] at 12, out y f32[n] at -12}, n i64");
void rows(const float **x, float *y, int64_t m, int64_t n)
{
	for (int64_t i = 0; i < m; i++)
		twice(off(x[i], 100), (float *)off(y, -4) + i * n, n);
}
SK_KERNEL(rows, "split=m; r ptr[m] of in x f32[m,n] at 100, out y f32[m,n] at -4, m i64, n i64");
void table(const float **x, float *y, int64_t n, int64_t count)
{
	memset(off(y, 16), 0, 4 * (size_t)n);
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < count; j++)
			((float *)off(y, 16))[i] += ((float *)off(x[j], -20480))[i];
}
SK_KERNEL(table, "split=n; in x[] f32[n] at -20480, out y f32[n] at 16, n i64, count i64 = count(x)");
void optional(const float *x, const float *b, float *y, int64_t n)
{
	twice(off(x, -64), y, n);
	for (int64_t i = 0; b && i < n; i++)
		y[i] += ((float *)off(b, 40))[i];
}
SK_KERNEL(optional, "split=n; in x f32[n] at -64, in? b f32[n] at 40, out y f32[n], n i64");
typedef struct { float *base, *data; int64_t offset, sizes[1], strides[1]; } memref;
void described(memref *x, memref *y) { twice(off(x->data, -20480), off(y->data, 20480), y->sizes[0]); }
SK_KERNEL(described, "split=n frame=mlir; in x f32[n] at -20480, out y f32[n] at 20480");
C
compile kernels

# ---- three dispatches in one binding ----

{
	cat <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [64, 80]}
  b: {dtype: f32, shape: [240]}
  all: {dtype: f32, shape: [192, 80], role: output}
  b1: {of: b, offset: [0], shape: [80]}
  b2: {of: b, offset: [80], shape: [80]}
  b3: {of: b, offset: [160], shape: [80]}
  y1: {of: all, offset: [0, 0], shape: [64, 80]}
  y2: {of: all, offset: [64, 0], shape: [64, 80]}
  y3: {of: all, offset: [128, 0], shape: [64, 80]}
kernels:
  first: {signature: "blocks frame=iree align=64; in x f32[64,80], in b f32[80], out y f32[64,80]"}
  second: {signature: "blocks frame=iree align=64; in x f32[64,80], in b f32[80] at -320, out y f32[64,80] at -20480"}
  third: {signature: "blocks frame=iree align=64; in x f32[64,80] at -20480, in b f32[80] at -640, out y f32[64,80] at -40960"}
tasks:
  - {name: first, kernel: first, args: [x, b1, y1], blocks: 16, scope: all}
  - {name: second, kernel: second, args: [y1, b2, y2], blocks: 16, scope: all}
  - {name: third, kernel: third, args: [y2, b3, y3], blocks: 16, scope: all}
M
} >iree.yaml
# The parts as tensors of their own: nothing that belongs to the package may lie at the addresses that are passed.
sed -E '/^  (all|y[123]):/d; s/^  b: .*/&\n  y1: {dtype: f32, shape: [64, 80]}\n  y2: {dtype: f32, shape: [64, 80]}\n  y3: {dtype: f32, shape: [64, 80]}/' iree.yaml >apart.yaml
/usr/bin/python3 - <<'P'
import numpy as np
x, b = np.random.default_rng(1).random((64, 80), dtype="f") - np.float32(0.5), np.random.default_rng(2).random(240, dtype="f") - np.float32(0.5)
np.save("x", x)
np.save("b", b)
y1 = np.maximum(x * np.float32(2) + b[:80], 0)
y2 = np.maximum(y1 * np.float32(0.5) + b[80:160], 0)
y3 = np.maximum(y2 * np.float32(3) + b[160:], 0)
np.save("all-wanted", np.concatenate([y1, y2, y3]))
np.save("y3-wanted", y3)
P
for name in iree apart; do
	output=$([ $name = iree ] && echo all || echo y3)
	"$sklink" $name.yaml kernels.o -o $name.sk
	"$skdump" --verify $name.sk | grep -q '^verified: ' || fail "$name is not proved"
	"$skdump" --steps $name.sk >steps.txt
	grep -q 'at -320, at -20480, block' steps.txt && grep -q 'at -20480, at -640, at -40960, block' steps.txt || { cat steps.txt; fail "the steps of $name"; }
	runs=0
	for options in '--cores 1' '--cores 2' '--cores 3 --verify' --guard '--guard --cores 3' '--check-races --cores 3' --serial \
		--unfused '--unfused --guard'; do
		runs=$((runs + 1))
		"$skrun" $name.sk --input x=x.npy --input b=b.npy --output $output=$name$runs.npy $options >/dev/null ||
			fail "$name, $options"
	done
	/usr/bin/python3 -c '
import numpy as np, sys
name, output, runs = sys.argv[1:]
wanted = np.load(output + "-wanted.npy")
for run in range(1, int(runs) + 1):
    assert np.allclose(np.load(name + str(run) + ".npy"), wanted, rtol=1e-6, atol=1e-6), run' $name $output $runs || fail "$name"
done
# A distance that the signature forgets, or has by mistake, leads out of the tensors.
sed 's/at -20480"/at -20416"/' iree.yaml >wrong.yaml
"$sklink" wrong.yaml kernels.o -o wrong.sk
if "$skrun" wrong.sk --input x=x.npy --input b=b.npy --guard >out.txt 2>&1; then fail "a wrong distance"; fi
grep -q "task 'second'" out.txt || fail "the wrong distance is not that of the second task"
sed 's/at -320/at -328/' iree.yaml >wrong.yaml
fails_with "argument.*|'b' must be aligned to 64 bytes, but its address is displaced by -328" "$sklink" wrong.yaml kernels.o -o wrong.sk

# ---- every way to divide work, and to pass addresses ----

kernels='simple alone whole blocked tiled boxed by_value rows optional described'
# manifest HEAD SHAPE: two tasks with each kernel, so that temporaries and tile groups have them, too.
manifest() {
	printf 'sklink: 1\n%stensors:\n  x: {dtype: f32, shape: %s}\n' "$1" "$2"
	for k in $kernels; do
		printf "  t_$k: {dtype: f32, shape: $2}\n  $k: {dtype: f32, shape: $2, role: output}\n"
	done
	printf '  %s: {dtype: f32, shape: %s}\n' added "$2" table "$2"
	echo "tasks:"
	for k in $kernels; do
		none=$([ $k = optional ] && echo ', null' || :) more=$([ $k = optional ] && echo ', x' || :)
		blocks=$([ $k = blocked ] && echo ', blocks: 5' || :)
		printf '  - {name: %s, kernel: %s, args: [%s], scope: s%s}\n' "a_$k" $k "x$none, t_$k" "$blocks" \
			"b_$k" $k "t_$k$more, $k" "$blocks"
	done
	printf '  - {name: %s, kernel: table, args: [%s], scope: s}\n' added 'x, simple, t_boxed, added' \
		table 'added, x, table'
}

# expect PACKAGE RUNS OPTION…: every result is right in these runs.
expect() {
	package=$1 runs=$2
	shift 2
	at=0
	printf '%s\n' "$runs" | tr , '\n' >runs.txt
	while read -r options; do
		at=$((at + 1)) outputs=
		for k in $kernels table; do outputs="$outputs --output $k=$k$at.npy"; done
		# shellcheck disable=SC2086 # lists of options
		"$skrun" "$package" "$@" --input x=small.npy $outputs $options >/dev/null || fail "$package, $options"
	done <runs.txt
	/usr/bin/python3 - $at $kernels <<'P' || fail "$package, $*"
import numpy as np, sys
x = np.load("small.npy")
for run in range(1, int(sys.argv[1]) + 1):
    for name in sys.argv[2:]:
        wanted = 4 * x + (x if name == "optional" else 0)
        assert (np.load(f"{name}{run}.npy") == wanted).all(), (name, run)
    assert (np.load(f"table{run}.npy") == 8 * x).all(), ("table", run)
P
}

/usr/bin/python3 -c 'import numpy as np; np.save("small", np.arange(37 * 50, dtype="f").reshape(37, 50) % 97)'
manifest '' '[37, 50]' >static.yaml
"$sklink" static.yaml kernels.o -o static.sk
"$skdump" --verify static.sk | grep -q '^verified: ' || fail "not proved"
expect static.sk '--cores 1,--cores 2,--cores 3 --verify,--guard --cores 2,--check-races --cores 3,--serial,--unfused,--unfused --guard'
# As an object, which a program links for its serial entry.
cat >object.yaml <<'M'
sklink: 1
tensors: {x: {dtype: f32, shape: [64]}, t: {dtype: f32, shape: [64]}, y: {dtype: f32, shape: [64]}}
tasks:
  - {name: a, kernel: simple, args: [x, t], scope: one}
  - {name: b, kernel: boxed, args: [t, y], scope: one}
M
cat >use.c <<'C'
#include "object.h"
#include <stdalign.h>

int main(void)
{
	static alignas(64) float x[64], y[64];
	static alignas(64) unsigned char workspace[SK_object_WORKSPACE_sk_one + 64];

	for (int i = 0; i < 64; i++)
		x[i] = (float)i;
	if (sk_one_serial((void *const[]){x, y}, workspace))
		return 2;
	for (int i = 0; i < 64; i++)
		if (y[i] != 4 * x[i])
			return 1;
	return 0;
}
C
"$sklink" -r object.yaml kernels.o -o object.o --header object.h
"$skdump" --verify object.o | grep -q '^verified: ' || fail "the object is not proved"
sed -n 's/^#define \(SK_[A-Za-z]*_WORKSPACE_[a-z_]*\).*/\1/p' object.h >sizes.txt
sed -i "s/SK_object_WORKSPACE_sk_one/$(head -1 sizes.txt)/" use.c
$KERNEL_CC -O1 -I. -I"$top_srcdir/format" -I"$top_srcdir/loader" use.c object.o -o use && ./use || fail "the serial entry of the object"

# With bounds: tensors move with the sizes, distances stay. Tables have one length at all sizes.
kernels=${kernels/ rows/}
manifest 'dims: {m: 1..64, n: 2..96:2}
' '[m, n]' >sized.yaml
"$sklink" sized.yaml kernels.o -o sized.sk
"$skdump" --verify sized.sk | grep -q '^verified: ' || fail "bounds are not proved"
for shape in '37, 50' '1, 2' '64, 96' '5, 18'; do
	/usr/bin/python3 -c "import numpy as np; np.save('small', np.arange(np.prod(($shape)), dtype='f').reshape($shape) % 97)"
	expect sized.sk '--cores 2,--guard --cores 3,--serial,--unfused'
done
