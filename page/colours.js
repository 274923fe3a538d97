/* The meaning of tasks' colours in the graph and in the schedule: a choice, and a legend. */
const colouring = {
	kernel: { of: task => task.kernel, name: number => kernels[number].name },
	operator: {
		of: task => operatorNumbers.get(operators[task.kernel]),
		name: number => [...operatorNumbers.keys()][number] || "none",
	},
	launch: { of: task => task.launch, name: number => launches[number].name },
	scope: { of: task => scopeNumbers.get(task.scope), name: number => [...scopeNumbers.keys()][number] ?? "none" },
	stream: { of: task => task.stream, name: number => `${number}` },
	lane: { of: task => data.lanes.indexOf(steps[task.step].lane), name: number => data.lanes[number] },
};
const numbered = names => new Map([...new Set(names)].map((name, number) => [name, number]));
const scopeNumbers = numbered(tasks.map(task => task.scope)), operatorNumbers = numbered(operators);
const LEGEND = 10; /* entries */
let colouredBy = operators.some(name => name) ? "operator" : "kernel";

/* A distinct colour for each of the first numbers; text is readable on it. */
const hue = number => (number * 137.508 + 205) % 360;
const colour = (number, dark) => `hsl(${hue(number)} 55% ${dark ? 34 : 82}%)`;
const taskColour = task => colour(colouring[colouredBy].of(task), isDark());

/* Entries of the most frequent colours. */
function legend() {
	const counts = new Map(), { of, name } = colouring[colouredBy];

	for (const task of tasks)
		counts.set(of(task), (counts.get(of(task)) ?? 0) + 1);
	const entries = [...counts].sort((a, b) => b[1] - a[1]);
	const shown = entries.slice(0, LEGEND).map(([number]) =>
		element("span", { class: "swatch",
			style: `background: light-dark(${colour(number, false)}, ${colour(number, true)})` },
			name(number)));

	return entries.length > LEGEND ? [...shown, `and ${entries.length - LEGEND} more`] : shown;
}

function colourBy(name) {
	colouredBy = name;
	for (const bar of document.querySelectorAll(".colours")) {
		bar.querySelector("select").value = name;
		bar.querySelector(".legend").replaceChildren(...legend());
	}
	refresh();
}

/* The colours' legend, after the view's other signs. */
function colourBar(...signs) {
	const choice = element("select", { onchange: event => colourBy(event.target.value) },
		...Object.keys(colouring).map(name => element("option", {}, name)));

	choice.value = colouredBy;
	return element("div", { class: "colours" }, ...signs, element("label", {}, "colour by ", choice),
		element("span", { class: "legend" }, ...legend()));
}
