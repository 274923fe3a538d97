# Options that change the kept sections and their names, together: folding, isolation, -r, exports, stripping,
# compressed debug information, all of it or only the reached sections. Each output computes the same as plain loops,
# also after strip, objcopy and the next linker, passes readelf and elflint, and gives the same numbers in --stats, in
# the map and in the lines.
. "$top_srcdir/tests/lib/lib.sh"

# Helpers of one name: equal, different, a template's, and an unused one.
for n in 1 2 3; do
	cat >k$n.cc <<-END
		#include "skkernel.h"
		static const float table[] = {1, 2, 3, 4};
		__attribute__((noinline)) static float equal(float x) { for (int i = 0; i < 4; i++) x = x * table[i] + 1; return x; }
		__attribute__((noinline)) float different(float x) { return x + $n; }
		template <class T> __attribute__((noinline)) T twice(T x) { return x * 2; }
		float unused(float x) { return x * 3; }
		extern "C" void step$n(const float *x, float *y, long n) { for (long i = 0; i < n; i++) y[i] = twice(different(equal(x[i]))); }
		SK_KERNEL(step$n, "split=n; in x f32[n], out y f32[n], n i64");
	END
	$KERNEL_CC -x c++ -O1 -g -fPIC -ffp-contract=off -ffunction-sections -fdata-sections -I"$top_srcdir/format" -c \
		k$n.cc -o k$n.o
done
ar qc lib2.a k2.o
ar qcT lib3.a k3.o
cat >model.yaml <<'M'
sklink: 1
device: ./small.profile
tensors:
  x: {dtype: f32, shape: [64]}
  s: {dtype: f32, shape: [64]}
  t: {dtype: f32, shape: [64]}
  y: {dtype: f32, shape: [64]}
tasks:
  - {name: a, kernel: step1, args: [x, s], scope: one}
  - {name: b, kernel: step2, args: [s, t], scope: one}
  - {name: c, kernel: step3, args: [t, y], scope: one}
scopes:
  one: {options: ""}
M
plain_profile small '0.1 us' >small.profile
cat >use.c <<'C'
#include "model.h"
#include <stdalign.h>

static float equal(float x)
{
	for (int i = 0; i < 4; i++)
		x = x * (float)(i + 1) + 1;
	return x;
}

int main(void)
{
	static alignas(64) float x[64], y[64];
	static alignas(64) unsigned char workspace[SK_one_WORKSPACE_sk_one + 64];

	for (int i = 0; i < 64; i++)
		x[i] = (float)(i % 5);
	if (sk_one_serial((void *const[]){x, y}, workspace))
		return 2;
	for (int i = 0; i < 64; i++) {
		float expected = x[i];

		for (int n = 0; n < 3; n++)
			expected = (equal(expected) + (const float[]){ADDENDS}[n]) * 2;
		if (expected != y[i])
			return 1;
	}
	return 0;
}
C
echo 'V1 { global: exported_*; _Z9differentf; };' >versions

number() { # NAME: of --stats
	sed -n "s/^$1 *\([0-9]*\)\$/\1/p" said.txt
}
referees() {
	readelf -aW "$1" >readelf.txt 2>warnings.txt || fail "readelf $1: $options"
	[ ! -s warnings.txt ] || { cat warnings.txt >&2; fail "readelf warns of $1: $options"; }
	if command -v eu-elflint >/dev/null; then
		eu-elflint --gnu-ld "$1" >lint.txt 2>&1 || { cat lint.txt >&2;
			fail "elflint complains of $1: $options"; }
	fi
}
addends=1,2,3
uses() { # FILE: linked into a program; it adds $addends
	$KERNEL_CC -O0 -ffp-contract=off -DADDENDS=$addends use.c "$1" -o use && ./use ||
		fail "$1 computes something else: $options"
}

check_package() {
	cp out.sk libout.so
	uses ./libout.so
	cp out.sk stripped.sk
	strip stripped.sk
	objcopy --strip-debug out.sk undebugged.sk
	for package in out.sk stripped.sk undebugged.sk; do
		"$skrun" --device host $package --random 1 --verify >ran.txt || { cat ran.txt;
			fail "$package does not run: $options"; }
		(proved $package) || fail "$package is not proved: $options"
		referees $package
	done
}
check_object() {
	uses ./out.sk
	strip -d out.sk -o undebugged.o
	strip --strip-unneeded out.sk -o unneeded.o
	ld -r undebugged.o -o joined.o
	for object in undebugged.o unneeded.o joined.o; do
		uses ./$object
		referees $object
	done
}

# check: the options in $options, with $expected sections that fold
check() {
	rm -f out.sk
	# shellcheck disable=SC2086
	"$sklink" model.yaml k1.o lib2.a lib3.a $options -Map=out.map --no-demangle --cref --stats --print-gc-sections \
		--print-icf-sections \
		--header=model.h -o out.sk >said.txt || fail "cannot link: $options"
	folded=$(grep -c '^  removing identical section ' said.txt || true)
	collected=$(grep -c '^removing unused section ' said.txt || true)
	[ "$(number 'sections folded')" = "$folded" ] && [ "$(number 'sections collected')" = "$collected" ] &&
		[ "$(number sections)" = \
			$(($(number 'sections kept') + folded + collected + $(number 'sections replaced'))) ] ||
		{ cat said.txt >&2; fail "the numbers do not add up: $options"; }
	[ "$folded" = $expected ] || { cat said.txt >&2; fail "$folded folded, not $expected: $options"; }
	# The map has all names of the kept sections, if the symbol table has them.
	case $options in
	*-r* | *-s*) ;;
	*)
		for name in _ZL5equalf _Z9differentf _Z5twiceIfET_S0_; do
			nm out.sk | sed -nE "s/^0*([0-9a-f]+) [tTwW] $name\$/\1/p" | sort >expected.txt
			sed -nE "s/^ +([0-9a-f]+) +[0-9a-f]+ +1 {17}$name\$/\1/p" out.map | sort |
				diff expected.txt - ||
				fail "$name in the map: $options"
		done
		;;
	esac
	grep -q '^Cross Reference Table$' out.map || fail "no cross references in the map: $options"
	referees out.sk
	case $options in
	*' -s'*) (proved out.sk) || fail "the output is not proved: $options" ;;
	*) "$skdump" --verify out.sk >/dev/null || fail "the output is not proved, or not all of it: $options" ;;
	esac
	case $options in
	--allow*) ;; # one helper counts for all kernels
	*-r*) check_object ;;
	*) check_package ;;
	esac
}

# Helpers and templates fold; or, if templates and the differing helper are shared, helpers and the kernels, which are
# equal then. Unused functions fold only if they are kept.
for icf in none safe all; do
	for kind in '' ' -r' ' --version-script=versions'; do
		for strip in '' ' -s' ' -S --no-gc-sections' ' --compress-debug-sections=zlib'; do
			case $icf$strip in
			none*) expected=0 ;;
			*--no-gc*) expected=6 ;;
			*) expected=4 ;;
			esac
			options="--isolate-objects --icf=$icf$kind$strip"
			check
			options="--allow-multiple-definition --icf=$icf$kind$strip"
			check
		done
	done
done

# A kernel that equals another one, with a name that is used nowhere else.
addends=1,1,3
for icf in none safe all; do
	[ $icf = none ] && expected=0 || expected=2
	for kind in '' ' -r' ' --version-script=versions'; do
		options="--isolate-objects --icf=$icf$kind --defsym step2=step1"
		check
	done
done
addends=1,2,3

# Some of the objects isolated, one of them a member: helpers and templates fold across.
for icf in none all; do
	[ $icf = none ] && expected=0 || expected=4
	for kind in '' ' -r' ' --version-script=versions'; do
		options="--isolate-objects=k[23].o --icf=$icf$kind"
		check
	done
done

# All of it from an archive of --repro, with the profile, the script, and members of the thin archive.
options='--isolate-objects --icf=all --version-script=versions -S'
for kind in '' -r; do
	[ -z "$kind" ] || options='--isolate-objects --icf=safe -r -S'
	# shellcheck disable=SC2086
	"$sklink" model.yaml k1.o lib2.a lib3.a $options --repro=again.tar --header=model.h -o out.sk
	rm -rf elsewhere
	mkdir elsewhere
	tar xf again.tar -C elsewhere
	for file in small.profile model.yaml lib3.a k3.o; do
		[ -e "elsewhere/again$dir/$file" ] || fail "--repro: no $file"
	done
	(cd elsewhere/again && "$sklink" @response.txt)
	cmp elsewhere/again/out.sk out.sk || fail "--repro: another output with $options"
	cmp elsewhere/again/model.h model.h || fail "--repro: another header with $options"
done
