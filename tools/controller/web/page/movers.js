// SPDX-License-Identifier: GPL-2.0-only
/* What has changed most in the last seconds, of all series. */
import { el, setClass, setText } from "./elements.js";
import { printable, show, unitOf } from "./format.js";
import { ask } from "./server.js";

const ROWS = 6, OF_FAMILY = 2, EVERY_MS = 2000, SECONDS = 10;

/* What a value has become, in the words that fit: twice as much is "× 2", not "100 % more". */
function changeText({ before, now, change }) {
	const arrow = change > 0 ? "▲ " : "▼ ";

	if (!before || Math.sign(before) !== Math.sign(now || before))
		return arrow + (before ? "" : "from 0");
	const factor = now / before;

	return arrow + (factor >= 2 ? "× " + Number(factor.toPrecision(factor < 9.95 ? 2 : 3)) : Math.round(Math.abs(factor - 1) * 100) + " %");
}

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
		this.empty = el("p", { className: "unit" });
		this.element = el("section", { className: "panel" },
			el("div", { className: "title" }, el("h3", { textContent: "What changed" }),
				el("span", { className: "unit", textContent: `${SECONDS} s, beside the ${SECONDS} s before` })),
			this.empty,
			el("table", {}, el("tbody", {}, ...this.rows.map((row) => row.element))));
		this.element.dataset.panel = "movers";
		setText(this.empty, "Loading…");
	}

	/* At most every two seconds; values of so many @ms are there. */
	async update(ms) {
		if (ms < 2 * SECONDS * 1000) {
			setText(this.empty, `Needs values of ${2 * SECONDS} s, has ${Math.floor(ms / 1000)}.`);
			return;
		}
		if (this.isBusy || performance.now() - (this.askedAt || -EVERY_MS) < EVERY_MS || document.hidden)
			return;
		this.isBusy = true;
		this.askedAt = performance.now();
		try {
			this.show((await ask("/api/movers", { target: this.target, seconds: SECONDS })).movers);
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
		setText(this.empty, "Nothing has changed much.");
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
			setText(row.change, changeText(mover));
			setClass(row.change, "number change " + (mover.change > 0 ? "rise" : "fall"));
		});
	}
}
