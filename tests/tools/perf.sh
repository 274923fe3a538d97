#!/bin/bash
# perf shows kernels and dispatchers by name, and finds its way from a kernel to libskrt: packages are mapped from their
# files, with symbol and unwind tables. One that was loaded from memory it knows by its build-id.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
export HOME=$dir # perf keeps a cache there
command -v perf >/dev/null || { echo "no perf: nothing is tested"; exit 77; }
if ! perf record -q -e cpu-clock -o perf.data true >/dev/null 2>&1; then
	echo "perf may not record here: nothing is tested"
	exit 77
fi

cp "$top_srcdir/tests/lib/kernels.c" . && compile kernels
two_tasks 'kernel: prefix' 'kernel: scale, set: {factor: 2}'

# names FILE DSO: some of the samples are in prefix, of that file.
names() {
	perf report -i "$1" --stdio --sort dso,symbol 2>/dev/null >perf.txt
	grep -qE "^ +[0-9.]+% +$2 +\[\.\] prefix( |\$)" perf.txt ||
		{ cat perf.txt; fail "perf does not know the kernel"; }
}

perf record -q -e cpu-clock -F 4000 -o perf.data "$skrun" model.sk --random 1 --cores 1 --repeat 20000 >/dev/null
names perf.data 'model\.sk'

perf record -q -e cpu-clock -F 1000 --call-graph dwarf,4096 -o perf.data \
	"$skrun" model.sk --random 1 --cores 1 --repeat 5000 >/dev/null
perf script -i perf.data -F ip,sym 2>/dev/null >perf.txt
# An empty line follows the last caller, which has no caller.
sed -E 's/^[\t ]*[0-9a-f]+ //' perf.txt | tr '\n' ' ' | grep -q ' prefix sk_sp1 run_on_fibre begin sk_fibre_begin  ' ||
	{ cat perf.txt; fail "perf does not find from the kernel to its callers"; }

# From memory.
library=$top_builddir/.libs/libskrt.so
if [ ! -e "$library" ] || nm -D "$library" 2>/dev/null | grep -q '__[at]san_'; then
	echo "libskrt is not there for an ordinary program: packages from memory are not tested"
	exit 0
fi
cat >memory.c <<'C'
#include <stdio.h>
#include "skrt.h"

static char bytes[1 << 20];
static float x[4096] __attribute__((aligned(64))), y[4096] __attribute__((aligned(64)));

int main(int argc, char **argv)
{
	FILE *file = fopen(argv[argc - 1], "r");
	struct skrt_device_options options = {.size = sizeof(options), .cores = 1};
	struct skrt_source source = {.size = sizeof(source), .memory = bytes, .bytes = fread(bytes, 1, sizeof(bytes), file)};
	struct skrt_device *device;
	struct skrt_module *module;
	struct skrt_instance *instance;
	struct skrt_stream *stream;

	skrt_device_open(&options, &device);
	if (skrt_module_load_from(device, &source, &module) || skrt_instance_create(module, &instance) ||
	    skrt_instance_bind(instance, 0, x, sizeof(x)) || skrt_instance_bind(instance, 1, y, sizeof(y)) ||
	    skrt_stream_create(device, &stream))
		return 1;
	for (int i = 0; i < 20000; i++)
		if (skrt_run_network(stream, instance))
			return 1;
	return 0;
}
C
cc -I"$top_srcdir/loader" memory.c "$library" -Wl,-rpath,"$top_builddir/.libs" -o memory
perf buildid-cache --add model.sk
if perf record -q --buildid-mmap -e cpu-clock -F 4000 -o perf.data ./memory model.sk >/dev/null 2>&1; then
	names perf.data 'memfd:package.*'
else
	./memory model.sk || fail "a package from memory does not run"
	echo "perf cannot record build-ids: packages from memory are not tested"
fi
