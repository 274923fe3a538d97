#!/usr/bin/python3
"""Runs the decoder of samples/decoder, divided by sklink.shard, on simulated ranks: one token after another.

    tensor_parallel.py SKRUN FOLDER PACKAGE.%r.sk STEPS LOGITS.npy      FOLDER has the models of the ranks

The first token is 0; each further one is the likeliest by the step before, as in samples/decoder/run. The logits of
all steps are written; all ranks must have the same bits. Each rank has a part of the caches, in files of its own."""

import glob
import os
import subprocess
import sys
import tempfile

import numpy
import onnx


def caches(model):
    """The names and shapes of a rank's part of the earlier keys and values."""
    return {value.name: [dim.dim_value for dim in value.type.tensor_type.shape.dim]
            for value in model.graph.input if value.name.startswith("past_")}


def main():
    if len(sys.argv) != 6:
        sys.exit(__doc__.split("\n\n")[1].replace("    tensor", "usage: tensor"))
    skrun, folder, package, steps, result = sys.argv[1:]
    ranks = len(glob.glob(os.path.join(folder, "model.*.onnx")))
    states = caches(onnx.load(os.path.join(folder, "model.0.onnx"), load_external_data=False))
    all_logits, token = [], 0
    with tempfile.TemporaryDirectory() as files:
        command = [skrun, "--ranks", str(ranks), package]
        for name, shape in states.items():
            path = os.path.join(files, name + ".%r.npy")
            command += ["--input", f"{name}={path}", "--output", f"{name}={path}"]
            for rank in range(ranks):
                numpy.save(path.replace("%r", str(rank)), numpy.zeros(shape, numpy.float32))
        for name in ("token", "position"):
            command += ["--input", f"{name}={files}/{name}.npy"]
        command += ["--output", f"logits={files}/logits.%r.npy"]
        for position in range(int(steps)):
            numpy.save(f"{files}/token.npy", numpy.array([[token]]))
            numpy.save(f"{files}/position.npy", numpy.array([position]))
            subprocess.run(command, check=True)
            logits = [numpy.load(f"{files}/logits.{rank}.npy") for rank in range(ranks)]
            if any(one.tobytes() != logits[0].tobytes() for one in logits):
                sys.exit(f"step {position}: the ranks have different logits")
            all_logits.append(logits[0].reshape(-1))
            token = int(all_logits[-1].argmax())
            print(token, end=" ", flush=True)
    print()
    numpy.save(result, numpy.stack(all_logits))


if __name__ == "__main__":
    main()
