/* SPDX-License-Identifier: GPL-2.0-only */
/* A message in a file of a spool. */
#ifndef CONTROLLER_RECORD_H
#define CONTROLLER_RECORD_H

#include "tools/controller/push/formats/message.h"

#define RECORD_MAGIC 0x4c505344U /* "DSPL" */

/* Before each body; numbers are little-endian. */
struct record {
	uint32_t magic;
	uint32_t length; /* of the body, up to MESSAGE_BYTES_MAX */
	uint32_t samples;
	uint8_t format; /* number of its row, see format.h */
	uint8_t is_apart; /* see message.h; this and the next are 0 of older programs */
	uint16_t shards; /* 0: all of them */
	uint64_t body_sum; /* XXH3, 64 bits, of the body */
	uint64_t head_sum; /* the same of the members above */
};

/* A record whose head is whole. */
struct record_extent {
	uint64_t length; /* of head and body, cut off at the end of the file */
	uint32_t samples;
};

/* Head and body of @message. */
uint64_t record__length(const struct message *message);
/*
 * Reads the message that begins at @offset of a file of @end bytes, which the caller frees.  A
 * single wrong byte of the head is mended.  Returns 0; -EBADMSG if the head is whole and the
 * body is not; -EIO if no head is there; -ENOMEM.  @extent is set with 0 and -EBADMSG.
 */
int record__read(int fd, uint64_t offset, uint64_t end, struct message **message,
		 struct record_extent *extent);
/*
 * The same of the head alone: the body is there, but may have wrong bytes.  Returns 0; -EBADMSG if
 * the body is cut off; -EIO if no head is there.
 */
int record__look(int fd, uint64_t offset, uint64_t end, struct record_extent *extent);
/* Offset of the next head from @offset on; @end without one. */
uint64_t record__find(int fd, uint64_t offset, uint64_t end);
/* Returns 0 or -errno; some of it may be written then. */
int record__write(int fd, uint64_t offset, const struct message *message);

#endif /* CONTROLLER_RECORD_H */
