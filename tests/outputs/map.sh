#!/bin/bash
# The tables at the end of the map: the sections that each kernel reaches, by the objects, and the owners of the
# dispatchers' bytes.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
cat >k.c <<'C'
#include "skkernel.h"
const float own_table[3] = {1, 2, 3}, shared_table[5] = {1, 2, 3, 4, 5};
int common_data[7];
volatile int own_data[2] = {1, 2};
int helper(int x)
{
	__asm__ volatile("" : : "r"("a string of both kernels"));
	return (int)shared_table[x % 5];
}
void one(const int *x, int *y, long n)
{
	for (long i = 0; i < n; i++)
		y[i] = helper(x[i]) + (int)own_table[x[i] % 3];
	__asm__ volatile("" : : "r"("only of one"));
}
SK_KERNEL(one, "in x i32[n], out y i32[n], n i64");
void two(const int *x, int *y, long n)
{
	for (long i = 0; i < n; i++)
		y[i] = helper(x[i]) + own_data[i & 1] + common_data[i % 7];
}
SK_KERNEL(two, "in x i32[n], out y i32[n], n i64");
void three(const int *x, int *y, long n)
{
	for (long i = 0; i < n; i++)
		y[i] = x[i];
}
SK_KERNEL(three, "split=n; in x i32[n], out y i32[n], n i64");
C
$KERNEL_CC -O1 -fno-inline -fcommon -fvisibility=hidden -fPIC -ffunction-sections -fdata-sections \
	-I"$top_srcdir/format" -c k.c -o k.o
cat >model.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: i32, shape: [64]}
  a: {dtype: i32, shape: [64]}
  b: {dtype: i32, shape: [64]}
  y: {dtype: i32, shape: [64]}
tasks:
  - {name: first, kernel: one, args: [x, a], scope: all}
  - {name: second, kernel: two, args: [a, b], scope: all, stream: 1}
  - {name: third, kernel: three, args: [b, y]}
  - {name: fourth, kernel: one, args: [y, y2]}
M
sed -i 's/^tasks:/  y2: {dtype: i32, shape: [64], role: output}\ntasks:/; s/^  y: {/  y: {role: output, /' model.yaml
"$sklink" --task-entries model.yaml k.o -Map=out.map --stats -o out.sk >said.txt
"$skrun" out.sk --random 1 --verify >/dev/null

object=k.o
size() { # of a section of the object
	echo $((0x$(readelf -SW "$object" | sed -nE "s/^ *\[ *[0-9]+\] $1 +[A-Z]+ +[0-9a-f]+ [0-9a-f]+ ([0-9a-f]+) .*/\1/p")))
}
row() { # of the tables, with single spaces
	grep -E " $1( |\$)" tables.txt | sed 's/^ *//; s/  */ /g'
}
expect() {
	[ "$(row "$1")" = "$2" ] || { cat tables.txt; fail "$1: '$(row "$1")' instead of '$2'"; }
}
shared_text=$(size .text.helper) shared_data=$(($(size .rodata.shared_table) + 25))
one_text=$(size .text.one) one_data=$(($(size .rodata.own_table) + 12))
two_text=$(size .text.two) three_text=$(size .text.three)
sed '/Dispatcher/,$d' out.map | sed '1,/\.shstrtab/d' >tables.txt
expect Kernel 'Text shared Read-only shared Writable shared Tasks Kernel'
expect one "$one_text $shared_text $one_data $shared_data 0 0 2 one"
expect two "$two_text $shared_text 0 $shared_data $((8 + 28)) 0 1 two"
expect three "$three_text 0 0 0 0 0 1 three"
expect '<total>' "$((one_text + two_text + three_text)) $shared_text $one_data $shared_data 36 0 4 <total>"

sed -n '/Dispatcher/,$p' out.map >tables.txt
expect Task 'Dispatcher Serial Entries Task Launch Kernel'
sum=0 code=0
for task in first:all:one second:all:two third:third:three fourth:fourth:one; do
	IFS=: read -r name launch kernel <<<"$task"
	read -r dispatcher serial entries found in calls <<<"$(row "$name")"
	[ "$found $calls" = "$name $kernel" ] && [[ $in == sk_*"$launch" ]] || { cat tables.txt;
		fail "the row of $name"; }
	[ "$dispatcher" -ge "$serial" ] && [ "$serial" -gt 10 ] && [ "$entries" -gt "$serial" ] || { cat tables.txt;
		fail "the bytes of $name"; }
	sum=$((sum + dispatcher + serial + entries)) code=$((code + dispatcher))
done
# A wait takes room in the dispatcher: the second task is on another core than the first.
[ "$(row second | cut -d' ' -f1)" -gt "$(row first | cut -d' ' -f1)" ] || { cat tables.txt;
	fail "the wait of the second task"; }
row '<total>' | grep -q "^$code " || fail "the total of dispatchers"
rest=$(row '<beginnings and ends of functions, thunks>' | cut -d' ' -f1)
all=$(sed -n 's/^bytes of dispatchers *//p' said.txt)
[ $((sum + rest)) = "$all" ] || { cat tables.txt; fail "$sum and $rest bytes are not $all"; }
"$sklink" --task-entries model.yaml k.o -Map=again.map -o again.sk
cmp out.map again.map || fail "two maps differ"
for output in - /dev/stdout /dev/fd/1 /proc/self/fd/1; do
	"$sklink" --task-entries model.yaml k.o -Map=$output -o out.sk >again.txt \
		# a regular file with a device's name
	cmp out.map again.txt || fail "the map of -Map=$output"
	[ "$("$sklink" --task-entries model.yaml k.o -Map=$output -o out.sk | cat)" = "$(cat out.map)" ] ||
		fail "-Map=$output in a pipe"
done
"$sklink" model.yaml k.o -Map=/dev/null --header=/dev/null -o out.sk && [ -c /dev/null ] || fail "a device"
mkfifo pipe
cat pipe >again.txt &
"$sklink" --task-entries model.yaml k.o -Map=pipe -o out.sk
wait $! && cmp out.map again.txt || fail "a map in a named pipe"
[ ! -e ./- ] || fail "a file of the name -"
for option in '' --no-task-entries; do
	"$sklink" model.yaml k.o $option -Map=out.map -o out.sk
	sed -n '/Dispatcher/,$p' out.map >tables.txt
	row '<total>' | grep -qE "^$code [0-9]+ 0 <total>$" || { cat tables.txt;
		fail "no task has code of its own: $option"; }
done

# A mix kernel reaches all that either side does; sections that only these two reach are its own.
cat >mix.c <<'C'
#include "skkernel.h"
const int table[6] = {1, 2, 3, 4, 5, 6}, vector_table[7] = {1, 2, 3, 4, 5, 6, 7};
int both(int x)
{
	return table[x % 6];
}
void pair_mix_aic(const struct sk_block *block, const int *x, int *y, long n)
{
	for (long i = block->index; i < n; i += 2 * block->count)
		y[i] = both(x[i]);
}
void pair_mix_aiv(const struct sk_block *block, const int *x, int *y, long n)
{
	for (long i = block->index + block->count; i < n; i += 2 * block->count)
		y[i] = both(x[i]) + vector_table[x[i] % 7];
}
SK_KERNEL(pair, "mix; block, in x i32[n], out y i32[n], n i64");
C
$KERNEL_CC -O1 -fno-inline -fvisibility=hidden -fPIC -ffunction-sections -fdata-sections -I"$top_srcdir/format" -c \
	mix.c -o mix.o
sed 's/kernel: two,/kernel: pair,/' model.yaml >mix.yaml
"$sklink" --task-entries mix.yaml k.o mix.o -Map=mix.map --stats -o mix.sk >said.txt
sed '/Dispatcher/,$d' mix.map | sed '1,/\.shstrtab/d' >tables.txt
object=mix.o
expect pair "$(($(size .text.pair_mix_aic) + $(size .text.pair_mix_aiv) + $(size .text.both))) 0 $((24 + 28)) 0 0 0 1 pair"
sed -n '/Dispatcher/,$p' mix.map >tables.txt
all=$(sed -n 's/^bytes of dispatchers *//p' said.txt)
read -r dispatchers serial entries _ <<<"$(row '<total>')"
rest=$(row '<beginnings and ends of functions, thunks>' | cut -d' ' -f1)
[ $((dispatchers + serial + entries + rest)) = "$all" ] || { cat tables.txt;
	fail "the mix task's dispatchers are not $all bytes"; }

# A kernel reaches the addresses that it is given: a callback and its references, and a table that another kernel also
# reaches.
cat >handed.c <<'C'
const int own_table[9] = {1, 2, 3}, common_table[11] = {1, 2, 3};
int deep(int x)
{
	return x + own_table[x % 9];
}
int callback(int x)
{
	return deep(x) * 3;
}
void apply(const int *x, int *y, long n, int (*f)(int), const int *table)
{
	for (long i = 0; i < n; i++)
		y[i] = f(x[i]) + table[x[i] % 11];
}
void look(const int *x, int *y, long n)
{
	for (long i = 0; i < n; i++)
		y[i] = common_table[x[i] % 11];
}
C
$KERNEL_CC -O1 -fno-inline -fvisibility=hidden -fPIC -ffunction-sections -fdata-sections -c handed.c -o handed.o
cat >handed.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: i32, shape: [64]}
  a: {dtype: i32, shape: [64]}
  y: {dtype: i32, shape: [64]}
kernels:
  apply: {signature: "in x i32[n], out y i32[n], n i64, f ptr = &callback, table ptr = &common_table"}
  bare: {symbol: look, signature: "in x i32[n], out y i32[n], n i64"}
tasks:
  - {name: first, kernel: apply, args: [x, a], scope: all}
  - {name: second, kernel: bare, args: [a, y], scope: all}
M
"$sklink" handed.yaml handed.o -Map=handed.map -o handed.sk
sed '/Dispatcher/,$d' handed.map | sed '1,/\.shstrtab/d' >tables.txt
object=handed.o
expect apply "$(($(size .text.apply) + $(size .text.callback) + $(size .text.deep))) 0 36 44 0 0 1 apply"
expect bare "$(size .text.look) 0 0 44 0 0 1 bare"

# Nothing stays that tells about a package that could not be written.
mkdir folder.sk
fails_with 'folder.sk' "$sklink" model.yaml k.o -o folder.sk -Map=left.map --dependency-file=left.d --header=left.h
[ -z "$(ls | grep left)" ] || fail "left behind: $(ls)"
