// SPDX-License-Identifier: GPL-2.0-only
/* Numbers, times and labels as people read them. */

const decimal = [[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]];
const binary = [[2 ** 50, "Pi"], [2 ** 40, "Ti"], [2 ** 30, "Gi"], [2 ** 20, "Mi"], [2 ** 10, "Ki"], [1, ""]];

/* Three significant digits, without an exponent where that is readable. */
function digits(value) {
	const size = Math.abs(value);

	if (!size)
		return "0";
	if (size < .001)
		return value.toExponential(1);
	return String(Number(value.toPrecision(size >= 1000 ? 4 : 3)));
}

function scaled(value, steps, unit) {
	const size = Math.abs(value);
	const [factor, prefix] = steps.find(([least]) => size >= least * .9995) || [1, ""];
	const end = prefix + unit;

	return digits(value / factor) + (end ? " " + end : "");
}

function seconds(value) {
	const size = Math.abs(value);

	if (size >= 86400)
		return digits(value / 86400) + " d";
	if (size >= 3600)
		return digits(value / 3600) + " h";
	if (size >= 120)
		return digits(value / 60) + " min";
	if (!size || size >= .9995)
		return digits(value) + " s";
	if (size >= 9.995e-4)
		return digits(value * 1e3) + " ms";
	return size >= 9.995e-7 ? digits(value * 1e6) + " µs" : digits(value * 1e9) + " ns";
}

export const units = {
	number: (value) => scaled(value, decimal, ""),
	rate: (value) => scaled(value, decimal, "") + "/s",
	bytes: (value) => scaled(value, binary, "B"),
	byterate: (value) => scaled(value, binary, "B/s"),
	seconds,
	share: (value) => (Math.abs(value) < .0995 ? Number((value * 100).toFixed(2)) : Number((value * 100).toFixed(1))) + " %",
};

export function show(value, unit) {
	return value === null || value === undefined || Number.isNaN(value) ? "–" : units[unit](value);
}

/* The unit that fits the family as it is plotted. */
export function unitOf(family, isRate) {
	const name = family.name;

	if (isRate && family.type === "histogram")
		return "rate";
	if (family.unit === "bytes" || /_bytes(_total)?$/.test(name))
		return isRate ? "byterate" : "bytes";
	if (family.unit === "seconds" || /_seconds(_total)?$/.test(name))
		return isRate ? "share" : "seconds";
	return isRate ? "rate" : "number";
}

/* a="b",c="d" as [["a", "b"], ["c", "d"]] */
export function parseLabels(text) {
	const labels = [];
	const pattern = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\[^])*)"/g;

	for (const match of text.matchAll(pattern))
		labels.push([match[1], match[2].replace(/\\(.)/gs, (all, c) => c === "n" ? "\n" : c)]);
	return labels;
}

export function labelValue(text, name) {
	const found = parseLabels(text).find(([label]) => label === name);

	return found ? found[1] : "";
}

/* Control characters as symbols, so that a hostile name looks like what it is. */
export function printable(text) {
	return text.replace(/[\u0000-\u001f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0)))
		.replace(/[\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "\ufffd");
}

/* The name of a host without the port that all agents have. */
export function hostName(name) {
	return printable(name.replace(/(?<=.):4792$/, ""));
}

/* What tells series of one plot apart: values only, if there is one label. */
export function shortLabels(text) {
	const labels = parseLabels(text);

	if (labels.length === 1)
		return printable(labels[0][1]);
	return printable(labels.map(([name, value]) => name + "=" + value).join(" ")) || "value";
}

const two = (number) => String(number).padStart(2, "0");

export function clock(ms, hasFraction) {
	const date = new Date(ms);
	const text = two(date.getHours()) + ":" + two(date.getMinutes()) + ":" + two(date.getSeconds());

	return hasFraction ? text + "." + String(date.getMilliseconds()).padStart(3, "0") : text;
}

export function duration(ms) {
	if (ms >= 3600000)
		return Number((ms / 3600000).toPrecision(3)) + " h";
	if (ms >= 60000)
		return Number((ms / 60000).toPrecision(3)) + " min";
	return ms >= 1000 ? Number((ms / 1000).toPrecision(3)) + " s" : Math.round(ms) + " ms";
}
