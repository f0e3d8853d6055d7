/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decides who may see values: peers that send the token, as "Authorization: Bearer TOKEN" or in the
 * cookie "dart_token", or user and password by "Authorization: Basic" (RFC 7617).
 *
 * If neither a token nor a password is set, a request must call this server by a name that no
 * stranger can give it.  Otherwise a foreign web page, whose name was made to mean the address of
 * this server (DNS rebinding), could read values through a browser that reaches the server.  Safe
 * names are addresses, "localhost", the name of this host and the names of the settings.  If other
 * hosts can connect, each name without a dot is safe, too, because public DNS contains none.  A
 * request without a name (only HTTP/1.0 allows that) comes from no browser, and is answered.
 */
#ifndef CONTROLLER_HTTP_ACCESS_H
#define CONTROLLER_HTTP_ACCESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include <libdart/error.h>

#include "http_request.h"

#define HTTP_TOKEN_BYTES_MIN 16
#define HTTP_TOKEN_BYTES_MAX 256

struct http_settings;

/* Immutable once published. */
struct http_secrets {
	struct http_secrets
		*before; /* secrets of the previous reload, which a thread may still be comparing */
	char token[HTTP_TOKEN_BYTES_MAX + 1];
	size_t length; /* of the token; 0 without a token */
	char *basic; /* USER:PASSWORD in base64; NULL without a password */
};

/* All zeros: no token, no password and no further names. */
struct http_access {
	struct http_secrets *_Atomic secrets; /* the newest secrets; NULL if peers need none */
	char **names; /* names of the settings */
	size_t name_count;
};

/*
 * Reads the files that @settings name.  The token is the first line of its file:
 * HTTP_TOKEN_BYTES_MIN to _MAX letters, digits, and "-._~".  The password is the first line of its
 * file.  Returns 0, or -errno with a sentence in @error.  The caller calls http_access__clear() in
 * both cases.
 */
int http_access__load(struct http_access *access, const struct http_settings *settings,
		      struct dart_error *error);
/*
 * Reads the files again, even while other threads check requests.  Returns 0; or -errno with a
 * sentence in @error, and token and password do not change.
 */
int http_access__reload(struct http_access *access, const struct http_settings *settings,
			struct dart_error *error);
void http_access__clear(struct http_access *access);

/* Must a peer send a token or a password? */
bool http_access__has_secret(const struct http_access *access);
/* Is a password set? */
bool http_access__has_password(const struct http_access *access);

/* Does the request contain the token or the password?  False if neither is set. */
bool http_access__knows(const struct http_access *access, const struct http_request *request);
/* Returns 0 if the request may be answered, else the status of the refusal: 401 or 403. */
unsigned int http_access__refuses(const struct http_access *access,
				  const struct http_request *request);

/* Does Host name this server, and does Origin, if present, name the same host? */
bool http_access__is_called(const struct http_access *access, const struct http_request *request);

/*
 * Does @host, which may be NULL, name this server?  @is_loopback: no other host can connect to the
 * address at which the request arrived.
 */
bool http_access__names_server(const struct http_access *access, const char *host,
			       bool is_loopback);

#endif /* CONTROLLER_HTTP_ACCESS_H */
