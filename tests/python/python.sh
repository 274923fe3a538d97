#!/bin/bash
# The Python package: its tests, with pytest; then its wheel in a virtual environment, without a network, where README.md's five lines
# give what NumPy computes.
. "$top_srcdir/tests/lib/lib.sh"
wheel=$(echo "$top_builddir"/python/sklink-*.whl)
[ -e "$wheel" ] || { echo "SKIP: configure has found no python3"; exit 77; }
library=$top_builddir/.libs/libskrt.so
if [ ! -e "$library" ] || nm -D "$library" | grep -q '__[at]san_'; then
	echo "SKIP: a sanitizer's runtime would have to be in the interpreter"
	exit 77
fi
python=/usr/bin/python3 # Debian's: others do not have its numpy
"$python" -c 'import numpy' 2>err.txt || { echo "SKIP: python3-numpy is not installed"; exit 77; }
export SKLINK_LIBRARY=$library SKLINK_PROGRAM=$sklink PYTHONDONTWRITEBYTECODE=1 work=$dir

if "$python" -c 'import pytest' 2>err.txt; then
	cp "$top_srcdir/tests/python/python-kernels.c" . && compile python-kernels
	PYTHONPATH=$wheel "$python" -m pytest -q -p no:cacheprovider -p no:faulthandler --rootdir "$dir" --basetemp "$dir/pytest" \
		"$top_srcdir/tests/python/python-tests.py" || fail "pytest"
else
	echo "left out: the tests with pytest (python3-pytest)"
fi

if command -v mypy >/dev/null; then
	"$python" -m zipfile -e "$wheel" typed && (cd typed && mypy --strict --cache-dir "$dir/cache" sklink >out.txt) || { cat typed/out.txt >&2; fail "mypy"; }
else
	echo "left out: the type hints (mypy)"
fi

# README.md's lines run in an environment that has nothing but the wheel and Debian's packages.
"$python" -c 'import ensurepip, venv' 2>err.txt || { echo "left out: the wheel in a virtual environment (python3-venv)"; exit 0; }
"$python" -m venv --system-site-packages environment
environment/bin/pip install -q --no-index --disable-pip-version-check "$wheel" >out.txt 2>&1 || { cat out.txt >&2; fail "pip install"; }
"$sklink" "$top_srcdir/samples/composite/composite.yaml" "$top_builddir/samples/composite/kernels.o" -o composite.sk
sed -n '/^    import numpy, sklink/,/^$/s/^    //p' "$top_srcdir/README.md" >five.py
[ "$(wc -l <five.py)" = 5 ] || { cat five.py >&2; fail "not five lines in README.md"; }
environment/bin/python five.py >out.txt || fail "README.md's lines"
[ "$(cat out.txt)" = True ] || { cat out.txt >&2; fail "README.md's lines do not give what NumPy computes"; }
environment/bin/pip uninstall -q -y sklink >out.txt 2>&1 && ! environment/bin/python -c 'import sklink' 2>err.txt || fail "the wheel does not go"
