#!/bin/bash
# sklink's messages for typical mistakes, word for word.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
cp "$top_srcdir/tests/lib/kernels.c" . && compile kernels

# model: a MODEL with the keys of KERNELS, MORE (keys of the only task) and SCOPES.
model() {
	cat >model.yaml <<-M
	sklink: 1
	tensors:
	  x: {dtype: f32, shape: [64]}
	  y: {dtype: f32, shape: [64]}
	${kernels:-}
	tasks:
	  - {name: only, kernel: ${kernel:-scale}, args: [x, y]${more:-, set: {factor: 2\}}}
	${scopes:-}
	M
}

# says ARGUMENT…: linking model.yaml with these must fail with just the messages on standard input.
says() {
	cat >expected.txt
	fails_with '' "$sklink" model.yaml "$@" -o out.sk
	diff expected.txt err.txt >&2 || fail "other words (expected: <): $*"
	[ ! -e out.sk ] || fail "a package in spite of an error: $*"
}

# warns ARGUMENT…: linking model.yaml with these must succeed with just the messages on standard input.
warns() {
	cat >expected.txt
	"$sklink" model.yaml "$@" -o warned.sk 2>err.txt || { cat err.txt >&2; fail "no link: $*"; }
	diff expected.txt err.txt >&2 || fail "other words (expected: <): $*"
}

# ---- options ----
model
for letter in a c k; do
	echo "sklink: error: unknown option '-$letter'" | says kernels.o -$letter
done
echo "sklink: error: unknown option '-R'; did you mean '-r'?" | says kernels.o -R
echo "sklink: error: unknown option '-Q'; did you mean '-q'?" | says kernels.o -Q
echo "sklink: error: unknown option '--z'" | says kernels.o --z
echo "sklink: error: unknown option '--whole-archiv'; did you mean '--whole-archive'?" | says kernels.o --whole-archiv
fails_with "^sklink: error: option '-h' wants a value \(--soname\); try 'sklink --help'$" "$sklink" -h
warns kernels.o -h network.sk </dev/null
readelf -dW warned.sk | grep -q 'soname: \[network.sk\]' || fail "-h is not what it is for GNU ld"

# ---- signatures in objects ----

# Two kernels with one text: its error is said once, and the second kernel is not reported as unknown.
cat >twins.c <<'C'
#include "skkernel.h"
void one(const float *x, float *y, long n) { y[0] = x[n - 1]; }
SK_KERNEL(one, "in x f32[n], out y f3[n], n i64");
void other(const float *x, float *y, long n) { y[0] = x[n - 1]; }
SK_KERNEL(other, "in x f32[n], out y f3[n], n i64");
C
compile twins
kernel=one more=', stream: 0' model
echo '  - {name: second, kernel: other, args: [x, y]}' >>model.yaml
fails_with "^sklink: error: twins.o:\(.sk.kernels.0x[0-9a-f]*\): signature, column 20: unknown type 'f3'; did you mean 'f32'\?$" \
	"$sklink" model.yaml twins.o -o out.sk
[ "$(wc -l <err.txt)" = 1 ] || { cat err.txt; fail "more than what is wrong"; }

# ---- the manifest ----
model
sed -i 's/^  y:/\ty:/' model.yaml
says kernels.o <<'M'
sklink: error: model.yaml:4:1: invalid YAML: a tab stands here; YAML is indented with blanks only
M
printf 'sklink: 1\ndevice: host\n  \ttensors: {}\n' >model.yaml # libyaml speaks of mapping values here
says kernels.o <<'M'
sklink: error: model.yaml:3:3: invalid YAML: a tab stands here; YAML is indented with blanks only
M
printf 'sklink: 1\ntasks:\n-\tname: a\n' >model.yaml
says kernels.o <<'M'
sklink: error: model.yaml:3:2: invalid YAML: a tab stands here; YAML is indented with blanks only
M
printf 'sklink: 1\ntasks: [a: b: c]\n' >model.yaml
fails_with '^sklink: error: model.yaml:2:13: invalid YAML: did not find expected' "$sklink" model.yaml kernels.o -o \
	out.sk

more=', set: {factor: 2}, scope: s' scopes='scopes: {s: {stream-fusion: 1}}' model
says kernels.o <<'M'
sklink: error: model.yaml:8:14: unknown key 'stream-fusion' in scope 's'; it is an option, and these are one text: {options: "stream-fusion=1"}
M
more=', set: {factor: 2}, scope: s' model
says kernels.o --scope-options profiling=1 <<'M'
sklink: error: --scope-options:1:1: 'profiling=1' is not SCOPE=OPTIONS: the scope is missing; '*=profiling=1' applies to all scopes
>>> in 'profiling=1'
M
more=', set: {factor: 2}, scope: profiling' model
warns kernels.o --scope-options profiling=early-start=0 </dev/null

# scopes NAME NAME SCOPES: two tasks in these scopes.
scopes() {
	cat >model.yaml <<-M
	sklink: 1
	tensors:
	  x: {dtype: f32, shape: [64]}
	  t: {dtype: f32, shape: [64]}
	  y: {dtype: f32, shape: [64]}
	tasks:
	  - {name: first, kernel: scale, args: [x, t], set: {factor: 2}, scope: $1}
	  - {name: second, kernel: scale, args: [t, y], set: {factor: 2}, scope: $2}
	scopes: {$3}
	M
}
scopes composite compsite 'composite: {}'
warns kernels.o <<'M'
sklink: warning: model.yaml:8:74: scope 'compsite' is not declared, and so has no options; did you mean 'composite'?
M
scopes compsite compsite 'composite: {}' # one warning is enough
warns kernels.o <<'M'
sklink: warning: model.yaml:9:10: no task is in scope 'composite'; did you mean 'compsite'?
M
scopes composite compsite 'composite: {}, compsite: {}'
warns kernels.o </dev/null
scopes layer_1 layer_12 'layer_1: {}' # counted, not misspelt
warns kernels.o </dev/null
scopes sp1 spx 'sp1: {}' # too short to tell
warns kernels.o </dev/null

# Many warnings of one kind end in a count, and do not hide those of another kind.
unused() {
	scopes compsite compsite 'composite: {}'
	for i in $(seq "$1"); do
		sed -i "/^tasks:/i\\  unused$i: {dtype: f32, shape: [4]}" model.yaml
	done
}
unused 20
"$sklink" model.yaml kernels.o -o warned.sk 2>err.txt
[ "$(grep -c "no task uses tensor 'unused" err.txt)" = 20 ] && [ "$(wc -l <err.txt)" = 21 ] || { cat err.txt;
	fail "20 warnings"; }
unused 45
"$sklink" model.yaml kernels.o -o warned.sk 2>err.txt
[ "$(grep -c ': no task uses tensor ' err.txt)" = 20 ] || { cat err.txt; fail "not 20 of 45 warnings are shown"; }
grep -q "no task is in scope 'composite'" err.txt || fail "the other warning"
[ "$(tail -n 1 err.txt)" = \
	"sklink: warning: 25 more like \"no task uses tensor 'unused1'\" (--error-limit=0 shows all)" ] ||
	{ cat err.txt; fail "no count of warnings"; }
"$sklink" model.yaml kernels.o --error-limit=0 -o warned.sk 2>err.txt
[ "$(grep -c ': no task uses tensor ' err.txt)" = 45 ] && [ "$(wc -l <err.txt)" = 46 ] || { cat err.txt;
	fail "--error-limit=0"; }

# ---- kernels and symbols ----
signature='signature: "in x f32[n], out y f32[n], n i64"'
cat >local.c <<'C'
static void k(const float *x, float *y, long n) { *y = *x + n; }
void (*const kept)(const float *, float *, long) = k;
C
compile local
kernel=k kernels="kernels: {k: {$signature}}" more=' ' model
says kernels.o <<'M'
sklink: error: model.yaml:5:11: kernel 'k': no function 'k' in any input
M
local_k="'k' is a local symbol here (a static function), which is a kernel only where an entry under 'kernels' names its object: 'object: local.o'"
echo "sklink: error: local.o: $local_k" | says local.o
kernel=k model
echo "sklink: error: local.o: $local_k" | says local.o
kernel=scael kernels="kernels: {other: {symbol: scael, $signature}}" more=' ' model
fails_with "unknown kernel 'scael'; did you mean 'scale'\?$" "$sklink" model.yaml kernels.o -o out.sk
kernel=other kernels="kernels: {other: {symbol: scael, $signature}}" more=' ' model
fails_with "kernel 'other': no function 'scael' in any input; did you mean 'scale'\?$" "$sklink" model.yaml kernels.o \
	-o out.sk

# user NAME BODY: NAME.o with a kernel k, and the manifest that calls it.
user() {
	echo "$2" >"$1.c" && $KERNEL_CC -O1 -fPIC -ffunction-sections -c "$1.c" -o "$1.o"
	kernel=k kernels="kernels: {k: {$signature}}" more=' ' model
}
user unmaps 'int munmap(void *, unsigned long); void k(const float *x, float *y, long n) { *y = *x + munmap(y, n); }'
fails_with '' "$sklink" model.yaml unmaps.o --defsym munmap=0 -o out.sk
sed 's/+0x[0-9a-f]*/+N/' err.txt >plain.txt
diff - plain.txt >&2 <<'M' || fail "a number that is called"
sklink: error: unmaps.o:(.text.k+N): relocation R_X86_64_PLT32 against 'munmap' needs the distance to a place in the package, but the symbol is a plain number; define it as a function or a variable (--defsym can name another symbol)
>>> reached from kernel 'k', which 'only' calls
M
user handed 'int munmap(void *, unsigned long); int callback(int x) { return munmap((void *)0, (unsigned long)x); } void k(const float *x, float *y, long n, int (*f)(int)) { *y = *x + (float)f((int)n); }'
kernel=k kernels="kernels: {k: {${signature%\"}, f ptr = &callback\"}}" more=' ' model
fails_with "^>>> reached from kernel 'k', which 'only' calls" "$sklink" model.yaml handed.o --defsym munmap=0 -o out.sk
user helped 'void k(const float *x, float *y, long n) { *y = *x + (long)((unsigned __int128)n * n % (unsigned)n); }'
fails_with '' "$sklink" model.yaml helped.o -o out.sk
grep -q "^sklink: error: undefined symbol: __umodti3; it is a helper of the compiler's own library: add libgcc.a ('gcc -print-libgcc-file-name' prints its path)$" \
	err.txt || { cat err.txt; fail "a helper of the compiler"; }
warns helped.o "$($KERNEL_CC -print-libgcc-file-name)" </dev/null
user misspelt 'int __muldiv3(int), __addy2(void), __fixed(void); void k(const float *x, float *y, long n) { *y = *x + __muldiv3(n) + __addy2() + __fixed(); }'
fails_with 'undefined symbol: __muldiv3$' "$sklink" model.yaml misspelt.o -o out.sk
! grep -q libgcc err.txt || { cat err.txt; fail "names that are nobody's are looked for in libgcc"; }
user calls 'int helper(int); void k(const float *x, float *y, long n) { *y = *x + helper(n); }'
echo 'static int helper(int n) { return n; } int (*const kept_helper)(int) = helper;' >hides.c && compile hides
fails_with 'undefined symbol: helper; hides\.o has a function of this name, but it is local \(static\)$' "$sklink" \
	model.yaml calls.o hides.o -o out.sk

# The C library's parts are not archives to link.
for name in m pthread; do
	printf "sklink: error: library -l$name: there is no lib$name.a on the search paths\n%s\n" \
		">>> it is not needed: leave it out; 'skdump --imports' lists the functions of the C library that packages import" |
		says kernels.o -l$name -L .
done

# A function of C++ has another name in its object, and a signature may have been given to a misspelt one.
cat >named.cc <<'C'
namespace my { void scale(const float *x, float *y, long n) { for (long i = 0; i < n; i++) y[i] = x[i]; } }
C
g++ -O1 -fPIC -c named.cc -o named.o
kernel="'my::scale'" model
fails_with "unknown kernel 'my::scale'; the symbol of my::scale\(float const\*, float\*, long\) is '_ZN2my5scaleEPKfPfl', unless it is declared extern \"C\"$" \
	"$sklink" model.yaml named.o -o out.sk
echo 'void plain(const float *x, float *y, long n) { *y = *x + n; }' >plain.c && compile plain
kernel=plain kernels="kernels: {plian: {$signature}}" more=' ' model
fails_with "function 'plain' in plain\.o has no signature; declare it under 'kernels', where there is a signature for 'plian', which no input defines$" \
	"$sklink" model.yaml plain.o -o out.sk
kernel=plain kernels="kernels: {plane: {symbol: scale, $signature}}" more=' ' model
fails_with "function 'plain' in plain\.o has no signature; declare it under 'kernels'$" "$sklink" model.yaml \
	plain.o kernels.o -o out.sk
# If the object has a signature, that one would count, silently. Signatures for functions of other packages are not
# reported as misspelt: names that are not near, or are counted, that inputs or imports define, or that have no other
# use.
scaled='signature: "in x f32[n], out y f32[n], n i64, factor f32"'
kernels="kernels: {scael: {$scaled}}" model
echo "sklink: warning: model.yaml:5:11: no input defines function 'scael', and no task uses this signature; did you mean 'scale'?" |
	warns kernels.o
kernels="kernels: {other: {symbol: scael, $scaled}}" model
echo "sklink: warning: model.yaml:5:27: no input defines function 'scael', and no task uses this signature; did you mean 'scale'?" |
	warns kernels.o
echo 'void scales(void) {} void scale2(void) {}' >near.c && compile near
for silent in "relu: {$scaled}" "scale2: {$scaled}" "scales: {$scaled}" "scala: {symbol: scalbn, $scaled}" \
	"scael: {object: kernels.o, $scaled}" "scael: {symbol: scale}" "scale: {$scaled}, scael: {$scaled}"; do
	kernels="kernels: {$silent}" model
	warns kernels.o near.o </dev/null
done
kernels="kernels: {scale2: {$scaled}}" model
warns kernels.o </dev/null
model

# All functions that refer to an undefined symbol are named, up to five.
user many "int missing(int); $(printf '__attribute__((noinline)) int f%d(int n) { return missing(n) + 1; }\n' $(seq 24)) void k(const float *x, float *y, long n) { *y = *x$(printf ' + f%d(n)' $(seq 24)); }"
fails_with '^sklink: error: undefined symbol: missing$' "$sklink" model.yaml many.o -o out.sk
listed=$(grep -c '^>>> referenced by many\.o:(\.text' err.txt)
others=$(sed -nE 's/^>>> and ([0-9]+) more$/\1/p' err.txt)
[ "$listed" = 5 ] && [ "$others" -ge 19 ] || { cat err.txt; fail "users of a symbol: $listed, and $others more"; }

# A package that is an object, alone and joined with another one.
model
warns kernels.o -r </dev/null
cp warned.sk package.o && ld -r package.o kernels.o -o joined.o
for object in package joined; do
	echo "sklink: error: $object.o: is or holds a package that sklink -r has made, which goes into a program, with the program's linker; give the objects of its kernels instead" |
		says $object.o
done

# ---- options of scopes, as scripts for the reference system write them ----
more=', set: {factor: 2}, scope: s' scopes="scopes: {s: {options: '\"early_start=0:debug_dcci-all=1\"'}}" model
warns kernels.o --scope-options 's="func_align=256"' </dev/null
"$skdump" --steps warned.sk >steps.txt
grep -q 'func-align=256' steps.txt && grep -q 'flushes after' steps.txt || { cat steps.txt;
	fail "quoted options, with '_' for '-'"; }
more=', set: {factor: 2}, scope: s' model
says kernels.o --scope-options s=dcci-before-kernel-start=scale,scale <<'M'
sklink: error: --scope-options:1:34: scope option 'dcci-before-kernel-start' names 'scale' twice
>>> in 's=dcci-before-kernel-start=scale,scale'
M

# ---- results that are not read ----

# A task's output is overwritten before any task has read it. There is no message if some of it is read, also by a task
# that runs once, if the task has another result, or if its kernel has hidden state.
cat >stores.c <<'C'
#include "skkernel.h"
void copy(const float *x, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i];
}
SK_KERNEL(copy, "split=n; in x f32[n], out y f32[n], n i64");
void both(const float *x, float *y, float *z, int64_t n)
{
	copy(x, y, n);
	copy(x, z, n);
}
SK_KERNEL(both, "in x f32[n], out y f32[n], out z f32[n], n i64");
C
cat >state.c <<'C'
#include "skkernel.h"
static float count;
void number(const float *x, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] + ++count;
}
SK_KERNEL(number, "in x f32[n], out y f32[n], n i64");
C
compile stores && compile state
stores() { # NAME KERNEL ARGUMENTS …
	{
		printf 'sklink: 1\ntensors:\n'
		tensors '[64]' x y
		printf '  t: {dtype: f32, shape: [64], role: temporary}\n  u: {dtype: f32, shape: [64], role: temporary}\n'
		printf '  h: {dtype: f32, shape: [32]}\n  g: {dtype: f32, shape: [32]}\n  z: {dtype: f32, shape: [32], role: output}\n'
		printf '  w: {dtype: f32, shape: [64], fill: 1}\n'
		printf '  low: {of: t, offset: [0], shape: [32]}\n  high: {of: t, offset: [32], shape: [32]}\ntasks:\n'
		printf '  - {name: %s, kernel: %s, args: [%s]}\n' "$@"
		printf '  - {name: other, kernel: copy, args: [x, u]}\n  - {name: last, kernel: copy, args: [u, y]}\n'
		printf '  - {name: half, kernel: copy, args: [low, z]}\n  - {name: h, kernel: copy, args: [h, g]}\n'
		printf '  - {name: w, kernel: copy, args: [w, u]}\n'
	} | sed 's/name: once,/once: true, &/' >model.yaml
}
overwritten() { # PLACE TENSOR TASK BY
	echo "sklink: warning: model.yaml:$1: no task reads the bytes of '$2' that task '$3' writes here: task '$4' overwrites them first"
}
stores a copy 'x, t' b copy 'x, t'
overwritten 14:39 t a b | warns stores.o state.o
stores a copy 'x, t' b copy 'h, high' c copy 'h, low'
overwritten 14:39 t a c | warns stores.o state.o
stores a copy 'h, low' b copy 'x, t'
overwritten 14:39 low a b | sed "s/of 'low'/of 't'/" | warns stores.o state.o
for honest in 'a|both|x, t, u|b|copy|x, t' \
	'a|number|x, t|b|copy|x, t' 'once|copy|w, t' 'a|copy|x, t|b|copy|h, high' 'a|copy|h, high|b|copy|h, low'; do
	IFS='|' read -ra words <<<"$honest"
	stores "${words[@]}"
	warns stores.o state.o </dev/null
done
