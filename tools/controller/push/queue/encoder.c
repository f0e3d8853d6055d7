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
	memset(lane->draft.open, 0, sizeof(lane->draft.open));
	symbols__empty(&lane->draft.symbols);
}

void encoder__finish(struct encoder *encoder, encoder_take *take, void *data)
{
	size_t i;

	for (i = 0; i < ENCODER_LANES_MAX; i++)
		finish_lane(encoder, encoder->lane + i, take, data);
	finish_lane(encoder, &encoder->apart, take, data);
}

/* Hashes what stays the same in each plan, and each run with the same spool. */
static uint64_t hash_of_series(const struct metric_series *series)
{
	const uint64_t hash = XXH3_64bits(series->name, strlen(series->name));

	return XXH3_64bits_withSeed(series->text, strlen(series->text), hash);
}

/* The same for a histogram, of which rules may drop any bucket. */
static uint64_t hash_of_histogram(const struct metric_series *bucket)
{
	const struct metric_label *label = bucket->labels;
	uint64_t hash = XXH3_64bits(bucket->name, strlen(bucket->name));

	for (; label < bucket->labels + bucket->label_count; label++) {
		if (!strcmp(label->name, FORMAT_BOUND_LABEL))
			continue;
		hash = XXH3_64bits_withSeed(label->name, strlen(label->name), hash);
		hash = XXH3_64bits_withSeed(label->value, strlen(label->value), hash);
	}
	return hash;
}

static unsigned int shard_of(uint64_t host, uint64_t series)
{
	return (host * MESSAGE_HOST_SHARDS + series % MESSAGE_HOST_SHARDS) % MESSAGE_SHARDS;
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

/* The context of a block that is added. */
struct adding {
	struct encoder *encoder;
	const struct block *block;
	const struct label_set *labels;
	uint64_t host;
	bool is_host_apart;
	uint64_t now_ns;
	encoder_take *take;
	void *data;
};

/* Where @count points go, whose labels are merged. */
static struct encoder_lane *choose_lane(const struct adding *adding, unsigned int shard,
					size_t count)
{
	struct encoder *encoder = adding->encoder;
	struct encoder_lane *lane = is_apart(encoder, adding->is_host_apart, adding->now_ns) ?
					    &encoder->apart :
					    encoder->lane + shard % encoder->lanes;

	if (!has_room(encoder, lane, count))
		finish_lane(encoder, lane, adding->take, adding->data);
	lane->shards |= 1U << shard;
	return lane;
}

/* The format expresses @put of @count points. */
static void count_points(struct encoder *encoder, struct encoder_lane *lane, size_t count,
			 size_t put)
{
	lane->samples += put;
	encoder->unsent += count - put;
}

static void add_series(const struct adding *adding, uint32_t index)
{
	struct encoder *encoder = adding->encoder;
	const struct metric_plan *plan = adding->block->plan;
	const struct metric_series *series = plan->series + index;
	const size_t count = block__points(adding->block, index, encoder->points);
	struct encoder_lane *lane;
	size_t put;

	if (!count)
		return;
	if (!label_set__merge(adding->labels, series, &encoder->labels)) {
		encoder->unsent += count;
		return;
	}
	lane = choose_lane(adding, shard_of(adding->host, hash_of_series(series)), count);
	put = encoder->format->put(&lane->draft, &encoder->labels, plan->families + series->family,
				   encoder->points, count);
	count_points(encoder, lane, count, put);
}

/* The labels of a bucket become those of its histogram. */
static void drop_bound(struct merged_labels *labels, const char *family)
{
	size_t kept = 0, i;

	for (i = 0; i < labels->count; i++) {
		if (!strcmp(labels->labels[i].name, FORMAT_BOUND_LABEL))
			continue;
		labels->labels[kept] = labels->labels[i];
		if (!strcmp(labels->labels[kept].name, LABEL_SET_NAME))
			labels->labels[kept].value = family;
		kept++;
	}
	labels->count = kept;
}

static void add_histogram(const struct adding *adding, const struct format_histogram *histogram)
{
	struct encoder *encoder = adding->encoder;
	const struct metric_plan *plan = histogram->plan;
	const struct metric_series *bucket = plan->series + format_histogram__series(histogram, 0);
	const struct metric_family *family = plan->families + bucket->family;
	struct encoder_lane *lane;
	size_t count = 0, put;
	uint32_t i;

	for (i = 0; i < histogram->bucket_count; i++)
		count += block__points(adding->block, format_histogram__series(histogram, i),
				       encoder->points);
	if (!count)
		return;
	if (!label_set__merge(adding->labels, bucket, &encoder->labels)) {
		encoder->unsent += count;
		return;
	}
	drop_bound(&encoder->labels, family->name);
	lane = choose_lane(adding, shard_of(adding->host, hash_of_histogram(bucket)), count);
	put = encoder->format->put_histogram(&lane->draft, &encoder->labels, family, histogram);
	count_points(encoder, lane, count, put);
}

/* The next label that is not a bound, from @at on. */
static uint32_t skip_bound(const struct metric_series *series, uint32_t at)
{
	while (at < series->label_count && !strcmp(series->labels[at].name, FORMAT_BOUND_LABEL))
		at++;
	return at;
}

static bool is_same_histogram(const struct metric_series *one, const struct metric_series *other)
{
	uint32_t i = skip_bound(one, 0), j = skip_bound(other, 0);

	if (one->family != other->family)
		return false;
	while (i < one->label_count && j < other->label_count) {
		if (strcmp(one->labels[i].name, other->labels[j].name) ||
		    strcmp(one->labels[i].value, other->labels[j].value))
			return false;
		i = skip_bound(one, i + 1);
		j = skip_bound(other, j + 1);
	}
	return i == one->label_count && j == other->label_count;
}

/* The number of buckets of the histogram that begins at a place of the listing. */
static uint32_t count_buckets(const struct metric_plan *plan, uint32_t first)
{
	const struct metric_series *bucket = plan->series + metric_plan__listed(plan, first);
	uint32_t end = first + 1;

	while (end < plan->series_count &&
	       is_same_histogram(bucket, plan->series + metric_plan__listed(plan, end)))
		end++;
	return end - first;
}

/* Adds what is at a place of the listing; returns the number of its series. */
static uint32_t add_listed(const struct adding *adding, uint32_t first)
{
	const struct metric_plan *plan = adding->block->plan;
	const uint32_t index = metric_plan__listed(plan, first);
	struct format_histogram histogram = {
		.plan = plan,
		.first = first,
		.rows = adding->block->rows,
		.scrapes = adding->block->scrapes,
	};

	if (plan->families[plan->series[index].family].type != METRIC_HISTOGRAM) {
		add_series(adding, index);
		return 1;
	}
	histogram.bucket_count = count_buckets(plan, first);
	add_histogram(adding, &histogram);
	return histogram.bucket_count;
}

void encoder__add(struct encoder *encoder, const struct block *block, uint64_t now_ns,
		  encoder_take *take, void *data)
{
	const struct format *format = encoder->format;
	const char *host = host_of(block);
	const struct adding adding = {
		.encoder = encoder,
		.block = block,
		.labels = format->has_plain_names ? label_set__plain(block->labels) : block->labels,
		.host = XXH3_64bits(host, strlen(host)),
		.is_host_apart = encoder->refusals &&
				 refusals__is_host_apart(encoder->refusals, host, now_ns),
		.now_ns = now_ns,
		.take = take,
		.data = data,
	};
	uint32_t i;

	if (format->put_histogram) {
		for (i = 0; i < block->plan->series_count;)
			i += add_listed(&adding, i);
	} else {
		for (i = 0; i < block->plan->series_count; i++)
			add_series(&adding, i);
	}
	/* One host each. */
	finish_lane(encoder, &encoder->apart, take, data);
}
