/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory of clients that the service manager keeps for the next dartd, with notes: the requests
 * that registered the slices in it.  The names of these descriptors in the fd store are
 *
 *	memory-INODE,BASE,DATA	the memfd of a process
 *	notes-INODE,NUMBER	a memfd of dartd: one JSON object in a line for each slice
 *
 * in hexadecimal numbers; BASE: the RDMA address of the region.  Without a service manager, and
 * beyond CLIENT_KEPT_MAX memories, the next dartd gets nothing: processes register again then.
 */
#ifndef CLIENT_MEMORY_KEPT_H
#define CLIENT_MEMORY_KEPT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <libdart/error.h>

#include "agent/base/fd_store.h"

#define CLIENT_KEPT_MEMORY "memory-"
#define CLIENT_KEPT_NOTES "notes-"
/* Limits of all users, and of one user other than root.  A memory takes two of the descriptors. */
#define CLIENT_KEPT_MAX 128
#define CLIENT_KEPT_OF_USER 32

struct client_memories;
struct client_memory;

/* A line of the notes; without bytes: none. */
struct client_note {
	uint64_t offset;
	uint32_t length; /* bytes, with the newline */
};

/* The RDMA address at which the region of the last dartd began; 0 if it is not known. */
uint64_t client_kept__base(const struct fd_store *kept);
/* Reads DATA from a name in the fd store.  False: it is not the name of memory. */
bool client_kept__parse(const char *name, uint64_t *data);

/*
 * Hands new memory, and notes about it, to the service manager, once: after its first slice is in
 * the table, which controllers wait for, and before the process hears of it.  False: the next dartd
 * does not get it, so that it needs no notes.
 */
bool client_kept__keeps(struct client_memory *memory);
/*
 * The last dartd called @memory @name.  The former notes about @memory stay until
 * client_kept__replace_notes().
 */
void client_kept__resume(struct client_memory *memory, const char *name);
/* Makes the service manager forget @memory and its notes. */
void client_kept__forget(struct client_memory *memory);
/* Makes it forget the memory called @name and its notes. */
void client_kept__drop(struct client_memories *memories, const char *name);

/* Appends a line to the notes, @length bytes with the newline. */
struct client_note client_kept__note(struct client_memory *memory, const char *line, size_t length);
/* A copy of the line @note, which the caller frees; NULL: it cannot be read. */
char *client_kept__line(const struct client_memory *memory, const struct client_note *note);
void client_kept__cross_out(struct client_memory *memory, struct client_note *note);

/* True if most bytes of the notes are crossed out. */
bool client_kept__is_worn(const struct client_memory *memory);
/*
 * Begins new notes; then the caller copies each line; then the service manager gets the new notes
 * instead of the former ones.  begin returns the former ones for the other calls, or -1.
 */
int client_kept__begin_copy(struct client_memory *memory);
void client_kept__copy(struct client_memory *memory, int former, struct client_note *note);
void client_kept__end_copy(struct client_memory *memory, int former);

/*
 * The notes of the last dartd about @memory, hostile, which the caller frees: *@length bytes.  NULL
 * if it left none.
 */
char *client_kept__former_notes(const struct client_memory *memory, size_t *length);
/* Hands the notes of this dartd over instead of them. */
void client_kept__replace_notes(struct client_memory *memory);

#endif /* CLIENT_MEMORY_KEPT_H */
