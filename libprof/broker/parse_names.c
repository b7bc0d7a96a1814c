/* SPDX-License-Identifier: ISC */
/* Functions of ELF files and of perf maps, in the parser: names.h. */
#include <errno.h>
#include <string.h>

#include "elf/debug_file.h"
#include "names.h"

struct answer {
	struct prof_task *an_task;
	struct prof_named_head an_head;
	struct prof_table an_table;
	struct prof_buf	 an_functions;
	bool		 an_begun;
};

/* Each function once; places come by address, so it is the last or new. */
static void
put_function(struct answer *answer, const struct prof_symbol *symbol)
{
	const struct prof_table_function function = {
		.tf_address = symbol->sy_address,
		.tf_size = symbol->sy_size,
		.tf_name = symbol->sy_name,
		.tf_module = "",
	};

	if (answer->an_begun &&
	    answer->an_table.tb_last == symbol->sy_address)
		return;
	if (answer->an_functions.bf_len + strlen(symbol->sy_name) + 32 >
	    PROF_NAMES_BYTES) {
		answer->an_head.nh_dropped++;
		return;
	}
	prof_table_pack_function(&answer->an_functions, &answer->an_table,
	    &function);
	answer->an_begun = true;
}

static void
send_answer(struct answer *answer)
{
	const struct prof_buf *functions = &answer->an_functions;
	const size_t bytes = functions->bf_failed ? 0 : functions->bf_len;

	prof_task_answer(answer->an_task, sizeof(answer->an_head) + bytes);
	prof_task_send(answer->an_task, &answer->an_head,
	    sizeof(answer->an_head));
	prof_task_send(answer->an_task, functions->bf_data, bytes);
	prof_buf_free(&answer->an_functions);
}

/* The places of a request that is as long as it says. */
static const uint64_t *
places_of(const struct prof_task *task, struct prof_named_ask *ask)
{
	if (task->ta_size < sizeof(*ask))
		return (NULL);
	memcpy(ask, task->ta_bytes, sizeof(*ask));
	if (ask->na_n != (task->ta_size - sizeof(*ask)) / sizeof(uint64_t) ||
	    ask->na_id_len > sizeof(((struct prof_image *)0)->im_id))
		return (NULL);
	return ((const uint64_t *)((const char *)task->ta_bytes +
	    sizeof(*ask)));
}

static int
ask_debug(void *task, struct prof_debug_want *want)
{
	return (prof_task_ask(task, want, sizeof(*want)));
}

static void
look_up(struct answer *answer, struct prof_module *module,
    const uint64_t *place, uint64_t n)
{
	const struct prof_module_files files = { .mf_same_boot = false };
	struct prof_named_head *head = &answer->an_head;
	struct prof_symbol symbol;
	uint64_t address, i;
	unsigned s;

	module->mo_place = place;
	module->mo_nplaces = n;
	/* Looking for one address is looking at the file. */
	(void)prof_module_find(module, &files, 0, &symbol);
	head->nh_why = (uint32_t)module->mo_why;
	head->nh_nsegments = module->mo_nsegments;
	for (s = 0; s < module->mo_nsegments; s++) {
		head->nh_segment[s][0] = module->mo_segment[s].so_offset;
		head->nh_segment[s][1] = module->mo_segment[s].so_size;
		head->nh_segment[s][2] = module->mo_segment[s].so_address;
	}
	for (i = 0; i < n; i++)
		if (prof_module_address(module, &files, place[i], &address) &&
		    prof_module_find(module, &files, address, &symbol))
			put_function(answer, &symbol);
}

void
prof_parse_names(struct prof_task *task)
{
	struct answer answer = { .an_task = task,
	    .an_table.tb_kind = PROF_TABLE_FILE };
	char vdso[] = "[vdso]", other[] = "";
	struct prof_image image = { .im_path = other };
	struct prof_module module = { .mo_image = &image };
	struct prof_named_ask ask;
	const uint64_t *place = places_of(task, &ask);

	if (place == NULL)
		return;
	if (ask.na_is_vdso)
		image.im_path = vdso;
	image.im_dev = ask.na_dev;
	image.im_ino = ask.na_ino;
	image.im_written_ns = ask.na_written_ns;
	image.im_id_len = ask.na_id_len;
	memcpy(image.im_id, ask.na_id, sizeof(image.im_id));
	module.mo_held = task->ta_fd + 1;
	prof_debug_open_by(ask_debug, task);
	look_up(&answer, &module, place, ask.na_n);
	prof_module_fini(&module);
	send_answer(&answer);
}

void
prof_parse_map(struct prof_task *task)
{
	struct answer answer = { .an_task = task,
	    .an_table.tb_kind = PROF_TABLE_JIT };
	struct prof_named_ask ask;
	const uint64_t *place = places_of(task, &ask);
	struct prof_symtab *symtab;
	struct prof_symbol symbol;
	uint64_t i;

	if (place == NULL)
		return;
	answer.an_head.nh_why = PROF_UNNAMED_ANON;
	answer.an_head.nh_left = ask.na_most;
	symtab = prof_is_jit_dump(task->ta_fd) ?
	    prof_symtab_of_jit_dump(task->ta_fd, &answer.an_head.nh_left) :
	    prof_symtab_of_perf_map(task->ta_fd, &answer.an_head.nh_left);
	if (symtab == NULL && errno == EFBIG)
		answer.an_head.nh_dropped = ask.na_n;
	/* Which line came later is not kept, so none may lie on another. */
	for (i = 0; symtab != NULL && i < ask.na_n; i++)
		if (prof_symtab_find_piece(symtab, place[i], &symbol))
			put_function(&answer, &symbol);
	prof_symtab_free(symtab);
	send_answer(&answer);
}
