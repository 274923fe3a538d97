#!/bin/bash
# The seal of packages: every change of a byte is refused with --check-integrity, strip is not; without it, changes
# outside of text are refused with a reason or do no harm when the package is loaded. Signatures by a key that is
# trusted, or not.
. "$top_srcdir/tests/lib/lib.sh"
cp "$top_srcdir/tests/lib/kernels.c" . && compile kernels
printf '\223NUMPY\001\000v\000%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (10,), }" >w.npy
head -c 40 /dev/zero >>w.npy
cp w.npy v.npy # after a gap
printf 1 | dd of=v.npy bs=1 seek=140 conv=notrunc status=none

cat >model.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [10]}
  w: {dtype: f32, shape: [10], data: w.npy}
  v: {dtype: f32, shape: [10], data: v.npy}
  a: {dtype: f32, shape: [10]}
  b: {dtype: f32, shape: [10]}
  y: {dtype: f32, shape: [10]}
tasks:
  - {name: scaled, kernel: scale, args: [x, a], set: {factor: 3}, scope: sp1}
  - {name: before, kernel: add, args: [a, v, b], scope: sp1}
  - {name: added, kernel: add, args: [b, w, y], scope: sp1}
M
"$sklink" model.yaml kernels.o -o model.sk
"$sklink" -s model.yaml kernels.o -o bare.sk
"$sklink" -s --no-task-entries model.yaml kernels.o -o small.sk

for file in model bare small; do
	"$skrun" $file.sk --random 1 --check-integrity >/dev/null
	proved $file.sk
done

# The build-id also tells constants apart.
cp w.npy kept.npy
printf 1 | dd of=w.npy bs=1 seek=140 conv=notrunc status=none
"$sklink" model.yaml kernels.o -o other.sk
mv kept.npy w.npy
[ "$(readelf -n model.sk | grep 'Build ID')" != "$(readelf -n other.sk | grep 'Build ID')" ] ||
	fail "other constants, the same build-id"

# Every way of stripping keeps the loaded bytes.
for command in strip 'strip -g' 'strip --strip-unneeded' eu-strip; do
	command -v ${command%% *} >/dev/null || continue
	for file in model bare; do
		cp $file.sk stripped.sk
		$command stripped.sk
		# By chance it may be as long as it was, and then it would have to be as it was linked.
		if [ "$(stat -c %s stripped.sk)" = "$(stat -c %s $file.sk)" ] && ! cmp -s stripped.sk $file.sk; then
			fails_with 'but the loaded bytes are unchanged' "$skrun" stripped.sk --list --check-integrity
			continue
		fi
		"$skrun" stripped.sk --random 1 --check-integrity >/dev/null || fail "$command $file.sk"
	done
done
# A stripped file is still checked, in its loaded bytes.
cp bare.sk stripped.sk
strip stripped.sk
printf '\377' | dd of=stripped.sk bs=1 seek=$((0x1010)) conv=notrunc status=none
fails_with 'stripped.sk: integrity: the loaded bytes are not those that were linked' "$skrun" --list --check-integrity stripped.sk
printf x >>model.sk
"$skrun" model.sk --list --check-integrity >/dev/null # no loaded byte has changed, and the size is another

"$top_builddir/tests/fuzz/corrupt" --integrity small.sk || fail "a change is not noticed"
"$top_builddir/tests/fuzz/corrupt" small.sk || fail "a change is not refused by all"

# ---- signatures ----
if ! grep -q 'define HAVE_SODIUM 1' "$top_builddir/config.h"; then
	touch key.pem
	fails_with 'key.pem: built without libsodium' "$sklink" --sign key.pem model.yaml kernels.o -o signed.sk
	fails_with 'key.pem: built without libsodium' "$skrun" --list --trust key.pem bare.sk
	exit 0
fi
# Keys as openssl genpkey -algorithm ed25519 writes them; these are the ones of RFC 8410, section 10, and of another
# seed.
cat >key.pem <<'P'
-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC
-----END PRIVATE KEY-----
P
cat >public.pem <<'P'
-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
-----END PUBLIC KEY-----
P
cat >other.pem <<'P'
-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=
-----END PUBLIC KEY-----
P
"$sklink" --sign key.pem model.yaml kernels.o -o signed.sk
"$sklink" --sign=key.pem model.yaml kernels.o -o again.sk
cmp signed.sk again.sk || fail "two links differ"
"$skrun" signed.sk --random 1 --trust public.pem --check-integrity >/dev/null
strip signed.sk
"$skrun" signed.sk --random 1 --trust public.pem --check-integrity >/dev/null
fails_with 'signed.sk: its signature is not by the trusted key' "$skrun" signed.sk --random 1 --trust other.pem
fails_with 'bare.sk: it is not signed' "$skrun" bare.sk --random 1 --trust public.pem
printf '\377' | dd of=signed.sk bs=1 seek=$((0x1010)) conv=notrunc status=none
fails_with 'signed.sk: its signature is not by the trusted key, or it has been changed' \
	"$skrun" signed.sk --random 1 --trust public.pem

"$sklink" -s --no-task-entries --sign key.pem model.yaml kernels.o -o small.sk
"$top_builddir/tests/fuzz/corrupt" --trust public.pem small.sk || fail "a change of what is signed is not noticed"

# Strip may rewrite the headers, as long as the loaded bytes stay; also of a package with zeroed data before the
# constants.
cat >state.c <<'C'
#include "skkernel.h"
static float sums[5000], factor[3] = {1, 2, 3};
void count(const float *x, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] + (sums[i] += factor[i % 3]);
}
SK_KERNEL(count, "in x f32[n], out y f32[n], n i64");
C
compile state
sed '$d' model.yaml >counted.yaml
cat >>counted.yaml <<'M'
  - {name: added, kernel: add, args: [b, w, c], scope: sp1}
  - {name: counted, kernel: count, args: [c, y], scope: sp1}
M
sed -i 's/^  y: /  c: {dtype: f32, shape: [10]}\n&/' counted.yaml
"$sklink" --sign key.pem counted.yaml kernels.o state.o -o counted.sk
for command in strip 'strip -g' 'strip --strip-unneeded' eu-strip llvm-strip; do
	command -v ${command%% *} >/dev/null || continue
	cp counted.sk stripped.sk
	$command stripped.sk
	"$skrun" stripped.sk --random 1 --trust public.pem --check-integrity >/dev/null || fail "$command counted.sk"
done

# The data that decide how the loaded bytes are used are also signed: the dynamic section of a package with all possible
# entries.
cat >constructed.c <<'C'
#include "skkernel.h"
#include <stdlib.h>
static float factor;
static float *volatile where = &factor;
__attribute__((constructor)) static void construct(void) { *where = 3; }
__attribute__((destructor)) static void destruct(void) { *where = 0; }
void constructed(const float *x, float *y, int64_t n)
{
	void *memory = malloc(1);
	free(memory);
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] * *where;
}
SK_KERNEL(constructed, "in x f32[n], out y f32[n], n i64");
C
compile constructed
cat >constructed.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [10]}
  y: {dtype: f32, shape: [10]}
tasks:
  - {name: t, kernel: constructed, args: [x, y]}
M
"$sklink" --sign key.pem constructed.yaml constructed.o -o constructed.sk
"$skrun" constructed.sk --random 1 --trust public.pem --check-integrity >/dev/null
for tag in INIT_ARRAY FINI_ARRAY RELA RELASZ HASH SYMTAB STRTAB; do
	readelf -dW constructed.sk | grep -q "($tag)" || fail "no $tag"
done
"$top_builddir/tests/fuzz/corrupt" --dynamic public.pem constructed.sk >out.txt || { cat out.txt;
	fail "a change of .dynamic is not noticed"; }
cat out.txt
read -r changes rest <out.txt
[ "$changes" -ge 1000 ] || fail "only $changes changes of .dynamic"

# ---- packages with another layout around the signed bytes (forge.c) ----
forge=$top_builddir/tests/runtime/forge
cat >evil.c <<'C'
#include "skkernel.h"
void scaled(const float *x, const unsigned char *w, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] * w[i];
}
SK_KERNEL(scaled, "in x f32[n], in w u8[m], out y f32[n], n i64");
void evil(const float *x, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = 666;
}
SK_KERNEL(evil, "in x f32[n], out y f32[n], n i64");
C
compile evil
cat >evil.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [64]}
  y: {dtype: f32, shape: [64]}
tasks:
  - {name: t, kernel: evil, args: [x, y]}
M
"$sklink" -s evil.yaml evil.o -o evil.sk

# victim ADDRESS: victim.sk, signed, with a constant that is evil.sk, ready to run there.
victim() {
	"$forge" carry evil.sk $1 weights.npy
	cat >victim.yaml <<M
sklink: 1
tensors:
  x: {dtype: f32, shape: [64]}
  w: {dtype: u8, shape: [$(($(wc -c <weights.npy) - 128))], data: weights.npy}
  y: {dtype: f32, shape: [64]}
tasks:
  - {name: t, kernel: scaled, args: [x, w, y]}
M
	"$sklink" --sign key.pem victim.yaml evil.o -o victim.sk
	"$skrun" victim.sk --random 1 --trust public.pem --check-integrity | grep '^output' >good.txt
}

# attacked NAME PATTERN: such a forgery is refused with such a line, with any checks.
attacked() {
	"$forge" $1 victim.sk evil.sk $1.sk
	fails_with "$1.sk: $2" "$skrun" $1.sk --random 1 --trust public.pem
	fails_with "$1.sk: $2" "$skrun" $1.sk --random 1 --trust public.pem --check-integrity
}
victim 0
set -- $("$forge" where victim.sk)
victim $2
attacked moved 'integrity: its headers are not in the first segment'
attacked headers 'integrity: its headers are not in the first segment'
attacked phoff 'integrity: its headers are not in the first segment'
attacked overlapping 'integrity: its segments overlap in the file, or are not in order'
attacked overlapping-in-memory 'program header 3: not after the previous segment'
attacked flags 'its signature is not by the trusted key, or it has been changed'
victim $1
attacked dynamic 'its signature is not by the trusted key, or it has been changed'
# Bytes after text in the file do not come into memory (check_image.c tests it).
"$forge" tail victim.sk evil.sk tail.sk
"$skrun" tail.sk --random 1 --trust public.pem | grep '^output' | cmp - good.txt
fails_with 'tail.sk: integrity: the file is not as it was linked, but the loaded bytes are unchanged' "$skrun" --list --check-integrity tail.sk

fails_with 'public.pem: it holds no private key in PEM' "$sklink" --sign public.pem model.yaml kernels.o -o none.sk
fails_with 'key.pem: it holds no public key in PEM' "$skrun" bare.sk --random 1 --trust key.pem
sed 's/VwAy/VwBy/' public.pem >wrong.pem
fails_with 'wrong.pem: it is not an Ed25519 key' "$skrun" bare.sk --random 1 --trust wrong.pem
fails_with 'absent.pem: No such file' "$sklink" --sign absent.pem model.yaml kernels.o -o none.sk
fails_with 'key.pem.*(input|read)' "$sklink" --sign key.pem model.yaml kernels.o -o key.pem
fails_with '--repro would put the key of --sign into the archive' \
	"$sklink" --sign key.pem --repro=all.tar model.yaml kernels.o -o none.sk
fails_with '--sign is for packages that are loaded' "$sklink" -r --sign key.pem model.yaml kernels.o -o none.sk
[ ! -e none.sk ] || fail "an output in spite of an error"
