/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The time that a disk was busy, @io_ticks.  The kernel adds to it when a request begins or ends, so
 * while requests are in flight the program that gathers adds the time since then (see
 * bpf/gather/disks.bpf.c).  If the last request ends in this moment, that is more than the kernel
 * adds, and the next sum would be lower.
 */
#ifndef DISK_TICKS_H
#define DISK_TICKS_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/dart_zero_samples.h>

/* Of the last row; zeroed before the first row. */
struct disk_ticks {
	bool is_set;
	uint64_t requests; /* that ended */
	uint64_t io_ticks; /* ms */
};

/*
 * Makes @io->io_ticks at least the time of the last row, and remembers it.  Lower times are kept
 * where the counters began anew: where the number of requests is lower, too, or where the kernel's
 * 32 bits overflowed.
 */
static inline void disk_ticks__keep(struct disk_ticks *last, struct dart_zero_disk_io *io)
{
	const uint64_t requests = io->read_ios + io->write_ios + io->discard_ios + io->flush_ios;
	const bool has_fallen = (int32_t)(uint32_t)(io->io_ticks - last->io_ticks) < 0;

	if (last->is_set && has_fallen && requests >= last->requests)
		io->io_ticks = last->io_ticks;
	*last = (struct disk_ticks){ true, requests, io->io_ticks };
}

#endif /* DISK_TICKS_H */
