# Packages for several ranks over MPI, with each implementation that configure has found: the bytes of simulated ranks,
# failures that end with a text that names exchange, group and rank, one trace of all ranks, and programs other than
# skrun. TIMES=20 makes each failure 20 times with each implementation; NETWORKS=24 runs more networks.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"
needs_python
kernels=("-L$top_builddir/kernels" -lskernels)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
launcher=
trap '[ -z "$launcher" ] || kill "$launcher" 2>/dev/null || true; rm -rf "$dir"' EXIT
unset SKRT_TRANSPORT SKRT_CHECK_RANKS SKRT_RANK_PACKAGES

# An installation: skrun finds transports in the folder of libraries.
mkdir -p tree/bin tree/lib/sklink
cp "$skrun" tree/bin
skrun=$dir/tree/bin/skrun
names=
for name in mpich openmpi; do
	file=$top_builddir/loader/.libs/libskrt-$name.so
	[ -e "$file" ] && command -v mpirun.$name >/dev/null || continue
	cp "$file" tree/lib/sklink
	names="$names $name"
done
[ -n "$names" ] || { echo "skipped: there is no MPI"; exit 77; }

# libskrt is linked with no MPI.
! ldd "$top_builddir/.libs/libskrt.so" | grep -iE 'mpi|ucp|ucs|hwloc' || fail "libskrt.so needs an MPI"
! ldd "$skrun" | grep -iE 'mpi|ucp|ucs|hwloc' || fail "skrun needs an MPI"

# start MPI RANKS COMMAND…: starts processes of the command.
start() {
	local name=$1 ranks=$2
	shift 2
	timeout 60 mpirun.$name -np "$ranks" "$@"
}

# ---- the same bytes ----
launchers=
for name in $names; do launchers="$launchers;timeout 60 mpirun.$name -np {}"; done
RANKS="2 4" LAUNCHERS=${launchers#;} "$python" "$top_srcdir/tests/runtime/ranks.py" "$sklink" "$skrun" "$skdump" \
	"${NETWORKS:-2}" "${SEED:-1}" "${kernels[@]}"

# ---- failures ----
cat >check.c <<'C'
#include "skkernel.h"

/* Copies x to y. It fails if the first element is 1, does not return if it is 2, and is slow if it is 3. */
int check(const float *x, float *y, int64_t n)
{
	volatile float *hang = y;

	for (int64_t i = 0; i < n; i++)
		y[i] = x[i];
	while (n > 0 && x[0] == 2)
		*hang = 2;
	return x[0] == 1;
}
SK_KERNEL(check, "in x f32[n], out y f32[n], n i64 -> status");
C
compile check
cat >two.yaml <<'YAML'
sklink: 1
ranks: 2
tensors:
  x: {dtype: f32, shape: [8]}
  t: {dtype: f32, shape: [8]}
  y: {dtype: f32, shape: [16]}
tasks:
  - {name: check, kernel: check, args: [x, t]}
  - {name: all, exchange: all-gather, inputs: t, outputs: y}
YAML
"$sklink" two.yaml check.o "${kernels[@]}" -o two.sk
sed 's/shape: \[8\]/shape: [4]/; s/shape: \[16\]/shape: [8]/' two.yaml >less.yaml
sed 's/\(tasks:\)/\1\n  - {name: before, exchange: send, root: 0, peer: 1, inputs: x, outputs: u}/; s/\(tensors:\)/\1\n  u: {dtype: f32, shape: [8]}/' \
	two.yaml >more.yaml
sed 's/ranks: 2/ranks: 3/; s/\[16\]/[24]/' two.yaml >three.yaml
for name in less more three; do "$sklink" $name.yaml check.o "${kernels[@]}" -o $name.sk; done
# The same exchanges, and another kernel.
sed 's/x\[i\];/x[i] + 1;/' check.c >other.c && compile other && "$sklink" two.yaml other.o "${kernels[@]}" -o other.sk
for value in 0 1 2; do "$make_model" v$value.npy f32 8 $value; done
said=(--timeout 1 --input x=x.%r.npy --output y=y.%r.npy)
all="exchange 'all' (all-gather of group world, 32 bytes)"

# processes: the numbers of all that run $skrun.
processes() {
	local folder name
	for folder in /proc/[0-9]*; do
		{ IFS= read -rd '' name <"$folder/cmdline"; } 2>/dev/null || continue
		[ "$name" != "$skrun" ] || echo "${folder#/proc/}"
	done
}

longest=${TIMES:+4} # s: the time-out, and 3
longest=${longest:-20}
# ended MPI TEXT: the processes of the launcher $launcher, which have begun at $began, end within 4 s (with TIMES; else
# other tests may slow them) with that text, no output, and no process that is left.
ended() {
	local name=$1 text=$2 end left
	if wait "$launcher"; then cat err.txt >&2; fail "$name, $case: it goes on"; fi
	launcher=
	end=$(date +%s%N)
	[ $((end - began)) -le "${longest}000000000" ] || { cat err.txt >&2; fail "$name, $case: it took $(((end - began) / 1000000)) ms"; }
	grep -qF -- "$text" err.txt || { cat err.txt >&2; fail "$name, $case: no text '$text'"; }
	[ -z "$(ls | grep -E '^y\..*' || true)" ] || fail "$name, $case: an output is left: $(ls)"
	for left in 1 2 3 4 5 6 7 8 9 10 gone; do
		processes >pids.txt
		[ -s pids.txt ] || break
		[ $left != gone ] || { cat pids.txt >&2; fail "$name, $case: a process is left"; }
		sleep 0.1
	done
}

# inputs VALUE VALUE: x of both ranks.
inputs() {
	cp "v$1.npy" x.0.npy && cp "v$2.npy" x.1.npy
}

# launch MPI ARGUMENT…: starts a run in the background. timeout would put it into a process group of its own.
launch() {
	local name=$1
	shift
	began=$(date +%s%N)
	mpirun.$name "$@" >out.txt 2>err.txt &
	launcher=$!
}

# worker RANK: waits until the rank's worker has been running for a while; $found is it, and $watcher its parent.
worker() {
	local try
	for try in $(seq 100); do
		for found in $(processes); do
			watcher=$(awk '{ print $4 }' "/proc/$found/stat" 2>/dev/null) || continue
			grep -qzE "^(PMI_RANK|OMPI_COMM_WORLD_RANK)=$1$" "/proc/$found/environ" 2>/dev/null || continue
			grep -qF two.sk "/proc/$found/maps" 2>/dev/null || continue
			sleep 0.5
			return
		done
		sleep 0.05
	done
	fail "rank $1 does not run"
}

# failure CASE MPI: one failure.
failure() {
	local case=$1 name=$2 other
	inputs 0 0
	rm -f y.*.npy
	case $case in
	kernel)
		inputs 0 1
		launch $name -np 2 "$skrun" two.sk "${said[@]}"
		ended $name "rank 0: error: $all: rank 1 has failed: see its message"
		grep -qE "rank 1: error: .*task 'check': kernel check returned status 1" err.txt || fail "$name, $case: rank 1 says nothing" ;;
	endless)
		inputs 0 2
		launch $name -np 2 "$skrun" two.sk "${said[@]}"
		ended $name "task 'check'" && grep -qE "rank 0: error: exchange 'all' .*: rank 1 (did not come within 1 s|has failed)" err.txt ||
			{ cat err.txt >&2; fail "$name, $case: rank 0 says nothing"; } ;;
	input)
		rm x.1.npy
		launch $name -np 2 "$skrun" two.sk "${said[@]}"
		ended $name "rank 1: error: x.1.npy" ;;
	missing)
		launch $name -np 1 "$skrun" two.sk "${said[@]}" : -np 1 sleep 10
		ended $name "a rank may be missing" ;;
	killed)
		launch $name -np 2 "$skrun" two.sk "${said[@]}" --repeat 100000000
		worker 1
		began=$(date +%s%N)
		kill -KILL "$found"
		ended $name "rank 1: error: it was ended by signal 9 (Killed)"
		grep -qF "$all" err.txt || { cat err.txt >&2; fail "$name, $case: no exchange"; } ;;
	launched)
		launch $name -np 2 "$skrun" two.sk "${said[@]}" --repeat 100000000
		worker 1
		began=$(date +%s%N)
		kill -KILL "$watcher"
		ended $name "$all: " ;;
	stopped)
		launch $name -np 2 "$skrun" two.sk "${said[@]}" --repeat 100000000
		worker 1
		began=$(date +%s%N)
		kill -STOP "$found"
		ended $name "rank 0: error: $all: rank 1 did not" ;;
	launcher)
		for other in $names; do
			[ $other != $name ] || continue
			export SKRT_TRANSPORT=$other
			launch $name -np 2 "$skrun" two.sk "${said[@]}"
			ended $name "transport $other does not go with this launcher"
			# Even if the name does not show it.
			SKRT_TRANSPORT=$dir/tree/other.so
			cp tree/lib/sklink/libskrt-$other.so tree/other.so
			sed -i "s/\x00$other\x00/\x00${other/m/M}\x00/" tree/other.so
			launch $name -np 2 "$skrun" two.sk "${said[@]}"
			ended $name "error: "
			unset SKRT_TRANSPORT
		done ;;
	number)
		launch $name -np 2 "$skrun" three.sk "${said[@]}"
		ended $name "error: three.sk: the package is for 3 ranks, and this is one of 2" ;;
	exchanges)
		launch $name -np 1 "$skrun" two.sk "${said[@]}" : -np 1 "$skrun" less.sk "${said[@]}"
		ended $name "rank 0 and rank 1 have packages with different exchanges: number 0 is $all on rank 0, and ${all/32/16} on rank 1" ;;
	longer)
		launch $name -np 1 "$skrun" more.sk "${said[@]}" : -np 1 "$skrun" two.sk "${said[@]}"
		ended $name "rank 0 and rank 1 have packages with different exchanges: number 0 is exchange 'before'" ;;
	package)
		launch $name -np 1 "$skrun" two.sk "${said[@]}" : -np 1 "$skrun" other.sk "${said[@]}"
		ended $name "rank 0 and rank 1 have different packages, with the same exchanges" ;;
	runs)
		launch $name -np 1 "$skrun" two.sk "${said[@]}" --check-ranks : -np 1 "$skrun" two.sk "${said[@]}" --repeat 2 --check-ranks
		ended $name "the ranks are at different exchanges: rank 0 comes to the end of the runs, rank 1 to $all" ;;
	late)
		launch $name -np 1 "$skrun" two.sk "${said[@]}" : -np 1 "$skrun" two.sk "${said[@]}" --repeat 2
		ended $name "within 1 s" ;;
	esac
	rm -f x.*.npy
}
if [ -n "${TIMES-}" ]; then
	for case in ${CASES:-kernel endless input missing killed launched stopped launcher number exchanges longer package runs late}; do
		for name in $names; do
			for time in $(seq "$TIMES"); do failure $case $name; done
			echo "$case, $name: $TIMES of $TIMES"
		done
	done
else
	for case in kernel killed stopped launcher; do for name in $names; do failure $case $name; done; done
	first=${names# } && first=${first%% *}
	for case in endless input missing launched number exchanges longer package runs late; do failure $case $first; done
fi

# ---- packages of each rank ----
cp two.sk pair.0.sk && cp other.sk pair.1.sk
for name in simulated $names; do
	rm -f y.*.npy
	inputs 0 0
	run=("$skrun" pair.%r.sk --input x=x.%r.npy --output y=y.%r.npy)
	if [ $name = simulated ]; then "${run[@]}" --ranks 2; else start $name 2 "${run[@]}"; fi >out.txt 2>err.txt ||
		{ cat err.txt >&2; fail "$name: packages of each rank"; }
	"$python" -c '
import numpy as np
for rank in 0, 1:
    assert (np.load(f"y.{rank}.npy") == [0] * 8 + [1] * 8).all()' || fail "$name: packages of each rank give something else"
	rm y.*.npy x.*.npy
done

# ---- one trace of all ranks ----
cat >traced.yaml <<'YAML'
sklink: 1
ranks: 3
groups: {one: [[0], [1], [2]]}
tensors:
  x: {dtype: f32, shape: [9]}
  a: {dtype: f32, shape: [27]}
  b: {dtype: f32, shape: [27]}
  c: {dtype: f32, shape: [27]}
  y: {dtype: f32, shape: [27]}
tasks:
  - {name: gather, exchange: all-gather, inputs: x, outputs: a}
  - {name: parts, exchange: all-to-all, inputs: a, outputs: b}
  - {name: share, exchange: broadcast, root: 1, inputs: b, outputs: c}
  - {name: pass, exchange: send, root: 2, peer: 0, inputs: c, outputs: y}
YAML
"$sklink" traced.yaml "${kernels[@]}" -o traced.sk
# Of each run 6 + 6 + 2 + 1 messages.
traced() {
	title=$1
	shift
	rm -f t.json
	"$@" traced.sk --random 1 --repeat 7 --trace t.json >out.txt 2>err.txt || { cat err.txt >&2; fail "$title: no trace"; }
	"$python" "$top_srcdir/tests/lib/check-ranks-trace.py" t.json 3 105 $shift || fail "$title: the trace"
}
shift=
traced simulated "$skrun" --ranks 3
for name in $names; do traced $name start $name 3 "$skrun"; done
"$skrun" --ranks 3 traced.sk --random 1 --trace t.%r.json >out.txt && [ -e t.2.json ] || fail "no trace of each rank"
refused_page="write %r where its number is to be in the name"
! "$skrun" --ranks 3 traced.sk --random 1 --trace t.json --html t.%r.html 2>err.txt && grep -qF "$refused_page" err.txt ||
	fail "a page of the trace of all ranks"
# Rank 1 has another clock: three hours ahead.
if unshare -T --monotonic 10800 true 2>/dev/null; then
	shift=10800000000000
	for name in $names; do
		rm -f t.json
		arguments=(traced.sk --random 1 --repeat 7 --trace t.json)
		mpirun.$name -np 1 "$skrun" "${arguments[@]}" : -np 1 unshare -T --monotonic 10800 "$skrun" "${arguments[@]}" : \
			-np 1 "$skrun" "${arguments[@]}" >out.txt 2>err.txt || { cat err.txt >&2; fail "$name: no trace of two clocks"; }
		"$python" "$top_srcdir/tests/lib/check-ranks-trace.py" t.json 3 105 $shift || fail "$name: the trace of two clocks"
	done
else
	echo "left out: two clocks, which unshare -T may not make"
fi

# ---- predictions ----
plain_profile mine '7 ns' >mine.profile
! "$skrun" --predict --device mine.profile two.sk 2>err.txt && grep -qF "profile mine does not say how fast ranks exchange data" err.txt ||
	fail "a prediction without a link"
printf '%s\n' 'exchange: 50 ns' 'link.latency: 2 us' 'link.rate: 10 MB/s' >>mine.profile
# The first task moves 64 bytes, a byte a ns; the exchange takes 50 + 2000 + 32 * 100; two launches.
"$skrun" --predict --device mine.profile two.sk >out.txt
grep -q 'costs:.* 1 exchange between ranks, from the link of the profile;' out.txt && grep -qE '^fused +7314\.00 ' out.txt ||
	{ cat out.txt >&2; fail "a prediction"; }

# ---- other programs ----
if nm -D "$top_builddir/.libs/libskrt.so" | grep -q '__[at]san_'; then
	echo "left out: programs, which would have to be sanitized, too"
	exit 0
fi
cat >program.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "skrt.h"

#define CHECK(call) \
	do { \
		if (call) { \
			fprintf(stderr, "program: %s\n", skrt_error()); \
			exit(1); \
		} \
	} while (0)

/* Usage: program PACKAGE RUNS VALUE: x is VALUE; prints the last element. */
int main(int argc, char **argv)
{
	struct skrt_device_options options = {.size = sizeof(options), .cores = 1};
	struct skrt_device *device;
	struct skrt_module *module;
	struct skrt_instance *instance;
	struct skrt_stream *stream;
	_Alignas(64) float x[8], y[16] = {0};

	for (int i = 0; i < 8; i++)
		x[i] = (float)atof(argv[argc - 1]);
	CHECK(skrt_device_open(&options, &device));
	CHECK(skrt_module_load(device, argv[1], &module));
	CHECK(skrt_instance_create(module, &instance));
	CHECK(skrt_stream_create(device, &stream));
	CHECK(skrt_instance_bind(instance, 0, x, sizeof(x)));
	CHECK(skrt_instance_bind(instance, 1, y, sizeof(y)));
	for (int i = 0; i < atoi(argv[2]); i++)
		CHECK(skrt_run_network(stream, instance));
	printf("%g %g\n", y[0], y[15]);
	return 0;
}
C
"${CC:-cc}" program.c -I"$top_srcdir/loader" -L"$top_builddir/.libs" -lskrt -o tree/bin/program
mkdir -p tree/lib/sklink && cp -P "$top_builddir"/.libs/libskrt.so* tree/lib
export LD_LIBRARY_PATH=$dir/tree/lib
program=$dir/tree/bin/program
skrun=$program # for `ended`
said=()
case=program
for name in $names; do
	start $name 1 "$program" two.sk 1 5 >out.txt 2>err.txt && fail "a package for two ranks runs alone"
	grep -q 'the package is for 2 ranks, and this process is alone' err.txt || { cat err.txt >&2; fail "a process that is alone"; }
	mpirun.$name -np 1 "$program" two.sk 3 5 : -np 1 "$program" two.sk 3 6 >out.txt 2>err.txt || { cat err.txt >&2; fail "$name: a program"; }
	[ "$(sort -u out.txt)" = "5 6" ] || { cat out.txt >&2; fail "$name: a program prints something else"; }
	launch $name -np 1 "$program" two.sk 3 5 : -np 1 "$program" two.sk 3 1
	ended $name "rank 1 has failed: see its message"
	launch $name -np 1 "$program" two.sk 3 5 : -np 1 "$program" other.sk 3 5
	ended $name "rank 0 and rank 1 have different packages, with the same exchanges"
	SKRT_RANK_PACKAGES=own mpirun.$name -np 1 "$program" two.sk 1 5 : -np 1 "$program" other.sk 1 6 >out.txt 2>err.txt ||
		{ cat err.txt >&2; fail "$name: packages of each rank"; }
	[ "$(sort -u out.txt)" = "5 7" ] || { cat out.txt >&2; fail "$name: packages of each rank: something else"; }
done
