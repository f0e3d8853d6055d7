/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A spool: messages that wait in files, in order, so that they outlive the program, even if
 * it is killed.
 *
 * A directory with
 *   0000000000000001.segment ...  messages, each behind a head: see record.h.  Only added to,
 *                                 and removed once all are sent
 *   position                      the segment, by number, and the byte in it up to which all
 *                                 messages are sent
 *   lock                          held while a program has the spool
 *
 * Heads and bodies have checksums.  A message whose end is missing, because the program was
 * killed while it wrote, ends its segment when the spool is opened again; the next message
 * goes to a new segment.  A position that is lost means that messages are sent twice, and
 * never that they are not.  Files are written, not forced to the disk: what was written
 * outlives the program; when the machine fails, the last seconds may be missing.
 *
 * If a new message does not fit into the bound, the oldest segment is removed, with what was
 * not sent of it.
 */
#ifndef CONTROLLER_SPOOL_H
#define CONTROLLER_SPOOL_H

#include <libdart/error.h>

#include "message.h"

struct spool;

/*
 * Opens or makes the spool in @directory, which is made if only it is missing.  @bound: of all
 * files together, in bytes.  Returns 0, or -errno with a sentence in @error.
 */
int spool__open(const char *directory, uint64_t bound, struct spool **spool,
		struct dart_error *error);
/* All that is not sent stays.  NULL is allowed. */
void spool__close(struct spool *spool);

/* Adds a copy of @message.  Returns 0 or -errno, and then nothing is added. */
int spool__add(struct spool *spool, const struct message *message);
/*
 * Reads the oldest message that is not sent, which the caller frees.  Returns 0, and @message
 * is NULL if there is none; -ENOMEM; or another -errno if no file can be read.  What is damaged
 * is passed over.
 */
int spool__read(struct spool *spool, struct message **message);
/* The message that spool__read() read last is sent; nothing happens if it was dropped. */
void spool__advance(struct spool *spool);

uint64_t spool__bytes(const struct spool *spool);
/* Samples that wait. */
uint64_t spool__samples(const struct spool *spool);
/* Samples that were dropped for the bound, and bytes that were damaged, so far. */
uint64_t spool__dropped(const struct spool *spool);
uint64_t spool__damaged(const struct spool *spool);

#endif /* CONTROLLER_SPOOL_H */
