/* SPDX-License-Identifier: ISC */
/*
 * The samples of each thread in time, and their sums in a range.  Times are
 * nanoseconds since the start of the recording, as --from and --to count
 * them.  README.md describes the form of the data, which is unpacked when it
 * is first asked for.
 */
"use strict";

/* Of a thread, by number; a sample that is no wait has the first. */
const STATES = ["running", "blocked", "runnable"];

class ThreadSamples {
	constructor(events, head) {
		this.events = events;
		this.head = head;
		this.ready = false;
	}

	load() {
		this.loading = this.loading || this.read();
		return this.loading;
	}

	async read() {
		const columns = new Columns(await inflate(this.head.columns));
		const n = this.n = this.head.samples;
		const read = kind => columns.planes(new kind(n));
		this.head.columns = null;
		this.lanes = this.readLanes(columns);
		this.time = read(Float64Array);
		this.ended = read(Float64Array);
		this.node = read(Uint32Array);
		this.weight = read(Float64Array);
		this.samples = read(Uint32Array);
		this.kind = read(Uint16Array);
		this.state = new Uint8Array(n);
		for (let i = 0; i < n; i++)
			this.state[i] = this.kind[i] % STATES.length;
		this.finish();
		this.readRests(columns);
		this.whole = this.span();
		this.ready = true;
	}

	readLanes(columns) {
		const lanes = new Array(columns.number());
		let first = 0;
		for (let i = 0; i < lanes.length; i++) {
			const [pid, tid, n, node] = columns.numbers([0, 0, 0,
				0]);
			lanes[i] = {pid, tid, node, first, end: first + n,
				name: columns.text.decode(columns.line())};
			first += n;
		}
		return lanes;
	}

	/*
	 * The columns hold when each began, since the one before ended, and
	 * how much earlier than the next it was stored, where that is not as
	 * expected.  From these, when each was stored, and ended.  All are
	 * whole units of time, but for the weight of what is no wait.
	 */
	finish() {
		const {time, ended, weight, kind, state, node} = this;
		const unit = this.head.unit_ns;
		const last = new Float64Array(this.events.length);
		for (let i = 0; i < this.n; i++) {
			const event = (kind[i] - state[i]) / STATES.length;
			weight[i] = weight[i] ? weight[i] - 1 : last[event];
			last[event] = weight[i];
			if (state[i])
				weight[i] *= unit;
		}
		for (const lane of this.lanes) {
			let at = 0;
			for (let i = lane.first; i < lane.end; i++) {
				const half = Math.floor(time[i] / 2);
				const begin = at + (time[i] > 2 * half ? -half :
				    half) * unit;
				if (i === lane.first)
					lane.from = begin;
				if (state[i])
					lane.waits = true;
				at = begin + (state[i] ? weight[i] : 0);
				time[i] = ended[i];
				ended[i] = at;
				node[i] += lane.node;
			}
			let next = -1, began = -1;
			for (let i = lane.end - 1; i >= lane.first; i--) {
				if (time[i])
					next -= (time[i] - 1) * unit;
				else if (began !== ended[i])
					next = ended[i];
				time[i] = next;
				began = ended[i] - (state[i] ? weight[i] : 0);
			}
			lane.to = time[lane.end - 1];
		}
	}

	/* By kind, sums from the first grain on: what the units leave over. */
	readRests(columns) {
		const n = columns.number();
		this.rests = [];
		const kinds = this.events.length * STATES.length;
		for (let kind = 0; kind < kinds; kind++) {
			const rests = columns.planes(new Float64Array(n + 1),
			    n);
			let sum = 0;
			for (let i = 0; i <= n; i++) {
				const rest = Math.floor(rests[i] / 2);
				const sign = rests[i] % 2 ? -1 : 1;
				rests[i] = sum;
				sum += sign * rest;
			}
			this.rests.push(rests);
		}
	}

	/* Of a range that begins and ends with grains. */
	restOf(kind, range) {
		const rests = this.rests[kind], {grain, grain_ns} = this.head;
		const at = time => rests[Math.min(Math.max(0,
		    Math.floor(time / grain_ns) - grain), rests.length - 1)];
		return at(range[1]) - at(range[0]);
	}

	/* The range of whole grains around a range. */
	snap([from, to]) {
		const grain = this.head.grain_ns;
		return [Math.floor(from / grain) * grain,
			Math.ceil(to / grain) * grain];
	}

	/* From the first wait or sample to past the last. */
	span() {
		let from = Infinity, to = 0;
		for (const lane of this.lanes) {
			from = Math.min(from, lane.from);
			to = Math.max(to, lane.to + this.head.unit_ns);
		}
		return from < to ? [Math.max(0, from), to] : [0, 1];
	}

	/* The first sample of a lane at or after a time. */
	firstAt(lane, time) {
		return firstFrom(this.time, time, lane.first, lane.end);
	}

	/* Each sample whose time lies in a range: what report counts there. */
	each(range, run) {
		for (const lane of this.lanes) {
			const end = this.firstAt(lane, range[1]);
			for (let i = this.firstAt(lane, range[0]); i < end; i++)
				run(i);
		}
	}

	/* By event: weight and samples; and of waits by state. */
	totals(range) {
		const {weight, samples, kind} = this, n = STATES.length;
		const weights = new Float64Array(this.rests.length);
		const counts = new Float64Array(this.rests.length);
		this.each(range, i => {
			weights[kind[i]] += weight[i];
			counts[kind[i]] += samples[i];
		});
		for (let i = 0; i < weights.length; i++)
			weights[i] += this.restOf(i, range);
		const sum = values => values.reduce((a, b) => a + b, 0);
		return this.events.map((event, i) => {
			const own = [i * n, (i + 1) * n];
			const states = [...weights.subarray(...own)];
			return {weight: sum(states), states,
				samples: sum(counts.subarray(...own))};
		});
	}

	/* Own weights and samples by node, into a tree. */
	fill(tree, event, other, range) {
		this.each(range, i => {
			const node = this.node[i];
			const of = Math.floor(this.kind[i] / STATES.length);
			if (of === event) {
				tree.self[node] += this.weight[i];
				tree.samples[node] += this.samples[i];
			}
			if (of === other)
				tree.other[node] += this.weight[i];
		});
	}
}
