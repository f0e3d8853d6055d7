/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An HTTP server as settings describe it: its address, its certificate, and who may ask.  Changed
 * settings are those of a successor, which listens before the server that it replaces ends, so that
 * a mistake in them costs nothing.
 */
#ifndef CONTROLLER_HTTP_LISTENER_H
#define CONTROLLER_HTTP_LISTENER_H

#include "http_server.h"

struct http_listener;
struct http_settings;

/* What the program decides. */
struct http_listener_options {
	const struct http_page *pages; /* they outlive the listener */
	size_t page_count;
	unsigned int threads, streams; /* see struct http_server_options */
	unsigned int port; /* of addresses without one; 0: HTTP_PORT_DEFAULT */
	/*
	 * Where other hosts can connect, peers need a token or a password: without one, the
	 * listener is refused with this remedy.  NULL: it is not.
	 */
	const char *remedy;
	bool pages_decide; /* who may ask, instead of the server: by http_request.access */
};

/*
 * Listens as @settings say, of which it makes a copy.  Then *@listener, NULL or an earlier one,
 * ends with all its connections, and is replaced.  Both may listen at one address meanwhile.
 * Returns 0; or -errno with a sentence in @error, and *@listener is as it was.
 */
int http_listener__replace(struct http_listener **listener, const struct http_settings *settings,
			   const struct http_listener_options *options, struct dart_error *error);
/*
 * Reads token, password, certificate and key again.  Returns 0; or -errno with a sentence in
 * @error, and files that cannot be used leave the previous values in force.
 */
int http_listener__reload(struct http_listener *listener, struct dart_error *error);
const struct http_settings *http_listener__settings(const struct http_listener *listener);
const struct http_server *http_listener__server(const struct http_listener *listener);
/* NULL is allowed. */
void http_listener__free(struct http_listener *listener);

#endif /* CONTROLLER_HTTP_LISTENER_H */
