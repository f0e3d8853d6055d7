/* SPDX-License-Identifier: GPL-2.0-only */
/* A message in a file of a spool. */
#ifndef CONTROLLER_RECORD_H
#define CONTROLLER_RECORD_H

#include "message.h"

#define RECORD_MAGIC 0x4c505344U /* "DSPL" */

/* Before each body; numbers are little-endian. */
struct record {
	uint32_t magic;
	uint32_t length;	/* of the body, up to MESSAGE_BYTES_MAX */
	uint32_t samples;
	uint32_t format;	/* enum message_format */
	uint64_t body_sum;	/* XXH3, 64 bits, of the body */
	uint64_t head_sum;	/* the same of the members above */
};

/* Head and body. */
uint64_t record__length(const struct message *message);
/*
 * Reads the message that begins at @offset, which the caller frees.  Returns 0; -EIO if no
 * whole message is there; -ENOMEM; or another -errno.
 */
int record__read(int fd, uint64_t offset, struct message **message);
/* Returns 0 or -errno; some of it may be written then. */
int record__write(int fd, uint64_t offset, const struct message *message);

#endif /* CONTROLLER_RECORD_H */
