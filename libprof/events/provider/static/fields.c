/* SPDX-License-Identifier: ISC */
/*
 * The fields of tracefs formats that users know (next_pid), as paths into
 * the tracepoint's prototype (next->pid), for the groups sched, irq, block
 * and net.  A field that no path gives stands here with its reason, and is
 * listed so.  Events share tables, and kernels differ: a row whose field is
 * not in the event's format, or whose path does not resolve, is passed over,
 * and the first of several rows for a field wins.  tests/unit/names-fields.c
 * holds each row against the running kernel.  Called by prov_static*.c.
 */
#include <string.h>

#include "events/names.h"

#define COMPUTED	"the kernel computes this field"
#define EXTRA		"the tracepoint's format file lacks this field"
#define CURRENT		"the current thread's name: use record --record-comm"

static const struct prof_field sched_switch[] = {
	{ "prev_comm", "prev->comm", NULL },
	{ "prev_pid", "prev->pid", NULL },
	{ "prev_prio", "prev->prio", NULL },
	{ "prev_state", NULL,
	    "the kernel computes this field from prev_state_raw" },
	{ "prev_state_raw", "prev_state", EXTRA },
	{ "next_comm", "next->comm", NULL },
	{ "next_pid", "next->pid", NULL },
	{ "next_prio", "next->prio", NULL },
}, sched_wakeup[] = {
	{ "comm", "p->comm", NULL },
	{ "pid", "p->pid", NULL },
	{ "prio", "p->prio", NULL },
	{ "target_cpu", "p->thread_info.cpu", NULL },
}, sched_migrate_task[] = {
	{ "comm", "p->comm", NULL },
	{ "pid", "p->pid", NULL },
	{ "prio", "p->prio", NULL },
	{ "orig_cpu", "p->thread_info.cpu", NULL },
	{ "dest_cpu", "dest_cpu", NULL },
}, sched_task[] = {
	{ "comm", "p->comm", NULL },
	{ "pid", "p->pid", NULL },
	{ "prio", "p->prio", NULL },
	{ "group_dead", "group_dead", NULL },
}, sched_tsk[] = {
	{ "comm", "tsk->comm", NULL },
	{ "pid", "tsk->pid", NULL },
	{ "runtime", "runtime", NULL },
	{ "vruntime", "vruntime", NULL },
	{ "oldprio", "tsk->prio", NULL },
	{ "newprio", NULL, COMPUTED },
	{ "tgid", "tsk->tgid", NULL },
	{ "ngid", NULL, COMPUTED },
	{ "mem_allowed", NULL, COMPUTED },
}, sched_move_numa[] = {
	{ "pid", "tsk->pid", NULL },
	{ "tgid", "tsk->tgid", NULL },
	{ "ngid", NULL, COMPUTED },
	{ "src_cpu", "src_cpu", NULL },
	{ "src_nid", NULL, COMPUTED },
	{ "dst_cpu", "dst_cpu", NULL },
	{ "dst_nid", NULL, COMPUTED },
}, sched_pair_numa[] = {
	{ "src_pid", "src_tsk->pid", NULL },
	{ "src_tgid", "src_tsk->tgid", NULL },
	{ "src_ngid", NULL, COMPUTED },
	{ "src_cpu", "src_cpu", NULL },
	{ "src_nid", NULL, COMPUTED },
	{ "dst_pid", "dst_tsk->pid", NULL },
	{ "dst_tgid", "dst_tsk->tgid", NULL },
	{ "dst_ngid", NULL, COMPUTED },
	{ "dst_cpu", "dst_cpu", NULL },
	{ "dst_nid", NULL, COMPUTED },
}, sched_skip_vma_numa[] = {
	{ "numa_scan_offset", "mm->numa_scan_offset", NULL },
	{ "vm_start", "vma->vm_start", NULL },
	{ "vm_end", "vma->vm_end", NULL },
	{ "reason", "reason", NULL },
}, sched_prepare_exec[] = {
	{ "interp", "bprm->interp", NULL },
	{ "filename", "bprm->filename", NULL },
	{ "pid", "task->pid", NULL },
	{ "comm", "task->comm", NULL },
}, sched_process_exec[] = {
	{ "filename", "bprm->filename", NULL },
	{ "pid", "p->pid", NULL },
	{ "old_pid", "old_pid", NULL },
}, sched_process_fork[] = {
	{ "parent_comm", "parent->comm", NULL },
	{ "parent_pid", "parent->pid", NULL },
	{ "child_comm", "child->comm", NULL },
	{ "child_pid", "child->pid", NULL },
}, sched_process_wait[] = {
	{ "comm", NULL, CURRENT },
	{ "pid", "pid->numbers[0].nr", NULL },
	{ "prio", NULL, CURRENT },
}, sched_kthread_stop[] = {
	{ "comm", "t->comm", NULL },
	{ "pid", "t->pid", NULL },
}, sched_kthread_work[] = {
	{ "work", "work", NULL },
	{ "function", "work->func", NULL },
	{ "worker", "worker", NULL },
}, irq_handler[] = {
	{ "irq", "irq", NULL },
	{ "name", "action->name", NULL },
}, irq_handler_exit[] = {
	{ "irq", "irq", NULL },
	{ "ret", "ret", NULL },
}, softirq[] = {
	{ "vec", "vec_nr", NULL },
}, tasklet[] = {
	{ "tasklet", "t", NULL },
	{ "func", "func", NULL },
};

/* A disk's number is that of its whole partition, part0. */
static const struct prof_field block_rq[] = {
	{ "dev", "rq->q->disk->part0->bd_dev", NULL },
	{ "sector", "rq->__sector", NULL },
	{ "nr_sector", NULL, COMPUTED },
	{ "bytes", "rq->__data_len", NULL },
	{ "ioprio", "rq->ioprio", NULL },
	{ "ioprio", "rq->bio->bi_ioprio", NULL },
	{ "error", NULL, COMPUTED },
	{ "rwbs", NULL, COMPUTED },
	{ "comm", NULL, CURRENT },
	{ "cmd", NULL, COMPUTED },
}, block_rq_remap[] = {
	{ "dev", "rq->q->disk->part0->bd_dev", NULL },
	{ "sector", "rq->__sector", NULL },
	{ "nr_sector", NULL, COMPUTED },
	{ "old_dev", "dev", NULL },
	{ "old_sector", "from", NULL },
	{ "nr_bios", NULL, COMPUTED },
	{ "rwbs", NULL, COMPUTED },
}, block_bio[] = {
	{ "dev", "bio->bi_bdev->bd_dev", NULL },
	{ "sector", "bio->bi_iter.bi_sector", NULL },
	{ "nr_sector", NULL, COMPUTED },
	{ "nr_sectors", "nr_sectors", NULL },
	{ "new_sector", "new_sector", NULL },
	{ "error", NULL, COMPUTED },
	{ "rwbs", NULL, COMPUTED },
	{ "comm", NULL, CURRENT },
}, block_bio_remap[] = {
	{ "dev", "bio->bi_bdev->bd_dev", NULL },
	{ "sector", "bio->bi_iter.bi_sector", NULL },
	{ "nr_sector", NULL, COMPUTED },
	{ "old_dev", "dev", NULL },
	{ "old_sector", "from", NULL },
	{ "rwbs", NULL, COMPUTED },
}, block_buffer[] = {
	{ "dev", "bh->b_bdev->bd_dev", NULL },
	{ "sector", "bh->b_blocknr", NULL },
	{ "size", "bh->b_size", NULL },
}, block_plug[] = {
	{ "nr_rq", "depth", NULL },
	{ "comm", NULL, CURRENT },
}, block_zone[] = {
	{ "dev", "q->disk->part0->bd_dev", NULL },
	{ "zno", "zno", NULL },
	{ "sector", "sector", NULL },
	{ "nr_sectors", "nr_sectors", NULL },
};

#define NETWORK_ORDER	"the kernel converts the byte order of this field"
#define SHARED_INFO	\
	"the kernel computes this field from the socket buffer"

static const struct prof_field net_skb[] = {
	{ "skbaddr", "skb", NULL },
	{ "len", "skb->len", NULL },
	{ "name", "skb->dev->name", NULL },
}, net_dev_xmit[] = {
	{ "skbaddr", "skb", NULL },
	{ "len", "skb_len", NULL },
	{ "rc", "rc", NULL },
	{ "name", "dev->name", NULL },
}, net_dev_xmit_timeout[] = {
	{ "name", "dev->name", NULL },
	{ "driver", NULL, COMPUTED },
	{ "queue_index", "queue_index", NULL },
}, net_long[] = {
	/* The first eight with a path are recorded by default. */
	{ "name", "skb->dev->name", NULL },
	{ "skbaddr", "skb", NULL },
	{ "len", "skb->len", NULL },
	{ "data_len", "skb->data_len", NULL },
	{ "truesize", "skb->truesize", NULL },
	{ "napi_id", "skb->napi_id", NULL },
	{ "queue_mapping", "skb->queue_mapping", NULL },
	{ "hash", "skb->hash", NULL },
	{ "vlan_tci", "skb->vlan_tci", NULL },
	{ "ip_summed", "skb->ip_summed", NULL },
	{ "l4_hash", "skb->l4_hash", NULL },
	{ "vlan_tagged", NULL, COMPUTED },
	{ "vlan_proto", NULL, NETWORK_ORDER },
	{ "protocol", NULL, NETWORK_ORDER },
	{ "mac_header_valid", NULL, COMPUTED },
	{ "mac_header", NULL, COMPUTED },
	{ "network_offset", NULL, COMPUTED },
	{ "transport_offset_valid", NULL, COMPUTED },
	{ "transport_offset", NULL, COMPUTED },
	{ "tx_flags", NULL, SHARED_INFO },
	{ "nr_frags", NULL, SHARED_INFO },
	{ "gso_size", NULL, SHARED_INFO },
	{ "gso_segs", NULL, SHARED_INFO },
	{ "gso_type", NULL, SHARED_INFO },
};

#define ROWS(table)	table, sizeof(table) / sizeof((table)[0])

static const struct field_set {
	const char		*se_event;
	const struct prof_field	*se_field;
	size_t			 se_n;
} sets[] = {
	{ "sched_switch", ROWS(sched_switch) },
	{ "sched_wakeup", ROWS(sched_wakeup) },
	{ "sched_wakeup_new", ROWS(sched_wakeup) },
	{ "sched_waking", ROWS(sched_wakeup) },
	{ "sched_migrate_task", ROWS(sched_migrate_task) },
	{ "sched_process_exit", ROWS(sched_task) },
	{ "sched_process_free", ROWS(sched_task) },
	{ "sched_wait_task", ROWS(sched_task) },
	{ "sched_process_hang", ROWS(sched_tsk) },
	{ "sched_stat_runtime", ROWS(sched_tsk) },
	{ "sched_stat_wait", ROWS(sched_tsk) },
	{ "sched_stat_sleep", ROWS(sched_tsk) },
	{ "sched_stat_iowait", ROWS(sched_tsk) },
	{ "sched_stat_blocked", ROWS(sched_tsk) },
	{ "sched_pi_setprio", ROWS(sched_tsk) },
	{ "sched_skip_cpuset_numa", ROWS(sched_tsk) },
	{ "sched_move_numa", ROWS(sched_move_numa) },
	{ "sched_stick_numa", ROWS(sched_pair_numa) },
	{ "sched_swap_numa", ROWS(sched_pair_numa) },
	{ "sched_skip_vma_numa", ROWS(sched_skip_vma_numa) },
	{ "sched_prepare_exec", ROWS(sched_prepare_exec) },
	{ "sched_process_exec", ROWS(sched_process_exec) },
	{ "sched_process_fork", ROWS(sched_process_fork) },
	{ "sched_process_wait", ROWS(sched_process_wait) },
	{ "sched_kthread_stop", ROWS(sched_kthread_stop) },
	{ "sched_kthread_work_execute_start", ROWS(sched_kthread_work) },
	{ "sched_kthread_work_queue_work", ROWS(sched_kthread_work) },
	{ "irq_handler_entry", ROWS(irq_handler) },
	{ "irq_handler_exit", ROWS(irq_handler_exit) },
	{ "softirq_entry", ROWS(softirq) },
	{ "softirq_exit", ROWS(softirq) },
	{ "softirq_raise", ROWS(softirq) },
	{ "tasklet_entry", ROWS(tasklet) },
	{ "tasklet_exit", ROWS(tasklet) },
	{ "blk_zone_append_update_request_bio", ROWS(block_rq) },
	{ "block_io_done", ROWS(block_rq) },
	{ "block_io_start", ROWS(block_rq) },
	{ "block_rq_complete", ROWS(block_rq) },
	{ "block_rq_error", ROWS(block_rq) },
	{ "block_rq_insert", ROWS(block_rq) },
	{ "block_rq_issue", ROWS(block_rq) },
	{ "block_rq_merge", ROWS(block_rq) },
	{ "block_rq_requeue", ROWS(block_rq) },
	{ "block_rq_remap", ROWS(block_rq_remap) },
	{ "blkdev_zone_mgmt", ROWS(block_bio) },
	{ "block_bio_backmerge", ROWS(block_bio) },
	{ "block_bio_bounce", ROWS(block_bio) },
	{ "block_bio_complete", ROWS(block_bio) },
	{ "block_bio_frontmerge", ROWS(block_bio) },
	{ "block_bio_queue", ROWS(block_bio) },
	{ "block_getrq", ROWS(block_bio) },
	{ "block_split", ROWS(block_bio) },
	{ "block_bio_remap", ROWS(block_bio_remap) },
	{ "block_dirty_buffer", ROWS(block_buffer) },
	{ "block_touch_buffer", ROWS(block_buffer) },
	{ "block_plug", ROWS(block_plug) },
	{ "block_unplug", ROWS(block_plug) },
	{ "blk_zone_wplug_bio", ROWS(block_zone) },
	{ "disk_zone_wplug_add_bio", ROWS(block_zone) },
	{ "net_dev_queue", ROWS(net_skb) },
	{ "netif_receive_skb", ROWS(net_skb) },
	{ "netif_rx", ROWS(net_skb) },
	{ "net_dev_xmit", ROWS(net_dev_xmit) },
	{ "net_dev_xmit_timeout", ROWS(net_dev_xmit_timeout) },
	{ "net_dev_start_xmit", ROWS(net_long) },
	{ "napi_gro_frags_entry", ROWS(net_long) },
	{ "napi_gro_receive_entry", ROWS(net_long) },
	{ "netif_receive_skb_entry", ROWS(net_long) },
	{ "netif_receive_skb_list_entry", ROWS(net_long) },
	{ "netif_rx_entry", ROWS(net_long) },
};

static const struct field_set *
set_find(const char *event)
{
	for (size_t at = 0; at < sizeof(sets) / sizeof(sets[0]); at++)
		if (strcmp(sets[at].se_event, event) == 0)
			return (&sets[at]);
	return (NULL);
}

/* The n-th event with rows; NULL: no more. */
const char *
prof_field_event(size_t n)
{
	return (n < sizeof(sets) / sizeof(sets[0]) ? sets[n].se_event : NULL);
}

const struct prof_field *
prof_field_at(const char *event, size_t n)
{
	const struct field_set *set = set_find(event);

	return (set != NULL && n < set->se_n ? &set->se_field[n] : NULL);
}
