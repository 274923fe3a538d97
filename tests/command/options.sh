#!/bin/bash
# The command line's way to the linker's options: tests of the linker (tests/linker/options.sh, tests/linker/debug.sh)
# check the effect of each; here that sklink passes them on.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
cp "$top_srcdir/tests/lib/kernels.c" . &&
	$KERNEL_CC $KERNEL_CFLAGS -g -ffunction-sections -I"$top_srcdir/format" -c kernels.c -o kernels.o
cat >model.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [64]}
  w: {dtype: f32, shape: [64], data: w.npy}
  y: {dtype: f32, shape: [64]}
tasks:
  - {name: only, kernel: add, args: [x, w, y]}
M
cp "$top_srcdir/tests/lib/oracle.c" . && cc -o oracle oracle.c && ./oracle 64 1 write
sed -i 's/shape: \[64\], data/shape: [64, 1], data/' model.yaml
echo '-Map=out.map' >more

"$sklink" model.yaml kernels.o @more --dependency-file=out.d --print-gc-sections -t -y add -o model.sk >said.txt
"$skrun" model.sk --random 1 --verify >/dev/null
grep -q '^removing unused section kernels.o:(.text.scale)$' said.txt || fail "--print-gc-sections"
grep -q '^kernels.o$' said.txt || fail "--trace"
grep -q '^kernels.o: definition of add$' said.txt || fail "--trace-symbol"
grep -q 'kernels.o:(.text.add)' out.map || fail "-Map"
"$sklink" model.yaml kernels.o --cref -o out.sk >said.txt
grep -qE '^add +kernels.o$' said.txt || { cat said.txt; fail "--cref"; }
for input in model.yaml w.npy kernels.o; do
	grep -qE "^  $input( |$)" out.d || { cat out.d; fail "$input is not among the dependencies"; }
done
sed 's/^name: .*/name: mine/' "$top_srcdir/format/profile/host.profile" >mine.profile
sed '1a device: mine.profile' model.yaml >device.yaml
"$sklink" device.yaml kernels.o --dependency-file=device.d -o device.sk
grep -q '^  mine.profile ' device.d || { cat device.d; fail "a device's profile is not among the dependencies"; }
! grep -q more out.d || fail "a response file is in the rule, as it is for neither GNU ld nor lld"
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

printf 'int __wrap_f(void) { return 2; }\nint f(void) { return 1; }\nint g(void);\nint user(void) { return g(); }\n' \
	>f.c
compile f
fails_with 'undefined symbol: g' "$sklink" model.yaml kernels.o f.o -u user -o out.sk
"$sklink" model.yaml kernels.o f.o -u user --defsym g=f -o out.sk
for option in '-u ' --undefined= --require-defined=; do
	# shellcheck disable=SC2086
	fails_with 'undefined symbol: nowhere' "$sklink" model.yaml kernels.o ${option}nowhere -o out.sk
	# shellcheck disable=SC2086
	"$sklink" model.yaml kernels.o f.o ${option}f --defsym=g=f -o out.sk
	nm out.sk | grep -q ' t f$' || fail "${option}f"
done
cp f.c again.c && compile again
fails_with 'f' "$sklink" model.yaml kernels.o f.o again.o --defsym g=f -u user -u f -o out.sk
"$sklink" model.yaml kernels.o f.o again.o --defsym g=f -u user --allow-multiple-definition -o out.sk
printf 'int f(void);\nint wrapped(void) { return f(); }\n' >w.c && compile w
"$sklink" model.yaml kernels.o f.o w.o --wrap=f --defsym=g=f -u wrapped -y __wrap_f -o out.sk >said.txt
grep -q 'w.o: reference to __wrap_f' said.txt || { cat said.txt; fail "--wrap"; }

# -z: the segments of every page size are congruent, and the package runs.
cat >data.c <<'C'
int one = 1;
static int sum, *const to_one = &one, *const volatile to_sum = &sum;
int reach(int x) { return sum += *to_one * x + *to_sum; }
C
compile data
"$sklink" model.yaml kernels.o data.o -u reach -o small.sk
readelf -lW small.sk | grep -q '^  GNU_RELRO ' || fail "there is no RELRO"
for page in 4096 0x10000 2097152 16777216; do
	"$sklink" model.yaml kernels.o data.o -u reach -z "max-page-size=$page" -o page.sk
	readelf -lW page.sk >said.txt
	[ "$(grep -c '^  LOAD ' said.txt)" = 4 ] || { cat said.txt; fail "not four segments"; }
	while read -r _ offset address _ _ memory flags; do
		[ $((offset % page)) = $((address % page)) ] && [ $((${flags##* })) = $((page)) ] &&
			[ $((memory)) != 0 ] ||
			{ cat said.txt; fail "pages of $page bytes"; }
	done < <(grep '^  LOAD ' said.txt)
	[ $((page)) != 4096 ] || cmp page.sk small.sk || fail "4096 is not the default"
	! command -v eu-elflint >/dev/null || eu-elflint --gnu-ld -q page.sk ||
		fail "eu-elflint refuses pages of $page bytes"
	"$skrun" page.sk --random 1 --verify >/dev/null
done
"$sklink" model.yaml kernels.o data.o -u reach -z norelro -o out.sk
! readelf -lW out.sk | grep -q '^  GNU_RELRO ' || fail "-z norelro leaves RELRO"
! command -v eu-elflint >/dev/null || eu-elflint --gnu-ld -q out.sk || fail "eu-elflint refuses -z norelro"
"$skrun" out.sk --random 1 --verify >/dev/null
"$sklink" model.yaml kernels.o data.o -u reach -z norelro -zrelro -znow -z defs -z text -z noexecstack -z \
	separate-code -o out.sk
cmp out.sk small.sk || fail "keywords that are always so make a difference"
for never in execstack notext lazy undefs noseparate-code; do
	fails_with "-z $never: .* (is|are|has|have|does|must) " "$sklink" model.yaml kernels.o -z $never -o never.sk
done
fails_with "unknown keyword '-z relr'; did you mean 'relro'" "$sklink" model.yaml kernels.o -z relr -o never.sk
fails_with "-z now takes no value" "$sklink" model.yaml kernels.o -z now=1 -o never.sk
for wrong in =2048 =33554432 =5000 =-4096 =4096k = '' =99999999999999999999; do
	fails_with "-z max-page-size wants a power of two from 4096 to 16777216, not '${wrong#=}'" \
		"$sklink" model.yaml kernels.o -z "max-page-size$wrong" -o never.sk
done
[ ! -e never.sk ] || fail "an output in spite of the error"

# Options that usual builds pass: GNU ld takes them, and here they change nothing, since they ask for the default.
for accepted in -shared -O0 -O1 '-O 2' -O3 --build-id --build-id=sha1 --build-id=fast --build-id=tree --hash-style=gnu \
	--hash-style=sysv \
	'--hash-style both' --as-needed --no-as-needed '--start-group --end-group' '-( -)' -Bsymbolic --Bsymbolic \
		-Bsymbolic-functions \
	'-Bstatic -Bdynamic' --no-undefined '-z defs' --eh-frame-hdr '-m elf_x86_64' -melf_x86_64 --sysroot=/nowhere \
		'-z now' '-z origin' \
	'-z relro' '-z noexecstack' '-z combreloc' '-z pack-relative-relocs' '-z nopack-relative-relocs' \
		'-z common-page-size=4096' \
	'--allow-shlib-undefined --no-allow-shlib-undefined' --rpath-link=/nowhere '-rpath-link /nowhere' \
		--enable-new-dtags \
	--disable-new-dtags --sort-common --no-copy-dt-needed-entries --copy-dt-needed-entries -nostdlib; do
	# shellcheck disable=SC2086
	"$sklink" $accepted model.yaml kernels.o -o out.sk >said.txt 2>&1 || { cat said.txt;
		fail "$accepted is not accepted"; }
	{ cmp out.sk model.sk && [ ! -s said.txt ]; } || fail "$accepted is not silent, or makes a difference"
	case $accepted in
	*fast | *tree | *pack-*) ;; # which GNU ld of Debian 12 does not know
	# shellcheck disable=SC2086
	*) ld -shared $accepted kernels.o -o gnu.so 2>said.txt && [ ! -s said.txt ] || { cat said.txt;
		fail "GNU ld does not take $accepted"; } ;;
	esac
done
readelf -SW model.sk >said.txt
for section in .note.gnu.build-id .hash .gnu.hash .eh_frame_hdr; do
	grep -qF " $section " said.txt || fail "there is no $section"
done
for refused in pie no-pie static 'e main' entry=main dynamic-linker=x rpath=. 'T script' E export-dynamic \
	dynamic-list=x no-eh-frame-hdr q; do
	# shellcheck disable=SC2086
	fails_with "^sklink: error: -[a-z-]*: .*(package|tables|relocations)" "$sklink" -$refused model.yaml kernels.o \
		-o never.sk
done
fails_with '^sklink: error: --build-id=none: every package has a build-id' "$sklink" model.yaml kernels.o \
	--build-id=none -o never.sk
fails_with "--build-id wants fast, md5, sha1, sha256 or tree, not '0x12'" "$sklink" model.yaml kernels.o \
	--build-id=0x12 -o never.sk
fails_with "-O wants 0, 1, 2 or 3, not 's'" "$sklink" model.yaml kernels.o -Os -o never.sk
fails_with "--hash-style wants sysv, gnu or both, not 'sys5'" "$sklink" model.yaml kernels.o --hash-style=sys5 -o \
	never.sk
fails_with 'kernels.o: is for x86-64, which is -m elf_x86_64, not -m elf_i386' "$sklink" model.yaml kernels.o -m \
	elf_i386 -o never.sk
fails_with '-shared wants a package .* and -r one' "$sklink" model.yaml kernels.o -shared -r -o never.sk
for refused in initfirst interpose nodlopen stack-size=4096; do
	fails_with "^sklink: error: -z ${refused%=*}: " "$sklink" model.yaml kernels.o -z $refused -o never.sk
done
[ ! -e never.sk ] || fail "an output in spite of the error"

# Folders of -L in a sysroot, wherever that is, and in a reproduction of the link.
mkdir -p root/lib && ar qc root/lib/libkernels.a kernels.o
# shellcheck disable=SC2016
for folder in =/lib '$SYSROOT/lib' root/lib; do
	"$sklink" model.yaml -L "$folder" -l kernels --sysroot=root --repro=repro.tar -S -o out.sk || fail "-L $folder"
	tar xf repro.tar && (cd repro && "$sklink" @response.txt && cmp out.sk ../out.sk) ||
		fail "-L $folder with --repro"
	rm -r repro
done
fails_with 'cannot find -lkernels|libkernels' "$sklink" model.yaml -L=/lib -l kernels --sysroot=elsewhere -o never.sk

# -x: static functions have no names, and kernels do.
cat >locals.c <<'C'
#include "skkernel.h"
static __attribute__((noinline)) float helper(float x) { __asm__(""); return x * 2; }
void twice(const float *x, float *y, long n) { for (long i = 0; i < n; i++) y[i] = helper(x[i]); }
SK_KERNEL(twice, "split=n; in x f32[n], out y f32[n], n i64");
C
compile locals
sed '/^  w:/d; s/kernel: add, args: .*/kernel: twice, args: [x, y]}/' model.yaml >locals.yaml
"$sklink" locals.yaml locals.o -o out.sk
nm out.sk | grep -q ' t helper$' || fail "no static function"
for option in -x --discard-all; do
	"$sklink" locals.yaml locals.o $option -o out.sk
	! nm out.sk | grep -q ' helper$' || fail "$option keeps a local symbol"
	nm out.sk | grep -q ' t twice$' || fail "$option drops a kernel"
	proved out.sk
done
"$sklink" locals.yaml locals.o -r -x -o out.o
! nm out.o | grep -q ' helper$' || fail "-r -x keeps a local symbol"

# -z nodelete: dlclose leaves the package where it is; -z muldefs.
cat >stays.c <<'C'
#include <dlfcn.h>
int main(int count, char **arguments)
{
	void *package = dlopen(arguments[count - 1], RTLD_NOW);
	if (!package || dlclose(package))
		return 2;
	return !dlopen(arguments[count - 1], RTLD_NOW | RTLD_NOLOAD);
}
C
cc stays.c -o stays
! ./stays ./model.sk || fail "dlclose leaves a package without nodelete"
"$sklink" model.yaml kernels.o -z nodelete -o stays.sk
./stays ./stays.sk || fail "-z nodelete"
"$skrun" stays.sk --random 1 --verify >/dev/null
"$sklink" model.yaml kernels.o f.o again.o --defsym g=f -u user -z muldefs -o out.sk

"$sklink" model.yaml kernels.o --gc-sections -o out.sk
cmp out.sk model.sk || fail "--gc-sections is not the default"
"$sklink" model.yaml kernels.o --gc-sections --no-gc-sections -o out.sk
nm out.sk | grep -q ' t scale$' || fail "--no-gc-sections collects"
"$skrun" out.sk --random 1 --verify >/dev/null

# Warnings, and colours.
sed 's/^tasks:/  idle: {dtype: f32, shape: [64]}\ntasks:/' model.yaml >warns.yaml
warning="warns.yaml:6:3: no task uses tensor 'idle'"
"$sklink" warns.yaml kernels.o -o out.sk 2>err.txt
echo "sklink: warning: $warning" | cmp - err.txt || { cat err.txt; fail "a warning"; }
"$sklink" warns.yaml kernels.o --fatal-warnings --no-fatal-warnings -o out.sk 2>err.txt
echo "sklink: warning: $warning" | cmp - err.txt || { cat err.txt; fail "--no-fatal-warnings"; }
for option in -w --no-warnings; do
	"$sklink" warns.yaml kernels.o $option -o out.sk 2>err.txt
	[ ! -s err.txt ] || { cat err.txt; fail "$option"; }
done
fails_with "^sklink: error: $warning$" "$sklink" warns.yaml kernels.o --fatal-warnings -o never.sk
fails_with "^sklink: error: $warning$" "$sklink" warns.yaml kernels.o -w --fatal-warnings -o never.sk
echo junk >junk && ar qc libjunk.a junk kernels.o
fails_with '^sklink: error: libjunk.a: member junk is not an object and is ignored$' \
	"$sklink" model.yaml libjunk.a --fatal-warnings -o never.sk
[ ! -e never.sk ] || fail "an output in spite of a fatal warning"
red=$(printf '\033\\[1;31merror:\033\\[0m') magenta=$(printf '\033\\[1;35mwarning:\033\\[0m')
for option in --color-diagnostics --color-diagnostics=always '--color-diagnostics=never --color-diagnostics'; do
	# shellcheck disable=SC2086
	NO_COLOR=1 fails_with "^sklink: $red $warning$" "$sklink" warns.yaml kernels.o $option --fatal-warnings -o \
		never.sk
	# shellcheck disable=SC2086
	"$sklink" warns.yaml kernels.o $option -o out.sk 2>err.txt
	grep -q "^sklink: $magenta $warning$" err.txt || { cat err.txt; fail "$option"; }
done
terminal() { # messages of sklink on a terminal
	script -qec "$sklink warns.yaml kernels.o -o out.sk $*" /dev/null </dev/null | tr -d '\r'
}
if command -v script >/dev/null; then
	export -n NO_COLOR 2>/dev/null || true
	terminal | grep -q "^sklink: $magenta $warning$" || fail "no colour on a terminal"
	NO_COLOR='' terminal | grep -q "^sklink: $magenta $warning$" || fail "no colour with an empty NO_COLOR"
	NO_COLOR=1 terminal | grep -qx "sklink: warning: $warning" || fail "colour in spite of NO_COLOR"
	for option in --color-diagnostics=never --no-color-diagnostics; do
		terminal $option | grep -qx "sklink: warning: $warning" || fail "colour with $option"
	done
fi
fails_with "--color-diagnostics wants auto, always or never, not 'red'" "$sklink" model.yaml kernels.o \
	--color-diagnostics=red -o never.sk
for i in $(seq 30); do echo "  - {name: bad$i, kernel: missing$i, args: [x, w, y]}"; done >>many.txt
cat model.yaml many.txt >many.yaml
fails_with 'too many errors, stopping after 20 \(--error-limit=0 shows all\)' "$sklink" many.yaml kernels.o -o never.sk
[ "$(grep -c 'unknown kernel' err.txt)" = 20 ] || fail "--error-limit is not 20"
fails_with 'too many errors, stopping after 3 ' "$sklink" many.yaml kernels.o --error-limit=3 -o never.sk
[ "$(grep -c 'unknown kernel' err.txt)" = 3 ] || fail "--error-limit=3"
fails_with 'missing30' "$sklink" many.yaml kernels.o --error-limit=0 -o never.sk
[ "$(grep -c 'unknown kernel' err.txt)" = 30 ] || fail "--error-limit=0 does not show all"

# A file that must be JSON; out comes it in the one way that json.tool writes it, if there is Python.
as_json() {
	if ! command -v python3 >/dev/null; then
		echo "no python3: the JSON is not checked"
		sed -E 's/":/": /g' "$1"
	else
		python3 -m json.tool <"$1" || fail "$1 is no JSON"
	fi
}

# --stats and --time-trace. Names of files may have any bytes; the trace is always JSON.
"$sklink" model.yaml kernels.o --stats -o out.sk >said.txt
cmp out.sk model.sk || fail "the package depends on --stats"
[ "$(grep -c '^[^ ].* [0-9.]*\( ms\)\?$' said.txt)" -gt 20 ] || { cat said.txt; fail "--stats"; }
counted() {
	grep -qE "^$1 +$2\$" said.txt || { cat said.txt; fail "--stats: $1 is not $2"; }
}
counted inputs 1
counted 'bytes of inputs' "$(stat -c %s kernels.o)"
counted 'bytes of output' "$(stat -c %s out.sk)"
counted 'objects pulled' 1
counted tasks 1
counted launches 1
kept=$(sed -n 's/^sections kept *//p' said.txt) collected=$(sed -n 's/^sections collected *//p' said.txt)
counted sections $((kept + collected))
[ "$collected" -eq "$("$sklink" model.yaml kernels.o --print-gc-sections -o out.sk | wc -l)" ] ||
	fail "--stats and --print-gc-sections disagree"
counted 'bytes of plan' \
	"$(readelf -SW out.sk | sed -nE 's/.* \.sk\.plan +[A-Z]+ +[0-9a-f]+ [0-9a-f]+ ([0-9a-f]+) .*/\1/p' | (read -r size && echo $((0x$size))))"
strange=$(printf 'a"b\\c\td \303\251 \377 \355\240\200.o')
cp kernels.o "$strange"
"$sklink" model.yaml "$strange" -o strange.sk
"$sklink" model.yaml "$strange" --time-trace -o out.sk
cmp out.sk strange.sk || fail "the package depends on --time-trace"
as_json out.sk.time-trace >trace.txt
grep -qE '"detail": "a\\"b\\\\c\\(t|u0009)d (\\u00e9|é) \\ufffd \\ufffd\\ufffd\\ufffd\.o"' trace.txt || {
	cat trace.txt; fail "the name of an input"; }
for phase in inputs manifest schedule verify link relocate write; do
	grep -qF "\"name\": \"$phase\"" trace.txt || fail "no phase $phase"
done
rm out.sk.time-trace
"$sklink" model.yaml kernels.o --time-trace=trace.json -o out.sk
[ ! -e out.sk.time-trace ] || fail "--time-trace=FILE writes another file"
as_json trace.json >trace.txt
fails_with "option '--time-trace=' wants a value" "$sklink" model.yaml kernels.o --time-trace= -o out.sk
fails_with "option '--stats' takes no value" "$sklink" model.yaml kernels.o --stats=1 -o out.sk

for threads in -j1 '-j 2' --threads=256 '-threads 3' --threads; do
	# shellcheck disable=SC2086
	"$sklink" $threads model.yaml kernels.o -o threads.sk
	cmp threads.sk model.sk || fail "the package depends on $threads"
done
for wrong in 0 257 -1 2x 99999999999999999999; do
	fails_with "-j wants a number from 1 to 256, not '$wrong'" "$sklink" model.yaml kernels.o -j "$wrong" -o out.sk
	fails_with "--threads wants a number from 1 to 256, not '$wrong'" "$sklink" model.yaml kernels.o \
		--threads="$wrong" -o out.sk
done
fails_with "option '-j' wants a value" "$sklink" model.yaml kernels.o -o out.sk -j

# Two kernels that are one: each by its own name.
cat >twins.c <<'T'
#include "skkernel.h"
#define TWIN(name) void name(const float *a, float *y, long n) { for (long i = 0; i < n; i++) y[i] = a[i] * 3 + 1; } \
	SK_KERNEL(name, "split=n; in a f32[n], out y f32[n], n i64");
TWIN(one)
TWIN(two)
T
$KERNEL_CC -O2 -fPIC -ffunction-sections -I"$top_srcdir/format" -c twins.c -o twins.o
cat >twins.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [256]}
  t: {dtype: f32, shape: [256]}
  y: {dtype: f32, shape: [256]}
scopes:
  both: {}
tasks:
  - {name: a, kernel: one, args: [x, t], scope: both}
  - {name: b, kernel: two, args: [t, y], scope: both}
M
for icf in safe all; do
	"$sklink" twins.yaml twins.o --icf=$icf --print-icf-sections -o twins.sk >said.txt
	printf 'selected section twins.o:(.text.one)\n  removing identical section twins.o:(.text.two)\n' |
		diff - said.txt ||
		fail "--icf=$icf"
	"$skrun" twins.sk --random 1 --verify >/dev/null || fail "--icf=$icf: the package"
	"$skdump" --verify twins.sk >/dev/null || fail "--icf=$icf: the dispatchers"
done
fails_with "wants none, safe or all, not 'some'" "$sklink" twins.yaml twins.o --icf=some -o out.sk

# No output replaces an input.
for option in -Map=model.yaml --time-trace=w.npy --dependency-file=w.npy '-o kernels.o' '-o more'; do
	# shellcheck disable=SC2086
	fails_with 'is also an input' "$sklink" model.yaml kernels.o @more -o out.sk $option
done

# --print-map is the map, and the last of the options that say where it goes counts.
"$sklink" model.yaml kernels.o -Map=out.map -o out.sk
for option in -M --print-map -Map=- '-Map=other.map -M'; do
	# shellcheck disable=SC2086
	"$sklink" model.yaml kernels.o $option -o out.sk | cmp - out.map || fail "$option"
done
"$sklink" model.yaml kernels.o -M -Map=other.map -o out.sk >said.txt
{ [ ! -s said.txt ] && cmp other.map out.map; } || fail "-M counts in spite of a later -Map"

# --check: the same errors and the same status, but no file, neither a new nor a changed nor a temporary one.
mkdir checked && cp model.yaml w.npy kernels.o checked && cd checked
echo old >old.sk && touch names.txt && ls >names.txt
"$sklink" model.yaml kernels.o --check
"$sklink" model.yaml kernels.o --check -o old.sk -Map=out.map --report=out.json --header=out.h --embed \
	--dependency-file=out.d \
	--time-trace --repro=repro.tar
"$sklink" model.yaml kernels.o --check -o none/out.sk -M --explain only --stats >../said.txt
"$sklink" model.yaml kernels.o --check --report=- >>../said.txt
[ "$(ls)" = "$(cat names.txt)" ] || fail "--check leaves $(ls)"
[ -z "$(find . -newer names.txt -type f)" ] || fail "--check writes $(find . -newer names.txt -type f)"
for line in 'kernels.o:\(.text.add\)' '^task .only' '^objects pulled +1$' '"tasks"'; do
	grep -qE "$line" ../said.txt || fail "--check does not print $line"
done
cd ..
fails_with "model.yaml: is also an input" "$sklink" model.yaml kernels.o --check -o model.yaml
fails_with 'unknown kernel' "$sklink" many.yaml kernels.o --check
fails_with 'undefined symbol: g' "$sklink" model.yaml kernels.o f.o -u user --check -o never.sk
fails_with 'no output given' "$sklink" model.yaml kernels.o --check --dependency-file=-
fails_with 'would be written by both -o and -Map' "$sklink" model.yaml kernels.o --check -o never.sk -Map=never.sk
[ ! -e never.sk ] || fail "--check writes a package"

# Why something is in the package, and the order of sections: tests/linker/reasons.sh tests the linker's part.
ar qc libmore.a f.o && echo "int f(void); int more(void) { return f(); }" >more.c && compile more
"$sklink" model.yaml kernels.o more.o libmore.a --defsym g=f -u more --why-live add --why-live=f --why-extract=why.txt \
	-o out.sk >said.txt
grep -q "^>>> referenced by: the package's own code:(\.text\." said.txt || { cat said.txt; fail "--why-live"; }
grep -qx '>>> required by the command line' said.txt || { cat said.txt; fail "--why-live of what -u needs"; }
grep -qx "more.o	libmore.a(f.o)	f" why.txt || { cat why.txt; fail "--why-extract"; }
printf 'scale\nfused_not_there\n' >order.txt
"$sklink" model.yaml kernels.o -u scale --symbol-ordering-file=order.txt --repro=repro.tar -S -o out.sk 2>err.txt
grep -q "^sklink: warning: order.txt:2:1: no such symbol: 'fused_not_there'" err.txt || { cat err.txt;
	fail "--symbol-ordering-file"; }
[ "$(nm -n out.sk | grep -oE ' (add|scale)$' | head -1)" = ' scale' ] || fail "--symbol-ordering-file: the order"
"$sklink" model.yaml kernels.o -u scale -o plain.sk
[ "$(nm -n plain.sk | grep -oE ' (add|scale)$' | head -1)" = ' add' ] || fail "the order is so without the file"
proved out.sk
"$skrun" out.sk --random 1 --verify >/dev/null
tar xf repro.tar && (cd repro && "$sklink" @response.txt && cmp out.sk ../out.sk) ||
	fail "--symbol-ordering-file with --repro"

# --demangle is the default. tests/linker/demangle.sh tests the demangled names.
echo 'void _Z3lowv(void); void high(void) { _Z3lowv(); }' >high.c && compile high
shown=_Z3lowv
! grep -q '^#define HAVE_LIBIBERTY 1' "$top_builddir/config.h" || shown='low\(\)'
for options in '' --demangle '--no-demangle --demangle'; do
	# shellcheck disable=SC2086
	fails_with "undefined symbol: $shown\$" "$sklink" model.yaml kernels.o high.o -u high $options -o never.sk
done
fails_with 'undefined symbol: _Z3lowv$' "$sklink" model.yaml kernels.o high.o -u high --no-demangle -o never.sk
