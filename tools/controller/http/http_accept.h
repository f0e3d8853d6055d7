/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads the preference for a media type from an Accept header: RFC 9110, section 12.5.1. */
#ifndef CONTROLLER_HTTP_ACCEPT_H
#define CONTROLLER_HTTP_ACCEPT_H

#include <stdbool.h>

struct http_accepted {
	unsigned int weight; /* in thousandths; 0: the peer refuses the type */
	bool is_named; /* a range names exactly this type, without an asterisk */
	bool has_parameter; /* the range contains the requested parameter */
};

/*
 * Finds the preference for @type, such as "text/plain".  The most exact range of @accept decides,
 * and among equally exact ranges the one with the highest weight.  Without a header (NULL) the peer
 * takes each type.  @parameter: "name=value".
 */
struct http_accepted http_accept__find(const char *accept, const char *type, const char *parameter);

#endif /* CONTROLLER_HTTP_ACCEPT_H */
