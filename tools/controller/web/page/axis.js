// SPDX-License-Identifier: GPL-2.0-only
/* Where the lines of a grid are. */
import { clock } from "./format.js";

/* Round numbers from @least to @most, about @count of them. */
export function valueTicks(least, most, count, isBinary) {
	const raw = (most - least) / count;
	const ticks = [];

	if (!(raw > 0) || !Number.isFinite(raw))
		return ticks;
	let step;

	if (isBinary && raw >= 1) {
		step = 2 ** Math.ceil(Math.log2(raw));
	} else {
		const power = 10 ** Math.floor(Math.log10(raw));

		step = power * [1, 2, 5, 10].find((factor) => factor * power >= raw * .9999);
	}
	for (let value = Math.ceil(least / step) * step; value <= most + step * 1e-6; value += step)
		ticks.push(Math.abs(value) < step * 1e-6 ? 0 : value);
	return ticks;
}

const steps = [10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5];

export function timeTicks(from, to, width) {
	const step = steps.find((ms) => (to - from) / ms * 68 <= width) || 36e5;
	const ticks = [];

	for (let at = Math.ceil(from / step) * step; at <= to; at += step)
		ticks.push({ at, text: step % 60000 === 0 ? clock(at).slice(0, 5) : clock(at, step < 1000) });
	return ticks;
}

/* The index of the time nearest to @at in @times, which grow; -1 if there is none. */
export function nearest(times, at) {
	let low = 0, high = times.length - 1;

	while (low < high) {
		const middle = low + high >> 1;

		if (times[middle] < at)
			low = middle + 1;
		else
			high = middle;
	}
	if (low > 0 && at - times[low - 1] < times[low] - at)
		low--;
	return times.length ? low : -1;
}
