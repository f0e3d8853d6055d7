/* SPDX-License-Identifier: GPL-2.0-only */
/* URLs, as libcurl reads them. */
#ifndef CONTROLLER_URL_H
#define CONTROLLER_URL_H

#include <stdbool.h>

/*
 * Have both URLs the same scheme, host and port (RFC 6454)?  Then secrets for one may be sent to
 * the other.  False if one is not a URL.
 */
bool url__is_same_origin(const char *one, const char *other);

#endif /* CONTROLLER_URL_H */
