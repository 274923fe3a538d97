# Names that linkers define: the image's start and end, the ends of its parts, its tables of constructors, _DYNAMIC and
# __dso_handle. Their places are those of GNU ld in a shared object.
. "$top_srcdir/tests/lib/lib.sh"
use_images -fdata-sections

# Each function gives a distance that does not depend on what else the linkers put into the image.
source marks <<'END'
#include <elf.h>
#define HIDDEN __attribute__((visibility("hidden")))
extern HIDDEN char __ehdr_start[], etext[], _etext[], __etext[], edata[], _edata[], end[], _end[],
	__bss_start[];
extern HIDDEN Elf64_Dyn _DYNAMIC[];
long data = 5;
long zero[4];
long start(void) { return *(int *)__ehdr_start == 0x464c457f && ((Elf64_Ehdr *)__ehdr_start)->e_type == ET_DYN; }
long same(void) { return edata == _edata && end == _end && etext == _etext && etext == __etext; }
long to_data(void) { return edata - (char *)&data; }
long to_zero(void) { return __bss_start - (char *)zero; }
long to_end(void) { return end - (char *)zero; }
long text(void) { return etext > (char *)text && etext < (char *)_DYNAMIC && etext - __ehdr_start < 1 << 20; }
long dynamic(void)
{
	long hash = 0;
	for (Elf64_Dyn *tag = _DYNAMIC; tag->d_tag; tag++)
		hash |= tag->d_tag == DT_SYMTAB;
	return hash;
}
END
echo 'extern char __executable_start[], __ehdr_start[]; long header(void) { return __executable_start == __ehdr_start; }' |
	source header # lld defines both
ld -shared -o gnu.so marks.o
functions="start same to_data to_end text dynamic"
# shellcheck disable=SC2086
./run ./gnu.so $functions >expected.txt
grep -qx 'to_end=32' expected.txt || { cat expected.txt; fail "GNU ld"; }
ours() { # ARGUMENT…: all functions, of an image of the objects
	"$driver" -o out.so $(for f in $functions header to_zero; do echo "--export x_$f=$f"; done) header.o "$@" >lines.txt || fail "cannot link $*"
	# shellcheck disable=SC2086
	./run ./out.so $(for f in $functions; do echo x_$f; done) | sed "s/^x_//" | diff expected.txt - || fail "other places than GNU ld's: $*"
	[ "$(./run ./out.so x_header x_to_zero | tr "\n" " ")" = "x_header=1 x_to_zero=0 " ] || fail "lld has other places: $*"
}
ours marks.o
ours marks.o --icf all
ours marks.o --isolate-objects
ours marks.o --no-gc-sections

# Addresses in memory, and by a slot of the GOT.
source words <<'END'
extern char _end[], __ehdr_start[], _edata[], __bss_start[], __init_array_start[] __attribute__((weak)),
	__init_array_end[], __fini_array_start[], __fini_array_end[], __preinit_array_start[], __preinit_array_end[];
char *words[] = {__ehdr_start, _edata, __bss_start, _end};
long ordered(void) { return words[0] < words[1] && words[1] <= words[2] && words[2] <= words[3] &&
	words[0] == __ehdr_start && words[3] == _end; }
long constructors(void) { return (__init_array_end - __init_array_start) / 8; }
long destructors(void) { return (__fini_array_end - __fini_array_start) / 8; }
long before(void) { return __preinit_array_end - __preinit_array_start; }
END
gives 1 ordered words.o
gives 0 constructors words.o
gives 0 before words.o
cat >constructed.c <<'END'
volatile long ran; /* or clang runs them while it compiles */
__attribute__((constructor)) static void first(void) { ran++; }
__attribute__((constructor(200))) static void second(void) { ran++; }
__attribute__((destructor)) static void last(void) { ran--; }
END
$KERNEL_CC -O1 -fPIC -c constructed.c
gives 2 constructors words.o constructed.o -u ran
gives 1 destructors words.o constructed.o -u ran

# The objects' own definitions count, and so do assignments; archives are searched for them.
echo 'extern long end; long own(void) { return end; }' | source own
echo 'long end = 7;' | source definer
echo 'long other = 8;' | source other
ar qc libdefiner.a definer.o
gives 7 own own.o definer.o
gives 7 own own.o libdefiner.a
gives 7 own own.o definer.o --isolate-objects
gives 8 own own.o other.o --defsym end=other
printf '__attribute__((weak)) long end = 9; long weak(void) { return end; }' | source weak
gives 9 weak weak.o
echo 'extern char image_start[]; long assigned(void) { return *(int *)image_start == 0x464c457f; }' | source assigned
gives 1 assigned assigned.o --defsym image_start=__ehdr_start
fails_with 'undefined symbol: __data_start; linkers define it in programs only' "$driver" -o out.so --export x=f \
	"$(echo 'extern char __data_start[]; long f(void) { return (long)__data_start; }' | source script; echo script.o)"

# With -r they stay undefined.
"$driver" --relocatable -o joined.o --export x_ordered=ordered words.o
nm -u joined.o | grep -q ' U _end$' || { nm joined.o; fail "-r defines _end"; }
ld -shared -o joined.so joined.o
[ "$(./run ./joined.so x_ordered)" = x_ordered=1 ] || fail "-r"

# Exported by a version script.
echo '{ global: _end; __ehdr_start; local: *; };' >script
gives 1 ordered words.o --version-script script
readelf --dyn-syms -W out.so | grep -q 'NOTYPE .* _end$' || { readelf --dyn-syms -W out.so; fail "no export"; }

# A weak reference to __dso_handle finds it: code that registers destructors goes by it.
source handle <<'END'
extern void *__dso_handle __attribute__((weak, visibility("default")));
int __cxa_atexit(void (*)(void *), void *, void *);
long value;
static void destroy(void *value) { *(long *)value = 1; }
long handle(void) { return &__dso_handle && __dso_handle == &__dso_handle && !__cxa_atexit(destroy, &value, &__dso_handle); }
END
gives 1 handle handle.o # the process ends well
readelf -dW out.so | grep -q 'FINI_ARRAYSZ' || fail "nothing finalises"

# In a package, with constants after the data: at run time and in the proof.
cat >kernel.c <<'C'
#include "skkernel.h"
extern char _end[], __ehdr_start[], __bss_start[];
char *const bounds[] = {__ehdr_start, __bss_start, _end};
void place(const float *x, const float *w, float *y, long n)
{
	for (long i = 0; i < n; i++)
		y[i] = x[i] * 2 + (bounds[0] < (char *)place && (char *)w >= bounds[1] && (char *)(w + n) <= bounds[2] ? w[i] : 100);
}
SK_KERNEL(place, "in x f32[n], in w f32[n], out y f32[n], n i64");
C
compile kernel
cat >model.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [4]}
  w: {dtype: f32, shape: [4], fill: 0.5}
  y: {dtype: f32, shape: [4]}
tasks:
  - {name: t, kernel: place, args: [x, w, y], scope: all}
M
"$sklink" model.yaml kernel.o -o model.sk
proved model.sk
{
	printf '\223NUMPY\001\000v\000%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }"
	printf '\0\0\200\77\0\0\200\77\0\0\200\77\0\0\200\77'
} >x.npy
"$skrun" model.sk --input x=x.npy --output y=y.npy --verify >ran.txt || { cat ran.txt; fail "the package"; }
[ "$(tail -c 16 y.npy | od -An -tf4 | tr -s ' ')" = ' 2.5 2.5 2.5 2.5' ] || fail "constants outside of the image"
"$sklink" model.yaml kernel.o --weights=model.weights -o model.sk
proved model.sk
"$skrun" model.sk --input x=x.npy --output y=y.npy >ran.txt || { cat ran.txt; fail "weights beside the package"; }
[ "$(tail -c 16 y.npy | od -An -tf4 | tr -s ' ')" = ' 2.5 2.5 2.5 2.5' ] || fail "weights outside of the image"
