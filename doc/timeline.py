#!/usr/bin/python3
"""Draws README.md's picture: twenty small kernels on a time line, launched one by one and as one superkernel.

    doc/timeline.py BUILD doc/before-after.svg

BUILD is a build directory with sklink, skrun and samples/composite/kernels.o. The times are those of skrun --trace,
of the fastest of 200 runs each, on two cores."""

import json
import os
import subprocess
import sys
import tempfile

TASKS = 20
RUNS = 200
COLOURS = {"mul_f32": "#3b76c4", "add_f32": "#e08a2c"}
LEFT, WIDTH, ROW = 70, 700, 22


def manifest():
    """A chain on 4 KiB: every second kernel multiplies, the others add."""
    kernels = [("mul_f32", {"factor": 0.5}), ("add_f32", {"summand": 1})]
    return {
        "sklink": 1,
        "tensors": {f"t{i}": {"dtype": "f32", "shape": [1024]} for i in range(TASKS + 1)},
        "tasks": [
            {
                "name": f"task{i}",
                "kernel": kernels[i % 2][0],
                "set": kernels[i % 2][1],
                "args": [f"t{i}", f"t{i + 1}"],
                "scope": "chain",
            }
            for i in range(TASKS)
        ],
        "scopes": {"chain": {"options": "profiling=1"}},
    }


def fastest(trace, launches):
    """Return the length of the fastest run of so many launches, and its tasks as (core, kernel, begin, length)."""
    events = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    starts = sorted((event["ts"], event["ts"] + event["dur"]) for event in events if event["cat"] == "launch")
    runs = [(starts[i][0], starts[i + launches - 1][1]) for i in range(0, len(starts) - launches + 1, launches)]
    begin, end = min(runs, key=lambda run: run[1] - run[0])
    tasks = [
        (event["tid"], event["args"]["kernel"], event["ts"] - begin, event["dur"])
        for event in events
        if event["cat"] == "task" and begin <= event["ts"] < end
    ]
    return end - begin, tasks


def measure(build):
    """Both runs, as fastest gives them."""
    with tempfile.TemporaryDirectory() as folder:
        path = lambda name: os.path.join(folder, name)
        with open(path("chain.json"), "w") as file:
            json.dump(manifest(), file)
        subprocess.check_call(
            [f"{build}/sklink", path("chain.json"), f"{build}/samples/composite/kernels.o", "-o", path("chain.sk")]
        )
        found = []
        for option, launches in (["--unfused"], TASKS), ([], 1):
            subprocess.check_call(
                [f"{build}/skrun", path("chain.sk"), "--random", "1", "--cores", "2", "--warm-up", "50"]
                + ["--repeat", str(RUNS)]
                + option
                + ["--trace", path("trace.json")],
                stdout=subprocess.DEVNULL,
            )
            with open(path("trace.json")) as file:
                found.append(fastest(json.load(file), launches))
        return found


def draw(unfused, fused):
    scale = WIDTH / unfused[0]
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 30} 240" '
        'font-family="sans-serif" font-size="14">',
        f'<rect width="{LEFT + WIDTH + 30}" height="240" rx="8" fill="#ffffff"/>',
    ]
    for top, name, (length, tasks) in (
        (16, f"{TASKS} kernels on 4 KiB, launched one by one", unfused),
        (116, "the same kernels as one superkernel", fused),
    ):
        lines.append(f'<text x="{LEFT}" y="{top + 12}" font-weight="bold" fill="#222">{name}: {length:.1f} µs</text>')
        for core in 0, 1:
            y = top + 22 + core * (ROW + 6)
            lines.append(f'<text x="16" y="{y + 16}" fill="#555">core {core}</text>')
            width = max(length * scale, 1)
            lines.append(f'<rect x="{LEFT}" y="{y}" width="{width:.1f}" height="{ROW}" fill="#e4e4e4"/>')
            for number, kernel, begin, duration in tasks:
                if number == core:
                    width = max(duration * scale, 0.5)
                    lines.append(
                        f'<rect x="{LEFT + begin * scale:.1f}" y="{y}" width="{width:.1f}" height="{ROW}" '
                        f'fill="{COLOURS[kernel]}"/>'
                    )
    x = LEFT
    legend = (COLOURS["mul_f32"], "multiply"), (COLOURS["add_f32"], "add"), ("#e4e4e4", "launches and waits")
    for colour, text in legend:
        lines.append(f'<rect x="{x}" y="212" width="14" height="14" fill="{colour}"/>')
        lines.append(f'<text x="{x + 20}" y="224" fill="#555">{text}</text>')
        x += 110
    return "\n".join(lines + ["</svg>", ""])


if len(sys.argv) != 3:
    sys.exit(__doc__)
with open(sys.argv[2], "w") as file:
    file.write(draw(*measure(sys.argv[1])))
