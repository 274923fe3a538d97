# Packages for several ranks: collective operators of each vocabulary and random networks of them against numpy
# (ranks.py), manifests with exchanges, the proof of their order, damaged records, and ranks that fail.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"
needs_python
kernels=("-L$top_builddir/kernels" -lskernels)
parent=
trap 'kill -KILL $parent 2>/dev/null || true; rm -rf "$dir"' EXIT # its ranks end with it
unset SKRT_TRANSPORT SKRT_CHECK_RANKS SKRT_RANK_PACKAGES
"$python" "$top_srcdir/tests/runtime/ranks.py" "$sklink" "$skrun" "$skdump" "${NETWORKS:-2}" "${SEED:-1}" "${kernels[@]}"

# refused TEXT COMMAND…: the command fails with that text, and leaves no package.
refused() {
	local text=$1
	shift
	rm -f no.sk
	! "$@" >out.txt 2>err.txt || fail "not refused: $*"
	grep -qF -- "$text" err.txt || { cat err.txt >&2; fail "no error '$text'"; }
	[ ! -e no.sk ] || fail "$*: a package is left"
}

# same FILE EXPRESSION: the array in the file is that of Python, in which x is the list of the ranks' inputs.
same() {
	"$python" - "$1" "$2" <<'PYTHON' || fail "$1 is not $2"
import sys
import numpy as np
x = [np.load(f"x.{rank}.npy") for rank in range(4)]
found, wanted = np.load(sys.argv[1]), eval(sys.argv[2])
sys.exit(found.dtype != wanted.dtype or found.shape != wanted.shape or found.tobytes() != wanted.tobytes())
PYTHON
}
"$python" -c '
import numpy as np
for rank in range(4):
    np.save(f"x.{rank}.npy", np.random.default_rng(rank).standard_normal((4, 6)).astype(np.float32))'

# ---- the vocabularies of GE and of MindSpore ----
# vocabulary NAME VALUE NODE…: the nodes, from x to y, on two ranks; y of rank 1 is the value.
vocabulary() {
	name=$1 value=$2
	shift 2
	{
		printf '%s\n' 'opset 21' 'opset 1 mindspore' 'input x f32 4x6' 'output y f32 none' "$@"
	} | model "$name"
	"$sklink" "$name.onnx" --ranks 2 "${kernels[@]}" -o "$name.sk" 2>err.txt || { cat err.txt >&2; fail "$name: not linked"; }
	"$skrun" --ranks 2 "$name.sk" --input x=x.%r.npy --output y=y.%r.npy || fail "$name: it does not run"
	same y.1.npy "$value"
}
vocabulary ms-reduce 'np.maximum(x[0], x[1])' "node mindspore:AllReduce n x -> y op='max' group='hccl_world_group'"
vocabulary ms-gather 'np.concatenate(x[:2])' "node mindspore:AllGather n x -> y rank_size=2 group='hccl_world_group'"
vocabulary ms-scatter '(x[0] * x[1])[2:]' "node mindspore:ReduceScatter n x -> y op='prod' rank_size=2"
vocabulary ms-broadcast 'x[1]' 'node mindspore:Broadcast n x -> y root_rank=1'
vocabulary ms-parts 'np.concatenate([x[0][:, 3:], x[1][:, 3:]])' \
	'node mindspore:AlltoAll n x -> y split_count=2 split_dim=1 concat_dim=0'
vocabulary ge-reduce 'x[0] + x[1]' "node ge:HcomAllReduce n x -> y reduction='sum' group='hccl_world_group' fusion=1 fusion_id=-1"
vocabulary ge-to-one 'np.minimum(x[0], x[1])' "node ge:HcomReduce n x -> y reduction='min' root_rank=1 group='hccl_world_group'"
vocabulary ge-gather 'np.concatenate(x[:2])' "node ge:HcomAllGather n x -> y rank_size=2 group='hccl_world_group'"
vocabulary ge-scatter '(x[0] + x[1])[2:]' "node ge:HcomReduceScatter n x -> y reduction='sum' rank_size=2 group='hccl_world_group'"
vocabulary ge-broadcast 'x[0]' "node ge:HcomBroadcast n x -> y root_rank=0 group='hccl_world_group'"
vocabulary ge-parts 'np.concatenate([x[0][2:], x[1][2:]])' 'constant counts i64 2 12' 'constant places i64 2 0 12' \
	"node ge:HcomAllToAllV n x counts places counts places -> y group='hccl_world_group'"
vocabulary ge-send 'x[0]' "node ge:HcomReceive n -> y src_rank=0 sr_tag=3 group='hccl_world_group' shape=[4,6] dtype=0" \
	"node ge:HcomSend s x -> dest_rank=1 sr_tag=3 group='hccl_world_group'"
same y.0.npy 'np.zeros_like(x[0])'
vocabulary ms-send 'x[0] + x[0]' "node mindspore:Send s x -> sr_tag=0 dest_rank=0 group='hccl_world_group'" \
	"node mindspore:Send t x -> sr_tag=1 dest_rank=1" "node mindspore:Receive n -> z sr_tag=1 src_rank=0 shape=[4,6] dtype=43" \
	"node mindspore:Receive o -> w sr_tag=0 src_rank=1 shape=[4,6] dtype=43 group='hccl_world_group'" \
	'node Add sum z z -> u' 'node Add all u w -> y'
same y.0.npy 'x[1]'

# The reduction of parts that are exchanged at once, a sum and a normalisation are one tile group; numpy computes each
# number by itself. Of large tensors, parts are reduced.
model fold <<'LINES'
opset 24
opset 1 sklink
input x f32 8x64
output y f32 none
output z f32 none
constant g f32 64 1.5
constant r f32 8x64 0.5 -1 2
node sklink:AllReduce sum x -> s
node Add add s r -> y
node RMSNormalization norm y g -> z epsilon=0.01
LINES
"$sklink" fold.onnx --ranks 4 "${kernels[@]}" -o fold.sk
"$skdump" --steps fold.sk >out.txt
grep -A 1 'sum#2 .*sk_sum_f32.*group tiles' out.txt | grep -q addrmsnorm || { cat out.txt; fail "no tile group"; }
[ "$("$skdump" --launches fold.sk | grep -c '^ .* AllReduce ')" = 1 ] || fail "small tensors are exchanged more than once"
"$python" -c '
import numpy as np
for rank in range(4):
    np.save(f"f.{rank}.npy", np.random.default_rng(rank).standard_normal((8, 64)).astype(np.float32))'
"$skrun" --ranks 4 fold.sk --input x=f.%r.npy --output y=y.%r.npy --output z=z.%r.npy
"$python" - <<'PYTHON' || fail "the fold, the sum or the norm is wrong"
import numpy as np
x, r = [np.load(f"f.{rank}.npy") for rank in range(4)], np.array([0.5, -1] + [2] * 510, np.float32).reshape(8, 64)
sums = ((x[0] + x[1]) + x[2]) + x[3] + r
norms = np.empty((8, 64))
for i in range(8):
    square = sum(float(sums[i, k]) ** 2 for k in range(64)) / 64
    for j in range(64):
        norms[i, j] = 1.5 * sums[i, j] / (square + 0.01) ** 0.5
for rank in range(4):
    assert np.load(f"y.{rank}.npy").tobytes() == sums.tobytes(), rank
    assert np.allclose(np.load(f"z.{rank}.npy"), norms, 1e-5, 1e-6), rank
PYTHON
model large <<'LINES'
opset 24
opset 1 sklink
input x f32 2048x6
output y f32 none
node sklink:AllReduce sum x -> y
LINES
"$sklink" large.onnx --ranks 2 "${kernels[@]}" -o large.sk
[ "$("$skdump" --launches large.sk | grep -c '^ .* AllReduce ')" = 2 ] || fail "large tensors are not divided"

# ---- models that cannot be linked ----
model sum <<'LINES'
opset 21
opset 1 sklink
input x f32 4x6
output y f32 none
node sklink:AllReduce n x -> y group='tp'
LINES
no=(-o no.sk "${kernels[@]}")
refused "node 'n' (AllReduce): it is for several ranks; --ranks N" "$sklink" sum.onnx "${no[@]}"
refused "there is no group 'tp', but 'world'; --group 'tp=0,1/2,3'" "$sklink" sum.onnx --ranks 4 "${no[@]}"
refused "group 'tp': it leaves out rank 2" "$sklink" sum.onnx --ranks 4 --group tp=0,1 "${no[@]}"
refused "group 'tp': rank 1 is given twice" "$sklink" sum.onnx --ranks 4 --group tp=0,1/1,3 "${no[@]}"
refused "group 'tp': there is no rank 4 among 4" "$sklink" sum.onnx --ranks 4 --group tp=0,1/2,4 "${no[@]}"
refused "group 'tp': one part has 3 ranks, and another one has 1" "$sklink" sum.onnx --ranks 4 --group tp=0,1,2/3 "${no[@]}"
refused "group 'tp': ranks are numbers" "$sklink" sum.onnx --ranks 4 --group tp=0,x "${no[@]}"
refused "group 'tp': the number of ranks is missing" "$sklink" sum.onnx --group tp=0,1 "${no[@]}"
refused "--group 'tp': NAME=RANKS is expected" "$sklink" sum.onnx --ranks 4 --group tp "${no[@]}"
refused "group 'world': it is the group of all ranks" "$sklink" sum.onnx --ranks 2 --group world=0,1 "${no[@]}"
refused "-r is for one process" "$sklink" sum.onnx --ranks 2 --group tp=0,1 -r "${no[@]}"
"$sklink" sum.onnx --ranks 4 --group tp=3,1/0,2 "${kernels[@]}" -o sum.sk
"$skrun" --ranks 4 sum.sk --input x=x.%r.npy --output y=y.%r.npy
same y.1.npy 'x[3] + x[1]'
same y.2.npy 'x[0] + x[2]'

# wrong TEXT LINE…: nodes that are refused.
wrong() {
	text=$1
	shift
	printf '%s\n' 'opset 21' 'opset 1 sklink' 'opset 1 com.microsoft' 'input x f32 4x6' 'output y f32 none' "$@" | model wrong
	refused "$text" "$sklink" wrong.onnx --ranks 2 "${no[@]}"
}
wrong "'dest_rank' is 2, but group 'world' has 2 ranks" 'node sklink:Send n x -> y dest_rank=2'
wrong "no node sends with 'sr_tag' 4 in its group" 'node mindspore:Receive n -> y sr_tag=4 src_rank=0' \
	'node mindspore:Send s x -> sr_tag=3 dest_rank=1'
wrong "no node receives with 'sr_tag' 3 in its group" 'node mindspore:Send s x -> sr_tag=3 dest_rank=1' 'node Neg n x -> y'
wrong "more than one node sends with 'sr_tag' 3" 'node mindspore:Receive n -> y sr_tag=3 src_rank=0' \
	'node mindspore:Send s x -> sr_tag=3 dest_rank=1' 'node mindspore:Send t x -> sr_tag=3 dest_rank=0'
wrong "another node receives the same" 'node mindspore:Receive n -> z sr_tag=3 src_rank=0' \
	'node mindspore:Receive m -> y sr_tag=3 src_rank=0' 'node mindspore:Send s x -> sr_tag=3 dest_rank=1'
wrong "'rank_size' is 3, but group 'world' has 2 ranks" 'node sklink:AllGather n x -> y rank_size=3'
wrong "'group_size' is 1, but group 'world' has 2 ranks" 'node com.microsoft:AllGather n x -> y'
wrong "the reduction 'mean' is none of sum, max, min and prod" "node sklink:AllReduce n x -> y op='mean'"
wrong "'root_rank' is 2, but group 'world' has 2 ranks" 'node sklink:Broadcast n x -> y root_rank=2'
wrong "cannot be divided among 2 ranks" 'node Slice s x a b -> t' 'constant a i64 1 0' 'constant b i64 1 3' \
	'node sklink:ReduceScatter n t -> y rank_size=2'
wrong "depends on what ranks exchange" 'constant c i64 2 6' 'node sklink:AllReduce n c -> s' 'node Reshape r x s -> y'
printf '%s\n' 'opset 21' 'input x f32 4x6' 'output y f32 none' 'node Neg n x -> y' | model alone
"$sklink" alone.onnx --ranks 2 "${kernels[@]}" -o alone.sk 2>err.txt && grep -q 'no task exchanges data between the 2 ranks' err.txt ||
	fail "no warning of a network without exchanges"
"$sklink" alone.onnx "${kernels[@]}" -o one.sk
! readelf -SW one.sk | grep -q 'sk\.ranks' || fail "a package for one process has ranks"

# ---- manifests ----
cat >all.yaml <<'YAML'
sklink: 1
ranks: 4
groups: {tp: [[0, 1], [2, 3]], ring: [3, 2, 1, 0]}
tensors:
  x: {dtype: f32, shape: [4, 6]}
  all: {dtype: f32, shape: [8, 6]}
  mine: {dtype: f32, shape: [4, 6]}
  first: {dtype: f32, shape: [8, 6]}
  sent: {dtype: f32, shape: [4, 6]}
tasks:
  - {name: gather, exchange: all-gather, group: tp, inputs: x, outputs: all}
  - {name: swap, exchange: all-to-all, group: ring, inputs: x, outputs: mine}
  - {name: share, exchange: broadcast, group: tp, root: 1, inputs: all, outputs: first}
  - {name: pass, exchange: send, root: 1, peer: 2, inputs: mine, outputs: sent}
YAML
"$sklink" all.yaml "${kernels[@]}" -o all.sk
"$skdump" --verify all.sk >out.txt && grep -q '^verified: 4 launches' out.txt || { cat out.txt; fail "not proved"; }
outputs=(--output first=first.%r.npy --output sent=sent.%r.npy)
for how in "" --unfused "--seed 3" "--seed 4 --device a3" --guard --check-races; do
	"$skrun" --ranks 4 all.sk --input x=x.%r.npy "${outputs[@]}" $how >out.txt
	same first.0.npy 'np.concatenate(x[:2])'
	same first.3.npy 'np.concatenate(x[2:])'
	same sent.2.npy 'np.concatenate([x[r][2:3] for r in (3, 2, 1, 0)])'
	same sent.3.npy 'np.zeros((4, 6), np.float32)'
done
"$skdump" --launches all.sk >out.txt
grep -qE '^ +3 +pass +send +send from 1 to 2 +world +96 +96$' out.txt || { cat out.txt; fail "no table of exchanges"; }
"$skdump" all.sk | grep -q 'ranks .*4, with 4 exchanges; groups world 0,1,2,3; tp 0,1/2,3; ring 3,2,1,0' || fail "no ranks"
"$skdump" --json all.sk | "$python" -c '
import json, sys
package = json.load(sys.stdin)
assert package["ranks"] == 4 and package["groups"][1] == {"name": "tp", "parts": [[0, 1], [2, 3]]}, package["groups"]
assert package["exchanges"][2]["kind"] == "broadcast" and package["exchanges"][2]["root"] == 1
assert package["launches"][3]["kind"] == "exchange"'

# changed TEXT SCRIPT: the manifest with that change is refused.
changed() {
	sed "$2" all.yaml >changed.yaml
	! cmp -s all.yaml changed.yaml || fail "$2 changes nothing"
	refused "$1" "$sklink" changed.yaml "${no[@]}"
}
changed "the number of ranks is missing" '/^ranks/d; /^groups/d'
changed "there is no group 'tq'; did you mean 'tp'?" '0,/group: tp/s/group: tp/group: tq/'
changed "cannot be gathered in 288" 's/all: {dtype: f32, shape: \[8, 6\]}/all: {dtype: f32, shape: [12, 6]}/'
changed "the tensors have different types" 's/sent: {dtype: f32/sent: {dtype: i32/'
changed "'root' belongs to broadcast and send" 's/all-gather, group/all-gather, root: 1, group/'
changed "'kernel', 'op', 'attr', 'set', 'blocks' and 'once' do not go with 'exchange'" 's/name: gather, /name: gather, op: Neg, /'
changed "'group', 'root' and 'peer' belong to 'exchange'" 's/exchange: all-gather, group/op: Neg, group/'
changed "'Exchange' is the operator of tasks that have 'exchange'" 's/exchange: all-gather, group: tp/op: Exchange/'
refused "the manifest is for 4 ranks, and --ranks says 2" "$sklink" all.yaml --ranks 2 "${no[@]}"

# ---- the proof, and damaged records ----
# damaged TEXT WHAT…: skdump refuses the package, and skrun does not run it.
damaged() {
	text=$1
	shift
	"$python" "$top_srcdir/tests/runtime/damage_ranks.py" all.sk bad.sk "$@"
	refused "$text" "$skdump" --verify bad.sk
	case $1 in
	follow) ;; # libskrt proves nothing
	*) refused "ranks" "$skrun" --ranks 4 bad.sk --random 1 ;;
	esac
}
damaged "exchange 'pass' does not wait for exchange 'share' before it: ranks could start them in different orders" follow 3 0 0
damaged "ranks: exchange 1: its task 0 does not come after task 1, which the exchange before it has" swap 0 1
damaged "rank 0 is in it twice, so another one is in none of its parts" member 5 0
damaged "member 1 is rank 9, which there is not (4 ranks)" member 5 9
damaged "parts of 3 ranks do not divide 4 ranks" size 1 3
damaged "it sends 48 bytes and receives 96, but task 'gather' reads 96 and writes 192" bytes 0 48
damaged "it sends 96 bytes and receives 384, but task 'gather' reads 96 and writes 192" group 0 0
damaged "group 7 is out of range (3 groups)" group 0 7
damaged "kind 4 is unknown" kind 0 4
damaged "it sends 192 bytes and receives 192, but task 'gather'" kind 0 1
damaged "element type 14 is unknown" dtype 1 14
damaged "a reserved field is not zero" reserved 1 1
damaged "member 4 cannot be its root" root 2 4
damaged "member 1 cannot be its root" root 0 1
damaged "member 4 cannot receive it" peer 3 4
damaged "the operator lies outside the strings" op 0 100000
damaged "its task 0 does not come after task 1" task 2 0
damaged "is out of range (4 tasks)" task 3 9
damaged "cannot be exchanged" bytes 0 0
damaged "its members are out of range (12 in all)" first 2 9
damaged "lies outside the strings" name 1 -100000
damaged "they have no magic number" header 0 0
damaged "version 2 is not supported" header 4 2
damaged "0 ranks are not from 1 to 1024" header 16 0
damaged "a reserved field is not zero" header 20 1
damaged "they claim" header 8 1000000

# ---- runs ----
refused "the package is for 4 ranks, and this process is alone (skrun --ranks 4 simulates them; mpirun -np 4 starts them)" "$skrun" all.sk --random 1
refused "the package is for 4 ranks, and --ranks says 2" "$skrun" --ranks 2 all.sk --random 1
refused "the package is for one process, not for ranks" "$skrun" --ranks 2 one.sk --random 1
refused "write %r where its number is to be in the name" "$skrun" --ranks 4 all.sk --random 1 --output sent=sent.npy
refused "--ranks runs the network on each rank" "$skrun" --ranks 4 all.sk --list

# Ranks with packages of different groups.
for rank in 0 1 2 3; do cp all.sk "mixed.$rank.sk"; done
sed 's/ring: \[3, 2, 1, 0\]/ring: [0, 1, 2, 3]/' all.yaml >other.yaml
"$sklink" other.yaml "${kernels[@]}" -o mixed.2.sk
swap="exchange 'swap' (all-to-all of group ring, 96 bytes)"
refused "rank 0 and rank 2 have packages with different exchanges: number 1 is $swap on rank 0, and $swap on rank 2" \
	"$skrun" --ranks 4 mixed.%r.sk --random 1

# A kernel that fails on one rank, and one that does not return.
cat >check.c <<'C'
#include "skkernel.h"

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
cat >fails.yaml <<'YAML'
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
"$sklink" fails.yaml check.o "${kernels[@]}" -o fails.sk
for value in 1 2; do
	"$make_model" v.0.npy f32 8 0
	"$make_model" v.1.npy f32 8 $value
	rm -f y.*.npy
	start=$SECONDS
	refused "skrun: rank 1: error: " "$skrun" --ranks 2 --timeout 1 fails.sk --input x=v.%r.npy --output y=y.%r.npy
	[ $((SECONDS - start)) -le 5 ] || fail "it took too long"
	[ ! -e y.0.npy ] && [ ! -e y.1.npy ] || fail "an output is left"
	case $value in
	1) # at a high load rank 0 still compares the packages
		grep -qE "rank 0: error: (exchange 'all' .*|.* comparison of packages): rank 1 has failed" err.txt ;;
	2) grep -qE "rank 0: error: exchange 'all' .*: rank 1 (did not come within 1 s|has failed)" err.txt ;;
	esac || { cat err.txt >&2; fail "rank 0 says nothing"; }
done

# Several networks with exchanges in one package, each for another size; kernels that compute other bits in parts on one
# of the ranks.
model nets <<'LINES'
opset 21
opset 1 sklink
input x f32 Nx6
output y f32 none
node sklink:AllReduce sum x -> s
node Add add s x -> a
node sklink:AllGather all a -> y rank_size=2
LINES
"$sklink" nets.onnx --ranks 2 --dim short:N=4 --dim long:N=7 "${kernels[@]}" -o nets.sk
"$skdump" --verify nets.sk >out.txt || fail "several networks are not proved"
"$python" -c '
import numpy as np
for rank in range(2):
    np.save(f"long.{rank}.npy", np.load(f"x.{rank}.npy")[[0, 1, 2, 3, 3, 2, 1]])'
"$skrun" --ranks 2 nets.sk --network long --input x=long.%r.npy --output y=y.%r.npy
same y.1.npy '(lambda a, b: np.concatenate([a + b + a, a + b + b]))(*(part[[0, 1, 2, 3, 3, 2, 1]] for part in x[:2]))'
"$skrun" --ranks 2 nets.sk --network short --random 1 --check-split --repeat 2 >out.txt &&
	grep -q '^Split: bit-identical' out.txt || { cat out.txt; fail "no check of parts"; }
cat >uneven.c <<'C'
#include "skkernel.h"

void uneven(const float *f, const float *x, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = f[0] == 1 ? x[i] + (float)n : x[i];
}
SK_KERNEL(uneven, "split=n; in f f32[1], in x f32[n], out y f32[n], n i64");
C
compile uneven
sed -e 's/  x: .*/  f: {dtype: f32, shape: [1]}\n&/; s/kernel: check, args: \[x, t\]/kernel: uneven, args: [f, x, t]/; s/\[8\]/[4096]/; s/\[16\]/[8192]/' fails.yaml >uneven.yaml
"$sklink" uneven.yaml uneven.o "${kernels[@]}" -o uneven.sk
"$make_model" v.0.npy f32 1 0
"$make_model" v.1.npy f32 1 1
refused "skrun: rank 1: error: " "$skrun" --ranks 2 --timeout 1 uneven.sk --random 1 --input f=v.%r.npy --check-split
grep -q "rank 1: error: .*kernel uneven .* it contradicts 'split'" err.txt || { cat err.txt >&2; fail "the kernel is not named"; }
"$make_model" v.1.npy f32 1 0
"$skrun" --ranks 2 uneven.sk --random 1 --input f=v.%r.npy --check-split >out.txt || fail "even kernels"

# A rank that is stopped, and one that is killed.
for signal in STOP KILL; do
	"$skrun" --ranks 2 --timeout 1 fails.sk --random 1 --repeat 100000000 >out.txt 2>err.txt &
	parent=$!
	rank_1=
	for _ in $(seq 100); do
		children=$(awk -v parent=$parent '$4 == parent { print $1 }' /proc/[0-9]*/stat 2>/dev/null | sort -n) || true
		rank_1=$(sed -n 2p <<<"$children")
		[ -n "$rank_1" ] && break
		sleep 0.1
	done
	sleep 0.3
	start=$SECONDS
	kill -$signal "$rank_1"
	! wait $parent || fail "$signal: it goes on"
	parent=
	[ $((SECONDS - start)) -le 6 ] || fail "$signal: it took too long"
	grep -qE "^skrun: rank 0: error: exchange 'all' \(all-gather of group world, 32 bytes\): rank 1 (did not come|did not go on|has failed: it was ended by signal 9)" err.txt ||
		{ cat err.txt >&2; fail "$signal: rank 0 says nothing"; }
done

# ---- transports of others ----
# A transport that connects one rank. STUCK: a function that does not return.
cat >alone.c <<'C'
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "skrt-transport.h"

#ifndef VERSION
#define VERSION SKRT_TRANSPORT_VERSION
#endif

static int is_stuck(const char *function)
{
	const char *stuck = getenv("STUCK");

	return stuck && !strcmp(stuck, function);
}

static void *open_alone(uint32_t *rank, uint32_t *ranks, char *error, size_t error_size)
{
	while (is_stuck("open"))
		sleep(1);
	*rank = 0;
	*ranks = 1;
	strncpy(error, "the answer is no", error_size);
	return is_stuck("nothing") ? NULL : rank;
}

static void start(void *context, const struct skrt_transfer *transfer)
{
	(void)context;
	memcpy(transfer->receive, transfer->send, transfer->bytes);
}

static enum skrt_transfer_state test(void *context)
{
	(void)context;
	while (is_stuck("test"))
		sleep(1);
	return is_stuck("runs") ? SKRT_TRANSFER_RUNS : is_stuck("fails") ? SKRT_TRANSFER_FAILED : SKRT_TRANSFER_ENDED;
}

static void describe(void *context, char *text, size_t size)
{
	(void)context;
	strncpy(text, "the wire is cut", size);
}

static void end(void *context, const char *text)
{
	(void)context;
	(void)text;
	_exit(1);
}

static int is_open(void *context)
{
	(void)context;
	return 1;
}

static const char *close_alone(void *context)
{
	(void)context;
	return is_stuck("close") ? "it is still warm" : NULL;
}

const struct skrt_transport_table skrt_transport_table = {VERSION,  "alone", open_alone, start, test,
							  describe, end,     is_open,	 close_alone};
C
cat >alone.yaml <<'YAML'
sklink: 1
ranks: 1
tensors:
  x: {dtype: f32, shape: [4, 6]}
  y: {dtype: f32, shape: [4, 6]}
tasks:
  - {name: all, exchange: all-gather, inputs: x, outputs: y}
YAML
"$sklink" alone.yaml "${kernels[@]}" -o alone.sk
"$CC" -Wall -Wextra -Werror -shared -fPIC -I"$top_srcdir/loader" alone.c -o alone.so
"$CC" -shared -fPIC -DVERSION=99 -I"$top_srcdir/loader" alone.c -o later.so
"$CC" -shared -fPIC -x c /dev/null -o empty.so
run=("$skrun" --timeout 1 alone.sk --input x=x.0.npy --output y=y.npy)
export SKRT_TRANSPORT=./alone.so
rm -f y.npy && "${run[@]}" && same y.npy 'x[0]'
"${run[@]}" --check-ranks --trace t.json && same y.npy 'x[0]'
refused "the package is for 4 ranks, and this is one of 1" "$skrun" all.sk --random 1
refused "the package is for one process, and this is one of 1 ranks" "$skrun" one.sk --random 1
for stuck in "nothing transport ./alone.so: the answer is no" "fails the start of the run: the wire is cut" \
	"runs the start of the run: the wire is cut within 1 s" "close transport alone: it is still warm" \
	"open the start of transport ./alone.so: the transport has not returned for 1" \
	"test the start of the run: the transport has not returned for 3"; do
	export STUCK=${stuck%% *}
	refused "${stuck#* }" "${run[@]}"
done
unset STUCK
for transport in "./later.so transport ./later.so has version 99 of the interface, and libskrt has 1" \
	"./empty.so transport ./empty.so cannot be opened: " "./gone.so transport ./gone.so cannot be opened: " \
	"gone transport gone cannot be opened: "; do
	export SKRT_TRANSPORT=${transport%% *}
	refused "${transport#* }" "${run[@]}"
done
SKRT_TRANSPORT=none
rm -f y.npy && "${run[@]}" && same y.npy 'x[0]'
unset SKRT_TRANSPORT
