/* Elements of the document. Texts come from untrusted files, so they are only set as text, never as HTML. */
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

/* Rows of cells, with numbers on the right. Thousands of rows would be slow, so only the first ones are shown. */
function table(headings, rows, most = 500) {
	const numeric = headings.map((_, column) => rows.length > 0 && typeof rows[0][column] === "number");
	const cell = (kind, content, column) => element(kind, numeric[column] ? { class: "number" } : {},
		typeof content === "number" ? content.toLocaleString("en") : content ?? "");
	const line = (name, cells) => element("tr", {}, ...cells.map((content, i) => cell(name, content, i)));
	const made = element("table", {}, element("thead", {}, line("th", headings)),
		element("tbody", {}, ...rows.slice(0, most).map(row => line("td", row))));

	return rows.length > most ? element("div", {}, made, element("p", {}, `and ${rows.length - most} more`)) : made;
}

/* The colours of page.css, light or dark, read before each picture of a canvas. */
let palette = {};

function readPalette() {
	const computed = getComputedStyle(document.documentElement);

	for (const name of ["back", "front", "faint", "line", "panel", "edge", "await", "mark", "critical"])
		palette[`--${name}`] = computed.getPropertyValue(`--${name}`).trim();
}

const style = name => palette[name];
const isDark = () => matchMedia("(prefers-color-scheme: dark)").matches;
