// SPDX-License-Identifier: GPL-2.0-only
/* Elements of the page.  Texts become text nodes: no string is ever read as markup. */

export function el(name, properties = {}, ...children) {
	const element = document.createElement(name);

	for (const [key, value] of Object.entries(properties)) {
		if (key.startsWith("on"))
			element.addEventListener(key.slice(2), value);
		else if (key in element && key !== "list")
			element[key] = value;
		else
			element.setAttribute(key, value);
	}
	element.append(...children.filter((child) => child !== null));
	return element;
}

/* Writes only what differs: most values of most tiles stay. */
export function setText(element, text) {
	if (element.textContent !== text)
		element.textContent = text;
}

export function setClass(element, name) {
	if (element.className !== name)
		element.className = name;
}

/* The drawing context of a canvas with as many pixels as the screen has for it, or null if it is hidden. */
export function fitCanvas(canvas) {
	const ratio = window.devicePixelRatio || 1;
	const width = canvas.clientWidth, height = canvas.clientHeight;

	if (!width || !height)
		return null;
	if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
		canvas.width = Math.round(width * ratio);
		canvas.height = Math.round(height * ratio);
	}
	const context = canvas.getContext("2d");

	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	context.clearRect(0, 0, width, height);
	return { context, width, height };
}

/* Colours of the theme, read once for each change of it. */
let known = null;

export function themeColours() {
	if (known)
		return known;
	const style = getComputedStyle(document.documentElement);
	const of = (name) => style.getPropertyValue(name).trim();

	known = { text: of("--text"), quiet: of("--quiet"), grid: of("--grid"), line: of("--line"),
		accent: of("--accent"), surface: of("--surface"), peak: of("--peak"), bad: of("--bad"),
		isDark: document.documentElement.dataset.theme === "dark" };
	return known;
}

export function forgetTheme() {
	known = null;
}

/*
 * Distinct also for eyes that see fewer colours: those of Okabe and Ito, "Color Universal
 * Design", 2008, darker where white is the ground.
 */
const light = ["#0072b2", "#d55e00", "#009e73", "#a6547f", "#b8860b", "#3a9bd1", "#5b6570", "#7a3fa0", "#8a5a2b", "#1b5e20"];
const dark = ["#56b4e9", "#ee7733", "#2fc79a", "#de8fbe", "#f0e442", "#9ad0f5", "#aab4bd", "#b996e6", "#d1a06e", "#9be08f"];

export function seriesColour(index) {
	const colours = themeColours().isDark ? dark : light;

	return colours[index % colours.length];
}

export function sparkline(canvas, values, most, colour) {
	const fitted = fitCanvas(canvas);

	if (!fitted)
		return;
	const { context, width, height } = fitted;
	const top = most || Math.max(1e-12, ...values.filter((value) => value !== null));
	const step = width / Math.max(1, values.length - 1);
	let isDown = false, first = 0, last = 0;

	context.beginPath();
	values.forEach((value, i) => {
		if (value === null)
			return;
		const x = i * step, y = height - 1.5 - Math.min(1, value / top) * (height - 3);

		if (isDown) {
			context.lineTo(x, y);
		} else {
			context.moveTo(x, y);
			first = x;
		}
		isDown = true;
		last = x;
	});
	context.strokeStyle = colour;
	context.lineWidth = 1.5;
	context.lineJoin = "round";
	context.stroke();
	context.lineTo(last, height);
	context.lineTo(first, height);
	context.globalAlpha = .14;
	context.fillStyle = colour;
	context.fill();
	context.globalAlpha = 1;
}
