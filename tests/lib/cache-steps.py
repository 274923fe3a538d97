#!/usr/bin/env python3
# Steps of a package with caches: cache-steps.py FOLDER PACKAGE OTHER PAST=PRESENT[,PAST=PRESENT]... AXIS STEP...
# FOLDER has skrun and skdump, and rows are along AXIS. Each STEP is "NAME=NUMBER,...", the sizes; the steps are run in
# a row, on one core. A step "+NAME=NUMBER,..." is also compared: OTHER, a package without states ("@": the number of
# the step), gives the same bits for the rows that the caches have before the step; then the package gives them on 2 and
# 3 cores, unfused, and with the checks of --guard. Rows of a cache behind the last one are NaN, before and after. With
# "~" in place of "+", kernels differ, and numbers are about the same.
import re
import subprocess
import sys
import numpy as np

folder, package, others, pairs, axis = sys.argv[1:6]
axis = int(axis)
pairs = dict(pair.split('=') for pair in pairs.split(','))
types = {'f32': np.float32, 'i64': np.int64, 'bool': np.bool_, 'f16': np.float16}
ways = ['--cores 2', '--cores 3', '--cores 1 --unfused', '--cores 2 --guard']
rng = np.random.default_rng(1)


def fail(text):
    sys.exit(f'{package}: {text}')


class Package:
    def __init__(self, file):
        self.file = file
        text = subprocess.run([f'{folder}/skdump', file], check=True, capture_output=True, text=True).stdout
        self.dimensions = re.findall(r'^  dimension (\S+) ', text, re.M)
        self.tensors = {name: (role, types[kind], shape) for name, role, kind, shape in re.findall(
            r'^ +\d+  (\S+) +(input|inout|output) +(\w+) +\[(.*?)\]', text, re.M)}

    def names(self, role):
        return [name for name, tensor in self.tensors.items() if tensor[0] == role]

    def shape(self, name, sizes):
        return [int(eval(size, dict(sizes))) for size in self.tensors[name][2].split(',') if size]

    def run(self, arrays, sizes, way, outputs):
        words = [f'{folder}/skrun', self.file] + way.split()
        words += [f'--dim={name}={sizes[name]}' for name in self.dimensions]
        for name, array in arrays.items():
            np.save(f'in.{name}.npy', array)
            words += ['--input', f'{name}=in.{name}.npy']
        for name in outputs:
            words += ['--output', f'{name}=out.{name}.npy']
        result = subprocess.run(words, capture_output=True, text=True)
        if result.returncode or result.stderr:
            fail(f'{" ".join(words)}: {result.stderr}{result.stdout}')
        return {name: np.load(f'out.{name}.npy') for name in outputs}


def rows(array, begin, end=None):
    return np.ascontiguousarray(array[(slice(None),) * axis + (slice(begin, end),)])


def compare(what, got, wanted, exact):
    if got.shape != wanted.shape or not (
            got.tobytes() == wanted.tobytes() if exact else np.allclose(got, wanted, rtol=1e-4, atol=1e-5)):
        fail(f'{what} is wrong')


def draw(name, kind, shape):
    if kind == np.float32:
        return rng.standard_normal(shape).astype('f')
    return rng.integers(0, 2, shape).astype(kind)


def check(number, sizes, before, after, results, inputs, exact):
    other = Package(others.replace('@', str(number)))
    given = {name: array for name, array in inputs.items() if name in other.tensors}
    given.update({name: rows(cache, 0, sizes['past']) for name, cache in before.items() if name in other.tensors})
    wanted = other.run(given, sizes, '--cores 1', list(results) + list(pairs.values()))
    for way in ['--cores 1'] + ways:
        if way != '--cores 1':
            after = own.run({**inputs, **before}, sizes, way, list(results) + list(before))
            results = {name: after[name] for name in results}
        for name, array in results.items():
            compare(f'{name} at {sizes} with {way}', array, wanted[name], exact)
        for name in before:
            end = wanted[pairs[name]].shape[axis]
            compare(f'{name} at {sizes} with {way}', rows(after[name], 0, end), wanted[pairs[name]], exact)
            if not np.isnan(rows(after[name], end)).all():
                fail(f'{name} at {sizes} with {way}: rows behind the last one are written')


own = Package(package)
caches = None
for number, step in enumerate(sys.argv[6:]):
    sizes = {name: int(size) for name, size in (word.split('=') for word in step.lstrip('+~').split(','))}
    if caches is None:
        caches = {name: np.full(own.shape(name, sizes), np.nan, own.tensors[name][1]) for name in own.names('inout')}
        for cache in caches.values():
            rows_of_past = (slice(None),) * axis + (slice(0, sizes['past']),)
            cache[rows_of_past] = rng.standard_normal(cache[rows_of_past].shape)
    inputs = {name: draw(name, own.tensors[name][1], own.shape(name, sizes)) for name in own.names('input')}
    outputs = own.names('output')
    results = own.run({**inputs, **caches}, sizes, '--cores 1', outputs + list(caches))
    if step[0] in '+~':
        check(number, sizes, caches, results, {name: results[name] for name in outputs}, inputs, step[0] == '+')
    caches = {name: results[name] for name in caches}
