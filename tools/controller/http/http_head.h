/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads those parts of a request's head that name the server and the page, and that tell where the
 * request ends (RFC 9112).  A head that another program, such as a proxy, may read differently is
 * refused.
 */
#ifndef CONTROLLER_HTTP_HEAD_H
#define CONTROLLER_HTTP_HEAD_H

#include <stdbool.h>
#include <stddef.h>

struct MHD_Connection;

#define HTTP_HOST_BYTES_MAX 300 /* a DNS name and a port, with room */

struct http_head {
	const char *path; /* path of the target, in the text of the target */
	/*
	 * The name by which the request calls the server: from an absolute target, else from the
	 * Host header.
	 */
	char host[HTTP_HOST_BYTES_MAX + 1];
	bool has_host; /* false only for HTTP/1.0 */
};

/*
 * Fills in @head for a request of @connection for @target.  @target is unescaped, without
 * arguments, and outlives @head; @version is "HTTP/1.1".  Returns false if the request must be
 * refused.
 */
bool http_head__read(struct http_head *head, struct MHD_Connection *connection, const char *target,
		     const char *version);

/*
 * Unescapes %XX in @text in place, and returns the new length.  Malformed escapes stay, and so does
 * %00, which would end the text for C, and thus make it equal to another text.
 */
size_t http_head__unescape(char *text);

#endif /* CONTROLLER_HTTP_HEAD_H */
