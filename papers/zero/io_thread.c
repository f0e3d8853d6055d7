// SPDX-License-Identifier: GPL-2.0-only
/* When I/O threads run, and how long: see io_thread.h. */
#include "io_thread.h"

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

void io_thread__work(struct io_thread *thread, uint64_t now_ns, uint64_t work_ns)
{
	thread->free_ns = later(thread->free_ns, now_ns) + work_ns;
	/* While it polls, time counts from the first fragment to the last. */
	if (!thread->polls)
		thread->busy_ns += work_ns;
}

void io_thread__wake(struct io_thread *thread, uint64_t now_ns, uint64_t wake_ns, uint64_t cpu_ns)
{
	if (thread->polls || thread->free_ns > now_ns)
		return;
	thread->free_ns = now_ns + wake_ns;
	thread->busy_ns += cpu_ns;
}

void io_thread__post(struct io_thread *thread, uint64_t now_ns, uint32_t fragments)
{
	if (!thread->in_flight)
		thread->since_ns = later(thread->free_ns, now_ns);
	thread->in_flight += fragments;
}

void io_thread__complete(struct io_thread *thread, uint32_t fragments)
{
	thread->in_flight -= fragments;
	if (thread->polls && !thread->in_flight)
		thread->busy_ns += thread->free_ns - thread->since_ns;
}
