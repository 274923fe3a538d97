# Options that give names another meaning, and those that report on the link: lines, the map, the dependencies.
. "$top_srcdir/tests/lib/lib.sh"
use_images -fdata-sections
exported=entry

echo 'long g(void); long f(void) { return g() + 1; }' | source f
echo 'long g(void) { return 10; } long unused_g(void) { return 3; } int unused_data = 4; int unused_zero[9];' | source g
echo 'long g(void) { return 20; }' | source g2
echo 'long h(void) { return 30; }' | source h
ar qc libg.a g.o
ar qc libh.a h.o

# ---- --defsym ----
gives 31 f f.o h.o --defsym g=h
gives 31 f f.o libh.a --defsym g=h      # pulls the symbol that it stands for
gives 31 f f.o g.o h.o --defsym g=h     # outdoes a definition
gives 31 f f.o libg.a libh.a --defsym g=h
gives 31 f f.o h.o --defsym g=k --defsym k=h
gives 31 f f.o h.o --defsym k=h --defsym g=k
fails_with 'undefined symbol: nowhere' "$driver" -o out2.so --export entry=f f.o --defsym g=nowhere
grep -q '^>>> referenced by f.o:(.text.f+0x[0-9a-f]*) in f$' err.txt || fail "the user of an alias is not shown"
echo 'extern const char number[], small[]; long n(void) { return (long)number + (long)small; }' | source n
gives $((0x123456789abc + 17)) n n.o --defsym number=0x123456789abc --defsym small=17
echo 'double root(double); long r(void) { volatile double x = 16; return (long)root(x); }' | source r
gives 4 r --defsym root=sqrt r.o # an import
for wrong in 'g' '=h' 'g=' ; do
	fails_with "--defsym $wrong: must be symbol=symbol or symbol=number" "$driver" -o out2.so --export entry=f f.o \
		h.o --defsym "$wrong"
done
fails_with "'0x12345678901234567' is not a 64-bit number" "$driver" -o out2.so --export entry=f f.o h.o --defsym \
	g=0x12345678901234567
fails_with "'12z' is not a 64-bit number" "$driver" -o out2.so --export entry=f f.o h.o --defsym g=12z
fails_with 'the symbol would be an alias of itself' "$driver" -o out2.so --export entry=f f.o h.o --defsym g=g
fails_with '--defsym k=g: the symbol would be an alias of itself' "$driver" -o out2.so --export entry=f f.o h.o --defsym \
	g=k --defsym k=g
fails_with 'the symbol has been defined already' "$driver" -o out2.so --export entry=f f.o h.o --defsym g=h --defsym g=1

# ---- --wrap ----
echo 'long __real_g(void); long __wrap_g(void) { return __real_g() * 100; }' | source wrapper
gives 1001 f f.o g.o wrapper.o --wrap g
gives 1001 f f.o libg.a wrapper.o --wrap g
gives 11 f f.o g.o --wrap f # nothing refers to f
fails_with 'undefined symbol: __wrap_g' "$driver" -o out2.so --export entry=f f.o g.o --wrap g
fails_with 'undefined symbol: __real_g' "$driver" -o out2.so --export entry=f f.o g.o wrapper.o -u __wrap_g
echo 'double sqrt(double); double __real_sqrt(double); double __wrap_sqrt(double x) { return __real_sqrt(x) + 0.5; }
	long s(void); ' | source wrap_sqrt
printf '.globl s\n.type s,@function\ns: sub $8,%%rsp\nmov $64,%%eax\ncvtsi2sd %%eax,%%xmm0\ncall sqrt\naddsd %%xmm0,%%xmm0\ncvttsd2si %%xmm0,%%rax\nadd $8,%%rsp\nret\n.section .note.GNU-stack,"",@progbits\n' | as -o s.o
gives 16 s s.o
gives 17 s s.o wrap_sqrt.o --wrap sqrt

# ---- -u, --allow-multiple-definition ----
gives 11 f f.o g.o libh.a -u h
nm out.so | grep -q ' t h$' || fail "a required symbol is not there"
fails_with 'undefined symbol: nothing' "$driver" -o out2.so --export entry=f f.o g.o -u nothing
fails_with 'duplicate symbol: g' "$driver" -o out2.so --export entry=f f.o g.o g2.o
gives 11 f f.o g.o g2.o --allow-multiple-definition
gives 21 f f.o g2.o g.o --allow-multiple-definition

# ---- --no-gc-sections ----
echo 'int common_of_g[5]; long unused_too(void) { return 5; } const char *word(void) { return "a string that is not reached"; }' | source more_g
$KERNEL_CC -O1 -fPIC -fcommon -ffunction-sections -c more_g.c -o more_g.o
gives 11 f f.o libg.a libh.a more_g.o --no-gc-sections --print-gc-sections
[ ! -s lines.txt ] || { cat lines.txt; fail "--no-gc-sections collects"; }
nm out.so | sed 's/^[0-9a-f]* //' | sort >got.txt
for symbol in 't unused_g' 'd unused_data' 'b unused_zero' 't unused_too' 't word' 'b common_of_g'; do
	grep -qx "$symbol" got.txt || { cat got.txt; fail "--no-gc-sections: no $symbol"; }
done
! grep -qx 't h' got.txt || fail "--no-gc-sections pulls more"
grep -q 'a string that is not reached' out.so || fail "--no-gc-sections leaves a string out"
gives 11 f f.o libg.a libh.a more_g.o
! nm out.so | grep -qE 'unused|common_of_g' || fail "collection is not the default"
echo 'void nowhere(void); void unreached(void) { nowhere(); }' | source unreached
gives 11 f f.o g.o unreached.o
fails_with 'undefined symbol: nowhere' "$driver" -o out2.so --export entry=f f.o g.o unreached.o --no-gc-sections

# ---- lines ----
gives 11 f f.o g.o h.o --print-gc-sections
sort lines.txt >got.txt
cat >expected.txt <<'END'
removing unused section g.o:(.bss.unused_zero)
removing unused section g.o:(.data.unused_data)
removing unused section g.o:(.text.unused_g)
removing unused section h.o:(.text.h)
END
diff expected.txt got.txt || fail "--print-gc-sections"
gives 11 f f.o libg.a libh.a --trace
printf 'f.o\nlibg.a(g.o)\n' | diff - lines.txt || fail "--trace"
gives 11 f f.o libg.a h.o --trace-symbol g --trace-symbol h
printf 'f.o: reference to g\nh.o: definition of h\nlibg.a(g.o): definition of g\n' >expected.txt
sort lines.txt | diff expected.txt - || fail "--trace-symbol"
for count in $(seq 8); do # names move where there is room for more
	gives 11 f $(printf -- '--trace-symbol nobody%s ' $(seq "$count")) --trace-symbol h f.o libg.a h.o
	[ "$(cat lines.txt)" = 'h.o: definition of h' ] || fail "--trace-symbol behind $count others"
done
gives 11 f f.o g.o h.o
[ ! -s lines.txt ] || fail "lines that nobody has asked for"

# ---- the map: every function where nm has it, every section where readelf has it ----
echo 'const char *volatile names[] = {"one", "two"}; long m(void) { return names[1][0] + names[0][0]; }' | source m
gives 227 m m.o --map out.map
grep -qE '^ *Address +Size Align Out +In +Symbol$' out.map || fail "the map's heading"
nm -n out.so | sed -n 's/^0*\([0-9a-f]*\) [tT] m$/\1/p' >address.txt
grep -qE "^ +$(cat address.txt) +[0-9a-f]+ +[0-9]+ {9}m.o:\(.text.m\)$" out.map || { cat out.map;
	fail "the section of m"; }
grep -qE "^ +$(cat address.txt) +[0-9a-f]+ +1 {17}m$" out.map || { cat out.map; fail "m"; }
grep -qE ' {9}<internal>:\(.rodata.str1\)$' out.map || { cat out.map; fail "merged strings"; }
readelf -SW out.so | sed -nE \
	's/^ *\[ *[0-9]+\] (\.[^ ]*) +[A-Z_]+ +0*([0-9a-f]+) [0-9a-f]+ 0*([0-9a-f]+) .*/\2 \3 \1/p' |
	grep -v shstrtab >expected.txt
sed -nE 's/^ *([0-9a-f]+) +([0-9a-f]+) +[0-9]+ ([^ ]+)$/\1 \2 \3/p' out.map | grep -v shstrtab | diff expected.txt - ||
	fail "the map and the section headers differ"
cp out.map again.map
gives 227 m m.o --map out.map
cmp out.map again.map || fail "two maps differ"

# ---- the cross reference table: GNU ld's, for the names of objects ----
echo '__attribute__((weak)) long g(void) { return 1; } long w(void) { return g(); } char common_word[8];' | source weak
printf 'long f(void), n; double sqrt(double);
	long u(void) { volatile double x = 4; return f() + (long)sqrt(x) + (long)&n; }' | source user
inputs='weak.o user.o libh.a f.o libg.a g.o'
gives 18 u $inputs --cref --defsym n=5 -u h
cat >expected.txt <<'END'

Cross Reference Table

Symbol                                            File
common_word                                       weak.o
driver_table                                      <internal>
entry                                             <internal>
f                                                 f.o
                                                  user.o
g                                                 g.o
                                                  weak.o
                                                  f.o
h                                                 libh.a(h.o)
n                                                 <command line>
                                                  user.o
sqrt                                              libm.so.6
                                                  user.o
u                                                 user.o
                                                  <internal>
unused_data                                       g.o
unused_g                                          g.o
unused_zero                                       g.o
w                                                 weak.o
END
without_table() { awk '/^[^ ]/ {skip = /^_GLOBAL_OFFSET_TABLE_/} !skip'; } # which some assemblers mention
without_table <lines.txt | diff expected.txt - || fail "--cref"
ld -shared --cref -u h -o gnu.so weak.o user.o h.o f.o g.o | sed -n '/^Symbol/,$p' | grep -v '^_' >theirs.txt
sed 's/libh.a(h.o)/h.o/' lines.txt >ours.txt
files_of() { awk -v name="$2" 'NF > 1 {on = $1 == name} on && $NF !~ /^</ {print $NF}' "$1" | tr '\n' ' '; }
for name in f g u unused_g w common_word; do
	[ -n "$(files_of theirs.txt $name)" ] && [ "$(files_of ours.txt $name)" = "$(files_of theirs.txt $name)" ] ||
		fail "--cref: $(files_of ours.txt $name)for $name, where GNU ld has $(files_of theirs.txt $name)"
done
gives 18 u $inputs --cref --defsym n=5 --map out.map
[ ! -s lines.txt ] || fail "--cref prints in spite of a map"
sed 1d expected.txt | grep -v '^h ' >without_h.txt
sed -n '/^Cross Reference Table$/,$p' out.map | without_table | diff without_h.txt - || fail "--cref in the map"

# ---- the dependencies, as make reads them ----
unset MAKEFLAGS MFLAGS MAKELEVEL # of the make that runs this test
mkdir 'a folder'
cp g.o 'a folder/g $1#.o'
(cd 'a folder' && ar qcT ../thin.a 'g $1#.o')
gives 11 f f.o thin.a --dependency-file out.d
printf 'all: out.so\nout.so:\n\t@: $(info linked $^)\ninclude out.d\n' >Makefile
make -s >made.txt || { cat out.d; fail "make cannot read the dependencies"; }
[ ! -s made.txt ] || fail "out.so is up to date, but make linked: $(cat made.txt)"
sleep 0.1
touch -d '+10 seconds' 'a folder/g $1#.o'
make -s | grep -qF 'linked f.o thin.a a folder/g $1#.o' || { cat out.d; fail "make does not see a changed member"; }
rm f.o
make -s >made.txt 2>&1 || { cat made.txt; fail "make does not bear that an input is gone"; }
printf 'x' >blocked
fails_with 'blocked/out.map: cannot' "$driver" -o out2.so --export entry=m m.o --map blocked/out.map
[ ! -e out2.so ] || fail "an image in spite of the error"
