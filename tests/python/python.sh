#!/bin/bash
# The Python package: its tests, with pytest; then its wheel in a virtual environment, without a network, where the
# tutorial's program gives NumPy's results.
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
	PYTHONPATH=$wheel "$python" -m pytest -q -p no:cacheprovider -p no:faulthandler --rootdir "$dir" --basetemp \
		"$dir/pytest" \
		"$top_srcdir/tests/python/python-tests.py" || fail "pytest"
else
	echo "left out: the tests with pytest (python3-pytest)"
fi

if command -v mypy >/dev/null; then
	"$python" -m zipfile -e "$wheel" typed &&
		(cd typed && mypy --strict --cache-dir "$dir/cache" sklink >out.txt) || { cat typed/out.txt >&2;
		fail "mypy"; }
else
	echo "left out: the type hints (mypy)"
fi

# The program of doc/tutorial/in-your-program.md runs in an environment that has nothing but the wheel and Debian's
# packages.
"$python" -c 'import ensurepip, venv' 2>err.txt || {
	echo "left out: the wheel in a virtual environment (python3-venv)"; exit 0; }
"$python" -m venv --system-site-packages environment
environment/bin/pip install -q --no-index --disable-pip-version-check "$wheel" >out.txt 2>&1 || { cat out.txt >&2;
	fail "pip install"; }
for file in cubes.pbtxt run.py; do
	sed -n "/^\`\`\`.* $file\$/,/^\`\`\`\$/{/^\`\`\`/d;p}" "$top_srcdir/doc/tutorial/in-your-program.md" >$file
	[ -s $file ] || fail "the tutorial has no $file"
done
"$sklink" cubes.pbtxt -L "$top_builddir/kernels" -lskernels -o cubes.sk
environment/bin/python run.py >out.txt || fail "the tutorial's program"
[ "$(cat out.txt)" = True ] || { cat out.txt >&2; fail "the tutorial's program does not give what NumPy computes"; }
environment/bin/pip uninstall -q -y sklink >out.txt 2>&1 && ! environment/bin/python -c 'import sklink' 2>err.txt ||
	fail "the wheel does not go"
