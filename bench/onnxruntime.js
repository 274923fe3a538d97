// Measures a model in ONNX Runtime: node onnxruntime.js MODULE FOLDER OPTIMISATION. FOLDER has model.onnx and NAME.npy
// for each input.
// Prints the version; then for each line "CORES REPEATS" of its input the fastest of so many runs, in ms.
'use strict';
const fs = require('fs'), path = require('path'), readline = require('readline');
const npy = require('../tests/lib/npy.js');
const [module_, folder, level] = process.argv.slice(2);
const ort = require(module_);

async function main() {
	const sessions = new Map(), inputs = {};
	console.log(JSON.parse(fs.readFileSync(path.join(module_, 'package.json'))).version);
	for await (const line of readline.createInterface({input: process.stdin})) {
		const [cores, repeats] = line.split(' ').map(Number);
		if (!sessions.has(cores))
			sessions.set(cores, await ort.InferenceSession.create(path.join(folder, 'model.onnx'),
				{intraOpNumThreads: cores, interOpNumThreads: 1,
				 graphOptimizationLevel: level, logSeverityLevel: 3}));
		const session = sessions.get(cores);
		for (const name of session.inputNames)
			inputs[name] = inputs[name] || npy.read(ort, path.join(folder, name + '.npy'));
		let fastest = Infinity;
		for (let i = 0; i < repeats; i++) {
			const start = process.hrtime.bigint();
			await session.run(inputs);
			fastest = Math.min(fastest, Number(process.hrtime.bigint() - start) / 1e6);
		}
		console.log(fastest);
	}
}
main().catch((error) => { console.error(String(error)); process.exit(1); });
