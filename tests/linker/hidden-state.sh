#!/bin/bash
# Hidden state is found however a kernel reaches it: by any kind of name, through tables and objects, in any section, in
# objects that were linked before. A split kernel that reaches it is refused; one that reaches only read-only data is
# not.
. "$top_srcdir/tests/lib/lib.sh"
KERNEL_CFLAGS="$KERNEL_CFLAGS -ffunction-sections -fdata-sections -fcommon"
cat >model.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [1000]}
  y: {dtype: f32, shape: [1000]}
tasks:
  - {name: T, kernel: k, args: [x, y]}
M

# kernel NAME STATEMENT: NAME.o has k, which does that and copies; its declarations come before, from standard input.
kernel() {
	{
		echo '#include "skkernel.h"'
		cat
		echo "void k(const float *x, float *y, long n) { $2; for (long i = 0; i < n; i++) y[i] = x[i]; }"
		echo 'SK_KERNEL(k, "split=n; in x f32[n], out y f32[n], n i64");'
	} >"$1.c"
	compile "$1"
}
has_state() { fails_with "^sklink: error: model.yaml:6:23: kernel 'k' has hidden state" "$sklink" model.yaml "$@" -o \
	k.sk; }
has_none() { "$sklink" model.yaml "$@" -o k.sk; }

echo 'int state = 1; extern int other __attribute__((alias("state"))); int rand(void); int wrapped(void) { return rand(); }' >other.c && compile other
echo 'static int state; __attribute__((visibility("hidden"))) void change(void) { state++; }' >change.c &&
	compile change
echo 'int chosen(void) { return 4; }' >chosen.c && compile chosen

# Names.
kernel alias 'other++' <<<'extern int other;'
has_state alias.o other.o
objcopy --localize-symbol=state other.o local.o
has_state alias.o local.o
echo 'int far = 1;' >far.c && compile far
has_state alias.o far.o --defsym other=far
kernel weak 'if (&state) state++' <<<'extern int state __attribute__((weak));'
has_state weak.o other.o
has_none weak.o
kernel common 'common++' <<<'int common;'
has_state common.o
kernel inside 'inside++' <<<'int words[64] = {1}; __asm__(".globl inside\n.set inside, words + 16"); extern int inside;'
has_state inside.o
kernel bounds 'for (int *p = __start_mine; p < __stop_mine; p++) ++*p' \
	<<<'__attribute__((section("mine"), used)) int one = 4; extern int __start_mine[], __stop_mine[];'
has_state bounds.o

# Ways.
kernel table 'table[n & 1](3)' <<'C'
static int state;
static void change(int by) { state += by; }
static void keep(int by) { __asm__ volatile("" : : "r"(by)); }
static void (*const table[])(int) = {keep, change};
C
has_state table.o
kernel constants 'y[0] = table[n & 1](3)' <<'C'
static int more(int x) { return x + 1; }
static int twice(int x) { return 2 * x; }
static int (*const table[])(int) = {more, twice};
C
has_none constants.o
kernel object 'object->methods->change(object)' <<'C'
struct object { const struct methods *methods; int state; };
struct methods { void (*change)(struct object *); };
static void change(struct object *object) { object->state++; }
static const struct methods methods = {change};
static struct object only = {&methods};
struct object *const object = &only;
C
has_state object.o
kernel distance 'long at = (long)distance + *distance; __asm__("" : "+r"(at)); ++*(int *)at' <<'C'
__asm__(".section .rodata.d,\"a\"\ndistance: .quad state - distance\n.section .bss.s,\"aw\",@nobits\nstate: .zero 4\n.text");
extern const long distance[] __attribute__((visibility("hidden")));
C
has_state distance.o
kernel chooses 'y[0] = picked()' <<'C'
static int state;
static int change(void) { return ++state; }
static void *choose(void) { return change; }
int picked(void) __attribute__((ifunc("choose")));
C
has_state chooses.o
kernel jump 'jump()' <<'C'
__asm__(".section .text.jump,\"ax\",@progbits\njump: jmp change\n.text");
void jump(void) __attribute__((visibility("hidden")));
C
has_state jump.o change.o

# Objects that were linked before, and renamed sections.
for ld in "ld -r" "ld -r --gc-sections -u k"; do
	$ld -o joined.o jump.o change.o
	has_state joined.o
done
objcopy --prefix-alloc-sections=.mine table.o renamed.o
has_state renamed.o

# The C library's: by a wrapper in an archive, by other names; and not where the name means something else.
kernel draws 'y[0] = rand()' <<<'int rand(void);'
kernel wraps 'y[0] = wrapped()' <<<'int wrapped(void);'
kernel real 'y[0] = __real_rand()' <<<'int __real_rand(void);'
ar rc libother.a other.o
ar rc libchosen.a chosen.o
has_state draws.o
has_state wraps.o libother.a
has_state wraps.o --defsym wrapped=rand
has_state real.o --wrap=rand
has_none draws.o libchosen.a --defsym rand=chosen
