// SPDX-License-Identifier: GPL-2.0-only
/* Tokens, passwords and the names of a server: see http_access.h. */
#include "http_access.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <libdart/text_file.h>

#include "tools/controller/settings/http_settings.h"

#define TOKEN_CHARACTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
#define USER_MAX 256
#define PASSWORD_MAX 1024

/*
 * Reads the first line of the file at @path, without a byte order mark, into @text of @size bytes.
 */
static int read_line(const char *what, const char *path, char *text, size_t size,
		     struct dart_error *error)
{
	char line[PASSWORD_MAX + 5] = "";
	const void *from = line;
	FILE *file = fopen(path, "re");
	size_t length;
	int ret = 0;

	if (!file)
		return dart_error__system(error, errno, "cannot read the %s in '%s'", what, path);
	setvbuf(file, NULL, _IONBF, 0);
	if (!fgets(line, sizeof(line), file) && ferror(file))
		ret = dart_error__system(error, EIO, "cannot read the %s in '%s'", what, path);
	fclose(file);
	length = strcspn(line, "\r\n");
	line[length] = '\0';
	dart_text_file__skip_mark(&from, &length);
	if (length >= size)
		length = size - 1;
	memcpy(text, from, length);
	text[length] = '\0';
	explicit_bzero(line, sizeof(line));
	return ret;
}

static int load_token(struct http_secrets *secrets, const char *path, struct dart_error *error)
{
	char token[HTTP_TOKEN_BYTES_MAX + 2];
	size_t length;
	int ret = read_line("token", path, token, sizeof(token), error);

	if (ret)
		return ret;
	length = strlen(token);
	if (length < HTTP_TOKEN_BYTES_MIN || length > HTTP_TOKEN_BYTES_MAX ||
	    strspn(token, TOKEN_CHARACTERS) != length)
		ret = dart_error__set(
			error, EINVAL,
			"'%s' has no token in its first line (expected %d to %d letters, digits and -._~, as of openssl rand -hex 16)",
			path, HTTP_TOKEN_BYTES_MIN, HTTP_TOKEN_BYTES_MAX);
	if (!ret) {
		memcpy(secrets->token, token, length + 1);
		secrets->length = length;
	}
	explicit_bzero(token, sizeof(token));
	return ret;
}

/* Base64 as in RFC 4648, section 4. */
static char *base64(const char *text)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const size_t length = strlen(text);
	const unsigned char *from = (const unsigned char *)text;
	char *all = malloc((length + 2) / 3 * 4 + 1), *to = all;
	unsigned int bits;
	size_t i;

	for (i = 0; all && i < length; i += 3) {
		bits = from[i] << 16;
		if (i + 1 < length)
			bits |= from[i + 1] << 8;
		if (i + 2 < length)
			bits |= from[i + 2];
		*to++ = digits[bits >> 18];
		*to++ = digits[bits >> 12 & 63];
		*to++ = i + 1 < length ? digits[bits >> 6 & 63] : '=';
		*to++ = i + 2 < length ? digits[bits & 63] : '=';
	}
	if (all)
		*to = '\0';
	return all;
}

static int load_password(struct http_secrets *secrets, const struct http_settings *settings,
			 struct dart_error *error)
{
	char pair[USER_MAX + PASSWORD_MAX + 3], password[PASSWORD_MAX + 2];
	int ret = read_line("password", settings->password_path, password, sizeof(password), error);

	if (!ret && (!*password || strlen(password) > PASSWORD_MAX))
		ret = dart_error__set(
			error, EINVAL,
			"'%s' has no password in its first line (expected 1 to %d bytes)",
			settings->password_path, PASSWORD_MAX);
	if (!ret && (strlen(settings->user) > USER_MAX || strchr(settings->user, ':')))
		ret = dart_error__set(
			error, EINVAL,
			"the user '%s' is not one (expected up to %d bytes without a colon)",
			settings->user, USER_MAX);
	if (!ret) {
		snprintf(pair, sizeof(pair), "%s:%s", settings->user, password);
		secrets->basic = base64(pair);
		ret = secrets->basic ? 0 : dart_error__no_memory(error);
		explicit_bzero(pair, sizeof(pair));
	}
	explicit_bzero(password, sizeof(password));
	return ret;
}

static int copy_names(struct http_access *access, const struct http_settings *settings,
		      struct dart_error *error)
{
	size_t i;

	access->names = calloc(settings->name_count + 1, sizeof(char *));
	for (i = 0; access->names && i < settings->name_count; i++) {
		access->names[i] = strdup(settings->names[i]);
		if (!access->names[i])
			return dart_error__no_memory(error);
		access->name_count++;
	}
	return access->names ? 0 : dart_error__no_memory(error);
}

static void secrets__free(struct http_secrets *secrets)
{
	if (secrets->basic)
		explicit_bzero(secrets->basic, strlen(secrets->basic));
	free(secrets->basic);
	explicit_bzero(secrets, sizeof(*secrets));
	free(secrets);
}

static bool secrets__equal(const struct http_secrets *one, const struct http_secrets *other)
{
	return one && !strcmp(one->token, other->token) &&
	       !strcmp(one->basic ?: "", other->basic ?: "");
}

int http_access__reload(struct http_access *access, const struct http_settings *settings,
			struct dart_error *error)
{
	struct http_secrets *before = atomic_load(&access->secrets), *secrets;
	int ret = 0;

	if (!settings->token_path && !settings->user)
		return 0;
	secrets = calloc(1, sizeof(*secrets));
	if (!secrets)
		return dart_error__no_memory(error);
	if (settings->token_path)
		ret = load_token(secrets, settings->token_path, error);
	if (!ret && settings->user)
		ret = load_password(secrets, settings, error);
	if (ret || secrets__equal(before, secrets)) {
		secrets__free(secrets);
		return ret;
	}
	secrets->before = before;
	atomic_store(&access->secrets, secrets);
	return 0;
}

int http_access__load(struct http_access *access, const struct http_settings *settings,
		      struct dart_error *error)
{
	*access = (struct http_access){};
	return copy_names(access, settings, error) ?: http_access__reload(access, settings, error);
}

void http_access__clear(struct http_access *access)
{
	struct http_secrets *secrets = atomic_load(&access->secrets), *before;

	while (access->name_count)
		free(access->names[--access->name_count]);
	free(access->names);
	for (; secrets; secrets = before) {
		before = secrets->before;
		secrets__free(secrets);
	}
	*access = (struct http_access){};
}

bool http_access__has_secret(const struct http_access *access)
{
	return atomic_load(&access->secrets);
}

bool http_access__has_password(const struct http_access *access)
{
	const struct http_secrets *secrets = atomic_load(&access->secrets);

	return secrets && secrets->basic;
}

/*
 * Takes the same time for all texts of one length, so that no peer finds the secret byte by byte.
 */
static bool is_secret(const char *secret, const char *text)
{
	const size_t length = strlen(text), own = strlen(secret);
	unsigned char difference = length != own;
	size_t i;

	for (i = 0; own && i < length; i++)
		difference |= text[i] ^ secret[i % own];
	return own && !difference;
}

/* Returns the text after @scheme and spaces in @authorization; NULL for another scheme. */
static const char *credentials(const char *authorization, const char *scheme)
{
	const size_t length = strlen(scheme);

	if (!authorization || strncasecmp(authorization, scheme, length) ||
	    authorization[length] != ' ')
		return NULL;
	return authorization + length + strspn(authorization + length, " ");
}

/* @authorization and @cookie may be NULL. */
static bool http_access__has_token(const struct http_access *access, const char *authorization,
				   const char *cookie)
{
	const struct http_secrets *secrets = atomic_load(&access->secrets);
	const char *token = credentials(authorization, "Bearer");

	if (!secrets || !secrets->length)
		return false;
	return (token && is_secret(secrets->token, token)) ||
	       (cookie && is_secret(secrets->token, cookie));
}

bool http_access__knows(const struct http_access *access, const struct http_request *request)
{
	const struct http_secrets *secrets = atomic_load(&access->secrets);
	const char *authorization = http_request__header(request, "Authorization");
	const char *pair = credentials(authorization, "Basic");

	if (secrets && secrets->basic && pair && is_secret(secrets->basic, pair))
		return true;
	return http_access__has_token(access, authorization,
				      http_request__cookie(request, "dart_token"));
}

static bool is_address(const char *name)
{
	struct in6_addr address;
	size_t length = strlen(name);
	char v6[INET6_ADDRSTRLEN];

	if (*name != '[')
		return inet_pton(AF_INET, name, &address) == 1;
	if (length < 3 || length - 2 >= sizeof(v6) || name[length - 1] != ']')
		return false;
	memcpy(v6, name + 1, length - 2);
	v6[length - 2] = '\0';
	return inet_pton(AF_INET6, v6, &address) == 1;
}

static bool is_own_name(const char *name)
{
	char own[NI_MAXHOST] = "";

	return !gethostname(own, sizeof(own) - 1) && *own && !strcasecmp(name, own);
}

/* Copies the name in a Host header, without the port, into @name. */
static bool take_name(const char *host, char name[static NI_MAXHOST])
{
	const char *end = *host == '[' ? strchr(host, ']') : NULL;
	const size_t length = end ? (size_t)(end + 1 - host) : strcspn(host, ":");

	if (!length || length >= NI_MAXHOST ||
	    (host[length] &&
	     (host[length] != ':' || host[length + 1 + strspn(host + length + 1, "0123456789")])))
		return false;
	memcpy(name, host, length);
	name[length] = '\0';
	return true;
}

bool http_access__names_server(const struct http_access *access, const char *host, bool is_loopback)
{
	char name[NI_MAXHOST];
	size_t i;

	if (!host)
		return true;
	if (!take_name(host, name))
		return false;
	if (!strcasecmp(name, "localhost") || is_address(name) || is_own_name(name) ||
	    (!is_loopback && !strchr(name, '.')))
		return true;
	for (i = 0; i < access->name_count; i++)
		if (!strcasecmp(access->names[i], name))
			return true;
	return false;
}

/*
 * Browsers add an Origin header to requests that a page makes. True if the header is missing, or
 * names a page of this server.
 */
static bool is_own_origin(const struct http_request *request)
{
	const char *origin = http_request__header(request, "Origin");
	const char *host = http_request__host(request);
	const char *name = origin ? strstr(origin, "://") : NULL;

	return !origin || (name && host && !strcasecmp(name + 3, host));
}

bool http_access__is_called(const struct http_access *access, const struct http_request *request)
{
	return http_access__names_server(access, http_request__host(request),
					 http_request__is_at_loopback(request)) &&
	       is_own_origin(request);
}

unsigned int http_access__refuses(const struct http_access *access,
				  const struct http_request *request)
{
	if (http_access__has_secret(access))
		return http_access__knows(access, request) ? 0 : 401;
	return http_access__is_called(access, request) ? 0 : 403;
}
