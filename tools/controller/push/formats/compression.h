/* SPDX-License-Identifier: GPL-2.0-only */
/* How the bodies of requests are compressed. */
#ifndef CONTROLLER_COMPRESSION_H
#define CONTROLLER_COMPRESSION_H

#include "bytes.h"

/* More than an encoder puts into a message: no body that was spooled unpacks to more. */
#define COMPRESSION_UNPACKED_MAX (64U << 20)

struct compression {
	/* Bytes that @length bytes take at most. */
	size_t (*bound)(size_t length);
	/*
	 * Packs @length bytes into @to, which has @room bytes, at least bound(@length).  Returns 0
	 * with the length of the result in @room; -ENOMEM.
	 */
	int (*pack)(const void *bytes, size_t length, uint8_t *to, size_t *room);
	/*
	 * Appends the bytes that were packed to @bytes.  Returns 0; -EINVAL if @packed is damaged
	 * or unpacks to more than COMPRESSION_UNPACKED_MAX; -ENOMEM.
	 */
	int (*unpack)(const void *packed, size_t length, struct bytes *bytes);
};

/* The block format of snappy (https://github.com/google/snappy), which remote write demands. */
extern const struct compression compression_snappy;
/* RFC 1952 */
extern const struct compression compression_gzip;

#endif /* CONTROLLER_COMPRESSION_H */
