// SPDX-License-Identifier: GPL-2.0-only
/*
 * list-sim: the entries of a list of a journal that its reader misses, with libdart's appender and
 * cursor, beside the theory.  WRITEs are lost at random; batches are flushed after some of their
 * entries, or not; and the reader looks at the ring again after some batches.
 *
 * An entry is missing if all WRITEs that contain it are lost, or if the ring has lapped the reader.
 * Prints CSV, and fails if a share differs from the theory by more than a point, if an entry is
 * wrong, or if entries are missing of which the reader was not told.
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/journal/journal_cursor.h>
#include <libdart/random.h>

#define BATCHES	20480
#define POINT	0.01
/*
 * A place whose batch got lost contains the batch of the lap before, which a reader that was lapped
 * may take: the theory leaves that out.
 */
#define LAPPED_LOSS_MAX	0.01
#define START	1

static const struct dart_journal_geometry geometry = {
	.parts = 1,
	.lists_log2 = 0,
	.batches_log2 = 6,
	.batch_log2 = 9,
	.entry_length = 40,
};

/* The parameters of a run, and its ring. */
struct list {
	double loss;
	uint32_t flush_every; /* entries of a batch; 0: full batches only */
	uint32_t look_every; /* batches */
	uint8_t *ring;
	struct dart_random random;
	struct dart_journal_cursor cursor;
	/* Of the reader. */
	uint64_t found;
	uint64_t next; /* number of the next entry */
	uint64_t told; /* entries at most that it was told to be missing before that one */
	bool is_wrong;
};

static uint32_t capacity(void)
{
	return dart_journal_geometry__capacity(&geometry);
}

static void take_event(void *context, const struct dart_journal_event *event)
{
	struct list *list = context;
	uint64_t number = (event->sequence - 1) * (uint64_t)capacity() + event->first, value;
	uint32_t i;

	if (event->outcome != DART_JOURNAL_ENTRIES_FOUND) {
		list->told += event->batches * capacity();
		return;
	}
	if (number < list->next || number - list->next > list->told)
		list->is_wrong = true;
	for (i = 0; i < event->count; i++, number++) {
		memcpy(&value, event->entries + (size_t)i * geometry.entry_length, sizeof(value));
		if (value != number)
			list->is_wrong = true;
	}
	list->found += event->count;
	list->next = number;
	list->told = 0;
}

static void look(struct list *list)
{
	static uint8_t copies[DART_JOURNAL_PLACES_MAX << DART_JOURNAL_BATCH_LOG2_MAX];
	const size_t length = (size_t)1 << geometry.batch_log2;
	uint32_t places[DART_JOURNAL_PLACES_MAX], count, i;

	do {
		count = dart_journal_cursor__plan(&list->cursor, &geometry, places);
		for (i = 0; i < count; i++)
			memcpy(copies + i * length, list->ring + places[i] * length, length);
	} while (dart_journal_cursor__take(&list->cursor, &geometry, places, count, copies,
					   take_event, list));
}

static void deliver(struct list *list, const struct dart_journal_write *write, bool is_sure)
{
	if (is_sure || dart_random__fraction(&list->random) >= list->loss)
		memcpy(list->ring + write->offset, write->bytes, write->length);
}

/* One batch of entries, each of which contains its number. */
static void append_batch(struct list *list, struct dart_journal_appender *appender,
			 uint64_t batch)
{
	const bool is_sure = batch < 1 || batch >= BATCHES - 2;
	uint8_t entry[DART_JOURNAL_ENTRY_MAX] = { 0 };
	struct dart_journal_write write;
	uint64_t number;
	uint32_t i;

	for (i = 0; i < capacity(); i++) {
		number = batch * capacity() + i;
		memcpy(entry, &number, sizeof(number));
		if (dart_journal_appender__append(appender, 0, entry, &write))
			deliver(list, &write, is_sure);
		else if (list->flush_every && (i + 1) % list->flush_every == 0 &&
			 dart_journal_appender__flush(appender, 0, &write))
			deliver(list, &write, is_sure);
	}
	if (is_sure || (batch + 1) % list->look_every == 0)
		look(list);
}

/* The share of entries that the reader misses; -1 without memory. */
static double measure(struct list *list)
{
	struct dart_journal_appender *appender = NULL;
	uint64_t batch;

	list->ring = calloc(1, dart_journal_geometry__part(&geometry));
	if (!list->ring || dart_journal_appender__new(&geometry, START, &appender)) {
		free(list->ring);
		return -1;
	}
	dart_journal_cursor__init(&list->cursor);
	for (batch = 0; batch < BATCHES; batch++)
		append_batch(list, appender, batch);
	/* A batch is lost when the reader has looked again. */
	look(list);
	dart_journal_appender__free(appender);
	free(list->ring);
	return 1 - (double)list->found / ((double)BATCHES * capacity());
}

static double theory(const struct list *list)
{
	const double ring = 1u << geometry.batches_log2;
	const double kept = list->look_every > ring ? ring / list->look_every : 1;
	double missing = 0;
	uint32_t entry, after, writes;

	for (entry = 1; entry <= capacity(); entry++) {
		writes = 1;
		for (after = entry; list->flush_every && after < capacity(); after++)
			writes += after % list->flush_every == 0;
		missing += pow(list->loss, writes);
	}
	return 1 - kept * (1 - missing / capacity());
}

int main(void)
{
	static const double losses[] = { 0, 0.001, 0.01, 0.05, 0.2 };
	static const uint32_t flushes[] = { 0, 6, 2, 1 };
	static const uint32_t looks[] = { 1, 32, 64, 128, 640 };
	double measured, expected;
	bool agrees = true;
	size_t i, k, m;

	puts("loss,entries a flush,batches a look,entries missing,theory");
	for (i = 0; i < sizeof(losses) / sizeof(*losses); i++)
		for (k = 0; k < sizeof(flushes) / sizeof(*flushes); k++)
			for (m = 0; m < sizeof(looks) / sizeof(*looks); m++) {
				struct list list = {
					.loss = losses[i],
					.flush_every = flushes[k],
					.look_every = looks[m],
					.random = dart_random__of(1),
				};

				if (list.loss > LAPPED_LOSS_MAX &&
				    list.look_every >> geometry.batches_log2 > 1)
					continue;
				measured = measure(&list);
				expected = theory(&list);
				printf("%g,%u,%u,%.4f,%.4f\n", list.loss, list.flush_every,
				       list.look_every, measured, expected);
				agrees &= fabs(measured - expected) <= POINT && !list.is_wrong;
			}
	if (!agrees)
		fputs("list-sim: a share differs from theory by more than a point, or an entry is wrong\n",
		      stderr);
	return agrees ? EXIT_SUCCESS : EXIT_FAILURE;
}
