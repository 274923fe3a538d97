#!/bin/sh
# The bytes of every instruction form that dispatchers use are those of the system's assembler.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

check_emit=$top_builddir/tests/unit/check_emit
"$check_emit" assembly > "$work/forms.s"
"$check_emit" bytes > "$work/ours.bin"
as --64 -o "$work/forms.o" "$work/forms.s"
objcopy -O binary -j .text "$work/forms.o" "$work/assembled.bin"

test "$(wc -l < "$work/forms.s")" -gt 10000 # all operands have been through
if ! cmp "$work/assembled.bin" "$work/ours.bin"; then
	for side in assembled ours; do
		objdump -D -b binary -m i386:x86-64 -M intel "$work/$side.bin" | tail -n +8 > "$work/$side.txt"
	done
	diff "$work/assembled.txt" "$work/ours.txt" | head -20
	exit 1
fi
