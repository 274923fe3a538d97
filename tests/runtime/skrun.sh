#!/bin/bash
# skrun's options: values in and out, the three ways to run, its output, and its errors. The samples' scripts check that
# the results are right.
. "$top_srcdir/tests/lib/lib.sh"

cat >kernels.c <<'C'
#include "skkernel.h"

#define COPY(type, name)                                             \
	void copy_##name(const type *x, type *y, long n)             \
	{                                                            \
		for (long i = 0; i < n; i++)                         \
			y[i] = x[i];                                 \
	}

COPY(unsigned char, one)
SK_KERNEL(copy_one, "split=n; in x bool[n], out y bool[n], n i64");
COPY(unsigned short, half)
SK_KERNEL(copy_half, "split=n; in x f16[n], out y f16[n], n i64");
COPY(unsigned short, brain)
SK_KERNEL(copy_brain, "split=n; in x bf16[n], out y bf16[n], n i64");
COPY(float, single)
SK_KERNEL(copy_single, "split=n; in x f32[n], out y f32[n], n i64");
COPY(signed char, byte)
SK_KERNEL(copy_byte, "split=n; in x i8[n], out y i8[n], n i64");
COPY(unsigned long, word)
SK_KERNEL(copy_word, "split=n; in x u64[n], out y u64[n], n i64");

void accumulate(const float *x, float *sum, long n)
{
	for (long i = 0; i < n; i++)
		sum[i] += x[i];
}
SK_KERNEL(accumulate, "split=n; in x f32[n], inout sum f32[n], n i64");

/* Not a function of its elements: the result tells how it was called. */
void tell(float *y, long n)
{
	for (long i = 0; i < n; i++)
		y[i] = (float)n;
}
SK_KERNEL(tell, "split=n; out y f32[n], n i64");
C
compile kernels

cat >copy.yaml <<'Y'
sklink: 1
tensors:
  flags:    {dtype: bool, shape: [300]}
  halves:   {dtype: f16, shape: [3, 100]}
  brains:   {dtype: bf16, shape: [300]}
  singles:  {dtype: f32, shape: [300]}
  bytes:    {dtype: i8, shape: [300]}
  words:    {dtype: u64, shape: [300]}
  flags2:   {dtype: bool, shape: [300]}
  halves2:  {dtype: f16, shape: [3, 100]}
  brains2:  {dtype: bf16, shape: [300]}
  singles2: {dtype: f32, shape: [300]}
  bytes2:   {dtype: i8, shape: [300]}
  words2:   {dtype: u64, shape: [300]}
tasks:
  - {name: a, kernel: copy_one, args: [flags, flags2], scope: sp1}
  - {name: b, kernel: copy_half, args: [halves, halves2], scope: sp1}
  - {name: c, kernel: copy_brain, args: [brains, brains2], scope: sp1}
  - {name: d, kernel: copy_single, args: [singles, singles2]}
  - {name: e, kernel: copy_byte, args: [bytes, bytes2], scope: sp1}
  - {name: f, kernel: copy_word, args: [words, words2], scope: sp1}
scopes:
  sp1: {options: ""}
Y
"$sklink" copy.yaml kernels.o -o copy.sk

# Random inputs depend on the seed and the name, not on the cores or the way of running; files go out and in unchanged.
"$skrun" copy.sk --random 7 >one.txt
[ "$(wc -l <one.txt)" = 6 ] || fail "not one line an output"
grep -q '^output  halves2  f16 \[3, 100\]: .* … (sum .*, hash [0-9a-f]*)$' one.txt || fail "no summary of halves2"
for way in --unfused --serial '--cores 7' '--repeat 5' ; do
	"$skrun" copy.sk --random 7 $way >two.txt
	cmp one.txt two.txt || fail "$way computes something else"
done
"$skrun" copy.sk --random 8 >two.txt
! cmp -s one.txt two.txt || fail "another seed gives the same"
{
	printf 'sklink: 1\ntensors:\n  x: {dtype: f32, shape: [4]}\n'
	printf '  y%d: {dtype: f32, shape: [4]}\n' {1..23}
	echo tasks:
	for i in {1..23}; do
		echo "  - {name: t$i, kernel: copy_single, args: [x, y$i], scope: s}"
	done
} >many.yaml
"$sklink" many.yaml kernels.o -o many.sk
"$skrun" many.sk --random 1 --verbose >all.txt
[ "$(grep -c '^output  y' all.txt)" = 23 ] && [ "$(wc -l <all.txt)" = 23 ] || fail "not all outputs"
"$skrun" many.sk --random 1 | diff - <(head -n 20 all.txt; echo '… and 3 more of 23 outputs, which --verbose shows') \
	|| fail "the first 20 outputs"
names='flags halves brains singles bytes words'
outputs= inputs=
for name in $names; do
	outputs="$outputs --output ${name}2=$name.npy"
	inputs="$inputs --input $name=$name.npy"
done
[ -z "$("$skrun" copy.sk --random 7 $outputs)" ] || fail "it talks though all goes to files"
"$skrun" $inputs copy.sk >two.txt
cmp one.txt two.txt || fail "files in, or files out, change the values"
"$skrun" copy.sk $inputs --random 9 >two.txt
cmp one.txt two.txt || fail "--random changes what has a file"

# Random values lie where the manual says.
od -An -v -td1 -j128 -w1 bytes.npy | sort -un | tr -d '\n ' | grep -qx -- '-8-7-6-5-4-3-2-101234567' || fail "i8 values"
od -An -v -tu8 -j128 -w8 words.npy | sort -un | tr -d '\n ' | grep -qx '0123456789101112131415' || fail "u64 values"
od -An -v -tu1 -j128 -w1 flags.npy | sort -un | tr -d '\n ' | grep -qx '01' || fail "bool values"
od -An -v -tfF -j128 -w4 singles.npy |
	awk '$1 < -1 || $1 >= 1 { exit 1 } $1 < -0.9 { low = 1 } $1 > 0.9 { high = 1 } END { exit !(low && high) }' ||
		fail "f32 values"
# f16: exponent below 15, that is below 1 in magnitude, or exactly -1; bf16 likewise with exponent below 127.
od -An -v -tu2 -j128 -w2 halves.npy |
	awk '{ m = $1 % 32768 } m >= 15360 && $1 != 48128 { exit 1 } m > 14500 { big = 1 } END { exit !big }' ||
		fail "f16 values"
od -An -v -tu2 -j128 -w2 brains.npy |
	awk '{ m = $1 % 32768 } m >= 16256 && $1 != 49024 { exit 1 } m > 16200 { big = 1 } END { exit !big }' ||
		fail "bf16 values"

# Verification, on every number of cores, and its words.
for cores in 1 2 3 7; do
	"$skrun" copy.sk --random 1 --verify --cores $cores --repeat 3 >out.txt
	grep -qx "Precision: bit-identical (6 outputs, 5400 bytes, cores $cores, repeats 3)" out.txt ||
		fail "$(cat out.txt)"
done
"$skrun" copy.sk --random 1 --verify --output words2=verified.npy >/dev/null
"$skrun" copy.sk --random 1 --output words2=run.npy
cmp verified.npy run.npy || fail "--verify leaves other outputs"

# Without --cores fused runs are also made on one and on two cores, as the last ones; the time is that of the first.
"$skrun" copy.sk --random 1 --verify --device a3 --repeat 3 --time --output words2=verified.npy >out.txt
cmp verified.npy run.npy || fail "--verify on fewer cores leaves other outputs"
sed -i '/^Time: .*(device a3, cores 24 and 48)$/d' out.txt
for cores in '24 and 48, repeats 3' 1 2; do
	echo "Precision: bit-identical (6 outputs, 5400 bytes, device a3, cores $cores)"
done | diff - out.txt >&2 || fail "--verify on fewer cores"

# A difference is found: the serial run calls tell once, with all 300 elements, the others once a core.
cat >tell.yaml <<'Y'
sklink: 1
tensors:
  y: {dtype: f32, shape: [3, 100]}
tasks:
  - {name: t, kernel: tell, args: [y]}
Y
"$sklink" tell.yaml kernels.o -o tell.sk
"$skrun" tell.sk --verify --cores 1 >/dev/null || fail "one core"
fails_with "^skrun: error: precision: 'y' differs first at \[0, 0\]: serial run 300, unfused run 128 \(300 of 300 elements differ\)" \
	"$skrun" tell.sk --verify --cores 2

! grep -q 'hidden state' err.txt || fail "there is none"

# One that shows on few cores alone, where the second of two has 172 of the 300 elements; no other call has as many.
cat >few.c <<'C'
#include "skkernel.h"
void few(float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = n == 172;
}
SK_KERNEL(few, "vector split=n; out y f32[n], n i64");
C
compile few
sed 's/kernel: tell/kernel: few/; s/^tensors/device: a3\n&/' tell.yaml >few.yaml
"$sklink" few.yaml few.o -o few.sk
"$skrun" few.sk --device a3 --verify --cores 48 >/dev/null || fail "48 cores"
fails_with "^skrun: error: precision: 'y' differs first at \[1, 28\]: fused run 1, unfused run 0 \(172 of 300 elements differ\)" \
	"$skrun" few.sk --device a3 --verify
grep -qx 'skrun: error: the fused run was on fewer cores than before: --cores 2' err.txt || { cat err.txt;
	fail "on how many cores?"; }

# Hidden state is not put back between runs. A task that sets it, in every run, makes them alike.
cat >counts.c <<'C'
#include "skkernel.h"
static int32_t count;
void set(int32_t *y) { *y = count = 5; }
SK_KERNEL(set, "out y i32[1]");
void next(int32_t *y) { *y = ++count; }
SK_KERNEL(next, "out y i32[1]");
void get(int32_t *y) { *y = 3; }
SK_KERNEL(get, "out y i32[1]");
C
compile counts
{
	printf 'sklink: 1\ntensors:\n'
	printf '  %s: {dtype: i32, shape: [1]}\n' x y z
	printf 'tasks:\n  - {name: g, kernel: get, args: [x]}\n'
} >set.yaml
sed '/^  x:/d; s/kernel: get, args: .x./kernel: next, args: [y]/; /^  z:/d' set.yaml >next.yaml
printf '  - {name: s, kernel: set, args: [y]}\n  - {name: n, kernel: next, args: [z]}\n' >>set.yaml
"$sklink" set.yaml counts.o -o set.sk
"$skrun" set.sk --verify --repeat 3 >/dev/null
"$sklink" next.yaml counts.o -o next.sk
fails_with "^skrun: error: kernel 'next' has hidden state, which each run finds as the one before has left it" \
	"$skrun" next.sk --verify
grep -q "^skrun: error: precision: 'y' differs first" err.txt || fail "$(cat err.txt)"

# State goes on from run to run; verification starts each run from the beginning.
cat >state.yaml <<'Y'
sklink: 1
tensors:
  x:   {dtype: f32, shape: [300]}
  sum: {dtype: f32, shape: [300], role: inout}
tasks:
  - {name: add, kernel: accumulate, args: [x, sum]}
Y
"$sklink" state.yaml kernels.o -o state.sk
"$skrun" state.sk --input x=singles.npy --input sum=singles.npy --repeat 3 --output sum=four.npy
paste -d' ' <(od -An -v -tfF -j128 -w4 singles.npy) <(od -An -v -tfF -j128 -w4 four.npy) |
	awk '{ d = 4 * $1 - $2 } d < -1e-5 || d > 1e-5 { exit 1 }' || fail "the state is not what three runs leave"
"$skrun" state.sk --random 1 --verify --repeat 3 --cores 2 | grep -q 'bit-identical (1 output, 1200 bytes' ||
	fail "state is not verified"

# --list and --time.
"$skrun" --list copy.sk >out.txt
grep -qx 'input   halves  f16 \[3, 100\]' out.txt &&
	grep -q '^launch  .*superkernel of scope sp1, 3 tasks, stream 0$' out.txt &&
	grep -q '^launch  .*a task by itself' out.txt || { cat out.txt; fail "--list"; }
"$skrun" state.sk --random 1 --time --repeat 3 --unfused |
	grep -q '^Time: median .* ms, fastest .* ms of 3 unfused runs' || fail "--time"
"$skrun" --version | grep -q '^skrun (sklink) [0-9]' || fail "--version"
"$skrun" --help | grep -q -- '--verify' || fail "--help"

# --list and --predict run nothing, not even constructors; a run executes them, and ends in time even if they do not.
cat >constructor.c <<'C'
#include "skkernel.h"

static void say(const char *text, long size)
{
	long number = 1;

	__asm__ volatile("syscall" : "+a"(number) : "D"(2L), "S"(text), "d"(size) : "rcx", "r11", "memory");
}

__attribute__((constructor)) static void construct(void)
{
	say("constructed\n", 12);
#ifdef ENDLESS
	for (;;)
		;
#endif
}

__attribute__((destructor)) static void destruct(void)
{
	say("destructed\n", 11);
}

void copy(const float *x, float *y, long n)
{
	for (long i = 0; i < n; i++)
		y[i] = x[i];
}
SK_KERNEL(copy, "split=n; in x f32[n], out y f32[n], n i64");
C
sed '1i #define ENDLESS' constructor.c >endless.c
cat >constructor.yaml <<'Y'
sklink: 1
tensors:
  x: {dtype: f32, shape: [300]}
  y: {dtype: f32, shape: [300]}
tasks:
  - {name: t, kernel: copy, args: [x, y]}
Y
for name in constructor endless; do
	compile $name
	"$sklink" constructor.yaml $name.o -o $name.sk
	for what in --list --predict; do
		"$skrun" $what $name.sk >out.txt 2>said.txt || fail "$what"
		[ ! -s said.txt ] || { cat said.txt; fail "$what runs something of the package"; }
	done
done
"$skrun" constructor.sk --random 1 >out.txt 2>said.txt
[ "$(cat said.txt)" = "$(printf 'constructed\ndestructed')" ] || { cat said.txt; fail "constructors and destructors"; }
if ! nm "$skrun" | grep -q '__tsan_init'; then # which holds back the signal that expels it
	fails_with '^skrun: error: endless.sk: a constructor has not ended within 0.3 s: it was at construct\+0x' \
		"$skrun" endless.sk --random 1 --timeout 0.3
fi

# Random values lie within the range that the manifest gives, up to both ends.
for type in u8 i8 i64 f16 bf16 f32 f64 bool; do
	case $type in
	u8) range='3, 24' like=u1 width=1 ;;
	i8) range='-128, 127' like=d1 width=1 ;;
	i64) range='-3, 24' like=d8 width=8 ;;
	f16) range='0.1, 0.3' like=u2 width=2 ;;
	bf16) range='-2.5, -2.25' like=u2 width=2 ;;
	f32) range='0.1, 0.7' like=fF width=4 ;;
	f64) range='1e3, 1e9' like=fD width=8 ;;
	bool) range='1, 1' like=u1 width=1 ;;
	esac
	cat >range.yaml <<Y
sklink: 1
tensors:
  x: {dtype: $type, shape: [3000], role: inout, range: [$range]}
  y: {dtype: u8, shape: [3000]}
  z: {dtype: u8, shape: [3000]}
tasks:
  - {name: t, kernel: bytes, args: [y, z]}
  - {name: u, kernel: nothing, args: [x]}
Y
	printf 'void bytes(const char *x, char *y, long n) { for (long i = 0; i < n; i++) y[i] = x[i]; }\n#include "skkernel.h"\nSK_KERNEL(bytes, "split=n; in x u8[n], out y u8[n], n i64");\nvoid nothing(void *x) { (void)x; }\nSK_KERNEL(nothing, "inout x %s[n]");\n' $type >bytes.c
	compile bytes
	"$sklink" range.yaml bytes.o -o range.sk || fail "range of $type"
	"$skrun" range.sk --random 1 --output x=x.npy
	od -An -v -t$like -j128 -w$width x.npy | sort -g | sed -n '1p;$p' | tr -d ' ' | tr '\n' ' ' >ends.txt
	case $type in
	u8) [ "$(cat ends.txt)" = '3 24 ' ] ;;
	i8) [ "$(cat ends.txt)" = '-128 127 ' ] ;;
	i64) [ "$(cat ends.txt)" = '-3 24 ' ] ;;
	bool) [ "$(cat ends.txt)" = '1 1 ' ] ;;
	# 0x2e67 is above 0.1, 0x34cc below 0.3
	f16) awk '{ exit !($1 >= 11879 && $1 < 11900 && $2 > 13500 && $2 <= 13516) }' ends.txt ;;
	bf16) awk '{ exit !($1 >= 49168 && $2 <= 49184 && $1 < $2) }' ends.txt ;; # 0xc010 is -2.25, 0xc020 -2.5
	f32) awk '{ exit !($1 >= 0.1 && $1 < 0.11 && $2 > 0.69 && $2 <= 0.7) }' ends.txt ;;
	f64) awk '{ exit !($1 >= 1e3 && $1 < 1e7 && $2 > 9e8 && $2 <= 1e9) }' ends.txt ;;
	esac || { cat ends.txt; fail "values of $type beyond $range"; }
done
"$skrun" --list range.sk | grep -qx 'inout   x  bool \[3000\], random values from 1 to 1' || fail "--list has no range"

# A kernel that damages skrun itself: it says so.
cat >damage.c <<'C'
#include "skkernel.h"

void damage(float *y, long n)
{
	for (long i = -1024; i < n + 1024; i++)
		y[i] = 7;
}
SK_KERNEL(damage, "out y f32[n], n i64");
C
compile damage
printf 'sklink: 1\ntensors:\n  y: {dtype: f32, shape: [300]}\ntasks:\n  - {name: t, kernel: damage, args: [y]}\n' \
	>damage.yaml
"$sklink" damage.yaml damage.o -o damage.sk
if ! nm "$skrun" | grep -qE '__(asan|tsan)_init'; then
	fails_with '^skrun: error: skrun itself has failed .*--guard says which$' "$skrun" damage.sk --cores 1
fi
fails_with "task 't': kernel damage on core 0: .*tensor 'y'" "$skrun" damage.sk --guard

# Errors.
fails_with "no value for 'flags', 'halves', .*; give --input NAME=FILE.npy or --random SEED" "$skrun" copy.sk
fails_with "no input or output 'q'; of [0-9]+ the first is '[a-z0-9]+'$" "$skrun" copy.sk --random 1 --input q=flags.npy
# A long name ends after a whole character.
long=a$(printf '€%.0s' {1..31})
printf 'input %s f32 4\noutput y f32 4\nnode Neg n %s -> y\n' "$long" "$long" |
	"$top_builddir/tests/lib/make-model" long.onnx
"$sklink" long.onnx -L "$top_builddir/kernels" -lskernels -o long.sk
fails_with "no input or output 'q'; of [0-9]+ the first is 'a€{29}'$" "$skrun" long.sk --random 1 --input q=flags.npy
fails_with "no input or output 'flogs'; did you mean 'flags'" "$skrun" copy.sk --random 1 --input flogs=flags.npy
fails_with "no input or output 'wurds2'; did you mean 'words2'" "$skrun" copy.sk --random 1 --output wurds2=none.npy
fails_with "tensor 'flags2' is an output" "$skrun" copy.sk --random 1 --input flags2=flags.npy
fails_with "tensor 'flags' is an input" "$skrun" copy.sk --random 1 --output flags=none.npy
fails_with "tensor 'flags' is given twice" "$skrun" copy.sk --input flags=flags.npy --input flags=flags.npy
fails_with "singles.npy: input 'flags': the elements are '<f4' \(f32\), wanted is bool" "$skrun" copy.sk --input \
	flags=singles.npy
fails_with "wrong.npy: input 'halves': the shape is \[300\], wanted is \[3, 100\]" \
	sh -c "sed 's/(3, 100), }/(300,), }  /' halves.npy >wrong.npy; '$skrun' copy.sk --input halves=wrong.npy"
fails_with "none/y.npy: output 'flags2': No such file" "$skrun" copy.sk --random 1 --output flags2=none/y.npy
fails_with "missing.npy: input 'flags': No such file" "$skrun" copy.sk --input flags=missing.npy
fails_with "none/y.npy: output 'flags2': No such file" "$skrun" copy.sk --input flags=missing.npy --output \
	flags2=none/y.npy
fails_with "missing.sk: No such file" "$skrun" missing.sk
fails_with "kernels.o: not a package: an object; objects of sklink -r are" "$skrun" kernels.o
fails_with "copy.yaml: not a package" "$skrun" copy.yaml
fails_with "no package given" "$skrun" --random 1
fails_with "more than one package given: copy.sk and state.sk" "$skrun" copy.sk state.sk
fails_with "unknown option or argument: --verity; did you mean '--verify'\?$" "$skrun" copy.sk --verity
fails_with "unknown option or argument: --inptu=x=y; did you mean '--input'\?$" "$skrun" copy.sk --inptu=x=y
fails_with "unknown option or argument: --nothing-like-it; skrun --help lists them$" "$skrun" copy.sk --nothing-like-it
fails_with "unknown option or argument: -v; skrun --help lists them$" "$skrun" -vx copy.sk
fails_with "--random needs an argument" "$skrun" copy.sk --random
fails_with "--random x: not a number" "$skrun" copy.sk --random x
fails_with "--cores 0: not a number from 1 to 4096" "$skrun" copy.sk --cores 0
fails_with "--repeat -1: not a number" "$skrun" copy.sk --repeat -1
fails_with "--input flags: NAME=FILE is expected" "$skrun" copy.sk --input flags
fails_with "exclude each other" "$skrun" copy.sk --unfused --serial
fails_with "do not go with it" "$skrun" copy.sk --verify --serial
[ ! -e none.npy ] || fail "an output was written"
fails_with "standard output" sh -c "'$skrun' copy.sk --random 1 >/dev/full"

# Inputs are never overwritten, under any name: the package, its weights, named or not, and costs.
printf 'input x f32 4x64\noutput y f32 4x64\nconstant a f32 64x64 2 3 5\nnode MatMul product x a -> y\n' |
	"$top_builddir/tests/lib/make-model" apart.onnx
"$sklink" apart.onnx -L "$top_builddir/kernels" -lskernels --weights apart.weights -o apart.sk
ln -s copy.sk alias.sk
ln -s apart.weights alias.weights
ln apart.weights twin.weights
mkdir beside && ln -s ../apart.sk ../apart.weights beside
"$skrun" apart.sk --random 1 --repeat 3 --measure costs >/dev/null
ln -s costs alias.costs
md5sum copy.sk apart.sk apart.weights costs >sums.txt
keeps() { # FILE COMMAND…
	local file=$1
	shift
	fails_with "^skrun: error: $file: is also an input; give the output a name of its own\$" "$skrun" "$@"
	md5sum --quiet -c sums.txt || fail "an input has been replaced: $*"
}
for file in copy.sk ./copy.sk alias.sk; do
	keeps $file copy.sk --random 1 --output words2=$file
	keeps $file copy.sk --random 1 --unfused --trace $file
	keeps $file copy.sk --predict --trace $file
	keeps $file copy.sk --random 1 --unfused --trace t.json --html $file
	keeps $file copy.sk --random 1 --measure $file
done
keeps copy.sk alias.sk --random 1 --output words2=copy.sk
for file in apart.weights alias.weights twin.weights; do
	keeps $file apart.sk --random 1 --output y=$file
	keeps $file apart.sk --random 1 --measure $file
	keeps $file "$dir/apart.sk" --random 1 --weights twin.weights --output y=$file
	keeps $file beside/apart.sk --random 1 --trace $file
done
keeps alias.costs apart.sk --predict --costs costs --trace alias.costs
[ ! -e t.json ] || fail "it has run, and traced"
[ -L alias.sk ] && [ -L alias.weights ] || fail "a link has been replaced"
"$skrun" state.sk --input x=singles.npy --input sum=four.npy --output sum=four.npy || fail "a state goes on in its file"

# A page shows a trace that has been written, and nothing that lies there from before.
echo old >t.json
fails_with '^skrun: error: --list runs nothing; --output, --trace, --html and --measure do not go with it$' \
	"$skrun" copy.sk --list --trace t.json --html page.html
fails_with '^skrun: error: --html shows the trace that has been written; --trace needs a file for it$' \
	"$skrun" copy.sk --random 1 --unfused --trace /dev/stdout --html page.html
fails_with '^skrun: error: --html and --trace need a file each$' "$skrun" copy.sk --random 1 --unfused --trace t.json \
	--html t.json
fails_with '^skrun: error: --predict .*, --html and, for sizes, --dim and --input go with it$' "$skrun" copy.sk --predict --random 1
[ "$(cat t.json)" = old ] && [ ! -e page.html ] || fail "it has run"

# A kernel that refuses a random integer may have got one that is out of range.
cat >choose.c <<'C'
#include "skkernel.h"
int choose(const float *x, const long *index, float *y, long n)
{
	if (index[0] < 0 || index[0] >= n)
		return 1;
	y[0] = x[index[0]];
	return 0;
}
SK_KERNEL(choose, "in x f32[n], in index i64[1], out y f32[1], n i64 -> status");
C
compile choose
cat >choose.yaml <<'Y'
sklink: 1
tensors:
  x:     {dtype: f32, shape: [3]}
  index: {dtype: i64, shape: [1], role: input, range: [4, 5]}
  y:     {dtype: f32, shape: [1]}
tasks:
  - {name: chosen, kernel: choose, args: [x, index, y]}
Y
"$sklink" choose.yaml choose.o -o choose.sk
fails_with 'kernel choose returned status 1 on' "$skrun" choose.sk --random 1
! grep -q 'bounds' err.txt || fail "an input with bounds is suspected"
sed 's/, range: .*]/, range: [0, 2]/' choose.yaml >bounded.yaml
"$sklink" bounded.yaml choose.o -o bounded.sk
"$skrun" bounded.sk --random 1 >/dev/null
sed 's/, range: .*]//' choose.yaml >unbounded.yaml
"$sklink" unbounded.yaml choose.o -o unbounded.sk
for seed in 1 2 3 4 5 6 7 8; do
	"$skrun" unbounded.sk --random $seed >/dev/null 2>&1 || break
done
for how in '' --verify --unfused --serial; do
	fails_with "^skrun: error: the integers of 'index' are random and have no bounds; .* --input .*'range'" \
		"$skrun" unbounded.sk --random $seed $how
done
# The same holds for a kernel that fails otherwise.
sed 's/return 1;/__builtin_trap();/' choose.c >trap.c
compile trap
sed 's/, range: .*]//' choose.yaml >trap.yaml
"$sklink" trap.yaml trap.o -o trap.sk
fails_with "^skrun: error: the integers of 'index' are random" "$skrun" trap.sk --random $seed

# A package cut anywhere before the end of its last segment is refused.
end=0
while read -r type offset _ _ size _; do
	[ "$type" != LOAD ] || [ $((offset + size)) -le "$end" ] || end=$((offset + size))
done <<E
$(readelf -lW copy.sk)
E
head -c "$end" copy.sk >cut.sk
"$skrun" cut.sk --random 1 --verify >/dev/null || fail "the end of the last segment is not where it seems"
for size in 0 1 63 64 100 $((end / 4)) $((end / 2)) $((end - 64)) $((end - 1)); do
	head -c "$size" copy.sk >cut.sk
	fails_with '^skrun: error: cut.sk: ' "$skrun" cut.sk --random 1
done
