/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A harness is one file with LLVMFuzzerTestOneInput(), which gives bytes to a parser:
 * libFuzzer calls it with bytes that it makes up (make fuzz), replay.c with the inputs
 * kept in corpus/ (make check).  The sanitizers watch, and require() checks the further
 * promises of a parser.
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
#include <libdart/escape.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define require(condition)                                                 \
	do {                                                               \
		if (!(condition)) {                                        \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, \
				#condition);                               \
			abort();                                           \
		}                                                          \
	} while (0)

/* A refusal is one sentence in UTF-8, without control characters. */
static inline void require_sentence(const struct dart_error *error)
{
	const char *byte;

	require(*error->text);
	require(dart_escape__is_utf8(error->text));
	for (byte = error->text; *byte; byte++)
		require((unsigned char)*byte >= ' ' && *byte != 0x7f);
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

/*
 * Corrects the checksum of an IPv4 header after Ethernet, if any: few inputs contain
 * the right one by chance, and parsers refuse the others.
 */
static inline void repair_ipv4(uint8_t *frame, size_t size)
{
	const size_t length = size > 14 ? (frame[14] & 0xf) * 4 : 0;
	uint8_t *ip = frame + 14;
	uint32_t sum = 0;
	size_t i;

	if (length < 20 || size < 14 + length || frame[12] != 8 || frame[13])
		return;
	memset(ip + 10, 0, 2);
	for (i = 0; i < length; i += 2)
		sum += ip[i] << 8 | ip[i + 1];
	sum = (sum & UINT16_MAX) + (sum >> 16);
	sum = ~(sum + (sum >> 16));
	ip[10] = sum >> 8;
	ip[11] = sum;
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
