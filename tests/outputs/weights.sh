#!/bin/bash
# Weights: the cost of linking a model with many of them, the places that they may be in, and which of them are stored.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
make_model=$top_builddir/tests/lib/make-model
sanitize=$(sed -n 's/^SANITIZE_CFLAGS = //p' "$top_builddir/Makefile")
set -- -L "$top_builddir/kernels" -lskernels

# array NAME TYPE SHAPE VALUE…: NAME.npy.
array() {
	local name=$1
	shift
	"$make_model" "$name.npy" "$@"
}

# put FILE OFFSET OCTAL: four bytes there.
put() {
	printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# ---- much, and far away ----

# Three factors of 16 MiB, and a repeated one, in a file that is nearly all holes; the second is after 2 GiB, the third
# after 4 GiB and not where tensors begin.
second=$((2 << 30)) third=$(((4 << 30) + 4)) again=$((5 << 30)) size=$((16 << 20))
truncate -s $((again + size)) w.bin || { echo "no files with holes here"; exit 77; }
put w.bin 0 '\0\0\0\100'                         # 2
put w.bin "$second" '\0\0\100\100'               # 3
put w.bin "$third" '\0\0\240\100'                # 5
put w.bin "$again" '\0\0\0\100'                  # 2
cat >many.txt <<END_OF_MODEL
input x f32 1x2048
output y f32 1x2048
external a f32 2048x2048 w.bin 0
external b f32 2048x2048 w.bin $second
external c f32 2048x2048 w.bin $third
external d f32 2048x2048 w.bin $again
node MatMul one x a -> t
node MatMul two t b -> u
node MatMul three u c -> v
node MatMul four v d -> y
END_OF_MODEL
"$make_model" many.onnx <many.txt
"$sklink" many.onnx "$@" --stats -o many.sk >stats.txt
array x f32 1x2048 1
array y.want f32 1x2048 60 0
"$skrun" many.sk --input x=x.npy --output y=y.npy
cmp y.npy y.want.npy || fail "products of weights far away are wrong"

# Factors are packed, the fourth one is the first one's copy, and originals are nowhere.
stored=$(stat -c %s many.sk)
[ "$stored" -gt $((3 * size)) ] && [ "$stored" -lt $((3 * size + size / 2)) ] || fail "the package has $stored bytes"

# The weights are in memory once, after any processing: no process, neither this one nor the one that packs them, has
# both originals and results. expect_little_memory: the link with the statistics in stats.txt took hardly more than it
# computed for one network.
expect_little_memory() {
	local peak=$(awk '/peak memory/ {print $NF}' stats.txt)
	[ "$peak" -lt $(((4 * size >> 10) + (96 << 10))) ] || [ -n "$sanitize" ] || fail "the link took $peak KiB"
}
expect_little_memory

# Results are written once: the file that keeps them becomes the package, or the weights, and has the same bytes as a
# copied one.
cat >nameless.c <<'C'
#define _GNU_SOURCE
#include <fcntl.h>

int main(void)
{
	return open(".", O_TMPFILE | O_RDWR, 0600) < 0;
}
C
$CC nameless.c -o nameless
nameless=$(./nameless && [ -r /proc/self/io ] && echo true) || true

# Three factors other than zeros, which would not be written.
yes xyz | head -c $((3 * size)) >dense.bin
put dense.bin 0 '\0\0\0\100'
put dense.bin "$size" '\0\0\100\100'
cat >dense.txt <<END_OF_MODEL
input x f32 1x2048
output y f32 1x2048
external a f32 2048x2048 dense.bin 0
external b f32 2048x2048 dense.bin $size
external c f32 2048x2048 dense.bin $((2 * size))
node MatMul one x a -> t
node MatMul two t b -> u
node MatMul three u c -> y
END_OF_MODEL
"$make_model" dense.onnx <dense.txt

# writes_once NETWORKS COMMAND…: bytes that it and its processes write are hardly more than the results of each network.
writes_once() {
	local bytes networks=$1
	shift
	bytes=$(bash -c '"$@" >&2 && sed -n "s/^wchar: //p" /proc/$$/io' bash "$@")
	[ -z "$nameless" ] || [ "$bytes" -lt $(((networks + 1) * 5 * size / 2)) ] ||
		fail "$*: $bytes bytes have been written"
}

writes_once 1 "$sklink" dense.onnx "$@" -o once.sk
writes_once 1 "$sklink" dense.onnx "$@" -o once.sk --weights once.weights
# Constants of two networks are those of the first: the file that keeps its results becomes the package.
sed 's/1x2048$/nx2048/' dense.txt | "$make_model" both.onnx
writes_once 2 "$sklink" both.onnx "$@" --dim one:n=1 --dim two:n=1 -o both.sk
"$skrun" both.sk --network two --random 1 --check-integrity >both.txt
"$skrun" once.sk --random 1 --weights once.weights | cmp - both.txt || fail "the second network computes something else"
"$sklink" both.onnx "$@" --dim a:n=1 --dim b:n=2 --dim c:n=3 --dim d:n=4 --stats -o both.sk >stats.txt
expect_little_memory
"$skrun" both.sk --network a --random 1 --check-integrity | cmp - both.txt ||
	fail "the first network computes something else"
"$sklink" many.onnx "$@" -o /dev/stdout | cat >copied.sk
cmp many.sk copied.sk || fail "constants that are copied are others"
"$skrun" many.sk --input x=x.npy --check-integrity
"$sklink" many.onnx "$@" -o apart.sk --weights many.weights
"$skrun" apart.sk --input x=x.npy --output y=y.npy --check-integrity
cmp y.npy y.want.npy || fail "weights that are not copied are wrong"
: >plain
[ "$(stat -c %a many.weights)" = "$(stat -c %a plain)" ] || fail "weights have the mode $(stat -c %a many.weights)"
[ "$(stat -c %a many.sk)" = "$(stat -c %a apart.sk)" ] || fail "the package has the mode $(stat -c %a many.sk)"

# Constants that are not stored may be followed by others: these are copied.
sed 's/^node MatMul two t b/node MatMul two t d/; s/^node MatMul four v d/node MatMul four v b/' many.txt >between.txt
"$make_model" between.onnx <between.txt
"$sklink" between.onnx "$@" -o between.sk
"$skrun" between.sk --input x=x.npy --output y=y.npy --check-integrity
cmp y.npy y.want.npy || fail "constants between which one is not stored are wrong"
"$sklink" many.onnx "$@" -r -o many.o
objcopy -O binary --only-section=.sk.constants --set-section-flags .sk.constants=alloc many.o constants
tail -c +4097 many.weights | cmp - constants || fail "with -r constants are others"
(
	ulimit -f 20000
	fails_with "many.onnx: cannot store the values computed from constants: File too large" "$sklink" many.onnx "$@" \
		-o large.sk
	# It is reported once, for any number of networks.
	! "$sklink" both.onnx "$@" --dim one:n=1 --dim two:n=2 -o large.sk 2>err.txt ||
		fail "a package that is too large"
	[ "$(cat err.txt)" = "sklink: error: both.onnx: cannot store the values computed from constants: File too large
>>> in network 'one'" ] || fail "$(cat err.txt)"
)
[ ! -e large.sk ] || fail "a package after an error"
rm many.sk dense.bin once.sk once.weights both.sk copied.sk apart.sk many.weights between.sk many.o constants

# ---- a file of their own ----

# model NAME VALUE: y = x A + b, of which A begins with the value.
model() {
	"$make_model" "$1.onnx" <<-END_OF_MODEL
		input x f32 4x64
		output y f32 4x64
		constant a f32 64x64 $2 3 5 7 11
		constant b f32 64 13 17
		node MatMul product x a -> t
		node Add sum t b -> y
	END_OF_MODEL
}

# runs PACKAGE ARGUMENT…: the results equal those without a file for weights.
runs() {
	rm -f got.npy
	"$skrun" "$@" --input x=v.npy --output y=got.npy >out.txt || { cat out.txt; fail "$*"; }
	cmp got.npy want.npy || fail "$*: the result is wrong"
}

model one 2
model other 4
array v f32 4x64 1 2 3
"$sklink" one.onnx "$@" -o plain.sk
"$skrun" plain.sk --input x=v.npy --output y=want.npy
mkdir there elsewhere
"$sklink" one.onnx "$@" --weights there/one.weights -o there/one.sk
"$sklink" other.onnx "$@" --weights other.weights -o other.sk
for way in '' --unfused --serial '--cores 1' '--cores 7' '--device a3' --check-integrity --guard; do
	# shellcheck disable=SC2086 # words
	runs there/one.sk $way
done
(cd there && cp ../v.npy ../want.npy . && runs one.sk)
"$skdump" there/one.sk >out.txt
grep -Eq '^  in the file +one.weights \([0-9a-f]{32}\)$' out.txt || { cat out.txt;
	fail "skdump says nothing of the weights"; }
proved there/one.sk
"$skdump" --diff plain.sk there/one.sk || fail "the plan is another one"
readelf -SW there/one.sk >out.txt
grep -q '\.sk\.constants *NOBITS' out.txt || { cat out.txt; fail "the package has constants, too"; }

# The same once more; a package for other machines, stripped, shares the file.
cp there/one.weights there/one.sk elsewhere
"$sklink" one.onnx "$@" --isa x86-64 --weights there/one.weights -s -o there/two.sk
cmp there/one.weights elsewhere/one.weights || fail "weights of two links differ"
runs there/two.sk --check-integrity
"$sklink" one.onnx "$@" --weights there/one.weights -o there/one.sk
cmp there/one.sk elsewhere/one.sk || fail "two links differ"

# Values computed from constants also have the same bytes on every machine, with any --isa: products, for which levels
# round differently, are those of the lowest one.
"$make_model" computed.onnx <<-END_OF_MODEL
	input x f32 4x64
	output y f32 4x64
	constant a f32 64x64 $(seq -s ' ' 0.013 0.0017 7)
	node MatMul square a a -> s
	node Softmax rows s -> p axis=-1
	node MatMul product x p -> y
END_OF_MODEL
for isa in x86-64 x86-64-v3 x86-64-v4; do
	"$sklink" computed.onnx "$@" --isa $isa --weights $isa.weights -o computed.sk
	"$skdump" --steps computed.sk >steps.txt
	[ "$(grep -cE '^ +[0-9]+  ' steps.txt)" = 1 ] || { cat steps.txt; fail "$isa: more than the product is left"; }
	cmp x86-64.weights $isa.weights || fail "what is computed for $isa has other bytes"
done

strip -o there/stripped.sk there/one.sk
runs there/stripped.sk --check-integrity

# Found beside the package, by a link, or where the command line says.
mv elsewhere/one.weights away
fails_with "elsewhere/one.sk: cannot open its weights: elsewhere/one.weights: No such file or directory" \
	"$skrun" elsewhere/one.sk --random 1
runs elsewhere/one.sk --weights away
ln -s ../away elsewhere/one.weights
runs elsewhere/one.sk
fails_with "absent: No such file" "$skrun" elsewhere/one.sk --weights absent --random 1

# refused MESSAGE FILE ARGUMENT…: a file that is not these weights.
refused() {
	local message=$1 file=$2
	shift 2
	fails_with "$message" "$skrun" there/one.sk --weights "$file" --random 1 "$@"
}

# damage FILE OFFSET OCTAL: a copy of the weights in which bytes are others.
damage() {
	cp there/one.weights "$1"
	put "$1" "$2" "$3"
}

refused "there/one.sk: other.weights holds other weights than those that the package was linked with" other.weights
refused "holds no weights: sklink --weights has not written it" v.npy
: >empty
refused "empty is too short for weights" empty
refused "not a regular file" there
mkfifo pipe
refused "pipe: not a regular file" pipe
size=$(stat -c %s there/one.weights)
head -c $((size - 1)) there/one.weights >cut
refused "cut is damaged: it has $((size - 1)) bytes, and weights of $((size - 4096)) have $size" cut
head -c 100 there/one.weights >cut
refused "cut is damaged: it has 100 bytes" cut
(cat there/one.weights && echo) >long
refused "long is damaged: it has $((size + 1)) bytes" long
(echo && cat there/one.weights) >shifted
refused "holds no weights" shifted
damage version 8 '\2'
refused "weights of version 2; this libskrt reads version 1" version
damage reserved 12 '\1'
refused "weights of version 1" reserved
damage size 16 '\1'
refused "holds other weights" size
damage hash 24 '\1\1'
refused "holds other weights" hash
damage changed 5000 '\1'
refused "integrity: its weights, 'one.weights', are not those that were linked" changed --check-integrity

# The package's description of the file must match the file.
at=$(grep -abo 'one\.weights' there/one.sk | head -1 | cut -d: -f1)
hostile() {
	cp there/one.sk there/hostile.sk
	put there/hostile.sk "$1" "$2"
	fails_with "$3" "$skrun" there/hostile.sk --random 1
	status=0
	"$skdump" --verify there/hostile.sk >out.txt 2>&1 || status=$?
	[ "$status" = 1 ] || fail "skdump takes a damaged record of weights: status $status"
}
hostile "$((at + 2))" '/' "hostile.sk: the name of its weights is not the name of a file"
hostile "$at" '\0' "hostile.sk: the name of its weights is not the name of a file"
hostile "$((at + 11))" 'x' "hostile.sk: the name of its weights is not the name of a file"
hostile "$((at - 24))" '\1' "hostile.sk: its weights are not where their segment is"
hostile "$((at - 28))" '\1' "hostile.sk: its weights are not where their segment is"
hostile "$((at - 32))" '\7' "weights of version 7; this libskrt reads version 1"

# Signed weights are signed like the package.
cat >key.pem <<'KEY'
-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC
-----END PRIVATE KEY-----
KEY
cat >public.pem <<'KEY'
-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
-----END PUBLIC KEY-----
KEY
if "$sklink" one.onnx "$@" --sign key.pem --weights signed.weights -o signed.sk 2>err.txt; then
	runs signed.sk --trust public.pem --check-integrity
	cp signed.weights changed
	put changed 5000 '\1'
	fails_with "its signature is not by the trusted key, or it has been changed" \
		"$skrun" signed.sk --trust public.pem --weights changed --random 1
else
	grep -q 'built without libsodium' err.txt || { cat err.txt; fail "signed weights"; }
fi

# Without libskrt a program maps them itself; before that the addresses are unmapped, not zeros.
cat >alone.c <<'C'
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include "skweights.h"

int main(int argc, char **argv)
{
	static _Alignas(64) float x[4 * 64], y[4 * 64];
	static _Alignas(64) char workspace[1 << 20];
	void *tensors[] = {x, y}, *package = dlopen("./there/one.sk", RTLD_NOW);
	int (*serial)(void *const *, void *) = (int (*)(void *const *, void *))dlsym(package, argv[1]);
	const struct sk_weights *weights = (const struct sk_weights *)dlsym(package, "sk_weights");
	char *constants = (char *)&weights->constants + weights->constants;

	if (argc == 2 &&
	    mmap(constants, weights->identity.size, PROT_READ, MAP_PRIVATE | MAP_FIXED,
		 open("there/one.weights", O_RDONLY), SK_WEIGHTS_START) != constants)
		return 3;
	for (int i = 0; i < 4 * 64; i++)
		x[i] = (float)(i < 3 ? i + 1 : 3);
	if (serial(tensors, workspace))
		return 2;
	FILE *file = fopen("alone.bin", "wb");
	return fwrite(y, sizeof(y), 1, file) != 1 || fclose(file);
}
C
serial=$(nm -D there/one.sk | sed -n 's/.* T \(.*_serial\)$/\1/p' | head -1)
$CC -I"$top_srcdir/format" alone.c -o alone -ldl
./alone "$serial"
tail -c 1024 want.npy | cmp - alone.bin || fail "the serial entry computes something else"
status=0
./alone "$serial" unmapped 2>/dev/null || status=$?
[ "$status" = 139 ] || fail "weights that are not there are taken for zeros: status $status"

# By libskrt: a package in memory has no folder.
cat >loads.c <<'C'
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include "skrt.h"

static struct skrt_device *device;

static int loads(struct skrt_source source)
{
	struct skrt_module *module;
	int status = skrt_module_load_from(device, &source, &module);

	if (!status)
		skrt_module_unload(module);
	else
		printf("%s: %s\n", skrt_status_name(status), skrt_error());
	return status;
}

int main(void)
{
	static char package[1 << 22];
	FILE *file = fopen("there/one.sk", "rb");
	struct skrt_source memory = {
		.size = sizeof(memory), .memory = package, .bytes = fread(package, 1, sizeof(package), file)};
	struct skrt_source found = {.size = sizeof(found), .path = "there/one.sk"};
	int weights = open("there/one.weights", O_RDONLY), status;

	fclose(file);
	if (skrt_device_open(NULL, &device) || loads(found) || loads(memory) != SKRT_CANNOT_READ)
		return 1;
	memory.weights = "there/one.weights";
	if (loads(memory))
		return 2;
	memory.use_weights_descriptor = 1;
	memory.weights_descriptor = weights;
	if (loads(memory) != SKRT_INVALID_ARGUMENT)
		return 3;
	memory.weights = NULL;
	if (loads(memory) || loads(memory)) /* it is still open */
		return 4;
	memory.weights_descriptor = -1;
	if (loads(memory) != SKRT_CANNOT_READ)
		return 5;
	memory.weights_descriptor = open("other.weights", O_RDONLY);
	status = loads(memory);
	return status == SKRT_BAD_PACKAGE ? 0 : 6;
}
C
# shellcheck disable=SC2046 # words
$CC $sanitize -I"$top_srcdir/loader" loads.c -o loads "$top_builddir/.libs/libskrt.a" \
	$(sed -n "s/^Libs.private: //p" "$top_builddir/loader/libskrt.pc")
./loads >out.txt || { status=$?; cat out.txt; fail "loads, $status"; }
grep -q "one.weights', and a package without a path has none beside it: say where they are" out.txt ||
	{ cat out.txt; fail "a package in memory"; }

# Errors of the command line.
fails_with "weights is for packages that are loaded" "$sklink" one.onnx "$@" -r --weights r.weights -o one.o
fails_with "would be written by both -o and --weights" "$sklink" one.onnx "$@" --weights same -o same
"$sklink" one.onnx "$@" --check --weights checked.weights -o checked.sk
[ ! -e checked.weights ] || fail "--check writes weights"
"$sklink" one.onnx "$@" --check --weights=- -o checked.sk
[ ! -e - ] || fail "--check writes weights called -"
cp one.onnx copy.onnx
fails_with "copy.onnx" "$sklink" copy.onnx "$@" --weights copy.onnx -o copy.sk
cmp one.onnx copy.onnx || fail "weights replace the model"

# --weights is refused for a package without a file of constants, and tools that only look at a package need no such
# file.
"$sklink" one.onnx "$@" -o inside.sk
fails_with "inside.sk: it has no constants in a file of their own" "$skrun" inside.sk --random 1 --weights \
	there/one.weights
mkdir apart
cp there/one.sk apart
"$skdump" --verify apart/one.sk >/dev/null || fail "the proof needs no weights"
fails_with "weights" "$skrun" apart/one.sk --random 1
