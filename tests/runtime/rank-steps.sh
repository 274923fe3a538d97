# Exchanges between ranks as steps of superkernels: random manifests against numpy (rank_steps.py), a decoder layer in
# one launch, the proof of the order of steps, and ranks that fail while an exchange is open.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"
needs_python
kernels=("-L$top_builddir/kernels" -lskernels)
"$python" "$top_srcdir/tests/runtime/rank_steps.py" "$sklink" "$skrun" "$skdump" "${MANIFESTS:-2}" "${SEED:-1}" "${kernels[@]}"

# ---- a decoder layer with two AllReduce ----
model layer <<'LINES'
opset 21
opset 1 com.microsoft
input x f32 8x64
output y f32 none
constant g f32 64 1
constant w1 f32 64x32 0.02
constant w2 f32 32x64 -0.03
constant w3 f32 64x96 0.01
constant w4 f32 96x64 0.05
node LayerNormalization n1 x g -> a axis=-1
node MatMul q a w1 -> b
node Tanh s b -> c
node MatMul o c w2 -> d
node com.microsoft:AllReduce r1 d -> e
node Add h1 e x -> f
node LayerNormalization n2 f g -> k axis=-1
node MatMul u k w3 -> l
node Sigmoid t l -> m
node MatMul v m w4 -> p
node com.microsoft:AllReduce r2 p -> q
node Add h2 q f -> y
LINES
"$sklink" layer.onnx --ranks 2 "${kernels[@]}" -o layer.sk --report layer.json
"$sklink" layer.onnx --ranks 2 --scope-options '*=exchange-fusion=0' "${kernels[@]}" -o apart.sk
"$skdump" --verify layer.sk | grep -q '^verified: 1 launch,' || fail "the layer is not one launch"
"$skdump" --verify apart.sk | grep -q '^verified: 5 launches,' || { "$skdump" --launches apart.sk; fail "the exchanges are not apart"; }
"$sklink" layer.onnx --ranks 2 --scope-options '*=exchange-fusion=0' "${kernels[@]}" -o apart.sk --explain r1 2>&1 |
	grep -q 'its scope has exchange-fusion=0' || fail "no reason"
for rank in 0 1; do "$make_model" "x.$rank.npy" f32 8x64 "0.$((rank + 3))"; done
"$skrun" --ranks 2 apart.sk --input x=x.%r.npy --output y=wanted.%r.npy
cmp -s wanted.0.npy wanted.1.npy && fail "both ranks have the same residual"
for cores in 1 2 3 4 5 6 7 8; do
	"$skrun" --ranks 2 layer.sk --cores $cores --input x=x.%r.npy --output y=y.%r.npy
	cmp y.0.npy wanted.0.npy && cmp y.1.npy wanted.1.npy || fail "$cores cores: other results"
done
"$skrun" --ranks 2 layer.sk --random 1 --verify >out.txt && grep -q '^Precision: bit-identical' out.txt ||
	{ cat out.txt; fail "not verified"; }
"$skrun" layer.sk --predict >out.txt || fail "no prediction"

# ---- two exchanges ----
cat >two.yaml <<'YAML'
sklink: 1
ranks: 2
tensors:
  x: {dtype: f32, shape: [4, 6]}
  z: {dtype: f32, shape: [4, 6]}
  a: {dtype: f32, shape: [8, 6]}
  b: {dtype: f32, shape: [8, 6]}
  y: {dtype: f32, shape: [8, 6]}
tasks:
  - {name: first, exchange: all-gather, inputs: x, outputs: a, scope: s}
  - {name: second, exchange: all-gather, inputs: z, outputs: b, scope: s, stream: 1}
  - {name: sum, op: Add, inputs: [a, b], outputs: y, scope: s}
YAML
"$sklink" two.yaml "${kernels[@]}" -o two.sk
"$skdump" --verify two.sk | grep -q '^verified: 1 launch, 3 steps' || fail "not one launch"

"$skdump" --steps two.sk >out.txt && grep -q 'exchange 1 of group world' out.txt || { cat out.txt; fail "no exchange among the steps"; }

# Several instances on several streams: exchanges are in the order of the calls.
"$sklink" two.yaml --scope-options '*=exchange-fusion=0' "${kernels[@]}" -o two-apart.sk
for package in two two-apart; do
	"$top_builddir/tests/runtime/rank-streams" $package.sk 200 || fail "$package: exchanges of instances meet"
done

# One trace of both ranks: of each run 2 + 2 messages.
"$sklink" two.yaml --scope-options '*=profiling=1' "${kernels[@]}" -o timed.sk
"$skrun" --ranks 2 timed.sk --cores 3 --random 1 --repeat 7 --trace t.json >out.txt
"$python" "$top_srcdir/tests/lib/check-ranks-trace.py" t.json 2 28 || fail "the trace"

# damaged TEXT WHAT…: skdump refuses the package.
damaged() {
	text=$1
	shift
	"$python" "$top_srcdir/tests/runtime/damage_ranks.py" two.sk bad.sk "$@"
	! "$skdump" --verify bad.sk >out.txt 2>err.txt || fail "$*: proved"
	grep -qF -- "$text" err.txt || { cat err.txt >&2; fail "$*: no error '$text'"; }
}
damaged "launch 'sk_s': exchange 'second' does not await exchange 'first' before it: ranks could start them in different orders" await 1 0
damaged "exchange 'first' comes after exchange 'second', which it precedes in the order that all ranks must keep" steps 0 1
damaged "task 'first' is not one call on one core" flags 0 1
damaged "exchange 1: task 'sum' is not one call on one core" task 1 2

# ---- failures ----
cat >kernels.c <<'C'
#include "skkernel.h"

/* x[0]: 1: fail; 2: never return; 3: return late */
int check(const float *x, float *y, int64_t n)
{
	volatile float *place = y;

	for (int64_t i = 0; i < n; i++)
		y[i] = x[i];
	for (uint64_t i = 0; n > 0 && x[0] >= 2 && (x[0] == 2 || i < UINT64_C(1) << 26); i++)
		*place = x[0];
	return x[0] == 1;
}
SK_KERNEL(check, "in x f32[n], out y f32[n], n i64 -> status");
C
compile kernels
cat >fails.yaml <<'YAML'
sklink: 1
ranks: 2
tensors:
  u: {dtype: f32, shape: [8]}
  v: {dtype: f32, shape: [8]}
  s: {dtype: f32, shape: [8]}
  t: {dtype: f32, shape: [8]}
  a: {dtype: f32, shape: [16]}
  y: {dtype: f32, shape: [16]}
tasks:
  - {name: before, kernel: check, args: [u, s], scope: s}
  - {name: first, exchange: all-gather, inputs: s, outputs: a, scope: s}
  - {name: beside, kernel: check, args: [v, t], scope: s, stream: 1}
  - {name: second, exchange: all-gather, inputs: t, outputs: y, scope: s}
YAML
"$sklink" fails.yaml kernels.o "${kernels[@]}" -o fails.sk
"$skdump" --verify fails.sk | grep -q '^verified: 1 launch,' || fail "not one launch"
for value in 0 1 2 3; do "$make_model" "is.$value.npy" f32 8 $value; done

# Rank 0 may still compare packages when rank 1 fails.
compares="fails.sk: the comparison of packages"

# fails U0 V0 U1 V1 TEXT…: with these values on ranks 0 and 1 the run fails, in time, with the texts of both ranks.
fails() {
	cp "is.$1.npy" u.0.npy && cp "is.$2.npy" v.0.npy && cp "is.$3.npy" u.1.npy && cp "is.$4.npy" v.1.npy
	rm -f ?.0.out ?.1.out
	start=$SECONDS
	! "$skrun" --ranks 2 --cores 2 --timeout 1 fails.sk --input u=u.%r.npy --input v=v.%r.npy --output y=y.%r.out >out.txt 2>err.txt ||
		fail "$*: no failure"
	[ $((SECONDS - start)) -le 5 ] || fail "$*: it took too long"
	[ ! -e y.0.out ] && [ ! -e y.1.out ] || fail "$*: an output is left"
	shift 4
	for text; do grep -qE -- "$text" err.txt || { cat err.txt >&2; fail "no error '$text'"; }; done
}
fails 0 0 0 1 "rank 1: error: superkernel sk_s: task 'beside': kernel check returned status 1" \
	"rank 0: error: (exchange '(first|second)' .*|$compares): rank 1 has failed"
fails 0 0 0 2 "rank 1: error: .*superkernel sk_s: not ended within 1 s: task 'beside': kernel check on core 1" \
	"rank 0: error: exchange '(first|second)' .*: rank 1 (did not come|did not go on|has failed)"
fails 3 0 0 1 "rank 1: error: superkernel sk_s: task 'beside': kernel check returned status 1 .*; meanwhile, in exchange 'first' .*: rank 0 did not come" \
	"rank 0: error: (exchange 'first' .*|$compares): rank 1 has failed"
fails 2 0 0 2 "rank 1: error: exchange 'first' .*: rank 0 (did not come|has failed).*; superkernel sk_s: not ended within 1 s: task 'beside'" \
	"rank 0: error: .*superkernel sk_s: not ended within 1 s: task 'before'"

# A rank that is stopped, and one that is killed.
for signal in STOP KILL; do
	"$skrun" --ranks 2 --cores 2 --timeout 1 fails.sk --random 1 --repeat 100000000 >out.txt 2>err.txt &
	parent=$!
	rank_1=
	for _ in $(seq 100); do
		children=$(awk -v parent=$parent '$4 == parent { print $1 }' /proc/[0-9]*/stat 2>/dev/null | sort -n) || true
		rank_1=$(sed -n 2p <<<"$children")
		[ -n "$rank_1" ] && break
		sleep 0.1
	done
	sleep 0.2
	start=$SECONDS
	kill -$signal "$rank_1"
	! wait $parent || fail "$signal: it goes on"
	[ $((SECONDS - start)) -le 6 ] || fail "$signal: it took too long"
	grep -qE "^skrun: rank 0: error: exchange '(first|second)' \(all-gather of group world, 32 bytes\): rank 1 (did not come|did not go on|has failed: it was ended by signal 9)" err.txt ||
		{ cat err.txt >&2; fail "$signal: rank 0 says nothing"; }
done
