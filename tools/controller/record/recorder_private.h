/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by both halves of the recorder: recorder.c makes records in the threads that call the tap,
 * and recorder_thread.c writes them.
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
	int64_t time_ns; /* time of an event */
	uint64_t table; /* number of a table, or of the table of a scrape */
	size_t length;
	/* As in the file, without the number of the target, which only the thread knows. */
	_Alignas(RECORD_ALIGNMENT) uint8_t record[];
};

/* A target in the thread. */
struct recorded {
	uint32_t number;
	bool is_removed; /* kept, because whoever stands by for it passes its table on only once */
	uint64_t table; /* number of the table; 0 before the first one */
	uint8_t *record; /* definition of the target */
	size_t record_length;
	uint8_t *definition; /* the packed chunk that defines target and table */
	size_t definition_size;
	uint64_t file; /* number + 1 of the last file with this definition; 0 if there is none */
	uint64_t block; /* number of the last block with an event of the target */
	size_t place; /* offset in that block of the last scrape of this table */
	uint32_t landing_length; /* bytes of that scrape; 0 if the block contains none */
};

struct recorder {
	struct tap tap; /* first */
	struct settings_record settings;
	struct output *log;
	struct queue queue;
	struct queue_item end;
	pthread_t thread;
	atomic_uint_fast64_t tables; /* number of tables so far */
	atomic_uint_fast64_t dropped; /* dropped scrapes */
	struct hourly drops; /* reports scrapes that the queue refused */
	struct hourly failures; /* reports scrapes that could not be written */
	struct output_error_holder last_error;
	count_t scrapes, bytes; /* written so far; changed only by the thread */
	int event; /* eventfd */
	atomic_bool has_ended;
	atomic_int error; /* reason of the failure; 0 if the file is full, or nothing failed */
	atomic_bool is_failing; /* the last block could not be written */

	/* Used only by the thread. */
	struct record_file file;
	struct block block;
	struct chunk_packer packer;
	uint64_t due_ns; /* time at which the block must be written */
	uint32_t targets; /* number of targets so far */
	uint64_t pending; /* scrapes in the block */
	uint64_t failed; /* scrapes of blocks that could not be written */
	struct recorded *recorded[SETTINGS_TARGETS_MAX];
};

/* recorder_thread.c */

void *recorder__run(void *recorder);
void recorder__free_targets(struct recorder *recorder);

#endif /* CONTROLLER_RECORDER_PRIVATE_H */
