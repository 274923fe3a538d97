# Kernels that compute a row, a tile or a block, and get byte counts, parts and block numbers from their signatures:
# fused, on several numbers of cores, against kernels of the same network that compute everything with plain loops and
# end the launch where something is different.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
cat >kernels.c <<'C'
#include <stddef.h>

#include "skkernel.h"

/* Bytes instead of elements, and an address that is none. */
void scale(size_t bytes, const float *x, float *y, const void *params, float factor)
{
	for (size_t i = 0; i < bytes / sizeof(float); i++)
		y[i] = params ? 0 : factor * x[i];
}
SK_KERNEL(scale, "split=n; bytes u64 = size(n)*sizeof(f32), in x f32[n], out y f32[n], params ptr = null, factor f32 = -1.5");

/* From one element to another of all. */
void add_index(const float *x, float *y, int begin, const int *end)
{
	for (int i = begin; i < *end; i++)
		y[i] = x[i] + (float)i;
}
SK_KERNEL(add_index, "split=n; in x f32[n] whole, out y f32[n] whole, b i32 = begin(n), ref e i32 = end(n)");

/* One row. */
void sum_row(const float *x, float *sum, int k, long row)
{
	*sum = (float)row;
	for (int i = 0; i < k; i++)
		*sum += x[i];
}
SK_KERNEL(sum_row, "each=m; in x f32[m,k], out y f32[m], k i32, row i64 = begin(m)");

/* One head of one sequence; its number in a grid of both. */
void head(const float *x, float *y, unsigned char number)
{
	for (int i = 0; i < 8; i++)
		y[i] = x[i] + number;
}
SK_KERNEL(head, "each=s,h; in x f32[s,h*8], out y f32[s,h*8], number u8 = h*begin(s)+begin(h)");

/* A tile of at most 6 rows and 16 columns. */
void gemm(size_t rows, size_t columns, size_t k, const float *a, size_t lda, const float *b, float *c, size_t ldc)
{
	if (rows > 6 || columns > 16)
		__builtin_trap();
	for (size_t i = 0; i < rows; i++)
		for (size_t j = 0; j < columns; j++) {
			c[i * ldc + j] = 0;
			for (size_t p = 0; p < k; p++)
				c[i * ldc + j] += a[i * lda / sizeof(float) + p] * b[p * ldc + j];
		}
}
SK_KERNEL(gemm, "tile=m:6,n:16; m u64, columns u64 = size(n), k u64, in a f32[m,k], lda u64 = 4*k, in b f32[k,n], "
		"out c f32[m,n], ldc u64 = n");

/* The program of a grid. */
void program(const float *x, float *y, int n, int p, short column, unsigned row, int rows, int columns)
{
	if (p != column + (int)row * columns)
		__builtin_trap();
	for (int i = p; i < n; i += rows * columns)
		y[i] = x[i] + (float)column;
}
SK_KERNEL(program, "grid=3,(n+999)/1000; in x f32[n], out y f32[n], n i32, p i32 = block.index, column i16 = block.index.x, "
		   "row u32 = block.index.y, rows i32 = block.count.y, columns i32 = block.count.x");
C
cat >checks.c <<'C'
#include "skkernel.h"

int check_elements(const float *x, const float *y, const float *z, int n, const int32_t *unused)
{
	for (int i = 0; i < n; i++) {
		float scaled = -1.5f * x[i];

		if (y[i] != scaled + (float)i || z[i] != y[i] + (float)(i % 6 % 3))
			return 1 + i;
	}
	return unused != 0;
}
SK_KERNEL(check_elements, "in x f32[n], in y f32[n], in z f32[n], n i32, p ptr = null -> status");

int check_rows(const float *a, const float *b, const float *c, const float *sums, const float *heads, int m, int k, int n)
{
	for (int i = 0; i < m; i++) {
		float sum = (float)i;

		for (int j = 0; j < n; j++) {
			float of = 0;

			for (int p = 0; p < k; p++)
				of += a[i * k + p] * b[p * n + j];
			if (c[i * n + j] != of || heads[i * n + j] != of + (float)((i * n + j) / 8))
				return 1 + i * n + j;
			sum += of;
		}
		if (sums[i] != sum)
			return 1 + i;
	}
	return 0;
}
SK_KERNEL(check_rows, "in a f32[m,k], in b f32[k,n], in c f32[m,n], in sums f32[m], in heads f32[m,n], m i32, k i32, n i32 -> "
		      "status");
C
compile kernels
compile checks
cat >m.yaml <<M
sklink: 1
tensors:
$(tensors '[5003]' x scaled y z)
  a: {dtype: f32, shape: [23, 20]}
  b: {dtype: f32, shape: [20, 40]}
$(tensors '[23, 40]' c heads)
$(tensors '[23]' sums)
tasks:
  - {name: scale, kernel: scale, args: [x, scaled], scope: s}
  - {name: add, kernel: add_index, args: [scaled, y], scope: s}
  - {name: program, kernel: program, args: [y, z], scope: s}
  - {name: gemm, kernel: gemm, args: [a, b, c], scope: s}
  - {name: sum, kernel: sum_row, args: [c, sums], scope: s}
  - {name: head, kernel: head, args: [c, heads], scope: s}
  - {name: elements, kernel: check_elements, args: [x, y, z], scope: s}
  - {name: rows, kernel: check_rows, args: [a, b, c, sums, heads], scope: s}
M
"$sklink" m.yaml kernels.o checks.o -o m.sk
proved m.sk
"$skdump" --steps m.sk >steps.txt
grep -q 'scale .* split 5003 in 79 units of 64, group tiles of [0-9]*  *4\*size' steps.txt ||
	fail "a byte count in skdump --steps"
grep -q 'gemm .* split 23 in 4 units of 6, tiles of 6 by 16 of 40  *size, inner size' steps.txt ||
	fail "tiles in skdump --steps"
grep -q 'program .* 18 blocks  *block, block%3, block/3 ' steps.txt || fail "a grid in skdump --steps"
for cores in 1 2 3 7; do
	"$skrun" m.sk --random 5 --cores $cores >out.txt || fail "$cores cores"
	"$skrun" m.sk --random 5 --cores $cores --verify --guard --check-races >out.txt || fail "$cores cores, --verify"
done

# Wrong arguments for the kernel: the checks find them.
for change in 's/= end(n)/= size(n)/' 's/= h\*begin(s)+begin(h)/= begin(h)/' 's/6,n:16; m u64,/5,n:16; m u64 = m,/' \
	's/block.index.y/block.index.x/'; do
	sed "$change" kernels.c >changed.c
	cmp -s kernels.c changed.c && fail "$change changes nothing"
	compile changed
	! "$sklink" m.yaml changed.o checks.o -o changed.sk 2>err.txt ||
		! "$skrun" changed.sk --random 5 --cores 2 >out.txt 2>&1 || fail "$change is not seen"
done

# ggml's way: a number and a count, and errors.
cat >ggml.c <<'C'
#include "skkernel.h"

void rows_of(const float *x, float *y, int n, int ith, int nth)
{
	for (int i = ith; i < n; i += nth)
		y[i] = 2 * x[i];
}
SK_KERNEL(rows_of, "blocks; in x f32[n], out y f32[n], n i32, ith i32 = block.index, nth i32 = block.count");

void ggml_barrier(const void *pool);
void with_barrier(const float *x, float *y, int n, int ith, int nth)
{
	rows_of(x, y, n, ith, nth);
	ggml_barrier(x);
	y[0] += y[n - 1];
}
SK_KERNEL(with_barrier, "blocks; in x f32[n], out y f32[n], n i32, ith i32 = block.index, nth i32 = block.count");

int twice(const float *x, const float *y, int n)
{
	for (int i = 0; i < n; i++)
		if (y[i] != 2 * x[i])
			return 1 + i;
	return 0;
}
SK_KERNEL(twice, "in x f32[n], in y f32[n], n i32 -> status");
C
KERNEL_CFLAGS="$KERNEL_CFLAGS -ffunction-sections"
compile ggml
printf 'sklink: 1\ntensors:\n%s\ntasks:\n  - {name: t, kernel: rows_of, args: [x, y], scope: s, blocks: 5}\n  - {name: c, kernel: twice, args: [x, y], scope: s}\n' \
	"$(tensors '[1001]' x y)" >ggml.yaml
"$sklink" ggml.yaml ggml.o -o ggml.sk
for cores in 1 3; do
	"$skrun" ggml.sk --random 5 --cores $cores --verify --guard >out.txt || fail "ith and nth on $cores cores"
done
sed -i 's/kernel: rows_of/kernel: with_barrier/' ggml.yaml
fails_with 'undefined symbol: ggml_barrier; in it threads wait for one another' "$sklink" ggml.yaml ggml.o -o ggml.sk

# Barriers of threads are also refused in the objects that define them, and in those that leave them to the next linker;
# also through other functions.
for name in ggml_barrier pthread_barrier_wait GOMP_barrier __kmpc_barrier; do
	cat >waits.c <<C
	void $name(const void *team);
	void between(const void *x) { $name(x); }
	int next(const int *x) { return *x + 1; }
C
	echo "void $name(const void *team) { while (*(const volatile float *)team < 0) ; }" >barrier.c
	sed "s/ggml_barrier/between/" ggml.c >calls.c
	compile waits && compile barrier && compile calls
	fails_with "undefined symbol: $name; in it threads wait for one another.*--defsym=$name=abort" \
		"$sklink" ggml.yaml calls.o waits.o -o ggml.sk
	for arguments in "barrier.o" "barrier.o --isolate-objects" "-r"; do
		# shellcheck disable=SC2086 # a list of words
		fails_with "kernel 'with_barrier' reaches '$name', where threads wait for one another" \
			"$sklink" ggml.yaml calls.o waits.o $arguments -o ggml.sk
		grep -q ">>> if this kernel does not call it, --defsym=$name=abort" err.txt || { cat err.txt;
			fail "no way out of $name"; }
	done
	[ ! -e ggml.sk ] || rm ggml.sk
done
"$sklink" ggml.yaml calls.o waits.o barrier.o -o ggml.sk --defsym=__kmpc_barrier=abort
fails_with 'abort' "$skrun" ggml.sk --random 5 --cores 2
sed 's/kernel: with_barrier/kernel: rows_of/' ggml.yaml >rows.yaml
"$sklink" rows.yaml calls.o waits.o barrier.o -o ggml.sk # a kernel that does not reach it is not concerned

# Parts of blocks that are not equally large, empty ones too. Block b has the elements i with b = ((i + 1) * count - 1)
# / n.
cat >parts.c <<'C'
#include "skkernel.h"

void part(float *y, int begin, int end, unsigned size, int index)
{
	if (end - begin != (int)size)
		__builtin_trap();
	for (int i = begin; i < end; i++)
		y[i] = (float)index;
}
SK_KERNEL(part, "blocks=n; out y f32[n], begin i32 = begin(n), end i32 = end(n), size u32 = size(n), index i32 = block.index");

int in_its_part(const float *y, int n, int count)
{
	for (int i = 0; i < n; i++)
		if (y[i] != (float)(((i + 1) * count - 1) / n))
			return 1 + i;
	return 0;
}
SK_KERNEL(in_its_part, "in y f32[n], n i32, count i32 -> status");
C
compile parts
{
	echo 'sklink: 1'
	echo 'tensors:'
	for n in 1001 6 5 64; do
		# shellcheck disable=SC2046 # a list of words
		tensors "[$n]" $(for count in 1 2 3 4 5 6 7 8 9 10; do echo "y${n}_$count"; done)
	done
	echo 'tasks:'
	for n in 1001 6 5 64; do
		for count in 1 2 3 4 5 6 7 8 9 10; do
			echo "  - {name: p${n}_$count, kernel: part, args: [y${n}_$count], blocks: $count, scope: s}"
			echo "  - {name: c${n}_$count, kernel: in_its_part, args: [y${n}_$count], set: {count: $count}, scope: s}"
		done
	done
} >parts.yaml
"$sklink" parts.yaml parts.o -o parts.sk
proved parts.sk
for cores in 1 3; do
	"$skrun" parts.sk --cores $cores --verify --guard >out.txt || { cat out.txt;
		fail "parts of blocks on $cores cores"; }
done
printf 'sklink: 1\ntensors: {y: {dtype: f32, shape: [100]}}\ntasks: [{name: p, kernel: part, args: [y], blocks: 11}]\n' >many.yaml
"$sklink" many.yaml parts.o -o parts.sk
sed 's/100/104/;s/blocks: 11/blocks: 19/' many.yaml >more.yaml
fails_with "more.yaml:3:9: .*'size = size\(n\)' is too long a sum, since 19 blocks of 104 are not equally large: take a number of blocks" \
	"$sklink" more.yaml parts.o -o parts.sk

# begin and end count from the start of the extent in every tile, for pointers that are advanced to it and for whole
# ones.
cat >tiles.c <<'C'
#include "skkernel.h"

static int is_tile(long begin, long end, long size, long tile, long extent)
{
	return begin % tile == 0 && end - begin == size && size > 0 && size <= tile && (size == tile || end == extent);
}

/* x and halo are those of the tile, y and z the whole tensors. */
int tile(const float *x, const float *halo, float *y, float *z, int row, int end, int rows, long column, const long *last, int columns,
	 long start, unsigned short behind, int m, int n)
{
	if (!is_tile(row, end, rows, 6, m) || !is_tile(column, *last, columns, 16, n) || start != (long)row * n + column ||
	    behind != m - end + 2 * (n - *last) || halo[1] - halo[0] != 1)
		return 1;
	for (long i = row; i < end; i++)
		for (long j = column; j < *last; j++) {
			y[i * n + j] = x[(i - row) * n + j - column] + (float)(100 * i + j);
			z[i * n + j] = halo[i - row] + halo[i - row + 2];
		}
	return 0;
}
SK_KERNEL(tile, "tile=m:6,n:16; in x f32[m,n], in h f32[m+2], out y f32[m,n] whole, out z f32[m,n] whole, row i32 = begin(m), "
		"e i32 = end(m), rows i32 = size(m), column i64 = begin(n), ref l i64 = end(n), columns i32 = size(n), "
		"start i64 = n*begin(m)+begin(n), behind u16 = m-end(m)+2*(n-end(n)), all i32 = m, width i32 = n -> status");

/* The same of single rows, of which y is advanced to the row. */
void row(const float *x, float *y, int row, int end, int size, int n)
{
	for (int j = 0; j < n; j++)
		y[j] = end - row == 1 && size == 1 ? x[(long)row * n + j] + (float)row : -1;
}
SK_KERNEL(row, "each=m; in x f32[m,n] whole, out y f32[m,n], row i32 = begin(m), e i32 = end(m), size i32 = size(m), n i32");

void count(float *h, int n)
{
	for (int i = 0; i < n; i++)
		h[i] = (float)i;
}
SK_KERNEL(count, "out h f32[n], n i32");

int all(const float *x, const float *y, const float *z, const float *r, int m, int n)
{
	for (int i = 0; i < m; i++)
		for (int j = 0; j < n; j++)
			if (y[i * n + j] != x[i * n + j] + (float)(100 * i + j) || z[i * n + j] != (float)(2 * i + 2) ||
			    r[i * n + j] != y[i * n + j] + (float)i)
				return 1 + i * n + j;
	return 0;
}
SK_KERNEL(all, "in x f32[m,n], in y f32[m,n], in z f32[m,n], in r f32[m,n], m i32, n i32 -> status");
C
compile tiles
printf 'sklink: 1\ntensors:\n  h: {dtype: f32, shape: [25]}\n%s\ntasks:\n%s\n' "$(tensors '[23, 40]' x y z r)" \
	'  - {name: count, kernel: count, args: [h], scope: s}
  - {name: tile, kernel: tile, args: [x, h, y, z], scope: s}
  - {name: row, kernel: row, args: [y, r], scope: s}
  - {name: all, kernel: all, args: [x, y, z, r], scope: s}' >tiles.yaml
"$sklink" tiles.yaml tiles.o -o tiles.sk
proved tiles.sk
for cores in 1 2 3 7; do
	"$skrun" tiles.sk --random 5 --cores $cores --verify --guard --check-races >out.txt || { cat out.txt;
		fail "tiles on $cores cores"; }
done
for change in 's/out y f32\[m,n\] whole/out y f32[m,n]/' 's/in x f32\[m,n\] whole/in x f32[m,n]/' \
	's/in x f32\[m,n\], in h/in x f32[m,n] whole, in h/'; do
	sed "$change" tiles.c >changed.c
	cmp -s tiles.c changed.c && fail "$change changes nothing"
	compile changed
	"$sklink" tiles.yaml changed.o -o changed.sk
	fails_with "task 'all': kernel all returned status" "$skrun" changed.sk --random 5 --cores 2
done
