/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * TCP ports on which processes listen.  The kernel lists the listening sockets of a network
 * namespace, and to get them it walks its table of all connections of the host.  So processes that
 * are looked up together share one list.
 */
#ifndef APPLICATION_LISTENING_H
#define APPLICATION_LISTENING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct listening_socket {
	uint64_t inode;
	uint16_t port;
};

/* The sockets of a network namespace, in the order of their inodes. */
struct listening_list {
	uint64_t namespace; /* its inode */
	struct listening_socket *sockets;
	size_t count;
};

/* All 0 without lists. */
struct listening {
	struct listening_list *lists;
	size_t count;
	bool is_kept;
	uint64_t reads; /* of lists, since the start */
};

/* Until listening__drop(), each namespace is asked once, at its first process. */
void listening__keep(struct listening *listening);
void listening__drop(struct listening *listening);

/*
 * The lowest TCP port on which the process listens; 0: none, or memory is short.  Without
 * listening__keep(), as of now.
 */
uint16_t listening__port(struct listening *listening, pid_t pid);

#endif /* APPLICATION_LISTENING_H */
