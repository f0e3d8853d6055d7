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

struct message {
	struct message *next;	/* of those that wait */
	enum message_format format;
	uint32_t samples;
	uint64_t made_ns;	/* when it began to wait, CLOCK_MONOTONIC; 0: not known */
	size_t length;
	uint8_t body[];		/* compressed */
};

/* NULL if out of memory. */
struct message *message__new(enum message_format format, uint32_t samples,
			     const void *body, size_t length);

/*
 * Remote write: @bytes, not compressed so far, become the body.  Returns 0; -ENOMEM.
 */
int message__compress(enum message_format format, uint32_t samples,
		      const void *bytes, size_t length,
		      struct message **message);
/* @message, 2.0, as 1.0.  Returns 0; -EINVAL if it is none; -ENOMEM. */
int message__convert(const struct message *message, struct message **converted);

#endif /* CONTROLLER_MESSAGE_H */
