# libskrt's neutral files compile for another machine as they are: tests/unit/aarch64/ has its header.
. "$top_srcdir/tests/lib/lib.sh"
cd "$top_srcdir"
files=$(grep -rlE '"loader/(arch/machine|core/call|checks/checked-call)\.h"' loader --include='*.c' |
	grep -v /x86_64/ | sort)
[ "$(echo "$files" | wc -l)" -gt 8 ] || fail "few files know the machine: $files"
for file in $files; do
	$CC -std=gnu11 -fsyntax-only -Werror=implicit-function-declaration -iquote tests/unit/aarch64 -I. \
		-I"$top_builddir" "$file" ||
		fail "$file"
done
# They get the skeleton, not this machine.
echo '#include "loader/arch/machine.h"
_Static_assert(SK_MACHINE == EM_AARCH64, "");' | $CC -xc -std=gnu11 -fsyntax-only -iquote tests/unit/aarch64 -I. - ||
	fail "another machine"
