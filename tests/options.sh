#!/bin/bash
# The command line's way to the linker's options: what each does is tested with the linker (link-options.sh, link-debug.sh);
# here that sklink passes them on.
set -eu
. "$top_srcdir/tests/lib.sh"
cp "$top_srcdir/tests/kernels.c" . && $KERNEL_CC $KERNEL_CFLAGS -g -ffunction-sections -I"$top_srcdir/stubs" -c kernels.c -o kernels.o
cat >model.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [64]}
  w: {dtype: f32, shape: [64], data: w.npy}
  y: {dtype: f32, shape: [64]}
tasks:
  - {name: only, kernel: add, args: [x, w, y]}
M
cp "$top_srcdir/tests/oracle.c" . && cc -o oracle oracle.c && ./oracle 64 1 write
sed -i 's/shape: \[64\], data/shape: [64, 1], data/' model.yaml
echo '-Map=out.map' >more

"$sklink" model.yaml kernels.o @more --dependency-file=out.d --print-gc-sections -t -y add -o model.sk >said.txt
"$skrun" model.sk --random 1 --verify >/dev/null
grep -q '^removing unused section kernels.o:(.text.scale)$' said.txt || fail "--print-gc-sections"
grep -q '^kernels.o$' said.txt || fail "--trace"
grep -q '^kernels.o: definition of add$' said.txt || fail "--trace-symbol"
grep -q 'kernels.o:(.text.add)' out.map || fail "-Map"
for input in model.yaml w.npy kernels.o more; do
	grep -qE "^  $input( |$)" out.d || { cat out.d; fail "$input is not among the dependencies"; }
done
readelf -SW model.sk | grep -q ' \.debug_info ' || fail "debug information is not kept"

"$sklink" model.yaml kernels.o -S --soname=network.sk -o out.sk
readelf -dW out.sk | grep -q 'soname: \[network.sk\]' || fail "--soname"
! readelf -SW out.sk | grep -q ' \.debug_' || fail "-S keeps debug information"
readelf -SW out.sk | grep -q ' \.symtab ' || fail "-S strips the symbol table"
"$sklink" model.yaml kernels.o --strip-all -o out.sk
! readelf -SW out.sk | grep -qE ' \.(symtab|debug_[a-z]*) ' || fail "-s keeps symbols"
"$skrun" out.sk --random 1 --verify >/dev/null
"$sklink" model.yaml kernels.o --compress-debug-sections=zlib -o out.sk
readelf -SW out.sk | grep -qE ' \.debug_info .* C ' || fail "debug information is not compressed"
fails_with 'wants none or zlib' "$sklink" model.yaml kernels.o --compress-debug-sections=gzip -o out.sk

printf 'int __wrap_f(void) { return 2; }\nint f(void) { return 1; }\nint g(void);\nint user(void) { return g(); }\n' >f.c
compile f
fails_with 'undefined symbol: g' "$sklink" model.yaml kernels.o f.o -u user -o out.sk
"$sklink" model.yaml kernels.o f.o -u user --defsym g=f -o out.sk
fails_with 'nowhere' "$sklink" model.yaml kernels.o --require-defined=nowhere -o out.sk
cp f.c again.c && compile again
fails_with 'f' "$sklink" model.yaml kernels.o f.o again.o --defsym g=f -u user -u f -o out.sk
"$sklink" model.yaml kernels.o f.o again.o --defsym g=f -u user --allow-multiple-definition -o out.sk
printf 'int f(void);\nint wrapped(void) { return f(); }\n' >w.c && compile w
"$sklink" model.yaml kernels.o f.o w.o --wrap=f --defsym=g=f -u wrapped -y __wrap_f -o out.sk >said.txt
grep -q 'w.o: reference to __wrap_f' said.txt || { cat said.txt; fail "--wrap"; }

for threads in -j1 '-j 2' --threads=256 '-threads 3'; do
	# shellcheck disable=SC2086
	"$sklink" model.yaml kernels.o $threads -o threads.sk
	cmp threads.sk model.sk || fail "the package depends on $threads"
done
for wrong in 0 257 -1 2x 99999999999999999999; do
	fails_with "--threads wants a number from 1 to 256, not '$wrong'" "$sklink" model.yaml kernels.o -j "$wrong" -o out.sk
done
fails_with "option '-j' wants a value" "$sklink" model.yaml kernels.o -o out.sk -j

# No output replaces an input.
for option in -Map=model.yaml --dependency-file=w.npy '-o kernels.o' '-o more'; do
	# shellcheck disable=SC2086
	fails_with 'is an input, too' "$sklink" model.yaml kernels.o @more -o out.sk $option
done
