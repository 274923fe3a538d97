# Debug information: it describes the image as it does GNU ld's, in any form of input and output; gdb steps through a
# kernel; the parts for collected code are marked as such; damaged sections are refused.
. "$top_srcdir/tests/lib/lib.sh"
driver=$top_builddir/tests/linker/link-driver

cat >kernel.c <<'END'
struct pair { int left, right; };
static int helper(struct pair pair)
{
	int sum = pair.left + pair.right; /* line 4 */
	return sum * 2;
}
__attribute__((noinline)) int gone(int x) { return x / 3; }
__thread int thread_local_gone;
int *also_gone(void) { return &thread_local_gone; }
int kernel(int x)
{
	struct pair pair = {x, 7};
	int result = helper(pair); /* line 13 */
	return result + 1;
}
END
cat >other.c <<'END'
extern int kernel(int x);
static const char *const names[] = {"a string of the other kernel", "another"};
int other(int x)
{
	int local = kernel(x) + names[x & 1][0];
	return local;
}
END
flags="-O0 -fPIC -ffunction-sections -fdata-sections -g -fdebug-prefix-map=$dir=."
build() { # NAME FLAG…
	suffix=$1
	shift
	for name in kernel other; do
		$KERNEL_CC $flags "$@" -c $name.c -o $name-$suffix.o
	done
}
build dwarf5 -gdwarf-5
build dwarf4 -gdwarf-4
for name in kernel other; do
	objcopy --compress-debug-sections=zlib $name-dwarf5.o $name-zlib.o
done
readelf -SW kernel-zlib.o | grep -q '\.debug_info .* C ' || fail "the object is not compressed"
readelf -SW kernel-dwarf4.o | grep -q '\.debug_info .* C ' && fail "the object is compressed"

cat >call.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	void *image = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	int (*entry)(int) = image ? (int (*)(int))dlsym(image, "entry") : NULL;
	if (!entry)
		return printf("%s\n", dlerror()), 1;
	return argc != 2 || entry(5) != 25 + 'a';
}
END
$KERNEL_CC -O0 call.c -o call -ldl

# The places in the source of all instructions, by function and distance.
lines_of() { # IMAGE
	for function in kernel helper other; do
		start=$(nm "$1" | awk -v name=$function '$3 == name {print $1}')
		for distance in 0 8 16 24; do
			printf '%s+%s ' $function $distance
			addr2line -s -e "$1" "$(printf '%x' $((0x$start + distance)))"
		done
	done
}

for form in dwarf5 dwarf4 zlib; do
	for option in "" --compress-debug-sections; do
		inputs="kernel-$form.o other-$form.o"
		"$driver" $option -o out.so --export entry=other $inputs
		./call ./out.so || fail "$form: the image does not work"
		ld -shared -Bsymbolic --gc-sections -u other -u kernel -o gnu.so $inputs 2>err.txt || { cat err.txt;
			fail "GNU ld"; }
		lines_of out.so >ours.txt
		lines_of gnu.so | diff - ours.txt || fail "$form $option: not the lines that GNU ld's image has"
		grep -q 'helper+8 kernel.c:[34]' ours.txt || { cat ours.txt; fail "$form: the lines"; }
		readelf -w -W out.so >dump.txt 2>warnings.txt || true
		grep -v 'unable to open the dwo' warnings.txt >serious.txt || true
		[ ! -s serious.txt ] || { cat serious.txt; fail "$form $option: readelf warns"; }
		if command -v eu-elflint >/dev/null; then
			eu-elflint --gnu-ld out.so >lint.txt 2>&1 || { cat lint.txt; fail "$form $option: elflint"; }
		fi
		grep -q 'DW_AT_name.*: kernel$' dump.txt || fail "$form: the function's entry"
		grep -q 'DW_AT_producer' dump.txt || fail "$form: strings"
		cp out.so again.so
		"$driver" $option -o out.so --export entry=other $inputs
		cmp out.so again.so || fail "$form $option: two links differ"
	done
	readelf -SW out.so | grep -q '\.debug_info .* C ' || fail "$form: the output is not compressed"
done
[ "$(readelf -SW out.so | grep -c '\.debug_str ')" = 1 ] || fail "one .debug_str"
"$driver" -o plain.so --export entry=other kernel-zlib.o other-zlib.o
"$driver" -o plain5.so --export entry=other kernel-dwarf5.o other-dwarf5.o
for section in .debug_info .debug_line .debug_abbrev .debug_str; do
	objcopy -O binary --only-section=$section --set-section-flags $section=alloc plain.so one.bin
	objcopy -O binary --only-section=$section --set-section-flags $section=alloc plain5.so two.bin
	cmp one.bin two.bin || fail "$section depends on how it comes in"
	objcopy -O binary --decompress-debug-sections --only-section=$section --set-section-flags $section=alloc \
		out.so two.bin
	cmp one.bin two.bin || fail "$section depends on how it goes out"
done
readelf -SW plain.so | grep -qE '\.debug_str .* 01 +MS ' || fail ".debug_str has no entry size"
strings -a plain.so | sort | uniq -d | grep -q '^int$' && fail "a name is there twice"

# Strings of DWARF exist once, though both objects have them.
[ "$(readelf -p .debug_str plain.so | grep -c 'GNU C\|clang version')" -le 1 ] || fail "the producer is there twice"

# The value for collected functions: 0, or 1 in .debug_ranges.
cat >ranges.c <<'END'
__attribute__((section(".text.a"))) int entry_a(int x) { return x + 1; }
__attribute__((section(".text.b"))) int dead_b(int x) { return x + 2; }
END
$KERNEL_CC -O1 -fPIC -g -gdwarf-4 -c ranges.c -o ranges.o
"$driver" -o ranges.so --export entry=entry_a ranges.o
readelf --debug-dump=info ranges.so >info.txt 2>&1
entries() { awk '/Abbrev Number/ {print name, low; name = low = ""} /DW_AT_name/ {name = $NF} /DW_AT_low_pc/ {low = $NF}' info.txt; }
entries | grep -qE '^dead_b (0x)?0$' || { cat info.txt; fail "the tombstone of a function"; }
entries | grep -q "^entry_a 0x$(nm ranges.so | sed -n 's/^0*\(.*\) t entry_a$/\1/p')$" ||
	{ cat info.txt; fail "the address of a function"; }
objcopy -O binary --only-section=.debug_ranges --set-section-flags .debug_ranges=alloc ranges.so ranges.bin
od -An -v -tx8 -w16 ranges.bin | grep -q ' 0*1 0*1$' || { od -tx8 ranges.bin; fail "the tombstone in .debug_ranges"; }

# gdb stops in a kernel, shows variables, steps into functions that it calls, and finds its way back.
if command -v gdb >/dev/null; then
	for option in "" --compress-debug-sections; do
		"$driver" $option -o out.so --export entry=other kernel-zlib.o other-dwarf4.o
		gdb -nx -batch -ex 'set confirm off' -ex 'set debuginfod enabled off' -ex 'set breakpoint pending on' \
			-ex 'break kernel.c:13' -ex 'run ./out.so' -ex 'print pair' -ex step -ex next -ex \
				'info locals' \
			-ex backtrace -ex finish -ex continue ./call >gdb.txt 2>&1 || true
		if grep -qE 'ptrace: Operation not permitted|Could not trace' gdb.txt; then
			echo "gdb may not trace here" >&2
			break
		fi
		for pattern in 'left = 5, right = 7' '^5[^0-9].*return sum' '^sum = 12$' '#0 .*helper .*kernel.c:5' \
			'#1 .*kernel \(x=5\) at .*kernel.c:13' '#2 .*other \(x=5\) at .*other.c:5' '#3 .*main' \
				'returned is 24|= 24' \
			'exited normally'; do
			grep -qE "$pattern" gdb.txt || { cat gdb.txt; fail "gdb $option does not show: $pattern"; }
		done
	done
fi

# ---- without it ----
"$driver" -o plain.so --export entry=other kernel-dwarf5.o other-dwarf5.o
"$driver" --strip-debug -o s.so --export entry=other kernel-dwarf5.o other-dwarf5.o
"$driver" --strip-all -o ss.so --export entry=other kernel-dwarf5.o other-dwarf5.o
readelf -SW s.so | grep '\.debug' && fail "-S leaves debug information"
readelf -SW s.so | grep -q '\.symtab' || fail "-S drops the symbol table"
readelf -SW ss.so | grep '\.debug\|\.symtab\|\.strtab' && fail "-s leaves tables"
for image in s.so ss.so; do
	./call ./$image || fail "a stripped image does not work"
	if command -v eu-elflint >/dev/null; then
		eu-elflint --gnu-ld $image >lint.txt 2>&1 || { cat lint.txt; fail "$image: elflint"; }
	fi
done
cp plain.so strip.so
strip strip.so
objcopy --strip-debug plain.so debugless.so
for image in strip.so debugless.so; do
	./call ./$image || fail "$image does not work"
done
# The loaded bytes are the same with and without.
loaded() { objcopy -O binary --remove-section=.note.gnu.build-id "$1" "$1.bin" && cat "$1.bin"; }
loaded plain.so >one.bin
loaded s.so | cmp - one.bin || fail "debug information changes what is loaded"

# ---- damaged ----
printf '.section .debug_info,"",@progbits\n.quad 1\n.text\n.globl f\n.type f,@function\nf: ret\n' >damaged.s
as damaged.s -o whole.o
"$driver" -o out.so --export entry=f whole.o
# A section that says that it is compressed: type, reserved, size and alignment, then the data.
compressed() { # NAME TYPE SIZE ALIGNMENT
	printf '.section .debug_info,"",@progbits\n.long %s, 0\n.quad %s, %s\n.byte 0x78, 0x9c, 0x4b, 0x4c, 0x4a, 6, 0, 2, 0x4d, 1, 0x27\n.section .debug_line,"",@progbits\n.quad 0\n.text\n.globl f\n.type f,@function\nf: ret\n' "$2" "$3" "$4" |
		as -o "$1"
	offset=$(readelf -hW "$1" | sed -n 's/.*Start of section headers: *\([0-9]*\).*/\1/p')
	number=$(readelf -SW "$1" | sed -n 's/^ *\[ *\([0-9]*\)\] \.debug_info.*/\1/p')
	printf '\010' | dd of="$1" bs=1 seek=$((offset + number * 64 + 9)) conv=notrunc 2>/dev/null # SHF_COMPRESSED
}
compressed good.o 1 3 1
"$driver" -o out.so --export entry=f good.o
[ "$(objcopy -O binary --only-section=.debug_info --set-section-flags .debug_info=alloc out.so one.bin && cat one.bin)" = abc ] ||
	fail "a small compressed section"
refused() { # NAME PATTERN
	rm -f out.so
	fails_with "$2" "$driver" -o out.so --export entry=f "$1"
	[ ! -e out.so ] || fail "$1: an output file in spite of the error"
	"$driver" --strip-debug -o out.so --export entry=f "$1" || fail "$1: with -S nobody looks at it"
}
compressed strange.o 3 3 1 && refused strange.o 'strange.o: section .debug_info is compressed in an unknown way'
compressed short.o 1 4 1 && refused short.o 'short.o: the contents of the compressed section .debug_info are damaged'
compressed long.o 1 2 1 && refused long.o 'long.o: the contents of the compressed section .debug_info are damaged'
compressed bomb.o 1 0x7000000000000000 1 &&
	refused bomb.o 'bomb.o: the header of the compressed section .debug_info is damaged'
compressed odd.o 1 3 3 && refused odd.o 'odd.o: the header of the compressed section .debug_info is damaged'
printf '.section .debug_info,"",@progbits\n.long f@GOTPCREL\n.text\n.globl f\n.type f,@function\nf: ret\n' |
	as -o strange.o
refused strange.o 'strange.o:\(.debug_info\+0x0\): relocation type .* is not supported in debug information'
printf '.section .debug_info,"",@progbits\n.long .debug_str+9\n.section .debug_str,"MS",@progbits,1\n.string "abc"\n.text\n.globl f\n.type f,@function\nf: ret\n' | as -o outside.o
refused outside.o "outside.o:\(.debug_info\+0x0\): relocation R_X86_64_32 against '.debug_str' lies outside the strings"
printf '.section .zdebug_info,"",@progbits\n.quad 1\n.text\n.globl f\n.type f,@function\nf: ret\n' | as -o old.o
"$driver" -o out.so --export entry=f old.o 2>err.txt
grep -q 'warning: old.o:(.zdebug_info+0x0): debug information in this obsolete form is dropped' err.txt ||
	fail "no warning"

# Compressed with zstd: all debug information of the object is dropped, that of others stays, and one warning tells it.
compressed zstd.o 2 3 1
sed 's/\<f\>/g/' damaged.s | as -o other.o
objcopy --redefine-sym f=h zstd.o zstd2.o
"$driver" -o out.so --export entry=f --export entry_g=g --export entry_h=h zstd.o other.o zstd2.o 2>err.txt ||
	{ cat err.txt; fail "zstd"; }
[ "$(grep -c 'warning: zstd.o: debug information compressed with zstd is dropped, here and in 1 other object; ' err.txt)" = 1 ] &&
	[ "$(wc -l <err.txt)" = 1 ] || { cat err.txt; fail "not one warning for zstd"; }
readelf -SW out.so >sections.txt
grep -q ' \.debug_info .* 000008 ' sections.txt ||
	{ cat sections.txt; fail "debug information of objects with zstd is not dropped, or others' is"; }
"$driver" -o out.so --export entry=f zstd.o 2>err.txt
grep -q 'compressed with zstd is dropped; recompile' err.txt || fail "a single object is not alone"
if readelf -SW out.so | grep '\.debug_'; then fail "a part of the debug information is left"; fi
"$driver" --strip-debug -o out.so --export entry=f zstd.o 2>err.txt
[ ! -s err.txt ] || fail "a warning with -S"
# Relocations are of the contents, so they may lie after the end of the compressed bytes.
sed 's/f: ret/f: ret\n.section .debug_info\n.zero 24\n.long f/' damaged.s | sed 's/^[.]quad 1/.long 2, 0\n.quad 100, 1/' |
	as -o after.o
offset=$(readelf -hW after.o | sed -n 's/.*Start of section headers: *\([0-9]*\).*/\1/p')
number=$(readelf -SW after.o | sed -n 's/^ *\[ *\([0-9]*\)\] \.debug_info.*/\1/p')
printf '\010' | dd of=after.o bs=1 seek=$((offset + number * 64 + 9)) conv=notrunc 2>/dev/null # SHF_COMPRESSED
printf '\050' | dd of=after.o bs=1 seek=$((offset + number * 64 + 32)) conv=notrunc 2>/dev/null # 40 bytes
"$driver" -o out.so --export entry=f after.o 2>err.txt || { cat err.txt; fail "relocations of zstd"; }
grep -q 'compressed with zstd is dropped; recompile' err.txt || fail "no warning: $(cat err.txt)"
