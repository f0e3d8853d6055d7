/* SPDX-License-Identifier: GPL-2.0-only */
/* What a header Accept says of a media type: RFC 9110, section 12.5.1. */
#ifndef CONTROLLER_HTTP_ACCEPT_H
#define CONTROLLER_HTTP_ACCEPT_H

#include <stdbool.h>

struct http_accepted {
	unsigned int weight; /* in thousandths; 0: the peer does not take it */
	bool is_named; /* by a range of exactly this type, and not by one with an asterisk */
	bool has_parameter; /* the range has the parameter that was asked for */
};

/*
 * Of the type @type, "text/plain": by the most exact range of @accept, and of several by that with
 * the highest weight.  Without a header, NULL, each type is taken.  @parameter: "name=value".
 */
struct http_accepted http_accept__find(const char *accept, const char *type, const char *parameter);

#endif /* CONTROLLER_HTTP_ACCEPT_H */
