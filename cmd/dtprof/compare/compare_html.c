/* SPDX-License-Identifier: ISC */
/*
 * A comparison as a page in one file: the tables of compare_text.c and the
 * pictures of compare_draw.c, with no script, a style that stands in the page
 * and a policy that allows nothing else.
 *
 * Called by cmd_compare.c.
 */
#include "compare.h"
#include "compare_page.h"

static void
put_page(const void *arg, struct out *out)
{
	out_mem(out, (const char *)compare_page_head,
	    sizeof(compare_page_head));
	compare_text(arg, TABLE_HTML, out, NULL);
	out_mem(out, (const char *)compare_page_tail,
	    sizeof(compare_page_tail));
}

int
compare_html(const struct compare *cm, const char *path)
{
	return (file_replace_by("compare", path, put_page, cm));
}
