/* The sizes of a package with bounds: a field for each dimension, and all numbers that follow from them. The numbers of
 * the package are those of the largest sizes; its expressions (doc/reference/skdump-json.md) give those of others. The
 * address remembers the sizes. */
const dimensions = data.dimensions ?? [];

/* By the name that expressions have for a dimension: "seq", or "network:seq". */
const dimensionName = ({ name, network }) => network ? `${network}:${name}` : name;
const presentSizes = new Map(dimensions.map(dimension => [dimensionName(dimension), dimension.usual]));

/* ---- expressions ---- */

/* A function of the sizes for a text such as "4*batch*(seq+1)" or "floor(width/2)"; null: the text is none. */
function readExpression(text) {
	const words = text.match(/"[^"]*"|[^\s"()+*\/,-]+|[()+*\/,-]/g) ?? [];
	let at = 0;
	const take = word => words[at] === word && Boolean(++at);
	const expect = word => {
		if (!take(word))
			throw new Error(text);
	};
	const call = (name, first) => {
		if (name === "floor") {
			expect("/");
			const below = operand();

			expect(")");
			return () => Math.floor(first() / below());
		}
		expect(",");
		const second = sum(), choose = name === "min" ? Math.min : Math.max;

		expect(")");
		return () => choose(first(), second());
	};
	const operand = () => {
		const word = words[at++];

		if (word === "-") {
			const value = operand();

			return () => -value();
		}
		if (word === "(") {
			const value = sum();

			expect(")");
			return value;
		}
		if (["floor", "min", "max"].includes(word) && take("("))
			return call(word, word === "floor" ? product() : sum());
		if (/^\d+$/.test(word))
			return () => Number(word);
		const name = word?.startsWith('"') ? word.slice(1, -1) : word;

		if (!presentSizes.has(name))
			throw new Error(text);
		return () => presentSizes.get(name);
	};
	const product = () => {
		const factors = [operand()];

		while (take("*"))
			factors.push(operand());
		return factors.length === 1 ? factors[0] : () => factors.reduce((value, one) => value * one(), 1);
	};
	const sum = () => {
		const terms = [product()];

		for (let plus; (plus = take("+")) || take("-");) {
			const term = product();

			terms.push(plus ? term : () => -term());
		}
		return terms.length === 1 ? terms[0] : () => terms.reduce((value, one) => value + one(), 0);
	};

	try {
		const value = sum();

		return at === words.length ? value : null;
	} catch {
		return null;
	}
}

/* ---- numbers that vary ---- */

/* Each sets one number of the package at the present sizes. */
const settings = [];

function vary(object, key, text) {
	const value = text === null || text === undefined ? null : readExpression(text);

	if (value)
		settings.push(() => { object[key] = value(); });
}

function findVarying() {
	for (const tensor of tensors) {
		tensor.sizes.forEach((text, number) => vary(tensor.shape, number, text));
		vary(tensor, "bytes", tensor.bytes_size);
	}
	for (const step of steps) {
		for (const key of ["extent", "unit", "rows"])
			vary(step, key, step[`${key}_size`]);
		for (const key of ["before", "after"])
			vary(step.traffic, key, step.traffic_size[key]);
	}
	for (const task of tasks)
		for (const [key, text] of Object.entries(task.cost_size ?? {}))
			vary(task.cost, key, text);
	settings.push(() => {
		for (const key of ["before", "after"])
			data.totals.traffic[key] = steps.reduce((all, step) => all + step.traffic[key], 0);
	});
}

/* ---- the fields ---- */

/* The size nearest to the number that the dimension takes. */
function nearestSize({ least, most, multiple }, number) {
	const wanted = Math.round(number / multiple) * multiple;

	return Number.isFinite(wanted) ? Math.min(Math.max(wanted, least), most) : least;
}

const sizeAddress = () => [...presentSizes].map(pair => pair.map(encodeURIComponent).join("=")).join("&");

/* Sizes of a text "batch=2, seq=37" or of an address; those of other names are left alone. */
function readSizes(pairs) {
	for (const [name, text] of pairs) {
		const meant = dimensions.filter(one => dimensionName(one) === name || one.name === name);

		for (const dimension of /^\d+$/.test(text ?? "") ? meant : [])
			presentSizes.set(dimensionName(dimension), nearestSize(dimension, Number(text)));
	}
}

function addressPairs() {
	try {
		return location.hash.slice(1).split("&").map(pair => pair.split("=").map(decodeURIComponent));
	} catch {
		return []; /* an address that is none of this page's */
	}
}

/* The sizes of a trace's first launch, or of its prediction. */
function tracePairs({ trace }) {
	const launch = trace.traceEvents.find(event => event.cat === "launch" && event.args.sizes);
	const text = launch?.args.sizes ?? trace.otherData.sizes ?? "";

	/* Names may have ", " in them. */
	return [...text.matchAll(/(.+?)=(\d+)(?:, |$)/gs)].map(([, name, size]) => [name, size]);
}

/* The text beside a name of a schedule: the sizes of its run, if it has any. */
const traceSizes = trace => data.dimensions || data.at ? tracePairs(trace).map(pair => pair.join("=")).join(", ") : "";

/* Give all numbers the present sizes. */
function applySizes() {
	for (const setting of settings)
		setting();
	for (const [name, size] of presentSizes)
		document.getElementById(`size-${name}`).value = size;
}

function changeSize(dimension, number) {
	presentSizes.set(dimensionName(dimension), nearestSize(dimension, number));
	history.replaceState(null, "", `#${sizeAddress()}`);
	applySizes();
	showSizes();
}

function openSizes() {
	const field = dimension => element("label", {},
		`${dimensionName(dimension)} `,
		element("input", { id: `size-${dimensionName(dimension)}`, type: "number", min: dimension.least,
			max: dimension.most, step: dimension.multiple,
			onchange: event => changeSize(dimension, event.target.valueAsNumber) }),
		element("span", { class: "bounds" }, ` ${dimension.least}..${dimension.most}` +
			(dimension.multiple > 1 ? `:${dimension.multiple}` : "") + `, usually ${dimension.usual}`));

	document.getElementById("sizes").append(...dimensions.map(field),
		...data.at ? [`at ${data.at.map(one => `${dimensionName(one)}=${one.size}`).join(", ")}`] : []);
	if (!dimensions.length)
		return;
	findVarying();
	for (const trace of traces.slice(0, 1))
		readSizes(tracePairs(trace));
	readSizes(addressPairs());
	applySizes();
	window.addEventListener("hashchange", () => {
		readSizes(addressPairs());
		applySizes();
		showSizes();
	});
}
