// SPDX-License-Identifier: GPL-2.0-only
/* Parses the outputs of the configuration file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config_private.h"
#include "tools/controller/base/http_address.h"

/* An item of "outputs". */
struct config_output {
	char *listen;
	char *web;
	/* A receiver takes the token, the user and the password from here. */
	struct http_settings http;
	bool has_server;	/* keys that only servers have */
	bool is_receiver;
	bool has_more;		/* keys that only receivers have */
	struct receiver_settings receiver;
};

static int take_address(struct config *config, const yaml_node_t *value,
			char **address)
{
	const char *text = config__text(value);

	if (!text || !http_address__is_valid(text))
		return config__refuse(
			config, value,
			"'%s' is not an address to listen at (expected HOST:PORT, [V6]:PORT or :PORT)",
			text ?: "?");
	*address = strdup(text);
	return *address ? 0 : -ENOMEM;
}

static int take_url(struct config *config, const yaml_node_t *value,
		    const char *format, struct config_output *output)
{
	const char *text = config__text(value);

	if (output->is_receiver)
		return config__refuse(
			config, value,
			"an output has either remote_write or influx, not both");
	if (!text)
		return config__refuse(config, value, "expected a URL");
	output->is_receiver = true;
	output->receiver.format = format;
	output->receiver.url = strdup(text);
	return output->receiver.url ? 0 : -ENOMEM;
}

static int take_text(struct config *config, const yaml_node_t *value,
		     char **into)
{
	const char *text = config__text(value);

	if (!text || !*text)
		return config__refuse(config, value, "expected a text");
	*into = strdup(text);
	return *into ? 0 : -ENOMEM;
}

static int take_bytes(struct config *config, const yaml_node_t *value,
		      uint64_t min, uint64_t max, uint64_t *bytes)
{
	const char *text = config__text(value);

	if (!text || receiver_settings__parse_bytes(text, min, max, bytes))
		return config__refuse(
			config, value,
			"'%s' is not a number of bytes in bounds (expected such as 64M or 1G)",
			text ?: "?");
	return 0;
}

static int take_time(struct config *config, const yaml_node_t *value,
		     uint64_t min_ns, uint64_t max_ns, uint64_t *time_ns)
{
	const char *text = config__text(value);

	if (!text || receiver_settings__parse_time(text, min_ns, max_ns, time_ns))
		return config__refuse(
			config, value,
			"'%s' is not a time in bounds (expected such as 500ms or 5s)",
			text ?: "?");
	return 0;
}

/* Of scrapes, for further ones: in the settings 0 is what the user does not say. */
static int take_delay(struct config *config, const yaml_node_t *value,
		      uint64_t *delay_ns)
{
	int ret = take_time(config, value, 0, RECEIVER_DELAY_MAX_NS, delay_ns);

	if (!ret && !*delay_ns)
		*delay_ns = RECEIVER_DELAY_NONE;
	return ret;
}

static int take_sync(struct config *config, const yaml_node_t *value,
		     uint64_t *sync_ns)
{
	const char *text = config__text(value);

	if (!text || receiver_settings__parse_sync(text, sync_ns))
		return config__refuse(
			config, value,
			"'%s' is neither always, never nor a time in bounds (expected such as 1s)",
			text ?: "?");
	return 0;
}

static int take_number(struct config *config, const yaml_node_t *value,
		       unsigned int max, unsigned int *number)
{
	const char *text = config__text(value);

	if (!text || settings__parse_number(text, max, number))
		return config__refuse(config, value,
				      "'%s' is not a number from 1 to %u",
				      text ?: "?", max);
	return 0;
}

static char **text_of(struct receiver_settings *receiver, const char *key)
{
	const struct {
		const char *key;
		char **text;
	} texts[] = {
		{ "database", &receiver->database },
		{ "bucket", &receiver->bucket },
		{ "organization", &receiver->organization },
		{ "spool", &receiver->spool },
		{ "authorities", &receiver->authorities },
	};
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (!strcmp(texts[i].key, key))
			return texts[i].text;
	return NULL;
}

static int take_receiver_value(struct config *config, const char *key,
			       const yaml_node_t *value,
			       struct receiver_settings *receiver)
{
	char **text = text_of(receiver, key);

	if (text)
		return take_text(config, value, text);
	if (!strcmp(key, "version"))
		return take_number(config, value, 2, &receiver->version);
	if (!strcmp(key, "batch"))
		return take_number(config, value, RECEIVER_BATCH_MAX,
				   &receiver->batch);
	if (!strcmp(key, "delay"))
		return take_delay(config, value, &receiver->delay_ns);
	if (!strcmp(key, "timeout"))
		return take_time(config, value, RECEIVER_TIMEOUT_MIN_NS,
				 RECEIVER_TIMEOUT_MAX_NS, &receiver->timeout_ns);
	if (!strcmp(key, "queue_bytes"))
		return take_bytes(config, value, RECEIVER_QUEUE_MIN,
				  RECEIVER_QUEUE_MAX, &receiver->queue_bytes);
	if (!strcmp(key, "spool_bytes"))
		return take_bytes(config, value, RECEIVER_SPOOL_MIN,
				  RECEIVER_SPOOL_MAX, &receiver->spool_bytes);
	if (!strcmp(key, "senders"))
		return take_number(config, value, RECEIVER_SENDERS_MAX,
				   &receiver->senders);
	if (!strcmp(key, "spool_sync"))
		return take_sync(config, value, &receiver->spool_sync_ns);
	if (!strcmp(key, "labels"))
		return config__labels(config, value, &receiver->labels);
	return -ENOENT;
}

/* A name by which requests may call a server. */
static int take_name(struct config *config, const yaml_node_t *item, void *into)
{
	const char *text = config__text(item);
	int ret = text ? http_settings__add_name(into, text) : -EINVAL;

	if (ret == -EINVAL)
		return config__refuse(
			config, item,
			"'%s' is not a name of a server (expected such as metrics.example.org, without a port)",
			text ?: "?");
	if (ret == -E2BIG)
		return config__refuse(config, item,
				      "there are more than %d names",
				      HTTP_NAMES_MAX);
	return ret;
}

static int take_server_value(struct config *config, const char *key,
			     const yaml_node_t *value,
			     struct http_settings *http)
{
	if (!strcmp(key, "certificate"))
		return take_text(config, value, &http->certificate);
	if (!strcmp(key, "key"))
		return take_text(config, value, &http->key);
	return config__sequence(config, value, take_name, http);
}

static int take_value(struct config *config, const char *key,
		      const yaml_node_t *value, void *into)
{
	const char *format = receiver_settings__format(key);
	struct config_output *output = into;

	if (!strcmp(key, "listen"))
		return take_address(config, value, &output->listen);
	if (!strcmp(key, "web"))
		return take_address(config, value, &output->web);
	if (!strcmp(key, "token_file"))
		return take_text(config, value, &output->http.token_path);
	if (!strcmp(key, "user"))
		return take_text(config, value, &output->http.user);
	if (!strcmp(key, "password_file"))
		return take_text(config, value, &output->http.password_path);
	if (format)
		return take_url(config, value, format, output);
	if (!strcmp(key, "certificate") || !strcmp(key, "key") ||
	    !strcmp(key, "names")) {
		output->has_server = true;
		return take_server_value(config, key, value, &output->http);
	}
	output->has_more = true;
	return take_receiver_value(config, key, value, &output->receiver);
}

/* Of listen, web, and a receiver, one is there, with the keys that it may have. */
static bool is_one(const struct config_output *output)
{
	if (!!output->listen + !!output->web + output->is_receiver != 1)
		return false;
	return output->is_receiver ? !output->has_server : !output->has_more;
}

/* Moves a text into the settings; false: there is one. */
static bool set_once(char **setting, char **text)
{
	if (*setting)
		return false;
	*setting = *text;
	*text = NULL;
	return true;
}

/* Moves @address and what @output has for servers into @server; false: there is one. */
static bool set_server(struct http_settings *server, char **address,
		       struct config_output *output)
{
	if (server->address)
		return false;
	*server = output->http;
	output->http = (struct http_settings){ };
	return set_once(&server->address, address);
}

static int add_output(struct config *config, const yaml_node_t *item,
		      struct config_output *output,
		      struct output_settings *outputs)
{
	struct dart_error error;
	int ret;

	if (!is_one(output))
		return config__refuse(
			config, item,
			"an output is one of listen, web, remote_write and influx; listen and web may have token_file, user, password_file, certificate, key and names, and no other key");
	ret = output->is_receiver ? 0 :
				    http_settings__check(&output->http, &error);
	if (ret)
		return config__refuse(config, item, "%s", error.text);
	if (output->listen)
		return set_server(&outputs->listen, &output->listen, output) ?
			       0 :
			       config__refuse(config, item,
					      "there are two outputs that listen");
	if (output->web)
		return set_server(&outputs->web, &output->web, output) ?
			       0 :
			       config__refuse(config, item,
					      "there are two pages (web)");
	set_once(&output->receiver.token_file, &output->http.token_path);
	set_once(&output->receiver.user, &output->http.user);
	set_once(&output->receiver.password_file, &output->http.password_path);
	ret = output_settings__add_receiver(outputs, &output->receiver, &error);
	return ret == -EINVAL ? config__refuse(config, item, "%s", error.text) :
				ret;
}

static int take_output(struct config *config, const yaml_node_t *item,
		       void *into)
{
	struct config_output output = { };
	int ret = config__mapping(config, item, take_value, &output) ?:
		  add_output(config, item, &output, into);

	free(output.listen);
	free(output.web);
	http_settings__clear(&output.http);
	receiver_settings__clear(&output.receiver);
	return ret;
}

/* What the command line says of a server stays; the file has the rest. */
static void complete_server(struct http_settings *server,
			    struct http_settings *file)
{
	set_once(&server->address, &file->address);
	set_once(&server->token_path, &file->token_path);
	set_once(&server->user, &file->user);
	set_once(&server->password_path, &file->password_path);
	set_once(&server->certificate, &file->certificate);
	set_once(&server->key, &file->key);
	if (server->name_count)
		return;
	memcpy(server->names, file->names, sizeof(file->names));
	server->name_count = file->name_count;
	file->name_count = 0;
}

/* With what the command line has. */
static int check_servers(struct config *config, const yaml_node_t *value,
			 const struct output_settings *outputs)
{
	struct dart_error error;

	if (http_settings__check(&outputs->listen, &error) ||
	    http_settings__check(&outputs->web, &error))
		return config__refuse(config, value, "%s", error.text);
	return 0;
}

int config__take_outputs(struct config *config, const yaml_node_t *value,
			 struct settings *settings)
{
	struct output_settings *chosen = &settings->outputs;
	struct output_settings file = { };
	int ret = config__sequence(config, value, take_output, &file);
	size_t i;

	for (i = 0; i < file.receiver_count && !ret; i++)
		ret = output_settings__add_receiver(chosen, &file.receivers[i],
						    config->error);
	if (!ret) {
		complete_server(&chosen->listen, &file.listen);
		complete_server(&chosen->web, &file.web);
		ret = check_servers(config, value, chosen);
	}
	output_settings__clear(&file);
	return ret;
}
