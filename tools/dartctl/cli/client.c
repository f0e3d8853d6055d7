// SPDX-License-Identifier: GPL-2.0-only
/* Sends the requests of commands to dartd, and prints its replies. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libdart/escape.h>

#include "client.h"
#include "file.h"
#include "message.h"

int client__open(const struct options *options, struct dart_registration_client *client)
{
	struct dart_error error;
	int ret;

	ret = dart_registration_client__open(client, options->socket, &error);
	return ret ? fail(-ret, "%s", error.text) : EXIT_SUCCESS;
}

int client__fail(int ret, const json_t *reply, struct dart_error *error)
{
	if (reply)
		version__explain(reply, error);
	return fail(-ret, "%s", error->text);
}

void client__print_warning(const json_t *reply)
{
	const char *warning = json_string_value(json_object_get(reply, "warning"));

	if (warning)
		print_warning(warning);
}

/* As client__ask().  *@may_have_begun: dartd may have carried out the request. */
static json_t *ask(const struct options *options, json_t *request, int fd, const char *member,
		   json_t **reply, int *received, bool *may_have_begun)
{
	struct dart_registration_client client;
	json_t *result = NULL;
	struct dart_error error;
	int ret;

	*may_have_begun = false;
	if (!request) {
		fail(EINVAL, "out of memory, or a name is not UTF-8");
		return NULL;
	}
	if (client__open(options, &client)) {
		json_decref(request);
		return NULL;
	}
	ret = dart_registration_client__ask(&client, request, fd, reply, received, &error);
	dart_registration_client__close(&client);
	json_decref(request);
	*may_have_begun = !ret || !*reply;
	if (*reply)
		client__print_warning(*reply);
	if (!ret) {
		result = json_object_get(*reply, member);
		if (result)
			return result;
		ret = dart_error__set(&error, EPROTO, "the reply of dartd has no '%s'", member);
		if (received && *received >= 0)
			close(*received);
	}
	client__fail(ret, *reply, &error);
	json_decref(*reply);
	return NULL;
}

json_t *client__ask(const struct options *options, json_t *request, int fd,
		    const char *member, json_t **reply, int *received)
{
	bool ignored;

	return ask(options, request, fd, member, reply, received, &ignored);
}

int client__print(const struct options *options, json_t *request, int fd, const char *member,
		  const struct reply_form *form)
{
	struct dart_registration_client client;
	json_t *reply = NULL;
	struct dart_error error;
	char *text = NULL;
	size_t length;
	int status;

	if (!request)
		return fail(EINVAL, "out of memory, or a name is not UTF-8");
	status = client__open(options, &client);
	if (!status) {
		status = dart_registration_client__ask_text(&client, request, fd, &text, &length,
							    &reply, &error);
		if (status)
			status = client__fail(status, reply, &error);
		else
			status = reply__print(text, length, member, form);
		dart_registration_client__close(&client);
	}
	free(text);
	json_decref(reply);
	json_decref(request);
	return status;
}

/* Prints @member of the reply as @how describes; with --json, as JSON. */
static int ask_and_print(const struct options *options, json_t *request, int fd,
			 const char *member, const struct client_request *how)
{
	const struct reply_form form = { .columns = how && !options->json ? how->columns : NULL };
	json_t *reply, *answer;
	int status = EXIT_SUCCESS;

	if (options->json || form.columns)
		return client__print(options, request, fd, member, &form);
	answer = client__ask(options, request, fd, member, &reply, NULL);
	if (!answer)
		return EXIT_FAILURE;
	if (how && how->print)
		status = how->print(answer);
	json_decref(reply);
	return status;
}

int client__do(const struct options *options, json_t *request, int fd, const char *member)
{
	return ask_and_print(options, request, fd, member, NULL);
}

json_t *client__optional(long long number)
{
	return number < 0 ? NULL : json_integer(number);
}

/* Without the reply dartd may use the new file: the memory of its object would go with it. */
static void keep_or_unlink(const char *path, bool may_be_used)
{
	char *warning;

	if (!may_be_used) {
		unlink(path);
		return;
	}
	if (asprintf(&warning,
		     "'%s' stays, since dartd may use it (dartctl list tells; if not, remove it)",
		     path) < 0)
		return;
	print_warning(warning);
	free(warning);
}

int client__create(const struct options *options, json_t *request, const char *file,
		   const char *member)
{
	json_t *reply, *answer;
	char full[PATH_MAX];
	bool is_new, may_have_begun;
	int fd, status;

	if (!file)
		return client__do(options, request, -1, member);
	fd = file__open_memory(file, full, &is_new);
	if (fd < 0) {
		json_decref(request);
		return EXIT_FAILURE;
	}
	if (request && json_object_set_new(request, "file", json_string(full))) {
		json_decref(request);
		request = NULL;
	}
	answer = ask(options, request, fd, member, &reply, NULL, &may_have_begun);
	if (!answer && is_new)
		keep_or_unlink(full, may_have_begun);
	close(fd);
	if (!answer)
		return EXIT_FAILURE;
	status = options->json ? print_json(json_incref(answer), 0) : EXIT_SUCCESS;
	json_decref(reply);
	return status;
}

int client__run(const struct options *options,
		const struct client_request *request, int argc, char **argv)
{
	json_t *json = json_pack("{s:s}", "request", request->name);
	int i;

	for (i = 0; i < argc; i++)
		if (!dart_escape__is_utf8(argv[i]))
			return fail(EINVAL,
				    "'%s' is not UTF-8, and no name in dartd has such bytes (dartctl list prints the names)",
				    argv[i]);
	for (i = 0; json && i < argc; i++) {
		if (!json_object_set_new(json, request->members[i], json_string(argv[i])))
			continue;
		json_decref(json);
		json = NULL;
	}
	return ask_and_print(options, json, -1, request->answer, request);
}
