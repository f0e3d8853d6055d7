/* SPDX-License-Identifier: GPL-2.0-only */
/* Bodies in the gzip format, RFC 1952. */
#ifndef CONTROLLER_GZIP_H
#define CONTROLLER_GZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <zlib.h>

/*
 * @packed is to be freed by free().  Returns 0, -ENOMEM, or -E2BIG if it would not be shorter
 * than the @length bytes.
 */
int gzip__pack(const void *bytes, size_t length, char **packed, size_t *packed_length);

/* Does a header Accept-Encoding (RFC 9110, section 12.5.3) take gzip?  NULL is allowed. */
bool gzip__is_accepted(const char *accept_encoding);

/*
 * A body that is packed, or unpacked, piece by piece: gzip_stream__put() gives it bytes, and
 * gzip_stream__take() is called until it returns 0, which asks for the next ones.
 */
struct gzip_stream {
	z_stream zlib;
	bool unpacks;
	bool is_open;
	bool has_ended; /* all has been taken */
};

/* Returns 0 or -ENOMEM. */
int gzip_stream__open(struct gzip_stream *stream, bool unpacks);
/* @bytes are valid until the next call; the ones before have been taken. */
void gzip_stream__put(struct gzip_stream *stream, const void *bytes, size_t length);
/*
 * Writes up to @size bytes, and returns how many.  @is_last: the
 * packer gets no more bytes.  -EBADMSG: the packed bytes are damaged.
 */
ssize_t gzip_stream__take(struct gzip_stream *stream, char *buffer, size_t size, bool is_last);
/* A structure of zeros is allowed. */
void gzip_stream__close(struct gzip_stream *stream);

#endif /* CONTROLLER_GZIP_H */
