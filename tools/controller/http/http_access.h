/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who may see values: peers that send the token, as "Authorization: Bearer TOKEN" or in the
 * cookie "dart_token", or user and password by "Authorization: Basic" (RFC 7617).
 *
 * Without a token and a password, a request must name this server by a name that no stranger
 * can give it: a web page from elsewhere, whose name has been made to mean the address of this
 * server (DNS rebinding), would otherwise read values through a browser that can reach it.
 * Such names are addresses, "localhost", the name of this host and the names of the
 * settings; where other hosts can connect, also each name without a dot, which public DNS cannot
 * have.  A request without a name (only HTTP/1.0 may have none) comes from no browser, and is
 * answered.
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

/* Does not change. */
struct http_secrets {
	struct http_secrets
		*before; /* of the previous reload: a thread may still compare with them */
	char token[HTTP_TOKEN_BYTES_MAX + 1];
	size_t length; /* of the token; 0 without one */
	char *basic; /* USER:PASSWORD in base64; NULL without a password */
};

/* Zeros: no token, no password and no further names. */
struct http_access {
	struct http_secrets *_Atomic secrets; /* the newest; NULL: none is needed */
	char **names; /* of the settings */
	size_t name_count;
};

/*
 * Reads the files that @settings name.  The token is the first line of its file:
 * HTTP_TOKEN_BYTES_MIN to _MAX letters, digits, and "-._~"; the password is the first line of
 * its file.  Returns 0, or -errno with a sentence; http_access__clear() in both cases.
 */
int http_access__load(struct http_access *access, const struct http_settings *settings,
		      struct dart_error *error);
/*
 * Reads the files again, also while threads look.  Returns 0; or -errno with a sentence, and the
 * token and the password stay as they were.
 */
int http_access__reload(struct http_access *access, const struct http_settings *settings,
			struct dart_error *error);
void http_access__clear(struct http_access *access);

/* Must a peer know a token or a password? */
bool http_access__has_secret(const struct http_access *access);
/* Is a password taken? */
bool http_access__has_password(const struct http_access *access);

/* Has the request the token or the password?  False if there is neither. */
bool http_access__knows(const struct http_access *access, const struct http_request *request);
/* 0: the request may be answered; or the status that refuses it: 401 or 403. */
unsigned int http_access__refuses(const struct http_access *access,
				  const struct http_request *request);

/* Does Host name this server, and Origin, if there is one, the same host? */
bool http_access__is_called(const struct http_access *access, const struct http_request *request);

/* Parts of it; @authorization, @cookie and @host may be NULL. */
bool http_access__has_token(const struct http_access *access, const char *authorization,
			    const char *cookie);
/* @is_loopback: no other host can connect to the address that the request came to. */
bool http_access__names_server(const struct http_access *access, const char *host,
			       bool is_loopback);

#endif /* CONTROLLER_HTTP_ACCESS_H */
