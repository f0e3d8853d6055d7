// SPDX-License-Identifier: GPL-2.0-only
/* Settings of outputs: see output_settings.h. */
#include "output_settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/controller/base/http_address.h"

/* Makes room for one more.  Returns 0 or -ENOMEM. */
static int output_settings__reserve(struct output_settings *settings)
{
	struct receiver_settings *receivers = reallocarray(
		settings->receivers, settings->receiver_count + 1, sizeof(*receivers));

	if (!receivers)
		return -ENOMEM;
	settings->receivers = receivers;
	return 0;
}

int output_settings__add_receiver(struct output_settings *settings,
				  struct receiver_settings *receiver, struct dart_error *error)
{
	int ret = receiver_settings__complete(receiver, error);

	if (ret)
		return ret;
	if (settings->receiver_count == RECEIVERS_MAX)
		return dart_error__set(error, EINVAL, "there are more than %d receivers",
				       RECEIVERS_MAX);
	if (output_settings__reserve(settings))
		return dart_error__no_memory(error);
	settings->receivers[settings->receiver_count++] = *receiver;
	*receiver = (struct receiver_settings){ };
	return 0;
}

/* ---- the list of a configuration file */

/* An item: listen, web or a receiver, whose credentials are read like the ones of a server. */
struct output {
	char *listen;
	char *web;
	struct http_settings http;
	bool is_receiver;
	struct receiver_settings receiver;
};

static int take_address(void *object, const struct dart_setting *setting, const char *text,
			struct dart_error *error)
{
	char **address = (char **)((char *)object + setting->offset);

	if (!http_address__is_valid(text))
		return dart_setting__refuse(setting, text, error);
	*address = strdup(text);
	return *address ? 0 : dart_error__no_memory(error);
}

/* The key is the name of the format. */
static int take_url(void *object, const struct dart_setting *setting, const char *text,
		    struct dart_error *error)
{
	struct output *output = object;

	if (output->is_receiver)
		return dart_error__set(error, EINVAL,
				       "an output has either %s or %s, not both",
				       output->receiver.format, setting->key);
	output->is_receiver = true;
	output->receiver.format = setting->key;
	output->receiver.url = strdup(text);
	return output->receiver.url ? 0 : dart_error__no_memory(error);
}

#define MEMBER(member)	DART_SETTING_MEMBER(struct output, member)
#define ADDRESS	\
	.take = take_address, .noun = "an address to listen at", \
	.expected = "HOST:PORT, [V6]:PORT or :PORT"
#define URL	\
	.type = DART_SETTING_TEXT, MEMBER(receiver.url), .noun = "a URL", .take = take_url

static const struct dart_setting rows[] = {
	{ .key = "listen", ADDRESS, MEMBER(listen) },
	{ .key = "web", ADDRESS, MEMBER(web) },
	{ .key = "remote_write", URL },
	{ .key = "influx", URL },
	{ .key = "otlp", URL },
};

static const struct dart_settings table = DART_SETTINGS(rows);

/* Bytes of the sentence part that lists all keys, with the NUL. */
#define KEYS_TEXT_MAX 128

const char *output_settings__format(const char *name)
{
	size_t i;

	for (i = 0; i < table.count; i++)
		if (rows[i].take == take_url && !strcmp(rows[i].key, name))
			return rows[i].key;
	return NULL;
}

/* Is there exactly one of listen, web and a receiver, with no key of the others? */
static bool is_one(const struct output *output)
{
	const struct http_settings *http = &output->http;
	const struct receiver_settings *receiver = &output->receiver;

	if (!!output->listen + !!output->web + output->is_receiver != 1)
		return false;
	return output->is_receiver ? !http->name_count :
				     !dart_settings__has_any(&receiver_settings__table, receiver) &&
					     !receiver->labels && !receiver->headers &&
					     !receiver->write_relabel;
}

static void move_text(char **to, char **from)
{
	*to = *from;
	*from = NULL;
}

static int add_server(struct dart_yaml *yaml, const yaml_node_t *item, struct output *output,
		      struct output_settings *outputs)
{
	struct http_settings *server = output->listen ? &outputs->listen : &outputs->web;
	struct dart_error error;

	if (http_settings__check(&output->http, &error))
		return dart_yaml__refuse(yaml, item, "%s", error.text);
	if (server->address)
		return dart_yaml__refuse(yaml, item, "%s",
					 output->listen ? "there are two outputs that listen" :
							  "there are two pages (web)");
	*server = output->http;
	output->http = (struct http_settings){};
	move_text(&server->address, output->listen ? &output->listen : &output->web);
	return 0;
}

/* Names all rows of the table, so that a new format needs no other sentence. */
static int refuse_mixture(struct dart_yaml *yaml, const yaml_node_t *item)
{
	const char *separator = "";
	char keys[KEYS_TEXT_MAX];
	size_t i, length = 0;

	for (i = 0; i < table.count && length < sizeof(keys); i++) {
		if (i)
			separator = i + 1 < table.count ? ", " : " and ";
		length += snprintf(keys + length, sizeof(keys) - length, "%s%s", separator,
				   rows[i].key);
	}
	return dart_yaml__refuse(
		yaml, item,
		"an output is one of %s; listen and web may have token_file, user, password_file, certificate, key and names, and no other key",
		keys);
}

static int add_output(struct dart_yaml *yaml, const yaml_node_t *item, struct output *output,
		      struct output_settings *outputs)
{
	struct dart_error error;
	int ret;

	if (!is_one(output))
		return refuse_mixture(yaml, item);
	if (!output->is_receiver)
		return add_server(yaml, item, output, outputs);
	move_text(&output->receiver.token_file, &output->http.token_path);
	move_text(&output->receiver.user, &output->http.user);
	move_text(&output->receiver.password_file, &output->http.password_path);
	move_text(&output->receiver.certificate, &output->http.certificate);
	move_text(&output->receiver.key, &output->http.key);
	ret = output_settings__add_receiver(outputs, &output->receiver, &error);
	return ret == -EINVAL ? dart_yaml__refuse(yaml, item, "%s", error.text) : ret;
}

static int read_output(struct dart_yaml *yaml, const yaml_node_t *item, void *outputs)
{
	struct output output = {};
	const struct dart_settings_of places[] = {
		{ .table = &table, .object = &output },
		{ .table = &http_settings__table, .object = &output.http },
		{ .table = &receiver_settings__table, .object = &output.receiver },
		{},
	};
	int ret = dart_settings__read(yaml, item, NULL, places) ?:
		  add_output(yaml, item, &output, outputs);

	free(output.listen);
	free(output.web);
	http_settings__clear(&output.http);
	receiver_settings__clear(&output.receiver);
	return ret;
}

int output_settings__read(struct output_settings *settings, struct dart_yaml *yaml,
			  const yaml_node_t *node)
{
	struct output_settings file = {};
	struct dart_error error;
	int ret = dart_yaml__take_list(yaml, node, read_output, &file);
	size_t i;

	for (i = 0; i < file.receiver_count && !ret; i++)
		ret = output_settings__add_receiver(settings, &file.receivers[i], yaml->error);
	if (!ret) {
		http_settings__merge(&settings->listen, &file.listen);
		http_settings__merge(&settings->web, &file.web);
		if (http_settings__check(&settings->listen, &error) ||
		    http_settings__check(&settings->web, &error))
			ret = dart_yaml__refuse(yaml, node, "%s", error.text);
	}
	output_settings__clear(&file);
	return ret;
}

/* ---- the whole structure */

bool output_settings__has_any(const struct output_settings *settings)
{
	return settings->listen.address || settings->web.address || settings->receiver_count;
}

int output_settings__copy(struct output_settings *copy, const struct output_settings *settings)
{
	int ret = 0;
	size_t i;

	*copy = (struct output_settings){ };
	ret = http_settings__copy(&copy->listen, &settings->listen);
	ret = http_settings__copy(&copy->web, &settings->web) ?: ret;
	for (i = 0; i < settings->receiver_count; i++) {
		if (output_settings__reserve(copy))
			return -ENOMEM;
		ret = receiver_settings__copy(&copy->receivers[i], &settings->receivers[i]) ?: ret;
		copy->receiver_count++;
	}
	return ret;
}

void output_settings__clear(struct output_settings *settings)
{
	size_t i;

	http_settings__clear(&settings->listen);
	http_settings__clear(&settings->web);
	for (i = 0; i < settings->receiver_count; i++)
		receiver_settings__clear(&settings->receivers[i]);
	free(settings->receivers);
	*settings = (struct output_settings){ };
}
