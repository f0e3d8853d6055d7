/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A harness is one file with LLVMFuzzerTestOneInput(), which gives bytes to a
 * parser: libFuzzer calls it with bytes that it makes up (make fuzz), replay.c with
 * those that are kept in corpus/ (make check).  The sanitizers watch; what a
 * parser promises besides is required.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libdart/error.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define require(condition)                                                 \
	do {                                                               \
		if (!(condition)) {                                        \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, \
				#condition);                               \
			abort();                                           \
		}                                                          \
	} while (0)

/* A refusal is one sentence in printable ASCII. */
static inline void require_sentence(const struct dart_error *error)
{
	const char *byte;

	require(*error->text);
	for (byte = error->text; *byte; byte++)
		require(*byte >= ' ' && *byte <= '~');
}

/* Returns a copy that ends where its memory ends, which the caller frees. */
static inline uint8_t *exact_copy(const uint8_t *data, size_t size)
{
	uint8_t *copy = calloc(1, size + !size);

	require(copy);
	if (size)
		memcpy(copy, data, size);
	return copy;
}

/* The path of a file with these bytes, until the next call. */
static inline const char *file_of(const uint8_t *data, size_t size)
{
	static char path[32];
	static int fd = -1;

	if (fd < 0) {
		fd = memfd_create("input", MFD_CLOEXEC);
		require(fd >= 0 && !fchmod(fd, 0600));
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	require(!ftruncate(fd, 0));
	require(pwrite(fd, data, size, 0) == (ssize_t)size);
	return path;
}

#endif /* FUZZ_H */
