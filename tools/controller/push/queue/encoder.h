/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes messages of blocks.  Series are spread over lanes by their labels, and each lane makes
 * messages of its own, which may be sent at the same time.  Series that the receiver refused lately
 * go to a further lane, with a message for each host: see refusals.h.
 */
#ifndef CONTROLLER_ENCODER_H
#define CONTROLLER_ENCODER_H

#include "block.h"
#include "refusals.h"
#include "tools/controller/push/formats/message.h"

#define ENCODER_LANES_MAX MESSAGE_SHARDS

/* A message that is being made. */
struct encoder_lane {
	uint32_t samples;
	uint16_t shards;
	struct draft draft;
};

struct encoder {
	const struct format *format; /* of the next messages; changes while all are empty */
	uint32_t batch; /* samples of a message, unless one series alone exceeds it */
	unsigned int lanes; /* a power of 2; changes while all are empty */
	struct refusals *refusals; /* NULL: nothing is apart */
	uint64_t unsent; /* samples without a message: NaN, or no memory */
	struct encoder_lane lane[ENCODER_LANES_MAX];
	struct encoder_lane apart;
	struct merged_labels labels;
	struct metric_point points[BLOCK_SCRAPES_MAX];
};

/* Takes each message. */
typedef void encoder_take(void *data, struct message *message);

void encoder__free(struct encoder *encoder);
/* Frees the memory of all lanes but the first; they are empty. */
void encoder__shrink(struct encoder *encoder);
/*
 * Adds the samples of @block, and hands over each message that is full.  @now_ns is
 * CLOCK_MONOTONIC.
 */
void encoder__add(struct encoder *encoder, const struct block *block, uint64_t now_ns,
		  encoder_take *take, void *data);
/* Hands over the rest. */
void encoder__finish(struct encoder *encoder, encoder_take *take, void *data);

#endif /* CONTROLLER_ENCODER_H */
