# Shared by the scripts that run real kernels: `. "$top_srcdir/tests/kernels/kernels.sh"` after tests/lib/lib.sh. A
# script names its archives, writes a manifest with signatures from doc/reference/kernel-library.md, and oracle.c, which
# computes the right results (tests/kernels/oracle.h); `right` runs the package and compares.
libraries=$(dirname "$($KERNEL_CC -print-file-name=libc.so)")
page=$top_srcdir/doc/reference/kernel-library.md

# Libraries keep memory that they have asked for (BLIS its pools, libstdc++ its reserve for exceptions), and unloading a
# package gives none of it back.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"

# need FILE PACKAGE: the test is skipped unless the file exists, which belongs to that package of Debian's.
need() {
	[ -e "$1" ] || { echo "SKIP: there is no $1: install the package $2"; exit 77; }
}

# need_command COMMAND PACKAGE
need_command() {
	command -v "$1" >/dev/null || { echo "SKIP: there is no $1: install the package $2"; exit 77; }
}

# need_isa FLAG…: the test is skipped unless the processor has these features, by the names of /proc/cpuinfo.
need_isa() {
	for flag; do
		grep -qw "$flag" /proc/cpuinfo || { echo "SKIP: the processor has no $flag"; exit 77; }
	done
}

# kernels NAME…: the entries of these names in the examples of doc/reference/kernel-library.md, as a manifest's
# "kernels".
kernels() {
	echo "kernels:"
	for name; do
		awk -v name="$name" '
			/^```/ { inside = $0 == "```yaml"; taking = 0 }
			inside && /^  [^ ]/ { taking = index($0, "  " name ":") == 1 }
			inside && taking { print; found = 1 }
			END { exit !found }' "$page" || fail "doc/reference/kernel-library.md has no kernel $name" >&2
	done
}

# fuse ARGUMENT…: model.yaml becomes model.sk. All tasks are in one superkernel, but for those that run once.
fuse() {
	"$sklink" model.yaml "$@" -o model.sk
	"$skdump" --reasons model.sk >reasons.txt
	"$skdump" --verify model.sk >/dev/null
	[ "$(grep -cE 'CAN_FUSE|RUNS_ONCE' reasons.txt)" = "$(grep -c '^  - {name:' model.yaml)" ] || {
		cat reasons.txt >&2
		fail "not all tasks are fused"
	}
}

# run MESSAGE ARGUMENT…: skrun on the package with the oracle's inputs.
run() {
	message=$1
	shift
	# shellcheck disable=SC2046 # a list of words
	"$skrun" model.sk $(cat arguments) "$@" >out.txt 2>err.txt || { cat out.txt err.txt >&2; fail "$message"; }
}

# right FLAG…: oracle.c, compiled with these flags, finds the results right on 1, 2, 3 and 7 cores; there each call
# stays within its bounds, and fused, unfused and serial runs are the same bit for bit. Results of other inputs must not
# be right.
right() {
	$KERNEL_CC -O1 -Wall -ffp-contract=off -I"$top_srcdir/tests/kernels" oracle.c -o oracle "$@" -lm
	./oracle make 2 >arguments
	run "other inputs"
	./oracle make 1 >arguments
	./oracle differ || fail "results of other inputs are taken as right"
	for cores in 1 2 3 7; do
		run "$cores cores" --cores $cores
		./oracle check || fail "wrong results on $cores cores"
		run "$cores cores, checked" --cores $cores --verify --guard
	done
}
