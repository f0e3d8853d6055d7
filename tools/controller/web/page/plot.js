// SPDX-License-Identifier: GPL-2.0-only
/*
 * A plot of curves over time on a canvas: the mean as a line, the envelope of least and greatest
 * values as a band.  All plots of a view share its span of time, its cursor and its zoom.
 */
import { el, fitCanvas, seriesColour, setText, themeColours } from "./elements.js";
import { nearest, timeTicks, valueTicks } from "./axis.js";
import { show } from "./format.js";

const LEFT = 62, RIGHT = 6, TOP = 6, BOTTOM = 20;

/* A frame around curves or maps: canvas, title, legend, axes, cursor, zoom. */
export class Frame {
	constructor(view, { id, title, tooltip = title, unit = "number", note = "", onClose = null }) {
		this.view = view;
		this.unit = unit;
		this.canvas = el("canvas", { role: "img", tabIndex: -1 });
		this.canvas.setAttribute("aria-label", title);
		this.legend = el("ul", { className: "legend" });
		this.empty = el("p", { className: "empty", hidden: true, textContent: "No values in this time" });
		this.element = el("section", { className: "panel" },
			el("div", { className: "title" }, el("h3", { textContent: title, title: tooltip }),
				el("span", { className: "unit", textContent: note }),
				onClose ? el("button", { className: "close", textContent: "✕", title: "Close", onclick: onClose }) : null),
			this.legend, this.canvas, this.empty);
		this.element.dataset.panel = id;
		this.isVisible = true;
		this.listen();
	}

	area(width, height) {
		return { x: LEFT, y: TOP, width: width - LEFT - RIGHT, height: height - TOP - BOTTOM };
	}

	timeAt(event) {
		const box = this.canvas.getBoundingClientRect();
		const area = this.area(box.width, box.height);
		const share = Math.min(1, Math.max(0, (event.clientX - box.left - area.x) / area.width));

		return this.view.from + share * (this.view.to - this.view.from);
	}

	listen() {
		const canvas = this.canvas;

		canvas.addEventListener("pointermove", (event) => {
			const box = canvas.getBoundingClientRect();

			this.view.point(this.timeAt(event), this, event.clientY - box.top);
			if (this.view.drag?.frame === this)
				this.view.drag.to = this.timeAt(event);
		});
		canvas.addEventListener("pointerdown", (event) => {
			if (event.button || event.pointerType === "touch")
				return;
			canvas.setPointerCapture(event.pointerId);
			this.view.drag = { frame: this, from: this.timeAt(event), to: this.timeAt(event) };
		});
		canvas.addEventListener("pointerup", () => this.view.endDrag());
		canvas.addEventListener("pointercancel", () => this.view.endDrag());
		canvas.addEventListener("pointerleave", () => this.view.point(null, null, 0));
		canvas.addEventListener("dblclick", () => this.view.zoomOut());
	}

	setVisible(isVisible) {
		this.isVisible = isVisible;
		if (!isVisible)
			delete this.element.dataset.samples;
	}

	xOf(at, area) {
		return area.x + (at - this.view.from) / (this.view.to - this.view.from) * area.width;
	}

	drawTimes(context, area, hasLines) {
		const colours = themeColours();

		context.font = "11px system-ui, sans-serif";
		context.textBaseline = "top";
		context.textAlign = "center";
		for (const { at, text } of timeTicks(this.view.from, this.view.to, area.width)) {
			const x = Math.round(this.xOf(at, area)) + .5;

			if (hasLines) {
				context.strokeStyle = colours.grid;
				context.lineWidth = 1;
				context.beginPath();
				context.moveTo(x, area.y);
				context.lineTo(x, area.y + area.height);
				context.stroke();
			}
			context.fillStyle = colours.quiet;
			if (x > area.x + 18 && x < area.x + area.width - 18)
				context.fillText(text, x, area.y + area.height + 5);
		}
	}

	drawCursor(context, area) {
		const { drag, cursor } = this.view;
		const colours = themeColours();

		if (drag && Math.abs(this.xOf(drag.to, area) - this.xOf(drag.from, area)) > 3) {
			const one = this.xOf(drag.from, area), other = this.xOf(drag.to, area);

			context.fillStyle = colours.accent;
			context.globalAlpha = .18;
			context.fillRect(Math.min(one, other), area.y, Math.abs(one - other), area.height);
			context.globalAlpha = 1;
		}
		if (cursor === null)
			return;
		const x = Math.round(this.xOf(cursor, area)) + .5;

		context.strokeStyle = colours.quiet;
		context.lineWidth = 1;
		context.setLineDash([3, 3]);
		context.beginPath();
		context.moveTo(x, area.y);
		context.lineTo(x, area.y + area.height);
		context.stroke();
		context.setLineDash([]);
	}

	draw() {
		if (!this.isVisible)
			return;
		const fitted = fitCanvas(this.canvas);

		if (!fitted)
			return;
		const area = this.area(fitted.width, fitted.height);

		this.drawInside(fitted.context, area);
		this.drawCursor(fitted.context, area);
		this.drawLegend();
		this.countSamples();
	}

	/* How many times have values here, for those who wait for them. */
	countSamples() {
		const { from, to } = this.view;
		const count = String(this.data.t.filter((at) => at >= from && at <= to).length);

		this.empty.hidden = count !== "0";
		if (this.element.dataset.samples !== count)
			this.element.dataset.samples = count;
	}
}

export class Plot extends Frame {
	/*
	 * @curves() gives {t, curves: [{label, colour, mean, least, greatest, isFilled}], peak}, all arrays as long as t
	 * and with null for holes; "least" and "greatest" may be missing, as "peak", an array: a line above a stack.
	 */
	constructor(view, options) {
		super(view, options);
		this.curves = options.curves;
		this.isStacked = options.isStacked || false;
		this.most = options.most || null;	/* of the axis */
		this.rows = new Map();
	}

	/* Sums of the curves below, if they are stacked. */
	stack(data) {
		const sums = new Array(data.t.length).fill(0);

		return data.curves.map((curve) => {
			const low = sums.slice();

			curve.mean.forEach((value, i) => { sums[i] += value || 0; });
			return { ...curve, low, high: sums.slice() };
		});
	}

	range(data, curves) {
		const { from, to } = this.view;
		let least = 0, most = this.most ? this.most(data) : 0;

		for (let i = 0; i < data.t.length; i++) {
			if (data.t[i] < from || data.t[i] > to)
				continue;
			for (const curve of curves) {
				const high = this.isStacked ? curve.high[i] : (curve.greatest || curve.mean)[i];
				const low = this.isStacked ? 0 : (curve.least || curve.mean)[i];

				if (high !== null && high > most)
					most = high;
				if (low !== null && low < least)
					least = low;
			}
			if (data.peak && data.peak[i] > most)
				most = data.peak[i];
		}
		if (most === least)
			most = least + 1;
		return { least: least * 1.06, most: this.most ? most : most * 1.06 };
	}

	drawInside(context, area) {
		const data = this.curves();
		const curves = this.isStacked ? this.stack(data) : data.curves;
		const range = this.range(data, curves);
		const yOf = (value) => area.y + area.height - (value - range.least) / (range.most - range.least) * area.height;

		this.data = data;
		this.drawTimes(context, area, true);
		this.drawValues(context, area, range, yOf);
		context.save();
		context.beginPath();
		context.rect(area.x, area.y - 1, area.width, area.height + 2);
		context.clip();
		for (const curve of curves)
			if (this.isStacked)
				this.drawBand(context, area, data.t, curve.low, curve.high, yOf, curve.colour, curve.isFaint ? .16 : .72);
			else if (curve.greatest)
				this.drawBand(context, area, data.t, curve.least, curve.greatest, yOf, curve.colour, .26);
		for (const curve of curves)
			if (!this.isStacked)
				this.drawLine(context, area, data.t, curve.mean, yOf, curve.colour, 1.5);
		if (data.peak)
			this.drawLine(context, area, data.t, data.peak, yOf, themeColours().peak, .8);
		context.restore();
	}

	drawValues(context, area, range, yOf) {
		const colours = themeColours();
		const isBinary = this.unit === "bytes" || this.unit === "byterate";

		context.textAlign = "right";
		context.textBaseline = "middle";
		for (const value of valueTicks(range.least, range.most, 4, isBinary)) {
			const y = Math.round(yOf(value)) + .5;

			context.strokeStyle = value ? colours.grid : colours.line;
			context.lineWidth = 1;
			context.beginPath();
			context.moveTo(area.x, y);
			context.lineTo(area.x + area.width, y);
			context.stroke();
			context.fillStyle = colours.quiet;
			context.fillText(show(this.isMirrored ? Math.abs(value) : value, this.unit), area.x - 6,
				Math.min(area.y + area.height - 4, Math.max(area.y + 5, y)));
		}
	}

	/* Calls @run with the first and the last index of each part without a hole. */
	eachRun(times, values, run) {
		const gap = this.view.gap();
		let first = -1;

		for (let i = 0; i <= times.length; i++) {
			const isHole = i === times.length || values[i] === null || values[i] === undefined;

			if (first >= 0 && (isHole || times[i] - times[i - 1] > gap)) {
				run(first, i - 1);
				first = -1;
			}
			if (!isHole && first < 0)
				first = i;
		}
	}

	drawLine(context, area, times, values, yOf, colour, width) {
		context.strokeStyle = colour;
		context.lineWidth = width;
		context.lineJoin = "round";
		context.beginPath();
		this.eachRun(times, values, (first, last) => {
			context.moveTo(this.xOf(times[first], area), yOf(values[first]));
			for (let i = first + 1; i <= last; i++)
				context.lineTo(this.xOf(times[i], area), yOf(values[i]));
			if (first === last)
				context.lineTo(this.xOf(times[first], area) + 1.5, yOf(values[first]));
		});
		context.stroke();
	}

	drawBand(context, area, times, low, high, yOf, colour, alpha) {
		context.fillStyle = colour;
		context.globalAlpha = alpha;
		this.eachRun(times, high, (first, last) => {
			context.beginPath();
			for (let i = first; i <= last; i++)
				context.lineTo(this.xOf(times[i], area), yOf(high[i]));
			for (let i = last; i >= first; i--)
				context.lineTo(this.xOf(times[i], area), yOf(low[i]));
			context.fill();
		});
		context.globalAlpha = 1;
	}

	/* Values at the cursor, or the newest ones. */
	drawLegend() {
		const { t, curves, left = 0, idle = 0 } = this.data;
		const i = this.view.cursor === null ? t.length - 1 : nearest(t, this.view.cursor);
		const wanted = new Set();

		for (const curve of curves) {
			let row = this.rows.get(curve.label);

			if (!row) {
				row = { swatch: el("i"), value: el("b") };
				row.element = el("li", {}, row.swatch,
					el("span", { className: "label", textContent: curve.label, title: curve.label }), row.value);
				this.rows.set(curve.label, row);
				this.legend.append(row.element);
			}
			wanted.add(curve.label);
			row.swatch.style.background = curve.colour;
			const value = i < 0 ? null : curve.mean[i];

			setText(row.value, this.text(curve, i, value));
			row.value.dataset.value = value === null ? "" : String(value);
			row.value.dataset.t = i < 0 ? "" : String(t[i]);
		}
		for (const [label, row] of this.rows)
			if (!wanted.has(label)) {
				row.element.remove();
				this.rows.delete(label);
			}
		this.drawRest(left, idle);
	}

	drawRest(left, idle) {
		const text = [left ? left + " smaller" : "", idle ? idle + " at 0" : ""].filter(Boolean).join(", ");

		if (!text) {
			this.rest?.remove();
			this.rest = null;
			return;
		}
		this.rest ||= el("li");
		setText(this.rest, "and " + text);
		this.legend.append(this.rest);
	}

	text(curve, i, value) {
		const sign = this.isMirrored && value !== null ? Math.abs(value) : value;

		if (this.view.cursor === null || i < 0 || !curve.greatest || curve.greatest[i] === curve.least[i])
			return show(sign, this.unit);
		const bounds = [curve.least[i], curve.greatest[i]].map((bound) => this.isMirrored ? Math.abs(bound) : bound);

		return show(sign, this.unit) + " (" + show(Math.min(...bounds), this.unit) + " – " + show(Math.max(...bounds), this.unit) + ")";
	}
}

/*
 * Curves of the groups of a query's data, the greatest first, no more than @count.  Those that are nothing but 0 are left
 * out if there are others, unless @hasIdle.
 */
export function curvesOf(data, { count = 10, label = (text) => text, sign = 1, prefix = "", hasIdle = false } = {}) {
	const mean = (group) => {
		let sum = 0, known = 0;

		for (const value of group.mean)
			if (value !== null) {
				sum += value;
				known++;
			}
		return known ? sum / known : -1;
	};
	const groups = data.groups.map((group, index) => ({ group, index, size: mean(group) }))
		.filter(({ size }) => size >= 0 || data.groups.length <= count);
	const isAlive = ({ group }) => hasIdle || group.max.some((value) => value);
	const alive = groups.filter(isAlive);
	const shown = alive.length ? alive : groups.slice(0, 1);

	if (shown.length > count)
		shown.sort((a, b) => b.size - a.size);
	const chosen = shown.slice(0, count);

	return {
		left: shown.length - chosen.length,
		idle: groups.length - shown.length,
		curves: chosen.map(({ group, index }) => ({
			label: prefix + label(group.labels),
			colour: seriesColour(index),
			mean: sign > 0 ? group.mean : group.mean.map((value) => value === null ? null : -value),
			least: sign > 0 ? group.min : group.max.map((value) => value === null ? null : -value),
			greatest: sign > 0 ? group.max : group.min.map((value) => value === null ? null : -value),
		})),
	};
}
