// SPDX-License-Identifier: LGPL-2.1-or-later
/* Builds the reports to all collectors, with a PSN sequence for each. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/random.h>
#include "report_builder.h"
#include "report_sequence_internal.h"

struct dart_report_builder {
	const struct dart_collectors *collectors;
	struct dart_store_hash *hash;
	struct dart_random random;
	uint8_t mac[ETH_ALEN];
	struct dart_report_sequence sequences[];	/* by collector */
};

int dart_report_builder__new(const struct dart_collectors *collectors, const uint8_t mac[ETH_ALEN],
			     uint64_t seed, struct dart_report_builder **result)
{
	/* The slots of the largest store, see dart_roce_frame__build(). */
	struct dart_store_geometry geometry = {
		.slots = UINT64_C(1) << DART_STORE_SLOTS_LOG2_MAX,
	};
	struct dart_report_builder *builder;
	uint32_t i;
	int ret;

	for (i = 0; i < collectors->count; i++) {
		const struct dart_store_geometry *other = &collectors->list[i].geometry;

		if (i && (geometry.checksum_bits != other->checksum_bits ||
			  geometry.value_length != other->value_length))
			return -EINVAL;
		geometry.checksum_bits = other->checksum_bits;
		geometry.value_length = other->value_length;
		if (geometry.redundancy < dart_collector__redundancy_max(&collectors->list[i]))
			geometry.redundancy =
				dart_collector__redundancy_max(&collectors->list[i]);
	}
	builder = calloc(1, sizeof(*builder) + collectors->count * sizeof(*builder->sequences));
	if (!builder)
		return -ENOMEM;
	ret = dart_store_hash__new(&geometry, &builder->hash);
	if (ret) {
		free(builder);
		return ret;
	}
	builder->collectors = collectors;
	builder->random = dart_random__of(seed);
	memcpy(builder->mac, mac, ETH_ALEN);
	for (i = 0; i < collectors->count; i++)
		dart_report_sequence__begin(&builder->sequences[i], &collectors->list[i]);
	*result = builder;
	return 0;
}

void dart_report_builder__free(struct dart_report_builder *builder)
{
	if (!builder)
		return;
	dart_store_hash__free(builder->hash);
	free(builder);
}

static bool is_same_store(const struct dart_collector *a, const struct dart_collector *b)
{
	return !strcmp(a->name, b->name) && a->reporter.s_addr == b->reporter.s_addr &&
	       a->geometry.slots == b->geometry.slots &&
	       a->geometry.value_length == b->geometry.value_length &&
	       a->geometry.checksum_bits == b->geometry.checksum_bits &&
	       dart_collector__redundancy_max(a) == dart_collector__redundancy_max(b);
}

/* A queue pair of the same number is another one in another epoch. */
static bool is_same_queue_pair(const struct dart_collector *a, const struct dart_collector *b)
{
	return a->ip.s_addr == b->ip.s_addr && a->qpn == b->qpn && a->epoch == b->epoch &&
	       a->first_psn == b->first_psn && a->is_reliable == b->is_reliable;
}

int dart_report_builder__replace(struct dart_report_builder *builder,
				 const struct dart_collectors *collectors)
{
	const struct dart_collectors *before = builder->collectors;
	uint32_t i;

	if (collectors->count != before->count)
		return -EINVAL;
	for (i = 0; i < before->count; i++)
		if (!is_same_store(&before->list[i], &collectors->list[i]))
			return -EINVAL;
	for (i = 0; i < before->count; i++)
		if (!is_same_queue_pair(&before->list[i], &collectors->list[i]))
			dart_report_sequence__renew(&builder->sequences[i], &collectors->list[i]);
	builder->collectors = collectors;
	return 0;
}

const struct dart_collector *dart_report_builder__find(const struct dart_report_builder *builder,
						       const void *key, size_t length,
						       struct dart_store_place *place)
{
	uint16_t index;

	dart_store_hash__place(builder->hash, key, length, place);
	index = builder->collectors->shares[place->share];
	return index == DART_COLLECTOR_NONE ? NULL : &builder->collectors->list[index];
}

size_t dart_report_builder__report(struct dart_report_builder *builder,
				   const struct dart_store_place *place, uint32_t copy,
				   const void *value, uint8_t frame[DART_ROCE_FRAME_MAX])
{
	const uint16_t index = builder->collectors->shares[place->share];
	const struct dart_collector *collector = &builder->collectors->list[index];

	if (copy == DART_REPORT_ANY_COPY)
		copy = dart_random__below(&builder->random, collector->geometry.redundancy);
	return dart_roce_frame__build(collector, builder->mac, place, copy, value,
				      dart_report_sequence__take_psn(&builder->sequences[index]),
				      frame);
}

uint64_t dart_report_builder__reports(const struct dart_report_builder *builder, uint32_t index)
{
	return builder->sequences[index].progress.reports;
}

struct dart_report_progress dart_report_builder__progress(const struct dart_report_builder *builder,
							  uint32_t index)
{
	const struct dart_report_sequence *sequence = &builder->sequences[index];
	struct dart_report_progress progress = sequence->progress;

	progress.is_settled = progress.state == DART_REPORT_FOLLOWED &&
			      sequence->next == sequence->expected && !sequence->is_probing;
	return progress;
}

uint64_t dart_report_builder__due(const struct dart_report_builder *builder, uint32_t index)
{
	return dart_report_sequence__due(&builder->sequences[index]);
}

size_t dart_report_builder__probe(struct dart_report_builder *builder, uint32_t index, uint64_t now,
				  uint8_t frame[DART_ROCE_FRAME_MAX])
{
	struct dart_report_sequence *sequence = &builder->sequences[index];

	if (now < dart_report_sequence__due(sequence))
		return 0;
	return dart_roce_frame__probe(&builder->collectors->list[index], builder->mac,
				      dart_report_sequence__probe(sequence, now), frame);
}

void dart_report_builder__take(struct dart_report_builder *builder, const uint8_t *frame,
			       size_t length, uint64_t now)
{
	const struct dart_collectors *collectors = builder->collectors;
	struct dart_roce_answer answer;
	uint32_t i;

	for (i = 0; i < collectors->count; i++)
		if (collectors->list[i].is_reliable &&
		    !dart_roce_frame__read_answer(&collectors->list[i], frame, length, &answer))
			dart_report_sequence__answer(&builder->sequences[i], &answer, now);
}
