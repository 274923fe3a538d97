/* Elements of the document. Texts come from files that anybody may have written, so they are only ever set as text. */
function element(name, attributes, ...children) {
	const made = document.createElement(name);

	for (const [key, value] of Object.entries(attributes || {}))
		if (key.startsWith("on"))
			made.addEventListener(key.slice(2), value);
		else
			made.setAttribute(key, value);
	made.append(...children);
	return made;
}

const taskLink = number => element("a", { onclick: () => select(number) }, tasks[number].name);

/* Rows of cells, of which numbers stand on the right. Thousands of rows would take the browser long: the first ones. */
function table(headings, rows, most = 500) {
	const numeric = headings.map((_, column) => rows.length > 0 && typeof rows[0][column] === "number");
	const cell = (kind, content, column) => element(kind, numeric[column] ? { class: "number" } : {},
		typeof content === "number" ? content.toLocaleString("en") : content ?? "");
	const made = element("table", {}, element("thead", {}, element("tr", {}, ...headings.map((text, i) => cell("th", text, i)))),
		element("tbody", {}, ...rows.slice(0, most).map(row => element("tr", {}, ...row.map((content, i) => cell("td", content, i))))));

	return rows.length > most ? element("div", {}, made, element("p", {}, `and ${rows.length - most} more`)) : made;
}

/* The colours of page.css, light or dark, as each picture of a canvas begins. */
let palette = {};

function readPalette() {
	const computed = getComputedStyle(document.documentElement);

	for (const name of ["back", "front", "faint", "line", "panel", "edge", "await", "mark", "critical"])
		palette[`--${name}`] = computed.getPropertyValue(`--${name}`).trim();
}

const style = name => palette[name];
const isDark = () => matchMedia("(prefers-color-scheme: dark)").matches;
