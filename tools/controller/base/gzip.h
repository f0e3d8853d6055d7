/* SPDX-License-Identifier: GPL-2.0-only */
/* Bodies in the gzip format, RFC 1952. */
#ifndef CONTROLLER_GZIP_H
#define CONTROLLER_GZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <zlib.h>

/*
 * Packs @length bytes into @packed, which the caller frees by free().  Returns 0, -ENOMEM, or
 * -E2BIG if the packed bytes would not be fewer.
 */
int gzip__pack(const void *bytes, size_t length, char **packed, size_t *packed_length);

/*
 * True if the value of a header Accept-Encoding (RFC 9110, section 12.5.3) accepts gzip.  False
 * for NULL.
 */
bool gzip__is_accepted(const char *accept_encoding);

/*
 * Packs or unpacks a body piece by piece: gzip_stream__put() supplies input, then the caller
 * repeats gzip_stream__take() until it returns 0, and supplies the next input.
 */
struct gzip_stream {
	z_stream zlib;
	bool unpacks;
	bool is_open;
	bool has_ended; /* the last byte of the output was taken */
};

/* Returns 0 or -ENOMEM. */
int gzip_stream__open(struct gzip_stream *stream, bool unpacks);
/*
 * Supplies input, after gzip_stream__take() returned 0 for earlier input.  The caller keeps
 * @bytes valid until the next call.
 */
void gzip_stream__put(struct gzip_stream *stream, const void *bytes, size_t length);
/*
 * Writes up to @size bytes of output to @buffer.  Returns their number, or -EBADMSG if the packed
 * bytes are damaged.  @is_last: the packer gets no input after this, and completes the body.
 */
ssize_t gzip_stream__take(struct gzip_stream *stream, char *buffer, size_t size, bool is_last);
/* Does nothing to zeroed memory. */
void gzip_stream__close(struct gzip_stream *stream);

#endif /* CONTROLLER_GZIP_H */
