// SPDX-License-Identifier: GPL-2.0-only
/* Stores: a key is looked up in the memory of a host, by the schema that says what keys are. */
import { el, setText } from "./elements.js";
import { hostName, printable, show } from "./format.js";
import { ask } from "./server.js";

const OUTCOMES = {
	found: ["up", "found", "This is what the reports say of the key."],
	empty: ["stale", "empty", "No slot of this key has its checksum: it was not reported, or later reports have overwritten all its copies."],
	ambiguous: ["lost", "ambiguous", "The copies of this key differ, and the policy chooses none of their values."],
};

export class Stores {
	constructor(shell, parameters) {
		this.shell = shell;
		this.parameters = parameters;
		this.schemas = [];
		this.inputs = [];
		this.controls = [];
		this.build();
		this.load();
	}

	build() {
		this.host = el("select", { onchange: () => this.remember() });
		this.store = el("input", { required: true, maxLength: 39, autocomplete: "off", spellcheck: false, placeholder: "name of the store", value: this.parameters.get("store") || "" });
		this.schema = el("select", { onchange: () => this.showFields() });
		this.policy = el("select", {}, ...["plurality", "unique", "consensus of 2", "merge"].map((text) => el("option", { value: text.split(" ")[0], textContent: text })));
		this.about = el("p", { className: "unit" });
		this.fields = el("div", { className: "fields" });
		this.button = el("button", { type: "submit", className: "primary", textContent: "Look up" });
		this.form = el("form", { className: "panel lookup" },
			el("div", { className: "title" }, el("h3", { textContent: "Look a key up" }), el("span", { className: "unit", textContent: "by READs of the store's memory" })),
			el("div", { className: "fields" }, this.field("Host", this.host), this.field("Store", this.store), this.field("Schema", this.schema), this.field("Answer", this.policy)),
			this.about, this.fields, this.button);
		this.form.addEventListener("submit", (event) => {
			event.preventDefault();
			this.lookUp();
		});
		this.result = el("section", { className: "panel result", hidden: true });
		this.result.dataset.panel = "result";
		this.state = el("p", { className: "state", textContent: "Loading…" });
		this.element = el("div", { className: "host stores" }, this.state, el("div", { className: "panels" }, this.form, this.result));
		this.form.hidden = true;
	}

	field(title, input, hint = "") {
		return el("label", {}, el("span", { textContent: title, title: hint }), input);
	}

	close() {
		this.isClosed = true;
		this.abort?.abort();
	}

	focusSearch() {
		this.store.focus();
	}

	redraw() {
	}

	async load() {
		try {
			const [{ hosts }, { schemas }] = await Promise.all([ask("/api/hosts"), ask("/api/schemas")]);

			if (this.isClosed)
				return;
			this.schemas = schemas;
			this.host.replaceChildren(...hosts.map(({ name }) => el("option", { value: name, textContent: hostName(name) })));
			this.schema.replaceChildren(...schemas.map(({ name }) => el("option", { value: name, textContent: printable(name) })));
			this.choose(this.host, this.parameters.get("target"));
			this.choose(this.schema, this.parameters.get("schema"));
			this.form.hidden = !hosts.length || !schemas.length;
			this.state.hidden = !this.form.hidden;
			setText(this.state, hosts.length ? "There are no schemas of keys: they lie in /etc/dart/schemas." : "No host is scraped yet, so that there is no store to ask.");
			this.shell.reached();
			this.showFields();
			document.documentElement.dataset.ready = "stores";
		} catch (error) {
			if (!this.isClosed)
				this.shell.failed(error, () => this.load());
		}
	}

	choose(select, value) {
		if ([...select.options].some((option) => option.value === value))
			select.value = value;
	}

	showFields() {
		const schema = this.schemas.find(({ name }) => name === this.schema.value);

		if (!schema)
			return;
		setText(this.about, printable(schema.description));
		this.inputs = schema.key.map(({ name, type, names }) => {
			const input = el("input", { required: true, autocomplete: "off", spellcheck: false, placeholder: type, value: this.parameters.get("key." + name) || "" });

			if (names.length) {
				input.setAttribute("list", "names-" + name);
				return [name, input, el("datalist", { id: "names-" + name }, ...names.map((value) => el("option", { value })))];
			}
			return [name, input, null];
		});
		this.fields.replaceChildren(...schema.key.map(({ name, description }, i) => {
			const label = this.field(printable(name), this.inputs[i][1], printable(description));

			if (this.inputs[i][2])
				label.append(this.inputs[i][2]);
			return label;
		}));
		this.remember();
	}

	remember() {
		const parameters = new URLSearchParams({ target: this.host.value, store: this.store.value, schema: this.schema.value });

		for (const [name, input] of this.inputs)
			if (input.value)
				parameters.set("key." + name, input.value);
		this.shell.remember("#/stores", parameters);
	}

	async lookUp() {
		this.remember();
		this.abort?.abort();
		this.abort = new AbortController();
		this.button.disabled = true;
		this.showResult(el("p", { className: "unit", textContent: "Reading…" }));
		delete this.result.dataset.outcome;
		try {
			const answer = await ask("/api/lookup", { target: this.host.value, store: this.store.value, schema: this.schema.value, policy: this.policy.value,
				consensus: 2, key: JSON.stringify(this.inputs.map(([, input]) => input.value)) }, this.abort.signal);

			this.showAnswer(answer);
		} catch (error) {
			if (error.name !== "AbortError" && !this.isClosed) {
				this.result.hidden = true;
				this.shell.failed(error, () => this.shell.reached());
			}
		} finally {
			this.button.disabled = false;
		}
	}

	showResult(...children) {
		this.result.hidden = false;
		this.result.replaceChildren(...children);
	}

	showAnswer(answer) {
		if (answer.error) {
			this.result.dataset.outcome = "error";
			this.showResult(el("div", { className: "title" }, el("h3", { textContent: "No answer" })), el("p", { className: "host-reason", textContent: printable(answer.error) }));
			return;
		}
		const [look, word, text] = OUTCOMES[answer.outcome];

		this.result.dataset.outcome = answer.outcome;
		this.showResult(
			el("div", { className: "title" }, el("h3", { textContent: "Answer" }), el("span", { className: "badge " + look, textContent: word })),
			el("p", { className: "unit", textContent: text }),
			this.table(Object.entries(answer.value || {}).map(([name, value]) => [printable(name), printable([value].flat().join(" "))]), "value"),
			this.copies(answer),
			el("h4", { textContent: "The store" }),
			this.table([["slots", answer.slots.toLocaleString("en")], ["copies of each key", String(answer.redundancy)],
				["bytes of a value", String(answer.value_bytes)], ["checksum", answer.checksum_bits + " bits"]], "store"),
			el("h4", { textContent: "How full it is" }),
			this.table([["slots that were written", show(answer.filling.written, "share")], ["keys for each slot", show(answer.filling.load, "number")],
				["expected to be found, of all keys", show(answer.filling.found, "share")],
				["expected to be found, of the oldest", show(answer.filling.oldest_found, "share")]], "filling"));
	}

	/* A box for each copy: one that agrees, one with the checksum but another value, one that was overwritten or never written. */
	copies({ redundancy, matches, agreeing }) {
		const kinds = Array.from({ length: redundancy }, (unused, i) => i < agreeing ? "agrees" : i < matches ? "differs" : "gone");
		const texts = { agrees: "has this value", differs: "has another value", gone: "belongs to another key, or to none" };

		return el("p", { className: "copies" }, ...kinds.map((kind) => el("i", { className: kind, title: "This copy " + texts[kind] })),
			el("span", { textContent: `${agreeing} of ${redundancy} copies agree` + (matches > agreeing ? `, ${matches - agreeing} differ` : "") }));
	}

	table(rows, id) {
		const table = el("table", {}, el("tbody", {}, ...rows.map(([name, value]) => el("tr", {}, el("td", { textContent: name }), el("td", { className: "number", textContent: value })))));

		table.dataset.table = id;
		return table;
	}
}
