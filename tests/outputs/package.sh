#!/bin/bash
# The package as other tools see it: readelf and eu-elflint have nothing to say, dlopen and the serial entry work,
# linking is deterministic, strip leaves it usable, gdb shows kernel names.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
cp "$top_srcdir/tests/lib/kernels.c" . && compile kernels

two_tasks 'kernel: prefix' 'kernel: scale, set: {factor: 2}'

readelf -aW model.sk >readelf.txt 2>warnings.txt
[ ! -s warnings.txt ] || { cat warnings.txt; fail "readelf warns"; }
if command -v eu-elflint >/dev/null; then
	eu-elflint --gnu-ld model.sk || fail "eu-elflint complains"
fi
# Sections that loading reads are together, before those that may be large.
order=$(awk '/^Section to|^Program Headers/ { exit } { sub(/^ *\[ *[0-9]+\] */, "") } $1 ~ /^\.(dynstr|sk\.plan|rodata|eh_frame_hdr|text)$/ { printf "%s ", $1 }' readelf.txt)
case $order in
'.dynstr .sk.plan '*' .text ') ;;
*) fail "the sections are in the order $order" ;;
esac
mkdir elsewhere && cp model.yaml kernels.o elsewhere/
(cd elsewhere && "$sklink" model.yaml kernels.o -o other-name.sk)
cmp model.sk elsewhere/other-name.sk || fail "the output depends on where or under which name it is written"

cat >user.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	static float x[4096] __attribute__((aligned(64))), y[4096] __attribute__((aligned(64)));
	static char workspace[1 << 16] __attribute__((aligned(64)));
	void *package = dlopen(argc > 1 ? argv[1] : "./model.sk", RTLD_NOW);
	int (*serial)(void *const *, void *);
	float sum = 0;

	if (!package) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	serial = (int (*)(void *const *, void *))dlsym(package, "sk_sp1_serial");
	for (int i = 0; i < 4096; i++)
		x[i] = (float)(i % 7);
	if (!serial || serial((void *const[]){x, y}, workspace))
		return 1;
	for (int i = 0; i < 4096; i++) {
		sum += x[i];
		if (y[i] != 2 * sum)
			return 1;
	}
	puts("right");
	return 0;
}
C
cc -g -o user user.c -ldl
[ "$(./user)" = right ] || fail "the serial entry is wrong through dlopen"
cp model.sk stripped.sk && strip stripped.sk && [ "$(./user ./stripped.sk)" = right ] || fail "strip breaks the package"
"$skrun" stripped.sk --random 1 --verify >/dev/null || fail "skrun does not run a stripped package"

if command -v gdb >/dev/null; then
	gdb -batch -ex 'set breakpoint pending on' -ex 'break prefix' -ex run -ex backtrace ./user >gdb.txt 2>&1 || true
	if grep -q 'ptrace: Operation not permitted\|not being run' gdb.txt; then
		echo "gdb may not trace here"
	else
		grep -qE '#0 .*prefix' gdb.txt || { cat gdb.txt; fail "gdb does not know the kernel"; }
		grep -qE '#1 .*sk_sp1_serial' gdb.txt || { cat gdb.txt;
			fail "gdb does not unwind through the dispatcher"; }
		grep -qE '#2 .*main' gdb.txt || { cat gdb.txt; fail "gdb does not reach the caller"; }
	fi
fi
