// SPDX-License-Identifier: GPL-2.0-only
/*
 * The clocks of a host, which may report any numbers.  The first byte chooses how the host gathers
 * its rows, and whether a controller or a recording provides the scrapes; a recording may contain
 * any numbers, too.  The scrapes follow.
 */
#include "tools/controller/decode/host_clock.h"

#include "fuzz.h"
#include "selftests/unit/controller/metrics/metric_samples.h"

#define BOUND_NS (2 * SECOND)

struct scrape {
	uint64_t after_ns;	/* the previous one */
	uint64_t lasted_ns;
	int64_t time_ns;
	int64_t offset_ns;
	uint64_t uncertainty_ns;
	uint64_t table_offset_ns;
	uint64_t row_ns;
	uint64_t boot_time_ns;
	uint8_t boot_id;
	uint8_t is_whole;
} __attribute__((packed));

static const struct wanted_field fields[] = {
	{ "boot_time", "ns", DART_CONTROL_FIELD_GAUGE },
	{}
};

static void set_head(struct sample_head *head, const struct scrape *scrape, bool is_recording)
{
	const uint64_t limit_ns = is_recording ? UINT64_MAX : 100 * SECOND;

	head->start_ns += scrape->after_ns % limit_ns;
	head->landed_ns = head->start_ns + scrape->lasted_ns % limit_ns;
	head->time_ns = scrape->time_ns;
	head->clock_offset_ns = scrape->offset_ns;
	head->clock_uncertainty_ns =
		is_recording ? scrape->uncertainty_ns : scrape->uncertainty_ns % (10 * SECOND);
}

static void check(const struct host_clock *clock, const struct host *host,
		  const struct scrape *scrape)
{
	const struct sample *sample = &host->sample;
	const bool has_row = scrape->is_whole && scrape->row_ns && scrape->row_ns <= INT64_MAX;

	require(sample->head.time_ns != INT64_MIN && sample->clock.boot_ns != INT64_MIN);
	/* No row is dated after it landed. */
	if (has_row)
		require((__int128)clock->start_ns + scrape->row_ns <= sample->head.landed_ns);
}

static void take_all(struct host *host, uint32_t entry, const struct clock_source *source,
		     bool is_recording, const uint8_t *data, size_t size)
{
	struct host_clock clock = {};
	struct scrape scrape;
	unsigned int news;

	host->sample.head.start_ns = 1000 * SECOND;
	for (; size >= sizeof(scrape); data += sizeof(scrape), size -= sizeof(scrape)) {
		memcpy(&scrape, data, sizeof(scrape));
		set_head(&host->sample.head, &scrape, is_recording);
		host->table.clock_offset_ns = scrape.table_offset_ns;
		host->table.boot_id[0] = scrape.boot_id;
		host__mark(host, entry, 0, scrape.is_whole ? 2 : 1);
		host__set(host, entry, 0, "time", 0, scrape.row_ns);
		host__set(host, entry, 0, "boot_time", 0, scrape.boot_time_ns);
		news = host_clock__take(&clock, BOUND_NS, source, &host->sample);
		require(!(news & HOST_CLOCK_IS_OFF) || !(news & HOST_CLOCK_IS_RIGHT));
		if (!is_recording)
			check(&clock, host, &scrape);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct clock_source source = { .is_there = true };
	struct host host;
	uint32_t entry;

	if (!size)
		return 0;
	host__init(&host);
	entry = host__add(&host, "load+1s", host__record(&host, fields), DART_CONTROL_COPIES_SUM,
			  1);
	source.interval_ns = data[0] & 1 ? SECOND : UINT64_MAX;
	source.entry = entry;
	if (data[0] & 2)
		source.boot_time = dart_schema__find(host.entries[entry].schema, "boot_time");
	take_all(&host, entry, &source, data[0] & 4, data + 1, size - 1);
	host__free(&host);
	return 0;
}
