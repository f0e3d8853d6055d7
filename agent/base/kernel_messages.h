/* SPDX-License-Identifier: GPL-2.0-only */
/* Sockets on which the kernel tells of changes: netlink(7). */
#ifndef KERNEL_MESSAGES_H
#define KERNEL_MESSAGES_H

#include <linux/filter.h>
#include <stdint.h>

#include <libdart/error.h>

/* Group of the kernel's uevents; another group has the events of udev. */
#define KERNEL_MESSAGES_UEVENTS 1

/*
 * Opens a socket of this protocol that does not block, for the messages of these groups
 * that pass @filter, unless that is NULL; returns it, or -errno.
 */
int kernel_messages__open(int protocol, uint32_t groups, const struct sock_fprog *filter,
			  struct dart_error *error);

#endif /* KERNEL_MESSAGES_H */
