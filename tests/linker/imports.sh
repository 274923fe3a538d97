# The import list against the libraries: every row exists, is a function or data as the list says, and has the version
# that the list says as its default version; no name occurs twice; skdump prints it; the linker's imports bind, with
# dlopen and with libskrt; and kernels that call such functions compute the same as a program that calls them itself.
. "$top_srcdir/tests/lib/lib.sh"
driver=$top_builddir/tests/linker/link-driver

# NAME KIND CLASS LIBRARY VERSION MACHINE, as skdump has them.
for machine in any x86-64; do
	list=$top_srcdir/format/$([ $machine = any ] || echo x86_64/)imports.def
	sed -E 's/^SK_IMPORT_POINTER\(([A-Za-z0-9_]*), [A-Za-z0-9_]*,/SK_IMPORT_DATA(\1,/' "$list" >plain.txt
	sed -nE "s/^SK_IMPORT(_DATA|_THREAD)?\(([A-Za-z0-9_]*), \"([^\"]*)\", \"([^\"]*)\", ([A-Z]*)\)\$/\2 function\1 \5 \3 \4 $machine/p" plain.txt |
		sed 's/ function_DATA / data /; s/ function_THREAD / thread-local /' >rows.txt
	[ "$(wc -l <rows.txt)" = "$(grep -cE '^SK_IMPORT(_[A-Z]*)?\(' "$list")" ] ||
		fail "a line of $list is not of its form"
	[ "$(wc -l <rows.txt)" -gt 100 ] || fail "$list is nearly empty"
	cat rows.txt >>listed.txt
done
[ -z "$(cut -d' ' -f1 listed.txt | sort | uniq -d)" ] ||
	fail "twice in the list: $(cut -d' ' -f1 listed.txt | sort | uniq -d)"
if cut -d' ' -f3 listed.txt | grep -vE '^(PURE|LOCALE|LOCKING|STATE|SERVED|ENDS)$'; then fail "an unknown class"; fi

"$skdump" --imports | tr -s ' ' >shown.txt
{ echo name kind class library version machine; cat listed.txt; } | diff - shown.txt >&2 || fail "skdump --imports"
fails_with 'imports is about all packages' "$skdump" --imports model.sk
fails_with 'imports goes with no other option' "$skdump" --imports --verify

for library in $(cut -d' ' -f4 listed.txt | sort -u); do
	file=$($KERNEL_CC -print-file-name="$library")
	[ -e "$file" ] || { echo "there is no $library here"; exit 77; }
	readelf -W --dyn-syms "$file" | awk '
		$8 ~ /@@/ && ($4 == "FUNC" || $4 == "IFUNC" || $4 == "OBJECT" || $4 == "TLS") {
			split($8, name, "@@")
			print name[1], $4 == "TLS" ? "thread-local" : $4 == "OBJECT" ? "data" : "function", name[2] }' \
				| sort -u >exported.txt
	awk -v library="$library" '$4 == library {print $1, $2, $5}' listed.txt | sort >wanted.txt
	comm -23 wanted.txt exported.txt >missing.txt
	[ ! -s missing.txt ] || { cat missing.txt >&2; fail "$library does not export these, or with another version"; }
done

# Thread-local variables have no address that a table could hold; tests/linker/tls.sh and
# tests/runtime/thread-storage.sh have them.
grep -v ' thread-local ' listed.txt >addressed.txt
mv addressed.txt listed.txt

# ---- all of them at once: both loaders must find each with its version ----
count=$(wc -l <listed.txt)
{
	printf '\t.section .data.rel.ro, "aw"\n\t.globl import_table\n\t.hidden import_table\nimport_table:\n'
	sed 's/ .*//; s/^/\t.quad /' listed.txt
	printf '\t.section .note.GNU-stack, "", @progbits\n'
} >table.s
as table.s -o table.o
cat >addresses.c <<'END'
#include "skkernel.h"
extern const uint64_t import_table[] __attribute__((visibility("hidden")));
void addresses(uint64_t *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = import_table[i];
}
SK_KERNEL(addresses, "out y u64[n], n i64");
END
compile addresses

# ---- some of them called: in a kernel, and in the program ----
cat >sample.h <<'END'
#define _GNU_SOURCE
#include <complex.h>
#include <ctype.h>
#include <errno.h>
#include <fenv.h>
#include <math.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define VECTOR(prefix, lanes, type, suffix)                                                                            \
	typedef type vector##prefix##suffix __attribute__((vector_size(lanes * sizeof(type))));                        \
	vector##prefix##suffix _ZGV##prefix##N##lanes##v_sin##suffix(vector##prefix##suffix);                          \
	vector##prefix##suffix _ZGV##prefix##N##lanes##vv_pow##suffix(vector##prefix##suffix, vector##prefix##suffix); \
	static double call##prefix##suffix(const double *x)                                                            \
	{                                                                                                              \
		vector##prefix##suffix a, b;                                                                           \
		double sum = 0;                                                                                        \
		for (int i = 0; i < lanes; i++)                                                                        \
			a[i] = (type)x[i], b[i] = (type)x[i + 1];                                                      \
		a = _ZGV##prefix##N##lanes##v_sin##suffix(a) + _ZGV##prefix##N##lanes##vv_pow##suffix(a, b);           \
		for (int i = 0; i < lanes; i++)                                                                        \
			sum += a[i] * (i + 1);                                                                         \
		return sum;                                                                                            \
	}
VECTOR(b, 2, double, )
VECTOR(b, 4, float, f)
#ifdef __AVX2__
VECTOR(c, 4, double, )
VECTOR(d, 8, float, f)
#endif
#ifdef __AVX512F__
VECTOR(e, 8, double, )
VECTOR(e, 16, float, f)
#endif

static int jump(double x)
{
	jmp_buf back;
	volatile int times = 0;
	int value = setjmp(back);

	if (++times < 3)
		longjmp(back, (int)(x * 10) + times);
	return value * 10 + times;
}

static double texts(double x)
{
	char text[80], *rest = text, *word, *made = NULL;
	wchar_t wide[8];
	double sum = 0, value = 0;

	snprintf(text, sizeof(text), "Alpha %.17g,beta", x);
	if (asprintf(&made, "%s:%d", text, 3) < 0)
		return 0;
	sum += (double)strlen(made) + strcasecmp(text, "aLPHA 9") + (strcasestr(made, "BETA") - made);
	free(made);
	while ((word = strtok_r(rest, " ,", &rest)))
		sum += (toupper(word[0]) + (isdigit((unsigned char)word[0]) ? 1000 : 0)) * 1.5;
	sscanf("4.25 17", "%lf", &value);
	wmemset(wide, L'x', 8);
	memset(text, 0, (size_t)(x * 10)); /* of a length that only the run knows: with the checks of _FORTIFY_SOURCE */
	return sum + value + wmemcmp(wide, wide + 1, 7) + text[0];
}

__attribute__((noipa)) static void sample(const double *x, double *y, int64_t n)
{
	int64_t i = 0;
	int sign;

	for (int64_t k = 0; k < n; k++)
		y[k] = 0;
	y[i++] = (double)(sinl(x[0]) + powl(x[1], x[2]) + expl(x[0]) * logl(x[1]) + lrintl(x[3]));
	y[i++] = (double)(fmodl(x[5], x[0]) + sqrtl(x[1]) + ldexpl(x[2], 3) + hypotl(x[3], x[4]) + erfl(x[0]));
	y[i++] = j0(x[0]) + jnf(2, (float)x[1]) + yn(1, x[2]) + lgamma_r(-x[0], &sign) + sign + nextup(x[1]) + ilogb(x[4]);
	y[i++] = creal(csin(x[0] + I * x[1])) + (double)cimagl(cexpl(x[0] + I * x[1])) + crealf(ctanhf((float)x[2])) + cproj(x[3]);
	feclearexcept(FE_ALL_EXCEPT);
	y[i++] = (fetestexcept(FE_DIVBYZERO) != 0) + 2 * (x[0] / y[n - 1] > 1) + 4 * (fetestexcept(FE_DIVBYZERO) != 0) + 8 * fegetround();
	errno = 0;
	y[i] = isinf(exp(1000 * x[3])) ? errno : -1;
	i++;
	y[i++] = jump(x[0]);
	y[i++] = texts(x[0]);
	y[i++] = callb(x);
	y[i++] = callbf(x);
#ifdef __AVX2__
	y[i++] = callc(x);
	y[i++] = calldf(x);
#endif
#ifdef __AVX512F__
	y[i++] = calle(x);
	y[i++] = callef(x);
#endif
	fprintf(stderr, "to stderr: %g\n", x[0]);
	fputs("to stdout\n", stdout);
	fflush(stdout);
}
END
printf '#include "sample.h"\n#include "skkernel.h"\nvoid compute(const double *x, double *y, int64_t n) { sample(x, y, n); }\n%s\n' \
	'SK_KERNEL(compute, "in x f64[n], out y f64[n], n i64");' >compute.c
wide=
! grep -q ' avx2 .* fma \| fma .* avx2 ' /proc/cpuinfo || wide=-mavx2
! grep -q ' avx512f ' /proc/cpuinfo || wide="$wide -mavx512f"
KERNEL_CFLAGS="$KERNEL_CFLAGS $wide -fmath-errno -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2"
compile compute
for name in stderr stdout _setjmp __longjmp_chk __memset_chk __vasprintf_chk\|__asprintf_chk sinl ctanhf \
	__isoc99_sscanf _ZGVbN4vv_powf; do
	nm -u compute.o | grep -qE " ($name)\$" || fail "the sample does not need $name"
done

# Code for programs reads stderr as if it were its own; clang's does where it is asked to.
cat >prints.c <<'END'
#include <stdio.h>
#include "skkernel.h"
void prints(const double *x, double *y, int64_t n)
{
	fprintf(stderr, "by a program's code: %g\n", x[n - 64]);
	fprintf(stdout, "to the other one\n");
	*y = stderr != stdout;
}
SK_KERNEL(prints, "in x f64[n], out y f64[n], n i64");
END
direct=-fdirect-access-external-data
$KERNEL_CC -Werror $direct -c -x c /dev/null -o none.o 2>/dev/null || direct=
$KERNEL_CC -O2 -fPIE $direct -U_FORTIFY_SOURCE -I"$top_srcdir/format" -c prints.c
for name in stderr stdout; do readelf -rW prints.o | grep -q "R_X86_64_PC32 .* $name - 4" ||
	fail "$name is not read as a program does"; done

cat >model.yaml <<M
sklink: 1
tensors:
  x: {dtype: f64, shape: [64]}
  y: {dtype: f64, shape: [64]}
  different: {dtype: f64, shape: [64]}
  table: {dtype: u64, shape: [$count]}
tasks:
  - {name: computes, kernel: compute, args: [x, y], scope: main}
  - {name: prints, kernel: prints, args: [x, different], scope: main}
  - {name: tells, kernel: addresses, args: [table], scope: main}
M
"$sklink" model.yaml compute.o prints.o addresses.o table.o -o model.sk
proved model.sk
[ "$(readelf -rW model.sk | grep -c R_X86_64_GLOB_DAT)" -ge "$count" ] || fail "not one relocation each"
readelf -W --dyn-syms model.sk | grep -qE ' OBJECT +GLOBAL +DEFAULT +UND stderr@GLIBC' || fail "stderr is no object"
[ "$(readelf -dW model.sk | grep -c NEEDED)" = 4 ] || fail "not four libraries"

cat >program.c <<'END'
#include "sample.h"
#include <dlfcn.h>
#include "loader/skrt.h"

enum { N = 64, MOST = 2000 };
static _Alignas(64) double x[N], direct[N], y[N], different[N];
static _Alignas(64) uint64_t table[MOST];
static _Alignas(64) char workspace[1 << 16];

static void check(enum skrt_status status)
{
	if (status) {
		printf("%s\n", skrt_error());
		exit(1);
	}
}

/* Four words for each import: name, class, library, version. `intercepted`: a sanitizer has functions of its own. */
static int compare(const char *how, int imports, char **words, int intercepted)
{
	if (memcmp(y, direct, sizeof(y)))
		for (int i = 0; i < N; i++)
			if (memcmp(&y[i], &direct[i], sizeof(y[i])))
				return printf("%s: y[%d] is %.17g, expected %.17g\n", how, i, y[i], direct[i]), 1;
	for (int i = 0; i < imports; i++) {
		char **row = words + 4 * i;
		int own = (!strcmp(row[1], "ENDS") || !strcmp(row[1], "SERVED")) && !strcmp(how, "libskrt");
		uint64_t right = (uintptr_t)(dlopen(row[2], RTLD_NOW | RTLD_GLOBAL), dlvsym(RTLD_DEFAULT, row[0], row[3]));

		if (!table[i] || (!intercepted && own != (table[i] != right)))
			return printf("%s: %s is not bound to what it should be\n", how, row[0]), 1;
	}
	memset(y, 0, sizeof(y));
	memset(table, 0, sizeof(table));
	return 0;
}

int main(int argc, char **argv)
{
	struct skrt_device *device;
	struct skrt_module *module;
	struct skrt_instance *instance;
	struct skrt_stream *stream;
	struct skrt_device_options options = {.size = sizeof(options), .device = "host", .cores = 2};
	int imports = (argc - 3) / 4, intercepted = argv[2][0] != '-';

	if (imports > MOST)
		return 1;
	for (int i = 0; i < N; i++)
		x[i] = 0.3 + 0.25 * i;
	sample(x, direct, N);

	check(skrt_device_open(&options, &device));
	check(skrt_module_load(device, argv[1], &module));
	check(skrt_instance_create(module, &instance));
	check(skrt_stream_create(device, &stream));
	check(skrt_instance_bind(instance, 0, x, sizeof(x)));
	check(skrt_instance_bind(instance, 1, y, sizeof(y)));
	check(skrt_instance_bind(instance, 2, different, sizeof(different)));
	check(skrt_instance_bind(instance, 3, table, (uint64_t)imports * 8));
	check(skrt_launch_network(stream, instance));
	check(skrt_synchronise(stream));
	check(skrt_stream_destroy(stream));
	check(skrt_instance_destroy(instance));
	check(skrt_module_unload(module));
	check(skrt_device_close(device));
	if (compare("libskrt", imports, argv + 3, intercepted))
		return 1;

	void *package = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	int (*serial)(void *const *, void *) = package ? (int (*)(void *const *, void *))dlsym(package, "sk_main_serial") : NULL;

	if (!serial)
		return printf("%s\n", dlerror()), 1;
	return serial((void *const[]){x, y, different, table}, workspace) || compare("dlopen", imports, argv + 3, intercepted);
}
END
sanitize=$(sed -n "s/^SANITIZE_CFLAGS = //p" "$top_builddir/Makefile")
libskrt="$top_builddir/.libs/libskrt.a $(sed -n "s/^Libs.private: //p" "$top_builddir/loader/libskrt.pc") -ldl -lmvec -lm"
$KERNEL_CC $KERNEL_CFLAGS -I"$top_srcdir" -c program.c
$CC $sanitize -o program program.o $libskrt
./program ./model.sk "${sanitize:+x}-" $(awk '{ print $1, $3, $4, $5 }' listed.txt) >out.txt 2>err.txt || {
	cat out.txt err.txt >&2; fail "a call or a binding is wrong"; }
printed="$(grep -cx 'to stderr: 0.3' err.txt) $(grep -cx 'to stdout' out.txt)"
printed="$printed $(grep -cx "by a program's code: 0.3" err.txt) $(grep -cx 'to the other one' out.txt)"
[ "$printed" = '3 3 2 2' ] || { cat out.txt err.txt >&2; fail "what is printed"; }

# ---- functions that need the address of stderr may print: with a lock that a fault keeps ----
cat >faults.c <<'END'
#include <stdio.h>
#include "skkernel.h"
void faults(const double *x, double *y, int64_t n)
{
	FILE *volatile file = stderr;
	*(volatile char *)(uintptr_t)(n - 64) = *x + *y + (file == NULL);
}
SK_KERNEL(faults, "in x f64[n], out y f64[n], n i64");
END
compile faults
printf 'sklink: 1\ntensors:\n  x: {dtype: f64, shape: [64]}\n  y: {dtype: f64, shape: [64]}\ntasks:\n  - {name: bad, kernel: faults, args: [x, y]}\n' >bad.yaml
"$sklink" bad.yaml faults.o -o bad.sk
fails_with 'the package imports stderr, which may have held a lock' "$skrun" bad.sk --random 1

# ---- a signal that a kernel raises is an error that ends its launch, and no lock is held ----
cat >raises.c <<'END'
#include <signal.h>
#include "skkernel.h"
void raises(const double *x, double *y, int64_t n)
{
	*y = *x + raise(SIGFPE) + (double)n;
}
SK_KERNEL(raises, "in x f64[n], out y f64[n], n i64");
END
compile raises
sed 's/kernel: faults/kernel: raises/' bad.yaml >raises.yaml
"$sklink" raises.yaml raises.o -o raises.sk
fails_with "task 'bad': kernel raises called raise on core 0" "$skrun" raises.sk --random 1
! grep -q 'may have held a lock' err.txt || { cat err.txt >&2; fail "raise holds a lock"; }

# ---- functions that are not on the list ----
echo 'int pthread_create(void); double cosfl(double); int f(void) { return pthread_create() + (int)cosfl(1); }' \
	>missing.c && compile missing
fails_with "undefined symbol: cosfl; did you mean 'cosf'\?$" "$driver" -o no.so --export x=f missing.o
grep -q '^link-driver: error: undefined symbol: pthread_create$' err.txt || { cat err.txt >&2;
	fail "what is far from all names"; }
[ "$(grep -c "^>>> no input defines it, and it is not an import ('skdump --imports' lists these): .*--defsym" err.txt)" \
	= 1 ] ||
	{ cat err.txt >&2; fail "the ways out are not told once"; }
echo '__attribute__((visibility("hidden"))) double sqrt(double); double f(double x) { return sqrt(x) + 1; }' >hidden.c \
	&& compile hidden
fails_with 'it is declared hidden' "$driver" -o no.so --export x=f hidden.o
! grep -q 'skdump --imports' err.txt || { cat err.txt >&2; fail "the list is no way out of what is declared hidden"; }
