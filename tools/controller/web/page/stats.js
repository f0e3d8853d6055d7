// SPDX-License-Identifier: GPL-2.0-only
/* A host in six numbers, above its plots. */
import { el, setText } from "./elements.js";
import { show } from "./format.js";

const of = (family, by) => ({ family, by });

/* Of values by mode. */
function busy(modes) {
	const sum = (some) => some.reduce((all, [, value]) => all + value, 0);
	const all = sum(modes);

	return all ? 1 - sum(modes.filter(([labels]) => /"(idle|iowait)"/.test(labels))) / all : null;
}

const first = (values) => values.length ? values[0][1] : null;
const total = (values) => values.length ? values.reduce((sum, [, value]) => sum + value, 0) : null;

/* title, unit, what is asked, and what is made of the newest values of each query. */
const known = [
	["CPU", "share", [of("node_cpu_seconds_total", "mode")], ([modes]) => busy(modes)],
	["Memory used", "share", [of("node_memory_MemTotal_bytes"), of("node_memory_MemAvailable_bytes")],
		([all, available]) => all.length && available.length ? 1 - available[0][1] / all[0][1] : null],
	["Load, 1 min", "number", [of("node_load1")], ([load]) => first(load)],
	["Pressure", "share", ["cpu", "io", "memory"].map((what) => of(`node_pressure_${what}_waiting_seconds_total`)),
		(all) => all.some((one) => one.length) ? Math.min(1, Math.max(...all.flat().map(([, value]) => value))) : null],
	["Received", "byterate", [of("node_network_receive_bytes_total", "device")], ([devices]) => total(devices)],
	["Sent", "byterate", [of("node_network_transmit_bytes_total", "device")], ([devices]) => total(devices)],
];

export class Stats {
	constructor(samples) {
		this.samples = samples;
		this.list = [];
		this.element = el("div", { className: "stats" });
	}

	/* Those whose families the host has. */
	build(families) {
		this.list = known.filter(([, , queries]) => queries.every(({ family }) => families.has(family)))
			.map(([title, unit, queries, make]) => ({ title, unit, queries, make, value: el("b", { textContent: "–" }) }));
		this.element.replaceChildren(...this.list.map(({ title, value }) => el("div", { className: "stat" }, el("span", { textContent: title }), value)));
		this.element.hidden = !this.list.length;
	}

	queries() {
		return this.list.flatMap(({ queries }) => queries);
	}

	draw() {
		for (const { unit, queries, make, value } of this.list)
			setText(value, show(make(queries.map((query) => this.samples.of(query).latest())), unit));
	}
}
