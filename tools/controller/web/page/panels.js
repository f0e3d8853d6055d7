// SPDX-License-Identifier: GPL-2.0-only
/*
 * The plots of a host.  Each names what it asks for, which must be families that the host has, and makes
 * curves of what comes.
 */
import { Plot, curvesOf } from "./plot.js";
import { Heatmap } from "./heatmap.js";
import { seriesColour } from "./elements.js";
import { labelValue, show, shortLabels, unitOf } from "./format.js";

/* Of CPU modes, always the same. */
const modes = [["user", 0], ["nice", 8], ["system", 1], ["irq", 4], ["softirq", 7], ["iowait", 3], ["steal", 6]];

const family = (name, by, more = {}) => ({ family: name, ...(by === undefined ? {} : { by }), ...more });
const single = (label, index, data) => data.groups.length ?
	{ label, colour: seriesColour(index), mean: data.groups[0].mean, least: data.groups[0].min, greatest: data.groups[0].max } : null;

/* Curves of several queries have one axis of time: that of the first that has any. */
function together(entries) {
	const found = entries.filter(([, data]) => data.groups.length && data.t.length);

	if (!found.length)
		return { t: [], curves: [] };
	const t = found[0][1].t;

	return {
		t,
		curves: found.map(([label, data], index) => align(single(label, index, data), data.t, t)),
	};
}

/* Each time takes the newest value up to it. */
function align(curve, times, t) {
	if (times === t || (times.length === t.length && times[times.length - 1] === t[t.length - 1] && times[0] === t[0]))
		return curve;
	const pick = (values) => {
		let at = 0;

		return t.map((time) => {
			while (at + 1 < times.length && times[at + 1] <= time)
				at++;
			return values[at];
		});
	};

	return { ...curve, mean: pick(curve.mean), least: pick(curve.least), greatest: pick(curve.greatest) };
}

function cpuCurves(data) {
	const total = data.t.map((unused, i) => data.groups.reduce((sum, group) => sum + (group.mean[i] || 0), 0));
	const share = (group) => group.mean.map((value, i) => value === null || !total[i] ? null : value / total[i]);
	const of = new Map(data.groups.map((group) => [labelValue(group.labels, "mode"), group]));
	const idle = of.get("idle");
	const curves = modes.filter(([mode]) => of.has(mode))
		.map(([mode, colour]) => ({ label: mode, colour: seriesColour(colour), mean: share(of.get(mode)) }))
		.filter((curve) => curve.mean.some((value) => value));

	return { t: data.t, curves,
		peak: idle && idle.min.some((value, i) => value !== idle.max[i]) ?
			idle.min.map((value, i) => value === null || !total[i] ? null : Math.max(0, 1 - value / total[i])) : null };
}

/* By number, where names end with one. */
const byNumber = new Intl.Collator("en", { numeric: true });

function cpuRows(data) {
	const rows = data.groups.map((group) => ({ label: shortLabels(group.labels),
		values: group.mean.map((value) => value === null ? null : Math.min(1, Math.max(0, 1 - value))) }));

	return { t: data.t, rows: rows.sort((a, b) => byNumber.compare(b.label, a.label)), most: 1 };
}

function memoryCurves([total, available, free, buffers, cached]) {
	if (!total.groups.length || !free.groups.length)
		return { t: [], curves: [] };
	const of = (data, i) => data.groups.length ? data.groups[0].mean[i] || 0 : 0;
	const used = total.t.map((unused, i) => of(total, i) - of(free, i) - of(buffers, i) - of(cached, i));
	const curves = [{ label: "used", colour: seriesColour(0), mean: used }];

	if (cached.groups.length)
		curves.push({ label: "cached", colour: seriesColour(2), mean: cached.groups[0].mean });
	if (buffers.groups.length)
		curves.push({ label: "buffers", colour: seriesColour(4), mean: buffers.groups[0].mean });
	curves.push({ label: "free", colour: seriesColour(6), mean: free.groups[0].mean, isFaint: true });
	return { t: total.t, curves };
}

/* In above the axis, out below it. */
function mirrored([incoming, outgoing], label) {
	const above = curvesOf(incoming, { count: 5, label: shortLabels, prefix: label[0] + " " });
	const below = curvesOf(outgoing, { count: 5, label: shortLabels, prefix: label[1] + " ", sign: -1 });

	return { t: incoming.t, left: above.left + below.left, idle: above.idle + below.idle,
		curves: [...above.curves, ...below.curves.map((curve) => align(curve, outgoing.t, incoming.t))] };
}

/* Of a cumulated histogram: what came into each bucket. */
function bucketRows(data, unit) {
	const limits = data.groups.map((group) => {
		const text = labelValue(group.labels, "le");

		return { group, limit: text === "+Inf" ? Infinity : Number(text) };
	}).sort((a, b) => a.limit - b.limit);
	let most = 1e-9;
	const rows = limits.map(({ group, limit }, k) => {
		const below = k ? limits[k - 1].group.mean : null;
		const values = group.mean.map((value, i) => {
			const inside = value === null ? null : Math.max(0, value - (below ? below[i] || 0 : 0));

			if (inside !== null && inside > most)
				most = inside;
			return inside;
		});

		return { label: limit === Infinity ? "more" : "≤ " + show(limit, unit), values };
	});
	const isFull = (row) => row.values.some((value) => value > 0);
	const first = rows.findIndex(isFull), last = rows.findLastIndex(isFull);

	return { t: data.t, rows: first < 0 ? rows : rows.slice(Math.max(0, first - 1), last + 2), most, isLogarithmic: true };
}

/* What is known of distributions is said in words; the name is in a search, and stays the tooltip. */
const distributions = [[/^dart_runqlat_latency/, "Waiting for a CPU"], [/^dart_biolat_queued/, "Disk: wait in the queue"],
	[/^dart_biolat_([a-z]+)/, "Disk latency: $1"]];

function distributionTitle({ name }) {
	const found = distributions.find(([pattern]) => pattern.test(name));

	return found ? name.match(found[0])[0].replace(...found) : name;
}

const lines = (data, names) => together(data.map((one, i) => [names[i], one]));

/* section, id, title, unit, what is asked, how it is drawn; "needs": indexes of queries that must have a family. */
const known = [
	{ section: "CPU", id: "cpu", title: "CPU by mode", note: "of all CPUs", unit: "share",
		queries: [family("node_cpu_seconds_total", "mode")], isStacked: true, most: () => 1, draw: ([data]) => cpuCurves(data) },
	{ section: "CPU", id: "cpus", title: "Each CPU", note: "busy", unit: "share", isMap: true,
		queries: [family("node_cpu_seconds_total", "cpu", { label: "mode", value: "idle" })], draw: ([data]) => cpuRows(data) },
	{ section: "CPU", id: "load", title: "Load", note: "tasks that run or wait", unit: "number",
		queries: ["1", "5", "15"].map((minutes) => family("node_load" + minutes)),
		draw: (data) => lines(data, ["1 min", "5 min", "15 min"]) },
	{ section: "CPU", id: "pressure", title: "Pressure", note: "time in which tasks waited", unit: "share",
		queries: ["cpu", "io", "memory"].map((what) => family(`node_pressure_${what}_waiting_seconds_total`)),
		draw: (data) => lines(data, ["CPU", "I/O", "memory"]) },
	{ section: "CPU", id: "kernel", title: "Kernel", note: "per second", unit: "rate",
		queries: [family("node_context_switches_total"), family("node_intr_total"), family("node_forks_total")],
		draw: (data) => lines(data, ["context switches", "interrupts", "forks"]) },
	{ section: "Memory and disks", id: "memory", title: "Memory", unit: "bytes", isStacked: true,
		queries: ["MemTotal", "MemAvailable", "MemFree", "Buffers", "Cached"].map((what) => family(`node_memory_${what}_bytes`)),
		draw: memoryCurves },
	{ section: "Memory and disks", id: "disk", title: "Disks", note: "read above, written below", unit: "byterate", isMirrored: true,
		queries: [family("node_disk_read_bytes_total", "device"), family("node_disk_written_bytes_total", "device")],
		draw: (data) => mirrored(data, ["read", "written"]) },
	{ section: "Memory and disks", id: "diskuse", title: "Disks in use", note: "time with I/O under way", unit: "share",
		queries: [family("node_disk_io_time_seconds_total", "device")],
		draw: ([data]) => ({ t: data.t, ...curvesOf(data, { label: shortLabels }) }) },
	{ section: "Network", id: "network", title: "Network", note: "received above, sent below", unit: "byterate", isMirrored: true,
		queries: [family("node_network_receive_bytes_total", "device"), family("node_network_transmit_bytes_total", "device")],
		draw: (data) => mirrored(data, ["in", "out"]) },
	{ section: "Network", id: "errors", title: "Network errors and drops", note: "of all devices", unit: "rate",
		queries: ["receive_errs", "transmit_errs", "receive_drop", "transmit_drop"].map((what) => family(`node_network_${what}_total`, "")),
		draw: (data) => lines(data, ["errors in", "errors out", "drops in", "drops out"]) },
	{ section: "Network", id: "softnet", title: "Softnet", note: "packets dropped, turns cut short", unit: "rate",
		queries: [family("node_softnet_dropped_total", ""), family("node_softnet_times_squeezed_total", "")],
		draw: (data) => lines(data, ["dropped", "squeezed"]) },
	{ section: "Network", id: "tcp", title: "TCP", note: "per second", unit: "rate",
		queries: ["ActiveOpens", "PassiveOpens", "RetransSegs", "InErrs"].map((what) => family("node_netstat_Tcp_" + what, undefined, { rate: true })),
		draw: (data) => lines(data, ["opened", "accepted", "retransmitted", "errors"]) },
	{ section: "Network", id: "established", title: "TCP connections", unit: "number",
		queries: [family("node_netstat_Tcp_CurrEstab", undefined, { rate: false })],
		draw: (data) => lines(data, ["established"]) },
];

export const sections = ["CPU", "Memory and disks", "Network", "Distributions"];

/* The plots of those families that the host has. */
export function panelsOf(families) {
	const panels = known.filter((panel) => panel.queries.some((query) => families.has(query.family)));
	const order = (name) => name.includes("runqlat") ? 0 : name.includes("biolat") ? 1 : 2;

	for (const one of [...families.values()].filter(({ type }) => type === "histogram")
		.sort((a, b) => order(a.name) - order(b.name) || (a.name < b.name ? -1 : 1)).slice(0, 12))
		panels.push({ section: "Distributions", id: "histogram-" + one.name, title: distributionTitle(one), tooltip: one.name,
			note: "per second and bucket", unit: "rate", isMap: true, queries: [family(one.name, "le")], draw: ([data]) => bucketRows(data, unitOf(one, false)) });
	return panels;
}

/* Any family, each series by itself; with @labels, a text, only that. */
export function familyPanel(one, onClose) {
	const isRate = one.type === "counter";
	const label = (text) => one.series.length === 1 && !text ? one.name : shortLabels(text);

	if (one.type === "histogram")
		return { id: "family-" + one.name, title: one.name, note: "per second and bucket", unit: "rate", isMap: true, onClose,
			queries: [family(one.name, "le")], draw: ([data]) => bucketRows(data, unitOf(one, false)) };
	return { id: "family-" + one.name, title: one.name, note: isRate ? "per second" : "", unit: unitOf(one, isRate), onClose, help: one.help,
		queries: [family(one.name)], draw: ([data]) => ({ t: data.t, ...curvesOf(data, { label, hasIdle: true }) }) };
}

/* @dataOf gives what a query has got. */
export function buildPanel(view, panel, dataOf) {
	const data = () => panel.draw(panel.queries.map(dataOf));
	const frame = panel.isMap ? new Heatmap(view, { ...panel, cells: data }) : new Plot(view, { ...panel, curves: data });

	frame.isMirrored = panel.isMirrored;
	if (panel.help)
		frame.element.querySelector("h3").title = panel.title + ": " + panel.help;
	return frame;
}
