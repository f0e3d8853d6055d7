// SPDX-License-Identifier: GPL-2.0-only
/* The containers of a host, as a table that sorts. */
import { el, setText, seriesColour, sparkline } from "./elements.js";
import { labelValue, printable, show } from "./format.js";

const ROWS = 20, POINTS = 60;

const columns = [
	{ key: "id", title: "Container", unit: null },
	{ key: "cpu", title: "CPU", unit: "share", family: "container_cpu_usage_seconds_total" },
	{ key: "memory", title: "Memory", unit: "bytes", family: "container_memory_working_set_bytes" },
	{ key: "throttled", title: "Throttled", unit: "share", family: "container_cpu_cfs_throttled_seconds_total", isWide: true },
];

export function containerQueries(families) {
	return columns.filter(({ family }) => family && families.has(family))
		.map(({ family }) => ({ family, by: "id" }));
}

export class Containers {
	/* Only columns whose families the host has. */
	constructor(families, dataOf) {
		this.dataOf = dataOf;
		this.columns = columns.filter(({ family }) => !family || families.has(family));
		this.sortedBy = "cpu";
		this.isAscending = false;
		this.isWhole = false;
		this.rows = new Map();
		this.body = el("tbody");
		this.heads = new Map(this.columns.map((column) => [column.key,
			el("th", { className: (column.unit ? "number" : "") + (column.isWide ? " narrow-off" : ""), scope: "col" },
				el("button", { textContent: column.title, onclick: () => this.sort(column.key) }))]));
		this.more = el("button", { className: "more", hidden: true, onclick: () => {
			this.isWhole = !this.isWhole;
			this.draw();
		} });
		this.element = el("section", { className: "panel wide" },
			el("table", {}, el("thead", {}, el("tr", {}, ...this.heads.values(), el("th", { className: "number", scope: "col" }, "CPU lately"))), this.body),
			this.more);
		this.element.dataset.panel = "containers";
	}

	sort(key) {
		this.isAscending = this.sortedBy === key ? !this.isAscending : key === "id";
		this.sortedBy = key;
		this.draw();
	}

	collect() {
		const found = new Map();

		for (const { key, family } of this.columns) {
			if (!family)
				continue;
			const data = this.dataOf({ family, by: "id" });
			const last = data.t.length - 1;

			for (const group of data.groups) {
				const id = labelValue(group.labels, "id");
				const row = found.get(id) || { id };

				row[key] = last < 0 ? null : group.mean[last];
				if (key === "cpu")
					row.past = group.mean;
				found.set(id, row);
			}
		}
		/* One that has ended has no newest values. */
		return [...found.values()].filter((row) => this.columns.some(({ key, family }) => family && row[key] !== null && row[key] !== undefined));
	}

	compare(a, b) {
		const key = this.sortedBy, sign = this.isAscending ? 1 : -1;

		if (key === "id")
			return a.id < b.id ? -sign : sign;
		return ((a[key] ?? -1) - (b[key] ?? -1)) * sign || (a.id < b.id ? -1 : 1);
	}

	rowOf(id) {
		let row = this.rows.get(id);

		if (!row) {
			const name = printable(id), at = name.lastIndexOf("/");

			row = { canvas: el("canvas"), cells: new Map() };
			row.element = el("tr", {}, el("td", { className: "text", title: name }, el("div", {}, name.slice(at + 1) || "/", el("small", { textContent: at > 0 ? "  " + name.slice(0, at) : "" }))));
			for (const column of this.columns.slice(1)) {
				const cell = el("td", { className: "number" + (column.isWide ? " narrow-off" : "") });

				row.cells.set(column.key, cell);
				row.element.append(cell);
			}
			row.element.append(el("td", { className: "number" }, row.canvas));
			this.rows.set(id, row);
		}
		return row;
	}

	draw() {
		const all = this.collect().sort((a, b) => this.compare(a, b));
		const shown = this.isWhole ? all : all.slice(0, ROWS);

		for (const [key, head] of this.heads)
			if (key === this.sortedBy)
				head.setAttribute("aria-sort", this.isAscending ? "ascending" : "descending");
			else
				head.removeAttribute("aria-sort");
		const elements = shown.map((values) => {
			const row = this.rowOf(values.id);

			for (const column of this.columns.slice(1))
				setText(row.cells.get(column.key), show(values[column.key] ?? null, column.unit));
			return row.element;
		});

		if (elements.length !== this.body.children.length || elements.some((element, i) => this.body.children[i] !== element))
			this.body.replaceChildren(...elements);
		for (const { id, past } of shown)
			sparkline(this.rows.get(id).canvas, (past || []).slice(-POINTS), 0, seriesColour(0));
		this.more.hidden = all.length <= ROWS;
		setText(this.more, this.isWhole ? "Show the first " + ROWS : "Show all " + all.length);
	}
}
