// SPDX-License-Identifier: GPL-2.0-only
/* Settings of HTTP servers: see http_settings.h. */
#include "http_settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NAME_CHARACTERS \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._"
/* Bytes of a name in the DNS. */
#define NAME_MAX_BYTES 253

static int read_name(struct dart_yaml *yaml, const yaml_node_t *item, void *into)
{
	struct dart_error error;
	int ret = http_settings__add_name(into, dart_yaml__text(item) ?: "?", &error);

	return ret == -EINVAL ? dart_yaml__refuse(yaml, item, "%s", error.text) : ret;
}

static int read_names(struct dart_yaml *yaml, const yaml_node_t *node, void *settings)
{
	return dart_yaml__take_list(yaml, node, read_name, settings);
}

#define TEXT(member) .type = DART_SETTING_TEXT, DART_SETTING_MEMBER(struct http_settings, member)

static const struct dart_setting rows[] = {
	{ TEXT(address) },
	{ .key = "token_file", TEXT(token_path) },
	{ .key = "user", TEXT(user) },
	{ .key = "password_file", TEXT(password_path) },
	{ .key = "certificate", TEXT(certificate) },
	{ .key = "key", TEXT(key) },
	{ .key = "names", .read = read_names },
};

const struct dart_settings http_settings__table = DART_SETTINGS(rows);

int http_settings__check(const struct http_settings *settings, struct dart_error *error)
{
	if (!settings->user != !settings->password_path)
		return dart_error__set(error, EINVAL, "user and password_file belong together");
	if (!settings->certificate != !settings->key)
		return dart_error__set(error, EINVAL, "certificate and key belong together");
	return 0;
}

int http_settings__add_name(struct http_settings *settings, const char *name,
			    struct dart_error *error)
{
	const size_t length = strlen(name);

	if (!length || length > NAME_MAX_BYTES || strspn(name, NAME_CHARACTERS) != length)
		return dart_error__set(
			error, EINVAL,
			"'%.300s' is not a name of a server (expected such as metrics.example.org, without a port)",
			name);
	if (settings->name_count == HTTP_NAMES_MAX)
		return dart_error__set(error, EINVAL, "there are more than %d names",
				       HTTP_NAMES_MAX);
	settings->names[settings->name_count] = strdup(name);
	if (!settings->names[settings->name_count])
		return dart_error__no_memory(error);
	settings->name_count++;
	return 0;
}

bool http_settings__equal(const struct http_settings *one, const struct http_settings *other)
{
	size_t i;

	if (one->name_count != other->name_count ||
	    !dart_settings__equal(&http_settings__table, one, other, false))
		return false;
	for (i = 0; i < one->name_count; i++)
		if (strcmp(one->names[i], other->names[i]))
			return false;
	return true;
}

int http_settings__copy(struct http_settings *copy, const struct http_settings *settings)
{
	struct dart_error error;
	int ret;
	size_t i;

	*copy = *settings;
	copy->name_count = 0;
	ret = dart_settings__own(&http_settings__table, copy);
	for (i = 0; !ret && i < settings->name_count; i++)
		ret = http_settings__add_name(copy, settings->names[i], &error);
	return ret;
}

void http_settings__merge(struct http_settings *settings, struct http_settings *from)
{
	dart_settings__merge(&http_settings__table, settings, from);
	if (settings->name_count)
		return;
	memcpy(settings->names, from->names, sizeof(from->names));
	settings->name_count = from->name_count;
	from->name_count = 0;
}

void http_settings__clear(struct http_settings *settings)
{
	size_t i;

	dart_settings__clear(&http_settings__table, settings);
	for (i = 0; i < settings->name_count; i++)
		free(settings->names[i]);
	*settings = (struct http_settings){};
}
