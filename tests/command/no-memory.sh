#!/bin/bash
# sklink, skdump and skrun with one failing allocation after the other, alone and with all later ones. Each run either
# ends with exit status 1, a message in the program's name and no output file, or does all its work without that memory.
# No signal ends it.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
[ -z "$(sed -n 's/^SANITIZE_CFLAGS = //p' "$top_builddir/Makefile")" ] || { echo "sanitizers have their own malloc";
	exit 77; }
$CC -shared -fPIC -O1 "$top_srcdir/tests/command/fail-malloc.c" -o fail-malloc.so || { echo "no glibc"; exit 77; }
cp "$top_srcdir/tests/lib/kernels.c" .
compile kernels
{
	echo 'sklink: 1'
	echo 'tensors:'
	tensors '[1000]' x c a b y
	cat <<-'M'
	scopes:
	  s: {options: "stream-fusion=1"}
	tasks:
	  - {name: t1, kernel: scale, args: [x, a], set: {factor: 2}, scope: s, record: e}
	  - {name: t2, kernel: prefix, args: [a, b], scope: s, stream: 1, wait: e}
	  - {name: t3, kernel: add, args: [b, c, y], scope: s, stream: 1}
	M
} >model.yaml
"$sklink" model.yaml kernels.o -o good.sk

# at K COMMAND…: the command with its K-th allocation failing. Sets $status, and $fired if there was one.
at() {
	number=$1
	shift
	rm -f fired output
	status=0
	timeout 60 env FAIL_AT="$number" FAIL_LOG="$dir/fired" LD_PRELOAD="$dir/fail-malloc.so" "$@" >out.txt \
		2>err.txt || status=$?
	fired=; [ ! -e fired ] || fired=yes
}

# sweep COMMAND…: for each of the command's allocations. It writes `output`.
sweep() {
	at 0 "$@"
	[ "$status" = 0 ] || { cat err.txt >&2; fail "exit status $status with all memory: $*"; }
	mv out.txt whole.txt
	rm -f whole
	[ ! -e output ] || mv output whole
	for FAIL_ON in '' yes; do
		[ -z "$FAIL_ON" ] || export FAIL_ON
		k=0
		while k=$((k + 1)); at "$k" "$@"; [ "$fired" ]; do
			case $status in
			0)
				cmp -s out.txt whole.txt || fail "allocation $k: something else is printed: $*"
				[ ! -e whole ] || cmp output whole ||
					fail "allocation $k: something else is written: $*"
				;;
			1)
				grep -qE "^${1##*/}: (error|fatal): .*([Mm]emory|Resource temporarily)" err.txt ||
					{ cat err.txt >&2; fail "allocation $k: no message: $*"; }
				[ ! -e output ] || fail "allocation $k: exit status 1, and an output: $*"
				;;
			*)
				cat err.txt >&2
				fail "allocation $k: exit status $status: $*"
				;;
			esac
		done
		[ "$k" -gt 3 ] || fail "hardly an allocation has failed: $*"
	done
	unset FAIL_ON
	! ls ./*.tmp 2>/dev/null || fail "temporary files are left: $*"
}

sweep "$sklink" model.yaml kernels.o -o output --threads=1
sweep "$sklink" model.yaml kernels.o -o output --threads=1 --report=report.json --header=model.h --explain=t2 \
	-Map=model.map
sweep "$skdump" good.sk
sweep "$skdump" --all good.sk
sweep "$skdump" --verify good.sk
sweep "$skdump" --explain t2 good.sk
sweep "$skdump" --diff good.sk good.sk
sweep "$skrun" good.sk --random 1 --verify --cores 2
sweep "$skrun" good.sk --random 1 --guard --cores 2
sweep "$skrun" good.sk --random 1 --check-races --cores 2
