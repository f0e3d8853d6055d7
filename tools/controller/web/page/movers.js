// SPDX-License-Identifier: GPL-2.0-only
/* What has changed most in the last seconds, of all series. */
import { el, setClass, setText } from "./elements.js";
import { printable, show, unitOf } from "./format.js";
import { ask } from "./server.js";

const ROWS = 6, OF_FAMILY = 2, EVERY_MS = 2000;

export class Movers {
	/* @families: a map of those that the host has; @onChoose is told a family's name. */
	constructor(target, families, onChoose) {
		this.target = target;
		this.families = families;
		this.rows = Array.from({ length: ROWS }, () => {
			const row = { name: el("button", { className: "linkish" }), labels: el("small"), before: el("td", { className: "number narrow-off" }),
				now: el("td", { className: "number" }), change: el("td", { className: "number change" }) };

			row.name.addEventListener("click", () => row.family && onChoose(row.family));
			row.element = el("tr", { hidden: true }, el("td", { className: "text" }, el("div", {}, row.name, row.labels)), row.before, row.now, row.change);
			return row;
		});
		this.empty = el("p", { className: "unit", textContent: "Nothing has changed by more than a hundredth." });
		this.element = el("section", { className: "panel" },
			el("div", { className: "title" }, el("h3", { textContent: "What changed" }),
				el("span", { className: "unit", textContent: "10 s, beside the 10 s before" })),
			this.empty,
			el("table", {}, el("tbody", {}, ...this.rows.map((row) => row.element))));
		this.element.dataset.panel = "movers";
	}

	/* At most every two seconds. */
	async update() {
		if (this.isBusy || performance.now() - (this.askedAt || -EVERY_MS) < EVERY_MS || document.hidden)
			return;
		this.isBusy = true;
		this.askedAt = performance.now();
		try {
			this.show((await ask("/api/movers", { target: this.target, seconds: 10 })).movers);
		} catch {
			/* The streams say what is wrong. */
		} finally {
			this.isBusy = false;
		}
	}

	show(all) {
		const seen = new Map();
		/* All modes of a CPU change at once: two of a family tell it. */
		const movers = all.filter(({ family }) => {
			seen.set(family, (seen.get(family) || 0) + 1);
			return seen.get(family) <= OF_FAMILY;
		});

		this.empty.hidden = movers.length > 0;
		this.rows.forEach((row, i) => {
			const mover = movers[i];

			row.element.hidden = !mover;
			if (!mover)
				return;
			const family = this.families.get(mover.family) || { name: mover.family, unit: "" };
			const unit = unitOf(family, mover.rate);

			row.family = mover.family;
			setText(row.name, mover.name);
			setText(row.labels, printable(mover.labels));
			setText(row.before, show(mover.before, unit));
			setText(row.now, show(mover.now, unit));
			setText(row.change, (mover.change > 0 ? "▲ " : "▼ ") + Math.round(Math.abs(mover.change) * 100) + " %");
			setClass(row.change, "number change " + (mover.change > 0 ? "rise" : "fall"));
		});
	}
}
