/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the halves of the recorder: recorder.c makes records in the threads that call the
 * tap, recorder_thread.c writes them.
 */
#ifndef CONTROLLER_RECORDER_PRIVATE_H
#define CONTROLLER_RECORDER_PRIVATE_H

#include <pthread.h>

#include "block.h"
#include "record_file.h"
#include "recorder.h"
#include "tools/controller/base/count.h"
#include "tools/controller/base/hourly.h"
#include "tools/controller/base/queue.h"

/* A record on its way to the thread. */
struct recorder_item {
	struct queue_item item; /* first */
	enum record_type type;
	size_t index; /* of the target */
	int64_t time_ns; /* of an event */
	uint64_t table; /* its number, of a table or a scrape */
	size_t length;
	/* As in the file, but for the number of the target, which only the thread knows. */
	_Alignas(RECORD_ALIGNMENT) uint8_t record[];
};

/* A target, of the thread. */
struct recorded {
	uint32_t number;
	uint64_t table; /* 0: none so far */
	uint8_t *record; /* of the target */
	size_t record_length;
	uint8_t *definition; /* a chunk: target and table */
	size_t definition_size;
	uint64_t file; /* that has this definition: its number + 1; 0: none */
	uint64_t block; /* the last one with an event */
	size_t place; /* in it: of a scrape of this table */
	uint32_t landing_length; /* of that; 0: there is none in it */
};

struct recorder {
	struct tap tap; /* first */
	struct settings_record settings;
	struct output *log;
	struct queue queue;
	struct queue_item end;
	pthread_t thread;
	atomic_uint_fast64_t tables; /* numbers that have been given */
	atomic_uint_fast64_t dropped; /* scrapes */
	struct hourly drops; /* scrapes that found no room in the queue */
	struct hourly failures; /* scrapes that could not be written */
	struct output_error_holder last_error;
	count_t scrapes, bytes; /* that have been written; the thread's */
	int event; /* eventfd */
	atomic_bool has_ended;
	atomic_int error; /* why; 0: it is full, or nothing fails */
	atomic_bool is_failing; /* the last block could not be written */

	/* Of the thread. */
	struct record_file file;
	struct block block;
	struct chunk_packer packer;
	uint64_t due_ns; /* when the block is to be written */
	uint32_t targets; /* numbers that have been given */
	uint64_t pending; /* scrapes in the block */
	uint64_t failed; /* scrapes in blocks that could not be written */
	struct recorded *recorded[SETTINGS_TARGETS_MAX];
};

/* recorder_thread.c */

void *recorder__run(void *recorder);
void recorder__free_targets(struct recorder *recorder);

#endif /* CONTROLLER_RECORDER_PRIVATE_H */
