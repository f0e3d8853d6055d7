/* SPDX-License-Identifier: GPL-2.0-only */
/* Bodies in the gzip format, RFC 1952. */
#ifndef CONTROLLER_GZIP_H
#define CONTROLLER_GZIP_H

#include <stdbool.h>
#include <stddef.h>

/*
 * @packed is to be freed by free().  Returns 0, -ENOMEM, or -E2BIG if it would not be shorter
 * than the @length bytes.
 */
int gzip__pack(const void *bytes, size_t length, char **packed,
	       size_t *packed_length);

/* Does a header Accept-Encoding (RFC 9110, section 12.5.3) take gzip?  NULL is allowed. */
bool gzip__is_accepted(const char *accept_encoding);

#endif /* CONTROLLER_GZIP_H */
