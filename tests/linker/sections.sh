# Sections with a meaning of their own: ranges that code walks over, constructors, retained sections, sections that
# exist once; more of them than fit into 16 bits; and the symbols and archives that come with such objects.
. "$top_srcdir/tests/lib/lib.sh"
use_images -fdata-sections
has() { readelf -aW out.so 2>/dev/null | grep -qE -- "$1" || fail "readelf does not show: $1"; }
has_not() {
	if readelf -aW out.so 2>/dev/null | grep -E -- "$1"; then fail "readelf shows: $1"; fi
}

# ---- __start_ and __stop_ ----
source walk <<'END'
struct item { long value; };
extern const struct item __start_items[], __stop_items[];
long walk(void)
{
	long sum = 0;
	for (const struct item *i = __start_items; i < __stop_items; i++)
		sum = sum * 10 + i->value;
	return sum;
}
long idle(void) { return 5; }
END
echo 'static const struct { long value; } item __attribute__((section("items"), used)) = {1}; long one(void) { return 1; }' | source item1
echo 'static const struct { long value; } item __attribute__((section("items"), used)) = {2}; long two(void) { return 2; }' | source item2
echo 'struct { long value; } item __attribute__((section("items"), used)) = {3}; long three(void) { return 3; }' |
	source writable
echo 'extern int e; static int *p __attribute__((section("items"), used)) = (int *)7; int e;' | source pointer
gives 1 walk walk.o item1.o
gives 12 walk walk.o item1.o item2.o # whole sections stay, though nothing else reaches their objects
gives 21 walk item2.o walk.o item1.o
gives 123 walk walk.o item1.o item2.o writable.o # in one output section, though one of them is writable
[ "$(readelf -SW out.so | grep -c ' items ')" = 1 ] || fail "the range is torn"
gives 127 walk walk.o item1.o item2.o pointer.o
gives 5 idle walk.o item1.o item2.o
has_not ' items ' # nothing refers to the bounds
ar qc libitems.a item1.o item2.o
fails_with 'undefined symbol: __start_items' "$driver" -o out.so --export x=walk walk.o libitems.a
gives 1 walk walk.o -u one libitems.a # of archives, those members that are pulled
gives 12 walk walk.o --whole-archive libitems.a
[ "$("$driver" --state walk walk.o item1.o writable.o | grep -c 'items in writable.o')" = 1 ] ||
	fail "state through a range"
echo 'extern const char __start_nothing[], __stop_nothing[]; extern __attribute__((weak)) const char __start_weak[];
	long f(void) { return __stop_nothing - __start_nothing; } long w(void) { return __start_weak == 0; }' |
		source nothing
fails_with 'undefined symbol: __st(art|op)_nothing' "$driver" -o out.so --export x=f nothing.o
gives 1 w nothing.o
printf '.data\n.globl __start_items,__stop_items\n__start_items: .quad 9\n__stop_items:\n' | as -o own.o
gives 9 walk walk.o own.o item1.o # the objects' own symbols count
printf '.section items,"ax"\n.globl code\n.type code,@function\ncode: ret\n' | as -o code.o
fails_with 'code.o:\(items\+0x0\): the section is code in one object and data in another' \
	"$driver" -o out.so --export x=walk walk.o item1.o code.o

# ---- constructors, in the order of GNU ld ----
source order <<'END'
long order;
#define F(n) static void f##n(void) { order = order * 10 + n; }
F(1) F(2) F(3) F(4) F(5)
#define A(n, name) static void (*const a##n)(void) __attribute__((section(name), used)) = f##n
long get(void) { return order; }
A(1, ".init_array"); A(2, ".init_array.00900"); A(3, ".init_array.101"); A(4, ".init_array.65535"); A(5, ".init_array.1000");
END
ld -shared -o gnu.so order.o
gives "$(./run ./gnu.so get | sed 's/.*=//')" get order.o
[ "$(./run ./out.so get_)" = get_=32541 ] || fail "the order: $(./run ./out.so get_)"
sed 's/\.init_array/.Init_array/g' order.c | source typeless
LC_ALL=C sed 's/\.Init_array/.init_array/g' typeless.o >old.o
readelf -SW old.o | grep -q ' \.init_array\.101 *PROGBITS' || fail "the object is not what it should be"
gives 32541 get old.o # by name, with any type that old assemblers gave
has 'INIT_ARRAYSZ\) +40 '
printf '.section oddly_named,"aw",@init_array\n.quad odd\n.text\nodd: mov order@GOTPCREL(%%rip),%%rax\naddq $1000000,(%%rax)\nret\n.globl o\n.type o,@function\no: mov order@GOTPCREL(%%rip),%%rax\nmov (%%rax),%%rax\nret\n' |
	as -o odd.o
gives 1032541 o order.o -u get odd.o
has 'INIT_ARRAYSZ\) +48 '
[ "$(readelf -dW out.so | grep -c 'INIT_ARRAY)')" = 1 ] || fail "two arrays of constructors"
printf '.section .init_array_of_mine,"aw",@progbits\n.quad 0\n.text\n.globl o\n.type o,@function\no: mov .init_array_of_mine(%%rip),%%rax\nret\n' | as -o mine.o
gives 0 o mine.o
has_not 'INIT_ARRAY'

# ---- retained ----
printf '.section .rodata.kept,"aR",@progbits\nkept_one: .quad 1\n.section .rodata.str1.1,"aMSR",@progbits,1\n.string "kept string"\n.section .rodata.gone,"a",@progbits\n.globl gone\ngone: .quad 2\n' |
	as -o retain.o
gives 5 idle walk.o item1.o retain.o
readelf -p .rodata.str1 out.so | grep -q 'kept string' || fail "SHF_GNU_RETAIN does not keep strings"
has_not ' gone$'
has ' \.rodata +PROGBITS .* 000008 '

# ---- once ----
for i in 1 2; do
	sed "s/NUMBER/$i/" >once.s <<'END'
	.section .gnu.linkonce.t.shared, "ax", @progbits
	.weak shared
	.type shared, @function
shared:	mov $NUMBER, %eax
	add .L(%rip), %eax
	ret
	.section .gnu.linkonce.r.shared, "a", @progbits
.L:	.long 10 * NUMBER
	.section .text.user, "ax", @progbits
	.globl userNUMBER
	.type userNUMBER, @function
userNUMBER: jmp shared
END
	as once.s -o once$i.o
done
gives 11 user1 once1.o once2.o
gives 11 user2 once1.o once2.o
gives 22 user1 once2.o once1.o
[ "$(nm out.so | grep -c ' shared$')" = 1 ] || fail "a linkonce section is there twice"
has_not 'linkonce'

for i in 1 2; do
	printf '.section .data.unique,"awG",@progbits,unique,comdat\n.globl unique\n.type unique,@gnu_unique_object\n.size unique,8\nunique: .quad %s\n.text\n.globl get%s\n.type get%s,@function\nget%s: mov unique@GOTPCREL(%%rip),%%rax\nmov (%%rax),%%rax\nret\n' 4$i $i $i $i |
		as -o unique$i.o
done
gives 41 get2 unique1.o unique2.o
gives 42 get1 unique2.o unique1.o
[ "$(nm out.so | grep -c ' unique$')" = 1 ] || fail "a unique object is there twice"

# ---- absolute and protected symbols ----
printf '.globl answer,answer_small\n.set answer,0x123456789\n.set answer_small,7\n' | as -o absolute.o
cat >use_absolute.s <<'END'
	.globl user
	.type user, @function
user:	mov answer@GOTPCREL(%rip), %rax
	cmp %rax, pointer(%rip)
	jne 1f
	add $answer_small, %rax
1:	ret
	.data
pointer: .quad answer
	.section .note.GNU-stack, "", @progbits
END
as use_absolute.s -o use_absolute.o
gives $((0x123456789 + 7)) user use_absolute.o absolute.o
has '0000000123456789 +0 NOTYPE +LOCAL +DEFAULT +ABS answer$'
has_not 'R_X86_64_RELATIVE' # they do not move with the image
printf '.globl f\n.type f,@function\nf: call answer\nret\n' | as -o call.o
fails_with "R_X86_64_PLT32 against 'answer' needs the distance to a place in the package, but the symbol is a plain number" "$driver" -o out2.so --export x=f call.o absolute.o

for visibility in hidden protected internal; do
	printf ".globl f\n.type f,@function\nf: call sqrt\nret\n.$visibility sqrt\n" | as -o $visibility.o
	fails_with 'undefined symbol: sqrt; it is declared hidden' "$driver" -o out2.so --export x=f $visibility.o
	printf ".globl f\n.type f,@function\nf: mov sqrt@GOTPCREL(%%rip),%%rax\nret\n.weak sqrt\n.$visibility sqrt\n" \
		| as -o $visibility.o
	gives 0 f $visibility.o
done
printf '.globl p,g\n.protected p\n.type p,@function\np: mov $3,%%eax\nret\n.type g,@function\ng: mov p@GOTPCREL(%%rip),%%rax\njmp *%%rax\n' | as -o protected.o
gives 3 g protected.o

# ---- more than 65,000 sections ----
awk 'BEGIN {
	for (i = 0; i < 70000; i++)
		printf ".section .text.f%d,\"ax\",@progbits\n.globl f%d\n.type f%d,@function\nf%d: mov $%d,%%eax\nret\n.size f%d,.-f%d\n", i, i, i, i, i, i, i
	print ".section .text.all,\"ax\",@progbits\n.globl all\n.type all,@function\nall:\n push %rbx\n xor %ebx,%ebx"
	for (i = 0; i < 70000; i += 9999) printf " call f%d\n add %%rax,%%rbx\n", i
	print " mov %rbx,%rax\n pop %rbx\n ret"
}' >many.s
as many.s -o many.o
readelf -hW many.o | grep -q 'Number of section headers: *0 (7' || fail "the object is not what it should be"
gives $((9999 * 28)) all many.o # 9999 * (0 + 1 + ... + 7)
has ' f69993$'
has_not ' f69994$'
[ "$(nm out.so | grep -cE ' t f[0-9]+$')" = 8 ] || fail "the symbols of far sections"

# ---- thin archives, -l:name ----
echo 'long c(void); long b(void) { return c() * 2; }' | source b
echo 'long c(void) { return 7; }' | source c
mkdir -p folder/deeper elsewhere
cp b.o "folder/deeper/a member whose name is long.o"
cp c.o elsewhere/c.o
(cd folder && ar qcT libthin.a "deeper/a member whose name is long.o" ../elsewhere/c.o)
gives 14 b folder/libthin.a
gives 14 b "$dir/folder/libthin.a"
gives 14 b -L folder -l thin
gives 14 b -L elsewhere -L folder -l :libthin.a
gives 7 c -L elsewhere -l :c.o
fails_with 'library -l:nothing.o: there is no nothing.o on the search paths' "$driver" -o out2.so -L elsewhere -l \
	:nothing.o
fails_with 'duplicate symbol: c' "$driver" -o out2.so --export x=c --whole-archive folder/libthin.a c.o
grep -q 'folder/libthin.a(../elsewhere/c.o):(.text.c+0x0)' err.txt || fail "the member is not shown: $(cat err.txt)"
rm elsewhere/c.o
fails_with 'folder/../elsewhere/c.o: No such file or directory' "$driver" -o out2.so --export x=b folder/libthin.a
grep -q '^>>> it is a member of the thin archive folder/libthin.a' err.txt || fail "the archive is not shown"
mkdir elsewhere/c.o
fails_with 'folder/../elsewhere/c.o: is not a regular file' "$driver" -o out2.so --export x=b folder/libthin.a
rmdir elsewhere/c.o
head -c 100 c.o >elsewhere/c.o
fails_with 'libthin.a\(../elsewhere/c.o\): the section headers are missing' "$driver" -o out2.so --export x=b \
	folder/libthin.a
[ ! -e out2.so ] || fail "an output file in spite of the errors"
