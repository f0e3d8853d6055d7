// SPDX-License-Identifier: GPL-2.0-only
/* Operations of a storm on gathered records. */
#include "storm_records.h"

#include <linux/snmp.h>

#include "namespace.h"
#include "record.h"
#include "storm.h"

static struct storm_record *draw_record(struct storm *storm)
{
	return &storm->records.records[storm__draw(storm, STORM_RECORDS)];
}

void storm__add_record(struct storm *storm)
{
	static const struct dart_zero_piece few = { .width = 8, .count = 5 };
	static const struct dart_zero_piece many = { .width = 4, .count = 50 };
	static const struct dart_zero_piece sent = {
		.offset = 8 * UDP_MIB_OUTDATAGRAMS,
		.width = 8,
		.count = 1,
	};
	static const uint32_t sources[] = {
		DART_ZERO_SOURCE_UDP,
		DART_ZERO_SOURCE_NETDEV_LINK,
		DART_ZERO_SOURCE_SOCKETS,
	};
	struct storm_record *drawn = draw_record(storm);
	struct dart_zero_record record;
	uint32_t source;
	int ret;

	if (drawn->record.id)
		return;
	/* Few namespaces: a debug kernel needs longer for one namespace than for 100 operations. */
	switch (storm__draw(storm, 16)) {
	case 0 ... 7:
		record = record_of(storm->records.pages, DART_ZERO_SOURCE_CPUSTAT, &few);
		record.form = DART_ZERO_RECORD_COPIES;
		break;
	case 8 ... 14:
		record = record_of(storm->records.pages, DART_ZERO_SOURCE_VMSTAT, &many);
		break;
	default:
		source = sources[storm__draw(storm, 3)];
		record = record_of(storm->records.pages, source, &sent);
		record.ifindex = source == DART_ZERO_SOURCE_NETDEV_LINK;
		drawn->netns = namespace_new();
		record.fd = drawn->netns;
	}
	record.interval_ms = 50 + storm__draw(storm, 3) * 20;
	record.flags = storm__draw(storm, 2);
	ret = record_add(storm->records.region, &record);
	assert_true(!ret || ret == -ENOSPC);
	if (!ret) {
		assert_true(record.id);
		drawn->record = record;
		drawn->time = 0;
		if (drawn->netns >= 0)
			namespace_send(drawn->netns, 3);
	} else if (drawn->netns >= 0) {
		close(drawn->netns);
		drawn->netns = -1;
	}
}

/* A row need not be whole. */
static void check_row(struct storm *storm, struct storm_record *drawn, uint32_t row)
{
	static uint64_t words[RECORD_ROW_WORDS_MAX];
	const struct dart_zero_record *record = &drawn->record;
	uint64_t sequence = record_row(storm->records.view, record, row, words);

	if (sequence % 2)
		return;
	/* Gathered before ADD_RECORD returned; all CPUs stay online. */
	assert_true(sequence);
	if (!row) {
		assert_true(words[0] >= drawn->time);
		drawn->time = words[0];
	}
	if (record->form == DART_ZERO_RECORD_COPIES)
		assert_int_equal(words[1], row);
	else if (record->source == DART_ZERO_SOURCE_UDP)
		assert_in_range(words[1], 0, 3);
}

static void read_record(struct storm *storm, struct storm_record *drawn)
{
	if (!drawn->record.id)
		return;
	for (uint32_t row = drawn->record.rows; row--;)
		check_row(storm, drawn, row);
}

void storm__read_record(struct storm *storm)
{
	read_record(storm, draw_record(storm));
}

void storm__remove_record(struct storm *storm)
{
	struct storm_record *drawn = draw_record(storm);

	if (!drawn->record.id)
		return;
	assert_int_equal(device_remove(storm->records.region, storm->records.pages), -EBUSY);
	assert_int_equal(device_remove(storm->records.region, drawn->record.id), 0);
	assert_int_equal(*(const volatile uint64_t *)(storm->records.view + drawn->record.data), 0);
	drawn->record.id = 0;
	if (drawn->netns >= 0)
		close(drawn->netns);
	drawn->netns = -1;
}

void storm__end_record(struct storm *storm)
{
	struct storm_record *drawn = draw_record(storm);
	const struct storm_record *end = &storm->records.records[STORM_RECORDS];

	while (drawn < end && drawn->netns < 0)
		drawn++;
	if (drawn == end)
		return;
	close(drawn->netns);
	drawn->netns = -1;
	assert_int_equal(device_event(storm->records.region, DART_ZERO_EVENT_RECORD_GONE),
			 drawn->record.id);
	read_record(storm, drawn);
}

void storm__close_records(struct storm *storm)
{
	storm_records__close(&storm->records);
	storm_records__open(&storm->records);
}
