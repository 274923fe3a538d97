# Constructors and destructors: those of every object that takes part run if they set data that is used, as in GNU ld
# and lld. The same objects, divided at random among command line, archives and whole archives, are linked with all
# three linkers, and the functions that run are compared. Then the effects of constructors: errors, instruction sets,
# hidden state.
. "$top_srcdir/tests/lib/lib.sh"
driver=$top_builddir/tests/linker/link-driver

kernel_object() { # NAME, C on standard input
	cat >"$1.c"
	$KERNEL_CC -O2 -fPIC -fvisibility=hidden -ffunction-sections -fdata-sections -include trace.h -c "$1.c" -o \
		"$1.o"
}
cat >trace.h <<'END'
void note(char letter);
#define RUNS(letter, when) __attribute__((when)) static void when##_##letter(void) { note(#letter[0]); }
END
kernel_object base <<'END'
static char own[256];
static char *where = own;
static int count;
void note(char letter) { where[count++] = letter; }
/* The caller gets the constructors' letters; those of destructors follow. */
__attribute__((visibility("default"))) void watch(char *buffer)
{
	for (int i = 0; i < count; i++)
		buffer[i] = own[i];
	where = buffer;
}
END
kernel_object a <<'END'
RUNS(a, constructor)
void fc(void); void fe(void) __attribute__((weak)); int table_c[4];
void unreached_a(void) { fc(); if (fe) fe(); }
END
echo 'void fd(void); void fb(void) {} __attribute__((constructor(200))) static void b(void) { note(98); fd(); }' |
	kernel_object b
echo 'extern int fj[]; RUNS(c, destructor) void fc(void) { fj[0]++; }' | kernel_object c
echo '__attribute__((constructor(101))) static void d(void) { note(100); } void fd(void) { note(68); }' |
	kernel_object d
echo 'RUNS(e, destructor) RUNS(E, constructor) void fe(void) {}' | kernel_object e
for name in g h; do # of both only one group counts
	cat >$name.s <<-END
		.section .text.grouped,"axG",@progbits,grouped,comdat
		.weak grouped
		.hidden grouped
		.type grouped,@function
		grouped: mov \$'g', %edi
		jmp note@PLT
		.section .init_array,"awG",@init_array,grouped,comdat
		.quad grouped
	END
	as --noexecstack $name.s -o $name.o
done
sed 's/[.]init_array,.*/.Init_array.00300,"aw",@progbits/; s/grouped/typeless/g' g.s |
	sed "/[.]text/s/.*/.section .text.typeless,\"ax\"/; s/'g'/'i'/" >i.s
as --noexecstack i.s -o i.o
LC_ALL=C sed 's/[.]Init_array/.init_array/g' i.o >typeless.o && mv typeless.o i.o
readelf -SW i.o | grep -q ' [.]init_array[.]00300 *PROGBITS' || fail "the object is not what it should be"
echo 'int fj[3]; RUNS(j, constructor)' | kernel_object j
echo 'int nobody_needs_it;' | kernel_object k

cat >run.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	char said[256] = "";
	void *image = argc == 2 ? dlopen(argv[1], RTLD_NOW) : 0;
	void (*watch)(char *) = image ? (void (*)(char *))dlsym(image, "watch_") : 0;
	if (image && !watch)
		watch = (void (*)(char *))dlsym(image, "watch");
	if (!watch)
		return fprintf(stderr, "%s\n", dlerror()), 1;
	watch(said);
	dlclose(image);
	return puts(said) < 0;
}
END
$KERNEL_CC -O1 run.c -o run -ldl

runs() { # IMAGE: the letters of the functions that have run, sorted
	./run "./$1" | fold -w1 | sort | tr -d '\n'
}
compared=0 different=
for seed in $(seq "${CONSTRUCTOR_CASES:-40}"); do
	# shellcheck disable=SC2046
	set -- $(awk -v seed="$seed" 'BEGIN {
		srand(seed)
		split("a b c d e g h i j k", names)
		split("objects archive other whole nowhere", places)
		for (n = 1; n in names; n++)
			print names[n] ".o:" places[int(rand() * 5) + 1]
	}')
	at() { printf '%s\n' "$@" | sed -n "s/:$place\$//p"; }
	rm -f ./*.a
	for place in archive other whole; do
		# shellcheck disable=SC2046
		ar rcs $place.a $(at "$@")
	done
	place=objects
	objects="base.o $(at "$@" | tr '\n' ' ')"
	if ! "$driver" -o ours.so --export watch_=watch $objects --whole-archive whole.a --no-whole-archive archive.a \
		other.a 2>err.txt; then
		grep -q 'undefined symbol' err.txt || { cat err.txt >&2; fail "case $seed"; }
		continue # something that is needed is nowhere
	fi
	ours=$(runs ours.so)
	for linker in ld ld.lld; do
		command -v $linker >/dev/null || continue
		$linker -shared --gc-sections -o theirs.so $objects --whole-archive whole.a --no-whole-archive \
			--start-group archive.a other.a --end-group
		theirs=$(runs theirs.so)
		[ "$ours" = "$theirs" ] || fail "case $seed: '$ours' has run; with $linker '$theirs': $*"
	done
	"$driver" --relocatable -o ours.o --export watch_=watch $objects --whole-archive whole.a --no-whole-archive \
		archive.a other.a
	ld -shared -o through.so ours.o
	[ "$(runs through.so)" = "$ours" ] || fail "case $seed: through -r '$(runs through.so)', not '$ours'"
	compared=$((compared + 1))
	different="$different $ours"
done
[ "$compared" -ge 10 ] && [ "$(echo $different | tr ' ' '\n' | sort -u | wc -l)" -ge 8 ] ||
	fail "$compared cases: $different"

# ---- errors in functions that only a constructor reaches ----
echo 'void nowhere(void); __attribute__((constructor)) static void f(void) { nowhere(); }' | kernel_object lost
fails_with 'reached from a constructor or destructor, which runs with the package' "$driver" -o out.so --export \
	watch_=watch base.o lost.o
grep -q 'undefined symbol: nowhere' err.txt || fail "what is missing"
printf '.section .init,"ax"\nnop\n' | as -o init.o
fails_with 'init.o.*section [.]init would never run; use __attribute__\(\(constructor\)\)' "$driver" -o out.so \
	--export watch_=watch base.o init.o

# ---- hidden state ----
# A constructor, or a function, can leave the address of one state in another: both are one.
kernel_object states <<'END'
int *where, buffer[4], other[4];
int reader(void) { return *where; }
void writer(int x) { buffer[0] = x; }
int *apart(void) { return other; }
END
echo 'extern int *where, buffer[]; __attribute__((constructor)) static void f(void) { where = buffer; }' |
	kernel_object leaves
echo 'extern int *where, buffer[]; void setter(void) { where = buffer; }' | kernel_object sets
states() { # INPUT…: the numbers of the states of reader, writer, apart
	"$driver" -o out.so --export watch_=watch --join-states --state reader --state writer --state apart base.o \
		states.o "$@" |
		sed -n 's/.*: \([0-9]*\): .*/\1/p' | tr '\n' ' '
}
[ "$(states)" = '0 1 2 ' ] || fail "states that nobody joins: $(states)"
[ "$(states leaves.o)" = '0 0 1 ' ] || fail "states that a constructor joins: $(states leaves.o)"
[ "$(states sets.o)" = '0 1 2 ' ] || fail "a function that nobody asks about: $(states sets.o)"
[ "$(states sets.o --state setter)" = '0 0 1 0 ' ] || fail "states that a kernel joins: $(states sets.o --state setter)"

# ---- a whole package ----
# prepare.o is there for its constructor only, which lets two kernels share state that only one of them names.
cat >kernels.c <<'END'
#include "skkernel.h"
long *shared, mine[4];
void adds(const float *x, float *y, int64_t n)
{
	*shared += n;
	for (int64_t i = 0; i < n; i++)
		y[i] = (float)*shared + 0 * x[i];
}
SK_KERNEL(adds, "in x f32[n], out y f32[n], n i64");
void doubles(const float *x, float *y, int64_t n)
{
	mine[0] *= 2;
	for (int64_t i = 0; i < n; i++)
		y[i] = (float)mine[0] + 0 * x[i];
}
SK_KERNEL(doubles, "in x f32[n], out y f32[n], n i64");
END
$KERNEL_CC $KERNEL_CFLAGS -ffunction-sections -fdata-sections -I"$top_srcdir/format" -c kernels.c -o kernels.o
echo 'extern long *shared, mine[]; __attribute__((constructor)) static void prepare(void) { shared = mine; mine[0] = 20; }' >prepare.c
compile prepare
ar rcs libprepare.a prepare.o
{
	printf 'sklink: 1\ntensors:\n'
	tensors '[8]' x y z
	cat <<-M
		tasks:
		  - {name: first, kernel: adds, stream: 0, scope: s, args: [x, y]}
		  - {name: second, kernel: doubles, stream: 1, scope: s, args: [x, z]}
	M
} >model.yaml
value() { # FILE: the first of its floats
	od -An -tf4 -j128 -N4 "$1" | tr -d ' '
}
for inputs in prepare.o '--whole-archive libprepare.a'; do
	"$sklink" model.yaml kernels.o $inputs -o model.sk
	"$skdump" --explain second model.sk | grep -q 'first' || { "$skdump" --explain second model.sk;
		fail "nothing orders what shares a state"; }
	"$skrun" model.sk --random 1 --cores 2 --output y=y.npy --output z=z.npy >/dev/null
	[ "$(value y.npy) $(value z.npy)" = '28 56' ] || fail "the results of $inputs: $(value y.npy) $(value z.npy)"
done
"$sklink" model.yaml kernels.o libprepare.a -o model.sk # nothing pulls it
fails_with 'SIGSEGV' "$skrun" model.sk --random 1

# ---- constructors that nothing needs ----
# Their data is volatile: clang runs the others while it compiles.
# left_out COUNT ARGUMENT…: the image of base.o, kernels of left.c and the arguments leaves out that many tables.
cat >left.c <<'END'
long table[4], other[4];
long kernel(long x) { return table[x & 3]; }
long apart(void) { return other[0]; }
END
$KERNEL_CC -O1 -fPIC -ffunction-sections -fdata-sections -c left.c -o left.o
left_out() {
	count=$1
	shift
	"$driver" -o left.so --map left.map --export kernel_=kernel left.o "$@" 2>err.txt || { cat err.txt >&2; fail "$*"; }
	[ "$(grep -c ': left out, as no kernel reaches its data$' left.map)" = $count ] || { tail -3 left.map >&2; fail "not $count: $*"; }
	tables=$(readelf -SW left.so | grep -cE ' \.(init|fini)_array ') || true
	[ ! -s err.txt ] || [ "${warned-}" ] || { cat err.txt >&2; fail "warnings: $*"; }
}
made() { # NAME, C on standard input
	cat >$1.c
	$KERNEL_CC -O1 -fPIC -ffunction-sections -fdata-sections -c $1.c -o $1.o
}
echo 'extern volatile long table[]; __attribute__((constructor)) static void f(void) { table[1] = 5; }' | made fills
echo 'volatile long own; __attribute__((constructor)) static void f(void) { own = 5; }' | made alone
echo 'static volatile long counted; __attribute__((destructor)) static void f(void) { counted++; }' | made ends
echo 'void srand(unsigned); static volatile long own; __attribute__((constructor)) static void f(void) { own = 5; srand(7); }' | made seeds
echo '__attribute__((constructor)) static void f(void) { __asm__ volatile("fninit"); }' | made register
echo 'extern volatile long own, table[]; __attribute__((constructor)) static void f(void) { table[0] = (long)&own; }' | made leads
echo 'void nowhere(void); static volatile long own; __attribute__((constructor)) static void f(void) { own = 1; nowhere(); }' | made lacks
echo 'long *get(void) { static long values[4]; return values; } long look(void) { return *get(); }' | made registry
echo 'long *get(void); __attribute__((constructor)) static void f(void) { *get() = 1; }' | made registers
left_out 0 fills.o
[ $tables = 1 ] || fail "a table that is needed"
left_out 1 alone.o
[ $tables = 0 ] || fail "a table that nothing needs"
left_out 1 ends.o
left_out 0 seeds.o
left_out 0 register.o
left_out 1 alone.o fills.o
left_out 0 alone.o leads.o # leads.o needs the data that alone.o sets
left_out 0 alone.o --no-gc-sections
left_out 1 registry.o registers.o
left_out 0 registry.o registers.o --export look_=look
warned=yes left_out 1 lacks.o
grep -q "lacks.o:(.init_array+0x0): the constructors or destructors here are left out.*also need 'nowhere'" err.txt ||
	{ cat err.txt; fail "no warning"; }
"$driver" --relocatable -o left-joined.o --export kernel_=kernel left.o alone.o
readelf -SW left-joined.o | grep -q ' \.init_array ' || fail "-r leaves constructors out"

# <iostream>, where nothing prints, and where something does.
cat >stream.cc <<'END'
#include <iostream>
extern "C" long streamed(long x) { return x * 2; }
extern "C" long prints(long x) { std::cout << x; return x; }
END
if g++ -O1 -fPIC -ffunction-sections -fdata-sections -c stream.cc -o stream.o && nm stream.o | grep -q 4InitC1; then
	left_out 1 stream.o --export streamed_=streamed
	fails_with 'undefined symbol: (_ZSt4cout|std::cout|.*ios_base::Init)' "$driver" -o out.so --export prints_=prints \
		stream.o
fi
