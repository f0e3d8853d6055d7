// SPDX-License-Identifier: GPL-2.0-only
/* One host: its plots, live. */
import { el, setClass, setText } from "./elements.js";
import { duration, printable } from "./format.js";
import { ask, eachFrame, Stream } from "./server.js";
import { buildPanel, familyPanel, panelsOf, sections } from "./panels.js";
import { Containers, containerQueries } from "./containers.js";
import { Movers } from "./movers.js";
import { SamplesOfQueries } from "./samples.js";
import { SeriesSearch } from "./series.js";
import { Stats } from "./stats.js";
import { SPANS, TimeView } from "./time_view.js";

const REFRESH_MS = 5000, CHOSEN_MAX = 12, QUERIES_MAX = 128;

export class Host {
	constructor(shell, name, parameters) {
		this.shell = shell;
		this.name = name;
		this.samples = new SamplesOfQueries();
		this.queries = [];
		this.frames = [];
		this.families = new Map();
		this.chosen = (parameters.get("series") || "").split(",").filter(Boolean);
		this.draw = eachFrame(() => this.drawNow());
		this.time = new TimeView({ span: Number(parameters.get("span")), from: Number(parameters.get("from")), to: Number(parameters.get("to")),
			width: () => this.frames[0]?.canvas.clientWidth || 500, changed: () => this.timeChanged(), moved: () => this.draw() });
		this.onResize = () => this.draw();
		addEventListener("resize", this.onResize);
		this.build();
		this.load();
	}

	build() {
		this.search = new SeriesSearch((family) => this.choose(family));
		this.spans = new Map(SPANS.map((span) => [span, el("button", { textContent: duration(span), onclick: () => this.time.setSpan(span) })]));
		this.pauseButton = el("button", { onclick: () => this.time.togglePause(), title: "Pause or go on (space)" });
		this.badge = el("span", { className: "badge loading", textContent: "loading" });
		this.controls = [this.badge, el("span", { className: "space" }), this.search.input,
			el("div", { className: "group", role: "group" }, ...this.spans.values()), this.pauseButton, this.search.list];
		this.reason = el("p", { className: "host-reason", hidden: true });
		this.stats = new Stats(this.samples);
		this.chosenArea = el("div", { className: "panels" });
		this.body = el("div");
		this.state = el("p", { className: "state", textContent: "Loading…" });
		this.element = el("div", { className: "host" }, this.reason, this.stats.element, this.chosenArea, this.state, this.body);
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

	onKey(key) {
		return this.time.onKey(key);
	}

	/* ---- the span of time that is seen */

	timeChanged() {
		this.remember();
		this.showControls();
		this.draw();
		clearTimeout(this.timer);
		this.timer = setTimeout(() => this.loadHistory(), 120);
	}

	remember() {
		const parameters = new URLSearchParams();

		this.time.remember(parameters);
		if (this.chosen.length)
			parameters.set("series", this.chosen.join(","));
		this.shell.remember("#/host/" + encodeURIComponent(this.name), parameters);
	}

	showControls() {
		const { isLive, span } = this.time;

		for (const [each, button] of this.spans)
			button.setAttribute("aria-pressed", isLive && span === each);
		setText(this.pauseButton, isLive ? "Pause" : "Live");
		this.pauseButton.setAttribute("aria-pressed", !isLive);
	}

	/* ---- plots */

	async load() {
		try {
			const [{ hosts }, told] = await Promise.all([ask("/api/hosts"), ask("/api/series", { target: this.name })]);

			if (this.isClosed)
				return;
			this.time.interval = hosts.find(({ name }) => name === this.name)?.interval || 1000;
			this.time.reach(told.t);
			this.setState(told);
			this.setFamilies(told);
			this.shell.reached();
			this.buildPanels();
			this.connect();
		} catch (error) {
			if (!this.isClosed)
				this.shell.failed(error, () => this.load());
		}
	}

	setFamilies({ families }) {
		this.families = new Map(families.map((family) => [family.name, family]));
		this.search.families = this.families;
	}

	buildPanels() {
		const panels = panelsOf(this.families);
		const build = (panel) => {
			const frame = buildPanel(this.time, panel, (query) => this.samples.of(query));

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
			const elements = panels.filter((panel) => panel.section === section).map(build);

			if (section === sections[0] && this.families.size)
				elements.push(this.movers.element);
			if (elements.length)
				parts.push(el("h2", { className: "section", textContent: section }), el("div", { className: "panels" }, ...elements));
		}
		this.containers = containerQueries(this.families).length ? new Containers(this.families, (query) => this.samples.of(query)) : null;
		if (this.containers)
			parts.push(el("h2", { className: "section", textContent: "Containers" }), el("div", { className: "panels" }, this.containers.element));
		this.body.replaceChildren(...parts);
		this.stats.build(this.families);
		this.showEmpty();
		this.observe();
		this.collectQueries();
	}

	showEmpty() {
		const isLost = this.stateName === "lost";

		setText(this.state, isLost ? "There are no values of this host, because none was ever read." : "No values yet. They appear with the first scrape.");
		this.state.hidden = this.families.size > 0;
	}

	/* Plots that are not seen are not drawn. */
	observe() {
		this.observer?.disconnect();
		this.observer = new IntersectionObserver((entries) => {
			for (const entry of entries)
				this.frames.find(({ canvas }) => canvas === entry.target)?.setVisible(entry.isIntersecting);
			this.draw();
		}, { rootMargin: "200px" });
		for (const { canvas } of this.frames)
			this.observer.observe(canvas);
	}

	collectQueries() {
		const all = [...this.frames.flatMap(({ queries }) => queries), ...containerQueries(this.families), ...this.stats.queries()];
		const byKey = new Map(all.map((query) => [SamplesOfQueries.key(query), query]));

		this.queries = [...byKey.values()].slice(0, QUERIES_MAX);
	}

	/* ---- values */

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

			this.setFamilies(told);
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
		const { time } = this;
		/* A paused view is a part of the past; a live one goes on behind it. */
		const from = Math.max(0, Math.round((time.isLive ? time.newest - time.span : time.from) - time.gap()));
		const to = Math.round(time.isLive ? time.newest + time.interval / 2 : time.to);

		this.abort?.abort();
		this.abort = new AbortController();
		if (to <= from)
			return;
		try {
			const { plots } = await ask("/api/history", { target: this.name, from, to, points: time.points(), q: JSON.stringify(this.queries) }, this.abort.signal);
			const begins = plots.map(({ t }) => t[0]).filter(Boolean);

			plots.forEach((plot, i) => this.samples.of(this.queries[i]).set(plot));
			if (time.isLive)
				time.begin = Math.min(time.newest, ...begins);
			time.follow();
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
		this.time.reach(Math.max(...points.t));
		if (!this.time.isLive)
			return;
		if (!this.hasHistory) {
			(this.waiting ||= []).push(points);
			return;
		}
		this.append(points);
		/* Many live points behind the history: it packs them. */
		if (this.queries.length && this.samples.of(this.queries[0]).t.length > 3 * this.time.points() && performance.now() - this.loadedAt > REFRESH_MS)
			this.loadHistory();
		this.draw();
		this.movers?.update(this.time.newest - this.time.begin);
	}

	append({ t, v }) {
		const { time } = this;

		this.queries.forEach((query, i) => {
			const samples = this.samples.of(query);

			samples.append(t[i], this.labels[i] || [], v[i]);
			samples.trim(time.newest - time.span - time.gap());
		});
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
		this.showEmpty();
	}

	/* ---- series that were searched for */

	choose(family) {
		if (!this.chosen.includes(family))
			this.chosen = [family, ...this.chosen].slice(0, CHOSEN_MAX);
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
		this.stats.draw();
		if (this.containers && performance.now() - (this.drawnAt || -1000) > 900) {
			this.drawnAt = performance.now();
			this.containers.draw();
		}
	}

	redraw() {
		this.drawnAt = -1000;
		this.draw();
	}
}
