#!/bin/bash
# Tile groups in packages with sizes with bounds: random manifests (random-groups.py), each linked once. At corners and
# other sizes their results are, bit for bit, those of packages that are linked for these sizes, on several numbers of
# cores, between guard pages and with checks for races. Each await is needed. GROUPS_COUNT and GROUPS_SEED: others.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/sizes.sh"
cat >more.c <<'C'
#include "skkernel.h"
void sums(const float *x, float *s, long m, long k)
{
	for (long i = 0; i < m; i++) {
		s[i] = 0;
		for (long j = 0; j < k; j++)
			s[i] += x[i * k + j];
	}
}
SK_KERNEL(sums, "split=m; in x f32[m,k], out s f32[m], m i64, k i64");
void column(const float *x, const float *c, float *y, long m, long k)
{
	for (long i = 0; i < m; i++)
		for (long j = 0; j < k; j++)
			y[i * k + j] = x[i * k + j] - c[i];
}
SK_KERNEL(column, "split=m; in x f32[m,k], in c f32[m], out y f32[m,k], m i64, k i64");
void softly(const float *x, float *y, float *row, long m, long k, long first)
{
	for (long i = 0; i < m; i++) {
		for (long j = 0; j < k; j++)
			row[j] = x[i * k + j] * 0.5F;
		for (long j = 0; j < k; j++)
			y[i * k + j] = row[k - 1 - j] + (float)((first + i) % 3);
	}
}
SK_KERNEL(softly, "split=m; in x f32[m,k], out y f32[m,k], scratch row f32[k], m i64, k i64, first i64 = begin(m)");
void blocked(const struct sk_block *block, const float *x, float *y, long m, long k)
{
	uint64_t low, high;

	sk_block_range(block, (uint64_t)m, &low, &high);
	for (uint64_t i = low * (uint64_t)k; i < high * (uint64_t)k; i++)
		y[i] = x[i] * 0.75F;
}
SK_KERNEL(blocked, "blocks=m; block, in x f32[m,k], out y f32[m,k], m i64, k i64");
C
compile more
count=${GROUPS_COUNT:-12}

# outputs PACKAGE: --output options into FOLDER.
outputs() {
	"$skrun" --list "$1" | awk '$1 == "output" { print "--output=" $2 "=FOLDER/" $2 ".npy" }'
}

# runs SEED SIZES: the dynamic package computes the static one's bits.
runs() {
	local dims ways options
	# shellcheck disable=SC2046,SC2086 # words
	dims=$(printf -- '--dim %s ' $2)
	# shellcheck disable=SC2086 # words
	"$sklink" "$1.yaml" kernels.o more.o -w $dims -o static.sk
	mapfile -t options < <(outputs static.sk)
	rm -rf static dynamic
	mkdir static dynamic
	"$skrun" static.sk --random 1 "${options[@]/FOLDER/static}" >out.txt
	for ways in '--cores 1' '--cores 2' '--cores 3' '--cores 2 --guard' '--cores 3 --check-races'; do
		# shellcheck disable=SC2086 # words
		"$skrun" dynamic.sk --random 1 $ways $dims "${options[@]/FOLDER/dynamic}" >out.txt 2>&1 ||
			fail "$1 does not run at $2, $ways: $(cat out.txt)"
		diff -r static dynamic >out.txt || fail "$1 has other results at $2, $ways: $(cat out.txt)"
	done
}

grouped=0 tiled=0 awaits=0
while IFS=';' read -r seed sizes; do
	"$sklink" "$seed.yaml" kernels.o more.o -w -o dynamic.sk || fail "$seed does not link: $(cat "$seed.yaml")"
	"$skdump" --verify dynamic.sk >/dev/null
	"$skdump" --steps dynamic.sk >steps.txt
	if grep -q 'group tiles of' steps.txt; then grouped=$((grouped + 1)); fi
	"$skdump" dynamic.sk >all.txt
	if grep -q '^scratch: ' all.txt; then tiled=$((tiled + 1)); fi
	IFS=';' read -ra lines <<<"$sizes"
	for line in "${lines[@]}"; do runs "$seed" "$line"; done
	await=0
	while cp dynamic.sk dropped.sk && "$top_builddir/tests/lib/drop-await" dropped.sk $await; do
		! "$skdump" --verify dropped.sk >out.txt 2>&1 || fail "$seed is proved without its await $await"
		await=$((await + 1))
	done
	awaits=$((awaits + await))
done < <(/usr/bin/python3 "$top_srcdir/tests/lib/random-groups.py" "${GROUPS_SEED:-1}" "$count")
echo "$grouped of $count packages have groups, $tiled of them temporaries in the scratch; $awaits awaits"
[ $((grouped * 2)) -ge "$count" ] && [ $((tiled * 4)) -ge "$count" ] || fail "too few groups"
