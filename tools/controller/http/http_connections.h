/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The connections of an HTTP server: a thread accepts them at all its sockets, and bounds their
 * number, in total and for each address.  A further connection evicts the one that has been idle
 * longest, that is without a request in progress, such as the connections that a scraper keeps
 * open for its next scrape; a request whose body has not come to its end is not in progress.  If
 * all have requests in progress, it is refused at the bound of its address, and at that of all it
 * takes the place of the oldest one of the address that has the most, if that has more: peers that
 * take their answers slowly, or never, keep no other address out.
 */
#ifndef CONTROLLER_HTTP_CONNECTIONS_H
#define CONTROLLER_HTTP_CONNECTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#define HTTP_CONNECTIONS_MAX 512
/* Of one address; of IPv6, of one network of 64 bits. */
#define HTTP_PEER_CONNECTIONS_MAX 128
/* Evicted connections that are not closed yet. */
#define HTTP_CONNECTIONS_SPARE 64

struct http_connections;

/* Takes an accepted socket, and closes it also on failure. */
typedef bool http_connections_function(void *data, int fd, const struct sockaddr *peer,
				       socklen_t length);

/*
 * Accepts at the @count sockets @fds, which it owns from here on.  NULL: out of memory, or
 * of threads; then they are the caller's.
 */
struct http_connections *http_connections__new(const int *fds, int count,
					       http_connections_function *serve, void *data);
/* Accepts no more: no function is called any more, and the sockets are closed. */
void http_connections__stop(struct http_connections *connections);
/* After http_connections__stop(), when no connection is left. */
void http_connections__free(struct http_connections *connections);

/* In any thread.  A request of the connection @fd has begun, or ended. */
void http_connections__set_busy(struct http_connections *connections, int fd, bool is_busy);
/* Before @fd is closed. */
void http_connections__remove(struct http_connections *connections, int fd);

#endif /* CONTROLLER_HTTP_CONNECTIONS_H */
