/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The head of a request as far as it says which server and page it is for, and where it ends (RFC
 * 9112).  A head that another program, such as a proxy, may read in another way is refused.
 */
#ifndef CONTROLLER_HTTP_HEAD_H
#define CONTROLLER_HTTP_HEAD_H

#include <stdbool.h>
#include <stddef.h>

struct MHD_Connection;

#define HTTP_HOST_BYTES_MAX 300 /* a name of DNS and a port, with room */

struct http_head {
	const char *path; /* of the target; its text */
	/* The name that calls the server: of an absolute target, or else the header Host. */
	char host[HTTP_HOST_BYTES_MAX + 1];
	bool has_host; /* only HTTP/1.0 may have none */
};

/*
 * Fills in @head, of a request of @connection for @target, which is unpacked and has no arguments,
 * and stays; @version is "HTTP/1.1".  False: it is to be refused.
 */
bool http_head__read(struct http_head *head, struct MHD_Connection *connection, const char *target,
		     const char *version);

/*
 * Unpacks %XX of @text in place, and returns its length.  An escape that is malformed stays, as
 * does %00, which would end the text for C, and so make it equal to another one.
 */
size_t http_head__unescape(char *text);

#endif /* CONTROLLER_HTTP_HEAD_H */
