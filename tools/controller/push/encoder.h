/* SPDX-License-Identifier: GPL-2.0-only */
/* Makes messages of blocks. */
#ifndef CONTROLLER_ENCODER_H
#define CONTROLLER_ENCODER_H

#include "block.h"
#include "bytes.h"
#include "message.h"
#include "symbols.h"

struct encoder {
	enum message_format format;	/* of the next message; changes while it is empty */
	uint32_t batch;			/* samples of a message; or one series with more */
	uint32_t samples;
	uint64_t unsent;		/* samples without a message: NaN, or no memory */
	struct bytes body;
	struct symbols symbols;
	struct merged_labels labels;
	struct metric_point points[BLOCK_SCRAPES_MAX];
};

/* Takes each message. */
typedef void encoder_take(void *data, struct message *message);

void encoder__free(struct encoder *encoder);
/* Adds the samples of @block, and hands over each message that is full. */
void encoder__add(struct encoder *encoder, const struct block *block,
		  encoder_take *take, void *data);
/* Hands over the rest. */
void encoder__finish(struct encoder *encoder, encoder_take *take, void *data);

#endif /* CONTROLLER_ENCODER_H */
