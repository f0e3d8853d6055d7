/* SPDX-License-Identifier: GPL-2.0-only */
/* A segment of a spool: a file of messages, each after a head, see record.h. */
#ifndef CONTROLLER_SEGMENT_H
#define CONTROLLER_SEGMENT_H

#include <dirent.h>
#include <stdbool.h>

#include "tools/controller/push/formats/message.h"

/* Above any number of a segment that a spool makes; files of others may have any name. */
#define SEGMENT_NUMBER_MAX (1ULL << 62)

struct damage {
	uint64_t bytes;
	uint64_t samples; /* as far as heads say */
};

struct segment {
	struct segment *next; /* of the spool */
	uint64_t number;
	uint64_t length;
	uint64_t sent; /* bytes up to which all is sent */
	uint64_t read_end; /* of the last message that was read */
	uint64_t samples; /* that are not read */
	/* When its first and its last message were added, CLOCK_MONOTONIC, modulo 2^64. */
	uint64_t first_ns, last_ns;
	bool is_loose; /* not forced to the disk since it was written to */
	/* Damage of heads found when the spool was opened, which is counted already. */
	struct damage damage;
};

/* The file of a number in @directory, for open(2) with @flags.  Returns a descriptor or -errno. */
int segment__open(int directory, uint64_t number, int flags);
void segment__unlink(int directory, uint64_t number);
/* Has the file the name of a segment?  For scandir(3). */
int segment__is_file(const struct dirent *entry);

/*
 * Reads the next whole message from @offset on, and sets @offset to its end.  Skipped bytes add to
 * @damage.  Returns 0; -ENODATA at the end of the segment; -ENOMEM.
 */
int segment__next_message(int fd, uint64_t end, uint64_t *offset, struct message **message,
			  struct damage *damage);
/*
 * Fills in the length, the samples and the times of the file @fd of a program before, which is sent
 * up to @sent, and cuts off the incomplete message at its end.  Only heads are read: a spool may
 * have far more bytes than can be read while the caller waits.  Returns 0 or -errno.
 */
int segment__scan(struct segment *segment, int fd, uint64_t sent);
/*
 * When the message at @offset was added, CLOCK_MONOTONIC, as if all had come at one rate; never 0.
 */
uint64_t segment__added_at(const struct segment *segment, uint64_t offset);

#endif /* CONTROLLER_SEGMENT_H */
