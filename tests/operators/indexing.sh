#!/bin/bash
# Numbers of rows that are only known at run time: those that count from the end, and those that are out of range, which
# end the launch with an error that names the task instead of reading outside of the tensor.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"
needs_python
cat >indexing.py <<'PY'
import numpy
from models import save

x = numpy.arange(12, dtype=numpy.float32).reshape(4, 3)
updates = numpy.full((2, 3), 100, numpy.float32)
rows, elements = numpy.array([3, -4]), numpy.array([[3, 3, 3], [0, 0, -4]])
scattered = x.copy()
scattered[[3, 0]] += 100
save("gather", "Gather", {"x": x, "i": rows}, {"y": x[[3, 0]]}, {})
save("elements", "GatherElements", {"x": x, "i": elements}, {"y": x[[3, 0]]}, {})
save("scatter", "ScatterElements", {"x": x, "i": elements, "u": updates}, {"y": scattered}, {"reduction": "add"})
for kind, last in (("high", 4), ("low", -5)):
    numpy.save(f"gather.{kind}.npy", numpy.array([3, last]))
    for name in ("elements", "scatter"):
        numpy.save(f"{name}.{kind}.npy", numpy.array([[3, 3, 3], [0, 0, last]]))
PY
"$python" indexing.py
agrees --cores=1 gather elements scatter
for name in gather elements scatter; do
	more=()
	[ $name != scatter ] || more=(--input=u=scatter.u.npy)
	for kind in high low; do
		fails_with "^skrun: error: .*task 'the node'" "$skrun" $name.sk --input=x=$name.x.npy \
			--input=i=$name.$kind.npy "${more[@]}"
	done
done
