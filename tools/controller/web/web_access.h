/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who may see values: peers that send the token, as "Authorization: Bearer TOKEN" or in the
 * cookie "dart_token"; without a token, programs of this host.
 *
 * Without a token the host that a request names must be this one, too: a web page from
 * elsewhere, whose name has been made to mean 127.0.0.1 (DNS rebinding), would otherwise
 * read values through the browser of this host.
 */
#ifndef CONTROLLER_WEB_ACCESS_H
#define CONTROLLER_WEB_ACCESS_H

#include <stdbool.h>
#include <stddef.h>

#include <libdart/error.h>

#include "tools/controller/http/http_server.h"

#define WEB_TOKEN_BYTES_MIN 16
#define WEB_TOKEN_BYTES_MAX 256

/* Zeros: there is no token. */
struct web_access {
	char token[WEB_TOKEN_BYTES_MAX + 1];
	size_t length;
};

/*
 * The token is the first line of the file at @path: WEB_TOKEN_BYTES_MIN to _MAX letters,
 * digits, and "-._~".  Returns 0, or -errno with a sentence.
 */
int web_access__load(struct web_access *access, const char *path,
		     struct dart_error *error);
bool web_access__allows(const struct web_access *access,
			const struct http_request *request);
/* Both parts of it; @authorization, @cookie and @host may be NULL. */
bool web_access__has_token(const struct web_access *access,
			   const char *authorization, const char *cookie);
bool web_access__is_this_host(const char *host);

#endif /* CONTROLLER_WEB_ACCESS_H */
