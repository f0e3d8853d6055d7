// SPDX-License-Identifier: GPL-2.0-only
/* Questions to programs, answers into rows. */
#include <errno.h>
#include <string.h>

#include <libdart/clock.h>

#include "answers.h"
#include "asker.h"
#include "own_sample.h"

int asker__open(struct asker *asker, uint32_t cpus, struct dart_error *error)
{
	*asker = (struct asker){ .cpus = cpus };
	return gather_programs__open(&asker->programs, cpus, error);
}

void asker__close(struct asker *asker)
{
	namespace_list__free(&asker->namespaces);
	gather_programs__close(&asker->programs);
}

/* Records whose values programs are asked for, in the order of their questions. */
struct batch {
	struct asker *asker;
	struct record *const *records;
	struct dart_zero_gathering *cost;
};

static void take_answer(void *owner, uint32_t index)
{
	const struct batch *batch = owner;
	struct gather_exchange *exchange = batch->asker->programs.exchange;
	const struct gather_question *question = &exchange->questions[index];
	struct record *record = batch->records[index];

	record->question.identity = question->identity;
	switch (question->answer) {
	case GATHER_VALUES:
		answers__write(exchange, question, record);
		batch->cost->records++;
		break;
	case GATHER_ABSENT:
		record__finish(record, 0);
		batch->cost->records++;
		break;
	case GATHER_ENDED:
		record->is_gone = true;
		break;
	}
}

void asker__ask(struct asker *asker, struct record *const *records, uint32_t count,
		struct dart_zero_gathering *cost)
{
	struct gather_exchange *exchange = asker->programs.exchange;
	struct batch batch = { .asker = asker, .records = records, .cost = cost };
	uint32_t i;

	exchange->count = count;
	for (i = 0; i < count; i++)
		exchange->questions[i] = records[i]->question;
	cost->stale += gather_programs__answer(&asker->programs, take_answer, &batch);
}

/* Takes a sample, and makes sure that the values belong to the namespace of the record. */
static int take_own(struct asker *asker, struct own_sample *own, uint32_t index, void *values,
		    uint64_t *number, uint64_t *time)
{
	int ret = own->kind->sample(own, index, values, number, time);

	if (ret || !own->netns)
		return ret;
	return namespace_list__confirm(&asker->namespaces, &asker->programs, own->netns,
				       &own->identity, *time);
}

static void sample_by_itself(struct asker *asker, struct record *record,
			     struct dart_zero_gathering *cost)
{
	uint64_t values[GATHER_COPY_MAX / sizeof(uint64_t)], number = 0, time;
	uint32_t i, row = 0;
	int ret = 0;

	for (i = 0; i < record->rows && ret != -EAGAIN && ret != -ENODEV; i++) {
		memset(values, 0, subject__find(record->question.source)->length);
		time = dart_clock__ns(CLOCK_BOOTTIME);
		ret = take_own(asker, record->own, i, values, &number, &time);
		if (!ret)
			record__write(record, row++, time, number, (uint8_t *)values, 1, 0);
	}
	if (ret == -ENODEV) {
		record->is_gone = true;
	} else if (ret == -EAGAIN) {
		/* Earlier rows may be written: the next pass needs another sequence. */
		record__finish(record, record->used_rows);
		cost->stale++;
	} else {
		record__finish(record, row);
		cost->records++;
	}
}

/* The record of SOURCE_GATHERING contains the cost of its own interval. */
static void write_cost(struct record *record, struct dart_zero_gathering *cost)
{
	record__write(record, 0, dart_clock__ns(CLOCK_BOOTTIME), 0, (const uint8_t *)cost, 1, 0);
	record__finish(record, 1);
	cost->records++;
}

void asker__sample(struct asker *asker, struct record *record, struct dart_zero_gathering *cost)
{
	if (record->own)
		sample_by_itself(asker, record, cost);
	else
		write_cost(record, cost);
}
