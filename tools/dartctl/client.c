// SPDX-License-Identifier: GPL-2.0-only
/* Requests of commands to dartd, and what they do with its replies. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client.h"
#include "command.h"

int client__open(const struct options *options,
		 struct dart_registration_client *client)
{
	struct dart_error error;
	int ret;

	ret = dart_registration_client__open(client, options->socket, &error);
	return ret ? fail(-ret, "%s", error.text) : EXIT_SUCCESS;
}

void client__check_version(const json_t *reply)
{
	const char *version;
	static bool is_checked;

	version = json_string_value(json_object_get(reply, "version"));
	if (is_checked || (version && !strcmp(version, DART_VERSION)))
		return;
	is_checked = true;
	fprintf(stderr,
		"dartctl: warning: dartd is %s%s and dartctl is version " DART_VERSION
		" (restart dartd after an upgrade, or use the dartctl of its release)\n",
		version ? "version " : "an older version", version ?: "");
}

json_t *client__ask(const struct options *options, json_t *request, int fd,
		    const char *member, json_t **reply, int *received)
{
	struct dart_registration_client client;
	json_t *result = NULL;
	struct dart_error error;
	int ret;

	if (!request) {
		fail(EINVAL, "out of memory, or a name is not UTF-8");
		return NULL;
	}
	if (client__open(options, &client)) {
		json_decref(request);
		return NULL;
	}
	ret = dart_registration_client__ask(&client, request, fd, reply,
					    received, &error);
	dart_registration_client__close(&client);
	json_decref(request);
	if (*reply)
		client__check_version(*reply);
	if (!ret) {
		result = json_object_get(*reply, member);
		if (result)
			return result;
		ret = dart_error__set(&error, EPROTO,
				      "the reply of dartd has no '%s'", member);
		if (received && *received >= 0)
			close(*received);
	}
	fail(-ret, "%s", error.text);
	json_decref(*reply);
	return NULL;
}

int client__do(const struct options *options, json_t *request, int fd,
	       const char *member)
{
	json_t *reply, *answer;
	int status = EXIT_SUCCESS;

	answer = client__ask(options, request, fd, member, &reply, NULL);
	if (!answer)
		return EXIT_FAILURE;
	if (options->json)
		status = print_json(json_incref(answer), 0);
	json_decref(reply);
	return status;
}

int client__list(const struct options *options, json_t *request,
		 const char *member, const struct table_column *columns)
{
	json_t *list, *reply;
	int status;

	list = client__ask(options, request, -1, member, &reply, NULL);
	if (!list)
		return EXIT_FAILURE;
	status = options->json ? print_json(json_incref(list), 0) :
				 table__print_objects(list, columns);
	json_decref(reply);
	return status;
}
