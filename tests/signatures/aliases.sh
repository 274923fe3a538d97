#!/bin/bash
# A kernel that is called in place may do otherwise than one that is not (compilers make a loop for each of both), so
# pointers of a call share bytes only if the task says so. Here kernels write whether theirs do: chains of them, in
# place and not, with temporaries that share bytes of the workspace and of the scratch, compute the same bits fused, in
# tiles, serially, and task by task.
. "$top_srcdir/tests/lib/lib.sh"
cat >k.c <<'C'
#include "skkernel.h"

static float together(const void *x, const void *y, int64_t bytes)
{
	int64_t distance = (const char *)x - (const char *)y;

	return distance < bytes && -distance < bytes;
}

void next(const float *x, float *y, int64_t n)
{
	float add = 1 + 1000 * together(x, y, 4 * n);

	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] + add;
}
SK_KERNEL(next, "split=n; in x f32[n], out y@x f32[n], n i64");

void both(const float *x, const float *z, float *y, int64_t n)
{
	float add = 1000 * together(x, y, 4 * n) + 2000 * together(z, y, 4 * n) + 4000 * together(x, z, 4 * n);

	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] / 2 + z[i] + add;
}
SK_KERNEL(both, "split=n; in x f32[n], in z f32[n], out y@x f32[n], n i64");

void rows(const float *x, float *y, int64_t m)
{
	float add = 3 + 1000 * together(x, y, 16 * m);

	for (int64_t i = 0; i < 4 * m; i++)
		y[i] = x[i] + add;
}
SK_KERNEL(rows, "split=m; in x f32[m,4], out y@x f32[m,4], m i64");

void plain(const float *x, float *y, int64_t n)
{
	next(x, y, n);
}
SK_KERNEL(plain, "in x f32[n], out y@x f32[n], n i64");

void blocked(const struct sk_block *block, const float *x, float *y, int64_t n)
{
	float add = 1 + 1000 * together(x, y, 4 * n);
	uint64_t low, high;

	sk_block_range(block, (uint64_t)n, &low, &high);
	for (uint64_t i = low; i < high; i++)
		y[i] = x[i] + add;
}
SK_KERNEL(blocked, "blocks=n; block, in x f32[n], out y@x f32[n], n i64");
C
compile k

# chain SEED: 3 to 14 tasks, mostly on the last result, a quarter of them in place.
chain() {
	RANDOM=$1
	local sizes=(1 63 5001 20000 20003) kernels=(next next next next rows rows both plain blocked)
	local rows=${sizes[RANDOM % 5]} results=(x) tasks= kernel from second to blocks
	for ((k = 0; k < 3 + $1 % 12; k++)); do
		kernel=${kernels[RANDOM % 9]}
		from=${results[RANDOM % 3 ? 0 : RANDOM % ${#results[@]}]}
		second= blocks=
		[ $kernel != both ] || second=", ${results[${#results[@]} - 1]}"
		[ $kernel != blocked ] || blocks=', blocks: 5'
		if [ $from = x ] || [ -n "$second" ] || [ $((RANDOM % 4)) != 0 ]; then
			to=t$k
			results=($to "${results[@]}")
		else
			to=$from
		fi
		tasks+="  - {name: k$k, kernel: $kernel, args: [$from$second, $to], scope: s$blocks}"$'\n'
	done
	printf 'sklink: 1\ntensors:\n'
	tensors "[$rows, 4]" "${results[@]}"
	printf 'tasks:\n%s' "$tasks"
	case $(($1 % 4)) in
	1) printf 'scopes:\n  s: {options: "debug-sync-all=1"}\n' ;;
	2) printf 'scopes:\n  s: {options: "tile-fusion=0"}\n' ;;
	esac
}

for seed in $(seq 1 40); do
	chain $seed >m.yaml
	"$sklink" m.yaml k.o -o m.sk 2>err.txt || { cat m.yaml err.txt; fail "chain $seed is not linked"; }
	"$skdump" --memory --steps m.sk >>memory.txt
	for cores in 1 3; do
		"$skrun" m.sk --random 1 --verify --cores $cores >/dev/null || { cat m.yaml; fail "chain $seed"; }
	done
done
grep -q 'share' memory.txt && grep -q 'group' memory.txt || fail "nothing shares bytes, or there is no tile group"
