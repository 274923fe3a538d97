#!/bin/bash
# The same as property.sh with other seeds, and more of them.
set -eu
PROPERTY_CASES=${PROPERTY_CASES:-1000}
PROPERTY_SEED=${PROPERTY_SEED:-1000}
export PROPERTY_CASES PROPERTY_SEED
exec bash "$top_srcdir/tests/property/property.sh"
