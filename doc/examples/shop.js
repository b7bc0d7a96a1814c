/* SPDX-License-Identifier: ISC */
/*
 * The program of the README's picture: orders are made, sorted, packed and
 * summed up, in JavaScript, V8's C++ and zlib's C.
 *
 *	dtprof record -F 997 -e cpu-clock -- node --perf-basic-prof shop.js
 *	dtprof flamegraph
 */
'use strict';
const zlib = require('zlib');

function readOrder(n) {
	const order = { id: n, items: [] };
	for (let i = 0; i < 40; i++)
		order.items.push({ name: 'item ' + i, price: (n * i) % 997 });
	return order;
}
function addTax(order) {
	let sum = 0;
	for (const item of order.items)
		for (let i = 0; i < 60; i++)
			sum = (sum + item.price * 119 + i) % 1000003;
	return sum;
}
function sortItems(order) {
	order.items.sort((a, b) => a.price - b.price || a.name < b.name);
	return order;
}
function compress(text) {
	return zlib.deflateSync(text, { level: 4 }).length;
}
function handle(n) {
	const order = sortItems(readOrder(n));
	const text = JSON.stringify(order);
	return addTax(order) + compress(text) + JSON.parse(text).items.length;
}
let total = 0;
for (let n = 0; n < 14000; n++) total += handle(n);
console.log(total);
