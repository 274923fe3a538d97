/* Runs models in ONNX Runtime without optimisations: node peer.js MODULE FOLDER... From each folder it takes model.onnx
 * and NAME.npy for each input, and writes NAME.raw, the bytes of each output, and NAME.shape; or `error`, ONNX
 * Runtime's message. */
'use strict';
const fs = require('fs'), path = require('path'), npy = require('../lib/npy.js');
const [module_, ...folders] = process.argv.slice(2);
const ort = require(module_);

async function run(folder) {
	const options = {intraOpNumThreads: 1, interOpNumThreads: 1, graphOptimizationLevel: 'disabled', logSeverityLevel: 4};
	const session = await ort.InferenceSession.create(path.join(folder, 'model.onnx'), options), inputs = {};
	for (const name of session.inputNames)
		inputs[name] = npy.read(ort, path.join(folder, name + '.npy'));
	for (const [name, {data, dims}] of Object.entries(await session.run(inputs))) {
		fs.writeFileSync(path.join(folder, name + '.raw'), Buffer.from(data.buffer, data.byteOffset, data.byteLength));
		fs.writeFileSync(path.join(folder, name + '.shape'), dims.join(' '));
	}
}

async function main() {
	for (const folder of folders)
		await run(folder).catch((error) => fs.writeFileSync(path.join(folder, 'error'), String(error)));
}
main();
