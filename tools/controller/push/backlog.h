/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages that wait to be sent, in order: in memory, or in a spool if there is one.  Both are
 * bounded, and what does not fit costs the oldest ones, but for the one that is being sent.
 * In one thread.
 */
#ifndef CONTROLLER_BACKLOG_H
#define CONTROLLER_BACKLOG_H

#include "message.h"
#include "spool.h"

struct backlog {
	uint64_t bound;		/* bytes in memory */
	struct spool *spool;	/* owned; NULL: messages wait in memory */
	struct message *first, *last;
	struct message *current;	/* being sent, or about to be sent again */
	uint64_t bytes;		/* in memory */
	uint64_t samples;	/* in memory, the current ones included, or in the spool */
	uint64_t dropped;	/* samples, so far */
	uint64_t failed;	/* of these, samples that the spool could not be given */
};

/* Takes @message.  Returns 0, or -errno of the spool; the message is then dropped. */
int backlog__add(struct backlog *backlog, struct message *message);
/*
 * The oldest message, until backlog__done(), which may be the one before again.  NULL if there
 * is none, or, with @err set to -errno, if it cannot be read.
 */
struct message *backlog__current(struct backlog *backlog, int *err);
/* The message that has waited longest, if that is in memory; NULL otherwise. */
const struct message *backlog__oldest(const struct backlog *backlog);
/* In place of the current one, which is freed: the same in another format. */
void backlog__replace(struct backlog *backlog, struct message *message);
/* The current one was sent, or refused. */
void backlog__done(struct backlog *backlog);
/* Frees all, and closes the spool, which keeps its messages. */
void backlog__clear(struct backlog *backlog);

#endif /* CONTROLLER_BACKLOG_H */
