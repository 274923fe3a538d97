# --isolate-objects: kernels with helpers, tables and even names that are equal, but not the same, work side by side.
. "$top_srcdir/tests/lib/lib.sh"
use_images -fdata-sections -fno-inline -fcommon
# results IMAGE FUNCTION…: the results of the functions, in one line.
results() {
	image=$1
	shift
	./run "$image" $(printf 'x_%s ' "$@") | sed 's/.*=//' | paste -s -d ' '
}
# gives RESULTS FUNCTIONS ARGUMENT…: the results of the functions, linked with the arguments.
gives() {
	result=$1 functions=$2
	shift 2
	exports=
	for function in $functions; do exports="$exports --export x_$function=$function"; done
	rm -f out.so
	"$driver" -o out.so --isolate-objects $exports "$@" >lines.txt || fail "cannot link $*"
	[ "$(results ./out.so $functions)" = "$result" ] || fail "$*: $(results ./out.so $functions), not $result"
}
refused() {
	fails_with "$1" "$driver" -o refused.so \
		$(for function in $2; do printf -- '--export x_%s=%s ' "$function" "$function"; done) $3
}

# Strong, weak, data, common, absolute, by GOT and by address.
for kernel in 1 2; do
	source k$kernel <<-END
		__attribute__((noinline)) long helper(void) { long value = ${kernel}00; __asm__ volatile("" : "+r"(value)); return value; }
		__attribute__((weak)) long weak_helper(void) { return ${kernel}0; }
		long table[] = {$kernel};
		long common_word;
		long *volatile by_address = table;
		extern const char absolute[];
		long kernel_$kernel(void) { common_word += 1000; return common_word + helper() + weak_helper() + *by_address + (long)absolute * 10000; }
	END
	printf '.globl absolute\nabsolute = %d\n.section .note.GNU-stack,"",@progbits\n' $kernel | as -o absolute.o
	mv k$kernel.o half.o
	ld -r half.o absolute.o -o k$kernel.o
done
refused 'duplicate symbol: helper' 'kernel_1 kernel_2' 'k1.o k2.o'
[ "$(grep -c '^>>> --isolate-objects lets each object have its own' err.txt)" = 1 ] ||
	{ cat err.txt; fail "the option is not proposed once"; }
gives '11111 21222' 'kernel_1 kernel_2' k1.o k2.o
[ "$(nm out.so | grep -c ' [tT] helper$')" = 2 ] || { nm out.so; fail "not both helpers"; }
[ "$(nm out.so | grep -c ' common_word$')" = 2 ] || { nm out.so; fail "not both common symbols"; }
[ "$(nm out.so | grep -ci ' a absolute$')" = 2 ] || { nm out.so; fail "not both absolute symbols"; }
if command -v eu-elflint >/dev/null; then
	eu-elflint --gnu-ld out.so >lint.txt 2>&1 || { cat lint.txt; fail "elflint complains"; }
fi

# An object without a definition means the first one in the order of the inputs, in any order of processing.
echo 'long helper(void); long user(void) { return helper(); }' | source user
gives '100 21222 11111' 'user kernel_2 kernel_1' user.o k1.o k2.o
gives '200 21222 11111' 'user kernel_2 kernel_1' k2.o k1.o user.o
gives '200 11111' 'user kernel_1' k2.o user.o k1.o
ar qc lib1.a k1.o
ar qc lib2.a k2.o
gives '100 21222' 'user kernel_2' lib1.a lib2.a user.o       # pulls the first, though the second is given
gives '200 11111' 'user kernel_1' lib1.a k2.o user.o         # an object comes before an archive's member
echo '__attribute__((weak)) long helper(void) { return 7; } long weak_user(void) { return helper(); }' | source weak
gives '100 100 11111' 'user weak_user kernel_1' user.o weak.o k1.o   # strong before weak, even one's own
gives '100 100 21222' 'user weak_user kernel_2' user.o weak.o k1.o k2.o # the first strong one, but not before strong ones
gives '200 200 11111' 'user weak_user kernel_1' k2.o weak.o user.o k1.o
gives '7 7' 'user weak_user' user.o weak.o lib1.a
ar qc libweak.a weak.o
gives '100 100 11111' 'user weak_user kernel_1' user.o libweak.a k1.o
gives '100 100 11111' 'user weak_user kernel_1' k1.o libweak.a user.o --icf all
# An assignment holds, also for weak definitions and for the function of a kernel.
echo 'long other(void) { return 55; }' | source other
gives '55 55' 'user weak_user' user.o weak.o k1.o other.o --defsym helper=other
gives '55' helper weak.o k1.o other.o --defsym helper=other
# A weak, null hook that is to be replaced, in two objects with equal names; and by address.
for n in 1 2; do
	source hooked$n <<-END
		__attribute__((weak)) long (*hook)(long);
		long (**volatile place)(long) = &hook;
		long scale(void) { return $n; }
		long hooked_$n(void) { return *place != hook ? -1 : hook ? hook(scale()) : 0; }
	END
done
echo 'static long ten(long x) { return x * 10; } long (*hook)(long) = ten;' | source hook
gives '0 0' 'hooked_1 hooked_2' hooked1.o hooked2.o
gives '10 20' 'hooked_1 hooked_2' hooked1.o hooked2.o hook.o
gives '10 20' 'hooked_1 hooked_2' hook.o hooked1.o hooked2.o
echo 'long common_word; long common_user(void) { return common_word; }' | source common
echo 'long common_word = 70; long definer(void) { return common_word; }' | source definer
echo 'extern long common_word; long extern_user(void) { return common_word; }' | source extern
gives '11111 0 70 70' 'kernel_1 common_user definer extern_user' k1.o common.o definer.o extern.o
gives '11111 0 1000' 'kernel_1 common_user extern_user' extern.o k1.o common.o
refused 'undefined symbol: helper' user user.o
fails_with 'undefined symbol: helper' "$driver" -o refused.so --isolate-objects --export x=user user.o

# Names that the command line gives another meaning; required ones; the linker's own.
echo 'long other(void) { return 5; }' | source other
gives '5 11016' 'user kernel_1' user.o other.o k1.o --defsym helper=other # it outdoes all definitions
gives 100 user user.o k1.o k2.o -u helper
gives '5 11111' 'user kernel_1' user.o k1.o other.o --wrap helper --defsym __wrap_helper=other
gives 100 user user.o k1.o k2.o --trace-symbol helper
grep -q '^k2.o: definition of helper$' lines.txt || { cat lines.txt; fail "--trace-symbol"; }
for n in 1 2; do
	source walk$n <<-END
		__attribute__((section("walked"), used)) static long item = $n;
		extern long __start_walked[], __stop_walked[];
		long walk_$n(void) { long r = 0; for (long *p = __start_walked; p < __stop_walked; p++) r = r * 10 + *p; return r; }
	END
done
gives '12 12' 'walk_1 walk_2' walk1.o walk2.o

# Members of COMDAT groups are also an object's own definitions.
for n in 1 5; do
	cat >inline$n.cc <<-END
		template <class T> __attribute__((noinline)) T shared(T x) { static T state; state += $n; return x + state; }
		extern "C" long inline_$n(void) { return shared(10L); }
	END
	g++ -O1 -fPIC -ffunction-sections -c inline$n.cc -o inline$n.o
done
gives '11 15' 'inline_1 inline_5' inline1.o inline5.o
echo 'long _Z6sharedIlET_S0_(long x) { return 1000; }' | source strong # no member of a group
gives '11 15' 'inline_1 inline_5' inline1.o inline5.o strong.o
"$driver" -o shared.so --export x_inline_1=inline_1 --export x_inline_5=inline_5 inline1.o inline5.o
[ "$(results ./shared.so inline_1 inline_5)" = '11 12' ] || fail "groups are shared without --isolate-objects"

# Folding works across: equal helpers of isolated objects can be one.
for n in 1 2; do
	echo "long helper(long x) { return x * 77; } long twin_$n(void) { return helper($n); }" | source twin$n
done
gives '77 154' 'twin_1 twin_2' twin1.o twin2.o --icf all --print-icf-sections
printf 'selected section twin1.o:(.text.helper)\n  removing identical section twin2.o:(.text.helper)\n' |
	diff - lines.txt ||
	fail "equal helpers are not folded"

# By object: only those that a pattern matches are isolated; definitions of the others are for all.
by_pattern() { # RESULTS FUNCTIONS ARGUMENT…
	result=$1 functions=$2
	shift 2
	rm -f out.so
	# shellcheck disable=SC2046
	"$driver" -o out.so $(printf -- '--export x_%s=%s ' $(for f in $functions; do echo $f $f; done)) "$@" \
		>lines.txt 2>err.txt || { cat err.txt; fail "cannot link $*"; }
	# shellcheck disable=SC2086
	[ "$(results ./out.so $functions)" = "$result" ] || fail "$*: $(results ./out.so $functions), not $result"
}
refused 'duplicate symbol: helper' 'kernel_1 kernel_2' 'k1.o k2.o --isolate other.o'
grep -q -- '--isolate-objects=k2.o only this one' err.txt || { cat err.txt; fail "this object is not proposed"; }
for pattern in k1.o k2.o 'k?.o' '*' './k1.o'; do
	[ "$pattern" != ./k1.o ] || { refused 'duplicate symbol: helper' 'kernel_1 kernel_2' "k1.o k2.o --isolate $pattern"; continue; }
	by_pattern '11111 21222' 'kernel_1 kernel_2' k1.o k2.o --isolate "$pattern"
	by_pattern '21222 11111' 'kernel_2 kernel_1' k2.o k1.o --isolate "$pattern" --icf all
	[ ! -s err.txt ] || { cat err.txt; fail "warnings"; }
done
by_pattern '100 11111' 'user kernel_1' k1.o user.o --isolate other.o
grep -q -- '--isolate-objects=other.o: no object and no member of an archive has such a name' err.txt ||
	{ cat err.txt; fail "an unused pattern"; }
mkdir sub
cp k1.o sub
by_pattern '11111 21222' 'kernel_1 kernel_2' sub/k1.o k2.o --isolate k1.o
by_pattern '200 21222 11111' 'user kernel_2 kernel_1' k1.o user.o k2.o --isolate k1.o # a shared one comes first
by_pattern '100 21222 11111' 'user kernel_2 kernel_1' k2.o user.o k1.o --isolate k2.o
by_pattern '100 11111' 'user kernel_1' k1.o user.o --isolate k1.o # or that of an isolated object
by_pattern '200 11111' 'user kernel_1' k1.o lib2.a user.o --isolate k1.o
by_pattern '100 11111' 'user kernel_1' lib1.a lib2.a user.o --isolate k2.o
by_pattern '200 11111 21222' 'user kernel_1 kernel_2' lib1.a lib2.a user.o --isolate k1.o
refused 'duplicate symbol: helper' 'kernel_1 kernel_2' 'lib1.a lib2.a'
by_pattern '11111 21222' 'kernel_1 kernel_2' lib1.a lib2.a --isolate 'k1*'
# Weak definitions of isolated objects give way, and the others' never to an isolated one.
by_pattern '10 20' 'hooked_1 hooked_2' hooked1.o hooked2.o hook.o --isolate 'hooked*'
by_pattern '10 20' 'hooked_1 hooked_2' hooked1.o hooked2.o hook.o --isolate 'hook*'
by_pattern '10 20' 'hooked_1 hooked_2' hooked1.o hooked2.o hook.o --isolate hooked1.o
by_pattern '7 11111' 'weak_user kernel_1' weak.o k1.o --isolate k1.o
by_pattern '100 11111' 'weak_user kernel_1' weak.o k1.o --isolate weak.o
by_pattern '200 11111' 'weak_user kernel_1' weak.o k1.o k2.o --isolate weak.o --isolate k1.o
by_pattern '70 11111' 'definer kernel_1' definer.o k1.o --isolate k1.o
by_pattern '70 70 11111' 'definer common_user kernel_1' definer.o common.o k1.o --isolate k1.o
by_pattern '11 15' 'inline_1 inline_5' inline1.o inline5.o --isolate inline1.o
by_pattern '11 15' 'inline_1 inline_5' inline1.o inline5.o --isolate inline5.o
by_pattern '5 5' 'user weak_user' user.o weak.o k1.o other.o --isolate k1.o --defsym helper=other
by_pattern '5 11111' 'user kernel_1' user.o k1.o other.o --isolate k1.o --wrap helper --defsym __wrap_helper=other
"$driver" --relocatable -o joined.o --export x_kernel_1=kernel_1 --export x_kernel_2=kernel_2 k1.o k2.o --isolate k2.o
ld -shared -o joined.so joined.o
[ "$(results ./joined.so kernel_1 kernel_2)" = '11111 21222' ] || fail "-r: $(results ./joined.so kernel_1 kernel_2)"

# Two kernels of one name in one package: the manifest says which object is meant.
for n in 2 3 weak; do
	cat >scale$n.c <<-END
		#include "skkernel.h"
		void helper(float *y) { *y = *y * ${n/weak/2}; }
		$([ $n != weak ] || echo '__attribute__((weak))') void scale(const float *x, float *y, long n) { for (long i = 0; i < n; i++) { y[i] = x[i]; helper(&y[i]); } }
		SK_KERNEL(scale, "split=n; in x f32[n], out y f32[n], n i64");
	END
	compile scale$n
done
ar qc libscale3.a scale3.o
for objects in 'scale2.o scale3.o' 'scale2.o libscale3.a' 'scaleweak.o scale3.o'; do
	second=${objects% *} third=${objects#* }
	cat >model.yaml <<-END
		sklink: 1
		tensors:
		  x: {dtype: f32, shape: [4]}
		  t: {dtype: f32, shape: [4]}
		  y: {dtype: f32, shape: [4]}
		kernels:
		  twice: {object: $second, symbol: scale}
		  thrice: {object: $third, symbol: scale}
		scopes:
		  both: {options: ""}
		tasks:
		  - {name: a, kernel: thrice, args: [x, t], scope: both}
		  - {name: b, kernel: twice, args: [t, y], scope: both}
	END
	[ $second = scaleweak.o ] || fails_with 'duplicate symbol: helper' "$sklink" model.yaml -o model.sk
	"$sklink" model.yaml -S --isolate-objects=$second -o model.sk --repro=again.tar
	cp model.sk by-name.sk
	tar xf again.tar && (cd again && "$sklink" @response.txt -o again.sk && cmp again.sk ../by-name.sk) ||
		fail "a reproduction"
	"$sklink" model.yaml -S --isolate-objects -o model.sk
	cmp model.sk by-name.sk || fail "--isolate-objects=$second makes another package"
	"$skdump" --verify model.sk >/dev/null || fail "the dispatchers"
	"$skrun" model.sk --random 1 --verify >/dev/null || fail "the package"
	cat >six.c <<-'END'
		#include <dlfcn.h>
		#include <stdio.h>
		int main(void)
		{
			float x[4] = {1, 2, 3, 4}, y[4] = {0};
			void *image = dlopen("./model.sk", RTLD_NOW);
			int (*serial)(void *const *, void *) = image ? (int (*)(void *const *, void *))dlsym(image, "sk_both_serial") : NULL;
			static char workspace[4096] __attribute__((aligned(64)));
			void *tensors[] = {x, y};
			if (!serial || serial(tensors, workspace))
				return printf("%s\n", image ? "it fails" : dlerror()), 1;
			for (int i = 0; i < 4; i++)
				if (y[i] != x[i] * 6)
					return printf("%g\n", y[i]), 1;
			return 0;
		}
	END
	$KERNEL_CC -O1 six.c -o six -ldl
	./six || fail "two kernels of one name: not twice and thrice"
done
