/* SPDX-License-Identifier: GPL-2.0-only */
/* Golden vectors of ledgers, journals and sketches, and the files with which targets are loaded. */
#ifndef TARGET_LOAD_H
#define TARGET_LOAD_H

#include <arpa/inet.h>
#include <stdlib.h>
#include <unistd.h>

#include <libdart/error.h>

#include "selftests/unit/libdart/vector.h"

#define TARGET_FILE "/tmp/target.XXXXXX"

static json_t *vectors;

static inline int load_vectors(const char *path)
{
	vectors = json_load_file(path, 0, NULL);
	return !vectors || json_array_size(vectors) < 100;
}

static inline int unload(void **state)
{
	json_decref(vectors);
	return 0;
}

/*
 * Writes a file of the kind dart_NAME with @list as the member NAME.  @path begins as TARGET_FILE;
 * the caller unlinks it.
 */
static inline void write_targets(char *path, const char *name, json_t *list)
{
	json_t *file = json_pack("{s+:i, s:O}", "dart_", name, 1, name, list);
	int fd = mkstemp(path);

	assert_non_null(file);
	assert_true(fd >= 0);
	assert_int_equal(json_dumpfd(file, fd, 0), 0);
	close(fd);
	json_decref(file);
}

static inline struct in_addr reporter_of(const char *address)
{
	struct in_addr reporter;

	assert_int_equal(inet_pton(AF_INET, address, &reporter), 1);
	return reporter;
}

#endif /* TARGET_LOAD_H */
