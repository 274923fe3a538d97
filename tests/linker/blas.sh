# Kernels straight out of real archives, called through dlopen: Debian's reference BLAS and OpenBLAS.
. "$top_srcdir/tests/lib/lib.sh"
driver=$top_builddir/tests/linker/link-driver
libraries=$(dirname "$($KERNEL_CC -print-file-name=libc.so)")
reference=$libraries/blas/libblas.a
openblas=$(ls "$libraries"/openblas-*/libopenblas.a 2>/dev/null | head -1)
ran=no

cat >call.c <<'END'
#include <dlfcn.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *image;

static void *get(const char *name)
{
	void *found = dlsym(image, name);
	if (!found) {
		printf("%s\n", dlerror());
		exit(1);
	}
	return found;
}

static void check(const char *what, double got, double wanted)
{
	if (!(fabs(got - wanted) <= 1e-9 * fabs(wanted))) {
		printf("%s: %.17g, not %.17g\n", what, got, wanted);
		exit(1);
	}
}

enum { N = 37 };
static double x[N], y[N], z[N], a[N * N];

static void reference(bool ours)
{
	int n = N, one = 1;
	double alpha = 2.5, beta = -1, dot = 0;
	void (*daxpy)(int *, double *, double *, int *, double *, int *) = get("call_daxpy");
	double (*ddot)(int *, double *, int *, double *, int *) = get("call_ddot");
	void (*dgemv)(char *, int *, int *, double *, double *, int *, double *, int *, double *, double *, int *, size_t) =
		get("call_dgemv");

	memcpy(z, y, sizeof(z));
	daxpy(&n, &alpha, x, &one, z, &one);
	for (int i = 0; i < N; i++)
		check("daxpy", z[i], y[i] + alpha * x[i]), dot += x[i] * y[i];
	check("ddot", ddot(&n, x, &one, y, &one), dot);
	memcpy(z, y, sizeof(z));
	dgemv("N", &n, &n, &alpha, a, &n, x, &one, &beta, z, &one, 1);
	for (int i = 0; i < N; i++) {
		double sum = beta * y[i];
		for (int j = 0; j < N; j++)
			sum += alpha * a[i + j * N] * x[j];
		check("dgemv", z[i], sum);
	}
	memcpy(z, y, sizeof(z));
	dgemv("?", &n, &n, &alpha, a, &n, x, &one, &beta, z, &one, 1);
	if (ours) {
		int (*errors)(void) = get("call_errors"); /* of our xerbla_ */
		check("xerbla", errors(), 1);
	}
}

static void openblas(void)
{
	int (*axpy)(long, long, long, double, double *, long, double *, long, double *, long) = get("call_axpy");
	int (*scal)(long, long, long, double, double *, long, double *, long, double *, long) = get("call_scal");
	double sum = 0;

	memcpy(z, y, sizeof(z));
	axpy(N, 0, 0, 2.5, x, 1, z, 1, NULL, 0); /* ten parameters */
	for (int i = 0; i < N; i++)
		check("axpy", z[i], y[i] + 2.5 * x[i]), sum += x[i] * y[i];
	scal(N, 0, 0, -3, z, 1, NULL, 0, NULL, 0);
	for (int i = 0; i < N; i++)
		check("scal", z[i], -3 * (y[i] + 2.5 * x[i]));

	/* The inner kernel of a matrix product works on packed panels; with one column they are the matrices themselves:
	 * C += alpha * A * B for A of 1 x k and B of k x 1. */
	int (*gemm)(long, long, long, double, double *, double *, double *, long) = get("call_gemm");
	double c = 7;

	gemm(1, 1, N, 0.5, x, y, &c, 1);
	check("gemm", c, 7 + 0.5 * sum);
}

int main(int argc, char **argv)
{
	image = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	if (!image)
		return printf("%s\n", dlerror()), 1;
	for (int i = 0; i < N; i++)
		x[i] = 1.0 / (i + 3), y[i] = i * 0.75 - 5;
	for (int i = 0; i < N * N; i++)
		a[i] = (i * 7919 % 101) / 16.0;
	if (!strcmp(argv[2], "openblas"))
		openblas();
	else
		reference(!strcmp(argv[2], "ours"));
	return argc != 3;
}
END
$KERNEL_CC -O1 -Wno-incompatible-pointer-types call.c -o call -ldl -lm

if [ -e "$reference" ]; then
	# The archive's own xerbla_ writes to stderr; first a test object replaces it.
	cat >xerbla.c <<'END'
static int count;
void xerbla_(char *name, int *info, unsigned long length)
{
	count += name[0] == 'D' && *info == 1 && length == 6;
}
int errors(void) { return count; }
END
	compile xerbla
	"$driver" -o blas.so --export call_daxpy=daxpy_ --export call_ddot=ddot_ --export call_dgemv=dgemv_ \
		--export call_errors=errors xerbla.o "$reference"
	./call ./blas.so ours || fail "reference BLAS"
	readelf -aW blas.so >/dev/null 2>warnings.txt
	[ ! -s warnings.txt ] || { cat warnings.txt >&2; fail "readelf warns"; }
	"$driver" -o archive.so --export call_daxpy=daxpy_ --export call_ddot=ddot_ --export call_dgemv=dgemv_ \
		"$reference"
	./call ./archive.so archive 2>err.txt || fail "reference BLAS with its own errors"
	grep -q '^Parameter 1 to routine DGEMV  *was incorrect$' err.txt || { cat err.txt >&2;
		fail "the archive prints no error"; }
	ran=yes
fi

if [ -n "$openblas" ] && grep -q ' avx2 ' /proc/cpuinfo && grep -q ' fma ' /proc/cpuinfo; then
	"$driver" -o openblas.so --export call_axpy=daxpy_k_HASWELL --export call_scal=dscal_k_HASWELL \
		--export call_gemm=dgemm_kernel_HASWELL "$openblas"
	./call ./openblas.so openblas || fail "OpenBLAS"
	# Sections aligned to 32 KiB keep their alignment, and the segment says so.
	"$driver" -o aligned.so --export f=sgemm_kernel_BARCELONA "$openblas"
	readelf -lW aligned.so | grep -q 'LOAD.* R E 0x8000$' || { readelf -lW aligned.so; fail "alignment to 32 KiB"; }
	ran=yes
fi
[ "$ran" = yes ] || { echo "neither archive is installed"; exit 77; }
