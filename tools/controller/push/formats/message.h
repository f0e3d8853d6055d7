/* SPDX-License-Identifier: GPL-2.0-only */
/* A message: the body of a request, as the receiver gets it. */
#ifndef CONTROLLER_MESSAGE_H
#define CONTROLLER_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format.h"

/* Of whole messages, compressed; and the length at which an encoder begins the next message. */
#define MESSAGE_BYTES_MAX (16U << 20)
#define MESSAGE_ENCODED_MAX (4U << 20)

/*
 * Series are spread over shards, by their labels.  The bits of two messages say whether they
 * may share a series, and so whether their order matters.  The series of a host are in only four
 * shards, so that a message about one host delays few others.
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
	uint16_t shards; /* a bit for each shard that its series are in */
	bool is_apart; /* its series were refused lately, see refusals.h */
	bool is_piece; /* a part of a message that was refused */
	uint32_t samples;
	uint64_t made_ns; /* when it began to wait, CLOCK_MONOTONIC; 0: not known */
	size_t length;
	/* For messages in a backlog, see backlog.h. */
	enum message_state state;
	unsigned int attempts;
	/*
	 * Its segment of the spool and its end there; 0 for messages in memory and for first
	 * pieces.
	 */
	uint64_t segment;
	uint64_t end;
	uint8_t body[]; /* compressed */
};

/* With all shards.  NULL if out of memory. */
struct message *message__new(const struct format *format, uint32_t samples, const void *body,
			     size_t length);

/* All series of @message come from @from. */
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
