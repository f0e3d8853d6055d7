/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages that wait to be sent: in memory, or in a spool if there is one, and in memory again
 * while the spool cannot be written to.  Both are bounded.  A message that does not fit costs the
 * oldest ones outside the window.  In one thread.
 *
 *   backlog__add() -> spool -> memory -> window of the oldest -> backlog__done()
 *
 * Those of the window may be sent at the same time if they have no shard in common: so the
 * samples of a series stay in order.
 */
#ifndef CONTROLLER_BACKLOG_H
#define CONTROLLER_BACKLOG_H

#include "spool.h"
#include "tools/controller/push/formats/message.h"

/* Messages of the window: some wait for the shards of those before. */
#define BACKLOG_WINDOW 64U

struct message_list {
	struct message *first, *last;
};

struct backlog {
	uint64_t bound;		/* bytes in memory */
	struct spool *spool;	/* owned; NULL: messages wait in memory */
	struct message_list memory;
	struct message_list window;
	unsigned int window_count;
	unsigned int waiting;	/* of the window */
	unsigned int under_way;
	uint64_t bytes;		/* of both */
	uint64_t samples;	/* of both and of the spool, except messages that are done */
	uint64_t dropped;	/* samples, so far */
	uint64_t failed;	/* of these, samples that the spool could not be given */
	uint64_t damaged;	/* of these, samples that were damaged in the spool */
	uint64_t damaged_bytes;	/* of the spool, so far */
};

/* Takes @spool, its samples and the losses found when it was opened; no message was added yet. */
void backlog__set_spool(struct backlog *backlog, struct spool *spool);
/*
 * Takes @message.  Returns 0, or -errno of the spool; the message then waits in memory, and
 * goes to the spool once that can be written to.
 */
int backlog__add(struct backlog *backlog, struct message *message);
/*
 * The oldest message that waits and may be sent beside those under way.  NULL if there is none,
 * or, with @err set to -errno, if the spool cannot be read.
 */
struct message *backlog__next(struct backlog *backlog, int *err);
/* The message that has waited longest, as far as that is known; NULL if none does. */
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
 * In place of one that is not under way, and is freed: the same in another format, or in two
 * pieces.  @second may be NULL.
 */
void backlog__replace(struct backlog *backlog, struct message *before,
		      struct message *first, struct message *second);
/*
 * At the end: messages of memory move to the spool as far as it can be written to.  Those that
 * are not in the spool are dropped.
 */
void backlog__keep(struct backlog *backlog);
/* Frees all, and closes the spool, which keeps its messages. */
void backlog__clear(struct backlog *backlog);

#endif /* CONTROLLER_BACKLOG_H */
