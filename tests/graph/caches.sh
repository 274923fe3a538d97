#!/bin/bash
# --state with an output that has more rows than its input: the rows are appended in a cache of a capacity, in place, or
# copied where something else than appending happens. At each size and in each way of running, results are those of a
# package without states, and rows behind the last one are neither read nor written. CACHE_STEPS chooses more tokens,
# and CACHE_PROMPT a longer prompt.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"
needs_python
library="-L $top_builddir/kernels -lskernels"

# linked MODEL BOUNDS OPTION...: MODEL.onnx with states is own.sk, and without them other.sk.
linked() {
	local model=$1 bounds
	bounds=$(printf -- '--dim %s ' $2)
	shift 2
	# shellcheck disable=SC2086 # words
	"$sklink" "$model.onnx" $library $bounds "$@" -o own.sk 2>err.txt >explained.txt || fail "$model: $(cat err.txt)"
	[ ! -s err.txt ] || fail "$model: $(cat err.txt)"
	# shellcheck disable=SC2086 # words
	"$sklink" "$model.onnx" $library $bounds -o other.sk 2>other.txt
	proved own.sk
}

# steps OTHER PAIRS AXIS STEP...
steps() {
	"$python" "$top_srcdir/tests/lib/cache-steps.py" "$top_builddir" own.sk "$@" >out.txt 2>&1 || fail "$(cat out.txt)"
}

# tasks: the kernels of own.sk that copy.
tasks() {
	"$skdump" --steps own.sk | awk '$3 ~ /_copy_/ { print $2, $3 }'
}

# A cache of one row of heads, and of several; other nodes read all rows, and the past ones.
for heads in 1 3; do
	model small <<END
input past f32 1x${heads}xpastx4
input new f32 1x${heads}xseqx4
output present f32 none
output y f32 none
output z f32 none
node Concat _ past new -> present axis=2
node Neg _ present -> y
node Abs _ past -> z
END
	linked small 'past=0..9 seq=1..4' --state past=present
	steps other.sk past=present 2 +past=0,seq=1 +past=1,seq=1 past=2,seq=3 +past=5,seq=4 +past=9,seq=4
	tasks >tasks.txt
	if [ $heads = 1 ]; then
		echo 'present sk_copy_u32_same'
	else
		printf '%s\n' 'present sk_copy_u32_strided' 'present#2 sk_copy_u32_rows' 'present#3 sk_copy_u32_strided'
	fi | diff - tasks.txt || fail "other copies with $heads heads"
done

# Without bounds, and with a capacity; all rows at once are contiguous.
linked small 'past=5 seq=2' --state past=present:16
steps other.sk past=present 2 +past=5,seq=2
linked small 'past=5 seq=2' --state past=present:7
steps other.sk past=present 2 +past=5,seq=2

# Two batches, each with one head: rows of a batch are apart.
model batches <<'END'
input past f32 Bxpastx4
input new f32 Bxseqx4
output present f32 none
output y f32 none
node Concat _ past new -> present axis=1
node Neg _ present -> y
END
linked batches 'B=1..3 past=0..9 seq=1..4' --state past=present:15
steps other.sk past=present 1 +past=0,seq=1,B=1 past=1,seq=1,B=1 past=2,seq=3,B=1 +past=5,seq=4,B=1 +past=9,seq=4,B=1
steps other.sk past=present 1 +past=1,seq=1,B=3 past=2,seq=3,B=3 +past=5,seq=4,B=3 +past=9,seq=4,B=3

# A decoder as it is exported: a prompt of 17 and 50 tokens in one cache of each tensor, which no task copies. Some of
# them are compared with packages of one size.
states=()
pairs=
for layer in 0 1; do
	for part in key value; do
		states+=(--state "past_key_values.$layer.$part=present.$layer.$part")
		pairs+=,past_key_values.$layer.$part=present.$layer.$part
	done
done
decoder() {
	"$python" "$top_srcdir/tests/lib/decoder-model.py" "$@"
}
tokens=${CACHE_STEPS:-50} prompt=${CACHE_PROMPT:-17}
most=$((tokens + prompt - 1))
# tokens_of MODEL [NAME=SIZE]: the sizes of a prompt and of tokens. Some of them are compared with other.sk, and some
# with packages of one size, which have other kernels for one row.
tokens_of() {
	local past number=1 every=$(((tokens + 39) / 40))
	[ $every -gt 25 ] || every=25
	sizes=("+past=0,seq=$prompt${2:+,$2}")
	cp other.sk other0.sk
	for ((past = prompt; past <= most; past++, number++)); do
		sizes+=("past=$past,seq=1${2:+,$2}")
		if [ $((number % every)) = 1 ]; then
			sizes[number]="+${sizes[number]}"
			cp other.sk other$number.sk
		elif [ $((number % every)) = $((every / 2)) ]; then
			sizes[number]="~${sizes[number]}"
			# shellcheck disable=SC2086 # words
			"$sklink" "$1.onnx" $library --dim past=$past --dim seq=1 ${2:+--dim "$2"} -o other$number.sk
		fi
	done
}
decoder decoder.onnx batch=1
linked decoder "past=0..$most seq=1..$prompt" "${states[@]}"
tokens_of decoder
steps other@.sk "${pairs#,}" 2 "${sizes[@]}"
fails_with "^skrun: error: past is $((most + 1)); package 'own.sk' takes 0..$most$" "$skrun" own.sk --random 1 \
	--dim past=$((most + 1)) --dim seq=1
[ "$("$skdump" own.sk | grep -c " inout .* \[1, 4, $((most + prompt)), 8\] ")" = 4 ] || fail "$("$skdump" own.sk)"
[ "$(tasks | grep -c sk_copy_u32_rows)" = 4 ] || fail "$(tasks)"
[ "$(tasks | grep -vc sk_copy_u32_rows)" = 8 ] || fail "$(tasks)"
await=0
while cp own.sk dropped.sk && "$top_builddir/tests/lib/drop-await" dropped.sk $await; do
	fails_with "launch 'sk_decoder'" "$skdump" --verify dropped.sk
	await=$((await + 1))
done
[ $await -gt 8 ] || fail "only $await awaits"

# A decoder of speech also attends to frames, whose keys do not grow: the first pass, and tokens.
decoder speech.onnx batch=1 frames=1
linked speech "past=0..$most seq=1..$prompt frames=1..40" "${states[@]}"
tokens_of speech frames=29
steps other@.sk "${pairs#,}" 2 "${sizes[@]}"
steps other.sk "${pairs#,}" 2 +past=0,seq=3,frames=40 past=3,seq=1,frames=40 +past=4,seq=1,frames=40 \
	+past=9,seq=2,frames=1

# The same with Attention, which has past rows itself; and with several batches, against static packages.
decoder attention.onnx batch=1 opset=24
linked attention 'past=0..66 seq=1..17' "${states[@]}"
steps other.sk "${pairs#,}" 2 +past=0,seq=17 past=17,seq=1 +past=18,seq=3 +past=66,seq=17
[ "$(tasks | grep -c sk_copy_u32_rows)" = 4 ] || fail "$(tasks)"
decoder batches.onnx batch=3
linked batches 'past=1..67 seq=1..17' "${states[@]}"
sizes=(+past=1,seq=17 +past=18,seq=1 past=19,seq=3 +past=22,seq=1 +past=66,seq=1 +past=67,seq=17)
for number in 0 1 3 4 5; do
	# shellcheck disable=SC2046,SC2086 # words
	"$sklink" batches.onnx $library $(tr ',+' '\n ' <<<"${sizes[number]}" | sed 's/^ */--dim /') -o other$number.sk
done
steps other@.sk "${pairs#,}" 2 "${sizes[@]}"

# The same with GroupQueryAttention: all heads of keys in one cache, a window, and no copy of a cache. With a past of a
# fixed length the caches are the buffers of all rows.
decoder groups.onnx batch=1 groups=2 computed=1
linked groups 'past=0..47 seq=1..17' --cache 64
steps other.sk "${pairs#,}" 2 +past=0,seq=17 past=17,seq=1 +past=18,seq=3 +past=47,seq=17
[ "$("$skdump" own.sk | grep -c ' inout .* \[1, 2, 64, 8\] ')" = 4 ] || fail "$("$skdump" own.sk)"
decoder groups.onnx batch=3 groups=1 computed=1 window=5
linked groups 'past=0..47 seq=1..17' "${states[@]}"
steps other.sk "${pairs#,}" 2 +past=0,seq=17 past=17,seq=1 +past=18,seq=3 +past=47,seq=17

# Positions and the mask are computed from the sizes.
decoder computed.onnx batch=2 computed=1
linked computed 'past=0..46 seq=1..17' "${states[@]}"
steps other.sk "${pairs#,}" 2 +past=0,seq=17 past=17,seq=1 +past=18,seq=3 +past=46,seq=17

# Batches of the cache change places: something else than appending.
decoder beams.onnx batch=2 beams=1
linked beams 'past=0..67 seq=1..17' "${states[@]}" --explain present.0.key
grep -q "^  --state 'past_key_values.0.key=present.0.key' copies the cache: the first value that the node joins is not the input\.$" \
	explained.txt || { cat explained.txt; fail "nothing says why the cache is copied"; }
steps other.sk "${pairs#,}" 2 +past=0,seq=17 past=17,seq=1 +past=18,seq=1 +past=67,seq=17

# All caches are found by what is appended to them, or by their names: the same package.
linked decoder 'past=1..67 seq=1..17' "${states[@]}"
mv own.sk named.sk
linked decoder 'past=1..67 seq=1..17' --cache 84
cmp own.sk named.sk || fail "--cache makes another package than --state"
linked beams 'past=1..67 seq=1..17' --cache 100
[ "$("$skdump" own.sk | grep -c ' inout .* \[2, 4, 100, 8\] ')" = 4 ] || fail "$("$skdump" own.sk)"
# shellcheck disable=SC2086 # words
"$sklink" small.onnx $library --dim past=1..9 --dim seq=1..4 --cache 20 --verbose -o own.sk 2>err.txt
grep -q ": --cache 20: 'past=present'$" err.txt || fail "$(cat err.txt)"
model fixed <<'END'
opset 24
input past_key_values.0.key f32 1x2x8x4
input row f32 1x2x1x4
input at i64 1
input class f32 1x1x4
output present.0.key f32 none
output other f32 none
output y f32 none
constant two f32 scalar 2
node TensorScatter _ past_key_values.0.key row at -> present.0.key
node Concat _ class y -> other axis=1
node Mul _ class two -> y
END
# shellcheck disable=SC2086 # words
"$sklink" fixed.onnx $library --cache 20 -o own.sk
"$skrun" --list own.sk >out.txt
[ "$(grep -c '^inout ' out.txt)" = 1 ] && grep -q '^inout *past_key_values.0.key *f32 \[1, 2, 8, 4\]$' out.txt ||
	fail "other states: $(cat out.txt)"

# Runs with growing sizes are single runs, one after the other.
linked decoder 'past=0..66 seq=1' --cache 83
mv own.sk step.sk
name=past_key_values.1.key
inputs=(--input ids=one.npy --input positions=one.npy)
array one i64 1x1 5
"$skrun" step.sk --random 3 --dim past=60+1 "${inputs[@]}" --repeat 7 --output logits=all.npy \
	--output "$name=$name.all.npy"
for ((past = 60; past < 67; past++)); do
	outputs=()
	given=()
	for layer in 0 1; do
		for part in key value; do
			state=past_key_values.$layer.$part
			outputs+=(--output "$state=$state.next.npy")
			[ $past = 60 ] || given+=(--input "$state=$state.npy")
		done
	done
	"$skrun" step.sk --random 3 --dim past=$past "${inputs[@]}" "${given[@]}" "${outputs[@]}" \
		--output logits=last.npy
	for state in *.next.npy; do mv "$state" "${state%.next.npy}.npy"; done
done
cmp all.npy last.npy && cmp "$name.npy" "$name.all.npy" || fail "growing sizes give other results"
"$skrun" step.sk --random 3 --dim past=60+1 "${inputs[@]}" --repeat 7 >out.txt
grep -qx 'sizes past=66' out.txt || fail "not the sizes of the last run: $(cat out.txt)"
fails_with "^skrun: error: past is 67; package 'step.sk' takes 0..66$" "$skrun" step.sk --random 3 --dim past=60+1 --repeat 8
fails_with "^skrun: error: --dim past=60\\+x: a size that grows is NAME=SIZE\\+STEP, such as past=17\\+1$" "$skrun" step.sk \
	--random 3 --dim past=60+x
fails_with "^skrun: error: sizes that grow are those of the runs of --repeat; --verify, " "$skrun" step.sk --random 3 \
	--dim past=60+1 --verify
array mask f32 1x1x1x61 0
fails_with "^skrun: error: --input mask=mask.npy: the size of 'mask' grows from run to run; only --random fills it$" \
	"$skrun" step.sk --random 3 --dim past=60+1 --repeat 7 --input mask=mask.npy

# Two networks have bounds of their own, and one cache: the prompt in one of them, the next token in the other.
linked decoder 'past=0 seq=1..17' --cache 83
mv own.sk prompt.sk
# shellcheck disable=SC2086 # words
"$sklink" decoder.onnx $library --dim prompt:past=0,seq=1..17 --dim step:past=0..66,seq=1 --cache 83 -o own.sk
proved own.sk
inputs=()
outputs=()
for layer in 0 1; do
	for part in key value; do
		name=past_key_values.$layer.$part
		array "$name" f32 1x4x83x8 0
		inputs+=(--input "$name=$name.npy")
		outputs+=(--output "$name=FOLDER/$name.npy")
	done
done
for network in prompt step; do
	[ $network = prompt ] && rows=17 sizes=seq=17 || rows=1 sizes=past=17
	# shellcheck disable=SC2046 # words
	array ids i64 1x$rows $(seq $rows)
	mkdir -p shared own
	"$skrun" own.sk --network $network --random 1 --dim $sizes --input ids=ids.npy --input positions=ids.npy \
		"${inputs[@]}" "${outputs[@]/FOLDER/shared}" --output logits=shared/logits.npy
	"$skrun" $network.sk --random 1 --dim $sizes --input ids=ids.npy --input positions=ids.npy \
		"${inputs[@]}" "${outputs[@]/FOLDER/own}" --output logits=own/logits.npy
	diff -r shared own || fail "network $network gives other results"
	cp shared/past* .
done

# The largest sizes of one network would need 100 rows. Two networks use all of 83: prompts fit, and steps fill it.
# shellcheck disable=SC2086 # words
"$sklink" decoder.onnx $library --dim prompt:past=0..66,seq=1..17 --dim step:past=0..82,seq=1 --cache 83 -o both.sk
proved both.sk
[ "$("$skdump" both.sk | grep -c ' inout .* \[1, 4, 83, 8\] ')" = 8 ] || fail "$("$skdump" both.sk)"
fails_with "^skrun: error: past is 67; package 'both.sk' takes 0..66$" "$skrun" both.sk --network prompt --random 1 \
	--dim past=67 --dim seq=17
"$skrun" both.sk --network step --random 1 --dim past=82 --input ids=one.npy --input positions=one.npy >/dev/null

# Heads that are repeated for several heads of queries are read in the cache. Rows that share keys add in another order.
for shared in 1 2; do
	model shared <<END
input past.0.key f32 1x${shared}xpastx8
input past.0.value f32 1x${shared}xpastx8
input k f32 1x${shared}xseqx8
input v f32 1x${shared}xseqx8
input q f32 1x4xseqx8
output present.0.key f32 none
output present.0.value f32 none
output y f32 none
constant two i64 scalar 2
constant front i64 1 0
constant middle i64 1 2
constant before i64 3 1 $shared $((4 / shared))
constant flat i64 2 1 4
constant width i64 1 8
constant scale f32 scalar 0.5
node Concat _ past.0.key k -> present.0.key axis=2
node Concat _ past.0.value v -> present.0.value axis=2
node Shape _ present.0.key -> shape
node Gather _ shape two -> rows axis=0
node Unsqueeze _ rows front -> rows1
node Concat _ before rows1 width -> wide axis=0
node Concat _ flat rows1 width -> narrow axis=0
node Unsqueeze _ present.0.key middle -> k5
node Expand _ k5 wide -> k5e
node Reshape _ k5e narrow -> keys
node Unsqueeze _ present.0.value middle -> v5
node Expand _ v5 wide -> v5e
node Reshape _ v5e narrow -> values
node Transpose _ keys -> turned perm=[0,1,3,2]
node MatMul _ q turned -> s0
node Mul _ s0 scale -> s1
node Softmax _ s1 -> s2 axis=-1
node MatMul _ s2 values -> y
END
	linked shared 'past=0..9 seq=1..4' --cache 13
	steps other.sk past.0.key=present.0.key,past.0.value=present.0.value 2 ~past=0,seq=1 ~past=1,seq=1 ~past=2,seq=4 \
		~past=6,seq=3 ~past=9,seq=4
	[ "$(tasks | grep -c .)" = 2 ] || fail "the cache is copied: $("$skdump" --steps own.sk)"
done

# An Attention with past or present keys of its own has those with all heads: they are copied.
for kind in past present both; do
	past=yes present=' ko vo'
	[ $kind = present ] && past=
	[ $kind = past ] && present=
	{
		cat <<-END
			opset 23
			input q f32 1x6xsx4
			input pk f32 1x2xpastx4
			input pv f32 1x2xpastx4
			input nk f32 1x2xsx4
			input nv f32 1x2xsx4
			${past:+input mk f32 1x6xmx4
			input mv f32 1x6xmx4}
			output k f32 none
			output v f32 none
			output y f32 none
			${present:+output ko f32 none
			output vo f32 none}
			constant two i64 1 2
			constant wide i64 5 1 1 3 1 1
			constant narrow i64 4 1 6 -1 4
			node Concat _ pk nk -> k axis=2
			node Concat _ pv nv -> v axis=2
			node Unsqueeze _ k two -> k5
			node Expand _ k5 wide -> k5e
			node Reshape _ k5e narrow -> keys
			node Unsqueeze _ v two -> v5
			node Expand _ v5 wide -> v5e
			node Reshape _ v5e narrow -> values
			node Attention _ q keys values ${past:+_ mk mv} -> y$present
		END
	} | model joined
	linked joined "past=0..6 s=1..4 ${past:+m=1..5}" --state pk=k:20 --state pv=v:20
	steps other.sk pk=k,pv=v 2 ~past=0,s=1${past:+,m=1} ~past=1,s=2${past:+,m=3} ~past=3,s=2${past:+,m=2} ~past=5,s=4${past:+,m=5}
	linked joined "past=3 s=2 ${past:+m=2}" --state pk=k:20 --state pv=v:20
	steps other.sk pk=k,pv=v 2 ~past=3,s=2${past:+,m=2}
done

# Rows of a static cache are written in place if its batches and new rows have bounds.
model written <<'END'
opset 24
input past f32 Bx2x8x4
input row f32 Bx2xSx4
input at i64 B
output present f32 none
output y f32 none
node TensorScatter _ past row at -> present
node Neg _ present -> y
END
# shellcheck disable=SC2086 # words
"$sklink" written.onnx $library --dim B=1..4 --dim S=1..3 --state past=present -o own.sk
proved own.sk
"$skdump" --steps own.sk >out.txt
[ "$(grep -c '_scatter_\|_neg_' out.txt)" = 2 ] && ! grep -q _copy_u32 out.txt || fail "the cache is copied: $(cat out.txt)"
for size in '1 1' '4 3' '3 2' '2 1' '1 3'; do
	dims="--dim B=${size% *} --dim S=${size#* }"
	# shellcheck disable=SC2046 # words
	array at i64 "${size% *}" $(head -n "${size% *}" <<<$'3\n0\n5\n2')
	# shellcheck disable=SC2086 # words
	"$sklink" written.onnx $library $dims --state past=present -o static.sk
	for package in own static; do
		# shellcheck disable=SC2046,SC2086 # words
		"$skrun" $package.sk --random 1 --input at=at.npy $([ $package = static ] || echo $dims --guard) \
			--output past=$package.past.npy --output y=$package.y.npy >out.txt
	done
	cmp own.past.npy static.past.npy && cmp own.y.npy static.y.npy || fail "other rows are written at $size"
done

# Errors.
refuses "^sklink: error: small.onnx: --cache 12: 'past=present': the cache is to have 12 rows, and output 'present' has up to 13" \
	small --dim past=1..9 --dim seq=1..4 --cache 12
model none <<'END'
input x f32 2
output y f32 none
node Neg _ x -> y
END
refuses "^sklink: error: none.onnx: --cache 8: the model has no caches: .*; --state INPUT=OUTPUT:8 names a cache$" \
	none --cache 8
refuses "--state 'past=present:12': the cache is to have 12 rows, and output 'present' has up to 13 \('past\+seq'\); give it that many, or the dimensions smaller bounds, such as those of a network for prompts and one for steps: --dim prompt:past=1..8,seq=1..4 --dim step:past=1..9,seq=1$" \
	small --dim past=1..9 --dim seq=1..4 --state past=present:12
# shellcheck disable=SC2086 # words
"$sklink" small.onnx $library --dim prompt:past=1..8,seq=1..4 --dim step:past=1..9,seq=1 --state past=present:12 -o own.sk
proved own.sk
refuses " and one for steps: --dim prompt:past=0..3:3,seq=2..4:2 --dim step:past=0..6:3,seq=2$" small --dim past=0..9:3 \
	--dim seq=2..4:2 --state past=present:8
for bounds in 'past=2..9 seq=1..4 3' 'past=2..9 seq=2..9 5' 'prompt:past=1..9,seq=1..4 step:past=2,seq=1 12'; do
	# shellcheck disable=SC2086 # words
	set -- $bounds
	refuses "the cache is to have $3 rows, .*, such as those of a network for prompts and one for steps$" small \
		--dim "$1" --dim "$2" --state past=present:$3
done
refuses "--state 'past=present': input 'past' is f32 \[1, 3, 5, 4\], and output 'present' is f32 \[1, 3, 7, 4\]; a cache needs bounds of its rows, or a capacity \(--state past=present:ROWS\)$" \
	small --dim past=5 --dim seq=2 --state past=present
refuses "--state 'new=z:9': input 'new' is f32 \[1, 3, 5, 4\], and output 'z' is f32 \[1, 3, 5, 4\]; only an output with more rows along one axis is a cache with a capacity$" \
	small --dim past=5 --dim seq=5 --state new=z:9
refuses "--state 'past=present:0': the model has no output 'present:0'" small --dim past=5 --dim seq=2 --state past=present:0
