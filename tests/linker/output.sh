# The image, checked by readelf, elflint, strip, the dynamic loader and the unwinder.
. "$top_srcdir/tests/lib/lib.sh"
driver=$top_builddir/tests/linker/link-driver

cat >kernels.c <<'END'
#include <math.h>
#include <string.h>

typedef int (*callback)(void *);
static int initialized;
int zeros[3000];
static int number = 17;
static int *const table[] = {&number, &zeros[5]};
static const int aligned[8] __attribute__((aligned(32768), used)) = {1, 2, 3, 4, 5, 6, 7, 8};

__attribute__((constructor(200))) static void second(void) { initialized = initialized * 10 + 2; }
__attribute__((constructor(101))) static void first(void) { initialized = initialized * 10 + 1; }
__attribute__((constructor)) static void third(void) { initialized = initialized * 10 + 3; }

int order(void) { return initialized; }
int data(int i) { return *table[i & 1] + zeros[i & 7] + aligned[i & 7]; }
int is_aligned(void) { return ((unsigned long)aligned & 32767) == 0; }
double import(double x) { char from[64] = "abc", to[64]; volatile int n = 64; memcpy(to, from, n); return sqrt(x) + to[1]; }
int call(callback f, void *context) { volatile int result = f(context); return result + 1; }
const int unused_table[] = {1, 2};
int unused(int x) { return x + unused_table[x & 1]; }
END
echo 'int unreached(void) { return 0; }' >other.c
for name in kernels other; do
	$KERNEL_CC -O2 -fPIC -ffunction-sections -fdata-sections -fasynchronous-unwind-tables -c $name.c -o $name.o
done
exports='--export x_order=order --export x_data=data --export x_is_aligned=is_aligned --export x_import=import --export x_call=call'
"$driver" -o out.so $exports --constants "These are constants." --gap 100000 --soname package.so kernels.o other.o

# ---- the referees ----
referees() {
	readelf -aW "$1" >readelf.txt 2>warnings.txt || fail "readelf fails"
	[ ! -s warnings.txt ] || { cat warnings.txt >&2; fail "$1: readelf warns"; }
	if command -v eu-elflint >/dev/null; then
		eu-elflint --gnu-ld "$1" >lint.txt 2>&1 || { cat lint.txt >&2; fail "$1: elflint complains"; }
	fi
}
referees out.so

has() {
	grep -qE -- "$1" readelf.txt || { cat readelf.txt >&2; fail "readelf does not show: $1"; }
}
has_not() {
	if grep -E -- "$1" readelf.txt; then fail "readelf shows: $1"; fi
}
has 'Type: +DYN'
has 'SONAME.*\[package.so\]'
has 'NEEDED.*\[libm.so.6\]'
has 'NEEDED.*\[libc.so.6\]'
has 'FLAGS\) +BIND_NOW'
has 'FLAGS_1\) +Flags: NOW'
has 'GLOBAL DEFAULT +UND sqrt@GLIBC_2.2.5'
has 'GLOBAL DEFAULT +UND memcpy@GLIBC_2.14'
has 'GLOB_DAT +0+ memcpy@GLIBC_2.14 \+ 0'
has 'GNU_STACK +0x0+ 0x0+ 0x0+ 0x0+ 0x0+ RW '
has 'LOCAL +DEFAULT +[0-9]+ data$'
has 'LOCAL +DEFAULT +[0-9]+ sqrt@plt$'
has 'Build ID: [0-9a-f]{32}$'
has '\.gnu\.hash'
has '\(HASH\)'
has_not 'TEXTREL|RWE|JUMP_SLOT|PLTREL'
has_not ' (unused|unused_table|unreached)$' # not reached
has_not 'IBT|SHSTK'
# An unwind record for each function, and no more.
records=$(readelf --debug-dump=frames out.so | grep -c ' FDE ')
functions=$(sed -n "/^Symbol table '.symtab'/,\$p" readelf.txt | grep -v '@plt$' | grep -c ' FUNC ')
[ "$records" = "$functions" ] && [ "$records" -ge 13 ] || fail "$records unwind records for $functions functions"
awk '$1 == "LOAD" {sub(/^0x0*/, "", $2); sub(/^0x0*/, "", $3); if ($2 != $3) exit 1}' readelf.txt ||
	fail "file offsets differ from addresses"
# RELRO covers whole pages, and constants come last, in a segment of their own.
grep GNU_RELRO readelf.txt | grep -qE '0x[0-9a-f]*000 0x0*[0-9a-f]*000 .*0x[0-9a-f]*000 R ' || {
	grep RELRO readelf.txt; fail "RELRO is not whole pages"; }
last=$(awk '$1 == "LOAD" {last = $3} END {print last}' readelf.txt)
constants=$(awk '$2 == ".constants" || $3 == ".constants" {for (i = 1; i < NF; i++) if ($i == "PROGBITS") print $(i + 1)}' readelf.txt)
[ $((last)) = $((0x$constants)) ] && [ $((last % 4096)) = 0 ] || fail "the constants' segment: $last, $constants"

# ---- the dynamic loader and the unwinder ----
cat >use.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

static void *image;
static char frames[64][64];
static int frame_count;

static _Unwind_Reason_Code trace(struct _Unwind_Context *context, void *nothing)
{
	Dl_info info;
	(void)nothing;
	if (frame_count < 64 && dladdr((void *)(_Unwind_GetIP(context) - 1), &info))
		snprintf(frames[frame_count++], 64, "%s", info.dli_sname ? info.dli_sname : "?");
	return _URC_NO_REASON;
}

static int called_back(void *context)
{
	_Unwind_Backtrace(trace, NULL);
	return *(int *)context;
}

static void check(int right, const char *what)
{
	if (!right) {
		printf("FAIL: %s\n", what);
		exit(1);
	}
}

/* The binary search table: sorted, and each entry's record describes the address that the entry names. */
static int check_table(struct dl_phdr_info *info, size_t size, void *expected)
{
	(void)size;
	if (!strstr(info->dlpi_name, expected))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type != PT_GNU_EH_FRAME)
			continue;
		const uint8_t *header = (const uint8_t *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
		uint32_t count = *(const uint32_t *)(header + 8);
		const int32_t *entries = (const int32_t *)(header + 12);
		check(count >= 9, "number of unwind records");
		for (uint32_t j = 0; j < count; j++) {
			const uint8_t *record = header + entries[2 * j + 1];
			int64_t start = (record + 8 - header) + *(const int32_t *)(record + 8);
			check(j == 0 || entries[2 * j] > entries[2 * j - 2], "order of the table");
			check(start == entries[2 * j], "an entry of the table");
			check(*(const uint32_t *)(record + 4) != 0, "an entry is no FDE");
		}
		return 1;
	}
	return 0;
}

/* The address of a symbol by the System V hash table, which dlsym does not use where there is a GNU one. */
static void *look_up(const char *name)
{
	struct link_map *map;
	const uint32_t *words = NULL;
	const ElfW(Sym) *symbols = NULL;
	const char *strings = NULL;
	uint32_t hash = 0;

	dlinfo(image, RTLD_DI_LINKMAP, &map);
	for (const ElfW(Dyn) *tag = map->l_ld; tag->d_tag; tag++) {
		void *address = (void *)tag->d_un.d_ptr;
		words = tag->d_tag == DT_HASH ? address : words;
		symbols = tag->d_tag == DT_SYMTAB ? address : symbols;
		strings = tag->d_tag == DT_STRTAB ? address : strings;
	}
	for (const char *c = name; *c; c++) {
		hash = (hash << 4) + (unsigned char)*c;
		hash = (hash ^ (hash & 0xf0000000) >> 24) & 0x0fffffff;
	}
	for (uint32_t i = words[2 + hash % words[0]]; i; i = words[2 + words[0] + i])
		if (!strcmp(strings + symbols[i].st_name, name))
			return (void *)(map->l_addr + symbols[i].st_value);
	return NULL;
}

int main(int argc, char **argv)
{
	image = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	check(image != NULL, image ? "" : dlerror());
	int (*order)(void) = dlsym(image, "x_order"), (*data)(int) = dlsym(image, "x_data");
	int (*is_aligned)(void) = dlsym(image, "x_is_aligned");
	double (*import)(double) = dlsym(image, "x_import");
	int (*call)(int (*)(void *), void *) = dlsym(image, "x_call");
	const char *constants = dlsym(image, "driver_constants");
	const int32_t *table = dlsym(image, "driver_table");
	int context = 41;

	check(order && data && import && call && constants && table, "the exports");
	check(look_up("x_order") == (void *)order && look_up("x_import") == (void *)import &&
	      look_up("driver_constants") == constants && !look_up("x_nothing"), "the System V hash table");
	check(order() == 123, "order of constructors");
	check(data(0) == 18 && data(1) == 2 && data(2) == 20, "data");
	check(is_aligned(), "alignment to 32 KiB");
	check(import(16) == 4 + 'b', "imports");
	check(!strcmp(constants, "These are constants.") && !constants[-1] && !constants[-99999], "constants");
	check(((int (*)(void))((char *)table + table[0]))() == 123, "the table of relative addresses");
	check(((double (*)(double))((char *)(table + 3) + table[3]))(25) == 5 + 'b', "its fourth entry");
	check(call(called_back, &context) == 42, "the callback");
	int found = 0;
	for (int i = 0; i < frame_count; i++)
		found |= !strcmp(frames[i], "main") ? 2 : 0;
	check(found == 2, "unwinding through the image to main");
	check(dl_iterate_phdr(check_table, strrchr(argv[1], '/')) == 1, "the unwind table");
	return argc != 2;
}
END
$KERNEL_CC -O1 -fasynchronous-unwind-tables -rdynamic use.c -o use -ldl
./use ./out.so || fail "the image does not work"

# After strip and objcopy, it still does.
cp out.so stripped.so
strip stripped.so && ./use ./stripped.so || fail "a stripped image does not work"
objcopy out.so copied.so && ./use ./copied.so || fail "a copied image does not work"

# Kernels are in the order of execution, after the synthetic text, in any order of the object.
"$driver" -o ordered.so --export x=call --export y=order --export z=data kernels.o
[ "$(nm -n ordered.so | grep -oE ' [tT] (x|y|z|call|order|data|third)$' | tr -d ' \n')" = TxTyTztcalltordertdatatthird \
	] ||
	{ nm -n ordered.so; fail "the order of the text"; }

# ---- determinism, and writing ----
"$driver" -o again.so $exports --constants "These are constants." --gap 100000 --soname package.so kernels.o other.o
cmp out.so again.so || fail "two links differ"
"$driver" -o changed.so $exports --constants "These are constantz." --gap 100000 --soname package.so kernels.o other.o
id() { readelf -nW "$1" | sed -n 's/.*Build ID: //p'; }
[ "$(id out.so)" != "$(id changed.so)" ] || fail "the build-id does not depend on the contents"

(umask 027 && "$driver" -o mode.so $exports kernels.o)
[ "$(stat -c %a mode.so)" = 750 ] || fail "mode $(stat -c %a mode.so), not 750"
before=$(stat -c %i out.so)
ln out.so kept.so
"$driver" -o out.so --export x_order=order kernels.o
[ "$(stat -c %i out.so)" != "$before" ] || fail "the old file was overwritten in place"
./use ./kept.so || fail "the old file was changed"
fails_with 'there/out.so: cannot create the file: No such file or directory' "$driver" -o there/out.so $exports \
	kernels.o
"$driver" -o /dev/null $exports kernels.o && [ -c /dev/null ] || fail "a device"
"$driver" -o /dev/stdout $exports kernels.o >piped.so # a regular file, but not one to be replaced
"$driver" -o /dev/fd/1 $exports kernels.o | cat >>piped.so # holes are zeros in a pipe
"$driver" -o once.so $exports kernels.o
cat once.so once.so | cmp - piped.so || fail "what is written in a row"
[ -z "$(ls | grep tmp)" ] || fail "temporary files are left: $(ls)"

# ---- huge constants, after zeroed data ----
cat >huge.c <<'END'
char zeroed[50 << 20];
int touch(void) { zeroed[12345678] = 3; return zeroed[12345678] + zeroed[1]; }
END
$KERNEL_CC -O1 -fPIC -c huge.c -o huge.o
if "$driver" -o huge.so --export x_touch=touch --constants "far away" --gap 0xc0000000 huge.o 2>err.txt; then
	[ "$(stat -c %s huge.so)" -gt 3000000000 ] || fail "the file is too short"
	[ "$(du -k huge.so | cut -f1)" -lt 1000 ] || fail "the file has no holes: $(du -k huge.so)"
	cat >far.c <<'END'
#include <dlfcn.h>
#include <string.h>
int main(void)
{
	void *image = dlopen("./huge.so", RTLD_NOW);
	int (*touch)(void) = image ? (int (*)(void))dlsym(image, "x_touch") : 0;
	return !touch || touch() != 3 || strcmp(dlsym(image, "driver_constants"), "far away");
}
END
	$KERNEL_CC far.c -o far -ldl
	./far || fail "constants behind 3 GiB"
	referees huge.so
	rm -f huge.so
else
	cat err.txt >&2
	grep -q 'cannot write the file' err.txt || fail "huge constants" # a file system without such files
fi
