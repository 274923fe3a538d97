#!/bin/bash
# sklink -r: the package as one object, linked into programs and shared objects by every linker that is here,
# position-independent or not; its remaining symbols, its errors, and that libskrt runs it from memory.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
driver=$top_builddir/tests/linker/link-driver
libskrt="$top_builddir/.libs/libskrt.a $(sed -n "s/^Libs.private: //p" "$top_builddir/loader/libskrt.pc")"
sanitize=$(sed -n 's/^SANITIZE_CFLAGS = //p' "$top_builddir/Makefile")

# Linkers, as directories with an `ld` in them for the compiler's -B.
linkers=
for name in ld.bfd ld.gold ld.lld mold; do
	path=$(command -v $name) || continue
	mkdir -p linkers/$name
	ln -s "$path" linkers/$name/ld
	linkers="$linkers $name"
done
[ -n "$linkers" ] || fail "there is no linker"

referees() {
	readelf -aW "$1" >readelf.txt 2>warnings.txt || fail "readelf fails"
	[ ! -s warnings.txt ] || { cat warnings.txt >&2; fail "$1: readelf warns"; }
	if command -v eu-elflint >/dev/null; then
		eu-elflint --gnu-ld "$1" >lint.txt 2>&1 || { cat lint.txt >&2; fail "$1: elflint complains"; }
	fi
}
has() {
	grep -qE -- "$1" readelf.txt || { cat readelf.txt >&2; fail "readelf does not show: $1"; }
}
has_not() {
	if grep -E -- "$1" readelf.txt; then fail "readelf shows: $1"; fi
}

# ---- everything that an object can hold, through every linker ----
cat >kernels.c <<'END'
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef int (*callback)(void *);
extern int program_data, program_function(int);
extern int nowhere(void) __attribute__((weak));
int zeros[3000];
int common_symbol;
static int number = 17;
static int *const table[] = {&number, &zeros[5]};
const char *names[] = {"the end of the string", "string"};
static const int aligned[8] __attribute__((aligned(32768), used)) = {1, 2, 3, 4, 5, 6, 7, 8};
static int walked_one __attribute__((section("walked"), used)) = 40;
static int walked_two __attribute__((section("walked"), used)) = 2;
extern int __start_walked[], __stop_walked[];
char order[8];

__attribute__((constructor(200))) static void second(void) { strcat(order, "2"); }
__attribute__((constructor(101))) static void first(void) { strcat(order, "1"); }
__attribute__((constructor)) static void third(void) { strcat(order, "3"); }

int data(int i) { return *table[i & 1] + zeros[i & 7] + aligned[i & 7] + common_symbol; }
int is_aligned(void) { return ((unsigned long)aligned & 32767) == 0; }
double import(double x) { char from[64] = "abc", to[64]; volatile int n = 64; memcpy(to, from, n); return sqrt(x) + to[1]; }
int call(callback f, void *context) { volatile int result = f(context); return result + 1; }
const char *text(int i) { return i == 0 ? "string" : i == 1 ? "the end of the string" : i == 2 ? "only here" : names[i - 3]; }
int from_program(int x) { return program_function(x) + program_data + (nowhere ? nowhere() : 0) + (stderr != NULL); }
int walk(void) { int sum = 0; for (int *p = __start_walked; p < __stop_walked; p++) sum += *p; return sum; }
int jump(int i) { switch (i) { case 1: return 11; case 2: return 27; case 3: return 5; case 4: return 92; case 5: return 8; default: return text(i)[0]; } }
const char *ordered(void) { return order; }
int unused(int x) { return x + data(x) + puts("nobody reaches this"); }
END
# Code that compilers rarely write: GOT accesses that cannot be relaxed, offsets from the GOT, 64-bit references, a
# group.
cat >rare.s <<'END'
	.globl got_load, got_offset, wide, grouped_call
	.section .text.rare, "ax", @progbits
	.type got_load, @function
got_load: # cmp with a GOT slot: linkers have no rule to relax it
	lea	value(%rip), %rdx
	xor	%eax, %eax
	cmp	value@GOTPCREL(%rip), %rdx
	sete	%al
	cmp	string@GOTPCREL(%rip), %rdx
	setne	%dl
	mov	string@GOTPCREL(%rip), %rcx
	movzbl	(%rcx), %ecx
	movzbl	%dl, %edx
	lea	(%rax, %rdx, 2), %eax
	add	%ecx, %eax
	ret
	.type got_offset, @function
got_offset:
	lea	_GLOBAL_OFFSET_TABLE_(%rip), %rdx
	movabs	$value@GOTOFF, %rax
	mov	(%rdx, %rax), %eax
	ret
	.type wide, @function
wide:
	lea	distance(%rip), %rax
	add	(%rax), %rax
	mov	(%rax), %eax
	ret
	.type grouped_call, @function
grouped_call:
	jmp	grouped
	.section .text.grouped, "axG", @progbits, grouped, comdat
	.weak grouped
	.type grouped, @function
grouped:
	mov	$7, %eax
	ret
	.section .rodata.rare, "a", @progbits
distance: .quad value - .
	.section .rodata.str1.1, "aMS", @progbits, 1
	.string "other"
string:	.string "A string"
	.section .data.rare, "aw", @progbits
	.balign 4
value:	.long 1234
	# Debug information that names its strings, and one that only it names.
	.section .debug_str, "MS", @progbits, 1
	.string "something in front"
	.globl named_string
named_string: .string "a named string"
	.globl named_constant
	.section .rodata.str1.1, "aMS", @progbits, 1
named_constant: .string "A string"
	.section .debug_named, "", @progbits
	.long named_string
	.quad named_constant
	.section .note.GNU-stack, "", @progbits
END
$KERNEL_CC -O2 -g -fPIC -ffunction-sections -fdata-sections -fasynchronous-unwind-tables -c kernels.c -o kernels.o
as rare.s -o rare.o
functions='data is_aligned import call text from_program walk jump ordered got_load got_offset wide grouped_call'
exports=
for name in $functions; do
	exports="$exports --export x_$name=$name"
done
"$driver" --relocatable -o object.o $exports --constants 'These are constants.' kernels.o rare.o
referees object.o
has 'Type: +REL '
has 'NOTYPE +GLOBAL +DEFAULT +UND program_data$'
has 'NOTYPE +WEAK +DEFAULT +UND nowhere$'
has 'FUNC +GLOBAL +DEFAULT +[0-9]+ x_call$'
has 'FUNC +LOCAL +DEFAULT +[0-9]+ call$'
has 'FUNC +LOCAL +DEFAULT +[0-9]+ grouped$'
has '\.rodata\.str1 +PROGBITS .* AMS '
has '\.note\.GNU-stack +PROGBITS +0+ [0-9a-f]+ 0+ 00 +0 +0 +1$'
has '\.init_array\.0*101 '
has 'There are no section groups'
has_not ' (unused)$'
has_not '\.(dynsym|dynamic|eh_frame_hdr|got|note\.gnu\.build-id)'
[ "$(readelf -sW object.o | awk '$5 == "GLOBAL" && $7 != "UND" {print $8}' | grep -vc '^x_\|^driver_')" = 0 ] || fail "something else is global"
# A terminator would end the program's unwind table.
readelf --debug-dump=frames object.o 2>/dev/null | grep -q 'ZERO terminator' && fail "the unwind table is terminated"
readelf -rW object.o | sed -n '/rela.text/,/^$/p' | grep -E '\.text [+-]' && fail "references inside .text are left"

cat >program.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

int program_data = 5;
int program_function(int x) { return x * 2; }
int x_data(int), x_is_aligned(void), x_call(int (*)(void *), void *), x_from_program(int), x_walk(void), x_jump(int);
int x_got_load(void), x_got_offset(void), x_wide(void), x_grouped_call(void), main(void);
double x_import(double);
const char *x_text(int), *x_ordered(void);
extern const char driver_constants[];
static int frames, reached_main;

static _Unwind_Reason_Code trace(struct _Unwind_Context *context, void *nothing)
{
	(void)nothing;
	frames++;
	reached_main |= _Unwind_FindEnclosingFunction((void *)(_Unwind_GetIP(context) - 1)) == (void *)main;
	return _URC_NO_REASON;
}
static int called_back(void *context) { _Unwind_Backtrace(trace, NULL); return *(int *)context; }
static void check(int right, const char *what) { if (!right) { printf("FAIL: %s\n", what); exit(1); } }

int main(void)
{
	int context = 41;
	check(x_data(0) == 18 && x_data(1) == 2 && x_data(2) == 20, "data");
	check(x_is_aligned(), "alignment");
	check(x_import(16) == 4 + 'b', "imports");
	check(!strcmp(x_text(0), "string") && !strcmp(x_text(1), "the end of the string") && !strcmp(x_text(2), "only here") &&
	      !strcmp(x_text(3), "the end of the string") && !strcmp(x_text(4), "string"), "strings");
	check(x_from_program(3) == 12, "what the program defines");
	check(x_walk() == 42, "__start_ and __stop_");
	check(x_jump(2) == 27 && x_jump(5) == 8 && x_jump(0) == 's', "jump table");
	check(!strcmp(x_ordered(), "123"), "order of constructors");
	check(x_got_load() == 3 + 'A', "GOT slots");
	check(x_got_offset() == 1234, "offsets from the GOT");
	check(x_wide() == 1234, "64-bit references");
	check(x_grouped_call() == 7, "groups");
	check(!strcmp(driver_constants, "These are constants."), "constants");
	check(x_call(called_back, &context) == 42 && reached_main, "unwinding");
	puts("right");
	return 0;
}
END
# links OBJECTS: the program with them, by every linker, in every way.
links() {
	for linker in $linkers; do
		for mode in '-fPIE -pie' '-fno-pie -no-pie' '-fPIC -shared'; do
			rm -f program libpart.so
			if [ "$mode" = '-fPIC -shared' ]; then
				$KERNEL_CC -Blinkers/$linker -shared -Wl,-z,text -Wl,-z,defs -Wl,--no-undefined -o libpart.so "$@" \
					-Wl,--allow-shlib-undefined -x c - -lm >messages.txt 2>&1 <<-'END' || { cat messages.txt; fail "$linker $mode"; }
					int program_data = 5;
					int program_function(int x) { return x * 2; }
				END
				$KERNEL_CC -g -O1 -fPIC program.c -o program -L. -lpart -Wl,-rpath,"$dir" -lm || fail "$linker $mode"
			else
				$KERNEL_CC -Blinkers/$linker $mode -g -O1 -Wl,-z,text program.c "$@" -o program -lm >messages.txt 2>&1 ||
					{ cat messages.txt; fail "$linker $mode"; }
			fi
			[ ! -s messages.txt ] || { cat messages.txt; fail "$linker $mode has something to say"; }
			[ "$(./program)" = right ] || fail "$linker $mode: $(./program)"
			readelf -lW program | grep -q 'GNU_STACK.* RW ' || fail "$linker $mode: the stack"
		done
	done
}
links object.o
# Linked once more by ld -r and objcopy, it is the same.
ld -r object.o -o again.o && objcopy again.o copied.o && links copied.o
# With -s all symbols that relocations do not need are gone, with -S the debug information only.
"$driver" --relocatable --strip-all -o stripped.o $exports --constants 'These are constants.' kernels.o rare.o
referees stripped.o
has_not ' (call|walk)$'
has_not '\.debug_'
links stripped.o
"$driver" --relocatable --strip-debug -o undebugged.o $exports --constants 'These are constants.' kernels.o rare.o
referees undebugged.o
has ' call$'
has_not '\.debug_'

# ---- debug information leads to the source, compressed or not ----
for option in '' --compress-debug-sections; do
	"$driver" --relocatable $option -o debug.o $exports --constants 'These are constants.' kernels.o rare.o
	referees debug.o
	for linker in $linkers; do
		$KERNEL_CC -Blinkers/$linker -g -O1 program.c debug.o -o program -lm
		address=$(nm program | sed -n 's/ t is_aligned$//p')
		addr2line -e program "$address" | grep -q "kernels.c:$(grep -n 'int is_aligned' kernels.c | cut -d: -f1)$" ||
			{ addr2line -e program "$address"; fail "$linker $option: the line of is_aligned"; }
	done
done

# ---- an address that the command line gives; but gold adds the program's address to its GOT entry ----
echo 'extern const char number[], small[]; long n(void) { return (long)number + (long)small; }' >number.c
echo 'long x_n(void); int main(void) { return x_n() != 0x123456789abc + 17; }' >use-number.c
$KERNEL_CC -O1 -fPIC -c number.c -o number.o
"$driver" --relocatable -o absolute.o --export x_n=n number.o --defsym number=0x123456789abc --defsym small=17
referees absolute.o
for linker in $linkers; do
	[ $linker != ld.gold ] || continue
	$KERNEL_CC -Blinkers/$linker -fPIE -pie use-number.c absolute.o -o program && ./program || fail "$linker: a number"
done

# ---- C++: exceptions, groups, virtual functions, and a library that sklink has not heard of ----
cat >classes.cc <<'END'
#include <stdexcept>
#include <string>
#include <vector>
struct base { virtual ~base() {} virtual int f(int x) { return x; } };
struct derived : base { int f(int x) override { if (x < 0) throw std::runtime_error("negative"); return x + 1; } };
template <class T> inline T twice(T x) { static T count; return count++, 2 * x; }
static base *make() { static derived d; return &d; }
extern "C" int classes(int x)
{
	std::vector<int> v(3, x);
	try {
		std::string s = "a rather long string that is on the heap";
		return make()->f(x) + twice(v[2]) + (int)s.size();
	} catch (const std::exception &e) {
		return -(int)std::string(e.what()).size();
	}
}
END
echo 'extern "C" int x_classes(int); int main() { return x_classes(1) != 44 || x_classes(-1) != -8; }' >use-classes.cc
if command -v g++ >/dev/null; then
	g++ -O1 -g -fPIC -ffunction-sections -c classes.cc -o classes.o
	"$driver" --relocatable -o cplusplus.o --export x_classes=classes classes.o
	referees cplusplus.o
	for linker in $linkers; do
		g++ -Blinkers/$linker -fPIE -pie use-classes.cc cplusplus.o -o program && ./program || fail "$linker: C++"
		g++ -Blinkers/$linker -shared cplusplus.o -o libclasses.so -Wl,-z,text
		g++ -fPIE -pie use-classes.cc -L. -lclasses -Wl,-rpath,"$dir" -o program && ./program || fail "$linker: C++, shared"
	done
fi

# ---- the map ----
"$driver" --relocatable -o mapped.o $exports --map out.map kernels.o rare.o
readelf -SW mapped.o | sed -nE 's/^ *\[ *[0-9]+\] (\.[^ ]*|walked) +[A-Z_]+ +0*([0-9a-f]+) [0-9a-f]+ 0*([0-9a-f]+) .*/\2 \3 \1/p' |
	grep -v shstrtab >expected.txt
sed -nE 's/^ *([0-9a-f]+) +([0-9a-f]+) +[0-9]+ ([^ ]+)$/\1 \2 \3/p' out.map | grep -v shstrtab >got.txt
sed 's/^ /0 /; s/  / 0 /' expected.txt | diff - got.txt || fail "the map and the section headers differ"

# ---- names in debug information ----
for linker in $linkers; do
	$KERNEL_CC -Blinkers/$linker -no-pie -g -O1 program.c object.o -o program -lm
	objcopy -O binary --only-section=.debug_named --set-section-flags .debug_named=alloc program named.bin
	objcopy -O binary --only-section=.debug_str --set-section-flags .debug_str=alloc program strings.bin
	offset=$(od -An -tu4 -N4 named.bin)
	[ "$(tail -c +$((offset + 1)) strings.bin | head -c 14)" = 'a named string' ] || fail "$linker: a named string"
done

# ---- refused as in an image ----
echo 'static int one(void) { return 1; } static void *pick(void) { return one; } static int indirect(void) __attribute__((ifunc("pick"))); int ifunc(void) { return indirect(); }' >ifunc.c
$KERNEL_CC -O1 -fPIC -c ifunc.c -o ifunc.o
fails_with 'refers to an IFUNC' "$driver" --relocatable -o bad.o --export x=ifunc ifunc.o
fails_with 'undefined symbol: nothing' "$driver" --relocatable -o bad.o --export x=walk -u nothing kernels.o
[ ! -e bad.o ] || fail "an object in spite of the error"

# ---- two packages in one program ----
cp "$top_srcdir/tests/lib/kernels.c" simple.c && compile simple
for name in first second; do
	cat >$name.yaml <<-M
		sklink: 1
		tensors:
		  x: {dtype: f32, shape: [4096]}
		  w: {dtype: f32, shape: [4096], data: w.npy}
		  a: {dtype: f32, shape: [4096]}
		  y: {dtype: f32, shape: [4096]}
		  z: {dtype: f32, shape: [4096]}
		tasks:
		  - {name: one, kernel: prefix, args: [x, a], scope: $name}
		  - {name: two, kernel: scale, args: [a, y], set: {factor: $([ $name = first ] && echo 2 || echo 5)}, scope: $name}
		  - {name: three, kernel: scale, args: [w, z], set: {factor: 3}, scope: $name}
	M
done
$CC -x c - -o make-constant <<-'END'
	#include <stdio.h>
	int main(void)
	{
		printf("\x93NUMPY\1%c\x76%c%-117s\n", 0, 0, "{'descr': '<f4', 'fortran_order': False, 'shape': (4096,), }");
		for (int i = 0; i < 4096; i++)
			fwrite(&(float){(float)i}, sizeof(float), 1, stdout);
		return 0;
	}
END
./make-constant >w.npy
for name in first second; do
	"$sklink" $name.yaml simple.o -r -o $name.o --header $name.h
	referees $name.o
	has "OBJECT +GLOBAL +PROTECTED +[0-9]+ sk_plan_$name$"
	has "FUNC +GLOBAL +DEFAULT +[0-9]+ sk_${name}$"
	has "FUNC +GLOBAL +DEFAULT +[0-9]+ sk_${name}_serial$"
	has '\.sk\.report .* E '
	has_not ' GLOBAL .* (sk_plan|sk_unfused.*|prefix|scale)$'
done
mkdir elsewhere && cp w.npy first.yaml simple.o elsewhere/
(cd elsewhere && "$sklink" first.yaml simple.o --relocatable -o other-name.o --header other.h)
cmp first.o elsewhere/other-name.o || fail "the object depends on where it is written"
cmp first.h elsewhere/other.h || fail "the header depends on where it is written"
"$sklink" first.yaml simple.o -r --soname libnet-2.so.1 -o named.o
nm named.o | grep -q ' R sk_plan_libnet_2$' || fail "--soname does not name the plan"

# ---- skdump shows and proves the object like the package, also after ld -r; a changed one it does not ----
"$sklink" first.yaml simple.o -o first.sk
"$skdump" --all first.sk | tail -n +2 >package.txt
echo 'int beside(void) { return 3; }' >beside.c
compile beside
ld -r first.o beside.o -o joined.o
strip -d first.o -o stripped-first.o
for object in first.o joined.o stripped-first.o; do
	"$skdump" --all $object | tail -n +2 | diff package.txt - || fail "skdump shows something else for $object"
	[ "$("$skdump" --verify $object)" = "$("$skdump" --verify first.sk)" ] || fail "skdump --verify $object"
done
fails_with 'simple.o: it is not a package: it has no section .sk.plan' "$skdump" simple.o
# change NAME SECTION BYTE: NAME is first.o with another byte at that place of the section.
change() {
	offset=$(readelf -SW first.o | sed -nE "s/^ *\[ *[0-9]+\] $2 +[A-Z_]+ +[0-9a-f]+ +([0-9a-f]+) .*/\1/p")
	cp first.o "$1"
	printf '\377' | dd of="$1" bs=1 seek=$((0x$offset + $3)) conv=notrunc status=none
}
change changed.o '\.text' 70
fails_with "the dispatcher 'sk_first' differs from its plan" "$skdump" --verify changed.o
change changed.o '\.sk\.plan' 0
fails_with 'magic' "$skdump" changed.o
change changed.o '\.rela\.text' 16 # an addend
fails_with "the dispatcher 'sk_first' " "$skdump" --verify changed.o

cat >use.c <<'END'
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "first.h"
#include "second.h"
#include "skrt.h"

static alignas(64) float x[4096], y[4096], z[4096];
static alignas(64) unsigned char workspace[SK_first_WORKSPACE_sk_first + SK_second_WORKSPACE_sk_second];
static const struct { alignas(64) char bytes[256]; } no_plan = {"This is no plan."};
static alignas(64) char writable[65536];
/* The start of a plan, without the rest. */
static const struct { alignas(64) unsigned magic; unsigned version, abi, machine; unsigned long size, rest[16]; } cut_off = {0x4c504b53, 1, 1, 62, 1ul << 40, {0}};

static void check(int right, const char *what)
{
	if (!right) {
		printf("FAIL: %s: %s\n", what, skrt_error());
		exit(1);
	}
}

static int is_right(float factor)
{
	float sum = 0;
	for (int i = 0; i < 4096; i++) {
		sum += x[i];
		if (y[i] != factor * sum || z[i] != 3.0f * (float)i)
			return 0;
	}
	memset(y, 0, sizeof(y));
	memset(z, 0, sizeof(z));
	return 1;
}

static void run(struct skrt_device *device, const struct sk_plan *plan, float factor)
{
	struct skrt_module *module;
	struct skrt_instance *instance;
	struct skrt_stream *stream;
	const struct skrt_kernel *kernel;
	void *tensors[] = {x, y, z};

	check(!skrt_module_load_linked(device, plan, &module), "load");
	check(!skrt_instance_create(module, &instance) && !skrt_stream_create(device, &stream), "instance");
	for (uint32_t i = 0; i < 3; i++)
		check(!skrt_instance_bind(instance, i, tensors[i], sizeof(x)), "bind");
	for (int i = 0; i < 100; i++) {
		check(!skrt_run_network(stream, instance), "run");
		check(is_right(factor), "the network's results");
	}
	for (uint32_t i = 0; i < skrt_module_task_count(module); i++)
		check(!skrt_module_task(module, i, &kernel) && !skrt_run(stream, instance, kernel), "tasks");
	check(is_right(factor), "the tasks' results");
	check(skrt_module_unload(module) == SKRT_BUSY, "unload too early");
	check(!skrt_stream_destroy(stream) && !skrt_instance_destroy(instance) && !skrt_module_unload(module), "end");
}

static void refuse(struct skrt_device *device, const void *plan, const char *why)
{
	struct skrt_module *module = NULL;
	check(skrt_module_load_linked(device, plan, &module) == SKRT_BAD_PACKAGE && !module, why);
	check(strstr(skrt_error(), why) != NULL, why);
}

int main(void)
{
	for (int i = 0; i < 4096; i++)
		x[i] = (float)(i % 7);
	check(!sk_first_serial((void *const[]){x, y, z}, workspace) && is_right(2), "serial entry of the first");
	check(!sk_second_serial((void *const[]){x, y, z}, workspace) && is_right(5), "serial entry of the second");
	for (uint32_t cores = 1; cores <= 2; cores++) {
		struct skrt_device *device;
		struct skrt_device_options options = {.size = sizeof(options), .cores = cores};

		check(!skrt_device_open(&options, &device), "device");
		run(device, &sk_plan_first, 2);
		run(device, &sk_plan_second, 5);
		memcpy(writable, (const void *)&sk_plan_first, 4096);
		refuse(device, writable, "the plan is writable");
		refuse(device, (const char *)&sk_plan_first + 8, "the plan is not aligned");
		refuse(device, &no_plan, "magic");
		refuse(device, &cut_off, "not lie in a segment");
		refuse(device, &cores, "no loaded object contains the plan");
		check(skrt_module_load_linked(device, NULL, &(struct skrt_module *){0}) == SKRT_INVALID_ARGUMENT, "NULL");
		check(!skrt_device_close(device), "close");
	}
	puts("right");
	return 0;
}
END
$CC -I"$top_srcdir/loader" -O1 -g -c use.c -o use-pie.o -fPIE
$CC -I"$top_srcdir/loader" -O1 -g -c use.c -o use.o -fno-pie
$CC -I"$top_srcdir/loader" -O1 -g -c use.c -o use-pic.o -fPIC
for linker in $linkers; do
	$CC $sanitize -Blinkers/$linker -pie use-pie.o first.o second.o -o use $libskrt
	[ "$(./use)" = right ] || fail "$linker: $(./use)"
	$CC $sanitize -Blinkers/$linker -no-pie use.o first.o second.o -o use $libskrt
	[ "$(./use)" = right ] || fail "$linker, not PIE: $(./use)"
	$CC -Blinkers/$linker -shared -Wl,-z,text -Wl,-z,defs first.o second.o -o libpackages.so -lm
	$CC $sanitize use-pic.o -pie -L. -lpackages -Wl,-rpath,"$dir" -o use $libskrt
	[ "$(./use)" = right ] || fail "$linker, shared: $(./use)"
	# A copy of the plan in the program would be torn from the package: every linker refuses it.
	fails_with 'sk_plan_(first|second)' $CC -Blinkers/$linker use.o -no-pie -L. -lpackages -o copy $libskrt
	! readelf -SW libpackages.so | grep -q 'sk\.report' || fail "$linker keeps what is excluded"
done
# A program that needs one of them does not get the other.
$CC -Wl,--gc-sections -x c - -x none first.o second.o -o one -lm <<-'END'
	int sk_first_serial(void *const *, void *);
	int main(void) { int (*volatile entry)(void *const *, void *) = sk_first_serial; return entry == 0; }
END
nm one | grep -q ' T sk_first_serial$' || fail "the entry is not in the program"
! nm one | grep -q sk_second || fail "what nobody uses stays"
fails_with "multiple definition of .sk_first'" $CC use.o first.o first.o -o use

# ---- two models with the same names of graphs, nodes and values, as exporters make them: the program tells them by the
# names of the objects, or of the packages; symbols of launches without a given name begin with it ----
for name in encoder decoder; do
	"$top_builddir/tests/lib/make-model" $name.onnx <<-END
		input x f32 4x64
		constant factor f32 scalar $([ $name = encoder ] && echo 3 || echo 5)
		node Mul /scale x factor -> scaled
		node Tanh /tanh scaled -> y
		output y f32 4x64
	END
done
# embed SUFFIX OPTION…: both, and a program with both, which runs them.
embed() {
	suffix=$1
	shift
	for name in encoder decoder; do
		"$sklink" $name.onnx -L "$top_builddir/kernels" -lskernels -r "${@//NAME/$name}" -o $name$suffix --header $name.h
		[ "$(nm -g --defined-only $name$suffix | grep -cvE " (sk|sk_plan)_([a-z]*_x3A)?$name(_[a-z_0-9AF-Zx]*)?$")" = 0 ] ||
			fail "$*: $(nm -g --defined-only $name$suffix)"
	done
	$CC $sanitize -I. -I"$top_srcdir/loader" -g models.c encoder$suffix decoder$suffix -o models $libskrt -lm || fail "$*: they are not linked"
	[ "$(./models)" = right ] || fail "$*: $(./models)"
}
cat >models.c <<'END'
#include <math.h>
#include <stdalign.h>
#include <stdio.h>

#include "decoder.h"
#include "encoder.h"
#include "skrt.h"

static alignas(64) float x[256], y[256];

static int run(struct skrt_device *device, const struct sk_plan *plan, float factor)
{
	struct skrt_module *module;
	struct skrt_instance *instance;
	struct skrt_stream *stream;
	int right = !skrt_module_load_linked(device, plan, &module) && !skrt_instance_create(module, &instance) &&
		    !skrt_instance_bind(instance, 0, x, sizeof(x)) && !skrt_instance_bind(instance, 1, y, sizeof(y)) &&
		    !skrt_stream_create(device, &stream) && !skrt_run_network(stream, instance);

	for (int i = 0; i < 256; i++)
		right &= fabsf(y[i] - tanhf(factor * x[i])) < 1e-5f;
	return right && !skrt_stream_destroy(stream) && !skrt_instance_destroy(instance) && !skrt_module_unload(module);
}

int main(void)
{
	struct skrt_device *device;

	for (int i = 0; i < 256; i++)
		x[i] = (float)i / 1024;
	puts(!skrt_device_open(NULL, &device) && run(device, &sk_plan_encoder, 3) && run(device, &sk_plan_decoder, 5) &&
	     !skrt_device_close(device) ? "right" : "wrong");
}
END
embed .o
embed .v2 --soname NAME.sk.2 --no-pattern-fusion
embed .sk.o --soname NAME --scope NAME_part=/scale # a scope, and a task by itself
# Files that are loaded do not depend on their names; their headers do, and a program includes both.
for name in encoder decoder; do
	"$sklink" $name.onnx -L "$top_builddir/kernels" -lskernels -o $name.sk --header $name.h --embed
	"$sklink" $name.onnx -L "$top_builddir/kernels" -lskernels -o other.sk
	cmp $name.sk other.sk || fail "$name.sk depends on where it is written"
done
printf '#define SK_%s_IMPLEMENTATION\n#include "%s.h"\n' encoder encoder decoder decoder >bytes.c
$CC -I. -Wall -Werror -c bytes.c -o bytes.o

# ---- the command line ----
fails_with 'unknown option .--relocateable.; did you mean .--relocatable.' "$sklink" first.yaml simple.o --relocateable -o bad.o
fails_with 'is also an input' "$sklink" first.yaml simple.o -r -o simple.o
