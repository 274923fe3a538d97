#!/bin/bash
# The dispatchers' debug information: each step's code is the task's line in the manifest, for gdb, addr2line and
# readelf; it is beside the kernels' own, and -S and -s remove it.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
cp "$top_srcdir/tests/lib/kernels.c" .
$KERNEL_CC $KERNEL_CFLAGS -g "-fdebug-prefix-map=$dir=." -I"$top_srcdir/format" -c kernels.c -o kernels.o
$KERNEL_CC $KERNEL_CFLAGS -g0 -I"$top_srcdir/format" -c kernels.c -o bare.o

{
	cat <<-'M'
		sklink: 1
		tensors:
		  x: {dtype: f32, shape: [4096]}
		  a: {dtype: f32, shape: [4096]}
		  b: {dtype: f32, shape: [4096]}
		  y: {dtype: f32, shape: [4096]}
		tasks:
		  - {name: one, kernel: prefix, args: [x, a], scope: sp1}
	M
	printf '#\n%.0s' {1..400} # further than a special opcode of the table reaches
	cat <<-'M'
		  - name: two
		    kernel: scale
		    args: [a, b]
		    set: {factor: 2}
		    scope: sp1
		  - {name: three, kernel: prefix, args: [b, y], scope: sp1, stream: 1}
	M
} >model.yaml
lines=$(grep -n 'name:' model.yaml | cut -d: -f1 | tr '\n' ' ')
[ "$lines" = '8 409 414 ' ] || fail "the manifest has its tasks in lines $lines"

# clean PACKAGE: no tool complains. llvm-dwarfdump is run only if no compiler has written debug information.
clean() {
	readelf -w -W "$1" >dump.txt 2>warnings.txt || true
	sed -i '/unable to open the dwo/d' warnings.txt
	[ ! -s warnings.txt ] || { cat warnings.txt >&2; fail "$1: readelf warns"; }
	if command -v eu-elflint >/dev/null; then
		eu-elflint --gnu-ld "$1" >lint.txt 2>&1 || { cat lint.txt >&2; fail "$1: eu-elflint"; }
	fi
	"$skdump" --verify "$1" >/dev/null || fail "$1: skdump"
}
# rows PACKAGE: lines and addresses of the table.
rows() {
	readelf --debug-dump=decodedline "$1" | awk '$1 == "model.yaml" && $2 != "-" {print $2, $3}'
}
address() { # PACKAGE SYMBOL
	nm "$1" | awk -v name="$2" '$3 == name {print $1}'
}

"$sklink" --task-entries model.yaml bare.o -o bare.sk
clean bare.sk
if command -v llvm-dwarfdump >/dev/null; then
	llvm-dwarfdump --verify bare.sk >verify.txt 2>&1 || { cat verify.txt >&2; fail "llvm-dwarfdump"; }
fi
"$sklink" --task-entries model.yaml kernels.o -o model.sk
clean model.sk
"$sklink" --task-entries --compress-debug-sections=zlib model.yaml kernels.o -o small.sk
readelf -SW small.sk | grep -q '\.debug_line .* C ' || fail "not compressed"
clean small.sk
rows bare.sk >bare.txt
rows model.sk | diff bare.txt - || fail "the kernels' debug information changes the dispatchers'"
rows small.sk | diff bare.txt - || fail "compression changes the dispatchers'"
for section in .debug_info .debug_line .debug_abbrev; do
	[ "$(readelf -SW model.sk | grep -c " $section ")" = 1 ] || fail "one $section"
done
grep -q 'DW_AT_name.*: kernels.c' dump.txt || fail "the kernels' own debug information is gone"

# Every call in the dispatchers is a line of its task; so is every function's first byte.
calls() { # PACKAGE ENTRY
	start=$((0x$(address "$1" "$2")))
	size=$((0x$(nm -S "$1" | awk -v name="$2" '$4 == name {print $2}')))
	objdump -d --start-address=$start --stop-address=$((start + size)) "$1" |
		sed -n 's/^ *\([0-9a-f]*\):.*call .*<\(.*\)>$/\1 \2/p'
}
for package in bare.sk model.sk small.sk; do
	for entry in sk_sp1 sk_sp1_serial; do
		calls $package $entry >calls.txt
		[ "$(cut -d' ' -f2 calls.txt | tr '\n' ' ')" = 'prefix scale prefix ' ] || { cat calls.txt >&2;
			fail "calls"; }
		cut -d' ' -f1 calls.txt | addr2line -e $package >lines.txt
		printf 'model.yaml:%d\n' 8 409 414 | diff - lines.txt ||
			fail "$package: the lines of the calls in $entry"
	done
	for task in one:8 two:409 three:414; do
		for entry in sk_unfused_${task%:*} sk_unfused_${task%:*}_serial; do
			address $package $entry | addr2line -f -e $package | tr '\n' ' ' >lines.txt
			[ "$(cat lines.txt)" = "$entry model.yaml:${task#*:} " ] || { cat lines.txt >&2;
				fail "$entry in $package"; }
		done
	done
done
# The slow path of the await comes after the return, and belongs to the task that waits.
slow=$(objdump -d --start-address=$((0x$(address model.sk sk_sp1))) \
	--stop-address=$((0x$(address model.sk sk_sp1_serial))) model.sk |
	sed -n 's/^ *\([0-9a-f]*\):.*call .*(%rax)$/\1/p' | head -1)
[ -n "$slow" ] || fail "no await"
addr2line -e model.sk "$slow" | grep -qx 'model.yaml:409' || fail "the await's line: $(addr2line -e model.sk "$slow")"

# Two lanes: each lane's program has the lines of its steps.
cat >a3.yaml <<'M'
sklink: 1
device: a3
tensors:
  x: {dtype: f32, shape: [4096]}
  y: {dtype: f32, shape: [4096]}
  z: {dtype: f32, shape: [4096]}
kernels:
  cubed: {symbol: scale, signature: "cube split=n; in x f32[n], out y f32[n], n i64, factor f32"}
tasks:
  - {name: one, kernel: prefix, args: [x, y], scope: sp1}
  - {name: two, kernel: cubed, args: [y, z], set: {factor: 2}, scope: sp1}
M
if "$sklink" a3.yaml bare.o -o a3.sk 2>err.txt; then
	clean a3.sk
	for lane in cube:11 vector:10; do
		address a3.sk sk_sp1.${lane%:*} | addr2line -e a3.sk | grep -qx "a3.yaml:${lane#*:}" ||
			fail "lane $lane"
	done
else
	cat err.txt >&2
	fail "two lanes"
fi

# The manifest's folder is in the package only as far as it was given.
mkdir -p deep/er && cp model.yaml deep/er/
"$sklink" deep/er/model.yaml bare.o -o deep.sk
readelf --debug-dump=info deep.sk | grep -q 'DW_AT_name *: deep/er/model.yaml' || fail "the manifest's path as given"
grep -q "$dir" deep.sk && fail "the folder of this machine is in the package"
readelf --debug-dump=info deep.sk | grep -q DW_AT_comp_dir && fail "there is a folder"
(cd deep/er && "$sklink" --task-entries model.yaml ../../bare.o -o other.sk)
cmp bare.sk deep/er/other.sk || fail "the folder changes the package"

# Without.
for option in -S -s; do
	"$sklink" $option model.yaml kernels.o -o stripped.sk
	readelf -SW stripped.sk | grep '\.debug' && fail "$option leaves debug information"
	proved stripped.sk
done
"$skrun" model.sk --random 1 --verify >/dev/null || fail "skrun"
cp model.sk stripped.sk && strip stripped.sk || fail "strip"
proved stripped.sk

# gdb: breakpoints at lines of the manifest, the way back through the dispatcher, and the symbols of addresses.
cat >user.c <<'C'
#include <dlfcn.h>
#include <stdio.h>

int main(void)
{
	static float x[4096] __attribute__((aligned(64))), y[4096] __attribute__((aligned(64)));
	static char workspace[1 << 16] __attribute__((aligned(64)));
	void *package = dlopen("./model.sk", RTLD_NOW);
	int (*serial)(void *const *, void *) = package ? (int (*)(void *const *, void *))dlsym(package, "sk_sp1_serial") : NULL;

	if (!serial)
		return puts(dlerror()), 1;
	return serial((void *const[]){x, y}, workspace);
}
C
$KERNEL_CC -g -o user user.c -ldl
command -v gdb >/dev/null || exit 0
for package in model.sk small.sk; do
	[ $package = model.sk ] || cp $package model.sk
	gdb -nx -batch -ex 'set debuginfod enabled off' -ex 'set breakpoint pending on' -ex 'break model.yaml:409' -ex \
		run \
		-ex backtrace -ex 'info source' -ex 'break scale' -ex continue -ex backtrace -ex \
			'info line model.yaml:414' -ex delete -ex finish -ex next \
		-ex continue ./user >gdb.txt 2>&1 || true
	if grep -q 'ptrace: Operation not permitted\|not being run' gdb.txt; then
		echo "gdb may not trace here" >&2
		exit 0
	fi
	for pattern in '^Breakpoint 1[.0-9]*, .*sk_sp1_serial \(\) at model.yaml:409' '^409.*name: two' \
		'^#0  sk_sp1_serial \(\) at model.yaml:409' '^#1 .*main \(\) at user.c:13' \
		'^#0  scale \(.*kernels.c:' '^#1  0x[0-9a-f]* in sk_sp1_serial \(\) at model.yaml:409' \
		'Line 414 of "model.yaml" starts at address .* <sk_' '^414.*name: three' \
			'Current source file is model.yaml' \
		'exited normally'; do
		grep -qE "$pattern" gdb.txt || { cat gdb.txt >&2; fail "gdb does not show: $pattern"; }
	done
done
