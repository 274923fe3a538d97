# Names of C++ and Rust in messages, lines and the map: as c++filt has them, and as ld.lld says them.
. "$top_srcdir/tests/lib/lib.sh"
use_images
grep -q '^#define HAVE_LIBIBERTY 1' "$top_builddir/config.h" || { echo "built without libiberty"; exit 77; }

# C++'s and both of Rust's manglings are identifiers of C.
write_fmt=_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE
echo "long _Z3addii(long, long), _RNvCskwGfYPst2Cb_3foo16example_function(void), $write_fmt(void);
	long _ZN2ns3useEv(void) { return _Z3addii(1, 2) + _RNvCskwGfYPst2Cb_3foo16example_function() + $write_fmt(); }" | source use
echo 'long _Z3addii(long a, long b) { return a + b; }' | source add
cp add.c again.c && source again <add.c
ar qc libadd.a add.o

fails() { # the link fails, with and without demangling
	fails_with 'undefined symbol: add\(int, int\)$' "$driver" -o never.so --export entry=_ZN2ns3useEv use.o
	cp err.txt with.txt
	fails_with 'undefined symbol: _Z3addii$' "$driver" -o never.so --export entry=_ZN2ns3useEv --no-demangle use.o
	cp err.txt without.txt
}
fails
for name in 'foo::example_function' 'core::fmt::Write::write_fmt'; do
	grep -qx "link-driver: error: undefined symbol: $name" with.txt || { cat with.txt; fail "no $name"; }
done
grep -qE '^>>> referenced by use.o:\(.text._ZN2ns3useEv\+0x[0-9a-f]*\) in ns::use\(\)$' with.txt || { cat with.txt;
	fail "the function that refers to it"; }
grep -qE '^>>> referenced by .* in _ZN2ns3useEv$' without.txt || { cat without.txt; fail "--no-demangle"; }
if command -v c++filt >/dev/null; then # which shows Rust's hashes
	diff <(grep -oE '(symbol:|\) in) .*' without.txt | c++filt | sed -E "s,::h[0-9a-f]{16}$|\\[[0-9a-f]{16}\\],,") \
		<(grep -oE '(symbol:|\) in) .*' with.txt) || fail "c++filt says something else"
fi
if lld=$(command -v ld.lld-19 || command -v ld.lld); then
	"$lld" -shared -z defs -o never.so use.o 2>theirs.txt || true
	diff <(grep -oE 'undefined symbol: .*' theirs.txt | grep -v fmt | sort) \
		<(grep -oE 'undefined symbol: .*' with.txt | grep -v fmt | sort) ||
		fail "ld.lld says something else"
fi

# The nearest name is that of the symbols, not of their demangled forms.
echo 'long _Z3adiii(long a, long b) { return a; }' | source near
fails_with "undefined symbol: add\(int, int\); did you mean 'adi\(int, int\)'" "$driver" -o never.so --export \
	entry=_ZN2ns3useEv use.o near.o
fails_with "undefined symbol: _Z3addii; did you mean '_Z3adiii'" "$driver" -o never.so --export entry=_ZN2ns3useEv \
	--no-demangle use.o near.o
# A message never proposes the same name: functions with equal demangled names are given by their symbols.
echo 'long _ZN1AC2Ev(void) { return 0; }' | source base
echo 'long _ZN1AC1Ev(void); long starts(void) { return _ZN1AC1Ev(); }' | source whole
fails_with "undefined symbol: A::A\(\); did you mean '_ZN1AC2Ev'" "$driver" -o never.so --export entry=starts whole.o \
	base.o
fails_with 'duplicate symbol: add\(int, int\)$' "$driver" -o never.so --export entry=_Z3addii add.o again.o
echo '__thread long _ZN2ns5countE __attribute__((tls_model("local-exec"))); long reads(void) { return _ZN2ns5countE; }' | source thread
fails_with "relocation .* against 'ns::count' " "$driver" -o never.so --export entry=reads thread.o

echo "long _Z3addii(long, long); long three(void) { return _Z3addii(1, 2); }" | source three
gives 3 three three.o libadd.a --trace-symbol _Z3addii --map out.map --cref --why-live _Z3addii --why-extract why.txt
grep -qx 'libadd.a(add.o): definition of add(int, int)' lines.txt || { cat lines.txt; fail "--trace-symbol"; }
grep -qx 'live symbol: libadd.a(add.o):(add(int, int))' lines.txt || { cat lines.txt; fail "--why-live"; }
grep -qx 'three.o	libadd.a(add.o)	add(int, int)' why.txt || { cat why.txt; fail "--why-extract"; }
grep -qE '^ +[0-9a-f]+ +[0-9a-f]+ +1 +add\(int, int\)$' out.map || { cat out.map; fail "the map"; }
grep -qE '^add\(int, int\) +libadd.a\(add.o\)$' out.map || { cat out.map; fail "--cref"; }
nm out.so | grep -q ' t _Z3addii$' || fail "the symbol table has other names"
gives 3 three three.o libadd.a --no-demangle --map out.map --cref
! grep -q 'add(int' out.map || fail "--no-demangle: the map"

# A text that only looks like a name stays, and so do names that stand for too much text: here each type is twice the
# one before.
bomb=_Z4bomb1aI1bS0_E
for i in 1 2 3 4 5 6 7 8 9 A B C D E F G H I J K L M N O P Q R S T U V W X Y Z; do
	bomb=${bomb}S_IS${i}_S${i}_E
done
long=_Z1f$(printf 'i%.0s' $(seq 3000))
{
	printf 'long _Zwrong(void), _Rust(void), _Z(void), %s(void), %s(void);\n' "$bomb" "$long"
	printf 'long odd(void) { return _Zwrong() + _Rust() + _Z() + %s() + %s(); }\n' "$bomb" "$long"
} | source odd
fails_with 'undefined symbol: _Zwrong(;|$)' "$driver" -o never.so --export entry=odd odd.o
for name in _Rust _Z "$long"; do
	grep -qE "error: undefined symbol: $name(;|\$)" err.txt || { cut -c1-200 err.txt;
		fail "$name is no name, or too long"; }
done
awk 'length > 20000 { exit 1 }' err.txt || fail "a name is shown at any length"
grep -qE "error: undefined symbol: $bomb(;|\$)" err.txt || { cut -c1-300 err.txt;
	fail "a name of 2^36 words is shown"; }
[ ! -e never.so ] || fail "an image in spite of the error"
