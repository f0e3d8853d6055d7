// SPDX-License-Identifier: GPL-2.0-only
/*
 * Takes the tables of a connected target, and plans scrapes for its I/O thread, always in the turn
 * of the control loop: the I/O thread leaves the transport and the ring alone meanwhile.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/clock.h>
#include <libdart/error.h>

#include "target_private.h"
#include "tools/controller/condition/condition.h"
#include "tools/controller/decode/budget.h"

static bool target__has_room(struct target *target, size_t size, int err)
{
	if (!err)
		return true;
	target__lose(target, "cannot reserve %zu bytes: %s%s", size, strerror(-err),
		     err == -ENOMEM ? " (check ulimit -l)" : "");
	return false;
}

/* Memory for the table. */
static bool target__reserve_table(struct target *target)
{
	struct transport *transport = target->transport;
	const uint32_t length = target->fetch.read.length;

	target->io.fetch_delay_ns = 0;
	return target__has_room(target, length, transport->operations->reserve(transport, length));
}

void target__prepare_fetch(struct target *target)
{
	if (target__reserve_table(target))
		io_target__fetch(&target->io);
}

void target__fetch_again(struct target *target)
{
	io_target__fetch(&target->io);
}

static bool target__land_in_ring(struct target *target)
{
	struct transport *transport = target->transport;
	struct ring *ring = target->io.ring;

	return target__has_room(target, ring__size(ring),
				transport->operations->prepare(transport, ring));
}

/* Logs the first scraped entry that @table lacks, and the number of such entries. */
static void target__log_removed(struct target *target, const struct dart_table *table)
{
	const char *first = NULL;
	uint32_t gone;

	/* Entries chosen by name are reported as absent instead. */
	if (target->settings->entries)
		return;
	gone = dart_table__count_removed(&target->io.ring->scraper->table, table, &first);
	if (gone == 1)
		target__log_table(target, "entry '%s' no longer exists", first);
	else if (gone)
		target__log_table(target, "entry '%s' and %u others no longer exist", first,
				  gone - 1);
}

static uint64_t fragments_of(const struct scraper *scraper)
{
	uint64_t fragments = 0;
	uint32_t i;

	for (i = 0; i < scraper->read_count; i++)
		fragments += (scraper->reads[i].length + CREDIT_FRAGMENT - 1) / CREDIT_FRAGMENT;
	return fragments;
}

/* The READs of @table, which is freed with them or at once. */
static bool target__plan(struct target *target, struct dart_table *table)
{
	const struct options *options = target->context->options;
	const struct settings chosen = target_settings__chosen(target->settings);
	const struct scraper_use use = {
		.catalogs = target->context->catalogs,
		.value_bytes = options->once && !options->json ? BUDGET_CELL_BYTES :
								 BUDGET_TEXT_BYTES,
		.is_compared = target->context->sink->compares,
	};
	struct scraper *scraper;
	struct dart_error error;

	if (scraper__new(table, &chosen, &use, &target->transport->accept, &scraper, &error)) {
		target__lose(target, "%s", error.text);
		return false;
	}
	target->io.ring = ring__new(scraper);
	if (!target->io.ring) {
		target__lose(target, "out of memory");
		return false;
	}
	target->io.ring->table = target->tapped;
	target->tapped = (struct tap_table){};
	return true;
}

/* NULL: there is none. */
static void *target__mirror(const struct target *target, uint32_t *size)
{
	const struct transport *transport = target->transport;

	return transport->operations->mirror ? transport->operations->mirror(transport, size) :
					       NULL;
}

/* True if @table has entries that the scraped one has not, and the agent tells of them. */
static bool target__has_news(const struct target *target, const struct dart_table *table)
{
	uint64_t generation;
	uint32_t i;

	if (!target->io.ring || !target->transport->is_told)
		return false;
	generation = target->io.ring->scraper->table.generation;
	for (i = 0; i < table->entry_count; i++)
		if (table->entries[i].since > generation)
			return true;
	return false;
}

/* Entries that the mirror tells of from now on are READ alone; the table has @generation. */
static void target__expect_added(struct target *target, uint64_t generation, bool is_told)
{
	uint32_t size;

	if (!is_told || target->has_added_failed)
		target->added_generation = generation;
	target->has_added_failed = false;
	target->io.takes_parts = target->context->sink->takes_parts &&
				 target__mirror(target, &size);
}

/* From now on the time of the control loop is the cost of a table. */
static void target__begin_table(struct target *target)
{
	target->table_begun_ns = dart_clock__ns(CLOCK_THREAD_CPUTIME_ID);
}

/* The table, or the attempt to take it, is paid: the I/O thread goes on. */
static void target__end_table(struct target *target)
{
	target->io.age.cost_ns =
		dart_clock__ns(CLOCK_THREAD_CPUTIME_ID) - target->table_begun_ns;
	io_target__go_on(&target->io);
}

/* @is_told: by the mirror, and not READ. */
static void target__take_table(struct target *target, struct dart_table *table, bool is_told)
{
	const bool once = target->context->options->once;
	const uint64_t generation = table->generation;
	struct io_target *io = &target->io;
	const bool first = !io->ring;
	struct io_thread *thread;
	const char *absent;

	io->age.lease_ns = table->lease_ms * 1000000ULL;
	if (is_told)
		table_age__tell(&io->age);
	else
		table_age__renew(&io->age, io->posted_ns);
	/* Unless these entries were READ alone, or will be: the next look finds them. */
	io->has_news = (!is_told || !io->takes_parts || target->has_added_failed) &&
		       target__has_news(target, table);
	if (!first)
		target__log_removed(target, table);
	target__drop_table(target);
	if (!target__plan(target, table) || !target__land_in_ring(target))
		return;
	target__count(target, target->transport->scrape.bytes);
	target__expect_added(target, generation, is_told);
	absent = io->ring->scraper->absent;
	if (absent && once) {
		target__lose(target, "no entry '%s' (see dartctl list on the host)", absent);
		return;
	}
	thread = target->transport->operations->is_call ?
			 target->thread :
			 io_threads__choose(&target->context->io, target->team,
					    fragments_of(io->ring->scraper));
	if (thread != target->thread) {
		target__move(target, thread);
		return;
	}

	handshakes__end(&target->context->handshakes, &target->handshake);
	target->last_error.text[0] = '\0';
	if (first)
		target->since_ns = monotonic_ns();
	if (!once && first)
		target__log(target, "connected, generation %llu, entries %u",
			    (unsigned long long)generation, io->ring->scraper->table.entry_count);
	else if (!once)
		target__log_table(target, "table changed, generation %llu, entries %u",
				  (unsigned long long)generation,
				  io->ring->scraper->table.entry_count);
	if (absent)
		target__log_table(target, "no entry '%s' yet", absent);
	target__end_table(target);
}

/* Values that are due meanwhile are scraped by the table before. */
static void target__fetch_later(struct target *target, const struct dart_error *error)
{
	const uint64_t delay_us = fetch__delay_us(&target->fetch);
	struct io_target *io = &target->io;
	int err = 0;

	if (!io->ring) {
		timer__set(&target->retry_timer, delay_us);
		return;
	}
	if (target->fetch.tries == FETCH_TRIES_MAX) {
		target__log_table(target, "no values until the table settles: %s", error->text);
		err = decoder__lose(&io->decoder, error->text);
	}
	if (err) {
		target__finish(target, err);
		return;
	}
	io->fetch_delay_ns = delay_us * 1000;
	target__end_table(target);
}

/* Keeps the bytes of the table for the tap. */
static void target__keep_bytes(struct target *target, const void *bytes, uint32_t length)
{
	free(target->tapped.bytes);
	target->tapped = (struct tap_table){};
	if (!target->context->tap)
		return;
	/* Without memory, scrapes of this table are left out. */
	target->tapped.bytes = malloc(length);
	if (!target->tapped.bytes)
		return;
	target->tapped.length = length;
	memcpy(target->tapped.bytes, bytes, length);
}

/* The agent changes the table that was READ by its updates. */
static void target__fill_mirror(struct target *target, const void *bytes, uint32_t length)
{
	uint32_t size;
	void *mirror = target__mirror(target, &size);

	if (mirror && length <= size)
		memcpy(mirror, bytes, length);
}

/* Bytes of the table in the mirror, as the agent says. */
static uint32_t target__mirror_length(const struct target *target)
{
	struct dart_control_header header;
	uint32_t size;

	memcpy(&header, target__mirror(target, &size), sizeof(header));
	return le32toh(header.table_length);
}

/* Copies the mirror, which the agent may change meanwhile; NULL: it holds no table. */
static void *target__copy_mirror(const struct target *target, uint32_t *length)
{
	uint32_t size;
	const void *mirror = target__mirror(target, &size);
	void *copy;

	*length = target__mirror_length(target);
	if (*length > size || *length < sizeof(struct dart_control_header))
		return NULL;
	copy = malloc(*length);
	if (copy)
		memcpy(copy, mirror, *length);
	return copy;
}

/* Decodes a copy of the mirror.  NULL: it does not hold a whole table. */
static struct dart_table *target__decode_mirror(struct target *target, void **copy,
						uint32_t *length)
{
	struct dart_table *table = NULL;
	struct dart_error reason;
	size_t needed;

	*copy = target__copy_mirror(target, length);
	if (!*copy)
		return NULL;
	return dart_table__decode(*copy, *length, &table, &needed, &reason) ? NULL : table;
}

/*
 * Plans the READs of @added, which is freed with them or at once; false if they are too many.  Their
 * ranges became readable after the time at which the table was last known to be current, so within a
 * lease from then the values need no header that shows it.
 */
static bool target__plan_added(struct target *target, struct dart_table *added)
{
	const struct settings chosen = target_settings__chosen(target->settings);
	const struct scraper_use use = { .value_bytes = BUDGET_TEXT_BYTES };
	const struct transport *transport = target->transport;
	struct scraper *scraper;
	struct dart_error error;
	struct ring *ring;

	if (scraper__new(added, &chosen, &use, &transport->accept, &scraper, &error))
		return false;
	ring = ring__new(scraper);
	if (!ring)
		return false;
	ring->is_partial = true;
	ring->lacks_header = table_age__permits(&target->io.age, monotonic_ns());
	if (!scraper->catalog->wanted_count) {
		ring__release(ring);
		return true;
	}
	if (transport->operations->prepare_added(target->transport, ring)) {
		ring__release(ring);
		return false;
	}
	target->io.added = ring;
	return true;
}

/* In the turn of the caller: of the control loop or of the I/O thread. */
static void target__find_added(struct target *target)
{
	struct io_target *io = &target->io;
	const uint64_t instance = io->ring->scraper->table.instance;
	struct dart_table *added = NULL;
	struct dart_error reason;
	uint64_t generation = 0;
	bool is_taken = false;
	uint32_t length;
	void *copy;

	copy = target__copy_mirror(target, &length);
	io->age.length = copy ? length : 0;
	if (copy && !dart_table__decode_added(copy, length, target->added_generation, &added,
					      &reason)) {
		generation = added->generation;
		if (added->instance == instance)
			is_taken = target__plan_added(target, added);
		else
			dart_table__free(added);
	}
	free(copy);
	/* Otherwise the whole table is looked at, and scraped at once. */
	if (is_taken)
		target->added_generation = generation;
	else
		target->has_added_failed = true;
}

void target__take_added(struct target *target)
{
	target__find_added(target);
	io_target__go_on(&target->io);
}

/* Bytes of a table in which the I/O thread looks for added entries. */
#define FOUND_BYTES_MAX 65536

bool target__finds_added(struct io_target *io)
{
	struct target *target = (struct target *)io;

	if (target__mirror_length(target) > FOUND_BYTES_MAX)
		return false;
	target__find_added(target);
	return true;
}

void target__take_told(struct target *target)
{
	struct io_target *io = &target->io;
	const struct dart_table *known = &io->ring->scraper->table;
	struct dart_table *table;
	uint32_t length;
	void *copy;

	target__begin_table(target);
	table = target__decode_mirror(target, &copy, &length);
	if (table && table->instance == known->instance && table->generation > known->generation) {
		count__add(&target->summary.told, 1);
		condition__count_told(target->context->condition, false);
		target__keep_bytes(target, copy, length);
		target__take_table(target, table, true);
	} else {
		/* The one that is known was READ when the update ended. */
		if (!table || table->generation != known->generation) {
			count__add(&target->summary.gaps, 1);
			condition__count_told(target->context->condition, true);
			io->age.changed = true;
		}
		dart_table__free(table);
		target__end_table(target);
	}
	free(copy);
}

void target__take_landed(struct target *target)
{
	struct transport *transport = target->transport;
	enum fetch_result result;
	struct dart_error error;
	struct dart_table *table;

	target__begin_table(target);
	result = fetch__take(&target->fetch, transport->operations->table(transport), &table,
			     &error);
	if (result == FETCH_DONE) {
		const void *bytes = transport->operations->table(transport);

		target__keep_bytes(target, bytes, target->fetch.read.length);
		target__fill_mirror(target, bytes, target->fetch.read.length);
	}
	/* Until the table is fetched again, which is a rare event. */
	if (result == FETCH_DONE || (result == FETCH_LATER && target->io.ring))
		transport->operations->unreserve(transport);
	switch (result) {
	case FETCH_DONE:
		target__take_table(target, table, false);
		break;
	case FETCH_AGAIN:
		target__prepare_fetch(target);
		break;
	case FETCH_LATER:
		target__fetch_later(target, &error);
		break;
	case FETCH_REFUSED:
		target__lose(target, "%s", error.text);
		break;
	}
}

void target__hand_over(struct target *target)
{
	struct target_context *context = target->context;
	struct io_target *io = &target->io;
	int err;

	err = flow__open(&io->flow, context->flow_control, target->settings->class,
			 target->transport, io_thread__taker(target->thread));
	if (err) {
		target__finish(target, err);
		return;
	}
	io->thread = target->thread;
	io->transport = target->transport;
	io->deadline_ns = target->connect_deadline_ns;
	io->age = (struct table_age){};
	io->takes_parts = false;
	target->has_added_failed = false;
	fetch__begin(&target->fetch, &target->transport->accept);
	if (!target__reserve_table(target))
		return;
	timer__stop(&target->scrape_timer);
	timer__stop(&target->retry_timer);
	timer__stop(&target->connect_timeout);
	target->state = TARGET_READING;
	io_target__adopt(io);
}
