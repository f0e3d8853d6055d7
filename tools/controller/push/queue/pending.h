/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Blocks that wait to be encoded: for more of them while senders are busy, and then a part of a
 * batch at a time, so that answers which arrive meanwhile need not wait for all of it.  In one
 * thread.
 */
#ifndef CONTROLLER_PENDING_H
#define CONTROLLER_PENDING_H

#include "encoder.h"

struct pending {
	struct block *first, *last;
	uint64_t samples; /* of these blocks */
	uint64_t since_ns; /* when the first block came, CLOCK_MONOTONIC */
	struct encoder encoder;
	unsigned int lanes_max;
	bool is_encoding; /* the encoder has samples that are in no message yet */
	uint64_t to_encode; /* samples until its messages are finished */
};

void pending__open(struct pending *pending, const struct format *format, uint32_t batch,
		   unsigned int lanes_max, struct refusals *refusals);
/* Frees all blocks. */
void pending__close(struct pending *pending);

/* Takes @block. */
void pending__add(struct pending *pending, struct block *block, uint64_t now_ns);
/*
 * Encodes whole blocks until they have about a quarter of a batch, as long as @has_room returns
 * true; they are given to @give_back before they are freed.  @is_idle: no other message waits, so that a single one is
 * enough.  Hands each full message to @take, and all when nothing is left to encode.  To be called
 * again while pending->is_encoding.
 */
struct pending_operations {
	bool (*has_room)(void *data);
	void (*give_back)(void *data, const struct block *block);
	encoder_take *take;
	void *data;
};
void pending__encode(struct pending *pending, bool is_idle, uint64_t now_ns,
		     const struct pending_operations *operations);
/* Later messages are of @format; finishes the messages that were begun. */
void pending__set_format(struct pending *pending, const struct format *format, encoder_take *take,
			 void *data);

#endif /* CONTROLLER_PENDING_H */
