# Why a section or a member is part of the image, and the order of sections: against ld.lld, readelf and the order of
# nm.
. "$top_srcdir/tests/lib/lib.sh"
use_images -fdata-sections
exported=entry
lld=$(command -v ld.lld-19 || command -v ld.lld || true)
[ -n "$lld" ] || echo "no ld.lld: nothing is compared with it"

echo 'long g(void); long f(void) { return g() + 1; }' | source f
echo 'static __attribute__((noinline)) long inner(void) { __asm__(""); return 3; }
	long h(void); long g(void) { return inner() + h(); } long unused_g(void) { return h(); }' | source g
echo 'const volatile long number[] = {4}; long h(void) { return number[0]; }' | source h
printf 'long h(void); static volatile long sum; static __attribute__((constructor)) void begin(void) { sum = h(); }
	long started(void) { return sum; }' | source starts
ar qc libg.a g.o
ar qc libh.a h.o starts.o

# ---- --why-live ----
# way NAME: the lines of lines.txt on NAME. By readelf, each of the places in them refers to the section in the line
# before.
way() {
	awk -v name="($1)" '/^(live|dead) symbol: / { on = index($0, ":" name) } on' lines.txt >way.txt
	[ -s way.txt ] || { cat lines.txt; fail "--why-live does not say anything about $1"; }
	section=.text.$1
	sed -nE 's/^>>> referenced by: ([^:]*\.o\)?):\(([^+]*)\+0x([0-9a-f]*)\)$/\1 \2 \3/p' way.txt >places.txt
	while read -r object in offset; do
		object=${object##*\(} object=${object%\)}
		readelf -rW "$object" | awk -v in_section="'.rela$in'" -v offset="$offset" '
			/^Relocation section/ { on = $3 == in_section }
			on && $1 ~ "^0*" offset "$" { print }' |
				grep -qE " \\.?(text\\.|rodata\\.)?${section##*.}( |\$)" ||
			{ cat way.txt; fail "$object:($in+0x$offset) does not refer to $section"; }
		section=$in
	done <places.txt
}
gives 8 f f.o libg.a libh.a --why-live g --why-live inner --why-live h --why-live number --why-live unused_g \
	--why-live f
way h
[ "$(sed 's/+0x[0-9a-f]*//' way.txt)" = "live symbol: libh.a(h.o):(h)
>>> referenced by: libg.a(g.o):(.text.g)
>>> referenced by: f.o:(.text.f)
>>> referenced by: the package's own code:(.text.thunks)
>>> the package's own" ] || { cat way.txt; fail "--why-live h"; }
way inner
[ "$(grep -c 'referenced by: libg.a(g.o):(.text.g+0x' way.txt)" = 1 ] || { cat way.txt;
	fail "--why-live of a static function"; }
way number
[ "$(grep -c 'referenced by' way.txt)" = 4 ] || { cat way.txt; fail "--why-live of data"; }
way f
[ "$(grep -c 'referenced by' way.txt)" = 1 ] || { cat way.txt; fail "--why-live of a kernel"; }
way unused_g
[ "$(cat way.txt)" = 'dead symbol: libg.a(g.o):(unused_g)' ] || { cat way.txt; fail "--why-live of what is collected"; }

# The nearest reason counts: h is called by the kernel and by functions that the kernel calls.
echo 'long g(void), h(void); long f(void) { return g() + h(); }' | source near
gives 11 f near.o g.o h.o --why-live h
way h
[ "$(grep -c 'referenced by' way.txt)" = 2 ] || { cat way.txt; fail "--why-live has not found the shortest way"; }

# Symbols that are needed in any case.
gives 8 f f.o g.o h.o -u unused_g --why-live unused_g
way unused_g
[ "$(tail -1 way.txt)" = '>>> required by the command line' ] || { cat way.txt; fail "-u"; }
gives 8 f f.o g.o h.o --no-gc-sections --why-live unused_g
way unused_g
[ "$(tail -1 way.txt)" = '>>> kept by --no-gc-sections' ] || { cat way.txt; fail "--no-gc-sections"; }
gives 4 started starts.o h.o --why-live begin --why-live h
way begin
grep -q '^>>> a table of constructors or destructors' way.txt || { cat way.txt; fail "a constructor"; }
printf '{ global: unused_g; };' >script
gives 8 f f.o g.o h.o --version-script script --why-live unused_g
way unused_g
[ "$(tail -1 way.txt)" = '>>> exported' ] || { cat way.txt; fail "an export"; }
printf '__attribute__((section("plugins"), used)) int (*const here)(void) = 0; long around(void);
	extern char __start_plugins[], __stop_plugins[]; long around(void) { return __stop_plugins - __start_plugins; }' | source range
gives 8 around range.o --why-live here
way_start=$(grep -c 'range.o:(.text.around+0x' lines.txt) || true
[ "$way_start" = 1 ] || { cat lines.txt; fail "a section between __start_ and __stop_"; }
echo 'int common_word; int *address(void) { return &common_word; } long c(void) { return common_word + (address() != 0); }' >common.c
$KERNEL_CC -O0 -fPIC -fcommon -c common.c -o common.o
gives 1 c common.o --why-live common_word
grep -q '^live symbol: common.o:(common_word)$' lines.txt || { cat lines.txt; fail "a common symbol"; }

gives 8 f f.o g.o h.o --why-live inne 2>err.txt
grep -q 'warning: --why-live=inne: no object .*' err.txt || { cat err.txt; fail "a name that nobody has"; }
grep -q "did you mean 'unused_g'" err.txt && fail "a bad suggestion"
cp out.so plain.so
gives 8 f f.o g.o h.o --why-live inner
cmp out.so plain.so || fail "--why-live changes the image"

# ---- --why-extract ----
echo 'long started(void); long f(void); long all(void) { return f() + started(); }' | source all
gives 12 all all.o f.o libg.a libh.a --why-extract why.txt
printf 'reference\textracted\tsymbol\nall.o\tlibh.a(starts.o)\tstarted\nf.o\tlibg.a(g.o)\tg\nlibh.a(starts.o)\tlibh.a(h.o)\th\n' | sort >expected.txt
sort why.txt | sed 's/^libg.a(g.o)\(.*(h.o)\)/libh.a(starts.o)\1/' | diff expected.txt - || fail "--why-extract"
if [ -n "$lld" ]; then
	"$lld" -shared -o lld.so all.o f.o libg.a libh.a --why-extract=theirs.txt
	sort theirs.txt | sed 's/^libg.a(g.o)\(.*(h.o)\)/libh.a(starts.o)\1/' | diff expected.txt - ||
		fail "ld.lld has other reasons"
fi
gives 8 f f.o libg.a libh.a -u started --why-extract why.txt
grep -qx "<command line>	libh.a(starts.o)	started" why.txt || { cat why.txt; fail "-u: --why-extract"; }
ar qc libf.a f.o
gives 8 f libf.a libg.a libh.a --why-extract why.txt
grep -qx "<internal>	libf.a(f.o)	f" why.txt || { cat why.txt; fail "a kernel: --why-extract"; }
gives 8 f f.o g.o --whole-archive libh.a --why-extract why.txt
[ "$(wc -l <why.txt)" = 1 ] || { cat why.txt; fail "members of a whole archive are extracted"; }
gives 8 f --isolate-objects libf.a libg.a libh.a --why-extract why.txt
grep -qx "libf.a(f.o)	libg.a(g.o)	g" why.txt || { cat why.txt; fail "--isolate-objects: --why-extract"; }
fails_with 'blocked/why: cannot' "$driver" -o never.so --export entry=f f.o g.o h.o --why-extract blocked/why

# ---- --symbol-ordering-file ----
cat >many.in <<'C'
#define F(n) __attribute__((noinline)) long f##n(void) { __asm__(""); return n; } long v##n = n;
F(1) F(2) F(3) F(4) F(5) F(6)
static __attribute__((noinline)) long quiet(void) { __asm__(""); return 7; }
long sum(void) { return f1() + f2() + f3() + f4() + f5() + f6() + quiet() + v1 + v2 + v3 + v4 + v5 + v6; }
C
source many <many.in
sed 's/long f/long other_f/; s/long v/long other_v/; s/long sum/long other_sum/; s/f\([1-6]\)()/other_f\1()/g; s/ v\([1-6]\)/ other_v\1/g' many.in | source second
printf '# hot\nf5\n  other_f2  \n\nv4\nquiet\r\nf1\nother_v1\nv2\n' >order.txt
ordered() { # FILE: the listed names in the order of their addresses, functions first
	nm -n "$1" | grep -E ' [tTdD] (f[1-6]|other_f[1-6]|quiet|v[1-6]|other_v[1-6])$' |
		awk '{ print ($2 ~ /[tT]/ ? "t " : "d ") $3 }' | sort -s -k1,1r
}
echo 'long sum(void), other_sum(void); long both(void) { return sum() + other_sum(); }' | source both
gives 98 both both.o many.o second.o --symbol-ordering-file order.txt 2>err.txt
[ ! -s err.txt ] || { cat err.txt; fail "the ordering file is not understood"; }
ordered out.so >ours.txt
printf 't f5\nt other_f2\nt quiet\nt quiet\nt f1\n' | diff - <(grep '^t' ours.txt | head -5) ||
	fail "functions are not in the order of the file"
printf 'd v4\nd other_v1\nd v2\n' | diff - <(grep '^d' ours.txt | head -3) ||
	fail "data is not in the order of the file"
if [ -n "$lld" ]; then
	"$lld" -shared -Bsymbolic -o lld.so both.o many.o second.o --symbol-ordering-file=order.txt 2>err.txt
	ordered lld.so >theirs.txt
	for kind in t d; do
		diff <(grep "^$kind" ours.txt | head -5) <(grep "^$kind" theirs.txt | head -5) ||
			fail "ld.lld has another order"
	done
fi
gives 98 both both.o many.o second.o
ordered out.so | head -3 | grep -q f5 && fail "the order is so without the file"
[ "$("$driver" -o lines.so --export entry=both both.o many.o second.o --symbol-ordering-file order.txt --dependency-file out.d && grep -c 'order.txt' out.d)" = 2 ] ||
	fail "the ordering file is no dependency"

# Folded sections are at the place of the first of them.
printf '#define APART __attribute__((weak)) long
	APART one(void) { return 5; } APART two(void) { return 5; } APART three(void) { return 6; }
	long sum3(void) { return one() + two() + three(); }' | source fold
printf 'three\ntwo\none\n' >folded.txt
gives 16 sum3 fold.o --icf all --symbol-ordering-file folded.txt
nm -n out.so | grep -E ' [tw] (one|two|three|sum3)$' | head -1 | grep -q three ||
	fail "folded sections are not in order"

printf 'f1\nf1\nnowhere\nsqrt\nf6\nabsolute\ndead\n' >bad.txt
printf '.globl absolute\nabsolute = 5\n.globl sum1\n.type sum1,@function\nsum1: lea absolute,%%rax\njmp f1@PLT\n.section .note.GNU-stack,"",@progbits\n' | as -o sum1.o
echo 'long dead(void) { return 1; }' | source dead
"$driver" -o out.so --export entry=sum1 sum1.o many.o dead.o --symbol-ordering-file bad.txt 2>err.txt
cat >expected.txt <<'END'
link-driver: warning: bad.txt:2:1: symbol 'f1' is listed twice; the first place is used
link-driver: warning: bad.txt:3:1: no such symbol: 'nowhere' is not defined by any object that takes part
link-driver: warning: bad.txt:4:1: no such symbol: 'sqrt' is not defined by any object that takes part
link-driver: warning: bad.txt:5:1: cannot order symbol 'f6': nothing reaches its section
link-driver: warning: bad.txt:6:1: cannot order symbol 'absolute': it is not in a section
link-driver: warning: bad.txt:7:1: cannot order symbol 'dead': nothing reaches its section
END
diff expected.txt err.txt || fail "what cannot be ordered"
if [ -n "$lld" ]; then
	"$lld" -shared --gc-sections --version-script=/dev/stdin -o lld.so many.o --symbol-ordering-file=bad.txt \
		2>err.txt <<<'{ global: f1; local: *; };'
	grep -q 'warning: .*no such symbol: nowhere' err.txt &&
		grep -q 'warning: .*unable to order discarded symbol: f6' err.txt ||
		{ cat err.txt; fail "ld.lld warns of something else"; }
fi
fails_with 'none: cannot read the symbol ordering file: No such file' "$driver" -o never.so --export entry=f f.o g.o \
	h.o --symbol-ordering-file none
head -c 5 /dev/zero >zeros
fails_with 'zeros: cannot read the symbol ordering file: it is too large or not a text' "$driver" -o never.so --export \
	entry=f f.o g.o h.o --symbol-ordering-file zeros
[ ! -e never.so ] || fail "an image in spite of the error"
