/* SPDX-License-Identifier: ISC */
/*
 * What threads do, by part of a range of time: a part is a pixel of the
 * timeline.  A thread has in each part the state that takes most of it; of the
 * threads of a process, it is known how many are in which state.  Both come
 * from sums, which are made when a thread or process is first drawn.  So a
 * picture takes time by its pixels, and not by the waits in it.
 */
"use strict";

const MAX_PARTS = 16384;	/* of the whole time, for a process */

class LaneSums extends ThreadSamples {
	/* ----------------------------------------------------- a thread */

	/* Its waits, with the time in each state before them; its samples. */
	sumsOfLane(lane) {
		const {time, ended, weight, state} = this;
		let waits = 0;
		for (let i = lane.first; i < lane.end; i++)
			waits += state[i] > 0;
		const begins = new Float64Array(waits);
		const ends = new Float64Array(waits);
		const before = STATES.map(() => new Float64Array(waits + 1));
		const waitState = new Uint8Array(waits);
		const taken = new Float64Array(lane.end - lane.first - waits);
		for (let i = lane.first, k = 0; i < lane.end; i++) {
			if (!state[i]) {
				taken[i - lane.first - k] = time[i];
				continue;
			}
			begins[k] = ended[i] - weight[i];
			ends[k] = ended[i];
			waitState[k] = state[i];
			for (const sum of before)
				sum[k + 1] = sum[k];
			before[state[i]][++k] += weight[i];
		}
		return {begins, ends, before, waitState, taken};
	}

	/*
	 * By part of a view: the state that takes most of it, -1 where it is
	 * not known; and how many samples were taken in it.
	 */
	partsOfLane(lane, view, wide) {
		lane.sums = lane.sums || this.sumsOfLane(lane);
		const {begins, ends, before, waitState, taken} = lane.sums;
		const states = new Int8Array(wide).fill(-1);
		const counts = new Uint32Array(wide);
		const [from, to] = view, length = (to - from) / wide;
		const sampled = bordersOf(taken, view, wide);
		const ended = bordersOf(ends, view, wide);
		/* Blocked and runnable, up to the begin of the part. */
		const last = [0, 0, 0];
		for (let x = 0; x <= wide; x++) {
			const time = from + x * length, k = ended[x];
			const open = k < ends.length ? Math.max(0, time -
			    begins[k]) : 0;
			const own = [0, 0, 0];
			let rest = Math.max(0, Math.min(time, lane.to) -
			    Math.max(time - length, lane.from));
			for (let state = 1; state < 3; state++) {
				const sum = before[state][k] +
				    (open && waitState[k] === state ? open : 0);
				own[state] = sum - last[state];
				last[state] = sum;
				rest -= own[state];
			}
			if (!x)
				continue;
			counts[x - 1] = sampled[x] - sampled[x - 1];
			own[0] = rest;
			if (lane.waits && time > lane.from && time - length <
			    lane.to)
				states[x - 1] = own[1] > own[0] ? own[2] >
				    own[1] ? 2 : 1 : own[2] > own[0] ? 2 : 0;
		}
		return {states, counts};
	}

	/* ---------------------------------------------------- a process */

	/*
	 * By part of a view, how many threads there are, are blocked, are
	 * runnable; and samples.  All time is summed once, in many parts: a
	 * view of many samples is made from these.
	 */
	partsOfProcess(lanes, view, wide) {
		const {whole} = this, all = lanes[0].process =
		    lanes[0].process || this.sumsOfProcess(lanes);
		const part = (whole[1] - whole[0]) / all.parts;
		const length = (view[1] - view[0]) / wide;
		if (length < part)
			return this.sum(lanes, view, wide);
		const borders = new Uint32Array(wide + 1);
		for (let x = 0; x <= wide; x++)
			borders[x] = Math.min(all.parts, Math.floor((view[0] +
			    x * length - whole[0]) / part));
		const between = (sums, each) => Float64Array.from({length:
		    wide}, (_, x) => (sums[borders[x + 1]] -
		    sums[borders[x]]) / (each ? Math.max(1, borders[x + 1] -
		    borders[x]) : 1));
		return {levels: all.levels.map(sums => between(sums, true)),
			counts: between(all.counts, false)};
	}

	/* Of all parts before each. */
	sumsOfProcess(lanes) {
		const samples = lanes.reduce((n, lane) => n + lane.end -
		    lane.first, 0);
		const parts = Math.min(MAX_PARTS, 2 ** Math.ceil(Math.log2(
		    samples + 2)));
		const {levels, counts} = this.sum(lanes, this.whole, parts);
		const before = values => {
			const sums = new Float64Array(parts + 1);
			for (let i = 0; i < parts; i++)
				sums[i + 1] = sums[i] + values[i];
			return sums;
		};
		return {parts, levels: levels.map(before),
			counts: before(counts)};
	}

	sum(lanes, range, wide) {
		const levels = STATES.map(() => new Float64Array(wide + 1));
		const counts = new Float64Array(wide);
		for (const lane of lanes)
			this.addLane(lane, {levels, counts, range, wide});
		for (const level of levels)
			for (let x = 1; x < wide; x++)
				level[x] += level[x - 1];
		return {levels, counts};
	}

	/* Differences from part to part, and samples. */
	addLane(lane, {levels, counts, range, wide}) {
		const {time, ended, weight, state} = this;
		const [from, to] = range, scale = wide / (to - from);
		const add = (sum, begin, end) => {
			const a = Math.max(0, (begin - from) * scale);
			const b = Math.min(wide, (end - from) * scale);
			if (a >= b)
				return;
			/* Partly in the first part, and in the last. */
			const i = Math.floor(a), k = Math.floor(b);
			sum[i] += i + 1 - a;
			sum[i + 1] += a - i;
			if (k < wide) {
				sum[k] -= k + 1 - b;
				sum[k + 1] -= b - k;
			}
		};
		if (lane.waits)
			add(levels[0], lane.from, lane.to);
		for (let i = this.firstAt(lane, from); i < lane.end; i++) {
			if (!state[i]) {
				if (time[i] < to)
					counts[Math.floor((time[i] - from) *
					    scale)]++;
				else if (!lane.waits)
					break;
				continue;
			}
			const begin = ended[i] - weight[i];
			if (begin >= to)
				break;
			add(levels[state[i]], begin, ended[i]);
		}
	}
}

/* How many of sorted times are before each border of the parts of a range. */
function bordersOf(times, [from, to], wide) {
	const borders = new Uint32Array(wide + 1), n = times.length;
	for (let x = 0, at = 0; x <= wide; x++) {
		const time = from + (to - from) * x / wide;
		let step = 1;
		while (at + step <= n && times[at + step - 1] < time)
			step *= 2;
		at = firstFrom(times, time, at, Math.min(n, at + step));
		borders[x] = at;
	}
	return borders;
}
