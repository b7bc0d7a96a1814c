/* SPDX-License-Identifier: ISC */
/*
 * The data of the page, unpacked: names, the tree, and which samples fell
 * into which cell of time.  The form is described in README.md.  Nothing in
 * here is ever made into markup: names end in text nodes and on a canvas.
 */
"use strict";

/* Bits of a label's kind, and the kinds that have no function. */
const KIND_KERNEL = 8, KIND_INLINED = 16, KIND_UNNAMED = 32;
const KIND_FRAME_SHIFT = 6;
const KIND_STATE = 1024;
const KIND_FUNCTION = 1, KIND_CUT = 6, KIND_LINE = 7;
/* Frames that are not native: names, and hues of those that have one. */
const FRAME_NAMES = { 2: "py", 3: "js", 4: "java", 5: "script",
	6: "boundary" };
const FRAME_HUES = { 2: 262, 3: 168, 4: 328, 5: 295 };

/* Reads what the writer put, from the first byte to the last. */
class Columns {
	constructor(bytes) {
		this.bytes = bytes;
		this.at = 0;
		this.text = new TextDecoder();
	}

	/* Seven bits a byte, the low ones first; beyond 31 bits as a float. */
	number() {
		const bytes = this.bytes;
		let byte = bytes[this.at++];
		if (byte < 128)
			return byte;
		let value = byte & 127, unit = 128;
		do {
			byte = bytes[this.at++];
			if (byte === undefined)
				throw new Error("the data ends too early");
			value += (byte & 127) * unit;
			unit *= 128;
		} while (byte > 127);
		return value;
	}

	numbers(into) {
		for (let i = 0; i < into.length; i++)
			into[i] = this.number();
		return into;
	}

	/* The lowest byte of each, then the next one of each, ... */
	planes(into, n = into.length) {
		const planes = this.number();
		for (let plane = 0, unit = 1; plane < planes; plane++) {
			const from = this.bytes.subarray(this.at, this.at + n);
			for (let i = 0; i < n; i++)
				into[i] += from[i] * unit;
			this.at += n;
			unit *= 256;
		}
		return into;
	}

	/* The bytes up to a newline, which is taken too. */
	line() {
		const end = this.bytes.indexOf(10, this.at);
		const bytes = this.bytes.subarray(this.at, end);
		this.at = end + 1;
		return bytes;
	}
}

function readNames(columns, same) {
	const names = new Array(same.length);
	let last = new Uint8Array(0);
	for (let i = 0; i < names.length; i++) {
		const rest = columns.line();
		if (same[i] === 0) {
			last = rest;
		} else {
			const name = new Uint8Array(same[i] + rest.length);
			name.set(last.subarray(0, same[i]));
			name.set(rest, same[i]);
			last = name;
		}
		names[i] = columns.text.decode(last);
	}
	return names;
}

function readTree(columns, data) {
	const n = data.n = columns.number();
	data.parent = new Int32Array(n).fill(-1);
	data.depth = new Uint16Array(n);
	data.label = new Uint32Array(n);
	const stack = [0];
	for (let i = 1; i < n; i++) {
		const depth = data.depth[i - 1] + 1 - columns.number();
		data.depth[i] = depth;
		data.parent[i] = stack[depth - 1];
		stack[depth] = i;
	}
	columns.numbers(data.label.subarray(1));
}

function readCells(columns, data) {
	const n = columns.number();
	const cells = data.cells = {
		n,
		time: columns.numbers(new Uint32Array(n)),
		node: columns.numbers(new Uint32Array(n)),
		event: columns.numbers(new Uint16Array(n)),
		samples: columns.numbers(new Float64Array(n)),
		weight: new Float64Array(n),
	};
	const last = new Float64Array(data.events.length);
	for (let i = 1; i < n; i++) {
		if (cells.time[i] === 0)
			cells.node[i] += cells.node[i - 1];
		cells.time[i] += cells.time[i - 1];
	}
	for (let i = 0; i < n; i++) {
		const weight = columns.number(), event = cells.event[i];
		const samples = cells.samples[i];
		cells.weight[i] = weight ? weight - 1 : samples * last[event];
		if (weight && samples && (weight - 1) % samples === 0)
			last[event] = (weight - 1) / samples;
	}
	data.ncells = n ? cells.time[n - 1] + 1 : 0;
}

/*
 * What the tests said: twice the adjusted p in ten-thousandths, odd where the
 * sides differ; NaN: not tested.
 */
function readChances(columns, data) {
	const read = n => Float64Array.from(columns.numbers(
	    new Uint16Array(n)), x => x ? x - 1 : NaN);
	const both = n => ({
		cost: {total: read(n), self: read(n)},
		share: {total: read(n), self: read(n)},
	});
	data.difference.node = both(data.n);
	data.difference.label = both(data.names.length);
}

/* The first at or after a time, of low..high of sorted times. */
function firstFrom(times, time, low, high) {
	while (low < high) {
		const middle = (low + high) >> 1;
		if (times[middle] < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* FNV-1a: a name has the same color and the same link in every recording. */
function hashText(text) {
	let hash = 2166136261;
	for (let i = 0; i < text.length; i++)
		hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
	return (hash ^ hash >>> 15) >>> 0;
}

/* Two letters of base 91 are 13 bits, the low ones first; a last one is 6. */
function fromLetters(text) {
	const digits = new Uint8Array(128);
	for (let code = 33, digit = 0; code < 127; code++)
		if (!"\"<\\".includes(String.fromCharCode(code)))
			digits[code] = digit++;
	const pairs = text.length >> 1, last = text.length & 1;
	const bytes = new Uint8Array((pairs * 13 + last * 6) >> 3);
	let bits = 0, n = 0, at = 0;
	for (let i = 0; i < text.length; i += 2) {
		bits |= digits[text.charCodeAt(i)] << n;
		if (i + 1 < text.length)
			bits += digits[text.charCodeAt(i + 1)] * 91 << n;
		for (n += 13; n >= 8 && at < bytes.length; n -= 8) {
			bytes[at++] = bits;
			bits >>>= 8;
		}
	}
	return bytes;
}

async function inflate(text) {
	const stream = new Blob([fromLetters(text)]).stream().pipeThrough(
	    new DecompressionStream("deflate-raw"));
	return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function readData(head) {
	const data = head;
	if (data.format !== 2)
		throw new Error("written by another version of dtprof");
	const columns = new Columns(await inflate(data.columns));
	data.columns = null;
	const modules = new Array(columns.number());
	for (let i = 0; i < modules.length; i++)
		modules[i] = columns.text.decode(columns.line());
	data.modules = modules;
	const n = columns.number();
	data.kinds = columns.numbers(new Uint16Array(n));
	data.moduleOf = columns.numbers(new Uint32Array(n));
	data.names = readNames(columns, columns.numbers(new Uint32Array(n)));
	data.places = Array.from(data.kinds, kind => (kind & 7) === KIND_LINE ?
	    columns.text.decode(columns.line()) : "");
	data.hues = new Map(Object.entries(data.hues || {}));
	data.hasStates = data.kinds.some(kind => kind & KIND_STATE);
	readTree(columns, data);
	readCells(columns, data);
	if (data.difference)
		readChances(columns, data);
	data.hashes = data.names.map((name, i) =>
	    hashText(name + "\n" + modules[data.moduleOf[i]]));
	data.ids = data.hashes.map((hash, i) => data.places[i] ?
	    hashText(hash + data.places[i]) : hash);
	return data;
}
