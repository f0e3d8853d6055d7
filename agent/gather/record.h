/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A record that dartd gathers, and its rows, as described in <linux/dart_zero.h>, "Records".  One
 * thread at a time writes a record.
 */
#ifndef RECORD_H
#define RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <linux/dart_zero.h>

#include "bpf/gather/exchange.h"
#include "disk_ticks.h"
#include "record_pages.h"

struct gatherer;
struct own_sample;
struct shared_file;

struct record {
	TAILQ_ENTRY(record) link; /* in the list of its gatherer */
	struct gatherer *gatherer;
	struct gather_question question;
	struct shared_file *file; /* whose descriptor the question has; or NULL */
	struct own_sample *own; /* instead of a question: dartd samples by itself */
	uint32_t id;
	uint32_t slab; /* id of the extent of @pages */
	struct record_pages *pages;
	uint32_t first_line;
	uint32_t row_lines;
	uint32_t rows; /* room */
	uint32_t used_rows; /* rows that are not empty */
	uint32_t words; /* length of a row, without sequences */
	uint32_t sequence; /* of the last row that was written */
	enum dart_zero_record_form form;
	struct disk_ticks disk_ticks; /* of a disk */
	bool never_falls; /* a value lower than before is not written */
	bool is_gone; /* its object ended, and an event of the region says so */
	uint32_t piece_count;
	/* Of a copy that begins at byte question.offset of the variable. */
	struct dart_zero_piece pieces[];
};

/*
 * Makes a record without a place, in the form and with the pieces of @wanted, for copies of @length
 * bytes.  -EINVAL: the pieces are malformed, or too many for a row; -ENOMEM.
 */
int record__new(const struct dart_zero_record *wanted, uint64_t length, struct record **record);
/* The question is about the object that @fd, the caller's, refers to.  Returns 0 or -errno. */
int record__refer(struct record *record, int fd);
/* Frees a record without a place, and gives the descriptor of its question back. */
void record__free(struct record *record);

/* Takes lines for @record->rows rows.  -ENOSPC: @pages lack free lines. */
int record__place(struct record *record, struct record_pages *pages);
/* Makes the rows empty and gives the lines back. */
void record__displace(struct record *record);

/*
 * Writes row @row: @time of gathering (CLOCK_BOOTTIME, ns), @number of the CPU, node or device
 * (unless the form is a sum), and the sums of the pieces over @count copies, which lie @stride
 * bytes apart from @copies on.
 */
void record__write(struct record *record, uint32_t row, uint64_t time, uint64_t number,
		   const uint8_t *copies, uint32_t count, uint64_t stride);
/* Ends a gathering that wrote the first @rows rows: empties the others. */
void record__finish(struct record *record, uint32_t rows);

#endif /* RECORD_H */
