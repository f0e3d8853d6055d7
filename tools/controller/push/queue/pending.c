// SPDX-License-Identifier: GPL-2.0-only
/* Blocks that wait to be encoded: see pending.h. */
#include "pending.h"

/* Of a batch: messages of busy senders are not smaller, if there is enough for all. */
#define BATCH_PARTS 4

void pending__open(struct pending *pending, const struct format *format, uint32_t batch,
		   unsigned int lanes_max, struct refusals *refusals)
{
	pending->encoder.format = format;
	pending->encoder.batch = batch;
	pending->encoder.lanes = 1;
	pending->encoder.refusals = refusals;
	pending->lanes_max = lanes_max;
}

void pending__close(struct pending *pending)
{
	struct block *block;

	while ((block = pending->first)) {
		pending->first = block->next;
		block__free(block);
	}
	encoder__free(&pending->encoder);
}

void pending__add(struct pending *pending, struct block *block, uint64_t now_ns)
{
	block->next = NULL;
	if (pending->first)
		pending->last->next = block;
	else
		pending->first = block;
	if (block == pending->first)
		pending->since_ns = now_ns;
	pending->last = block;
	pending->samples += block->samples;
}

static uint64_t part_of_batch(const struct pending *pending)
{
	return pending->encoder.batch / BATCH_PARTS + 1;
}

/* As many lanes as there are samples for; if no sender is busy, for a batch each. */
static unsigned int choose_lanes(const struct pending *pending, bool is_idle)
{
	const uint64_t part = is_idle ? pending->encoder.batch : part_of_batch(pending);
	unsigned int lanes = 1;

	while (2 * lanes <= pending->lanes_max && 2 * lanes * part <= pending->samples)
		lanes *= 2;
	return lanes;
}

static void finish(struct pending *pending, encoder_take *take, void *data)
{
	encoder__finish(&pending->encoder, take, data);
	pending->is_encoding = false;
}

void pending__encode(struct pending *pending, bool is_idle, uint64_t now_ns,
		     const struct pending_operations *operations)
{
	const uint64_t part = part_of_batch(pending);
	void *const data = operations->data;
	uint64_t encoded = 0;
	struct block *block;

	if (!pending->is_encoding) {
		pending->encoder.lanes = choose_lanes(pending, is_idle);
		pending->to_encode = (uint64_t)pending->encoder.lanes * pending->encoder.batch;
		pending->is_encoding = true;
		if (pending->encoder.lanes == 1)
			encoder__shrink(&pending->encoder);
	}
	while ((block = pending->first) && operations->has_room(data) && encoded < part &&
	       encoded < pending->to_encode) {
		encoded += block->samples;
		pending->first = block->next;
		pending->samples -= block->samples;
		encoder__add(&pending->encoder, block, now_ns, operations->take, data);
		operations->give_back(data, block);
		block__free(block);
	}
	if (pending->first && operations->has_room(data) && encoded < pending->to_encode)
		pending->to_encode -= encoded;
	else
		finish(pending, operations->take, data);
}

void pending__set_format(struct pending *pending, const struct format *format, encoder_take *take,
			 void *data)
{
	if (pending->is_encoding)
		finish(pending, take, data);
	pending->encoder.format = format;
}
