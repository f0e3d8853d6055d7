/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The connections of an HTTP server.  A thread accepts them at all sockets of the server and limits
 * their number, in total and for each address.  At the limit a new connection evicts the connection
 * that has been idle longest, that is without a request in progress, such as a connection that a
 * scraper keeps open for its next scrape.  A request is not in progress until its body has ended.
 *
 * If no connection is idle, a new one is refused at the limit of its address.  At the total limit
 * it replaces the oldest connection of the address with the most connections, if that address keeps
 * at least as many as the new one then.  So peers that take their answers slowly, or never, do not
 * keep other addresses out.
 */
#ifndef CONTROLLER_HTTP_CONNECTIONS_H
#define CONTROLLER_HTTP_CONNECTIONS_H

#include <stdbool.h>
#include <sys/socket.h>

#define HTTP_CONNECTIONS_MAX 512
/* Limit for one address; for IPv6 of one network of 64 bits. */
#define HTTP_PEER_CONNECTIONS_MAX 128
/* Places for evicted connections that are not closed yet. */
#define HTTP_CONNECTIONS_SPARE 64

struct http_connections;

/* Takes an accepted socket, and closes the socket even on failure. */
typedef bool http_connections_function(void *data, int fd, const struct sockaddr *peer,
				       socklen_t length);

/*
 * Accepts at the @count sockets @fds, and owns them from now on.  Returns NULL if out of memory or
 * threads; then the caller keeps the sockets.
 */
struct http_connections *http_connections__new(const int *fds, int count,
					       http_connections_function *serve, void *data);
/* Stops accepting: afterwards no function is called, and the sockets are closed. */
void http_connections__stop(struct http_connections *connections);
/* Call this after http_connections__stop(), when no connection is left. */
void http_connections__free(struct http_connections *connections);

/* In any thread: a request of the connection @fd begins or has ended. */
void http_connections__set_busy(struct http_connections *connections, int fd, bool is_busy);
/* Call this before @fd is closed. */
void http_connections__remove(struct http_connections *connections, int fd);

#endif /* CONTROLLER_HTTP_CONNECTIONS_H */
