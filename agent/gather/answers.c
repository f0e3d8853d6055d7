// SPDX-License-Identifier: GPL-2.0-only
#include <stdbool.h>
#include <string.h>

#include <libdart/clock.h>

#include "answers.h"
#include "disk_ticks.h"
#include "subject.h"

/* Writes copies of a variable, by CPU or their sum. */
static void write_copies(const struct gather_exchange *exchange,
			 const struct gather_question *question, struct record *record)
{
	const uint8_t *copies = exchange->output + question->at;
	const uint64_t time = exchange->time;
	uint32_t i, cpu, row = 0;

	if (record->form == DART_ZERO_RECORD_SUM) {
		record__write(record, 0, time, 0, copies, question->rows, question->length);
		record__finish(record, 1);
		return;
	}
	for (i = 0; i < question->rows && row < record->rows; i++) {
		cpu = exchange->cpus[i];
		if (exchange->online[cpu / 64] >> cpu % 64 & 1)
			record__write(record, row++, time, cpu,
				      copies + (uint64_t)i * question->length, 1, 0);
	}
	record__finish(record, row);
}

/* Writes a sample with one row, or several. */
static void write_sample(const struct gather_exchange *exchange,
			 const struct gather_question *question, struct record *record)
{
	const struct subject *subject = subject__find(question->source);
	const uint8_t *rows = exchange->output + question->at;
	const uint64_t stride = subject->length + sizeof(struct gather_row);
	struct gather_row row;
	uint32_t i;

	if (subject->rows == SOURCE_ROWS_NONE) {
		record__write(record, 0, exchange->time, 0, rows, 1, 0);
		record__finish(record, 1);
		return;
	}
	for (i = 0; i < question->rows && i < record->rows; i++) {
		memcpy(&row, rows + i * stride, sizeof(row));
		record__write(record, i, exchange->time, row.number,
			      rows + i * stride + sizeof(row), 1, 0);
	}
	record__finish(record, i);
}

/* Programs cannot find out this value, and leave it 0. */
static void set_tai(uint8_t *sample)
{
	struct dart_zero_clock *clock = (struct dart_zero_clock *)sample;
	const int64_t ahead = dart_clock__ns(CLOCK_TAI) - dart_clock__ns(CLOCK_REALTIME);

	/* Round, because some time passed between the two calls. */
	clock->tai = (ahead + (ahead < 0 ? -500000000 : 500000000)) / 1000000000;
}

void answers__write(struct gather_exchange *exchange, const struct gather_question *question,
		    struct record *record)
{
	uint8_t *sample = exchange->output + question->at;

	if (question->length) {
		write_copies(exchange, question, record);
		return;
	}
	if (question->source == DART_ZERO_SOURCE_CLOCK)
		set_tai(sample);
	if (question->source == DART_ZERO_SOURCE_DISK_IO)
		disk_ticks__keep(&record->disk_ticks, (struct dart_zero_disk_io *)sample);
	write_sample(exchange, question, record);
}
