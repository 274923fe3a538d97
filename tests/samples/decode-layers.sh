#!/bin/sh
# samples/decode_layers: right by an independent computation, bit-identical however it is run, and the prediction for
# the whole network equals that of doc/explain/simulation.md.
. "$top_srcdir/tests/lib/lib.sh"
sample=$top_srcdir/samples/decode_layers
reference=$top_builddir/samples/decode_layers/reference
kernels=$top_builddir/samples/decode_layers/kernels.o
layers=3

"$reference" make . $layers
inputs=
for file in *.npy; do
	inputs="$inputs --input ${file%.npy}=$file"
done
for device in host a3; do
	sh "$sample/generate" $layers 1 $device >decode.yaml
	"$sklink" decode.yaml "$kernels" -o decode.sk
	"$skdump" --verify decode.sk
	"$skrun" decode.sk $inputs --output x_$layers=x_$layers.npy
	"$reference" check . $layers
	for cores in 1 2 7; do
		"$skrun" decode.sk $inputs --verify --cores $cores
	done
done

# Another position: the check must notice.
sed 's/position: {tensor: position}/position: 16/' decode.yaml >wrong.yaml
"$sklink" wrong.yaml "$kernels" -o wrong.sk
"$skrun" wrong.sk $(echo "$inputs" | sed 's/--input position=position.npy//') --output x_$layers=x_$layers.npy
fails_with "x_$layers\[[0-9]*\]\[[0-9]*\] is .*, expected" "$reference" check . $layers

# All layers, predicted. The numbers are those of doc/explain/simulation.md.
predict() {
	sh "$sample/generate" 61 "$1" >decode.yaml
	"$sklink" decode.yaml "$kernels" -o decode.sk
	"$skrun" --predict decode.sk >out.txt
	grep -qx 'predicted for a3: 24 cube cores, 48 vector cores; 1403 tasks in 1 launch' out.txt ||
		fail "$(head -3 out.txt)"
	for line; do
		[ "$line" = "$1" ] || grep -q "^$line" out.txt || fail "$1 dies: no line '$line': $(cat out.txt)"
	done
}
predict 1 'unfused  *16.98 ' 'fused  *15.68  *7.7% ' 'fused, early-start=0/2  *16.21  *4.6% ' \
	'fused, at no cost  *15.15  *10.8% '
predict 4 'unfused  *9385.74  .* 1122.40 ' 'fused  *7972.86  *15.1% .* 0.80  *274.50  *922.32 ' \
	"fused, list's order  *8084.75  *13.9% " 'fused, early-start=0/2  *8440.02  *10.1% .* 0.80  *311.10 ' \
	'fused, preload-code  *7773.76  *17.2% ' 'fused, debug-dcci-all  *8888.01  *5.3% ' \
	'fused, at no cost  *7491.14  *20.2% '
