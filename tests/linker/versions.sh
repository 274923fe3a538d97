# --version-script: the names in it are exported, by the versions that it defines, as the dynamic loader, readelf and
# elflint see it; the package works as before; damaged scripts are refused with their line.
. "$top_srcdir/tests/lib/lib.sh"
driver=$top_builddir/tests/linker/link-driver

cat >run.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
/* run IMAGE NAME[@VERSION]…: the result of each function, or "none". */
int main(int argc, char **argv)
{
	void *image = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	if (!image)
		return printf("%s\n", dlerror()), 1;
	for (int i = 2; i < argc; i++) {
		char *at = strchr(argv[i], '@');
		if (at)
			*at = 0;
		long (*function)(void) = (long (*)(void))(at ? dlvsym(image, argv[i], at + 1) : dlsym(image, argv[i]));
		if (function)
			printf("%s%ld", i > 2 ? " " : "", function());
		else
			printf("%snone", i > 2 ? " " : "");
	}
	return printf("\n") < 0;
}
END
$KERNEL_CC -O1 run.c -o run -ldl

cat >one.c <<'END'
double sqrt(double);
long kernel(void) { volatile double x = 16; return (long)sqrt(x); }
long a(void) { return 1; }
long b_1(void) { return 21; }
long b_2(void) { return 22; }
long b_secret(void) { return 23; }
long global(void) { return 3; }
__attribute__((weak)) long weak_one(void) { return 4; }
__attribute__((visibility("hidden"))) long b_hidden(void) { return 5; }
static long b_static(void) { return 6; }
long (*volatile keep)(void) = b_static;
const char text[] = "text";
long words[3] = {7, 8, 9};
long common_words[4];
_Thread_local long b_thread;
long unused(void) { return 10; }
END
printf 'long pulled(void) { return 30; }\nlong pulled_too(void) { return 31; }\n' >two.c
for name in one two; do
	$KERNEL_CC -O1 -fPIC -ffunction-sections -fdata-sections -fno-builtin -fcommon -c $name.c -o $name.o
done
ar qc libtwo.a two.o
printf '.globl five\nfive = 5\n.section .note.GNU-stack,"",@progbits\n' | as -o absolute.o

# linked SCRIPT ARGUMENT…: link with the script, and check the image.
linked() {
	printf '%s\n' "$1" >script
	shift
	rm -f out.so
	"$driver" -o out.so --export x_kernel=kernel --version-script script "$@" one.o libtwo.a absolute.o >said.txt ||
		fail "cannot link with $(cat script)"
	if command -v eu-elflint >/dev/null; then
		eu-elflint --gnu-ld out.so >lint.txt 2>&1 || { cat lint.txt;
			fail "elflint complains about $(cat script)"; }
	fi
	readelf -aW out.so >all.txt 2>warnings.txt
	[ ! -s warnings.txt ] || { cat warnings.txt; fail "readelf warns"; }
}
# exported: the names of .dynsym that are defined, with their versions.
exported() { readelf --dyn-syms -W out.so | awk '$7 ~ /^([0-9]|ABS)/ && $1 ~ /^[0-9]+:/ {print $8}' | LC_ALL=C sort |
	tr '\n' ' '; }
exports_are() { [ "$(exported)" = "$1" ] || fail "$(cat script): $(exported), not $1"; }

# ---- exported symbols ----
linked '{ local: *; };'
exports_are 'driver_table x_kernel '
cp out.so plain.so
"$driver" -o out.so --export x_kernel=kernel one.o libtwo.a absolute.o
cmp plain.so out.so || fail "a script that exports nothing makes a difference"
linked '/* a comment; */ { global: a; b_*; local: *; b_secret; }; # and another'
exports_are 'a b_1 b_2 driver_table x_kernel '
[ "$(./run ./out.so a b_1 b_2 b_secret b_hidden x_kernel)" = '1 21 22 none none 4' ] || fail "exports"
! grep -q gnu.version_d all.txt || fail "versions without a name"
nm out.so | grep -q ' T a$' || fail "an exported function is no global symbol"
[ "$(nm out.so | grep -c ' a$')" = 1 ] || fail "an exported function has two symbols"
! nm out.so | grep -q ' unused$' || fail "what is not exported is kept"
linked '{ a; pulled; five; text; words; common_words; weak_one };' # no label; an archive's member; data; a number
exports_are 'a common_words driver_table five pulled text weak_one words x_kernel '
[ "$(./run ./out.so pulled pulled_too weak_one)" = '30 none 4' ] || fail "a pulled function"
! nm out.so | grep -q pulled_too || fail "more is pulled than is named"
for line in 'NOTYPE .* ABS five' 'FUNC +WEAK .* weak_one' '32 OBJECT +GLOBAL .* common_words' ' 5 OBJECT .* text'; do
	readelf --dyn-syms -W out.so | grep -qE "$line" || { readelf --dyn-syms -W out.so; fail "no line '$line'"; }
done
linked '{ global: b_[!s]*; [v-x]o?ds; unus\ed; };'
exports_are 'b_1 b_2 driver_table unused words x_kernel '
linked '{ extern "C" { a; b_*; }; local: b_*; b_1; };'
exports_are 'a b_2 b_secret driver_table x_kernel '
linked '{ global; };' # a symbol of that name
exports_are 'driver_table global x_kernel '
linked '{ global: *; };' # everything that takes part
exports_are 'a b_1 b_2 b_secret common_words driver_table five global keep kernel text unused weak_one words x_kernel '
linked '{ alias; number; };' --defsym alias=a --defsym number=77
exports_are 'alias driver_table number x_kernel '
[ "$(./run ./out.so alias)" = 1 ] || fail "an exported alias"

# ---- versions ----
linked 'V1 { global: a; b_1; x_*; local: *; };
V1.1 { b_*; pulled; } V1;
V2 { extern "C" { "weak_one"; }; } V1 V1.1;'
exports_are 'a@@V1 b_1@@V1 b_2@@V1.1 b_secret@@V1.1 driver_table pulled@@V1.1 weak_one@@V2 x_kernel@@V1 '
[ "$(./run ./out.so a a@V1 a@V2 b_2@V1.1 b_2@V1 pulled pulled@V1.1 weak_one@V2 x_kernel@V1 x_kernel)" = \
	'1 1 none 22 none 30 30 4 4 4' ] ||
	fail "versions: $(./run ./out.so a a@V1 a@V2 b_2@V1.1 b_2@V1 pulled pulled@V1.1 weak_one@V2 x_kernel@V1 x_kernel)"
readelf -VW out.so >versions.txt
for line in "Version definition section '.gnu.version_d' contains 4 entries" 'Index: 1  Cnt: 1  Name: package' \
	'Flags: BASE' \
	'Index: 2  Cnt: 1  Name: V1$' 'Index: 3  Cnt: 2  Name: V1.1' 'Parent 1: V1$' 'Index: 4  Cnt: 3  Name: V2' \
		'Parent 2: V1.1' \
	'Name: GLIBC_2.2.5 .* Version: 5'; do
	grep -qE "$line" versions.txt || { cat versions.txt; fail "no line '$line'"; }
done
readelf -dW out.so | grep -qE 'VERDEFNUM\) +4' || fail "DT_VERDEFNUM"
linked 'V1 { a; };' --soname lib.so
readelf -VW out.so | grep -q 'Name: lib.so' || fail "the base version is not the soname"
cp out.so again.so
linked 'V1 { a; };' --soname lib.so
cmp out.so again.so || fail "two links differ"
printf '.globl v\nv: ret\n.section .note.GNU-stack,"",@progbits\n' | as -o v.o # no import: there are definitions only
"$driver" -o out.so --export x=v --version-script script -u a one.o v.o
[ "$(./run ./out.so a@V1)" = 1 ] || fail "versions without imports"

# A program that is linked against the image finds its versions in it at run time.
linked 'V1 { a; }; V2 { b_1; } V1;' --soname out.so
printf '#include <stdio.h>\nlong a(void), b_1(void);\nint main(void) { return printf("%%ld %%ld\\n", a(), b_1()) < 0; }\n' >user.c
cc user.c -o user ./out.so -Wl,-rpath,.
[ "$(./user)" = '1 21' ] || fail "a program that uses the image"
readelf -VW user | grep -q 'Name: V2' || fail "a program does not need the version"

# With folded and isolated objects.
printf 'long twin_1(void) { return 81; }\nlong twin_2(void) { return 81; }\n' >twins.c
$KERNEL_CC -O1 -fPIC -ffunction-sections -c twins.c -o twins.o
linked 'V1 { twin_*; };' --icf all --print-icf-sections twins.o
grep -q 'removing.*twin_2' said.txt || fail "exported functions are not folded by --icf=all"
[ "$(./run ./out.so twin_1 twin_2)" = '81 81' ] || fail "folded functions"
linked 'V1 { twin_*; };' --icf safe --print-icf-sections twins.o
! grep -q 'removing.*twin_2' said.txt || fail "addresses of exported functions are significant"
printf 'long a(void) { return 91; }\nlong second(void) { return a(); }\n' >second.c
$KERNEL_CC -O1 -fPIC -fno-inline -c second.c -o second.o
linked 'V1 { a; second; };' --isolate-objects second.o
[ "$(./run ./out.so a@V1 second@V1)" = '91 91' ] || fail "isolated objects"
[ "$(nm out.so | grep -c ' a$')" -le 2 ] || fail "isolated symbols"

# ---- versions in objects (.symver): foo and foo@V2 mean foo@@V2, wherever it is; GNU ld is the reference ----
echo '__asm__(".symver v1,foo@V1"); __asm__(".symver v2,foo@@V2"); long v1(void) { return 1; } long v2(void) { return 2; }' >defines.c
echo 'long foo(void); long kernel(void) { return foo(); }' >plain.c
echo '__asm__(".symver old,foo@V1"); long old(void); long kernel(void) { return old(); }' >older.c
echo '__asm__(".symver new,foo@V2"); long new(void); long kernel(void) { return new(); }' >newer.c
echo '__asm__(".symver v2,foo@@V2"); long v2(void) { return 2; }' >default.c
echo '__asm__(".symver foo,foo@@V2"); long foo(void) { return 2; }' >named.c \
	# which GNU ld takes for a duplicate, and others do not
for name in defines plain older newer default named; do
	$KERNEL_CC -O1 -fPIC -ffunction-sections -c $name.c -o $name.o
done
ar qc libdefines.a defines.o
echo 'V1 { foo; }; V2 { global: foo; kernel; local: *; } V1;' >script
# resolves TEXT FILE…: both linkers do the same with them.
resolves() {
	want=$1
	shift
	ld -shared "$@" --version-script script -o theirs.so
	"$driver" -o out.so --export x=kernel "$@" --version-script script
	for image in theirs out; do
		[ "$(./run ./$image.so kernel foo foo@V2)" = "$want" ] ||
			fail "$*: $image.so: $(./run ./$image.so kernel foo foo@V2)"
	done
	readelf --dyn-syms -W out.so | grep -q ' foo@@V2$' || fail "$*: foo has another version than its own"
}
resolves '2 2 2' plain.o defines.o
resolves '2 2 2' defines.o plain.o
resolves '2 2 2' plain.o libdefines.a
resolves '1 2 2' older.o defines.o
resolves '1 2 2' older.o libdefines.a
resolves '2 2 2' newer.o defines.o
resolves '2 2 2' defines.o newer.o
resolves '2 2 2' newer.o libdefines.a
resolves '2 2 2' plain.o default.o
echo 'V1 { foo; }; V2 { }; V3 { foo; kernel; };' >script # a symbol's own version counts, not the one that lists its name
resolves '2 2 2' plain.o defines.o
"$driver" -o out.so --export x=kernel newer.o libdefines.a --isolate-objects --version-script script
[ "$(./run ./out.so x)" = 2 ] || fail "isolated: $(./run ./out.so x)"
# A package exports none of it, so only a versioned symbol without a plain name needs a script: GNU ld wants one for
# both.
for other in defines.o libdefines.a; do
	fails_with "defines\\.o.*: symbol foo@V1 is of the version V1, which no version script defines" "$driver" -o \
		refused.so --export x=kernel plain.o $other
done
fails_with 'version node not found for symbol foo@V1' ld -shared plain.o defines.o -o theirs.so
echo 'V2 { kernel; };' >script
fails_with "symbol foo@V1 is of the version V1" "$driver" -o refused.so --export x=kernel plain.o defines.o \
	--version-script script
for other in default named; do
	"$driver" -o out.so --export x=kernel plain.o $other.o && [ "$(./run ./out.so x)" = 2 ] ||
		fail "$other: a default version without a script"
done
fails_with 'duplicate symbol: foo$' "$driver" -o refused.so --export x=kernel plain.o default.o named.o
fails_with 'undefined symbol: foo$' "$driver" -o refused.so --export x=kernel plain.o two.o
# A foo without a version is not foo@V2, even if an archive that comes later has that.
echo 'long foo(void) { return 7; } long other(void) { return foo(); }' >unversioned.c
$KERNEL_CC -O1 -fPIC -ffunction-sections -c unversioned.c -o unversioned.o
ar qc libunversioned.a unversioned.o
ar qc libdefault.a default.o
fails_with 'unversioned\.o.*: symbol foo is defined here without the version V2' "$driver" -o refused.so --export \
	x=kernel newer.o libunversioned.a libdefault.a
"$driver" -o out.so --export x=kernel newer.o libdefault.a libunversioned.a && [ "$(./run ./out.so x)" = 2 ] ||
	fail "the version comes first"
"$driver" --relocatable -o object.o --export x=kernel newer.o defines.o
ld -shared object.o -o out.so && [ "$(./run ./out.so x)" = 2 ] || fail "-r: $(./run ./out.so x)"
# An import's own version can be asked for.
for version in 2.14 2.2.5; do
	printf '__asm__(".symver copy,memcpy@GLIBC_%s"); void *copy(void *, const void *, unsigned long);\nlong kernel(void) { long from = 7, to = 0; copy(&to, &from, sizeof(to)); return to; }\n' $version >copies.c
	$KERNEL_CC -O1 -fPIC -c copies.c -o copies-$version.o
done
"$driver" -o out.so --export x=kernel copies-2.14.o && [ "$(./run ./out.so x)" = 7 ] || fail "an import of its version"
fails_with 'undefined symbol: memcpy@GLIBC_2.2.5; packages import memcpy of the version GLIBC_2.14, which --defsym=memcpy@GLIBC_2.2.5=memcpy takes' \
	"$driver" -o refused.so --export x=kernel copies-2.2.5.o
"$driver" -o out.so --export x=kernel copies-2.2.5.o --defsym memcpy@GLIBC_2.2.5=memcpy &&
	[ "$(./run ./out.so x)" = 7 ] || fail "the version that is imported"

# ---- errors ----
refused() { # SCRIPT MESSAGE
	printf '%b' "$1" >bad
	fails_with "bad:$2" "$driver" -o refused.so --export x=kernel --version-script bad one.o
	[ ! -e refused.so ] || fail "an image in spite of the error"
}
refused '{ a; }' "1:[0-9]+: expected ';', but found the end of the file"
refused '{\n a\n b;\n};' "3:[0-9]+: expected ';', but found b"
refused '{\n a;\n' "3:[0-9]+: expected '}', but found the end of the file"
refused '' "1:[0-9]+: expected '{', but found the end of the file"
refused 'V1 a;' "1:[0-9]+: expected '{', but found a"
refused '{ global: a; : };' "1:[0-9]+: expected '}', but found :"
refused '/* \n\n { a; };' '1:[0-9]+: a comment is not closed'
refused '{ "a; \n};' '1:[0-9]+: a quoted name is not closed'
refused '{\n"";};' '2:[0-9]+: a name is empty'
refused '{ a;\n\n a; };' "3:[0-9]+: 'a' is named twice; first in line 1"
refused 'V1 { a; };\nV1 { b_1; };' "2:[0-9]+: version 'V1' is defined twice"
refused 'V1 { a; };\nV2 { b_1; } V3;' "2:[0-9]+: version 'V3' is not defined before it is inherited"
refused 'V1 { a; } V1;' "1:[0-9]+: version 'V1' is not defined before it is inherited"
refused '{ a; };\nV2 { b_1; };' '2:[0-9]+: a version without a name must be the only one'
refused 'V2 { b_1; };\n{ a; };' '2:[0-9]+: a version without a name must be the only one'
refused '{\nextern "C++" { "f(int)"; };\n};' '2:[0-9]+: extern "C\+\+" is not supported; give the mangled names'
refused '{\n  extern "D" { f; };\n};' '2:10: extern is only known for "C"'
refused '{ extern "C" { extern "C" { a; }; }; };' '1:[0-9]+: extern inside extern'
refused '{ a;\nwordz; };' "2:1: cannot export 'wordz': no input defines it$"
refused '{ a;\nb_3; };' "2:[0-9]+: cannot export 'b_3': no input defines it; did you mean 'b_[12]'"
refused '{ "b_*"; };' "1:[0-9]+: cannot export 'b_\\*': no input defines it"
refused '{ sqrt; };' "1:[0-9]+: cannot export 'sqrt': it is only imported"
refused '{ b_hidden; };' "1:[0-9]+: cannot export 'b_hidden': it is declared hidden"
refused '{ b_thread; };' "1:[0-9]+: cannot export 'b_thread': it is thread-local"
printf '{ a\0; };' >bad
fails_with 'bad: cannot read the version script: it is too large or not a text' "$driver" -o refused.so --export \
	x=kernel --version-script bad one.o
fails_with 'nowhere: cannot read the version script: No such file' "$driver" -o refused.so --export x=kernel \
	--version-script nowhere one.o
# A pattern that costs a naive matcher years.
stars=$(printf '*a%.0s' $(seq 60))
printf '{ global: %sb; };' "$stars" >script
name=$(printf 'a%.0s' $(seq 2000))
printf '.globl %s\n%s: ret\n.section .note.GNU-stack,"",@progbits\n' "$name" "$name" | as -o long.o
timeout 20 "$driver" -o out.so --export x=kernel --version-script script one.o long.o || fail "many stars"

# ---- sklink and its package ----
cp "$top_srcdir/tests/lib/kernels.c" . && compile kernels
cat >model.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [64]}
  y: {dtype: f32, shape: [64]}
tasks:
  - {name: only, kernel: add, args: [x, x, y]}
M
printf 'V1 { scale; sk_*; };\n' >script
"$sklink" model.yaml kernels.o --version-script=script --dependency-file=out.d -o model.sk
"$skrun" model.sk --random 1 --verify >/dev/null || fail "skrun refuses a package with versions"
"$skdump" --verify model.sk >/dev/null || fail "skdump refuses a package with versions"
readelf --dyn-syms -W model.sk | grep -q ' scale@@V1$' || fail "a kernel is not exported"
grep -q '^  script' out.d || fail "the script is no dependency"
fails_with 'is also an input' "$sklink" model.yaml kernels.o --version-script=script -o script
