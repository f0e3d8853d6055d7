/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The mounts that a process sees, read again only after they changed: a host can have thousands of
 * mounts, and the kernel lets no mount come or go while it lists them.  For all threads.
 */
#ifndef MOUNT_TABLES_H
#define MOUNT_TABLES_H

#include "agent/region/mounts.h"

enum mount_view {
	MOUNTS_OF_DARTD,
	MOUNTS_OF_HOST, /* of PID 1 */
	MOUNT_VIEWS,
};

/*
 * Sets *@mounts to the mounts of now, which stay the same until mount_tables__give().  Returns 0,
 * or -errno as mounts__read() does.
 */
int mount_tables__take(enum mount_view view, const struct mounts **mounts);
void mount_tables__give(enum mount_view view, const struct mounts *mounts);

#endif /* MOUNT_TABLES_H */
