/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Descriptors that records share: several sources have a record of each cgroup, and a host can have
 * more cgroups than a tenth of the descriptors of dartd.  For the main loop alone.
 */
#ifndef SHARED_FILE_H
#define SHARED_FILE_H

#include <stdint.h>
#include <sys/types.h>

struct shared_file {
	dev_t device;
	ino_t inode;
	int fd;
	uint32_t users;
};

/*
 * Sets @file to the descriptor of the file that @fd refers to, a duplicate of @fd if no record has
 * one yet.  Returns 0 or -errno; the caller ends with shared_file__give().
 */
int shared_file__take(int fd, struct shared_file **file);
/* Closes the descriptor after its last user. */
void shared_file__give(struct shared_file *file);

#endif /* SHARED_FILE_H */
