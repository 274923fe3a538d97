#!/bin/bash
# Structs by value: kernels of many structs (struct-cases.c), with other parameters around them so that registers run
# out before a struct and in the middle of one, compiled by gcc and clang. They check all their arguments.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
cc -o cases "$top_srcdir/tests/signatures/struct-cases.c"
./cases 20261122 64 kernels.c model.yaml
cat >serial.c <<'C'
#include <dlfcn.h>
#include <stdlib.h>
int main(void)
{
	void *package = dlopen("./model.sk", RTLD_NOW);
	int (*run)(void *const *, void *) = package ? dlsym(package, "sk_s_serial") : NULL;
	void *output = aligned_alloc(64, 4096);

	return !run || run(&output, aligned_alloc(64, 1 << 20));
}
C
cc -o serial serial.c -ldl
for compiler in gcc clang; do
	command -v $compiler >/dev/null || continue
	for level in -O0 -O2; do
		$compiler $level -fPIC -c kernels.c -o kernels.o
		"$sklink" model.yaml kernels.o -o model.sk
		proved model.sk
		for options in '--cores 1 --verify' '--cores 2 --verify' '--cores 3 --verify' '--cores 7 --verify' \
			'--guard --cores 3' '--check-races --cores 2' --serial '--unfused --cores 2'; do
			"$skrun" model.sk $options >/dev/null || fail "$compiler $level: $options"
		done
		./serial || fail "$compiler $level: the serial entry"
	done
done

# The kernels look.
sed -i '0,/!= (float)/s//== (float)/' kernels.c
compile kernels
"$sklink" model.yaml kernels.o -o model.sk
fails_with "task 'k0': kernel k0 returned status" "$skrun" model.sk
