#!/bin/bash
# Encoders of 1, 8 and 24 layers: composites, steps and bytes of the package grow with the layers, and nothing grows
# faster.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"
needs_python
for layers in 1 8 24; do
	"$python" "$top_srcdir/samples/bert/bert.py" make -n $layers --hidden 48 --heads 3 --intermediate 80 \
		--sequence 21 . >out.txt
	"$sklink" model.onnx -L "$top_builddir/kernels" -lskernels --fusion-target cpu --fusion-flags=--opt_level=3 -o \
		bert.sk --dump-dir dumps
	echo "$layers $(grep -c ^node dumps/hwopt_d_composite_opt_end_graph_0.ir) $(grep -c ^composite dumps/hwopt_d_composite_opt_end_graph_0.ir)" \
		"$("$skdump" --steps bert.sk | grep -cE '^ *[0-9]+  ') $(stat -c %s bert.sk)"
done >sizes.txt
cat sizes.txt
awk '{ for (i = 1; i <= NF; i++) v[NR, i] = $i }
	END {
		for (i = 2; i <= 5; i++) {
			last = (v[3, i] - v[2, i]) / 16
			first = (v[2, i] - v[1, i]) / 7
			bad += v[2, i] <= v[1, i] || last > 1.01 * first
		}
		exit bad || NR != 3
	}' sizes.txt || fail "something grows faster than the layers"
