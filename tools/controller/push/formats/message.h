/* SPDX-License-Identifier: GPL-2.0-only */
/* A message: the body of a request, as the receiver gets it. */
#ifndef CONTROLLER_MESSAGE_H
#define CONTROLLER_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format.h"

/* Whole messages, compressed.  An encoder begins the next message at ENCODED_MAX. */
#define MESSAGE_BYTES_MAX (16U << 20)
#define MESSAGE_ENCODED_MAX (4U << 20)

/*
 * Series are spread over shards, by their labels.  The bits of two messages say whether they
 * may have a series in common, and so whether their order matters.  A host has only four of
 * them, so that a message about one host delays few others.
 */
#define MESSAGE_SHARDS 16U
#define MESSAGE_HOST_SHARDS 4U
#define MESSAGE_SHARDS_ALL ((1U << MESSAGE_SHARDS) - 1)

enum message_state {
	MESSAGE_WAITING,
	MESSAGE_UNDER_WAY,
	MESSAGE_DONE, /* taken or refused */
};

struct message {
	struct message *next; /* in the order of sending */
	const struct format *format;
	uint16_t shards; /* bits of those that its series are in */
	bool is_apart; /* of series that were refused lately, see refusals.h */
	bool is_piece; /* of one that was refused */
	uint32_t samples;
	uint64_t made_ns; /* when it began to wait, CLOCK_MONOTONIC; 0: not known */
	size_t length;
	/* Of those that are to be sent, see backlog.h. */
	enum message_state state;
	unsigned int attempts;
	/* Where it lies in the spool, and where it ends there; 0: it does not, or a piece does. */
	uint64_t segment;
	uint64_t end;
	uint8_t body[]; /* compressed */
};

/* With all shards.  NULL if out of memory. */
struct message *message__new(const struct format *format, uint32_t samples, const void *body,
			     size_t length);

/* @message has series of @from, and none else. */
void message__inherit(struct message *message, const struct message *from);

/* The @length @bytes, packed, become the body.  Returns 0 or -ENOMEM. */
int message__pack(const struct format *format, uint32_t samples, const void *bytes, size_t length,
		  struct message **message);
/*
 * Makes a message of the older format of @message's, which there is.  Returns 0; -EINVAL if
 * @message cannot be read; -ENOMEM.
 */
int message__convert(const struct message *message, struct message **converted);

#endif /* CONTROLLER_MESSAGE_H */
