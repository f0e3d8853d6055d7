/* SPDX-License-Identifier: GPL-2.0-only */
/* A message: the body of a request, as the receiver gets it. */
#ifndef CONTROLLER_MESSAGE_H
#define CONTROLLER_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Spools keep these numbers. */
enum message_format {
	MESSAGE_REMOTE_WRITE_1 = 1,
	MESSAGE_REMOTE_WRITE_2 = 2,
	MESSAGE_INFLUX = 3,
};

static inline bool message_format__is_known(uint32_t number)
{
	return number >= MESSAGE_REMOTE_WRITE_1 && number <= MESSAGE_INFLUX;
}

/* Whole messages, compressed.  An encoder begins the next message at ENCODED_MAX. */
#define MESSAGE_BYTES_MAX	(16U << 20)
#define MESSAGE_ENCODED_MAX	(4U << 20)

/*
 * Series are spread over shards, by their labels.  The bits of two messages say whether they
 * may have a series in common, and so whether their order matters.  A host has only four of
 * them, so that a message about one host delays few others.
 */
#define MESSAGE_SHARDS		16U
#define MESSAGE_HOST_SHARDS	4U
#define MESSAGE_SHARDS_ALL	((1U << MESSAGE_SHARDS) - 1)

enum message_state {
	MESSAGE_WAITING,
	MESSAGE_UNDER_WAY,
	MESSAGE_DONE,		/* taken or refused */
};

struct message {
	struct message *next;	/* in the order of sending */
	enum message_format format;
	uint16_t shards;	/* bits of those that its series are in */
	bool is_apart;		/* of series that were refused lately, see refusals.h */
	bool is_piece;		/* of one that was refused */
	uint32_t samples;
	uint64_t made_ns;	/* when it began to wait, CLOCK_MONOTONIC; 0: not known */
	size_t length;
	/* Of those that are to be sent, see backlog.h. */
	enum message_state state;
	unsigned int attempts;
	/* Where it lies in the spool, and where it ends there; 0: it does not, or a piece does. */
	uint64_t segment;
	uint64_t end;
	uint8_t body[];		/* compressed */
};

/* With all shards.  NULL if out of memory. */
struct message *message__new(enum message_format format, uint32_t samples,
			     const void *body, size_t length);

/* @message has series of @from, and none else. */
void message__inherit(struct message *message, const struct message *from);

/*
 * For remote write: @bytes, not compressed so far, become the body.  Returns 0; -ENOMEM.
 */
int message__compress(enum message_format format, uint32_t samples,
		      const void *bytes, size_t length,
		      struct message **message);
/* @message, 2.0, as 1.0.  Returns 0; -EINVAL if it is none; -ENOMEM. */
int message__convert(const struct message *message, struct message **converted);

#endif /* CONTROLLER_MESSAGE_H */
