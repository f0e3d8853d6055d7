// SPDX-License-Identifier: GPL-2.0-only
/* Settings of URLs that are asked: see url_settings.h. */
#include "url_settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* RFC 9110, section 5.6.2. */
#define TOKEN_CHARACTERS                                                       \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%&'" \
	"*+-.^_`|~"

bool url_settings__is_empty(const struct url_settings *settings)
{
	return !settings->authorities && !settings->certificate && !settings->key &&
	       !settings->token_file && !settings->headers;
}

int url_settings__check(const struct url_settings *settings, struct dart_error *error)
{
	return !settings->certificate == !settings->key ?
		       0 :
		       dart_error__set(error, EINVAL, "certificate and key belong together");
}

/* libcurl makes these, or they would follow a redirect to another host. */
static bool is_reserved(const char *name)
{
	static const char *const names[] = {
		"Accept",     "Authorization",	   "Connection", "Content-Length",
		"Cookie",     "Host",		   "Keep-Alive", "Proxy-Authorization",
		"TE",	      "Transfer-Encoding", "Upgrade",	 "User-Agent",
		"X-Prometheus-Refresh-Interval-Seconds",
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

int url_settings__add_header(struct url_settings *settings, const char *name, const char *value,
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
	if (!settings->headers)
		settings->headers = json_object();
	if (json_object_size(settings->headers) >= URL_HEADERS_MAX)
		return dart_error__set(error, EINVAL, "there are more than %d headers",
				       URL_HEADERS_MAX);
	return json_object_set_new(settings->headers, name, json_string(value)) ?
		       dart_error__no_memory(error) :
		       0;
}

static bool are_equal(const char *one, const char *other)
{
	return one == other || (one && other && !strcmp(one, other));
}

bool url_settings__equal(const struct url_settings *one, const struct url_settings *other)
{
	return are_equal(one->authorities, other->authorities) &&
	       are_equal(one->certificate, other->certificate) && are_equal(one->key, other->key) &&
	       are_equal(one->token_file, other->token_file) &&
	       (one->headers == other->headers || json_equal(one->headers, other->headers));
}

static int copy_text(char **copy, const char *text)
{
	*copy = text ? strdup(text) : NULL;
	return !*copy == !text ? 0 : -ENOMEM;
}

int url_settings__copy(struct url_settings *copy, const struct url_settings *settings)
{
	int ret;

	*copy = (struct url_settings){ .headers = json_incref(settings->headers) };
	ret = copy_text(&copy->authorities, settings->authorities);
	ret = copy_text(&copy->certificate, settings->certificate) ?: ret;
	ret = copy_text(&copy->key, settings->key) ?: ret;
	return copy_text(&copy->token_file, settings->token_file) ?: ret;
}

void url_settings__clear(struct url_settings *settings)
{
	free(settings->authorities);
	free(settings->certificate);
	free(settings->key);
	free(settings->token_file);
	json_decref(settings->headers);
	*settings = (struct url_settings){};
}
