// SPDX-License-Identifier: GPL-2.0-only
/* Rows of cells over time, by colour: CPUs, or the buckets of a histogram. */
import { el, setText, themeColours } from "./elements.js";
import { Frame } from "./plot.js";
import { nearest } from "./axis.js";
import { show } from "./format.js";

/*
 * From dark blue to yellow by growing brightness, which all eyes see: stops of "cividis" (Nuñez,
 * Anderton, Renslow, PLOS ONE 2018).
 */
const stops = [[0, 34, 78], [35, 62, 108], [84, 92, 109], [124, 123, 120], [166, 157, 117], [210, 193, 99], [254, 232, 56]];

const table = Array.from({ length: 256 }, (unused, i) => {
	const at = i / 255 * (stops.length - 1), low = Math.min(stops.length - 2, Math.floor(at)), share = at - low;
	const [r, g, b] = stops[low].map((part, k) => Math.round(part + (stops[low + 1][k] - part) * share));

	return `rgb(${r} ${g} ${b})`;
});

export class Heatmap extends Frame {
	/*
	 * @cells() gives {t, rows: [{label, values}], most, isLogarithmic}: the last row is at the
	 * top; values from 0 to most, or null.
	 */
	constructor(view, options) {
		super(view, options);
		this.cells = options.cells;
		this.told = el("li");
		this.top = el("span");
		this.legend.append(el("li", {}, el("span", { textContent: "0" }), el("span", { className: "scale" }), this.top), this.told);
	}

	shade(value, data) {
		const share = data.isLogarithmic ? Math.log1p(value) / Math.log1p(data.most) : value / data.most;

		return table[Math.min(255, Math.max(0, Math.round(share * 255)))];
	}

	drawInside(context, area) {
		const data = this.cells();
		const height = area.height / Math.max(1, data.rows.length);
		const gap = this.view.gap();

		this.data = data;
		this.boxes = area;
		context.fillStyle = themeColours().grid;
		context.fillRect(area.x, area.y, area.width, area.height);
		data.rows.forEach((row, index) => {
			const y = area.y + area.height - (index + 1) * height;

			for (let i = 0; i < data.t.length; i++) {
				if (data.t[i] < this.view.from || row.values[i] === null || row.values[i] === undefined)
					continue;
				/* A point tells of the time since the one before. */
				const before = i && data.t[i] - data.t[i - 1] <= gap ? data.t[i - 1] : data.t[i] - gap / 3;
				const x = Math.max(area.x, this.xOf(before, area)), end = Math.min(area.x + area.width, this.xOf(data.t[i], area));

				if (end <= x)
					continue;
				if (!row.values[i] && data.isLogarithmic)
					continue;
				context.fillStyle = this.shade(row.values[i], data);
				context.fillRect(x, y, end - x + .6, height - (height > 5 ? 1 : 0) + .3);
			}
		});
		this.drawTimes(context, area, false);
		this.drawRows(context, area, data, height);
	}

	drawRows(context, area, data, height) {
		const each = Math.max(1, Math.ceil(15 / height));

		context.textAlign = "right";
		context.textBaseline = "middle";
		context.fillStyle = themeColours().quiet;
		data.rows.forEach((row, index) => {
			if (index % each === 0)
				context.fillText(row.label, area.x - 6, area.y + area.height - (index + .5) * height);
		});
	}

	drawLegend() {
		const { t, rows } = this.data;
		const { cursor, pointed, pointedY } = this.view;
		const i = cursor === null ? t.length - 1 : nearest(t, cursor);

		setText(this.top, show(this.data.most, this.unit));
		if (i < 0 || !rows.length) {
			setText(this.told, "");
			return;
		}
		if (pointed === this) {
			const share = (this.boxes.y + this.boxes.height - pointedY) / this.boxes.height;
			const row = rows[Math.floor(share * rows.length)];

			if (row) {
				setText(this.told, row.label + ": " + show(row.values[i], this.unit));
				return;
			}
		}
		let most = null;

		for (const row of rows)
			if (row.values[i] !== null && (most === null || row.values[i] > most.values[i]))
				most = row;
		setText(this.told, most ? "most: " + show(most.values[i], this.unit) + " at " + most.label : "");
	}
}
