/* SPDX-License-Identifier: ISC */
/*
 * How many page faults the kernel counts and takes no sample of, on all CPUs,
 * without any program of ours: by its own count and its own rings.
 *
 *	unsampled
 *
 * Says "ready" when it looks, and the number when standard input ends.
 */
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RING_BYTES	(16UL << 20)	/* a million samples */

struct cpu {
	int				 cp_fd;
	struct perf_event_mmap_page	*cp_ring;
};

static void
die(const char *what)
{
	perror(what);
	exit(125);
}

/* One that is not online has no faults. */
static struct cpu
look_at(int number, size_t page)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_TID,
		.disabled = 1,
		.watermark = 1,
		.wakeup_watermark = 1U << 31,
	};
	struct cpu cpu;

	cpu.cp_fd = (int)syscall(SYS_perf_event_open, &attr, -1, number, -1,
	    PERF_FLAG_FD_CLOEXEC);
	if (cpu.cp_fd == -1 && errno == ENODEV)
		return (cpu);
	if (cpu.cp_fd == -1)
		die("perf_event_open");
	cpu.cp_ring = mmap(NULL, page + RING_BYTES, PROT_READ | PROT_WRITE,
	    MAP_SHARED, cpu.cp_fd, 0);
	if (cpu.cp_ring == MAP_FAILED)
		die("mmap");
	if (ioctl(cpu.cp_fd, PERF_EVENT_IOC_ENABLE, 0) == -1)
		die("enable");
	return (cpu);
}

/* Counted, but for those that have a sample; all must have found room. */
static uint64_t
unsampled(const struct cpu *cpu, size_t page)
{
	const uint8_t *records = (const uint8_t *)cpu->cp_ring + page;
	const struct perf_event_header *record;
	uint64_t head, counted;

	if (ioctl(cpu->cp_fd, PERF_EVENT_IOC_DISABLE, 0) == -1)
		die("disable");
	if (read(cpu->cp_fd, &counted, sizeof(counted)) != sizeof(counted))
		die("read");
	head = cpu->cp_ring->data_head;
	if (head + 2 * page > RING_BYTES) {
		fprintf(stderr, "a ring is full\n");
		exit(125);
	}
	for (uint64_t at = 0; at < head; at += record->size) {
		record = (const struct perf_event_header *)(records + at);
		counted -= record->type == PERF_RECORD_SAMPLE;
	}
	return (counted);
}

int
main(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const int ncpus = (int)sysconf(_SC_NPROCESSORS_CONF);
	struct cpu *cpus = calloc((size_t)ncpus, sizeof(*cpus));
	uint64_t sum = 0;
	char byte;

	if (cpus == NULL)
		die("calloc");
	for (int i = 0; i < ncpus; i++)
		cpus[i] = look_at(i, page);
	puts("ready");
	fflush(stdout);
	while (read(0, &byte, 1) == 1)
		continue;
	for (int i = 0; i < ncpus; i++)
		if (cpus[i].cp_fd != -1)
			sum += unsampled(&cpus[i], page);
	printf("%llu\n", (unsigned long long)sum);
	free(cpus);
	return (0);
}
