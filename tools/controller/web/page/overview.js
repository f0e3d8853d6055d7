// SPDX-License-Identifier: GPL-2.0-only
/* All hosts as tiles, those in trouble first.  Only tiles that are seen exist. */
import { el, setClass, setText, sparkline, themeColours } from "./elements.js";
import { hostName, printable, show } from "./format.js";
import { ask, eachFrame, Stream } from "./server.js";

const HEIGHT = 132, GAP = 10, WIDTH_MIN = 236, PAST = 60, SORT_MS = 2000;

const words = { up: "up", stale: "stale", lost: "lost", loading: "loading" };

/* From 0, all is well: states first, then what hurts. */
function trouble(host) {
	if (host.state === "lost")
		return 6;
	if (host.state === "stale")
		return 5;
	if (host.pressure > .5 || host.errors > 100)
		return 4;
	if (host.pressure > .3 || host.errors > 10 || host.cpu > .95)
		return 3;
	return host.state === "loading" ? 2 : host.cpu > .85 || host.pressure > .2 ? 1 : 0;
}

const orders = {
	trouble: ["Trouble first", (host) => -trouble(host)],
	name: ["Name", () => 0],
	cpu: ["CPU", (host) => -(host.cpu ?? -1)],
	pressure: ["Pressure", (host) => -(host.pressure ?? -1)],
	errors: ["Errors", (host) => -(host.errors ?? -1)],
};

const byName = new Intl.Collator("en", { numeric: true });

class Tile {
	constructor() {
		this.name = el("span", { className: "name" });
		this.badge = el("span", { className: "badge" });
		this.canvas = el("canvas");
		this.values = ["CPU", "Pressure", "Errors"].map((title) => {
			const value = el("b");

			return { value, element: el("div", {}, el("span", { textContent: title }), value) };
		});
		this.reason = el("div", { className: "reason" });
		this.element = el("a", { className: "tile" }, el("div", { className: "head" }, this.name, this.badge), this.canvas,
			el("div", { className: "numbers" }, ...this.values.map(({ element }) => element)), this.reason);
	}

	place(x, y, width) {
		const place = x + " " + y + " " + width;

		if (this.placed === place)
			return;
		this.placed = place;
		this.element.style.transform = `translate(${x}px, ${y}px)`;
		this.element.style.width = width + "px";
		this.version = -1;
	}

	show(host) {
		if (this.host === host && this.version === host.version)
			return;
		this.host = host;
		this.version = host.version;
		const [cpu, pressure, errors] = this.values;

		setText(this.name, hostName(host.name));
		this.name.title = printable(host.name);
		this.element.href = "#/host/" + encodeURIComponent(host.name);
		this.element.dataset.host = host.name;
		this.element.dataset.state = host.state;
		setClass(this.element, "tile " + host.state);
		setClass(this.badge, "badge " + host.state);
		setText(this.badge, words[host.state]);
		setText(cpu.value, show(host.cpu, "share"));
		setText(pressure.value, show(host.pressure, "share"));
		setText(errors.value, show(host.errors, "rate"));
		setClass(cpu.value, host.cpu > .95 ? "bad" : host.cpu > .85 ? "warn" : "");
		setClass(pressure.value, host.pressure > .5 ? "bad" : host.pressure > .2 ? "warn" : "");
		setClass(errors.value, host.errors > 10 ? "bad" : host.errors > 0 ? "warn" : "");
		setText(this.reason, host.state === "loading" ? "Waiting for the first scrape" : printable(host.reason || ""));
		sparkline(this.canvas, host.past, 1, themeColours().accent);
	}
}

export class Overview {
	/* @shell: the bar around it, see main.js. */
	constructor(shell, parameters) {
		this.shell = shell;
		this.hosts = new Map();
		this.shown = [];
		this.tiles = [];
		this.filter = parameters.get("find") || "";
		this.order = orders[parameters.get("sort")] ? parameters.get("sort") : "trouble";
		this.isTroubled = parameters.get("show") === "trouble";
		this.build();
		this.draw = eachFrame(() => this.drawNow());
		this.onScroll = () => this.draw();
		addEventListener("scroll", this.onScroll, { passive: true });
		addEventListener("resize", this.onScroll);
		this.stream = new Stream("/api/live", {}, {
			list: () => this.load(),
			hosts: ({ hosts }) => this.update(hosts),
			opened: () => shell.reached(),
			broken: () => shell.lost(() => this.load()),
		});
		this.timer = setInterval(() => this.sort(), SORT_MS);
		this.load();
	}

	build() {
		this.input = el("input", { type: "search", placeholder: "Find a host  /", value: this.filter, autocomplete: "off", spellcheck: false,
			oninput: () => { this.filter = this.input.value; this.changed(); } });
		this.input.setAttribute("aria-label", "Find a host");
		this.select = el("select", { onchange: () => { this.order = this.select.value; this.changed(); } },
			...Object.entries(orders).map(([value, [text]]) => el("option", { value, textContent: text })));
		this.select.value = this.order;
		this.select.setAttribute("aria-label", "Sort by");
		this.chip = el("button", { className: "chip", onclick: () => { this.isTroubled = !this.isTroubled; this.changed(); } }, "In trouble", el("b"));
		this.total = el("span", { className: "total" });
		this.area = el("div", { className: "tiles" });
		this.state = el("p", { className: "state", textContent: "Loading…" });
		this.element = el("div", {}, el("div", { className: "overview-head" }, this.input, this.select, this.chip, this.total), this.state, this.area);
	}

	close() {
		this.stream.close();
		clearInterval(this.timer);
		removeEventListener("scroll", this.onScroll);
		removeEventListener("resize", this.onScroll);
	}

	focusSearch() {
		this.input.focus();
	}

	parameters() {
		const parameters = new URLSearchParams();

		if (this.filter)
			parameters.set("find", this.filter);
		if (this.order !== "trouble")
			parameters.set("sort", this.order);
		if (this.isTroubled)
			parameters.set("show", "trouble");
		return parameters;
	}

	changed() {
		this.shell.remember("#/", this.parameters());
		this.sort();
	}

	async load() {
		try {
			const { hosts, history } = await ask("/api/hosts");
			const fresh = new Map();

			for (const one of hosts) {
				const host = this.hosts.get(one.row[0])?.name === one.name ? this.hosts.get(one.row[0]) : { name: one.name, version: 0 };

				host.past = one.past;
				fresh.set(one.row[0], host);
				this.take(host, one.row);
			}
			this.hosts = fresh;
			this.history = history;
			this.shell.reached();
			this.sort();
		} catch (error) {
			this.shell.failed(error, () => this.load());
		}
	}

	take(host, [, state, cpu, pressure, errors, newest, reason]) {
		Object.assign(host, { state, cpu, pressure, errors, newest, reason });
		host.version++;
	}

	update(rows) {
		for (const row of rows) {
			const host = this.hosts.get(row[0]);

			if (!host)
				continue;
			if (row[5] !== host.newest) {
				host.past.push(row[2]);
				if (host.past.length > PAST)
					host.past.shift();
			}
			if (row[1] !== host.state)
				this.isStirred = true;
			this.take(host, row);
		}
		if (this.isStirred)
			this.sort();
		this.draw();
	}

	sort() {
		const [, key] = orders[this.order];
		const find = this.filter.toLowerCase();
		const hosts = [...this.hosts.values()];
		const troubled = hosts.filter((host) => trouble(host) >= 3);

		this.isStirred = false;
		this.shown = (this.isTroubled ? troubled : hosts).filter(({ name }) => name.toLowerCase().includes(find))
			.map((host) => [key(host), host]).sort(([a, one], [b, other]) => a - b || byName.compare(one.name, other.name))
			.map(([, host]) => host);
		this.chip.setAttribute("aria-pressed", this.isTroubled);
		setText(this.chip.lastChild, String(troubled.length));
		setText(this.total, hosts.length + (hosts.length === 1 ? " host" : " hosts") + ", " + hosts.filter(({ state }) => state === "up").length + " up" +
			(this.history ? " · history " + show(this.history.bytes, "bytes") : ""));
		setText(this.state, !hosts.length ? "No host is scraped yet. They appear here as soon as the controller knows them." :
			!this.shown.length ? (this.isTroubled && !find ? "No host is in trouble." : "No host has this in its name.") : "");
		this.state.hidden = this.shown.length > 0;
		this.draw();
	}

	drawNow() {
		const width = this.area.clientWidth;
		const columns = Math.max(1, Math.floor((width + GAP) / (WIDTH_MIN + GAP)));
		const each = (width - GAP * (columns - 1)) / columns;
		const top = this.area.getBoundingClientRect().top;
		const first = Math.max(0, Math.floor((-top - HEIGHT) / (HEIGHT + GAP))) * columns;
		const rows = Math.ceil(innerHeight / (HEIGHT + GAP)) + 3;
		const count = Math.min(Math.max(0, this.shown.length - first), rows * columns);

		this.area.style.height = Math.ceil(this.shown.length / columns) * (HEIGHT + GAP) + "px";
		while (this.tiles.length < count) {
			this.tiles.push(new Tile());
			this.area.append(this.tiles.at(-1).element);
		}
		/* A host keeps its tile while others scroll by. */
		this.tiles.forEach((tile) => { tile.element.hidden = true; });
		for (let i = first; i < first + count; i++) {
			const tile = this.tiles[i % this.tiles.length];

			tile.element.hidden = false;
			tile.place(i % columns * (each + GAP), Math.floor(i / columns) * (HEIGHT + GAP), each);
			tile.show(this.shown[i]);
		}
		document.documentElement.dataset.ready = "overview";
	}

	redraw() {
		for (const tile of this.tiles)
			tile.version = -1;
		this.draw();
	}
}
