// SPDX-License-Identifier: GPL-2.0-only
/* Finds the start of a host, and dates samples: see host_clock.h. */
#include "host_clock.h"

#include <string.h>

#include "sample.h"
#include "tools/controller/base/wall_clock.h"

/* Two oscillators drift apart more slowly than this, and NTP corrects a clock no faster. */
#define DRIFT_PER_SECOND_NS 500000
/* Delay from the time inside a row until a READ can fetch this row. */
#define WRITING_NS 100000000
/* The longest delay of a gatherer on a host that works. */
#define LATE_NS 5000000000
/* Rows that find_row() reads: one for each CPU is enough. */
#define ROWS_MAX 64

/* Hosts send any numbers: sums are computed in 128 bits, and the nearest time is stored. */
static int64_t bounded(__int128 value)
{
	if (value > INT64_MAX)
		return INT64_MAX;
	return value < -INT64_MAX ? -INT64_MAX : (int64_t)value;
}

static uint64_t distance(int64_t one, int64_t other)
{
	const __int128 difference = (__int128)one - other;

	return difference < 0 ? -difference : difference;
}

/*
 * Replaces the sample's time by the controller's even clock; differences up to WALL_CLOCK_NOISE_NS,
 * as in older recordings, do not count. Returns true if this clock was set since the previous
 * sample.
 */
static bool host_clock__date(struct host_clock *clock, struct sample_head *head)
{
	const int64_t wall_ns = bounded((__int128)head->time_ns - head->start_ns);
	const bool was_set = !clock->has_begun ||
			     distance(wall_ns, clock->wall_ns) > WALL_CLOCK_NOISE_NS;

	if (was_set)
		clock->wall_ns = wall_ns;
	head->time_ns = bounded((__int128)clock->wall_ns + head->start_ns);
	return was_set && clock->has_begun;
}

/* Finds the time of the freshest row; false if no row is whole. */
static bool find_row(const struct clock_source *source, const struct sample *sample,
		     uint64_t *row_ns, int64_t *since_boot_ns)
{
	const struct sample_entry *entry = &sample->entries[source->entry];
	const struct dart_schema *schema = entry->entry->schema;
	const char *row = entry->copies;
	uint64_t time_ns;
	uint32_t i;

	*row_ns = 0;
	for (i = 0; i < entry->entry->copies && i < ROWS_MAX; i++, row += schema->length) {
		if (dart_row__state(schema, row) != DART_ROW_WHOLE)
			continue;
		time_ns = dart_row__time(schema, row);
		if (time_ns > INT64_MAX || time_ns <= *row_ns)
			continue;
		*row_ns = time_ns;
		if (source->boot_time)
			*since_boot_ns =
				bounded((int64_t)dart_field__get(source->boot_time, row, 0));
	}
	return *row_ns;
}

static bool host_clock__is_same(const struct host_clock *clock, int64_t told_ns,
				const struct sample *sample)
{
	const uint64_t uncertainty_ns = sample->head.clock_uncertainty_ns;

	return clock->has_begun && clock->told_uncertainty_ns == uncertainty_ns &&
	       (!uncertainty_ns || distance(clock->told_ns, told_ns) <= WALL_CLOCK_NOISE_NS) &&
	       !memcmp(clock->boot_id, sample->table->boot_id, sizeof(clock->boot_id));
}

/* Starts a connection, at its first sample, with the clock that the host announced. */
static void host_clock__begin(struct host_clock *clock, int64_t told_ns,
			      const struct sample *sample)
{
	const struct sample_head *head = &sample->head;
	int64_t start_ns;
	bool is_same_boot;

	if (host_clock__is_same(clock, told_ns, sample))
		return;
	is_same_boot = clock->has_begun &&
		       !memcmp(clock->boot_id, sample->table->boot_id, sizeof(clock->boot_id));
	clock->has_begun = true;
	clock->told_ns = told_ns;
	clock->told_uncertainty_ns = head->clock_uncertainty_ns;
	clock->is_told = head->clock_uncertainty_ns;
	clock->began_ns = head->start_ns;
	clock->window_ns = head->start_ns;
	clock->has_least = false;
	clock->has_bounds = false;
	clock->is_checked = false;
	memcpy(clock->boot_id, sample->table->boot_id, sizeof(clock->boot_id));

	start_ns = bounded((__int128)clock->since_boot_ns - told_ns);
	clock->other_start_ns = is_same_boot ? clock->start_ns : start_ns;
	if (!is_same_boot)
		clock->row_ns = 0;
	/*
	 * A second handshake with the same host yields the same start, but not to the nanosecond.
	 */
	if (!is_same_boot ||
	    distance(start_ns, clock->start_ns) > clock->told_uncertainty_ns + WALL_CLOCK_NOISE_NS)
		clock->start_ns = start_ns;
	clock->told_apart_ns = distance(start_ns, clock->start_ns);
}

/* True if a host whose freshest row permits @latest_ns can have started at @start_ns. */
static bool is_likely(int64_t start_ns, int64_t latest_ns, uint64_t interval_ns,
		      uint64_t uncertainty_ns)
{
	const __int128 slack_ns = (__int128)uncertainty_ns + WRITING_NS;

	return start_ns <= latest_ns + slack_ns &&
	       start_ns >= (__int128)latest_ns - 2 * (__int128)interval_ns - LATE_NS - slack_ns;
}

/*
 * Checks the start with the first row of a connection. The handshake's start is wrong if the
 * host's clock was set between table and handshake, or if the host lies.
 */
static void host_clock__check(struct host_clock *clock, const struct clock_source *source,
			      int64_t latest_ns)
{
	clock->is_checked = true;
	if (is_likely(clock->start_ns, latest_ns, source->interval_ns,
		      clock->is_told ? clock->told_uncertainty_ns : 0))
		return;
	clock->is_told = false;
	clock->start_ns = is_likely(clock->other_start_ns, latest_ns, source->interval_ns, 0) ?
				  clock->other_start_ns :
				  latest_ns;
	clock->has_bounds = true;
	clock->bounds_since_ns = clock->window_ns;
	clock->latest_ns = latest_ns;
	clock->earliest_ns = bounded((__int128)latest_ns - source->interval_ns - LATE_NS);
}

static void host_clock__end_window(struct host_clock *clock, const struct clock_source *source,
				   uint64_t now_ns)
{
	clock->earliest_ns = bounded((__int128)clock->least_ns - source->interval_ns -
				     source->interval_ns / 4 - WRITING_NS);
	clock->latest_ns = clock->least_ns;
	clock->bounds_since_ns = clock->window_ns;
	clock->has_bounds = true;
	if (clock->start_ns < clock->earliest_ns)
		clock->start_ns = clock->earliest_ns;
	clock->has_least = false;
	clock->window_ns = now_ns;
}

static void host_clock__compare(struct host_clock *clock, const struct clock_source *source,
				const struct sample_head *head, uint64_t row_ns)
{
	const int64_t latest_ns = bounded((__int128)head->landed_ns - row_ns);

	if (!clock->is_checked)
		host_clock__check(clock, source, latest_ns);
	if (clock->start_ns > latest_ns)
		clock->start_ns = latest_ns;
	/* Any other row counts, even an older one: the previous row may have been a lie. */
	if (row_ns == clock->row_ns)
		return;
	clock->row_ns = row_ns;
	if (!clock->has_least || latest_ns < clock->least_ns)
		clock->least_ns = latest_ns;
	clock->has_least = true;
	if (head->start_ns - clock->window_ns >= HOST_CLOCK_WINDOW_NS)
		host_clock__end_window(clock, source, head->start_ns);
}

static uint64_t drift(uint64_t since_ns, uint64_t now_ns)
{
	return (now_ns - since_ns) / 1000000000 * DRIFT_PER_SECOND_NS;
}

/* Returns 0 if the uncertainty is unknown. */
static uint64_t host_clock__uncertainty(const struct host_clock *clock, uint64_t now_ns)
{
	uint64_t least_ns = UINT64_MAX, bound_ns;

	if (clock->is_told)
		least_ns = clock->told_uncertainty_ns + clock->told_apart_ns +
			   drift(clock->began_ns, now_ns);
	if (clock->has_bounds) {
		bound_ns = distance(clock->latest_ns, clock->start_ns);
		if (bound_ns < distance(clock->start_ns, clock->earliest_ns))
			bound_ns = distance(clock->start_ns, clock->earliest_ns);
		bound_ns += drift(clock->bounds_since_ns, now_ns);
		if (bound_ns < least_ns)
			least_ns = bound_ns ?: 1;
	}
	return least_ns == UINT64_MAX ? 0 : least_ns;
}

/* Judges by two samples in a row: a host that was halted for a moment may produce one outlier. */
static unsigned int host_clock__judge(struct host_clock *clock, uint64_t bound_ns,
				      const struct sample_clock *found)
{
	const uint64_t size_ns = distance(found->offset_ns, 0);
	const bool is_beyond = found->uncertainty_ns && size_ns > bound_ns &&
			       size_ns - bound_ns > found->uncertainty_ns;
	const bool was_off = clock->is_off;

	if (is_beyond && clock->was_beyond)
		clock->is_off = true;
	else if (found->uncertainty_ns && size_ns <= bound_ns)
		clock->is_off = false;
	clock->was_beyond = is_beyond;
	if (clock->is_off == was_off)
		return 0;
	return clock->is_off ? HOST_CLOCK_IS_OFF : HOST_CLOCK_IS_RIGHT;
}

unsigned int host_clock__take(struct host_clock *clock, uint64_t bound_ns,
			      const struct clock_source *source, struct sample *sample)
{
	struct sample_head *head = &sample->head;
	struct sample_clock *found = &sample->clock;
	/*
	 * Computed before host_clock__date() evens the time, so that all samples yield the same
	 * number.
	 */
	const int64_t told_ns =
		bounded((__int128)head->time_ns + head->clock_offset_ns - head->start_ns);
	bool was_wall_set, has_row = false;
	int64_t since_boot_ns = 0;
	uint64_t row_ns = 0;
	unsigned int news;

	was_wall_set = host_clock__date(clock, head);
	if (source->is_there)
		has_row = find_row(source, sample, &row_ns, &since_boot_ns);
	if (has_row && source->boot_time) {
		clock->since_boot_ns = since_boot_ns;
		clock->is_since_boot_read = true;
	} else if (!source->boot_time || !clock->is_since_boot_read) {
		clock->since_boot_ns = bounded(sample->table->clock_offset_ns);
	}
	host_clock__begin(clock, told_ns, sample);
	if (has_row)
		host_clock__compare(clock, source, head, row_ns);

	found->boot_ns = bounded((__int128)head->start_ns - clock->start_ns);
	found->offset_ns = bounded((__int128)found->boot_ns + clock->since_boot_ns - head->time_ns);
	found->uncertainty_ns = host_clock__uncertainty(clock, head->start_ns);
	news = host_clock__judge(clock, bound_ns, found);
	found->is_off = clock->is_off;
	return news | (was_wall_set ? HOST_CLOCK_WALL_WAS_SET : 0);
}
