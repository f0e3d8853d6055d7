/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files with the slots of an epoch: see <dart/epoch.h>.  A file that is read is hostile.
 */
#ifndef DART_EPOCH_FILE_H
#define DART_EPOCH_FILE_H

#include <netinet/in.h>

#include <dart/epoch.h>
#include <libdart/error.h>

#include "store_query.h"

/* What the header of a file tells. */
struct dart_epoch {
	char store[DART_EPOCH_STORE_MAX];
	char schema[DART_EPOCH_SCHEMA_MAX]; /* "" if not known */
	uint64_t since_ns, until_ns; /* CLOCK_REALTIME */
	struct dart_store_geometry geometry;
	uint32_t reporter_count; /* at most DART_EPOCH_REPORTERS_MAX */
	const __be32 *reporters; /* their IPv4 addresses */
};

/*
 * Called after @bytes more of the file have been written; it may wait, so that the disk stays
 * usable for others.  Returns 0, or -errno to give up.
 */
typedef int dart_epoch_pace(void *argument, size_t bytes);

/*
 * Writes the file of @epoch, whose slots are at @slots, to the empty file @fd, from the beginning;
 * the caller makes it permanent.  Returns 0, or sets @error and returns -errno: of write(2), of
 * @pace, -ENOMEM or -EINVAL (the geometry).
 */
int dart_epoch_file__write(int fd, const struct dart_epoch *epoch, const void *slots,
			   dart_epoch_pace *pace, void *argument, struct dart_error *error);

struct dart_epoch_file;

/*
 * Reads and checks the header of the file @fd, which the caller keeps open until it closes @file.
 * Returns 0, or sets @error and returns -EBADMSG if it is not the whole file of an epoch, -ENOMEM,
 * or the error of read(2).
 */
int dart_epoch_file__open(int fd, struct dart_epoch_file **file, struct dart_error *error);
/* Where the bytes of a file are, if it is none of this host. */
struct dart_epoch_source {
	/*
	 * Copies @length bytes at @offset of the file to @bytes.  Returns 0, or sets @error and
	 * returns -errno.
	 */
	int (*read)(void *argument, void *bytes, size_t length, uint64_t offset,
		    struct dart_error *error);
	void *argument;
	uint64_t size;		/* bytes of the file */
	uint64_t front_max;	/* bytes of its header and table of frames, at most */
};

/* The same for the file that @source reads; its argument outlives @file. */
int dart_epoch_file__open_source(const struct dart_epoch_source *source,
				 struct dart_epoch_file **file, struct dart_error *error);
/* @file may be NULL. */
void dart_epoch_file__close(struct dart_epoch_file *file);

/* Valid until the file is closed. */
const struct dart_epoch *dart_epoch_file__epoch(const struct dart_epoch_file *file);
const struct dart_store_hash *dart_epoch_file__hash(const struct dart_epoch_file *file);

/*
 * Queries a key of @length bytes, 1 to DART_STORE_KEY_MAX, as dart_store__query() does.  Fails as
 * dart_epoch_file__open() does if one of its slots lies in a damaged frame.
 */
int dart_epoch_file__query(struct dart_epoch_file *file, const void *key, size_t length,
			   const struct dart_store_rule *rule, struct dart_store_answer *answer,
			   struct dart_error *error);

/*
 * Reads the numbers of a file's name, SINCE-UNTIL.dart.  Returns 0, or -EINVAL if the file has
 * another name.
 */
int dart_epoch_file__parse_name(const char *name, uint64_t *since_ns, uint64_t *until_ns);
/* Bytes of a name, with the NUL. */
#define DART_EPOCH_FILE_NAME_MAX 48
void dart_epoch_file__print_name(uint64_t since_ns, uint64_t until_ns,
				 char name[DART_EPOCH_FILE_NAME_MAX]);

#endif /* DART_EPOCH_FILE_H */
