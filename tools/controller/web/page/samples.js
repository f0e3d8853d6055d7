// SPDX-License-Identifier: GPL-2.0-only
/* The values of a query: history, and live points behind it. */

export class Samples {
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

	/* [labels, value] of the newest values. */
	latest() {
		const last = this.t.length - 1;

		return last < 0 ? [] : this.groups.map((group) => [group.labels, group.mean[last]]).filter(([, value]) => value !== null);
	}
}

/* Of each query of a host. */
export class SamplesOfQueries {
	constructor() {
		this.all = new Map();
	}

	static key(query) {
		return JSON.stringify([query.family, query.by, query.label, query.value, query.rate]);
	}

	of(query) {
		const key = SamplesOfQueries.key(query);

		if (!this.all.has(key))
			this.all.set(key, new Samples());
		return this.all.get(key);
	}
}
