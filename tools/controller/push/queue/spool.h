/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A spool: messages that wait in files, in order, so that they outlive the program, even if
 * it is killed.
 *
 * A directory with
 *   0000000000000001.segment ...  messages, each after a head: see record.h.   Only added to,
 *                                 and removed once all are sent
 *   position                      the segment, by number, and the byte in it up to which all
 *                                 messages are sent
 *   lock                          held while a program has the spool
 *
 * Checksums protect heads and bodies.  A wrong byte of a head is mended; a wrong byte of a body
 * costs that message, whose samples are counted; further damage costs the bytes before the next
 * whole head.  A message whose end is missing, because the program was killed while it wrote, ends
 * its segment when the spool is opened again; the next message goes to a new segment.  A position
 * that is lost means that messages are sent twice, and never that they are not.
 *
 * Written messages outlive the program.  When the machine fails, messages that were forced to the
 * disk survive, see spool__force(), and perhaps later ones.
 *
 * If a new message does not fit into the bound, the oldest segment is removed with its unread
 * messages.  If the disk is full, a segment is removed as soon as it is sent.
 */
#ifndef CONTROLLER_SPOOL_H
#define CONTROLLER_SPOOL_H

#include <libdart/error.h>

#include "tools/controller/push/formats/message.h"

struct spool;

/*
 * Opens or makes the spool in @directory, which is made if only it is missing.  @bound: of all
 * files together, in bytes.  With @is_forced messages are forced to the disk before
 * spool__add() returns.  Returns 0, or -errno with a sentence in @error.
 */
int spool__open(const char *directory, uint64_t bound, bool is_forced, struct spool **spool,
		struct dart_error *error);
/* All that is not sent stays.  NULL is allowed. */
void spool__close(struct spool *spool);

/* Adds a copy of @message.  Returns 0 or -errno, and then nothing is added. */
int spool__add(struct spool *spool, const struct message *message);
/* Are there messages that were not forced to the disk, and are not sent? */
bool spool__is_loose(const struct spool *spool);
/* Forces all to the disk, position included; waits for it.  Returns 0 or -errno. */
int spool__force(struct spool *spool);
/*
 * Reads the next message, which the caller frees; after opening, the oldest unsent one.  Returns 0,
 * with @message NULL at the end of the spool; -ENOMEM; or another -errno if no file can be read.
 * Damaged bytes are skipped.  The age of a message is interpolated between the first and the last
 * message of its segment.
 */
int spool__read(struct spool *spool, struct message **message);
/*
 * @message, which spool__read() made, is sent, and so are all that it read before.  Nothing
 * happens if its segment was removed meanwhile.
 */
void spool__advance(struct spool *spool, const struct message *message);

/* The number of the oldest segment: earlier ones were removed. */
uint64_t spool__oldest(const struct spool *spool);
/* Of all files together: how many there are, and how many there may be. */
uint64_t spool__bytes(const struct spool *spool);
uint64_t spool__bound(const struct spool *spool);
/* Samples that wait, and are not read. */
uint64_t spool__samples(const struct spool *spool);
/*
 * Samples that were dropped for the bound, or were damaged; and bytes that were damaged, so
 * far.  Samples without a head that is whole are not known.
 */
uint64_t spool__dropped(const struct spool *spool);
uint64_t spool__damaged(const struct spool *spool);
/* Dropped samples that were damaged. */
uint64_t spool__damaged_samples(const struct spool *spool);

#endif /* CONTROLLER_SPOOL_H */
