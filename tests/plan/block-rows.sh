#!/bin/bash
# Tasks before and after a product that is cut into blocks of rows: each core computes its rows of the blocks, so that a
# whole chain of row-wise and elementwise tasks needs no await. The results are those of the tasks one by one, for every
# number of cores. If a block would begin inside a unit, or the blocks cannot be followed, the await stays, and the
# reason is reported.
. "$top_srcdir/tests/lib/lib.sh"
cat >k.c <<'C'
#include "skkernel.h"

void norm(const float *x, float *y, int64_t m, int64_t k)
{
	for (int64_t i = 0; i < m; i++) {
		float sum = 1;

		for (int64_t j = 0; j < k; j++)
			sum += x[i * k + j] * x[i * k + j];
		for (int64_t j = 0; j < k; j++)
			y[i * k + j] = x[i * k + j] / sum;
	}
}
SK_KERNEL(norm, "split=m; in x f32[m,k], out y f32[m,k], m i64, k i64");

void quantise(const float *x, int8_t *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = (int8_t)(x[i] * 100);
}
SK_KERNEL(quantise, "split=n; in x f32[n], out y i8[n], n i64");

static void rows(const int8_t *x, const int8_t *w, float *y, int64_t low, int64_t high, int64_t k, int64_t n)
{
	for (int64_t i = low; i < high; i++)
		for (int64_t j = 0; j < n; j++) {
			float sum = 0;

			for (int64_t l = 0; l < k; l++)
				sum += (float)(x[i * k + l] * w[l * n + j]);
			y[i * n + j] = sum;
		}
}

void product(const struct sk_block *block, const int8_t *x, const int8_t *w, float *y, int64_t m, int64_t k, int64_t n)
{
	uint64_t low, high;

	sk_block_range(block, (uint64_t)m, &low, &high);
	rows(x, w, y, (int64_t)low, (int64_t)high, k, n);
}
SK_KERNEL(product, "blocks=m; block, in x i8[m,k], in w i8[k,n], out y f32[m,n], m i64, k i64, n i64");

/* Block b has every so-manieth row. */
void comb(const struct sk_block *block, const int8_t *x, const int8_t *w, float *y, int64_t m, int64_t k, int64_t n)
{
	for (int64_t i = block->index; i < m; i += block->count)
		rows(x, w, y, i, i + 1, k, n);
}
SK_KERNEL(comb, "blocks; block, in x i8[m,k], in w i8[k,n], out y f32[m,n], m i64, k i64, n i64");

/* Its signature says that it waits by itself, and so it does. */
void early(const struct sk_block *block, const int8_t *x, const int8_t *w, float *y, int64_t m, int64_t k, int64_t n)
{
	sk_wait_pre_task_end(block);
	product(block, x, w, y, m, k, n);
}
SK_KERNEL(early, "blocks=m early-start=wait; block, in x i8[m,k], in w i8[k,n], out y f32[m,n], m i64, k i64, n i64");

void resident(const struct sk_block *block, const int8_t *x, const int8_t *w, float *y, int64_t m, int64_t k, int64_t n)
{
	sk_sync_all(block);
	product(block, x, w, y, m, k, n);
}
SK_KERNEL(resident, "blocks=m sync-all; block, in x i8[m,k], in w i8[k,n], out y f32[m,n], m i64, k i64, n i64");

/* Two sides: the first one computes the blocks, the other one looks on. */
void both_mix_aic(const struct sk_block *block, const int8_t *x, const int8_t *w, float *y, int64_t m, int64_t k, int64_t n)
{
	product(block, x, w, y, m, k, n);
}
void both_mix_aiv(const struct sk_block *block, const int8_t *x, const int8_t *w, float *y, int64_t m, int64_t k, int64_t n)
{
}
SK_KERNEL(both, "mix; block, in x i8[m,k], in w i8[k,n], out y f32[m,n], m i64, k i64, n i64");

void six(const int8_t *x, const int8_t *w, float *y, int64_t m, int64_t k, int64_t n)
{
	rows(x, w, y, 0, m, k, n);
}
SK_KERNEL(six, "tile=m:6; in x i8[m,k], in w i8[k,n], out y f32[m,n], m i64, k i64, n i64");

void bias(const float *x, const float *b, float *y, int64_t m, int64_t n)
{
	for (int64_t i = 0; i < m; i++)
		for (int64_t j = 0; j < n; j++)
			y[i * n + j] = x[i * n + j] + b[j];
}
SK_KERNEL(bias, "split=m; in x f32[m,n], in b f32[n], out y f32[m,n], m i64, n i64");

void activate(const float *x, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] > 0 ? x[i] : x[i] / 8;
}
SK_KERNEL(activate, "split=n; in x f32[n], out y f32[n], n i64");

void lane_product(const struct sk_block *block, const int8_t *x, const int8_t *w, float *y, int64_t m, int64_t k,
		  int64_t n)
{
	product(block, x, w, y, m, k, n);
}
SK_KERNEL(lane_product,
	  "cube blocks=m; block, in x i8[m,k], in w i8[k,n], out y f32[m,n], m i64, k i64, n i64");

void differences(const float *x, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i + 1] - x[i];
}
SK_KERNEL(differences, "split=n; in x f32[n+1], out y f32[n], n i64");

void pairs(const float *x, float *y, int64_t h, int64_t p, int64_t w)
{
	for (int64_t i = 0; i < h * p * w; i++)
		y[i] = x[i] + 1;
}
SK_KERNEL(pairs, "split=h; in x f32[h,p,w], out y f32[h,p,w], h i64, p i64, w i64");

void add(const float *a, const float *b, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = a[i] + b[i];
}
SK_KERNEL(add, "split=n; in a f32[n], in b f32[n], out y f32[n], n i64");
C
compile k

# link NAME PRODUCT BLOCKS ROWS COLUMNS [OPTIONS]: the chain, with that product in the middle.
device=host
link() {
	cat >$1.yaml <<M
sklink: 1
device: $device
tensors:
$(tensors "[$4, $5]" x a)
  q: {dtype: i8, shape: [$4, $5]}
  w: {dtype: i8, shape: [$5, $5]}
  bias: {dtype: f32, shape: [$5]}
$(tensors "[$4, $5]" p t u)
  y: {dtype: f32, shape: [$4, $5], role: output}
tasks:
  - {name: norm, kernel: norm, args: [x, a], scope: sp}
  - {name: quantise, kernel: quantise, args: [a, q], scope: sp}
  - {name: product, kernel: $2, args: [q, w, p], ${3:+blocks: $3, }scope: sp}
  - {name: bias, kernel: bias, args: [p, bias, t], scope: sp}
  - {name: activate, kernel: activate, args: [t, u], scope: sp}
  - {name: residual, kernel: add, args: [u, x, y], scope: sp}
scopes:
  sp: {options: "${6-}"}
M
	"$sklink" $1.yaml k.o -o $1.sk --report=$1.json
	proved $1.sk
}

# pair NAME PRODUCT TASK: a product of 36 rows in 5 blocks, in p, and the task after it.
pair() {
	cat >$1.yaml <<M
sklink: 1
device: $device
tensors:
  x: {dtype: i8, shape: [18, 2, 64]}
  w: {dtype: i8, shape: [64, 64]}
$(tensors '[18, 2, 64]' p y)
  d: {dtype: f32, shape: [2303]}
tasks:
  - {name: product, kernel: $2, args: [x, w, p], blocks: 5, scope: sp}
  - {name: other, $3, scope: sp}
M
	"$sklink" $1.yaml k.o -o $1.sk --report=$1.json
	proved $1.sk
	"$skrun" $1.sk --random 1 --verify --cores 2 >ran.txt || fail "$1: --verify"
}

# steps NAME COUNT AWAITS
steps() {
	"$skdump" --steps $1.sk >steps.txt
	grep -qE " $2 steps?, $3 await" steps.txt || { cat steps.txt >&2; fail "$1: not $2 steps and $3 awaits"; }
}

# same NAME: one by one, fused, serial and checked, on any cores.
same() {
	local cores
	"$skrun" $1.sk --random 1 --unfused --cores 1 --output y=$1.one.npy >ran.txt
	for cores in 1 2 7; do
		"$skrun" $1.sk --random 1 --cores $cores --verify --output y=$1.npy >ran.txt ||
			fail "$1: --verify --cores $cores"
		cmp $1.one.npy $1.npy
		"$skrun" $1.sk --random 1 --cores $cores --guard --output y=$1.npy >ran.txt ||
			fail "$1: --guard --cores $cores"
		cmp $1.one.npy $1.npy
		"$skrun" $1.sk --random 1 --cores $cores --check-races >ran.txt ||
			fail "$1: --check-races --cores $cores"
	done
	[ "${2-}" ] || "$skrun" $1.sk --random 1 --serial --output y=$1.npy >ran.txt
	cmp $1.one.npy $1.npy
}

# reason NAME TASK CODE SENTENCE
reason() {
	seen="${seen-} $3"
	"$skdump" --explain $2 $1.sk >said.txt
	grep -qE -- "^  $3: $4\.\$" said.txt || { cat said.txt >&2; fail "$1: --explain $2 does not say $3: $4"; }
	grep -qE -- "\"name\": \"$2\", .*\"blocks_reason\": \"$3\", \"blocks_because\": \"$4\"\}" $1.json ||
		{ cat $1.json >&2; fail "$1: the report does not say $3 of $2"; }
	"$skdump" --reasons $1.sk >said.txt
	grep -qE -- "^ *$2 .* $3 +$4\$" said.txt || { cat said.txt >&2; fail "$1: --reasons does not say $3 of $2"; }
}

# memory NAME IN-SCRATCH IN-WORKSPACE BYTES: temporaries of which a core has a tile at a time, and all others, which
# need so many.
memory() {
	"$skdump" --memory $1.sk >memory.txt
	lies=$(awk '/^scratch: / { print "/" } $1 ~ /^[0-9]+$/ { print $3 }' memory.txt | tr '\n' ' ')
	[ "$lies" = "${3:+$3 }/ $2 " ] || { cat memory.txt >&2; fail "$1: there lie $lies, not ${3:+$3 }/ $2"; }
	grep -qE "^memory: [0-9]+ temporaries in a workspace of $4 bytes\$" memory.txt || { cat memory.txt >&2;
		fail "$1: not $4 bytes"; }
}

# Three steps, no await: blocks of equal and unequal length, more cores than blocks, more blocks than rows.
for device in host a3; do
	for sizes in '8 37 64' '5 40 128' '2 101 192' '64 50 64' '48 100 64' '48 96 64' '40 37 64'; do
		read -r blocks rows columns <<<"$sizes"
		[ $device = host ] || [ $blocks = 48 ] || [ $blocks = 40 ] || continue
		link chain product $blocks $rows $columns
		steps chain 3 0
		same chain
		# Memory has only the product's input and output; task by task it would be five tensors.
		memory chain 'a t u' 'q p' $((rows * columns * (1 + 4)))
		for task in norm quantise bias activate residual; do
			reason chain $task BLOCKS_FOLLOWED "each core computes the rows of its blocks of 'product'"
		done
	done
done
device=host
link chain product 5 37 64
"$skdump" --steps chain.sk >steps.txt
[ "$(grep -cE ' split 37 in 37 units of 1 by 5 blocks of 37, group tiles of ' steps.txt)" = 2 ] || { cat steps.txt;
	fail "other steps"; }
"$skdump" --explain bias chain.sk | grep -q 'All cores share its 37 elements, as they share 5 blocks of 37 rows\.' ||
	fail "not explained"
"$skrun" chain.sk --predict >predicted.txt
grep -qE '^fused +[0-9.]+ +[0-9.]+% \| +[0-9.]+ +0\.00 ' predicted.txt || { cat predicted.txt;
	fail "awaits are predicted"; }
link traced product 5 37 64 profiling=1
"$skrun" traced.sk --random 1 --cores 2 --trace trace.json >ran.txt
grep -q '"residual"' trace.json || fail "no trace"
link whole product 5 37 64 tile-fusion=0
"$skdump" --diff whole.sk chain.sk >diff.txt && fail "no difference"
grep -q 'by 5 blocks of 37' diff.txt || { cat diff.txt; fail "the difference is not told"; }

# A product that is called for 6 rows at a time needs no blocks: with the tasks before and after it, it is one step in
# tiles of whole sixes, which leave only the residual's operand and the result in memory.
for sizes in '101 64 3000' '101 64 1' '43 64 1000000' '401 20 3000'; do
	read -r rows columns bytes <<<"$sizes"
	link tiled six '' $rows $columns tile-bytes=$bytes
	steps tiled 1 0
	tile=$(sed -nE 's/^ +1  norm .* group tiles of ([0-9]+).*/\1/p' steps.txt)
	[ $((${tile:-1} % 6)) = 0 ] && grep -qE '^ +product  *six .* tiles of 6 ' steps.txt || { cat steps.txt >&2;
		fail "no tiles of sixes"; }
	same tiled
	memory tiled 'a q p t u' '' 0
done

# A row of 20 numbers is not a whole unit of 64; 16 rows are 5 units, and blocks begin there in one case alone.
link off product 5 37 20
same off
reason off bias BLOCKS_OFF_UNIT \
	"cores do not keep to their blocks of 'product': one begins at row 7, inside a unit of 16 elements of this task"
link units product 3 97 20
steps units 3 0
same units

# Products that cannot be followed.
link comb comb 5 37 64
same comb
reason comb bias BLOCKS_NO_ROWS \
	"cores do not keep to their blocks of 'product': its signature does not say which rows a block computes, as blocks= does"
link early early 5 37 64
same early
reason early bias BLOCKS_EARLY "cores do not keep to their blocks of 'product': it starts early"
link resident resident 5 37 64
same resident parallel
reason resident bias BLOCKS_RESIDENT "cores do not keep to their blocks of 'product': its blocks wait for one another"
# A mix task is in the lane of each, on a device with one lane and with two.
for device in host a3; do
	link mixed both 5 37 64
	same mixed parallel
	for task in quantise bias; do
		reason mixed $task BLOCKS_RESIDENT \
			"cores do not keep to their blocks of 'product': its blocks wait for one another"
	done
done
device=host
link few product 1 37 64
same few
reason few bias BLOCKS_TOO_FEW \
	"cores do not keep to their blocks of 'product': it has 1, fewer than the 2 cores with work here"
reason whole bias BLOCKS_SWITCHED_OFF "cores do not keep to their blocks of 'product': the scope has tile-fusion=0"
link synchronised product 5 37 64 debug-sync-all=1
reason synchronised bias BLOCKS_SYNC_ALL \
	"cores do not keep to their blocks of 'product': the scope has debug-sync-all=1"
pair rows product 'kernel: pairs, args: [p, y]'
reason rows other BLOCKS_OTHER_ROWS \
	"cores do not keep to their blocks of 'product': 18 elements are not a whole number for each of its 36 rows"
pair halo product 'kernel: differences, args: [p, d]'
reason halo other BLOCKS_OTHER_PARTS \
	"cores do not keep to their blocks of 'product': the two do not both access 'p' by the same parts"
# With a number of rows that depends on sizes; other rows are not whole units where blocks begin.
bounded() { # NAME BOUNDS
	sed 's/^sklink: 1$/&\ndims: {rows: '$2'}/; s/\['$rows', /[rows, /' chain.yaml >$1.yaml
	"$sklink" $1.yaml k.o -o $1.sk --report=$1.json
	proved $1.sk
}
for rows in 101 100; do
	link chain product 5 $rows 64
	bounded sized 1..$rows@37
	steps sized 3 0
	reason sized bias BLOCKS_FOLLOWED "each core computes the rows of its blocks of 'product'"
	for size in 1 3 5 36 37 64 99 $rows; do
		link chain product 5 $size 64
		"$skrun" chain.sk --random 1 --output y=one.npy >ran.txt
		for ways in '--cores 1' '--cores 2' '--cores 3' '--cores 7 --guard' '--cores 3 --check-races'; do
			"$skrun" sized.sk --dim rows=$size --random 1 $ways --output y=y.npy >ran.txt ||
				fail "$size rows: $ways: $(cat ran.txt)"
			cmp one.npy y.npy
		done
	done
done
rows=80
link chain product 5 $rows 20
steps chain 3 0
bounded sized 16..$rows:16
reason sized bias BLOCKS_SIZES \
	"cores do not keep to their blocks of 'product': at some sizes blocks begin inside units of this task"
device=a3
pair lanes lane_product 'kernel: activate, args: [p, y]'
reason lanes other BLOCKS_OTHER_LANE "cores do not keep to their blocks of 'product': they run in different lanes"
for code in $(sed -nE 's/^.*\[SK_BLOCKS_.*\] = "([A-Z_]+)",$/\1/p' "$top_srcdir/src/planning/block-reasons.c"); do
	case "$seen BLOCKS_NONE " in *" $code "*) ;; *) fail "no case has $code" ;; esac
	grep -q "^| \`$code\` |" "$top_srcdir/doc/reference/reason-codes.md" || [ $code = BLOCKS_NONE ] ||
		fail "doc/reference/reason-codes.md has no row for $code"
done
for package in off comb early resident mixed few whole synchronised rows halo sized lanes; do
	! "$skdump" --steps $package.sk | grep -qE ', 0 awaits' || fail "$package: nothing is awaited"
done
