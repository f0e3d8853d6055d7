// SPDX-License-Identifier: GPL-2.0-only
/* Tokens: see web_access.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <libdart/text_file.h>

#include "web_access.h"

#define TOKEN_CHARACTERS						\
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"

int web_access__load(struct web_access *access, const char *path,
		     struct dart_error *error)
{
	char line[WEB_TOKEN_BYTES_MAX + 5] = "";
	const void *token = line;
	FILE *file = fopen(path, "re");
	size_t length;
	int ret = 0;

	if (!file)
		return dart_error__system(error, errno,
					  "cannot read the token in '%s'", path);
	if (!fgets(line, sizeof(line), file) && ferror(file))
		ret = dart_error__system(error, EIO,
					 "cannot read the token in '%s'", path);
	fclose(file);
	if (ret)
		return ret;
	length = strcspn(line, "\r\n");
	line[length] = '\0';
	dart_text_file__skip_mark(&token, &length);
	if (length < WEB_TOKEN_BYTES_MIN || length > WEB_TOKEN_BYTES_MAX ||
	    strspn(token, TOKEN_CHARACTERS) != length)
		return dart_error__set(
			error, EINVAL,
			"'%s' has no token in its first line (expected %d to %d letters, digits and -._~, as of openssl rand -hex 16)",
			path, WEB_TOKEN_BYTES_MIN, WEB_TOKEN_BYTES_MAX);
	memcpy(access->token, token, length + 1);
	access->length = length;
	explicit_bzero(line, sizeof(line));
	return 0;
}

/* Takes the same time for each text of the same length, so that none is found byte by byte. */
static bool is_token(const struct web_access *access, const char *text)
{
	size_t length = strlen(text), i;
	unsigned char difference = length != access->length;

	for (i = 0; i < length; i++)
		difference |= text[i] ^ access->token[i % access->length];
	return !difference;
}

bool web_access__has_token(const struct web_access *access,
			   const char *authorization, const char *cookie)
{
	static const char scheme[] = "Bearer ";

	if (authorization &&
	    !strncasecmp(authorization, scheme, strlen(scheme)) &&
	    is_token(access, authorization + strlen(scheme)))
		return true;
	return cookie && is_token(access, cookie);
}

bool web_access__is_this_host(const char *host)
{
	static const char *const names[] = { "localhost", "127.0.0.1", "[::1]" };
	size_t i, length;

	for (i = 0; host && i < sizeof(names) / sizeof(names[0]); i++) {
		length = strlen(names[i]);
		if (!strncasecmp(host, names[i], length) &&
		    (!host[length] || host[length] == ':'))
			return true;
	}
	return false;
}

bool web_access__allows(const struct web_access *access,
			const struct http_request *request)
{
	if (access->length)
		return web_access__has_token(
			access, http_request__header(request, "Authorization"),
			http_request__cookie(request, "dart_token"));
	return web_access__is_this_host(http_request__header(request, "Host"));
}
