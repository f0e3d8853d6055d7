/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An I/O thread in virtual time: it polls as long as READs of its hosts are in flight, or
 * blocks until there is an event, which costs time to wake up (ZERO, section 4.3, "Hybrid
 * I/O model").
 */
#ifndef PAPERS_IO_THREAD_H
#define PAPERS_IO_THREAD_H

#include <stdbool.h>
#include <stdint.h>

enum io_kind {
	IO_POLL,
	IO_EVENT,
	IO_HYBRID, /* a thread of each kind: hosts with few fragments are polled */
};

/* Hosts with fewer fragments are polled: the paper's number. */
#define IO_POLLED_FRAGMENTS 32

struct io_thread {
	bool polls;
	uint64_t free_ns; /* the thread is busy until then */
	uint64_t busy_ns; /* CPU time */
	uint32_t in_flight; /* fragments */
	uint64_t since_ns; /* completions wait, or the thread polls, since then */
};

/* Does @work_ns of work, from @now_ns on or when all before is done. */
void io_thread__work(struct io_thread *thread, uint64_t now_ns, uint64_t work_ns);
/* There is an event at @now_ns: a thread that blocks runs @wake_ns later, for @cpu_ns more. */
void io_thread__wake(struct io_thread *thread, uint64_t now_ns, uint64_t wake_ns, uint64_t cpu_ns);
/* Counts posted fragments; completed ones, or ones given up. */
void io_thread__post(struct io_thread *thread, uint64_t now_ns, uint32_t fragments);
void io_thread__complete(struct io_thread *thread, uint32_t fragments);

#endif /* PAPERS_IO_THREAD_H */
