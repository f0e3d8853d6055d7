// SPDX-License-Identifier: GPL-2.0-only
/* Settings of outputs that push: see receiver_settings.h. */
#include "receiver_settings.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/settings/quantity.h>

#include "labels.h"
#include "url_settings.h"

static int read_labels(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	struct receiver_settings *settings = into;

	return labels__read(yaml, node, &settings->labels);
}

static int read_headers(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	struct receiver_settings *settings = into;

	return url_headers__read(yaml, node, &settings->headers);
}

static int read_write_rules(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	struct receiver_settings *settings = into;

	return relabel_rules__read(yaml, node, &settings->write_relabel);
}

/* 0 in the settings means that the user gives no delay. */
static int take_delay(void *object, const struct dart_setting *setting, const char *text,
		      struct dart_error *error)
{
	struct receiver_settings *settings = object;

	if (dart_quantity__parse(DART_QUANTITY_TIME, text, setting->least, setting->most,
				 &settings->delay_ns))
		return dart_setting__refuse(setting, text, error);
	settings->delay_ns = settings->delay_ns ?: RECEIVER_DELAY_NONE;
	return 0;
}

static int take_sync(void *object, const struct dart_setting *setting, const char *text,
		     struct dart_error *error)
{
	struct receiver_settings *settings = object;

	if (!strcmp(text, "always"))
		settings->spool_sync_ns = RECEIVER_SYNC_ALWAYS;
	else if (!strcmp(text, "never"))
		settings->spool_sync_ns = RECEIVER_SYNC_NEVER;
	else if (dart_quantity__parse(DART_QUANTITY_TIME, text, setting->least, setting->most,
				      &settings->spool_sync_ns))
		return dart_error__set(
			error, EINVAL,
			"'%.200s' is neither always, never nor a time in bounds (expected 100ms to 10min, e.g. 1s)",
			text);
	return 0;
}

#define WORD_CHARACTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-"

#define MEMBER(member)	DART_SETTING_MEMBER(struct receiver_settings, member)
#define TEXT(member)	.type = DART_SETTING_TEXT, MEMBER(member)
#define NUMBER(member, max)	\
	.type = DART_SETTING_NUMBER, MEMBER(member), .least = 1, .most = (max)
#define TIME(member, min, max)							\
	.type = DART_SETTING_TIME, MEMBER(member), .least = (min), .most = (max),	\
	.noun = "a time in bounds"
#define BYTES(member, min, max)							\
	.type = DART_SETTING_BYTES, MEMBER(member), .least = (min), .most = (max),	\
	.noun = "a number of bytes in bounds"

/* output_settings.c reads the URL, and http_settings.c the credentials, of each output. */
static const struct dart_setting rows[] = {
	{ TEXT(url) },
	{ TEXT(token_file) },
	{ TEXT(user) },
	{ TEXT(password_file) },
	{ TEXT(certificate) },
	{ TEXT(key) },
	{ .key = "version", NUMBER(version, 2) },
	{ .key = "database", TEXT(database) },
	{ .key = "bucket", TEXT(bucket) },
	{ .key = "organization", TEXT(organization) },
	{ .key = "batch", NUMBER(batch, RECEIVER_BATCH_MAX) },
	{ .key = "delay", TIME(delay_ns, 0, RECEIVER_DELAY_MAX_NS), .take = take_delay,
	  .example = "5s" },
	{ .key = "timeout", TIME(timeout_ns, RECEIVER_TIMEOUT_MIN_NS, RECEIVER_TIMEOUT_MAX_NS),
	  .example = "30s" },
	{ .key = "queue_bytes", BYTES(queue_bytes, RECEIVER_QUEUE_MIN, RECEIVER_QUEUE_MAX),
	  .example = "64M" },
	{ .key = "senders", NUMBER(senders, RECEIVER_SENDERS_MAX) },
	{ .key = "every", TIME(every_ns, RECEIVER_EVERY_MIN_NS, RECEIVER_EVERY_MAX_NS),
	  .example = "10s" },
	{ .key = "gauges", .type = DART_SETTING_CHOICE, MEMBER(gauges),
	  .words = "last|mean|min|max", .noun = "a value of gauges" },
	{ .key = "samples_per_second", NUMBER(samples_per_second, RECEIVER_RATE_MAX) },
	{ .key = "agent_samples_per_second",
	  NUMBER(agent_samples_per_second, RECEIVER_RATE_MAX) },
	{ .key = "spool", TEXT(spool) },
	{ .key = "spool_bytes", BYTES(spool_bytes, RECEIVER_SPOOL_MIN, RECEIVER_SPOOL_MAX),
	  .example = "1G" },
	{ .key = "spool_sync", TIME(spool_sync_ns, RECEIVER_SYNC_MIN_NS, RECEIVER_SYNC_MAX_NS),
	  .take = take_sync },
	{ .key = "authorities", TEXT(authorities) },
	{ .key = "headers", .read = read_headers },
	{ .key = "sigv4.region", TEXT(sigv4.region) },
	{ .key = "sigv4.service", TEXT(sigv4.service) },
	{ .key = "sigv4.access_key", TEXT(sigv4.access_key) },
	{ .key = "sigv4.secret_key_file", TEXT(sigv4.secret_key_file) },
	{ .key = "labels", .read = read_labels },
	{ .key = "write_relabel_configs", .read = read_write_rules },
};

const struct dart_settings receiver_settings__table = DART_SETTINGS(rows);

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
	settings->spool_sync_ns = settings->spool_sync_ns ?: RECEIVER_SYNC_DEFAULT_NS;
}

/* libcurl takes the region and the service as parts of a text with colons. */
static bool is_word(const char *text)
{
	return *text && !text[strspn(text, WORD_CHARACTERS)];
}

static int check_signature(const struct receiver_signature *sigv4, struct dart_error *error)
{
	if (!sigv4->region && !sigv4->service && !sigv4->access_key && !sigv4->secret_key_file)
		return 0;
	if (!sigv4->region || !sigv4->access_key || !sigv4->secret_key_file)
		return dart_error__set(error, EINVAL,
				       "sigv4 needs a region, an access_key and a secret_key_file");
	if (!is_word(sigv4->region) || !is_word(sigv4->service ?: RECEIVER_SERVICE_DEFAULT))
		return dart_error__set(
			error, EINVAL,
			"region and service of sigv4 have letters, digits and '-' only (e.g. eu-west-1, aps)");
	return 0;
}

static int check_credentials(const struct receiver_settings *settings, struct dart_error *error)
{
	if (!settings->user != !settings->password_file)
		return dart_error__set(error, EINVAL,
				       "a user needs a password_file, and a password_file a user");
	if (!!settings->user + !!settings->token_file + !!settings->sigv4.region > 1)
		return dart_error__set(error, EINVAL,
				       "there is one of token_file, user and sigv4, not two");
	if (!settings->certificate != !settings->key)
		return dart_error__set(error, EINVAL, "certificate and key belong together");
	return check_signature(&settings->sigv4, error);
}

int receiver_settings__complete(struct receiver_settings *settings, struct dart_error *error)
{
	int ret;

	if (!settings->url || !is_url(settings->url))
		return dart_error__set(
			error, EINVAL,
			"'%.150s' is not a URL (expected http:// or https://)",
			settings->url ?: "");
	ret = check_credentials(settings, error);
	if (ret)
		return ret;
	if (settings->spool_bytes && !settings->spool)
		return dart_error__set(error, EINVAL,
				       "spool_bytes need a spool");
	if (settings->spool_sync_ns && !settings->spool)
		return dart_error__set(error, EINVAL,
				       "spool_sync needs a spool");
	if (settings->gauges && !settings->every_ns)
		return dart_error__set(error, EINVAL,
				       "gauges need every, the time that their value is of");
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

/* NULL equals only NULL. */
static bool are_equal(const json_t *one, const json_t *other)
{
	return one == other || json_equal(one, other);
}

bool receiver_settings__equal(const struct receiver_settings *one,
			      const struct receiver_settings *other)
{
	return !strcmp(one->format ?: "", other->format ?: "") &&
	       dart_settings__equal(&receiver_settings__table, one, other, false) &&
	       are_equal(one->labels, other->labels) && are_equal(one->headers, other->headers);
}

int receiver_settings__copy(struct receiver_settings *copy,
			    const struct receiver_settings *settings)
{
	*copy = *settings;
	json_incref(copy->labels);
	json_incref(copy->headers);
	relabel_rules__hold(copy->write_relabel);
	return dart_settings__own(&receiver_settings__table, copy);
}

void receiver_settings__clear(struct receiver_settings *settings)
{
	dart_settings__clear(&receiver_settings__table, settings);
	json_decref(settings->labels);
	json_decref(settings->headers);
	relabel_rules__release(settings->write_relabel);
	*settings = (struct receiver_settings){};
}

/* Offset of the path, or else of the query. */
static size_t authority_end(const char *url)
{
	const char *authority = strstr(url, "://") + 3;

	return authority - url + strcspn(authority, "/?#");
}

char *receiver_settings__name(const struct receiver_settings *settings)
{
	const char *url = settings->url;
	const char *authority = strstr(url, "://") + 3;
	const char *at = memrchr(authority, '@', authority_end(url) - (authority - url));
	char *name;

	if (!at)
		at = authority - 1;
	if (asprintf(&name, "%.*s%.*s", (int)(authority - url), url,
		     (int)strcspn(at + 1, "?#"), at + 1) < 0)
		return NULL;
	return name;
}
