// SPDX-License-Identifier: GPL-2.0-only
/* Settings of requests to a URL: see url_settings.h. */
#include "url_settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* RFC 9110, section 5.6.2. */
#define TOKEN_CHARACTERS                                                       \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%&'" \
	"*+-.^_`|~"

static int read_headers(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	struct url_settings *settings = into;

	return url_headers__read(yaml, node, &settings->headers);
}

#define MEMBER(member)	DART_SETTING_MEMBER(struct url_settings, member)
#define PATH(member)	.type = DART_SETTING_TEXT, MEMBER(member), .noun = "a path"

static const struct dart_setting rows[] = {
	{ .key = "authorities", PATH(authorities) },
	{ .key = "certificate", PATH(certificate) },
	{ .key = "key", PATH(key) },
	{ .key = "token_file", PATH(token_file) },
	{ .key = "headers", .read = read_headers },
};

const struct dart_settings url_settings__table = DART_SETTINGS(rows);

bool url_settings__is_empty(const struct url_settings *settings)
{
	return !dart_settings__has_any(&url_settings__table, settings) && !settings->headers;
}

int url_settings__check(const struct url_settings *settings, struct dart_error *error)
{
	return !settings->certificate == !settings->key ?
		       0 :
		       dart_error__set(error, EINVAL, "certificate and key belong together");
}

bool url_settings__equal(const struct url_settings *one, const struct url_settings *other)
{
	return dart_settings__equal(&url_settings__table, one, other, false) &&
	       (one->headers == other->headers || json_equal(one->headers, other->headers));
}

int url_settings__copy(struct url_settings *copy, const struct url_settings *settings)
{
	*copy = *settings;
	json_incref(copy->headers);
	return dart_settings__own(&url_settings__table, copy);
}

void url_settings__clear(struct url_settings *settings)
{
	dart_settings__clear(&url_settings__table, settings);
	json_decref(settings->headers);
	settings->headers = NULL;
}

/* ---- headers */

/* libcurl or the format of a message sets these headers. */
static bool is_reserved(const char *name)
{
	static const char *const names[] = {
		"Accept",
		"Authorization",
		"Connection",
		"Content-Encoding",
		"Content-Length",
		"Content-Type",
		"Cookie",
		"Expect",
		"Host",
		"Keep-Alive",
		"Proxy-Authorization",
		"TE",
		"Transfer-Encoding",
		"Upgrade",
		"User-Agent",
		"X-Prometheus-Refresh-Interval-Seconds",
		"X-Prometheus-Remote-Write-Version",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcasecmp(names[i], name))
			return true;
	return false;
}

static bool is_value(const char *value)
{
	for (; *value; value++)
		if (((unsigned char)*value < ' ' && *value != '\t') || *value == 0x7f)
			return false;
	return true;
}

int url_headers__add(json_t **headers, const char *name, const char *value,
		     struct dart_error *error)
{
	if (!*name || name[strspn(name, TOKEN_CHARACTERS)])
		return dart_error__set(error, EINVAL, "'%s' is not the name of a header", name);
	if (is_reserved(name))
		return dart_error__set(error, EINVAL,
				       "the header '%s' is not to be chosen%s", name,
				       strcasecmp(name, "Authorization") ?
					       "" :
					       " (use token_file, or user and password in the URL)");
	if (!*value || !is_value(value))
		return dart_error__set(error, EINVAL,
				       "the header '%s' is empty, or has control characters", name);
	if (!*headers)
		*headers = json_object();
	if (json_object_size(*headers) >= URL_HEADERS_MAX)
		return dart_error__set(error, EINVAL, "there are more than %d headers",
				       URL_HEADERS_MAX);
	return json_object_set_new(*headers, name, json_string(value)) ?
		       dart_error__no_memory(error) :
		       0;
}

static int read_header(struct dart_yaml *yaml, const yaml_node_t *key, const char *name,
		       const yaml_node_t *node, void *into)
{
	const char *value = dart_yaml__raw_text(node);
	json_t **headers = into;
	struct dart_error error;
	int ret;

	if (json_object_get(*headers, name))
		return dart_yaml__refuse(yaml, key, "'%s' occurs twice (remove one)", name);
	if (!value)
		return dart_yaml__refuse(yaml, node, "expected a text");
	ret = url_headers__add(headers, name, value, &error);
	return ret == -EINVAL ? dart_yaml__refuse(yaml, node, "%s", error.text) : ret;
}

int url_headers__read(struct dart_yaml *yaml, const yaml_node_t *node, json_t **headers)
{
	return dart_yaml__take_pairs(yaml, node, read_header, headers);
}
