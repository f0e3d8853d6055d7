// SPDX-License-Identifier: GPL-2.0-only
/* Settings of outputs that push: see receiver_settings.h. */
#include "receiver_settings.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_url(const char *url)
{
	const char *c;

	for (c = url; *c; c++) {
		if (*c <= ' ' || *c > '~')
			return false;
	}
	return (!strncmp(url, "http://", 7) && url[7] && url[7] != '/') ||
	       (!strncmp(url, "https://", 8) && url[8] && url[8] != '/');
}

const char *receiver_settings__format(const char *name)
{
	static const char *const formats[] = { "remote_write", "influx" };
	size_t i;

	for (i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		if (!strcmp(formats[i], name))
			return formats[i];
	}
	return NULL;
}

static void complete_numbers(struct receiver_settings *settings)
{
	settings->batch = settings->batch ?: RECEIVER_BATCH_DEFAULT;
	settings->delay_ns = settings->delay_ns ?: RECEIVER_DELAY_DEFAULT_NS;
	settings->timeout_ns = settings->timeout_ns ?: RECEIVER_TIMEOUT_DEFAULT_NS;
	settings->queue_bytes = settings->queue_bytes ?: RECEIVER_QUEUE_DEFAULT;
	settings->senders = settings->senders ?: RECEIVER_SENDERS_DEFAULT;
	if (!settings->spool)
		return;
	settings->spool_bytes = settings->spool_bytes ?: RECEIVER_SPOOL_DEFAULT;
	settings->spool_sync_ns =
		settings->spool_sync_ns ?: RECEIVER_SYNC_DEFAULT_NS;
}

int receiver_settings__complete(struct receiver_settings *settings,
			    struct dart_error *error)
{
	if (!settings->url || !is_url(settings->url))
		return dart_error__set(
			error, EINVAL,
			"'%.150s' is not a URL (expected http:// or https://)",
			settings->url ?: "");
	if (!settings->user != !settings->password_file)
		return dart_error__set(
			error, EINVAL,
			"a user needs a password_file, and a password_file a user");
	if (settings->user && settings->token_file)
		return dart_error__set(
			error, EINVAL,
			"there is either a token_file or a user, not both");
	if (settings->spool_bytes && !settings->spool)
		return dart_error__set(error, EINVAL,
				       "spool_bytes need a spool");
	if (settings->spool_sync_ns && !settings->spool)
		return dart_error__set(error, EINVAL,
				       "spool_sync needs a spool");
	if (settings->database && settings->bucket)
		return dart_error__set(
			error, EINVAL,
			"there is either a database or a bucket, not both");
	if (!settings->bucket != !settings->organization)
		return dart_error__set(
			error, EINVAL,
			"a bucket needs an organization, and an organization a bucket");
	complete_numbers(settings);
	return 0;
}

static bool are_equal(const char *one, const char *other)
{
	return one == other || (one && other && !strcmp(one, other));
}

bool receiver_settings__equal(const struct receiver_settings *one,
			      const struct receiver_settings *other)
{
	return are_equal(one->format, other->format) && are_equal(one->url, other->url) &&
	       one->version == other->version &&
	       are_equal(one->database, other->database) &&
	       are_equal(one->bucket, other->bucket) &&
	       are_equal(one->organization, other->organization) &&
	       one->batch == other->batch && one->delay_ns == other->delay_ns &&
	       one->timeout_ns == other->timeout_ns &&
	       one->queue_bytes == other->queue_bytes &&
	       are_equal(one->spool, other->spool) &&
	       one->senders == other->senders &&
	       one->spool_bytes == other->spool_bytes &&
	       one->spool_sync_ns == other->spool_sync_ns &&
	       are_equal(one->token_file, other->token_file) &&
	       are_equal(one->user, other->user) &&
	       are_equal(one->password_file, other->password_file) &&
	       are_equal(one->authorities, other->authorities) &&
	       (one->labels == other->labels ||
		json_equal(one->labels, other->labels));
}

struct copied_text {
	char **to;
	const char *from;
};

int receiver_settings__copy(struct receiver_settings *copy,
			const struct receiver_settings *settings)
{
	const struct copied_text texts[] = {
		{ &copy->url, settings->url },
		{ &copy->database, settings->database },
		{ &copy->bucket, settings->bucket },
		{ &copy->organization, settings->organization },
		{ &copy->spool, settings->spool },
		{ &copy->token_file, settings->token_file },
		{ &copy->user, settings->user },
		{ &copy->password_file, settings->password_file },
		{ &copy->authorities, settings->authorities },
	};
	int ret = 0;
	size_t i;

	*copy = *settings;
	for (i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		*texts[i].to = texts[i].from ? strdup(texts[i].from) : NULL;
		if (texts[i].from && !*texts[i].to)
			ret = -ENOMEM;
	}
	json_incref(copy->labels);
	return ret;
}

void receiver_settings__clear(struct receiver_settings *settings)
{
	free(settings->url);
	free(settings->database);
	free(settings->bucket);
	free(settings->organization);
	free(settings->spool);
	free(settings->token_file);
	free(settings->user);
	free(settings->password_file);
	free(settings->authorities);
	json_decref(settings->labels);
	*settings = (struct receiver_settings){};
}

/* Digits at the beginning, below 2^53; returns what follows, NULL without digits. */
static const char *parse_digits(const char *text, uint64_t *number)
{
	const char *c = text;

	for (*number = 0; *c >= '0' && *c <= '9'; c++) {
		*number = *number * 10 + (*c - '0');
		if (*number >> 53)
			return NULL;
	}
	return c > text ? c : NULL;
}

int receiver_settings__parse_bytes(const char *text, uint64_t min, uint64_t max,
			       uint64_t *bytes)
{
	static const char units[] = "KMGT";
	const char *unit, *rest;
	unsigned int shift = 0;
	uint64_t value;

	rest = parse_digits(text, &value);
	if (!rest)
		return -EINVAL;
	if (*rest) {
		unit = strchr(units, *rest);
		if (!unit || rest[1])
			return -EINVAL;
		shift = 10 * (unit - units + 1);
	}
	if (value > max >> shift || value << shift < min)
		return -EINVAL;
	*bytes = value << shift;
	return 0;
}

int receiver_settings__parse_time(const char *text, uint64_t min_ns,
			      uint64_t max_ns, uint64_t *time_ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{ "ms", 1000000 },
		{ "s", 1000000000 },
		{ "min", 60000000000 },
	};
	const char *rest;
	uint64_t value;
	size_t i;

	rest = parse_digits(text, &value);
	for (i = 0; rest && i < sizeof(units) / sizeof(*units); i++) {
		if (strcmp(rest, units[i].name))
			continue;
		if (value > max_ns / units[i].ns ||
		    value * units[i].ns < min_ns)
			return -EINVAL;
		*time_ns = value * units[i].ns;
		return 0;
	}
	return -EINVAL;
}

int receiver_settings__parse_sync(const char *text, uint64_t *sync_ns)
{
	if (!strcmp(text, "always"))
		*sync_ns = RECEIVER_SYNC_ALWAYS;
	else if (!strcmp(text, "never"))
		*sync_ns = RECEIVER_SYNC_NEVER;
	else
		return receiver_settings__parse_time(text, RECEIVER_SYNC_MIN_NS,
						     RECEIVER_SYNC_MAX_NS,
						     sync_ns);
	return 0;
}

/* Where the path, or else the query, begins. */
static size_t authority_end(const char *url)
{
	const char *authority = strstr(url, "://") + 3;

	return authority - url + strcspn(authority, "/?#");
}

char *receiver_settings__name(const struct receiver_settings *settings)
{
	const char *url = settings->url;
	const char *authority = strstr(url, "://") + 3;
	const char *at = memrchr(authority, '@',
				 authority_end(url) - (authority - url));
	char *name;

	if (!at)
		at = authority - 1;
	if (asprintf(&name, "%.*s%.*s", (int)(authority - url), url,
		     (int)strcspn(at + 1, "?#"), at + 1) < 0)
		return NULL;
	return name;
}
