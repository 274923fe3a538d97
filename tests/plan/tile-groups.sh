#!/bin/bash
# Tile groups: elementwise and row-wise tasks on the same bytes, operands that all rows share, sums of rows, widened and
# narrowed types, several outputs, a value used twice, work in place, a kernel that is called in a loop, and a status.
# The results are those of the tasks one by one, for any tile, number of cores and sizes.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
cat >kernels.c <<'C'
#include "skkernel.h"
void scale(const float *x, float *y, long n, float factor)
{
	for (long i = 0; i < n; i++)
		y[i] = x[i] * factor;
}
SK_KERNEL(scale, "split=n; in x f32[n], out y f32[n], n i64, factor f32");
void add(const float *a, const float *b, float *y, long n)
{
	for (long i = 0; i < n; i++)
		y[i] = a[i] + b[i];
}
SK_KERNEL(add, "split=n; in a f32[n], in b f32[n], out y@a f32[n], n i64");
void bias(const float *x, const float *b, float *y, long m, long k)
{
	for (long i = 0; i < m; i++)
		for (long j = 0; j < k; j++)
			y[i * k + j] = x[i * k + j] + b[j];
}
SK_KERNEL(bias, "split=m; in x f32[m,k], in b f32[k], out y f32[m,k], m i64, k i64");
void sums(const float *x, float *s, long m, long k)
{
	for (long i = 0; i < m; i++) {
		s[i] = 0;
		for (long j = 0; j < k; j++)
			s[i] += x[i * k + j];
	}
}
SK_KERNEL(sums, "split=m; in x f32[m,k], out s f32[m], m i64, k i64");
int centre(const float *x, const float *s, float *y, float *z, long m, long k)
{
	for (long i = 0; i < m; i++)
		for (long j = 0; j < k; j++) {
			y[i * k + j] = x[i * k + j] - s[i] / (float)k;
			z[i * k + j] = x[i * k + j] * s[i];
		}
	return 0;
}
SK_KERNEL(centre, "split=m; in x f32[m,k], in s f32[m], out y f32[m,k], out z f32[m,k], m i64, k i64 -> status");
void widen(const float *x, double *y, long n)
{
	for (long i = 0; i < n; i++)
		y[i] = x[i];
}
SK_KERNEL(widen, "split=n; in x f32[n], out y f64[n], n i64");
void narrow(const double *x, signed char *y, long n)
{
	for (long i = 0; i < n; i++)
		y[i] = (signed char)(long)(x[i] * 16);
}
SK_KERNEL(narrow, "split=n; in x f64[n], out y i8[n], n i64");
void row(const float *x, float *y, long k)
{
	for (long j = 0; j < k; j++)
		y[j] = x[k - 1 - j];
}
SK_KERNEL(row, "each=m; in x f32[m,k], out y f32[m,k], k i64");
C
compile kernels

manifest() { # M K [DEVICE]
	cat <<M
sklink: 1
device: ${3-host}
tensors:
  x: {dtype: f32, shape: [$1, $2]}
  b: {dtype: f32, shape: [$2]}
  t1: {dtype: f32, shape: [$1, $2]}
  t2: {dtype: f32, shape: [$1, $2]}
  s: {dtype: f32, shape: [$1]}
  t3: {dtype: f32, shape: [$1, $2]}
  t4: {dtype: f32, shape: [$1, $2]}
  t5: {dtype: f32, shape: [$1, $2]}
  wide: {dtype: f64, shape: [$1, $2]}
  y: {dtype: f32, shape: [$1, $2], role: output}
  z: {dtype: f32, shape: [$1, $2], role: output}
  q: {dtype: i8, shape: [$1, $2], role: output}
tasks:
  - {name: one, kernel: scale, args: [x, t1], set: {factor: 3}, scope: sp}
  - {name: two, kernel: bias, args: [t1, b, t2], scope: sp}
  - {name: three, kernel: sums, args: [t2, s], scope: sp}
  - {name: four, kernel: centre, args: [t2, s, t3, z], scope: sp}
  - {name: five, kernel: add, args: [t3, t1, t3], scope: sp}
  - {name: six, kernel: row, args: [t3, t4], scope: sp}
  - {name: seven, kernel: add, args: [t4, t2, t5], scope: sp}
  - {name: eight, kernel: widen, args: [t5, wide], scope: sp}
  - {name: nine, kernel: narrow, args: [wide, q], scope: sp}
  - {name: ten, kernel: scale, args: [t5, y], set: {factor: 0.5}, scope: sp}
M
}

same() { # PACKAGE ARGUMENTS...: the outputs are those without groups
	local package=$1
	shift
	"$skrun" "$package" --random 1 "$@" --output y=y.npy --output z=z.npy --output q=q.npy >ran.txt ||
		fail "$package $*"
	for output in y z q; do
		cmp "plain.$output.npy" "$output.npy" || fail "$package $*: $output is another one than without groups"
	done
}

for sizes in '300 16' '513 7' '1000 24' '1 4096' '40 1'; do
	read -r rows columns <<<"$sizes"
	manifest "$rows" "$columns" >m.yaml
	"$sklink" m.yaml kernels.o -o plain.sk --scope-options '*=tile-fusion=0'
	"$skrun" plain.sk --random 1 --cores 1 --unfused --output y=plain.y.npy --output z=plain.z.npy --output \
		q=plain.q.npy
	for bytes in 1 5000 16384 1000000; do
		"$sklink" m.yaml kernels.o -o m.sk --scope-options "*=tile-bytes=$bytes"
		"$skdump" --verify m.sk >/dev/null
		for cores in 1 2 3 7; do
			same m.sk --cores "$cores" --verify
			same m.sk --cores "$cores" --guard
			same m.sk --cores "$cores" --check-races
		done
		same m.sk --serial
		if [ $bytes = 5000 ]; then
			for cores in 1 2 7; do
				same m.sk --device a3 --cores "$cores"
			done
		fi
	done
done

# On a device of more cores, for which it is made: a group has four units for each of them.
manifest 3201 16 a3 >m.yaml
"$sklink" m.yaml kernels.o -o plain.sk --scope-options '*=tile-fusion=0'
"$skrun" plain.sk --random 1 --cores 1 --unfused --output y=plain.y.npy --output z=plain.z.npy --output q=plain.q.npy
"$sklink" m.yaml kernels.o -o m.sk
"$skdump" --verify m.sk >/dev/null
"$skdump" --steps m.sk >steps.txt
grep -qE '^ *1  one  .* vector .* group tiles of ' steps.txt || { cat steps.txt; fail "no group on the vector cores"; }
for cores in 1 2 7; do
	same m.sk --cores "$cores" --verify
	same m.sk --cores "$cores" --guard
	same m.sk --cores "$cores" --check-races
done
same m.sk --verify
same m.sk --serial

# All of it is one step without awaits, and no temporary takes workspace.
manifest 1000 24 >m.yaml
"$sklink" m.yaml kernels.o -o m.sk
"$skdump" --launches m.sk >launches.txt
grep -qE ' sk_sp  *superkernel .* 1  one  *ten  *0 ' launches.txt || { "$skdump" --steps m.sk; cat launches.txt;
	fail "the chain is not one step"; }

# Sums of wide rows do not begin at the same place of a line in every row: they stay in the workspace, and the chain one
# step.
manifest 40 512 >m.yaml
"$sklink" m.yaml kernels.o -o plain.sk --scope-options '*=tile-fusion=0'
"$skrun" plain.sk --random 1 --cores 1 --unfused --output y=plain.y.npy --output z=plain.z.npy --output q=plain.q.npy
"$sklink" m.yaml kernels.o -o m.sk
"$skdump" --verify m.sk >/dev/null
"$skdump" --launches m.sk >launches.txt
grep -qE ' sk_sp  *superkernel .* 1  one  *ten  *0' launches.txt || { "$skdump" --steps m.sk; cat launches.txt;
	fail "wide rows are not one step"; }
"$skdump" --memory m.sk | grep -qE '^ +0 +160 +s ' || { "$skdump" --memory m.sk;
	fail "the workspace holds something else than the sums"; }
same m.sk --cores 2 --verify
same m.sk --cores 3 --guard
same m.sk --cores 3 --check-races
same m.sk --serial

# The output for a group: the length of its tiles, beside the first call (of x, t and u two are in use at once), and the
# loops of its calls beside each; and an await of a step of several calls awaits the last one.
cat >>kernels.c <<'C'
void sum(const float *x, float *y, long n)
{
	*y = 0;
	for (long i = 0; i < n; i++)
		*y += x[i];
}
SK_KERNEL(sum, "in x f32[n], out y f32[1], n i64");
C
compile kernels
cat >m.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [64, 48]}
  t: {dtype: f32, shape: [64, 48]}
  u: {dtype: f32, shape: [64, 48]}
  y: {dtype: f32, shape: [1]}
tasks:
  - {name: one, kernel: scale, args: [x, t], set: {factor: 3}, scope: sp}
  - {name: two, kernel: row, args: [t, u], scope: sp}
  - {name: three, kernel: sum, args: [u, y], scope: sp}
M
"$sklink" m.yaml kernels.o -o m.sk --scope-options '*=tile-bytes=6000' --explain two >said.txt --explain three
"$skdump" --steps m.sk >steps.txt
for shown in '^ *1  one  .*  split 64 in 16 units of 4, group tiles of 12$' '^  *two  *row  *tiles of 1$' \
	'^ *2  three .*  awaits two$'; do
	grep -qE "$shown" steps.txt || { cat steps.txt; fail "skdump --steps has no line $shown"; }
done
for said in "each core makes the step's calls in turn for 12 of them" "It awaits 'two'\.$"; do
	grep -q "$said" said.txt || { cat said.txt; fail "--explain does not say: $said"; }
done
"$sklink" m.yaml kernels.o -o m.sk --report=report.json
for line in '"first": "one", "last": "three"' '"name": "three".*"awaits": \["two"\]'; do
	grep -q "$line" report.json || { cat report.json; fail "--report does not say: $line"; }
done

# If a core's part of all tensors stays in its cache, tiles are as long as they can be there, with half of that cache
# for the tensors in use at once in a tile. Of x, y and the tensors inside, three count. A profile without data-cache
# has no such number.
chain() { # N
	cat >chain.yaml <<M
sklink: 1
device: $device
tensors:
  x: {dtype: f32, shape: [$1]}
  t: {dtype: f32, shape: [$1]}
  y: {dtype: f32, shape: [$1]}
tasks:
  - {name: one, kernel: scale, args: [x, t], set: {factor: 3}, scope: sp}
  - {name: two, kernel: scale, args: [t, y], set: {factor: 2}, scope: sp}
M
}
tiles_of() { # DEVICE N TILE
	device=$1
	chain "$2"
	"$sklink" chain.yaml kernels.o -o chain.sk
	"$skdump" --steps chain.sk >steps.txt
	grep -qE "group tiles of $3\$" steps.txt || { cat steps.txt; fail "$1: tiles for $2 numbers are not $3 long"; }
}
sed 's/^name: host/name: unknown/; /data-cache/d' "$top_srcdir/format/profile/host.profile" >unknown.profile
sed 's/^name: host/name: small/; s/data-cache: .*/data-cache: 64 KiB/' "$top_srcdir/format/profile/host.profile" \
	>small.profile
tiles_of host 16384 16384
tiles_of host 174720 65536
tiles_of host 174784 512
tiles_of unknown.profile 16384 512
tiles_of small.profile 10880 4096
tiles_of small.profile 10944 512

# Kernels that depend on the place of an address in its line of 64 bytes, as vector code of compilers and people does,
# and on the place at which the last n % 64 elements begin: for each element both are the same as without groups, for
# any tile and cores.
cat >look.c <<'C'
#include "skkernel.h"
static int place(const void *address)
{
	return (int)((uintptr_t)address % LINE);
}
void look(const float *x, float *y, long n)
{
	for (long i = 0; i < n; i++)
		y[i] = x[i] / 2 + (float)(place(&x[i]) + 3 * place(&y[i])) + (i < n - n % LINE ? 0 : 0.25f);
}
SK_KERNEL(look, "split=n; in x f32[n], out y f32[n], n i64");
void bytes(const float *x, signed char *y, long n)
{
	for (long i = 0; i < n; i++)
		y[i] = (signed char)(place(&x[i]) + place(&y[i]) + (i < n - n % LINE ? 0 : 64) + (x[i] > 0));
}
SK_KERNEL(bytes, "split=n; in x f32[n], out y i8[n], n i64");
void rows(const float *x, const signed char *t, float *s, long m, long k)
{
	for (long i = 0; i < m; i++) {
		s[i] = (float)(place(&s[i]) + place(&x[i * k]) + place(&t[i * k]));
		for (long j = 0; j < k; j++)
			s[i] += x[i * k + j] + (float)t[i * k + j];
	}
}
SK_KERNEL(rows, "split=m; in x f32[m,k], in t i8[m,k], out s f32[m], m i64, k i64");
void spread(const float *x, const float *s, float *y, long m, long k)
{
	for (long i = 0; i < m * k; i++)
		y[i] = x[i] + s[i / k] + (float)(place(&s[i / k]) + place(&x[i]) + place(&y[i]));
}
SK_KERNEL(spread, "split=m; in x f32[m,k], in s f32[m], out y f32[m,k], m i64, k i64");
C
look() { # DEVICE M K: of packages for that device
	cat >look.yaml <<M
sklink: 1
device: $1
tensors:
$(tensors "[$2, $3]" x t1 t3)
  t2: {dtype: i8, shape: [$2, $3]}
  s: {dtype: f32, shape: [$2]}
  y: {dtype: f32, shape: [$2, $3], role: output}
tasks:
  - {name: one, kernel: look, args: [x, t1], scope: sp}
  - {name: two, kernel: bytes, args: [t1, t2], scope: sp}
  - {name: three, kernel: rows, args: [t1, t2, s], scope: sp}
  - {name: four, kernel: spread, args: [t1, s, t3], scope: sp}
  - {name: five, kernel: look, args: [t3, y], scope: sp}
M
	"$sklink" look.yaml look.o -o plain.sk --scope-options '*=tile-fusion=0'
	"$skrun" plain.sk --random 1 --cores 1 --unfused --output y=plain.y.npy >ran.txt
}
looked() { # TILE-BYTES ARGUMENTS…: y.npy has the result of one step of all five
	"$sklink" look.yaml look.o -o look.sk --scope-options "*=tile-bytes=$1"
	shift
	"$skdump" --launches look.sk | grep -qE ' 1  one  *five  *0 ' || { "$skdump" --steps look.sk;
		fail "not one step"; }
	for cores in 1 2 7; do
		"$skrun" look.sk --random 1 --cores "$cores" "$@" --output y=y.npy >ran.txt || fail "--cores $cores $*"
		"${differs-cmp}" plain.y.npy y.npy ||
			fail "$(grep shape look.yaml | head -1): other results with --cores $cores $*"
	done
}
sed 's/LINE/64/g' look.c >k.c
compile k
mv k.o look.o
for sizes in '513 7' '1000 24' '3101 16'; do
	look host ${sizes% *} ${sizes#* }
	for bytes in 0 1 3000; do
		looked $bytes
	done
	looked 3000 --device a3
done
# A group of that device has four units for each of 48 cores.
look a3 3101 16
looked 0
looked 1
# They would notice: lines of 4096 bytes are not where they are without groups.
sed 's/LINE/4096/g' look.c >k.c
compile k
mv k.o look.o
differ() {
	! cmp -s "$@"
}
differs=differ
look host 3101 16
looked 3000
unset differs

# Structs come before the tiles: to the last byte of 64, if one ends in a small field.
cat >kernels.c <<'C'
#include "skkernel.h"
struct options { const float *x; float *y; long n, fill[4]; short shift; unsigned char by[6]; };
void change(struct options *o)
{
	for (long i = 0; i < o->n; i++)
		o->y[i] = o->x[i] * (float)o->fill[3] + (float)(o->by[5] - o->shift);
	*o = (struct options){0};
}
SK_KERNEL(change, "split=n; o {in x f32[n], out y f32[n], n i64, fill i64[4] = 2, shift i16 = 3, by u8[6] = 7}*");
C
compile kernels
cat >m.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [1000]}
  t: {dtype: f32, shape: [1000]}
  y: {dtype: f32, shape: [1000]}
tasks:
  - {name: one, kernel: change, args: [x, t], scope: sp}
  - {name: two, kernel: change, args: [t, y], scope: sp}
M
"$sklink" m.yaml kernels.o -o m.sk
"$skdump" --launches m.sk | grep -qE ' 1  one  *two  *0 ' || fail "tasks with structs are not one step"
"$skrun" m.sk --random 1 --cores 3 --verify
"$skrun" m.sk --random 1 --guard

# Bytes that calls may read after a tile are reserved after it, on each core; if they are many, the temporary stays in
# the workspace, which has it once. Three times half of the address space would be more than there is.
cat >behind.c <<'C'
#include "skkernel.h"
void copy(const float *x, float *y, long n)
{
	for (long i = 0; i < n; i++)
		y[i] = x[i];
}
SK_KERNEL(copy, "split=n; in x f32[n], out y f32[n], n i64");
void sum(const float *a, const float *b, const float *c, float *y, long n)
{
	for (long i = 0; i < n; i++)
		y[i] = a[i] + b[i] + c[i];
}
SK_KERNEL(sum, "split=n; in a f32[n]+BEHIND, in b f32[n]+BEHIND, in c f32[n]+BEHIND, out y f32[n], n i64");
C
cat >behind.yaml <<M
sklink: 1
tensors:
$(tensors '[1000]' x a b c y)
tasks:
  - {name: one, kernel: copy, args: [x, a], scope: sp}
  - {name: two, kernel: copy, args: [a, b], scope: sp}
  - {name: three, kernel: copy, args: [b, c], scope: sp}
  - {name: four, kernel: sum, args: [a, b, c, y], scope: sp}
M
for behind in 64 1048576 9223372036854770000; do
	sed "s/BEHIND/$behind/g" behind.c >far.c
	compile far
	"$sklink" behind.yaml far.o -o behind.sk
	"$skdump" --memory behind.sk >memory.txt
	case $behind in
	64) expected='^scratch: 3 temporaries' ;;
	*) expected='^memory: 3 temporaries in a workspace of ' ;;
	esac
	grep -qE "$expected" memory.txt || { cat memory.txt;
		fail "three temporaries with $behind bytes behind them lie elsewhere"; }
	"$skdump" --verify behind.sk >/dev/null
done

# Temporaries share bytes call by call: in a chain those of every other call do, in the scratch, and no two of one call.
# In the workspace, where they are if many bytes are read after them, those of one step have their own bytes.
cat >chain.yaml <<M
sklink: 1
tensors:
$(tensors '[1000]' x a b c d y)
tasks:
  - {name: one, kernel: copy, args: [x, a], scope: sp}
  - {name: two, kernel: copy, args: [a, b], scope: sp}
  - {name: three, kernel: copy, args: [b, c], scope: sp}
  - {name: four, kernel: copy, args: [c, d], scope: sp}
  - {name: five, kernel: copy, args: [d, y], scope: sp}
M
for behind in 64 1048576; do
	sed "s/in x f32\[n\],/in x f32[n]+$behind,/" behind.c >far.c
	compile far
	"$sklink" chain.yaml far.o -o chain.sk
	"$skdump" --launches chain.sk | grep -qE ' 1  one  *five  *0 ' || fail "the chain is not one step"
	"$skdump" --memory chain.sk >memory.txt
	case $behind in
	64) expected='/ a0 b4160 c0 d4160 ' ;;
	*) expected='a0 b4032 c8064 d12096 ' ;;
	esac
	lies=$(awk '/^scratch: / { printf "/ " } $1 ~ /^[0-9]+$/ { printf "%s%s ", $3, $1 }' memory.txt)
	[ "$lies" = "$expected" ] || { cat memory.txt;
		fail "with $behind bytes behind them there lie $lies, not $expected"; }
	for how in --verify --guard --check-races; do
		"$skrun" chain.sk --random 1 --cores 3 $how >ran.txt || fail "the chain with $behind bytes behind: $how"
	done
done

# If any call of a step stores past the caches, a fence comes after the loop, once, and before the step is published:
# other cores then see the stores of all of its tiles.
cat >past.c <<'C'
#include "skkernel.h"
#define KERNEL(name, words) \
	void name(const float *x, float *y, long n) { for (long i = 0; i < n; i++) y[i] = 2 * x[i]; } \
	SK_KERNEL(name, words "; in x f32[n], out y f32[n], n i64")
KERNEL(double_it, "split=n");
KERNEL(stream_it, "split=n nontemporal");
KERNEL(copy_all, "vector");
C
compile past
fences() { # FIRST SECOND COUNT
	cat >past.yaml <<M
sklink: 1
tensors:
$(tensors '[20000]' x a y z)
tasks:
  - {name: one, kernel: $1, args: [x, a], scope: sp}
  - {name: two, kernel: $2, args: [a, y], scope: sp}
  - {name: three, kernel: copy_all, args: [y, z], scope: sp}
M
	"$sklink" past.yaml past.o -o past.sk
	"$skdump" --verify past.sk >/dev/null
	"$skrun" past.sk --random 1 --verify --cores 3 >ran.txt || fail "$1 and $2: --verify"
	objdump -d --no-show-raw-insn --disassemble=sk_sp past.sk >code.txt
	order=$(sed -nE 's/.*call .*<(double_it|stream_it|copy_all)>.*/\1/p; s/.*\sjb .*/loop/p; s/.*sfence.*/fence/p; s/.*mov +%r[a-z0-9]+,(0x0)?\(%rbp\)$/publish/p' code.txt | head -$((4 + $3)) | tr '\n' ' ')
	[ "$order" = "$1 $2 loop ${4-}publish " ] || { cat code.txt; fail "$1 and $2: the code has $order"; }
	[ "$(grep -c sfence code.txt)" = "$3" ] || fail "$1 and $2: not $3 fences"
}
fences double_it double_it 0
fences double_it stream_it 1 'fence '
fences stream_it double_it 1 'fence '
fences stream_it stream_it 1 'fence '
