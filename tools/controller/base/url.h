/* SPDX-License-Identifier: GPL-2.0-only */
/* Compares URLs as libcurl parses them. */
#ifndef CONTROLLER_URL_H
#define CONTROLLER_URL_H

#include <stdbool.h>

/*
 * True if both URLs agree in scheme, host and port (RFC 6454): then secrets for one may be sent
 * to the other.  False if one is not a valid URL.
 */
bool url__is_same_origin(const char *one, const char *other);

#endif /* CONTROLLER_URL_H */
