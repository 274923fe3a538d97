#!/bin/bash
# The same as bounds.sh with other seeds, and more of them.
set -eu
BOUNDS_CASES=${BOUNDS_CASES:-1000}
BOUNDS_SEED=${BOUNDS_SEED:-1000}
export BOUNDS_CASES BOUNDS_SEED
exec bash "$top_srcdir/tests/property/bounds.sh"
