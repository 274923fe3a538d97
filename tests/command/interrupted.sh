#!/bin/bash
# Programs that are stopped, disks that are full, and inputs that are cut off while they are read: no temporary file
# stays, no half of an output, and the exit status tells whether there is one.
set -eu
. "$top_srcdir/tests/lib/lib.sh"

cat >kernel.c <<'C'
#include "skkernel.h"
void twice(const float *x, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = 2 * x[i];
}
SK_KERNEL(twice, "split=n; in x f32[n], out y f32[n], n i64");
C
compile kernel
{
	printf 'sklink: 1\ntensors:\n'
	tensors '[4096]' x y
	printf '  w: {dtype: f32, shape: [65536], data: w.npy}\n  z: {dtype: f32, shape: [65536]}\n'
	printf 'tasks:\n  - {name: twice, kernel: twice, args: [x, y], scope: s}\n  - {name: other, kernel: twice, args: [w, z], scope: s}\n'
} >model.yaml
{
	printf '\223NUMPY\1\0\166\0'
	printf "%-117s\n" "{'descr': '<f4', 'fortran_order': False, 'shape': (65536,), }"
	head -c 262144 /dev/zero | tr '\0' '7'
} >w.npy
outputs='-Map=made.map --header=made.h --report=made.json --dependency-file=made.d'
link() { "$sklink" model.yaml kernel.o -o made.sk "$@"; }
link $outputs --time-trace=made.trace
"$skrun" made.sk --random 1 >/dev/null
for file in made.sk made.map made.h made.json made.d made.trace; do
	mv $file good."${file#made.}"
done

nothing_is_left() { # WHAT: neither temporary files nor outputs
	[ -z "$(find . -name '*.tmp' -o -name 'made.*')" ] ||
		fail "$1: left are $(find . -name '*.tmp' -o -name 'made.*')"
}
wait_until() { # COMMAND…: fails after a minute, which only a broken program takes
	for _ in $(seq 600); do
		if "$@"; then return; fi
		sleep 0.1
	done
	fail "does not happen: $*"
}
has_written() { [ -n "$(find . -name "$1.*.tmp" -size +0)" ]; }

# ---- signals, while everything but one file has been written ----
mkfifo pipe
for signal in INT TERM HUP QUIT PIPE XCPU ALRM ABRT KILL; do
	(ulimit -c 0; trap - INT QUIT; exec "$sklink" model.yaml kernel.o -o made.sk $outputs --time-trace=pipe) \
		2>err.txt &
	process=$!
	wait_until has_written made.sk
	# A shell makes its background jobs ignore INT and QUIT, nohup HUP, and ignored signals stay ignored.
	ignored=$((0x$(sed -n 's/^SigIgn:[[:space:]]*//p' /proc/$process/status)))
	if ((ignored >> ($(kill -l $signal) - 1) & 1)); then
		kill -TERM $process
	else
		kill -$signal $process
	fi
	status=0
	wait $process || status=$?
	[ $status -gt 128 ] || fail "$signal: status $status"
	if [ $signal = KILL ]; then # KILL cannot be handled; so the pattern of the others can find something
		[ -n "$(find . -name '*.tmp')" ] || fail "there has been nothing to remove"
		rm -f ./*.tmp
	fi
	nothing_is_left $signal
done
link $outputs --time-trace=pipe & # undisturbed, it waits for a reader, and all is written
timeout 60 grep -q traceEvents pipe || fail "nothing comes out of the pipe"
wait $! || fail "it does not end"
for name in sk map h json d; do
	if [ $name = json ]; then continue; fi # it has times in it, perhaps
	cmp made.$name good.$name || fail "made.$name differs"
done
rm -f made.*

# ---- limits and full disks ----
# The limit of a file's size acts like a full disk: both are an error of writing.
limited() ( # KIB COMMAND…: its messages go through a pipe, which has no size
	set -o pipefail
	kib=$1
	shift
	(ulimit -f "$kib" && exec "$@") 2>&1 >/dev/null | cat >&2
)
fails_with 'made.sk: cannot write the file: File too large' limited 64 "$sklink" model.yaml kernel.o -o made.sk $outputs
nothing_is_left "a package that is too large"
for option in Map header report time-trace repro; do
	echo old >made.old
	fails_with "made.old: cannot write the file: File too large" limited 0 "$sklink" model.yaml kernel.o -o \
		/dev/null --$option=made.old
	[ "$(cat made.old)" = old ] || fail "--$option: the old file is gone"
	rm made.old
	nothing_is_left "--$option"
done
if [ -w /dev/full ]; then
	for option in -Map --header --report; do
		fails_with '/dev/full: cannot write the file: No space left' "$sklink" model.yaml kernel.o -o made.sk \
			$option=/dev/full
		nothing_is_left "$option on a full device"
	done
	# Only standard output fails: the status is 1, and all is as it was.
	for option in --stats --explain=twice -Map=- -Map=/dev/stdout --print-gc-sections; do
		echo old >made.sk
		status=0
		link $option --trace >/dev/full 2>err.txt || status=$?
		[ $status = 1 ] && [ "$(cat made.sk)" = old ] ||
			fail "$option: status $status, and $(head -c 20 made.sk)"
		rm -f made.sk
		nothing_is_left "$option"
	done
fi
(
	trap '' PIPE
	status=0
	link -Map=- 2>err.txt || status=$?
	echo $status >status.txt
) | true
if [ "$(cat status.txt)" = 0 ]; then cmp made.sk good.sk; rm -f made.*; else nothing_is_left "nobody reads"; fi

# ---- outputs of skrun ----
run() { "$skrun" good.sk --random 1 "$@"; }
"$sklink" model.yaml kernel.o -o traced.sk --scope-options='*=profiling=1'
for output in '--random 1 --trace made.json' '--random 1 --measure made.txt' '--random 1 --output z=made.npy' \
	'--predict --trace made.json'; do
	echo old >"${output##*[ =]}"
	fails_with "${output##*[ =]}:.* File too large" limited 0 "$skrun" traced.sk $output
	[ "$(cat "${output##*[ =]}")" = old ] || fail "$output: the old file is gone"
	rm "${output##*[ =]}"
	nothing_is_left "skrun $output"
	if [ -w /dev/full ]; then
		fails_with 'No space left' "$skrun" traced.sk ${output%made.*}/dev/full
	fi
done
"$skrun" traced.sk --random 1 --trace made.json --output z=made.npy >/dev/null
python3 -m json.tool made.json >/dev/null || fail "the trace"
rm -f made.*

# A name of a descriptor is not replaced, for any file of the descriptor: output is appended to the file's contents.
for output in '--trace /dev/fd/1' '--measure /dev/fd/1' '--output z=/proc/self/fd/1'; do
	{ echo before && "$skrun" traced.sk --random 1 $output && echo behind; } >written
	{ echo before && "$skrun" traced.sk --random 1 $output && echo behind; } | cat >piped
	for file in written piped; do
		[ "$(head -c 7 $file)$(tail -c 7 $file)" = beforebehind ] && [ "$(wc -c <$file)" -gt 24 ] ||
			fail "skrun $output: $file"
	done
done

# ---- inputs that are cut off while they are read ----
# The manifest is a pipe, so sklink waits where the test wants it to.
mkfifo manifest
{
	cat kernel.c
	echo '__asm__(".section .rodata.large,\"aR\"\n.fill 300000,1,7\n.text");'
} >large.c
compile large
head -c 4096 /dev/zero >zeros
reads() { grep -q "$1" /proc/"$process"/maps; }
begin() { # FILE: sklink has mapped it
	cp large.o cut.o
	"$sklink" manifest cut.o -o made.sk --threads=2 2>err.txt &
	process=$!
	wait_until reads "$1"
}
finish() { # The program goes on, unless it has ended already; then nothing opens the other end of the pipe.
	"$@" 2>/dev/null &
	other=$!
	status=0
	wait $process || status=$?
	kill $other 2>/dev/null || true
}
feed() { exec cat model.yaml >manifest; }
drain() { exec cat pipe >/dev/null; }
end() { # PATTERN
	finish feed
	[ $status = 1 ] || fail "status $status, not 1"
	grep -qE -- "$1" err.txt || { cat err.txt; fail "no line matches '$1'"; }
	nothing_is_left "an input that is cut off"
}
begin cut.o
truncate -s 200 cut.o
end '^sklink: error: cut[.]o: the file has become shorter while it was read$'
begin cut.o # within a page, where nothing faults
truncate -s -1 cut.o
end 'error: cut[.]o: the file has changed while it was linked'
begin cut.o
printf 'x' | dd of=cut.o bs=1 seek=70000 conv=notrunc status=none
end 'error: cut[.]o: the file has changed while it was linked'
begin cut.o # another file of its name is another file
cp zeros other.o && mv other.o cut.o
finish feed
[ $status = 0 ] || { cat err.txt; fail "a file that has been replaced"; }
"$skrun" made.sk --random 1 >/dev/null
rm -f made.*

# The constants are mapped until the package has been written.
"$sklink" model.yaml kernel.o -o made.sk -Map=pipe 2>err.txt &
process=$!
wait_until reads w.npy
cp w.npy kept.npy
truncate -s 128 w.npy
finish drain
[ $status = 1 ] && grep -q 'error: w[.]npy: the file has become shorter while it was read' err.txt || { cat err.txt;
	fail "constants that are cut off: status $status"; }
nothing_is_left "constants that are cut off"
