#!/bin/bash
# skrun's progress line on a terminal during long runs, here a pseudo terminal: the launch, its number of runs, the time
# so far; nothing of it stays, and elsewhere it is not printed.
. "$top_srcdir/tests/lib/lib.sh"
[ -x /usr/bin/python3 ] || { echo "needs python3"; exit 77; }
cat >wait.c <<'C'
#include <time.h>
#include "skkernel.h"

/* x[0] seconds. */
void waits(const double *x, double *y)
{
	struct timespec start, now;

	clock_gettime(CLOCK_MONOTONIC, &start);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((double)(now.tv_sec - start.tv_sec) + (double)(now.tv_nsec - start.tv_nsec) * 1e-9 < x[0]);
	y[0] = x[0];
}
SK_KERNEL(waits, "in x f64[1], out y f64[1]");
C
compile wait
for seconds in 0.1 1.2 2.5; do
	cat >wait.yaml <<Y
sklink: 1
tensors:
  x: {dtype: f64, shape: [1], range: [$seconds, $seconds]}
  y: {dtype: f64, shape: [1]}
tasks:
  - {name: waits, kernel: waits, args: [x, y], scope: s}
Y
	"$sklink" wait.yaml wait.o -o $seconds.sk
done

cat >says.py <<'P'
import os, re, subprocess, sys
from terminal import all_said
def said(*words, terminal="xterm"):
    """What skrun says on a terminal that is its standard error, and its standard output, which is none."""
    ours, its = os.openpty()
    with subprocess.Popen([sys.argv[1], "--random", "1", "--cores", "1", *words], stdout=subprocess.PIPE, stderr=its,
                          env={**os.environ, "TERM": terminal}, encoding="utf-8") as program:
        os.close(its)
        text = all_said(ours)
        printed = program.stdout.read()
    os.close(ours)
    return text.split("\r\x1b[K"), printed

lines, printed = said("0.1.sk", "--warm-up", "15", "--repeat", "25")
assert lines[0] == "" and lines[-1] == "", lines
warm, runs = ([re.fullmatch(r"skrun: %s (\d+) of %d, 0:\d\d passed(, about 0:\d\d left)?" % what, line) for line in lines]
              for what in (("warm-up run", 15), ("fused run", 25)))
for shown, count in (warm, 15), (runs, 25):
    numbers = [int(match[1]) for match in shown if match]
    assert numbers and numbers == sorted(numbers) and 1 <= numbers[0] and numbers[-1] <= count, lines
assert len([line for line in lines if line]) == sum(match is not None for match in warm + runs), lines
assert any(match and match[2] for match in runs), lines
assert printed.startswith("output  y  f64 [1]: 0.1"), printed

lines, printed = said("1.2.sk", "--verify")
assert lines == ["", *(part for way in ("unfused", "serial", "fused") for part in (f"skrun: {way} run 1 of 1, 0:01 passed", ""))], lines
assert printed.startswith("Precision: bit-identical"), printed
lines, printed = said("2.5.sk", "--timeout", "1.5")
assert lines[:2] == ["", "skrun: fused run 1 of 1, 0:01 passed"] and lines[2].startswith("skrun: error: "), lines
for words, terminal in (["0.1.sk"], "xterm"), (["1.2.sk"], "dumb"):
    lines, printed = said(*words, terminal=terminal)
    assert lines == [""] and printed, lines
P
PYTHONPATH=$top_srcdir/tests/lib PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 says.py "$skrun" || fail "on a terminal"
TERM=xterm "$skrun" --random 1 1.2.sk >out.txt 2>err.txt
[ ! -s err.txt ] || { cat err.txt >&2; fail "progress without a terminal"; }
