// SPDX-License-Identifier: GPL-2.0-only
/* Makes messages of blocks: see encoder.h. */
#include "encoder.h"

#include <errno.h>
#include <string.h>
#include <xxhash.h>

static void free_lane(struct encoder_lane *lane)
{
	bytes__free(&lane->draft.series);
	symbols__free(&lane->draft.symbols);
}

void encoder__free(struct encoder *encoder)
{
	size_t i;

	for (i = 0; i < ENCODER_LANES_MAX; i++)
		free_lane(encoder->lane + i);
	free_lane(&encoder->apart);
}

void encoder__shrink(struct encoder *encoder)
{
	size_t i;

	for (i = 1; i < ENCODER_LANES_MAX; i++)
		free_lane(encoder->lane + i);
}

/* Symbols come first: so a receiver can decode while it reads. */
static int make_message(const struct encoder *encoder, struct encoder_lane *lane,
			struct message **message)
{
	struct bytes *series = &lane->draft.series, *whole = series;
	struct bytes *symbols = &lane->draft.symbols.fields;

	if (symbols->length) {
		bytes__put(symbols, series->data, series->length);
		whole = symbols;
	}
	if (series->has_failed || symbols->has_failed)
		return -ENOMEM;
	return message__pack(encoder->format, lane->samples, whole->data, whole->length, message);
}

static void finish_lane(struct encoder *encoder, struct encoder_lane *lane, encoder_take *take,
			void *data)
{
	struct message *message;

	if (lane->samples) {
		if (make_message(encoder, lane, &message)) {
			encoder->unsent += lane->samples;
		} else {
			message->shards = lane->shards;
			message->is_apart = lane == &encoder->apart;
			take(data, message);
		}
	}
	lane->samples = 0;
	lane->shards = 0;
	bytes__empty(&lane->draft.series);
	symbols__empty(&lane->draft.symbols);
}

void encoder__finish(struct encoder *encoder, encoder_take *take, void *data)
{
	size_t i;

	for (i = 0; i < ENCODER_LANES_MAX; i++)
		finish_lane(encoder, encoder->lane + i, take, data);
	finish_lane(encoder, &encoder->apart, take, data);
}

/* The same in each plan, and each run with the same spool. */
static unsigned int shard_of(uint64_t host, const struct metric_series *series)
{
	uint64_t hash = XXH3_64bits(series->name, strlen(series->name));

	hash = XXH3_64bits_withSeed(series->text, strlen(series->text), hash);
	return (host * MESSAGE_HOST_SHARDS + hash % MESSAGE_HOST_SHARDS) % MESSAGE_SHARDS;
}

static const char *find_host(const struct metric_label *labels, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		if (!strcmp(labels[i].name, PIECES_HOST_LABEL))
			return labels[i].value;
	return NULL;
}

/* Rules of the output may have made it a label of the series, which is the same in most of them. */
static const char *host_of(const struct block *block)
{
	const struct label_set *set = block->labels;
	const struct metric_series *first = block->plan->series;
	const char *host = find_host(set->labels, set->count);

	if (!host && block->plan->series_count)
		host = find_host(first->labels, first->label_count);
	return host ?: "";
}

/* Would the receiver probably refuse the series, whose labels are merged? */
static bool is_apart(const struct encoder *encoder, bool is_host_apart, uint64_t now_ns)
{
	return is_host_apart ||
	       (encoder->refusals && refusals__are_any_apart(encoder->refusals, now_ns) &&
		refusals__is_series_apart(encoder->refusals, pieces__hash(&encoder->labels),
					  now_ns));
}

static bool has_room(const struct encoder *encoder, const struct encoder_lane *lane, size_t count)
{
	return !lane->samples || (lane->samples + count <= encoder->batch &&
				  lane->draft.series.length + lane->draft.symbols.fields.length <
					  MESSAGE_ENCODED_MAX);
}

void encoder__add(struct encoder *encoder, const struct block *block, uint64_t now_ns,
		  encoder_take *take, void *data)
{
	const struct metric_plan *plan = block->plan;
	const struct label_set *labels =
		encoder->format->has_plain_names ? label_set__plain(block->labels) : block->labels;
	const char *host = host_of(block);
	const uint64_t host_hash = XXH3_64bits(host, strlen(host));
	const bool is_host_apart = encoder->refusals &&
				   refusals__is_host_apart(encoder->refusals, host, now_ns);
	struct encoder_lane *lane;
	unsigned int shard;
	size_t count, put;
	uint32_t i;

	for (i = 0; i < plan->series_count; i++) {
		count = block__points(block, i, encoder->points);
		if (!count)
			continue;
		if (!label_set__merge(labels, plan->series + i, &encoder->labels)) {
			encoder->unsent += count;
			continue;
		}
		shard = shard_of(host_hash, plan->series + i);
		lane = is_apart(encoder, is_host_apart, now_ns) ?
			       &encoder->apart :
			       encoder->lane + shard % encoder->lanes;
		if (!has_room(encoder, lane, count))
			finish_lane(encoder, lane, take, data);
		put = encoder->format->put(&lane->draft, &encoder->labels,
					   plan->families + plan->series[i].family, encoder->points,
					   count);
		lane->samples += put;
		lane->shards |= 1U << shard;
		encoder->unsent += count - put;
	}
	/* One host each. */
	finish_lane(encoder, &encoder->apart, take, data);
}
