/* SPDX-License-Identifier: GPL-2.0-only */
/* The devices that a cgroup used, and the I/O of each. */
#ifndef CGROUP_IO_H
#define CGROUP_IO_H

#include <bpf/bpf_core_read.h>

#include "sample.h"

/*
 * Limit of devices of a cgroup that are visited, because preemption is off meanwhile, and users may
 * be allowed to make devices.
 */
#define DEVICES_MAX 128

#define IO(member, direction) BPF_CORE_READ(blkg, iostat.cur.member[direction])

static __always_inline void add_io(const struct blkcg_gq *blkg, struct dart_zero_cgroup_io *sum)
{
	sum->rbytes += IO(bytes, BLKG_IOSTAT_READ);
	sum->wbytes += IO(bytes, BLKG_IOSTAT_WRITE);
	sum->dbytes += IO(bytes, BLKG_IOSTAT_DISCARD);
	sum->rios += IO(ios, BLKG_IOSTAT_READ);
	sum->wios += IO(ios, BLKG_IOSTAT_WRITE);
	sum->dios += IO(ios, BLKG_IOSTAT_DISCARD);
}

/* NULL: the io controller is not enabled, or the kernel does not keep its sums up to date. */
static __always_inline const struct blkcg *io_state(const struct cgroup *cgroup)
{
	if (!BPF_CORE_READ(cgroup, rstat_cpu))
		return NULL;
	return (const void *)CGROUP_STATE(cgroup, io);
}

#endif /* CGROUP_IO_H */
