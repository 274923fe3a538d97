# stubs/imports.def against the libraries: every function is there, is a function, and has the version that the list says as
# its default version; no name is there twice; and what the linker writes of it binds.
. "$top_srcdir/tests/lib/lib.sh"
list=$top_srcdir/stubs/imports.def
driver=$top_builddir/tests/link/link-driver

sed -n 's/^SK_IMPORT(\([A-Za-z0-9_]*\), "\([^"]*\)", "\([^"]*\)", \([A-Z]*\))$/\1 \2 \3 \4/p' "$list" >listed.txt
[ "$(wc -l <listed.txt)" = "$(grep -c '^SK_IMPORT(' "$list")" ] || fail "a line of the list is not of its form"
[ "$(wc -l <listed.txt)" -gt 100 ] || fail "the list is nearly empty"
[ -z "$(cut -d' ' -f1 listed.txt | sort | uniq -d)" ] || fail "twice in the list: $(cut -d' ' -f1 listed.txt | sort | uniq -d)"
if grep -vE ' (PURE|LOCKING|STATE|ENDS)$' listed.txt; then fail "an unknown class"; fi

for library in $(cut -d' ' -f2 listed.txt | sort -u); do
	file=$($KERNEL_CC -print-file-name="$library")
	[ -e "$file" ] || { echo "there is no $library here"; exit 77; }
	readelf -W --dyn-syms "$file" |
		awk -v library="$library" '($4 == "FUNC" || $4 == "IFUNC") && $8 ~ /@@/ {split($8, name, "@@"); print name[1], library, name[2]}' |
		sort -u >exported.txt
	awk -v library="$library" '$2 == library {print $1, $2, $3}' listed.txt | sort >wanted.txt
	comm -23 wanted.txt exported.txt >missing.txt
	[ ! -s missing.txt ] || { cat missing.txt >&2; fail "$library does not export these, or with another version"; }
done

# All of them at once: the loader must find each with its version.
{
	printf '\t.section .data.rel.ro, "aw"\npointers:\n'
	sed 's/ .*//; s/^/\t.quad /' listed.txt
	printf '\t.text\n\t.globl f\n\t.type f, @function\nf:\tlea pointers(%%rip), %%rax\n\tret\n'
	printf '\t.section .note.GNU-stack, "", @progbits\n'
} >all.s
as all.s -o all.o
"$driver" -o all.so --export get=f all.o
[ "$(readelf -rW all.so | grep -c R_X86_64_GLOB_DAT)" = "$(wc -l <listed.txt)" ] || fail "not one relocation each"
cat >bind.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	void *image = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	void **(*get)(void) = image ? (void **(*)(void))dlsym(image, "get") : NULL;
	if (!get)
		return printf("%s\n", dlerror()), 1;
	for (int i = 3; i < argc; i += 2) { /* pairs of a name and a version */
		void *right = dlvsym(image, argv[i - 1], argv[i]);
		if (!right || get()[(i - 3) / 2] != right)
			return printf("%s is not bound to %s\n", argv[i - 1], argv[i]), 1;
	}
	return argc < 100;
}
END
$KERNEL_CC -O1 bind.c -o bind -ldl
./bind ./all.so $(cut -d' ' -f1,3 listed.txt) || fail "a binding is wrong"
