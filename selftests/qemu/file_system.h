/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The guest's file system: the host's, read-only over 9p, below a tmpfs that
 * takes all changes and ends with the guest.  Or a directory of the host, which keeps
 * the changes.
 */
#ifndef QEMU_FILE_SYSTEM_H
#define QEMU_FILE_SYSTEM_H

#include "guest_config.h"

/* /dev, /proc and /sys of the initramfs.  Returns 0 or -errno. */
int file_system__mount_kernel(void);

/*
 * Enter that file system, for this process and all kernel threads.
 * Needs the modules 9p and overlay.  Returns 0, or -errno with the mount point
 * that failed in @where.
 */
int file_system__enter(const struct guest_config *config, const char **where);

#endif
