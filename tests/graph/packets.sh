#!/bin/bash
# Nodes of sizes with bounds become part of the node that needs their elements: shape_reshape, shape_reshape_2 and the
# kernel packet, with their flags, lines and dumps. Results do not change, and a dump links to the same package.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"
kernels=(-L "$top_builddir/kernels" -lskernels)
model net <<'END'
input x f32 BxSx16
input other f32 BxSx4x4
output y f32 none
output z f32 none
output t f32 none
output same i64 none
constant bias f32 64x16 0.25
constant first i64 1 0
constant second i64 1 1
constant third i64 1 2
constant rest i64 1 -1
constant four i64 2 4 4
node Shape shape x -> shape
node Slice b shape first second -> b
node Slice s shape second third -> s
node Concat split b s four -> split axis=0
node Reshape heads x split -> h
node Shape whole other -> whole
node Reshape turned x whole -> t
node Slice cut bias first s first -> part
node Add sum x part -> sum
node Concat flat b rest -> flat axis=0
node Reshape flatten sum flat -> y
node Relu relu h -> z
node Concat again s rest -> same axis=0
END
bounds=(--dim B=1..8 --dim S=2..64@16)

# links NAME FLAGS: the lines about lists of sizes of NAME.sk, without names of files and of passes' times.
links() {
	GLOG_v=1 "$sklink" net.onnx "${kernels[@]}" "${bounds[@]}" --fusion-target=host --fusion-flags="$2" \
		-o $1.sk 2>log.txt || fail "$2: $(cat log.txt)"
	sed -n "s/^\[INFO\] GRAPH_KERNEL(sklink): net.onnx: node \('[a-z]*': .* is \(ReshapeExt\|[A-Za-z]*_packet\), .*\)/\1/p" log.txt
}
split="'heads': Reshape is ReshapeExt, with 'split' as [B, S, 4, 4]"
flat="'flatten': Reshape is ReshapeExt, with 'flat' as [B, -1]"
whole="'turned': Reshape is ReshapeExt, with 'whole' as [B, S, 4, 4]"
cut="'cut': Slice is Slice_packet, with 's' as [S]"
expects() { # FLAGS LINE…
	local flags=$1
	shift
	links out "$flags" >found.txt
	printf '%s\n' "$@" | sed '/^$/d' | diff - found.txt || fail "$flags: other lines"
	# Flags other than those of passes let composites hold on the host. These have nodes of sizes as members, too.
	case $flags in '' | --disable_pass=*) base=first ;; *disable_pass*) return ;; *) base=given ;; esac
	"$skdump" out.sk | sed 1d >out.txt
	"$skdump" $base.sk | sed 1d | cmp - out.txt || fail "$flags: another package"
}
links first '' >found.txt
links given --opt_level=2 >found.txt
expects '' "$split" "$flat" "$whole" "$cut"
for pass in fusion_group_7_shape_reshape fusion_group_8_shape_reshape_2 stage8_kernelpacket_0_symbol_engine_extender; do
	grep -q "graph kernel pass $pass is enabled\.$" log.txt && grep -q "graph kernel pass $pass changed\.$" log.txt ||
		fail "$pass has not run"
done
packed() { sed 's/ReshapeExt/Reshape_packet/' <<<"$1"; }
expects --disable_pass=shape_reshape "$whole" "$(packed "$split")" "$cut" "$(packed "$flat")"
expects --disable_pass=shape_reshape_2 "$split" "$flat" "$(packed "$whole")" "$cut"
expects --disable_pass=symbol_engine_extender "$split" "$flat" "$whole"
expects --disable_pass=8.0,shape_reshape,shape_reshape_2 ''
links out --opt_level=0 >found.txt
printf '%s\n' "$split" "$flat" "$whole" | diff - found.txt || fail "level 0: other lines"
expects --disable_packet_ops=Slice "$split" "$flat" "$whole"
expects --disable_packet_ops=Expand "$split" "$flat" "$whole" "$cut"
expects --enable_packet_ops_only=Expand "$split" "$flat" "$whole"
expects "--enable_packet_ops_only=Slice --disable_packet_ops=Slice" "$split" "$flat" "$whole" "$cut"
expects "--enable_packet_ops_only=Slice --disable_pass=shape_reshape" "$whole" "$cut"
! grep -q 'warning: .*flag' log.txt || fail "a flag has no effect: $(grep warning log.txt)"
links out --disable_packet_ops=Slyce >found.txt
grep -q "unknown operator 'Slyce' in the flag disable_packet_ops; did you mean 'Slice'?" log.txt || fail "an unknown operator"

# The same bits as a static link, which has no such passes.
for sizes in '1 2' '8 64' '3 17'; do
	at=(--dim B=${sizes% *} --dim S=${sizes#* })
	GLOG_v=1 "$sklink" net.onnx "${kernels[@]}" "${at[@]}" -o static.sk 2>log.txt
	! grep -q 'is ReshapeExt\| is [A-Za-z]*_packet,\|Run graph kernel pass .*\(shape_reshape\|symbol_engine\)' log.txt || fail "without bounds"
	for package in static first; do
		options=("${at[@]}")
		[ $package = first ] || options=()
		"$skrun" $package.sk "${options[@]}" --random 5 --output y=$package.y.npy --output z=$package.z.npy \
			--output t=$package.t.npy --output same=$package.same.npy
	done
	for output in y z t same; do
		cmp static.$output.npy first.$output.npy || fail "'$output' differs at $sizes"
	done
done

# Dumps have expressions, and link to the same package.
"$sklink" net.onnx "${kernels[@]}" "${bounds[@]}" --dump-dir dumps --fusion-flags --dump_as_text -o dumped.sk
grep -q '^input "x": f32\[B, S, 16\]$' dumps/6_validate.ir || fail "no expressions: $(head -5 dumps/6_validate.ir)"
grep -q '"Shape"(' dumps/6_validate.ir || fail "no Shape before the passes"
last=$(echo dumps/hwopt_stage8_kernelpacket_0_symbol_engine_extender_*.ir)
grep -q '^node [0-9]* "split" = "sklink:Sizes"() -> ("split": i64\[4\]) {"expressions": "\[B, S, 4, 4\]"}' $last ||
	fail "no list: $(cat $last)"
! grep -q '"Shape"(' $last || fail "Shape is left: $(grep Shape $last)"
grep -q 'Sizes.default(expressions = \["B", "S", "4", "4"\])' dumps/dynamo_optimized_graph_0.py || fail "no list in Python"
middle=$(echo dumps/hwopt_fusion_group_8_shape_reshape_2_*.pbtxt)
"$sklink" $middle "${kernels[@]}" "${bounds[@]}" --soname first -o again.sk
"$sklink" net.onnx "${kernels[@]}" "${bounds[@]}" --soname first -o once.sk
strip_lines() { "$skdump" $1.sk | sed 1d; }
strip_lines once >once.txt
strip_lines again | diff once.txt - || fail "the dump links to another package"
fails_with "node 'split' \(Sizes\).*: expression 'B': its dimensions have no bounds; give them with --dim NAME=LO..HI" \
	"$sklink" $middle "${kernels[@]}" --dim B=2 --dim S=4 -o no.sk
sed 's/strings: "S"/strings: "S-nothing"/' $middle >dumps/bad.pbtxt
# Other passes have made constants of the largest sizes.
fails_with "node 'turned' \(Reshape\): dimensions '16\*B\*S' and '8192' " "$sklink" "${last%.ir}.pbtxt" "${kernels[@]}" \
	"${bounds[@]}" -o no.sk
fails_with "bad.pbtxt:[0-9]+:[0-9]+: node '.*' \(Sizes\).*: expression 'S-nothing': " "$sklink" dumps/bad.pbtxt \
	"${kernels[@]}" "${bounds[@]}" -o no.sk
[ ! -e no.sk ] || fail "a package after an error"

# A list that a run returns stays as it was if a number is negative ('same'), and is one otherwise.
grep -q '"again" = "Concat"' $last || fail "a negative number cannot be written: $(cat $last)"
