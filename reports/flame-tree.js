/* SPDX-License-Identifier: ISC */
/*
 * Trees of calls: the recorded one with the samples of a range of time, and
 * those made of it (filtered, folded, reversed, around one function).  In all
 * of them a parent stands before its children, so a sum goes backwards and a
 * path goes forwards.  What is narrow is left out when drawing, never here:
 * totals and matched shares are exact.
 */
"use strict";

class Tree {
	constructor(n) {
		this.n = n;
		this.label = new Uint32Array(n);
		this.parent = new Int32Array(n).fill(-1);
		this.depth = new Uint16Array(n);
		this.self = new Float64Array(n);
		this.samples = new Float64Array(n);
		this.other = new Float64Array(n);
		this.inOrder = false;
	}

	/* Own weights to totals. */
	sum() {
		const {n, parent} = this;
		this.total = this.width = Float64Array.from(this.self);
		this.totalSamples = Float64Array.from(this.samples);
		this.totalOther = Float64Array.from(this.other);
		for (let i = n - 1; i > 0; i--) {
			const up = parent[i];
			this.total[up] += this.total[i];
			this.totalSamples[up] += this.totalSamples[i];
			this.totalOther[up] += this.totalOther[i];
		}
		return this;
	}

	/* Nodes in the order in which siblings are to stand. */
	ranked(order) {
		const {n, label} = this;
		const nodes = new Uint32Array(n);
		if (order === "name") {
			const start = new Uint32Array(
			    label.reduce((a, b) => Math.max(a, b), 0) + 2);
			for (let i = 0; i < n; i++)
				start[label[i] + 1]++;
			for (let i = 1; i < start.length; i++)
				start[i] += start[i - 1];
			for (let i = 0; i < n; i++)
				nodes[start[label[i]]++] = i;
			return nodes;
		}
		const key = order === "self" ? this.self : this.width;
		for (let i = 0; i < n; i++)
			nodes[i] = i;
		return nodes.sort((a, b) => key[b] - key[a] ||
		    label[a] - label[b]);
	}

	/*
	 * Where each node begins, and by level the nodes that have a width,
	 * from left to right.  A frame is as wide as its weight, but in a
	 * differential graph.
	 */
	layOut(order, width = this.total) {
		const {n, parent, depth} = this;
		this.width = width;
		this.left = new Float64Array(n);
		const used = new Float64Array(n);
		const count = [];
		const walk = order === "name" && this.inOrder ? null :
		    this.walk(this.ranked(order));
		for (let k = 1; k < n; k++) {
			const i = walk ? walk[k] : k, up = parent[i];
			this.left[i] = this.left[up] + used[up];
			used[up] += width[i];
		}
		for (let i = 0; i < n; i++)
			if (width[i] > 0 || i === 0)
				count[depth[i]] = (count[depth[i]] || 0) + 1;
		this.levels = count.map(c => new Uint32Array(c));
		const at = new Uint32Array(count.length);
		for (let k = 0; k < n; k++) {
			const i = walk ? walk[k] : k;
			if (width[i] > 0 || i === 0)
				this.levels[depth[i]][at[depth[i]]++] = i;
		}
		this.walked = walk;
		return this;
	}

	/* Depth first, siblings as ranked. */
	walk(ranked) {
		const {n, parent} = this;
		const first = new Int32Array(n).fill(-1);
		const next = new Int32Array(n).fill(-1);
		for (let k = n - 1; k >= 0; k--) {
			const i = ranked[k];
			if (i === 0)
				continue;
			next[i] = first[parent[i]];
			first[parent[i]] = i;
		}
		const walked = new Uint32Array(n);
		for (let node = 0, k = 0; k < n; k++) {
			walked[k] = node;
			if (first[node] >= 0) {
				node = first[node];
				continue;
			}
			while (node > 0 && next[node] < 0)
				node = parent[node];
			node = next[node];
		}
		return walked;
	}

	/* The node of a level at this width from the left, or -1. */
	at(depth, x) {
		const level = this.levels[depth];
		if (!level)
			return -1;
		const k = this.firstAfter(depth, x);
		const i = level[k];
		return k < level.length && this.left[i] <= x ? i : -1;
	}

	/* The first of a level that ends to the right of x. */
	firstAfter(depth, x) {
		const level = this.levels[depth];
		let low = 0, high = level.length;
		while (low < high) {
			const middle = (low + high) >> 1, i = level[middle];
			if (this.left[i] + this.width[i] <= x)
				low = middle + 1;
			else
				high = middle;
		}
		return low;
	}

	path(node) {
		const nodes = [];
		for (; node >= 0; node = this.parent[node])
			nodes.unshift(node);
		return nodes;
	}

	children(node) {
		const level = this.levels[this.depth[node] + 1];
		if (!level)
			return [];
		const from = this.firstAfter(this.depth[node] + 1,
		    this.left[node]);
		const nodes = [];
		for (let k = from; k < level.length &&
		    this.parent[level[k]] === node; k++)
			nodes.push(level[k]);
		return nodes;
	}
}

/* A tree that grows: children are found by a table of (parent, label). */
class Growing {
	constructor(label) {
		this.label = [label];
		this.parent = [-1];
		this.depth = [0];
		this.self = [0];
		this.samples = [0];
		this.other = [0];
		this.origin = [-1];
		this.size = 1 << 12;
		this.slots = new Int32Array(this.size);
	}

	/* The origin is the recorded node that a new one is made for, if any. */
	child(parent, label, origin = -1) {
		const mask = this.size - 1;
		let at = (Math.imul(parent, 0x9e3779b1) ^
		    Math.imul(label, 0x85ebca6b)) >>> 7 & mask;
		for (; this.slots[at]; at = at + 1 & mask) {
			const i = this.slots[at];
			if (this.parent[i] === parent &&
			    this.label[i] === label)
				return i;
		}
		const i = this.label.push(label) - 1;
		this.parent.push(parent);
		this.depth.push(this.depth[parent] + 1);
		this.self.push(0);
		this.samples.push(0);
		this.other.push(0);
		this.origin.push(origin);
		this.slots[at] = i;
		if (i * 2 > this.size)
			this.grow();
		return i;
	}

	grow() {
		this.size *= 2;
		this.slots = new Int32Array(this.size);
		const mask = this.size - 1;
		for (let i = 1; i < this.label.length; i++) {
			let at = (Math.imul(this.parent[i], 0x9e3779b1) ^
			    Math.imul(this.label[i], 0x85ebca6b)) >>> 7 & mask;
			while (this.slots[at])
				at = at + 1 & mask;
			this.slots[at] = i;
		}
	}

	add(i, from, node) {
		this.self[i] += from.self[node];
		this.samples[i] += from.samples[node];
		this.other[i] += from.other[node];
	}

	addTotal(i, from, node) {
		this.self[i] += from.total[node];
		this.samples[i] += from.totalSamples[node];
		this.other[i] += from.totalOther[node];
	}

	tree() {
		const tree = new Tree(this.label.length);
		for (const name of ["label", "parent", "depth", "self",
		    "samples", "other"])
			tree[name].set(this[name]);
		tree.origin = Int32Array.from(this.origin);
		return tree.sum();
	}
}

/* The recorded node that a node of a tree stands for, or -1. */
function originOf(tree, node) {
	return tree.origin ? tree.origin[node] : node;
}

/* The recorded tree, without samples. */
function emptyTree(data) {
	const tree = new Tree(0);
	tree.n = data.n;
	tree.label = data.label;
	tree.parent = data.parent;
	tree.depth = data.depth;
	tree.inOrder = true;
	for (const name of ["self", "samples", "other"])
		tree[name] = new Float64Array(data.n);
	return tree;
}

/* With the samples of a range of nanoseconds. */
function slicedTree(data, timeline, event, other, slice) {
	const tree = emptyTree(data);
	timeline.fill(tree, event, other, slice);
	return tree.sum();
}

/* With the samples of the cells from..to. */
function recordedTree(data, event, other, range) {
	const tree = emptyTree(data), cells = data.cells;
	for (let i = range ? firstFrom(cells.time, range[0], 0,
	    cells.n) : 0; i < cells.n; i++) {
		if (range && cells.time[i] >= range[1])
			break;
		if (cells.event[i] === event) {
			tree.self[cells.node[i]] += cells.weight[i];
			tree.samples[cells.node[i]] += cells.samples[i];
		}
		if (cells.event[i] === other)
			tree.other[cells.node[i]] += cells.weight[i];
	}
	return tree.sum();
}

/* Only stacks that have all of keep and none of drop. */
function filteredTree(from, keep, drop) {
	if (keep.length + drop.length === 0)
		return from;
	const tree = Object.assign(new Tree(0), from);
	for (const name of ["self", "samples", "other"])
		tree[name] = Float64Array.from(from[name]);
	const all = keep.concat(drop), seen = new Uint32Array(from.n);
	const wanted = Math.pow(2, keep.length) - 1;
	for (let i = 0; i < from.n; i++) {
		let bits = i ? seen[from.parent[i]] : 0;
		for (let k = 0; k < all.length; k++)
			if (all[k][from.label[i]])
				bits |= 1 << k;
		seen[i] = bits >>> 0;
		if (seen[i] !== wanted)
			tree.self[i] = tree.samples[i] = tree.other[i] = 0;
	}
	return tree.sum();
}

/* Without the frames of these labels, and calls of itself as one. */
function foldedTree(from, fold, recursion) {
	if (!recursion && fold.length === 0)
		return from;
	const grown = new Growing(from.label[0]);
	const place = new Uint32Array(from.n);
	grown.add(0, from, 0);
	for (let i = 1; i < from.n; i++) {
		const up = place[from.parent[i]], label = from.label[i];
		const gone = fold.some(labels => labels[label]) ||
		    recursion && grown.label[up] === label;
		place[i] = gone ? up : grown.child(up, label,
		    originOf(from, i));
		grown.add(place[i], from, i);
	}
	return grown.tree();
}

/* What is hot at the root, who calls it above. */
function reversedTree(from) {
	const grown = new Growing(from.label[0]);
	for (let i = 0; i < from.n; i++) {
		if (!from.self[i] && !from.samples[i] && !from.other[i])
			continue;
		let at = 0;
		for (let k = i; k > 0; k = from.parent[k])
			at = grown.child(at, from.label[k]);
		grown.add(at, from, i);
	}
	return grown.tree();
}

/* Around a function: who calls it, and what it calls, each share once. */
function aroundTrees(from, label) {
	const callers = new Growing(label), callees = new Growing(label);
	const place = new Int32Array(from.n).fill(-1);
	for (let i = 1; i < from.n; i++) {
		const up = place[from.parent[i]];
		if (up >= 0) {
			place[i] = callees.child(up, from.label[i],
			    originOf(from, i));
		} else if (from.label[i] === label) {
			place[i] = 0;
			let at = 0;
			for (let k = from.parent[i]; k > 0; k = from.parent[k])
				at = callers.child(at, from.label[k]);
			callers.addTotal(at, from, i);
		} else {
			continue;
		}
		callees.add(place[i], from, i);
	}
	return {callers: callers.tree(), callees: callees.tree()};
}

/* By label: own weight, and total with a stack's weight counted once. */
function functionsOf(tree, nlabels) {
	const list = [], rows = new Map(), on = new Int32Array(nlabels);
	const stack = [];
	for (let k = 0; k < tree.n; k++) {
		const i = tree.walked ? tree.walked[k] : k;
		const label = tree.label[i];
		while (stack.length > tree.depth[i])
			on[stack.pop()]--;
		stack.push(label);
		if (on[label]++ === 0 && i > 0 && tree.total[i] +
		    tree.totalOther[i] > 0) {
			let row = rows.get(label);
			if (!row) {
				row = {label, self: 0, total: 0, samples: 0,
					other: 0, totalOther: 0};
				rows.set(label, row);
				list.push(row);
			}
			row.total += tree.total[i];
			row.totalOther += tree.totalOther[i];
			row.samples += tree.totalSamples[i];
		}
		if (i > 0 && tree.self[i] + tree.other[i] > 0) {
			rows.get(label).self += tree.self[i];
			rows.get(label).other += tree.other[i];
		}
	}
	return list;
}

/* The weight under matching frames, a stack's weight counted once. */
function matchedOf(tree, labels) {
	const inside = new Uint8Array(tree.n);
	const result = {weight: 0, other: 0, frames: 0};
	for (let i = 0; i < tree.n; i++) {
		const above = i > 0 && inside[tree.parent[i]];
		const hit = labels[tree.label[i]];
		inside[i] = above || hit ? 1 : 0;
		if (hit && tree.width[i] > 0)
			result.frames++;
		if (hit && !above) {
			result.weight += tree.total[i];
			result.other += tree.totalOther[i];
		}
	}
	return result;
}
