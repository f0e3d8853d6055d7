/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory of clients: memfds that processes of the host create, write and hand to dartd, which maps
 * them for reading at the addresses after the region.  Their seals guarantee that the bytes under
 * the mapping remain the bytes that the process writes.
 *
 * The process gets a descriptor in return, which it keeps while it uses the memory: dartd opened
 * this file and locked it (flock(2)).  The kernel drops the lock with the last copy of the
 * descriptor, and inotify(7) reports the close: then the memory is gone.  The memfd itself would
 * not do: the kernel reports nothing about files that memfd_create() opened.
 *
 * The service manager keeps each memory for the next dartd, see client_memory_kept.h.
 */
#ifndef CLIENT_MEMORY_H
#define CLIENT_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

#include <libdart/error.h>

#include "agent/base/fd_store.h"
#include "agent/region/region.h"

struct client_memories;

struct client_memory {
	TAILQ_ENTRY(client_memory) link; /* in the order of @data */
	struct client_memories *memories;
	uint32_t id; /* differs from the ids of all extents and slices of the region */
	int fd; /* an open file of dartd and of the service manager, not of the process */
	int watch; /* of inotify */
	uint64_t inode;
	uint64_t data; /* bytes from the start of the region */
	uint32_t pages;
	uid_t creator;
	bool is_closing; /* a file was closed, but a lock was left */
	bool is_gone; /* reported */
	/* The notes for the next dartd, see client_memory_kept.h. */
	bool is_offered; /* to the service manager */
	int notes; /* memfd; -1: the next dartd does not get this memory */
	uint32_t number; /* in the name of @notes */
	uint64_t noted, crossed_out; /* bytes of @notes */
};

/* Called with the id of a memory whose process has ended. */
typedef void client_memory_gone(void *owner, uint32_t id);

struct client_memories {
	TAILQ_HEAD(client_memory_list, client_memory) list;
	const struct region *region;
	struct fd_store *kept;
	uint64_t base; /* RDMA address of the region */
	client_memory_gone *on_gone;
	void *owner;
	int inotify;
	sd_event_source *closed;
	sd_event_source *later; /* checks again, because the kernel reports closes too early */
	uint64_t delay; /* us, of @later; 0: it is off */
	uint32_t last_id;
	bool is_ending; /* removed memory is still kept */
	bool needs_writable; /* the kernel does not pin read-only memory */
};

/* @base: where peers find the region, see client_kept__base(). */
int client_memories__open(struct client_memories *memories, const struct region *region,
			  struct fd_store *kept, uint64_t base, sd_event *loop,
			  client_memory_gone *on_gone, void *owner, struct dart_error *error);
/* dartd ends: the service manager keeps memory that is removed from now on. */
void client_memories__end(struct client_memories *memories);
/* All memories were removed. */
void client_memories__close(struct client_memories *memories);

/* Is @fd memory that a client created, and not a descriptor that dartd lent? */
bool client_memory__is(int fd);
/* NULL: dartd does not have this memory. */
struct client_memory *client_memory__find(const struct client_memories *memories, int fd);
/*
 * Checks and maps the memfd @fd, which stays the caller's, and hands it to the service manager.
 * *@proof is a descriptor for the process, which the caller closes; -1 on error.  -EINVAL: the
 * memfd is not sealed, or of a wrong size; -EEXIST: *@memory is this memfd.
 */
int client_memory__add(struct client_memories *memories, int fd, struct client_memory **memory,
		       int *proof, struct dart_error *error);
/*
 * The same for the memory that the last dartd handed over as @name, at its former address if that
 * is free.  Drops memory that is gone or cannot be used, and returns -errno.
 */
int client_memory__restore(struct client_memories *memories, const char *name,
			   struct client_memory **memory);
/* Unmaps the memory; the service manager forgets it.  Nobody may READ it any more. */
void client_memory__remove(struct client_memory *memory);

#endif /* CLIENT_MEMORY_H */
