# Identical code folding: sections that lld folds are folded, and those that can be told apart are not; folded functions
# behave as before, by every name; unwind tables, debug information and symbols lead to the one that stays.
. "$top_srcdir/tests/lib/lib.sh"
driver=$top_builddir/tests/linker/link-driver

cat >run.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	void *image = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	for (int i = 2; i < argc; i++) {
		char name[64];
		snprintf(name, sizeof(name), "x_%s", argv[i]);
		long (*function)(long) = image ? (long (*)(long))dlsym(image, name) : NULL;
		if (!function)
			return printf("%s\n", dlerror()), 1;
		long three = function(3), four = function(4);
		printf("%s %ld %ld\n", argv[i], three, four);
	}
	return 0;
}
END
$KERNEL_CC -O1 run.c -o run -ldl

# Groups of functions that do the same have one first letter; g_ to n_ must be told apart from their like.
cat >one.c <<'END'
#define KERNEL __attribute__((noinline)) long
static long counter_1, counter_2;
KERNEL a_1(long x) { return x * 3 + 1; }
KERNEL b_1(long x) { return a_1(x) * 2; }
/* Circles: each refers to itself, through another. */
KERNEL c_1(long n); KERNEL c_2(long n); KERNEL c_3(long n); KERNEL c_4(long n);
KERNEL c_1(long n) { return n ? c_2(n - 1) * 2 + 1 : 1; }
KERNEL c_2(long n) { return n ? c_1(n - 1) * 2 + 1 : 1; }
KERNEL c_3(long n) { return n ? c_4(n - 1) * 2 + 1 : 1; }
KERNEL c_4(long n) { return n ? c_3(n - 1) * 2 + 1 : 1; }
/* A circle that differs in one place; g_1 and g_2 are equal. */
KERNEL g_1(long n); KERNEL g_2(long n); KERNEL g_3(long n); KERNEL g_4(long n);
KERNEL g_1(long n) { return n ? g_2(n - 1) * 5 + 1 : 1; }
KERNEL g_2(long n) { return n ? g_1(n - 1) * 5 + 1 : 1; }
KERNEL g_3(long n) { return n ? g_4(n - 1) * 5 + 1 : 1; }
KERNEL g_4(long n) { return n ? g_3(n - 1) * 5 + 2 : 1; }
/* Only the end of the functions that they call differs. */
static KERNEL end_1(long n) { return n + 55; }
static KERNEL end_2(long n) { return n + 66; }
KERNEL h_1(long n) { return end_1(n) * 7; }
KERNEL h_2(long n) { return end_2(n) * 7; }
KERNEL d_1(long n) { return end_1(n) * 7; } /* like h_1 */
/* Hidden state. */
KERNEL i_1(long n) { return counter_1 += n; }
KERNEL i_2(long n) { return counter_2 += n; }
/* Their addresses are taken. */
KERNEL j_1(long n) { return n - 99; }
KERNEL j_2(long n) { return n - 99; }
KERNEL e_1(long n) { long (*volatile p)(long) = j_1; long (*volatile q)(long) = j_2; return p == q ? 0 : n; }
/* Equal code, but other places in the same table. */
long table[4] = {1, 2, 3, 4};
KERNEL k_1(long n) { return table[1] * n; }
KERNEL k_2(long n) { return table[2] * n; }
/* Equal strings, and another one. */
KERNEL l_1(long n) { const char *volatile s = "string"; return s[n]; }
KERNEL l_2(long n) { const char *volatile s = "strong"; return s[n]; }
KERNEL f_1(long n) { const char *volatile s = "string"; return s[n]; } /* like l_1 */
/* Walked over. */
__attribute__((section("walked"))) long m_1(long n) { return n ^ 5; }
END
cat >two.c <<'END'
#define KERNEL __attribute__((noinline)) long
KERNEL a_2(long x) { return x * 3 + 1; }
KERNEL b_2(long x) { return a_2(x) * 2; }
static KERNEL end_1(long n) { return n + 55; }
KERNEL d_2(long n) { return end_1(n) * 7; }
KERNEL f_2(long n) { const char *volatile s = "string"; return s[n]; }
__attribute__((section("walked"))) long m_2(long n) { return n ^ 5; }
END
printf '.section .text.n_1,"axR",@progbits\n.globl n_1\n.type n_1,@function\nn_1: lea 77(%%rdi),%%rax\nret\n' \
	>retained.s
printf '.section .text.n_2,"ax",@progbits\n.globl n_2\n.type n_2,@function\nn_2: lea 77(%%rdi),%%rax\nret\n.section .note.GNU-stack,"",@progbits\n' >>retained.s
as retained.s -o retained.o
functions="a_1 a_2 b_1 b_2 c_1 c_2 c_3 c_4 d_1 d_2 e_1 f_1 f_2
	g_1 g_2 g_3 g_4 h_1 h_2 i_1 i_2 j_1 j_2 k_1 k_2 l_1 l_2 m_1 m_2 n_1 n_2"
exports= required=
for function in $functions; do
	exports="$exports --export x_$function=$function"
	required="$required -u $function"
done
build() { # COMPILER FLAG…
	compiler=$1
	shift
	for name in one two; do
		$compiler -O1 -fPIC -ffunction-sections -fdata-sections -fno-builtin "$@" -c $name.c -o $name.o
	done
}
# groups FILE: each group of equal functions in a line, from lines of lld's form.
groups() {
	awk '/^selected/ {group++} {sub(/.*:\(\.text\./, ""); sub(/\)$/, ""); print group, $0}' "$1" |
		LC_ALL=C sort -k2 |
		awk '{line[$1] = line[$1] " " $2} END {for (i in line) print line[i]}' | LC_ALL=C sort
}
address() { nm "$1" | awk -v name="$2" '$3 == name {print $1}'; }

build gcc
"$driver" -o none.so $exports --icf none --print-icf-sections one.o two.o retained.o >lines.txt
[ ! -s lines.txt ] || fail "folded without --icf"
./run ./none.so $functions >expected.txt
"$driver" -o all.so $exports --icf all --print-icf-sections one.o two.o retained.o >lines.txt
./run ./all.so $functions | sed 's/^e_1 0 0$/e_1 3 4/' | diff expected.txt - || fail "--icf=all changes results"
./run ./all.so e_1 | grep -qx 'e_1 0 0' || fail "--icf=all keeps functions whose addresses are taken"
cat >expected_groups.txt <<'END'
 a_1 a_2
 b_1 b_2
 c_1 c_2 c_3 c_4
 d_1 d_2 h_1
 end_1 end_1
 f_1 f_2 l_1
 g_1 g_2
 j_1 j_2
END
groups lines.txt | diff expected_groups.txt - || { cat lines.txt; fail "--icf=all"; }
printf 'selected section one.o:(.text.a_1)\n  removing identical section two.o:(.text.a_2)\n' >form.txt
grep -A1 'selected.*a_1)' lines.txt | diff form.txt - || fail "the lines"
"$driver" -o safe.so $exports --icf safe --print-icf-sections one.o two.o retained.o >lines.txt
./run ./safe.so $functions | diff expected.txt - || fail "--icf=safe changes results"
grep -v j_ expected_groups.txt >safe_groups.txt
groups lines.txt | diff safe_groups.txt - || { cat lines.txt; fail "--icf=safe"; }

# The symbol table has both names, at one address.
for pair in 'a_1 a_2' 'c_1 c_4' 'd_2 h_1'; do
	set -- $pair
	[ -n "$(address all.so "$1")" ] && [ "$(address all.so "$1")" = "$(address all.so "$2")" ] ||
		fail "the symbols $pair"
done
for pair in 'h_1 h_2' 'i_1 i_2' 'k_1 k_2' 'l_1 l_2' 'm_1 m_2' 'n_1 n_2' 'g_3 g_4'; do
	set -- $pair
	[ "$(address all.so "$1")" != "$(address all.so "$2")" ] || fail "$pair are one"
done
if command -v eu-elflint >/dev/null; then
	eu-elflint --gnu-ld all.so >lint.txt 2>&1 || { cat lint.txt; fail "elflint complains"; }
fi
"$driver" -o again.so $exports --icf all one.o two.o retained.o
cmp all.so again.so || fail "two links differ"
"$driver" -o out.so $exports --icf all --map out.map one.o two.o retained.o
[ "$(grep -cE ' {17}a_[12]$' out.map)" = 2 ] || { cat out.map; fail "the map does not have both names"; }

# Unwind records: one for each section that stays, and no address twice.
for image in none all; do
	readelf --debug-dump=frames $image.so | grep -c ' FDE ' >$image.count
done
[ "$(cat all.count)" = $(($(cat none.count) - 12)) ] ||
	fail "$(cat all.count) unwind records, without folding $(cat none.count)"
[ -z "$(readelf --debug-dump=frames all.so | sed -n 's/.* FDE .*pc=\(.*\)\.\..*/\1/p' | sort | uniq -d)" ] ||
	fail "an address has two unwind records"

# Sections that lld folds: all that GCC's objects allow, and with clang's tables of significant addresses in both modes.
cat >three.c <<'END'
long NAME(s)(long n) { switch (n) { case 0: return 7; case 1: return 99; case 2: return 5; case 3: return 1234; case 4: return 17; case 5: return -3; default: return 0; } }
static const long t[] = {1, 7, 44, 12, 5};
static const long u[] = {1, 7, 44, LAST, 5};
long NAME(v)(long n) { return t[n % 5]; }
long NAME(w)(long n) { return u[n % 5]; }
END
compare() { # MODE COMPILER
	$2 -O1 -fPIC -ffunction-sections -fdata-sections '-DNAME(x)=x##_1' -DLAST=13 -c three.c -o three.o
	$2 -O1 -fPIC -ffunction-sections -fdata-sections '-DNAME(x)=x##_2' -DLAST=14 -c three.c -o four.o
	constants='-u s_1 -u s_2 -u v_1 -u v_2 -u w_1 -u w_2'
	ld.lld -pie -e a_1 --gc-sections $required $constants --icf="$1" --print-icf-sections \
		one.o two.o three.o four.o retained.o -o lld.out | LC_ALL=C sort >theirs.txt
	"$driver" -o out.so $exports $constants --icf "$1" --print-icf-sections \
		one.o two.o three.o four.o retained.o | LC_ALL=C sort >ours.txt
	diff theirs.txt ours.txt || fail "--icf=$1 with $2: not what lld folds"
	[ -s ours.txt ] || fail "--icf=$1 with $2: nothing"
}
if command -v ld.lld >/dev/null; then
	compare all gcc
	if command -v clang >/dev/null; then
		build clang -faddrsig
		compare all clang
		grep -q 'removing.*four.o:(.rodata.t)' ours.txt || { cat ours.txt; fail "read-only data"; }
		compare safe clang
		! grep -q 'j_' ours.txt || fail "a table of significant addresses is not heeded"
	fi
fi

# Functions with tables for exceptions: equal ones are one, and so are their tables; functions with different tables
# stay. (A package has no C++ runtime: nothing is thrown here.)
cat >throwing.cc <<'END'
extern "C" {
void may_throw(long) noexcept(false);
long log_1(long), log_2(long);
#define CATCH(name, type, handler) long name(long n) { try { may_throw(n); } catch (type) { return handler(n); } return n; }
CATCH(p_1, int, log_1)
CATCH(p_2, int, log_1)
CATCH(p_3, long, log_1) /* the same code; another type in the table */
CATCH(p_4, int, log_2)
}
END
cat >runtime.c <<'END'
void may_throw(long n) { (void)n; }
long log_1(long n) { return n + 1; }
long log_2(long n) { return n + 2; }
#define STUB(name) void name(void) { __builtin_trap(); }
STUB(__gxx_personality_v0) STUB(_Unwind_Resume) STUB(__cxa_begin_catch) STUB(__cxa_end_catch)
long _ZTIi, _ZTIl;
END
$KERNEL_CC -O1 -fPIC -ffunction-sections -c runtime.c -o runtime.o
g++ -O1 -fPIC -ffunction-sections -c throwing.cc -o throwing.o
"$driver" -o out.so --export x_p_1=p_1 --export x_p_2=p_2 --export x_p_3=p_3 --export x_p_4=p_4 --icf all \
	--print-icf-sections throwing.o runtime.o >lines.txt
./run ./out.so p_1 p_2 p_3 p_4 >got.txt
printf 'p_%d 3 4\n' 1 2 3 4 | diff - got.txt || fail "functions with tables for exceptions"
[ "$(address out.so p_1)" = "$(address out.so p_2)" ] || { cat lines.txt; fail "equal tables for exceptions"; }
[ "$(address out.so p_1)" != "$(address out.so p_3)" ] || fail "other tables for exceptions"
[ "$(address out.so p_1)" != "$(address out.so p_4)" ] || fail "other handlers"
grep -q 'removing.*(.gcc_except_table.p_2)' lines.txt || { cat lines.txt; fail "the table of a folded function stays"; }

# The same code with other unwind information.
cat >frames.s <<'END'
	.macro function name rule
	.section .text.\name, "ax", @progbits
	.globl \name
	.type \name, @function
\name:
	.cfi_startproc
	\rule
	mov %rdi, %rax
	ret
	.cfi_endproc
	.endm
	function q_1 ".cfi_undefined rbx"
	function q_2 ".cfi_undefined rbx"
	function q_3 ".cfi_undefined rcx"
	function q_4 ""
	function q_5 ".cfi_personality 0x9b, pointer"
	function q_6 ".cfi_signal_frame"
	.section .data.rel.pointer, "aw", @progbits
pointer: .quad pointer
	.section .note.GNU-stack, "", @progbits
END
as frames.s -o frames.o
"$driver" -o out.so -u q_1 -u q_2 -u q_3 -u q_4 -u q_5 -u q_6 --icf all --print-icf-sections frames.o >lines.txt
printf 'selected section frames.o:(.text.q_1)\n  removing identical section frames.o:(.text.q_2)\n' |
	diff - lines.txt ||
	fail "functions with other unwind records are one"

# Debug information: a line of either function is where the one that stays begins; nothing else claims its code.
cat >debug.c <<'END'
__attribute__((noinline)) long r_1(long n)
{
	return n * 17 + 4; /* line 3 */
}
__attribute__((noinline)) long r_2(long n)
{
	return n * 17 + 4; /* line 7 */
}
END
for form in 4 5; do
	$KERNEL_CC -O1 -fPIC -ffunction-sections -g -gdwarf-$form -c debug.c -o debug.o
	"$driver" -o out.so --export x_r_1=r_1 --export x_r_2=r_2 --icf all debug.o
	./run ./out.so r_1 r_2 >got.txt
	start=$(address out.so r_1)
	[ "$start" = "$(address out.so r_2)" ] || fail "DWARF $form: r_1 and r_2"
	start=0x$(printf '%s' "$start" | sed 's/^0*//')
	readelf --debug-dump=info out.so >info.txt 2>&1
	awk '/Abbrev Number/ {print name, low; name = low = ""} /DW_AT_name/ {name = $NF} /DW_AT_low_pc/ {low = $NF}' \
		info.txt >entries.txt
	grep -q "^r_1 $start$" entries.txt || { cat entries.txt; fail "DWARF $form: the function that stays"; }
	grep -qE '^r_2 (0x)?0$' entries.txt || { cat entries.txt; fail "DWARF $form: the function that goes"; }
	[ "$(addr2line -s -f -e out.so "$start" | head -1)" = r_1 ] || fail "DWARF $form: addr2line"
	if command -v gdb >/dev/null; then
		for line in 3 7; do
			gdb -nx -batch -ex 'set debuginfod enabled off' -ex "info line debug.c:$line" out.so >gdb.txt \
				2>&1
			grep -q "at address $start <r_" gdb.txt || { cat gdb.txt;
				fail "DWARF $form: no breakpoint at line $line"; }
		done
	fi
done

# Damaged tables of significant addresses.
if command -v clang >/dev/null; then
	build clang -faddrsig
	set -- $(readelf -SW one.o | sed -n \
		's/^ *\[.*\] \.llvm_addrsig  *[^ ]*  *[0-9a-f]* \([0-9a-f]*\) \([0-9a-f]*\) .*/\1 \2/p')
	[ $((0x$2)) -ge 2 ] || fail "clang's table has $2 bytes"
	while read -r byte message; do
		cp one.o bad.o
		for i in $(seq $((0x$2))); do printf "\\$byte"; done |
			dd of=bad.o bs=1 seek=$((0x$1)) conv=notrunc 2>dd.txt
		fails_with "bad.o: section .llvm_addrsig $message" "$driver" -o bad.so --export x=a_1 --icf safe bad.o
		[ ! -e bad.so ] || fail "an image in spite of the error"
	done <<-'END'
		177 refers to symbol 127 of
		377 holds a damaged number
	END
	# A tool that renumbers symbols and does not know the table: it is not believed.
	ld -r one.o -o joined.o
	"$driver" -o out.so -u j_1 -u j_2 -u e_1 --icf safe --print-icf-sections joined.o >lines.txt
	! grep -q j_ lines.txt || fail "the table of a joined object is believed"
fi

# Twenty thousand functions in two chains of equal calls: different ends, then equal ends. An algorithm that looks at
# all functions again for each link of the chain takes minutes.
chains() { # SECOND END
	awk -v second="$1" 'BEGIN {
		print ".macro f name next\n.section .text.\\name,\"ax\",@progbits\n.globl \\name\n.type \\name,@function\n\\name: jmp \\next\n.endm"
		for (c = 0; c < 2; c++) {
			for (i = 0; i < 10000; i++) printf "f f%d_%d f%d_%d\n", c, i, c, i + 1
			printf ".section .text.f%d_%d,\"ax\",@progbits\n.globl f%d_%d\nf%d_%d: mov $%d,%%eax\nret\n", c, i, c, i, c, i, c ? second : 1
		}
		print ".section .note.GNU-stack,\"\",@progbits"
	}' >chains.s
	as chains.s -o chains.o
	timeout 60 "$driver" -o out.so --export x_f0=f0_0 --export x_f1=f1_0 --icf all --print-icf-sections chains.o \
		>lines.txt ||
		fail "two long chains"
	./run ./out.so f0 f1 >got.txt
	printf 'f0 1 1\nf1 %d %d\n' "$1" "$1" | diff - got.txt || fail "results of two long chains"
}
chains 2
[ ! -s lines.txt ] || fail "chains with different ends are one"
chains 1
[ "$(grep -c removing lines.txt)" = 10001 ] || fail "chains with equal ends are not one"
