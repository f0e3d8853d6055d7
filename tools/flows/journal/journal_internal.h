/* SPDX-License-Identifier: GPL-2.0-only */
/* A journal and its next file: for the files journal*.c. */
#ifndef FLOWS_JOURNAL_INTERNAL_H
#define FLOWS_JOURNAL_INTERNAL_H

#include <limits.h>
#include <pthread.h>
#include <sys/types.h>

#include "journal.h"

/* A record with addresses of IPv6 has three places. */
#define PACKED_MAX (3 * JOURNAL_RECORD_LENGTH)

/* A file that records are appended to. */
struct journal_file {
	int fd;
	uint64_t records, kept_records; /* in the file, and not yet there */
	uint8_t *kept; /* bytes of the latter */
	size_t length, size; /* of these, and of their memory */
	bool has_lost; /* a record found no memory: the file must be written anew */
};

/* The part of writing anew that is under way. */
enum journal_stage {
	STAGE_NONE,
	STAGE_BEGINNING, /* the next file is created */
	STAGE_COPYING, /* records of the source are written to the next file */
	STAGE_FOLLOWING, /* and then those that were added meanwhile */
	STAGE_REPLACING, /* the next file gets the name; records are written to both */
	STAGE_CLOSING, /* the old file is freed */
	STAGE_LEAVING, /* the next file is removed: something failed */
};

/* What a thread does for the journal, with nothing else of it than this. */
struct journal_task {
	enum { TASK_CREATE, TASK_WRITE, TASK_REPLACE, TASK_CLOSE, TASK_LEAVE } kind;
	int fd, done; /* the file; an eventfd(2) that tells the end */
	const char *path, *next_path;
	uint8_t *bytes;
	size_t length, size;
	int result; /* 0 or -errno */
};

struct journal {
	char path[PATH_MAX], next_path[PATH_MAX + 8];
	int lock;
	struct journal_file now, next; /* next.fd: -1 unless the file is being written anew */

	enum journal_stage stage;
	struct journal_source source;
	struct journal_task task;
	pthread_t thread; /* of the task, if one is under way */
	bool is_busy;
	unsigned int rounds; /* of STAGE_FOLLOWING */
	int failure; /* why the next file is removed: -errno */
};

/* Are records kept for the next file, too? */
static inline bool journal__has_next(const struct journal *journal)
{
	return journal->stage >= STAGE_BEGINNING && journal->stage <= STAGE_REPLACING;
}

/* ---- records as bytes */

#define JOURNAL_HALVES_LENGTH 36

/* The halves of addresses that came last, one after the other. */
struct journal_halves {
	uint8_t upper[JOURNAL_HALVES_LENGTH];
	unsigned int count;
};

enum journal_unpacked { UNPACKED, UNPACKED_HALF, UNPACKED_DAMAGED };

/* Returns the number of bytes. */
size_t journal__pack(const struct journal_record *record, uint8_t bytes[static PACKED_MAX]);
enum journal_unpacked journal__unpack(const uint8_t *bytes, struct journal_halves *halves,
				      struct journal_record *record);
void journal__pack_header(uint8_t bytes[static JOURNAL_HEADER_LENGTH]);

/* ---- files */

/* Appends all bytes, or none.  Returns 0 or -errno. */
int journal__append(int fd, const uint8_t *bytes, size_t length);
/* Keeps a record. */
void journal__add_to_file(struct journal_file *file, const struct journal_record *record);
/* Appends what the file keeps.  Returns 0, or -errno: then it is still kept. */
int journal__write_file(struct journal_file *file);
void journal__close_file(struct journal_file *file);
/* Lets the name of the file outlive a machine that stops now. */
void journal__sync_directory(const char *path);

/* ---- writing anew */

/* Waits for the task of a thread, if any, and removes a next file that has not the name yet. */
void journal__stop_anew(struct journal *journal);

#endif /* FLOWS_JOURNAL_INTERNAL_H */
