// SPDX-License-Identifier: GPL-2.0-only
/* A field that finds families of a host by words of their names, labels and explanations. */
import { el } from "./elements.js";
import { printable } from "./format.js";

const RESULTS = 40;

export class SeriesSearch {
	constructor(onChoose) {
		this.families = new Map();
		this.onChoose = onChoose;
		this.chosen = 0;
		this.input = el("input", { type: "search", placeholder: "Find a series  /", autocomplete: "off", spellcheck: false });
		this.input.setAttribute("aria-label", "Find a series");
		this.input.setAttribute("role", "combobox");
		this.list = el("ul", { className: "results", hidden: true, role: "listbox" });
		this.input.addEventListener("input", () => this.find());
		this.input.addEventListener("focus", () => this.find());
		this.input.addEventListener("blur", () => setTimeout(() => { this.list.hidden = true; }, 150));
		this.input.addEventListener("keydown", (event) => this.onKey(event));
	}

	find() {
		const words = this.input.value.toLowerCase().split(/\s+/).filter(Boolean);
		const matches = [];

		for (const family of this.families.values()) {
			const name = family.name.toLowerCase();
			const rest = family.help.toLowerCase();

			if (words.every((word) => name.includes(word) || rest.includes(word) || this.hasLabel(family, word)))
				matches.push({ family, isName: words.every((word) => name.includes(word)) });
		}
		matches.sort((a, b) => b.isName - a.isName || (a.family.name < b.family.name ? -1 : 1));
		this.matches = matches.slice(0, RESULTS).map(({ family }) => family);
		this.chosen = 0;
		this.list.hidden = !words.length;
		this.list.replaceChildren(...this.matches.map((family, i) => this.row(family, i)));
		if (!this.matches.length)
			this.list.replaceChildren(el("li", { textContent: "No series of this host has these words." }));
		this.mark();
	}

	hasLabel(family, word) {
		return family.series.some(([, labels]) => labels.toLowerCase().includes(word));
	}

	row(family, i) {
		const count = family.series.length;

		return el("li", { role: "option", onpointerdown: () => this.choose(i) },
			el("span", { textContent: family.name }),
			el("small", { textContent: family.type + ", " + count + (count === 1 ? " series. " : " series. ") + printable(family.help) }));
	}

	mark() {
		[...this.list.children].forEach((row, i) => row.setAttribute("aria-selected", i === this.chosen));
		this.list.children[this.chosen]?.scrollIntoView({ block: "nearest" });
	}

	onKey(event) {
		if (event.key === "ArrowDown" || event.key === "ArrowUp") {
			this.chosen = Math.max(0, Math.min(this.matches.length - 1, this.chosen + (event.key === "ArrowDown" ? 1 : -1)));
			this.mark();
		} else if (event.key === "Enter") {
			this.choose(this.chosen);
		} else if (event.key === "Escape") {
			this.input.value = "";
			this.input.blur();
		} else {
			return;
		}
		event.preventDefault();
		event.stopPropagation();
	}

	choose(i) {
		if (!this.matches?.[i])
			return;
		this.onChoose(this.matches[i].name);
		this.input.value = "";
		this.input.blur();
	}
}
