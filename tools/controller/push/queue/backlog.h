/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages that wait to be sent: in memory, or in a spool if there is one, and in memory again
 * while the spool cannot be written to.  Both are bounded: for a message that does not fit, the
 * oldest messages outside the window are dropped.  In one thread.
 *
 *   backlog__add() -> spool -> memory -> window of the oldest -> backlog__done()
 *
 * Messages of the window may be sent at the same time if they share no shard: so the samples of a
 * series stay in order.
 */
#ifndef CONTROLLER_BACKLOG_H
#define CONTROLLER_BACKLOG_H

#include "spool.h"
#include "tools/controller/push/formats/message.h"

/* Messages of the window: some wait for the shards of earlier messages. */
#define BACKLOG_WINDOW 64U

struct message_list {
	struct message *first, *last;
};

struct backlog {
	uint64_t bound; /* bytes in memory */
	struct spool *spool; /* owned; NULL: messages wait in memory */
	uint64_t sync_ns; /* of the spool */
	uint64_t forced_ns; /* when the spool was forced to the disk last, CLOCK_MONOTONIC */
	struct message_list memory;
	struct message_list window;
	unsigned int window_count;
	unsigned int waiting; /* of the window */
	unsigned int under_way;
	uint64_t bytes; /* of both */
	uint64_t samples; /* of both and of the spool, except messages that are done */
	uint64_t dropped; /* samples, so far */
	uint64_t failed; /* of these, samples that the spool could not be given */
	uint64_t damaged; /* of these, samples that were damaged in the spool */
	uint64_t damaged_bytes; /* of the spool, so far */
};

/*
 * Takes @spool, its samples and the losses found when it was opened; no message was added yet.
 * @sync_ns: how often it is forced to the disk, see receiver_settings.h.
 */
void backlog__set_spool(struct backlog *backlog, struct spool *spool, uint64_t sync_ns);
/*
 * Takes @message.  Returns 0, or -errno of the spool; the message then waits in memory, and
 * goes to the spool once that can be written to.
 */
int backlog__add(struct backlog *backlog, struct message *message);
/*
 * The oldest message that may be sent while others are under way.  NULL if no message waits, or,
 * with @err set to -errno, if the spool cannot be read.
 */
struct message *backlog__next(struct backlog *backlog, int *err);
/* The message that waits longest, as far as the backlog knows; NULL if no message waits. */
const struct message *backlog__oldest(const struct backlog *backlog);
/* Is there a message that is not under way? */
bool backlog__has_waiting(const struct backlog *backlog);

/* Of messages that backlog__next() returned: it is sent, */
void backlog__begin(struct backlog *backlog, struct message *message);
/* has to be sent again, */
void backlog__again(struct backlog *backlog, struct message *message);
/* or was taken or refused, and is gone. */
void backlog__done(struct backlog *backlog, struct message *message);
/*
 * Puts the same samples in another format, or in two pieces, in place of @before, which is not
 * under way and is freed.  @second may be NULL.
 */
void backlog__replace(struct backlog *backlog, struct message *before, struct message *first,
		      struct message *second);
/* Does half of the bound of memory, or of the spool, wait? */
bool backlog__is_half_full(const struct backlog *backlog);
/*
 * When backlog__force() is due, CLOCK_MONOTONIC: so the samples that are lost when the machine
 * fails are bounded by a time.  UINT64_MAX if it is not due.
 */
uint64_t backlog__force_at_ns(const struct backlog *backlog);
/* Forces the spool to the disk.  Returns 0 or -errno. */
int backlog__force(struct backlog *backlog);
/*
 * At the end: moves messages of memory to the spool as far as it can be written to, and drops the
 * others.
 */
void backlog__keep(struct backlog *backlog);
/* Frees all, and closes the spool, which keeps its messages. */
void backlog__clear(struct backlog *backlog);

#endif /* CONTROLLER_BACKLOG_H */
