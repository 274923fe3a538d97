#!/bin/bash
# What models of exporters ask of the link (door.py): loops that counters end, inputs and inner values that are
# constants, names of dimensions, parts of a model, forms of files, and one message about all that is not there.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"
needs_python
"$python" "$top_srcdir/tests/lib/door.py" "$sklink" "$skrun" "$top_builddir/kernels" || fail "the door"
