# A thousand kernels of Debian's OpenBLAS, chosen at random among those that need nothing outside of the archive and the
# import list, become one superkernel. Those with known parameters, and with instructions that this processor has, are
# called, each through its task's entry, and then all known ones through a superkernel of their own. The results must
# equal those of direct calls, of the same members linked by GNU ld, bit for bit.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/packages.sh"
get_package libopenblas-pthread-dev || { echo "SKIP: the package libopenblas-pthread-dev cannot be had"; exit 77; }
archive=$packages/libopenblas-pthread-dev/usr/lib/x86_64-linux-gnu/openblas-pthread/libopenblas.a
sed -n 's/^SK_IMPORT(\([A-Za-z0-9_]*\),.*/\1/p' "$top_srcdir/format/imports.def" | sort >imports

# ---- which functions ----

nm -A --format=posix "$archive" 2>/dev/null | awk -f "$top_srcdir/tests/linker/self-contained.awk" imports - |
	LC_ALL=C sort >functions
yes sklink | head -c 1000000 >seed
LC_ALL=C shuf -n 1000 --random-source=seed functions | LC_ALL=C sort >chosen
[ "$(wc -l <chosen)" = 1000 ] || fail "the archive has not a thousand self-contained functions"

# ---- how they are called ----
#
# #N: an integer; %V: a number; <N and >N: N elements that are read, or read and written; @N: N bytes of scratch memory;
# -> F, -> L: the result. NULL is #0. Complex numbers are two elements.
cat >kinds <<'END_KINDS'
[sd]axpy_k       #133 #0 #0 %0.75 <133 #1 >133 #1 #0 #0
[sd]scal_k       #133 #0 #0 %0.75 >133 #1 #0 #0 #0 #0
[sd]copy_k       #133 <133 #1 >133 #1
[sd]swap_k       #133 #0 #0 %0 >133 #1 >133 #1 #0 #0
[sd]dot_k        #133 <133 #1 <133 #1 -> F
[sd](asum|nrm2|amax|amin|max|min|sum)_k #133 <133 #1 -> F
i[sd]a?(max|min)_k #133 <133 #1 -> L
[sd]rot_k        #133 >133 #1 >133 #1 %0.6 %0.8
[sd]axpby_k      #133 %0.5 <133 #1 %0.25 >133 #1
[sd]gemv_n       #40 #28 #0 %0.75 <1120 #40 <28 #1 >40 #1 @65536
[sd]gemv_t       #40 #28 #0 %0.75 <1120 #40 <40 #1 >28 #1 @65536
[sd]ger_k        #40 #28 #0 %0.75 <40 #1 <28 #1 >1120 #40 @65536
[sd]symv_[UL]    #40 #40 %0.75 <1600 #40 <40 #1 >40 #1 @262144
[sd]gemm_kernel  #12 #8 #16 %0.75 <448 <384 >96 #12
[sd]trmm_kernel_[LR][NT] #12 #8 #16 %0.75 <448 <384 >96 #12 #0
[sd]gemm_beta    #12 #8 #0 %0.5 #0 #0 #0 #0 >96 #12
[sd]omatcopy_k_[cr][nt] #12 #8 %0.5 <256 #12 >256 #12
[sd]imatcopy_k_[cr][nt] #12 #12 %0.5 >256 #12
[sd]geadd_k      #12 #8 %0.5 <96 #12 %0.25 >96 #12
[sd](gemm_[io][nt]copy|neg_tcopy) #12 #12 <256 #12 >256
[sd]trsm_[io][ul][nt][nu]copy #12 #12 <256 #12 #0 >256
[sd](trmm_[io][ul][nt][nu]|symm_[io][ul]t)copy #12 #12 <256 #12 #0 #0 >256
[sd]gemm_small_kernel_[nt][nt] #12 #12 #12 <256 #12 %0.75 <256 #12 %0.5 >256 #12
[sd]gemm_small_kernel_b0_[nt][nt] #12 #12 #12 <256 #12 %0.75 <256 #12 >256 #12
[cz]axpyc?_k     #66 #0 #0 %0.75 %0.5 <132 #1 >132 #1 #0 #0
[cz]scal_k       #66 #0 #0 %0.75 %0.5 >132 #1 #0 #0 #0 #0
[cz]copy_k       #66 <132 #1 >132 #1
[cz]swap_k       #66 #0 #0 %0 %0 >132 #1 >132 #1 #0 #0
[cz](asum|nrm2|amax|amin)_k #66 <132 #1 -> F
i[cz]a(max|min)_k #66 <132 #1 -> L
[cz]gemv_[ntrcousd] #20 #14 #0 %0.75 %0.5 <560 #20 <40 #1 >40 #1 @65536
[cz]gemm_kernel_[nrlb] #8 #4 #8 %0.75 %0.5 <320 <320 >64 #8
END_KINDS

# Targets with instructions that this processor has. The others (with AMD's FMA4 or 3DNow!) are linked only.
flags=" $(sed -n 's/^flags[^:]*: *//p' /proc/cpuinfo | head -1) "
has() { for flag; do case $flags in *" $flag "*) ;; *) return 1 ;; esac; done; }
targets=SSE3
! has ssse3 sse4_1 sse4_2 || targets="$targets|PRESCOTT|CORE2|PENRYN|DUNNINGTON|NANO|ATOM|NEHALEM"
! has avx || targets="$targets|SANDYBRIDGE"
! has avx2 fma || targets="$targets|HASWELL|ZEN"
! has avx512f avx512dq avx512bw avx512vl avx512cd || targets="$targets|SKYLAKEX"
! has avx512_bf16 || targets="$targets|COOPERLAKE"

# Task i has the place i of each of the arrays that are written: SLOT elements for each of its two vectors, and SLOT for
# its result. A manifest with these functions as the tasks of one scope, and in calls.h direct calls of those that are
# known.
cat >generate.awk <<'END_AWK'
BEGIN {
	number = 0
}
function view(size, at,   name) {
	name = "v" ++views
	printf "  %s: {of: y%s, offset: [%d], shape: [%d]}\n", name, width, at, size >tensors
	return name
}
FILENAME == "kinds" {
	pattern[++kinds] = "^(" $1 ")_(" targets ")$"
	$1 = ""
	form[kinds] = $0
	next
}
{
	found = 0
	for (i = 1; i <= kinds && !found; i++)
		if ($1 ~ pattern[i])
			found = i
	if (known && !found)
		next
	double = $1 ~ /^i?[dz]/
	type = double ? "double" : "float"
	width = double ? 64 : 32
	slot = 3 * SLOT * number
	vectors = written = 0
	signature = arguments = call = prototype = set = result = ""
	count = split(found ? form[found] : ">1", word, " ")
	for (i = 1; i <= count; i++) {
		value = substr(word[i], 2)
		name = "p" i
		comma = i > 1 ? ", " : ""
		if (word[i] == "->") {
			result = word[i + 1]
			break
		} else if (word[i] ~ /^#/) {
			signature = signature comma name " i64"
			set = set (set ? ", " : "") name ": " value
			prototype = prototype comma "long"
			call = call comma value
		} else if (word[i] ~ /^%/) {
			signature = signature comma name " f" width
			set = set (set ? ", " : "") name ": " value
			prototype = prototype comma type
			call = call comma value
		} else if (word[i] ~ /^</) {
			signature = signature comma "in " name " f" width "[" value "]"
			arguments = arguments (arguments ? ", " : "") "x" width "_" vectors "_" value
			if (!seen[width, vectors, value]++)
				printf "  x%s_%d_%d: {of: x%s, offset: [%d], shape: [%d]}\n", width, vectors, value, width,
					1024 * vectors, value >tensors
			prototype = prototype comma type " *"
			call = call comma "x" width " + " 1024 * vectors
			vectors++
		} else if (word[i] ~ /^>/) {
			signature = signature comma "inout " name " f" width "[" value "]"
			at = slot + SLOT * written++
			arguments = arguments (arguments ? ", " : "") view(value, at)
			prototype = prototype comma type " *"
			call = call comma "y" width " + " at
		} else {
			signature = signature comma "scratch " name "[" value "]"
			prototype = prototype comma "char *"
			call = call comma "scratch"
		}
	}
	if (result) {
		place = result == "L" ? "l" : "y" width
		at = result == "L" ? number * 8 : slot + 2 * SLOT
		signature = signature " -> out r " (result == "L" ? "i64" : "f" width)
		printf "  r%d: {of: %s, offset: [%d], shape: [1]}\n", number, place, at >tensors
		arguments = arguments ", r" number
		call = place "[" at "] = " $1 "(" call ")"
	} else {
		call = $1 "(" call ")"
	}
	printf "  %s: {signature: \"%s\"}\n", $1, signature >kernels
	printf "  - {name: t_%s, kernel: %s, args: [%s], set: {%s}, scope: all}\n", $1, $1, arguments, set >tasks
	if (found)
		printf "extern %s %s(%s);\nstatic void d_%s(void)\n{\n\t%s;\n}\n", result == "L" ? "long" : result ? type : "int",
			$1, prototype, $1, call >calls
	if (found)
		printf "\t{\"%s\", d_%s, sk_unfused_t_%s_serial},\n", $1, $1, $1 >table
	number++
}
END {
	print number
}
END_AWK

# generate NAME KNOWN: from the functions on the input, NAME.yaml and NAME-calls.h
generate() {
	printf '' | tee tensors kernels tasks calls table
	number=$(awk -v SLOT=1280 -v known=$2 -v targets="$targets" -v tensors=tensors -v kernels=kernels -v \
		tasks=tasks \
		-v calls=calls -v table=table -f generate.awk kinds -)
	{
		echo "sklink: 1"
		echo "tensors:"
		for width in 32 64; do
			echo "  x$width: {dtype: f$width, shape: [4096], role: input}"
			echo "  y$width: {dtype: f$width, shape: [$((3 * 1280 * number))], role: inout}"
		done
		echo "  l: {dtype: i64, shape: [$((8 * number))], role: inout}"
		cat tensors
		echo "kernels:"
		cat kernels
		echo "tasks:"
		cat tasks
	} >$1.yaml
	{
		echo "enum { NUMBER = $number };"
		echo "static float x32[4096], y32[3 * 1280 * NUMBER];"
		echo "static double x64[4096], y64[3 * 1280 * NUMBER];"
		echo "static long l[8 * NUMBER];"
		echo "static char scratch[1 << 20] __attribute__((aligned(64)));"
		cat calls
		echo "static const struct call calls[] = {"
		cat table
		echo "};"
	} >$1-calls.h
	mkdir $1
	mv $1-calls.h $1/calls.h
}

# ---- the comparison ----

cat >compare.c <<'END_C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "entries.h"

struct call {
	const char *kernel;
	void (*direct)(void);
	uintptr_t entry; /* of the task, in the package: only its symbol table has it */
};
#include "calls.h"

typedef int entry(void *const *tensors, void *workspace);

static float expected32[3 * 1280 * NUMBER], start32[3 * 1280 * NUMBER];
static double expected64[3 * 1280 * NUMBER], start64[3 * 1280 * NUMBER];
static long expected_l[8 * NUMBER];
static char workspace[1 << 21] __attribute__((aligned(64)));

static void reset(void)
{
	memcpy(y32, start32, sizeof(y32));
	memcpy(y64, start64, sizeof(y64));
	memset(l, 0, sizeof(l));
}

/* In the manifest's order; views have no memory of their own. */
static void run(entry *serial, const char *name)
{
	if (serial && !serial((void *const[]){x32, y32, x64, y64, l}, workspace))
		return;
	printf("%s fails\n", name);
	exit(1);
}

static void keep(void)
{
	memcpy(expected32, y32, sizeof(y32));
	memcpy(expected64, y64, sizeof(y64));
	memcpy(expected_l, l, sizeof(l));
}

static void check(const char *name)
{
	if (!memcmp(expected32, y32, sizeof(y32)) && !memcmp(expected64, y64, sizeof(y64)) &&
	    !memcmp(expected_l, l, sizeof(l)))
		return;
	printf("%s does not compute what direct calls compute\n", name);
	exit(1);
}

int main(int argc, char **argv)
{
	const size_t count = sizeof(calls) / sizeof(calls[0]);
	unsigned state = 1;
	size_t silent = 0;

	void *package = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	struct link_map *map;

	if (!package || dlinfo(package, RTLD_DI_LINKMAP, &map))
		return printf("%s\n", dlerror()), 1;
	for (size_t i = 0; i < 4096; i++)
		x64[i] = x32[i] = (float)((state = state * 1664525 + 1013904223) >> 8) / (1 << 23) - 1;
	for (size_t i = 0; i < sizeof(y64) / sizeof(y64[0]); i++)
		start64[i] = start32[i] = (float)((state = state * 1664525 + 1013904223) >> 8) / (1 << 23) - 1;

	if (argc > 2) { /* the superkernel */
		reset();
		for (size_t i = 0; i < count; i++)
			calls[i].direct();
		keep();
		reset();
		run((entry *)dlsym(package, argv[2]), argv[2]);
		check(argv[2]);
		return 0;
	}
	for (size_t i = 0; i < count; i++) {
		fprintf(stderr, "%s\n", calls[i].kernel); /* the kernel, if it crashes */
		reset();
		calls[i].direct();
		keep();
		silent += !memcmp(start32, y32, sizeof(y32)) && !memcmp(start64, y64, sizeof(y64));
		reset();
		run((entry *)(map->l_addr + calls[i].entry), calls[i].kernel);
		check(calls[i].kernel);
	}
	/* Only index kernels, and results that are right by chance, leave the floating-point arrays as they were. */
	printf("%zu entries compute what direct calls compute\n", count);
	return silent > count / 4 ? (printf("%zu of them compute nothing\n", silent), 1) : 0;
}
END_C

# build NAME: NAME.sk by sklink, NAME-compare with the direct calls by GNU ld
build() {
	start=$(date +%s%N)
	"$sklink" --task-entries $1.yaml "$archive" -o $1.sk || fail "$1"
	middle=$(date +%s%N)
	nm $1.sk | sed -n 's/^\([0-9a-f]*\) . \(sk_unfused_.*_serial\)$/#define \2 0x\1/p' >$1/entries.h
	$KERNEL_CC -O1 -fno-builtin -I$1 compare.c "$archive" -o $1-compare -ldl -lm -lpthread
	end=$(date +%s%N)
	echo "$1: sklink $(((middle - start) / 1000000)) ms; compiler and GNU ld $(((end - middle) / 1000000)) ms"
}

generate thousand 0 <chosen
[ "$(sed -n 's/^enum { NUMBER = \(.*\) };/\1/p' thousand/calls.h)" = 1000 ] || fail "not a thousand tasks"
build thousand
"$skdump" thousand.sk --verify >/dev/null
"$skdump" thousand.sk --launches >launches.txt
objdump -d --no-show-raw-insn --disassemble=sk_all_serial thousand.sk | sed -n 's/.*call .*<\(.*\)>.*/\1/p' |
	LC_ALL=C sort -u >called.txt
[ "$(LC_ALL=C comm -12 called.txt chosen | wc -l)" -ge 1 ] || fail "nothing is called"
LC_ALL=C comm -13 called.txt chosen >uncalled.txt
[ ! -s uncalled.txt ] || { head uncalled.txt >&2;
	fail "$(wc -l <uncalled.txt) kernels are not called by the superkernel"; }
./thousand-compare ./thousand.sk 2>last.txt || { tail -1 last.txt >&2; fail "entries of tasks"; }

# All that are known, of the thousand, as one superkernel that is run as a whole.
generate known 1 <chosen
build known
./known-compare ./known.sk sk_all_serial || fail "the superkernel"
sed '0,/: 0\.75/s//: 0.875/' known.yaml >wrong.yaml
"$sklink" wrong.yaml "$archive" -o wrong.sk
! ./known-compare ./wrong.sk sk_all_serial >out.txt || fail "another scalar is not noticed"
grep -q 'does not compute' out.txt || { cat out.txt >&2; fail "another scalar"; }
for cores in 1 2 3; do
	"$skrun" known.sk --random 1 --verify --cores $cores
done
