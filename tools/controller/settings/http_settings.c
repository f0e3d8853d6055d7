// SPDX-License-Identifier: GPL-2.0-only
/* Settings of HTTP servers: see http_settings.h. */
#include "http_settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NAME_CHARACTERS \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._"
/* Of a name in DNS. */
#define NAME_MAX_BYTES 253

/* The members that are texts, in one place for all that walk them. */
#define TEXTS(settings)                                                \
	{                                                              \
		&(settings)->address, &(settings)->token_path,         \
			&(settings)->user, &(settings)->password_path, \
			&(settings)->certificate, &(settings)->key,    \
	}

int http_settings__check(const struct http_settings *settings,
			 struct dart_error *error)
{
	if (!settings->user != !settings->password_path)
		return dart_error__set(
			error, EINVAL,
			"user and password_file belong together");
	if (!settings->certificate != !settings->key)
		return dart_error__set(error, EINVAL,
				       "certificate and key belong together");
	return 0;
}

int http_settings__add_name(struct http_settings *settings, const char *name)
{
	const size_t length = strlen(name);

	if (!length || length > NAME_MAX_BYTES ||
	    strspn(name, NAME_CHARACTERS) != length)
		return -EINVAL;
	if (settings->name_count == HTTP_NAMES_MAX)
		return -E2BIG;
	settings->names[settings->name_count] = strdup(name);
	if (!settings->names[settings->name_count])
		return -ENOMEM;
	settings->name_count++;
	return 0;
}

static bool are_equal(const char *one, const char *other)
{
	return one == other || (one && other && !strcmp(one, other));
}

bool http_settings__equal(const struct http_settings *one,
			  const struct http_settings *other)
{
	char *const *const texts[] = TEXTS(one);
	char *const *const others[] = TEXTS(other);
	size_t i;

	if (one->name_count != other->name_count)
		return false;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (!are_equal(*texts[i], *others[i]))
			return false;
	for (i = 0; i < one->name_count; i++)
		if (strcmp(one->names[i], other->names[i]))
			return false;
	return true;
}

int http_settings__copy(struct http_settings *copy,
			const struct http_settings *settings)
{
	char **const to[] = TEXTS(copy);
	char *const *const from[] = TEXTS(settings);
	int ret = 0;
	size_t i;

	*copy = (struct http_settings){};
	for (i = 0; i < sizeof(to) / sizeof(to[0]); i++) {
		*to[i] = *from[i] ? strdup(*from[i]) : NULL;
		if (*from[i] && !*to[i])
			ret = -ENOMEM;
	}
	for (i = 0; !ret && i < settings->name_count; i++)
		ret = http_settings__add_name(copy, settings->names[i]);
	return ret;
}

void http_settings__clear(struct http_settings *settings)
{
	char **const texts[] = TEXTS(settings);
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		free(*texts[i]);
	for (i = 0; i < settings->name_count; i++)
		free(settings->names[i]);
	*settings = (struct http_settings){};
}
