/* SPDX-License-Identifier: ISC */
/*
 * The functions as a table: what the graph shows, for those who read rather
 * than look, and for those who cannot look.  Only the rows in sight exist.
 */
"use strict";

const LIST_ROW = 24, LIST_MORE = 10;

class FunctionList {
	constructor(page, section, body, caption) {
		this.page = page;
		this.section = section;
		this.body = body;
		this.caption = caption;
		this.sort = "self";
		this.rows = [];
		section.addEventListener("scroll", () => this.draw());
		for (const button of section.querySelectorAll("[data-sort]"))
			button.addEventListener("click", () => {
				this.sort = button.dataset.sort;
				this.arrange();
			});
	}

	/* Functions of a tree; labels: which of them, or null for all. */
	show(all, labels) {
		this.all = all;
		this.labels = labels;
		this.arrange();
	}

	arrange() {
		const names = this.page.data.names, key = this.sort;
		this.rows = this.all.filter(row =>
		    !this.labels || this.labels[row.label]);
		this.rows.sort((a, b) => (key === "name" ? 0 :
		    this.page.rank(b, key) - this.page.rank(a, key)) ||
		    a.label - b.label);
		for (const button of
		    this.section.querySelectorAll("[data-sort]"))
			button.parentElement.setAttribute("aria-sort",
			    button.dataset.sort !== key ? "none" :
			    key === "name" ? "ascending" : "descending");
		this.caption.textContent = `${this.rows.length} functions` +
		    (this.labels ? " that match" : "") + ", by " +
		    (key === "name" ? "name" : `${key}, largest first`);
		this.section.scrollTop = 0;
		this.names = names;
		this.draw();
	}

	draw() {
		if (this.section.hidden)
			return;
		const first = Math.max(0, Math.floor(this.section.scrollTop /
		    LIST_ROW) - LIST_MORE);
		const last = Math.min(this.rows.length, first + 2 * LIST_MORE +
		    Math.ceil(this.section.clientHeight / LIST_ROW));
		const body = document.createDocumentFragment();
		body.append(this.gap(first));
		for (let i = first; i < last; i++)
			body.append(this.row(this.rows[i], i));
		body.append(this.gap(this.rows.length - last));
		this.body.replaceChildren(body);
	}

	gap(rows) {
		const tr = document.createElement("tr");
		tr.style.height = rows * LIST_ROW + "px";
		tr.setAttribute("aria-hidden", "true");
		return tr;
	}

	row(row, i) {
		const tr = document.createElement("tr");
		const {page} = this;
		tr.setAttribute("aria-rowindex", i + 2);
		for (const value of page.cellsOf(row))
			tr.insertCell().textContent = value;
		const button = document.createElement("button");
		const name = this.names[row.label];
		const at = page.data.places[row.label];
		button.textContent = (name.length > 200 ?
		    name.slice(0, 200) + "\u2026" : name) +
		    at.replace(/^.*\/|^(?=.)/, " ");
		button.title = at + (at && "\n") + page.moduleOf(row.label);
		button.addEventListener("click", () =>
		    page.around(row.label));
		tr.insertCell().append(button);
		return tr;
	}
}
