#!/usr/bin/env python3
# Write a decoder with a cache that grows, as exporters write GPT-2: decoder-model.py FILE [NAME=NUMBER or WORD]...
# Inputs ids, positions and mask [batch, 1, seq, past+seq] (added to the scores) unless they are computed (computed=1),
# past_key_values.N.key and .value [batch, heads, past, width]; outputs logits and present.N.key and .value, which are
# the past ones with new rows. With groups=G attention is com.microsoft's GroupQueryAttention with G heads of keys, as
# ONNX Runtime's model builder writes it, with the counts of keys computed from the sizes. With frames=1 each layer also
# attends to past_key_values.N.encoder.key and .value [batch, heads, frames, width], as decoders of speech do.
import sys
import numpy as np
from onnx import TensorProto as T, helper as h, numpy_helper as nh, save

options = {'layers': 2, 'heads': 4, 'width': 8, 'words': 64, 'places': 64, 'batch': 'batch', 'opset': 17}
for word in sys.argv[2:]:
    name, value = word.split('=')
    options[name] = int(value) if value.isdigit() else value
layers, heads, width, words, places = (options[k] for k in ('layers', 'heads', 'width', 'words', 'places'))
batch, opset, hidden = options['batch'], options['opset'], heads * width
groups = options.get('groups', 0)
rng = np.random.default_rng(options.get('seed', 1))
nodes, constants, inputs, outputs = [], [], [], []


def constant(name, array):
    constants.append(nh.from_array(np.asarray(array), name))
    return name


def weight(name, *shape):
    return constant(name, (rng.standard_normal(shape) / np.sqrt(shape[0])).astype('f'))


def node(op, *names, to=None, domain='', **attributes):
    to = to or f'{op}_{len(nodes)}'
    nodes.append(h.make_node(op, list(names), [to] if isinstance(to, str) else list(to), to if isinstance(to, str) else to[0],
                             domain=domain, **attributes))
    return to


def linear(name, x, n, m):
    return node('Add', node('MatMul', x, weight(name + '.w', n, m)), weight(name + '.b', m))


def norm(name, x):
    scale = constant(name + '.scale', (1 + rng.standard_normal(hidden) / 8).astype('f'))
    mean = node('ReduceMean', x, axes=[-1]) if opset < 18 else node('ReduceMean', x, 'last')
    away = node('Sub', x, mean)
    square = node('Pow', away, 'two')
    deviation = node('ReduceMean', square, axes=[-1]) if opset < 18 else node('ReduceMean', square, 'last')
    return node('Add', node('Mul', node('Div', away, node('Sqrt', node('Add', deviation, 'epsilon'))), scale),
                weight(name + '.bias', hidden))


def by_heads(x):
    return node('Transpose', node('Reshape', x, 'split'), perm=[0, 2, 1, 3])


def layer(number, x):
    n = norm(f'l{number}.before', x)
    past = [f'past_key_values.{number}.{part}' for part in ('key', 'value')]
    present = [f'present.{number}.{part}' for part in ('key', 'value')]
    for name in past:
        inputs.append(h.make_tensor_value_info(name, T.FLOAT, [batch, groups or heads, 'past', width]))
    for name in present:
        outputs.append(h.make_tensor_value_info(name, T.FLOAT, None))
    if groups:
        q, k, v = (linear(f'l{number}.{part}', n, hidden, width * (heads if part == 'q' else groups)) for part in 'qkv')
        joined = node('GroupQueryAttention', q, k, v, *past, 'last_keys', 'total', 'cosines', 'sines',
                      to=[f'mixed{number}'] + present, domain='com.microsoft', num_heads=heads, kv_num_heads=groups,
                      do_rotary=1, local_window_size=options.get('window', -1))[0]
    else:
        joined = mix(number, n, past, present)
    x = node('Add', x, linear(f'l{number}.out', joined, hidden, hidden))
    if 'frames' in options:
        heard = [f'past_key_values.{number}.encoder.{part}' for part in ('key', 'value')]
        for name in heard:
            inputs.append(h.make_tensor_value_info(name, T.FLOAT, [batch, heads, 'frames', width]))
        q = by_heads(linear(f'l{number}.cross.q', norm(f'l{number}.between', x), hidden, hidden))
        scores = node('Div', node('MatMul', q, node('Transpose', heard[0], perm=[0, 1, 3, 2])), 'root')
        mixed = node('MatMul', node('Softmax', scores, axis=-1), heard[1])
        joined = node('Reshape', node('Transpose', mixed, perm=[0, 2, 1, 3]), 'join')
        x = node('Add', x, linear(f'l{number}.cross.out', joined, hidden, hidden))
    inner = linear(f'l{number}.up', norm(f'l{number}.after', x), hidden, 4 * hidden)
    half = node('Mul', inner, node('Add', node('Erf', node('Div', inner, 'root2')), 'one'))
    return node('Add', x, linear(f'l{number}.down', node('Mul', half, 'half'), 4 * hidden, hidden))


def mix(number, n, past, present):
    q, k, v = (by_heads(linear(f'l{number}.{part}', n, hidden, hidden)) for part in 'qkv')
    if 'beams' in options:
        past = [node('Gather', name, 'beams', axis=0) for name in past]
    if opset >= 23:
        mixed = node('Attention', q, k, v, 'mask', *past, to=[f'mixed{number}'] + present)[0]
    else:
        for rows, new, to in zip(past, (k, v), present):
            node('Concat', rows, new, to=to, axis=2)
        scores = node('Div', node('MatMul', q, node('Transpose', present[0], perm=[0, 1, 3, 2])), 'root')
        mixed = node('MatMul', node('Softmax', node('Add', scores, 'mask'), axis=-1), present[1])
    return node('Reshape', node('Transpose', mixed, perm=[0, 2, 1, 3]), 'join')


for name, value in (('two', 2), ('epsilon', 1e-5), ('root', np.sqrt(width)), ('root2', np.sqrt(2)), ('one', 1),
                    ('half', 0.5)):
    constant(name, np.float32(value))
constant('last', np.array([-1]))
constant('split', np.array([0, 0, heads, width]))
constant('join', np.array([0, 0, hidden]))
inputs.append(h.make_tensor_value_info('ids', T.INT64, [batch, 'seq']))
if 'computed' in options:  # positions and mask are computed from the sizes of past rows and ids
    for name, value in (('zero', 0), ('step', 1), ('axis2', 2)):
        constant(name, np.array(value))
    constant('shown', np.float32(0))
    constant('hidden', np.float32(-np.inf))
    constant('front', np.array([0]))
    past = node('Gather', node('Shape', 'past_key_values.0.key'), 'axis2', axis=0)
    total = node('Add', past, node('Gather', node('Shape', 'ids'), 'step', axis=0))
    if groups:
        turns = np.arange(places)[:, None] / 100 ** (np.arange(width // 2) / width)
        constant('cosines', np.cos(turns).astype('f'))
        constant('sines', np.sin(turns).astype('f'))
        last = node('Expand', node('Sub', total, 'step'), node('Shape', 'ids', start=0, end=1))
        nodes.append(h.make_node('Cast', [total], ['total'], 'total', to=T.INT32))
        nodes.append(h.make_node('Cast', [last], ['last_keys'], 'last_keys', to=T.INT32))
    positions = node('Range', past, total, 'step')
    node('Unsqueeze', positions, 'front', to='positions')
    keys = node('Unsqueeze', node('Range', 'zero', total, 'step'), 'front')
    seen = node('LessOrEqual', keys, node('Unsqueeze', positions, 'last'))
    mask = node('Where', seen, 'shown', 'hidden')
    node('Unsqueeze', mask, constant('outer', np.array([0, 1])), to='mask')
else:
    inputs.append(h.make_tensor_value_info('positions', T.INT64, [batch, 'seq']))
    inputs.append(h.make_tensor_value_info('mask', T.FLOAT, [batch, 1, 'seq', 'past+seq']))
if 'beams' in options:
    inputs.append(h.make_tensor_value_info('beams', T.INT64, [batch]))
x = node('Add', node('Gather', weight('words', words, hidden), 'ids'),
         node('Gather', weight('places', places, hidden), 'positions'))
for number in range(layers):
    x = layer(number, x)
outputs.insert(0, h.make_tensor_value_info('logits', T.FLOAT, None))
node('MatMul', norm('final', x), weight('head', hidden, words), to='logits')
graph = h.make_graph(nodes, 'decoder', inputs, outputs, constants)
sets = [h.make_opsetid('', opset)] + [h.make_opsetid('com.microsoft', 1)] * (groups > 0)
save(h.make_model(graph, opset_imports=sets, ir_version=8), sys.argv[1])
