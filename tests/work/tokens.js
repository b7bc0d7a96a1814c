// SPDX-License-Identifier: ISC
//
// Calls of every kind, with threads.  Each has a number, which a system call
// shows to the kernel; the program writes down which functions V8 has on the
// stack at that moment: number, tab, a list of [function, file, line].
//
// usage: node tokens.js CALLS THREADS
'use strict';
const fs = require('fs');
const { Worker, isMainThread, workerData } = require('worker_threads');

Error.stackTraceLimit = Infinity;
const raw = { prepareStackTrace(error, sites) { return sites; } };
const count = Number(isMainThread ? process.argv[2] : workerData.count);
const first = isMainThread ? 0 : workerData.first;
const lines = [];
const quiet = { throwIfNoEntry: false };
let n = first;

function sites() {
	const before = Error.prepareStackTrace;
	Error.prepareStackTrace = raw.prepareStackTrace;
	const list = new Error().stack;
	Error.prepareStackTrace = before;
	return list;
}

function token() {
	const of = ++n;
	// Both in one line, for that is compared, too.
	const list = sites(); fs.statSync('/tok/' + of, quiet);
	lines.push(of + '\t' + JSON.stringify(list.slice(1).filter(
		(site) => !site.isAsync() && !site.isPromiseAll()).map((site) =>
		[site.getFunctionName(), site.getFileName(), site.getLineNumber()])));
}

function recurse(depth) {
	if (depth === 0) {
		token();
		return 0;
	}
	return 1 +
		recurse(depth - 1);
}

// Small enough to be inlined, once it is hot.
function three(x) {
	if (x > 0)
		token();
	return x;
}
function two(x) {
	return three(x) + 1;
}
function one(x) {
	let sum = 0;
	for (let i = 0; i < 3; i++)
		sum += two(i - 1);
	return sum + x;
}

// A loop whose first turn a compiler may peel.
function looped(x) {
	for (let i = 0; i < 3; i++) {
		x += i;
		token();
		x ^= i;
	}
	return x;
}

class Shape {
	constructor(x) {
		this.x = x;
		token();
	}
	get area() {
		token();
		return this.x;
	}
	static make(x) {
		return new Shape(x);
	}
	*each(x) {
		for (let i = 0; i < x; i++) {
			token();
			yield i;
		}
	}
	async wait(x) {
		token();
		await null;
		token();
		return x;
	}
}

// Another function of the same name.
class Circle {
	get area() {
		token();
		return 0;
	}
}

function thrower() {
	throw new TypeError('x');
}

function caught() {
	try {
		thrower();
	} catch (e) {
		token();
	} finally {
		token();
	}
}

// Through builtins of V8, and through C++ and back.
function called(x) {
	[1, 2].map((v) => {
		token();
		return v + x;
	});
	JSON.stringify({ a: 1 }, function replacer(key, value) {
		if (key === 'a')
			token();
		return value;
	});
	'abc'.replace(/b/g, () => {
		token();
		return 'd';
	});
	eval('token()');
	[3, 1, 2].sort(function byValue(a, b) {
		if (a === 3)
			token();
		return a - b;
	});
	Reflect.apply(two, null, [1]);
	one.bind(null, 1)();
}

async function main() {
	for (let round = 0; n - first < count; round++) {
		one(looped(round));
		const shape = Shape.make(round);
		if (shape.area + new Circle().area === -1)
			return;
		for (const i of shape.each(2))
			two(i);
		await shape.wait(round);
		caught();
		called(round);
		recurse(round % 40);
		if (round % 50 === 0)
			recurse(900);
	}
}

// The recorder needs a moment for a new program, and for what it has run.
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

pause(1000).then(main).then(() => pause(700)).then(() => {
	fs.writeFileSync(1, lines.join('\n') + '\n');
});
for (let i = 1; isMainThread && i < Number(process.argv[3]); i++)
	new Worker(__filename, { workerData: { count, first: i * 1000000 } });
