/* SPDX-License-Identifier: GPL-2.0-only */
/* A service manager as PID 1 of the guest. */
#ifndef QEMU_MANAGER_H
#define QEMU_MANAGER_H

/*
 * Forks: PID 1 becomes the program at @path, and this function returns in the child, 0
 * when the manager notifies that it is ready (sd_notify(3)), or -errno.  The guest's
 * descriptors must be close-on-exec.
 */
int manager__start(const char *path);

/*
 * Lets systemd as PID 1 stop its services, unmount file systems as far as possible and power off.
 */
_Noreturn void manager__power_off(void);

#endif
