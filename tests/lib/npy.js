// Reads .npy files, version 1, for ONNX Runtime.
'use strict';
const fs = require('fs');
const types = {f2: ['float16', Uint16Array], f4: ['float32', Float32Array], f8: ['float64', Float64Array], b1: ['bool', Uint8Array],
	i1: ['int8', Int8Array], i2: ['int16', Int16Array], i4: ['int32', Int32Array], i8: ['int64', BigInt64Array],
	u1: ['uint8', Uint8Array], u2: ['uint16', Uint16Array], u4: ['uint32', Uint32Array], u8: ['uint64', BigUint64Array]};

// The file's tensor, one of the module `ort`.
exports.read = function (ort, file) {
	const bytes = fs.readFileSync(file), start = 10 + bytes.readUInt16LE(8);
	const header = bytes.toString('latin1', 10, start);
	const [type, array] = types[header.match(/'descr': *'[<|]([a-z]\d)'/)[1]];
	const shape = header.match(/'shape': *\(([^)]*)\)/)[1].split(',').filter((word) => word.trim()).map(Number);
	return new ort.Tensor(type, new array(bytes.buffer.slice(bytes.byteOffset + start, bytes.byteOffset + bytes.length)), shape);
};
