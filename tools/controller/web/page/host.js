// SPDX-License-Identifier: GPL-2.0-only
/* One host: its plots, live. */
import { el, setClass, setText } from "./elements.js";
import { duration, printable, show } from "./format.js";
import { ask, eachFrame, Stream } from "./server.js";
import { buildPanel, familyPanel, panelsOf, sections } from "./panels.js";
import { Containers, containerQueries } from "./containers.js";
import { Movers } from "./movers.js";
import { SeriesSearch } from "./series.js";

const SPANS = [60000, 300000, 900000, 3600000];
const HISTORY_MS = 3600000, REFRESH_MS = 5000;
const keyOf = (query) => JSON.stringify([query.family, query.by, query.label, query.value, query.rate]);

/* The values of a query: history, and live points behind it. */
class Data {
	constructor() {
		this.t = [];
		this.groups = [];
		this.index = new Map();
	}

	set(plot) {
		this.t = plot.t;
		this.groups = plot.groups.map(({ labels, min, max = min, mean = min }) =>
			({ labels, min: min.slice(), max: max === min ? min.slice() : max, mean: mean === min ? min.slice() : mean }));
		this.index = new Map(this.groups.map((group, i) => [group.labels, i]));
		this.historyLength = this.t.length;
	}

	groupOf(labels) {
		let at = this.index.get(labels);

		if (at === undefined) {
			at = this.groups.length;
			this.index.set(labels, at);
			const holes = () => new Array(this.t.length).fill(null);

			this.groups.push({ labels, min: holes(), max: holes(), mean: holes() });
		}
		return this.groups[at];
	}

	/* @labels of @values; those that have no value any more get a hole. */
	append(t, labels, values) {
		if (!t || (this.t.length && t <= this.t[this.t.length - 1]) || values.every((value) => value === null))
			return;
		const groups = labels.map((text) => this.groupOf(text));

		this.t.push(t);
		groups.forEach((group, i) => {
			for (const list of [group.min, group.max, group.mean])
				list[this.t.length - 1] = values[i];
		});
		for (const group of this.groups)
			if (group.mean.length < this.t.length)
				for (const list of [group.min, group.max, group.mean])
					list.push(null);
	}

	/* Drops what lies before @from. */
	trim(from) {
		let count = 0;

		while (count < this.t.length - 1 && this.t[count + 1] < from)
			count++;
		if (count < 64)
			return;
		this.t.splice(0, count);
		for (const group of this.groups)
			for (const list of [group.min, group.max, group.mean])
				list.splice(0, count);
	}
}

export class Host {
	constructor(shell, name, parameters) {
		this.shell = shell;
		this.name = name;
		this.data = new Map();		/* of each query, by its key */
		this.queries = [];
		this.frames = [];
		this.families = new Map();
		this.chosen = (parameters.get("series") || "").split(",").filter(Boolean);
		this.cursor = null;
		this.pointed = null;
		this.interval = 1000;
		this.span = SPANS.includes(Number(parameters.get("span"))) ? Number(parameters.get("span")) : 300000;
		this.newest = 0;
		this.setView(Number(parameters.get("from")), Number(parameters.get("to")));
		this.draw = eachFrame(() => this.drawNow());
		this.onResize = () => this.draw();
		addEventListener("resize", this.onResize);
		this.build();
		this.load();
	}

	build() {
		this.search = new SeriesSearch((family) => this.choose(family));
		this.spans = new Map(SPANS.map((span) => [span, el("button", { textContent: duration(span), onclick: () => this.setSpan(span) })]));
		this.pauseButton = el("button", { onclick: () => this.togglePause(), title: "Pause or go on (space)" });
		this.badge = el("span", { className: "badge loading", textContent: "loading" });
		this.controls = [this.badge, el("span", { className: "space" }), this.search.input,
			el("div", { className: "group", role: "group" }, ...this.spans.values()), this.pauseButton, this.search.list];
		this.reason = el("p", { className: "host-reason", hidden: true });
		this.stats = el("div", { className: "stats" });
		this.chosenArea = el("div", { className: "panels" });
		this.body = el("div");
		this.state = el("p", { className: "state", textContent: "Loading…" });
		this.element = el("div", { className: "host" }, this.reason, this.stats, this.chosenArea, this.state, this.body);
		this.showControls();
	}

	close() {
		this.isClosed = true;
		this.stream?.close();
		this.observer?.disconnect();
		this.abort?.abort();
		clearTimeout(this.timer);
		removeEventListener("resize", this.onResize);
	}

	focusSearch() {
		this.search.input.focus();
	}

	/* ---- the span of time that is seen */

	setView(from, to) {
		this.isLive = !(to > from);
		this.from = this.isLive ? this.newest - this.span : from;
		this.to = this.isLive ? this.newest : to;
	}

	follow() {
		if (!this.isLive)
			return;
		this.to = this.newest;
		this.from = this.to - this.span;
	}

	/* A longer time between points is a hole. */
	gap() {
		return 3.2 * Math.max(this.interval, (this.to - this.from) / this.points());
	}

	/* As many as a plot has pixels, or fewer on a small screen. */
	points() {
		return Math.max(120, Math.min(700, Math.round((this.frames[0]?.canvas.clientWidth || 500) * 1.2)));
	}

	setSpan(span) {
		this.span = span;
		this.setView(0, 0);
		this.viewChanged();
	}

	togglePause() {
		if (this.isLive)
			this.setView(this.from, this.to);
		else
			this.setView(0, 0);
		this.viewChanged();
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
		this.setView(Math.round(from), Math.round(to));
		this.viewChanged();
	}

	zoomOut() {
		this.setView(0, 0);
		this.viewChanged();
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

	viewChanged() {
		this.remember();
		this.showControls();
		this.draw();
		clearTimeout(this.timer);
		this.timer = setTimeout(() => this.loadHistory(), 120);
	}

	remember() {
		const parameters = new URLSearchParams();

		if (this.isLive) {
			if (this.span !== 300000)
				parameters.set("span", this.span);
		} else {
			parameters.set("from", this.from);
			parameters.set("to", this.to);
		}
		if (this.chosen.length)
			parameters.set("series", this.chosen.join(","));
		this.shell.remember("#/host/" + encodeURIComponent(this.name), parameters);
	}

	showControls() {
		for (const [span, button] of this.spans)
			button.setAttribute("aria-pressed", this.isLive && span === this.span);
		setText(this.pauseButton, this.isLive ? "Pause" : "Live");
		this.pauseButton.setAttribute("aria-pressed", !this.isLive);
	}

	/* ---- the cursor, which all plots share */

	point(at, frame, y) {
		this.cursor = at;
		this.pointed = frame;
		this.pointedY = y;
		this.draw();
	}

	endDrag() {
		const drag = this.drag;

		this.drag = null;
		if (!drag)
			return;
		if (Math.abs(drag.to - drag.from) > (this.to - this.from) / 100)
			this.zoom(Math.min(drag.from, drag.to), Math.max(drag.from, drag.to));
		else
			this.draw();
	}

	/* ---- values */

	dataOf(query) {
		const key = keyOf(query);

		if (!this.data.has(key))
			this.data.set(key, new Data());
		return this.data.get(key);
	}

	async load() {
		try {
			const [{ hosts }, told] = await Promise.all([ask("/api/hosts"), ask("/api/series", { target: this.name })]);

			if (this.isClosed)
				return;
			this.interval = hosts.find(({ name }) => name === this.name)?.interval || 1000;
			this.newest = told.t;
			this.follow();
			this.setState(told);
			this.families = new Map(told.families.map((family) => [family.name, family]));
			this.search.families = this.families;
			this.shell.reached();
			this.buildPanels();
			this.connect();
		} catch (error) {
			if (!this.isClosed)
				this.shell.failed(error, () => this.load());
		}
	}

	buildPanels() {
		const panels = panelsOf(this.families);
		const build = (panel) => {
			const frame = buildPanel(this, panel, (query) => this.dataOf(query));

			frame.queries = panel.queries.filter(({ family }) => this.families.has(family));
			this.frames.push(frame);
			return frame.element;
		};
		const parts = [];

		this.frames = [];
		this.chosenArea.replaceChildren(...this.chosen.filter((name) => this.families.has(name))
			.map((name) => build(familyPanel(this.families.get(name), () => this.unchoose(name)))));
		this.movers = new Movers(this.name, this.families, (family) => this.choose(family));
		for (const section of sections) {
			const inside = panels.filter((panel) => panel.section === section);

			const elements = inside.map(build);

			if (section === sections[0] && this.families.size)
				elements.push(this.movers.element);
			if (elements.length)
				parts.push(el("h2", { className: "section", textContent: section }), el("div", { className: "panels" }, ...elements));
		}
		this.containers = containerQueries(this.families).length ? new Containers((query) => this.dataOf(query)) : null;
		if (this.containers)
			parts.push(el("h2", { className: "section", textContent: "Containers" }), el("div", { className: "panels" }, this.containers.element));
		this.body.replaceChildren(...parts);
		setText(this.state, "No values yet. They appear with the first scrape.");
		this.state.hidden = this.families.size > 0;
		this.observe();
		this.statQueries();
		this.collectQueries();
	}

	/* Plots that are not seen are not drawn. */
	observe() {
		this.observer?.disconnect();
		this.observer = new IntersectionObserver((entries) => {
			for (const entry of entries) {
				const frame = this.frames.find(({ canvas }) => canvas === entry.target);

				if (frame)
					frame.isVisible = entry.isIntersecting;
			}
			this.draw();
		}, { rootMargin: "200px" });
		for (const { canvas } of this.frames)
			this.observer.observe(canvas);
	}

	statQueries() {
		const of = (family, by, more) => ({ family, by, ...more });

		this.statList = [
			["CPU", "share", [of("node_cpu_seconds_total", "mode")], ([modes]) => {
				const all = modes.reduce((sum, [, value]) => sum + value, 0);
				const idle = modes.filter(([labels]) => /"(idle|iowait)"/.test(labels)).reduce((sum, [, value]) => sum + value, 0);

				return all ? 1 - idle / all : null;
			}],
			["Memory used", "share", [of("node_memory_MemTotal_bytes"), of("node_memory_MemAvailable_bytes")],
				([total, available]) => total.length && available.length ? 1 - available[0][1] / total[0][1] : null],
			["Load, 1 min", "number", [of("node_load1")], ([load]) => load[0]?.[1] ?? null],
			["Pressure", "share", ["cpu", "io", "memory"].map((what) => of(`node_pressure_${what}_waiting_seconds_total`)),
				(all) => all.some((one) => one.length) ? Math.max(...all.flat().map(([, value]) => value)) : null],
			["Received", "byterate", [of("node_network_receive_bytes_total", "device")],
				([devices]) => devices.length ? devices.reduce((sum, [, value]) => sum + value, 0) : null],
			["Sent", "byterate", [of("node_network_transmit_bytes_total", "device")],
				([devices]) => devices.length ? devices.reduce((sum, [, value]) => sum + value, 0) : null],
		].filter(([, , queries]) => queries.every(({ family }) => this.families.has(family)))
			.map(([title, unit, queries, make]) => ({ title, unit, queries, make, value: el("b", { textContent: "–" }) }));
		this.stats.replaceChildren(...this.statList.map(({ title, value }) => el("div", { className: "stat" }, el("span", { textContent: title }), value)));
	}

	collectQueries() {
		const all = [...this.frames.flatMap(({ queries }) => queries), ...containerQueries(this.families), ...this.statList.flatMap(({ queries }) => queries)];
		const byKey = new Map(all.map((query) => [keyOf(query), query]));

		this.queries = [...byKey.values()].slice(0, 128);
	}

	connect() {
		this.stream?.close();
		this.labels = [];
		this.hasHistory = false;
		this.stream = new Stream("/api/live", { target: this.name, q: JSON.stringify(this.queries) }, {
			opened: () => this.shell.reached(),
			broken: () => this.shell.lost(() => this.load()),
			state: (state) => this.setState(state),
			groups: ({ groups }) => this.setGroups(groups),
			points: (points) => this.take(points),
			gone: () => this.setState({ state: "lost", reason: "The controller does not scrape this host any more." }),
		});
		this.loadHistory();
	}

	/* Families that come with a new plan, such as those of the first scrape, need plots. */
	setGroups(groups) {
		this.labels = groups;
		if (!this.families.size || this.hasPlan)
			this.refresh();
		this.hasPlan = true;
	}

	async refresh() {
		/* Where containers come and go, plans follow each other. */
		if (performance.now() - (this.refreshedAt || -REFRESH_MS) < REFRESH_MS)
			return;
		this.refreshedAt = performance.now();
		try {
			const told = await ask("/api/series", { target: this.name });
			const before = [...this.families.keys()].join();

			this.families = new Map(told.families.map((family) => [family.name, family]));
			this.search.families = this.families;
			if ([...this.families.keys()].join() === before || this.isClosed)
				return;
			this.hasPlan = false;
			this.buildPanels();
			this.connect();
		} catch {
			/* The stream says what is wrong. */
		}
	}

	async loadHistory() {
		if (!this.queries.length || this.isClosed)
			return;
		this.abort?.abort();
		this.abort = new AbortController();
		/* A paused view is a part of the past; a live one goes on behind it. */
		const to = this.isLive ? this.newest + HISTORY_MS : this.to;

		try {
			const { plots } = await ask("/api/history", { target: this.name, from: Math.max(0, Math.round(this.from - this.gap())),
				to: this.isLive ? Math.round(this.newest + this.interval / 2) : Math.round(to), points: this.points(), q: JSON.stringify(this.queries) }, this.abort.signal);

			plots.forEach((plot, i) => this.dataOf(this.queries[i]).set(plot));
			this.hasHistory = true;
			this.loadedAt = performance.now();
			for (const points of this.waiting || [])
				this.append(points);
			this.waiting = null;
			this.draw();
			document.documentElement.dataset.ready = "host";
		} catch (error) {
			if (error.name !== "AbortError" && !this.isClosed)
				this.shell.failed(error, () => this.loadHistory());
		}
	}

	take(points) {
		const newest = Math.max(...points.t, this.newest);

		this.newest = newest;
		if (!this.isLive)
			return;
		if (!this.hasHistory) {
			(this.waiting ||= []).push(points);
			return;
		}
		this.append(points);
		this.follow();
		/* Many live points behind the history: it packs them. */
		if (this.queries.length && this.dataOf(this.queries[0]).t.length > 3 * this.points() && performance.now() - this.loadedAt > 5000)
			this.loadHistory();
		this.draw();
		this.movers?.update();
	}

	append({ t, v }) {
		this.queries.forEach((query, i) => {
			const data = this.dataOf(query);

			data.append(t[i], this.labels[i] || [], v[i]);
			data.trim(this.newest - this.span - this.gap());
		});
		this.latest = v;
	}

	setState({ state, reason }) {
		this.stateName = state;
		setClass(this.element, "host " + state);
		this.element.dataset.state = state;
		setClass(this.badge, "badge " + state);
		setText(this.badge, state);
		this.reason.hidden = state !== "lost" && state !== "stale";
		setText(this.reason, state === "lost" ? "Lost: " + printable(reason || "the host cannot be scraped.") :
			"Stale: the next scrape is late. The last values are shown.");
	}

	/* ---- series that were searched for */

	choose(family) {
		if (!this.chosen.includes(family))
			this.chosen = [family, ...this.chosen].slice(0, 12);
		this.chosenChanged();
		scrollTo({ top: 0, behavior: "smooth" });
	}

	unchoose(family) {
		this.chosen = this.chosen.filter((name) => name !== family);
		this.chosenChanged();
	}

	chosenChanged() {
		this.remember();
		this.hasPlan = false;
		this.buildPanels();
		this.connect();
	}

	/* ---- drawing */

	drawNow() {
		for (const frame of this.frames)
			frame.draw();
		for (const { unit, queries, make, value } of this.statList || []) {
			const values = queries.map((query) => {
				const data = this.dataOf(query), last = data.t.length - 1;

				return last < 0 ? [] : data.groups.map((group) => [group.labels, group.mean[last]]).filter(([, number]) => number !== null);
			});

			setText(value, show(make(values), unit));
		}
		if (this.containers && performance.now() - (this.drawnAt || -1000) > 900) {
			this.drawnAt = performance.now();
			this.containers.draw();
		}
	}

	redraw() {
		this.drawnAt = -1000;
		this.draw();
	}

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
}
