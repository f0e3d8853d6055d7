// SPDX-License-Identifier: GPL-2.0-only
/* The span of time that all plots of a host show, and the cursor that they share.  Times are in ms. */

export const SPANS = [60000, 300000, 900000, 3600000];
export const HISTORY_MS = 3600000;
const SPAN_DEFAULT = SPANS[1];

/* Of a host that has just been added: its first points are not squeezed into a corner. */
const SPAN_LEAST = 20000;

export class TimeView {
	/* @width() is that of a plot; @changed is called after another span was chosen, @moved after the cursor moved. */
	constructor({ span, from, to, width, changed, moved }) {
		this.width = width;
		this.changed = changed;
		this.moved = moved;
		this.span = SPANS.includes(span) ? span : SPAN_DEFAULT;
		this.interval = 1000;
		this.newest = 0;
		this.begin = 0;	/* of the history, or 0: not known */
		this.cursor = null;
		this.pointed = null;
		this.drag = null;
		this.set(from, to);
	}

	/* Live, unless @to is after @from. */
	set(from, to) {
		this.isLive = !(to > from);
		this.from = from;
		this.to = to;
		this.follow();
	}

	/* There are points up to @newest. */
	reach(newest) {
		this.newest = Math.max(this.newest, newest);
		this.follow();
	}

	follow() {
		if (!this.isLive)
			return;
		this.to = this.newest;
		this.from = Math.max(this.to - this.span, Math.min(this.begin, this.to - SPAN_LEAST));
	}

	/* A longer time between points is a hole. */
	gap() {
		return 3.2 * Math.max(this.interval, (this.to - this.from) / this.points());
	}

	/* As many as a plot has pixels, or fewer on a small screen. */
	points() {
		return Math.max(120, Math.min(700, Math.round(this.width() * 1.2)));
	}

	setSpan(span) {
		this.span = span;
		this.zoomOut();
	}

	togglePause() {
		if (this.isLive)
			this.set(Math.round(this.from), Math.round(this.to));
		else
			this.set(0, 0);
		this.changed();
	}

	zoom(from, to) {
		const least = Math.max(10 * this.interval, 1000);

		if (to - from < least) {
			const middle = (from + to) / 2;

			from = middle - least / 2;
			to = middle + least / 2;
		}
		if (to - from > HISTORY_MS)
			from = to - HISTORY_MS;
		this.set(Math.round(from), Math.round(to));
		this.changed();
	}

	zoomOut() {
		this.set(0, 0);
		this.changed();
	}

	/* By a share of what is seen: negative ones look back. */
	pan(share) {
		const step = (this.to - this.from) * share;

		if (this.to + step >= this.newest)
			this.zoomOut();
		else
			this.zoom(this.from + step, this.to + step);
	}

	scale(factor) {
		const to = this.isLive ? this.newest : (this.from + this.to) / 2 + (this.to - this.from) * factor / 2;

		this.zoom(to - (this.to - this.from) * factor, Math.min(to, this.newest));
	}

	/* True: the key was for the view. */
	onKey(key) {
		if (key === " ")
			this.togglePause();
		else if (key === "ArrowLeft" || key === "ArrowRight")
			this.pan(key === "ArrowLeft" ? -.25 : .25);
		else if (key === "+" || key === "-")
			this.scale(key === "+" ? .5 : 2);
		else if (key === "0")
			this.zoomOut();
		else
			return false;
		return true;
	}

	/* What the address says of it. */
	remember(parameters) {
		if (!this.isLive) {
			parameters.set("from", this.from);
			parameters.set("to", this.to);
		} else if (this.span !== SPAN_DEFAULT) {
			parameters.set("span", this.span);
		}
	}

	/* ---- the cursor */

	point(at, frame, y) {
		this.cursor = at;
		this.pointed = frame;
		this.pointedY = y;
		this.moved();
	}

	endDrag() {
		const drag = this.drag;

		this.drag = null;
		if (!drag)
			return;
		if (Math.abs(drag.to - drag.from) > (this.to - this.from) / 100)
			this.zoom(Math.min(drag.from, drag.to), Math.max(drag.from, drag.to));
		else
			this.moved();
	}
}
