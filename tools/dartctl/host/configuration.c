// SPDX-License-Identifier: GPL-2.0-only
/* dartctl apply, save and registration: registrations and configuration files. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "registered.h"
#include "tools/dartctl/cli/command.h"

/* ---- apply */

struct apply {
	struct dart_registration_client client;
	json_t *registered; /* in dartd before the first item, see registered.h */
	json_t *results; /* for --json, or NULL */
	bool has_added;
	int status;
};

/*
 * Makes the request of an item, with the path by which dartd finds its object after a restart.
 * "more" delays the saving, so that all items are saved together.
 */
static json_t *request_of(const struct dart_configuration_item *item, int fd)
{
	json_t *request = json_copy(item->request);
	int ret;

	if (!request)
		return NULL;
	ret = json_object_set_new(request, "more", json_true());
	/* dartd accepts paths from root only. */
	if (!ret && fd >= 0 && !geteuid())
		ret = json_object_set_new(request, "path", json_string(item->path));
	if (ret) {
		json_decref(request);
		return NULL;
	}
	return request;
}

static int ask(struct apply *apply, const struct dart_configuration_item *item,
	       struct dart_error *error)
{
	json_t *request, *reply;
	int fd, ret;

	ret = dart_configuration__open_object(item->request, item->path, &fd, error);
	if (ret)
		return ret;
	request = request_of(item, fd);
	if (!request) {
		ret = dart_error__no_memory(error);
		goto close;
	}
	ret = dart_registration_client__ask(&apply->client, request, fd, &reply, NULL, error);
	if (!ret)
		client__print_warning(reply);
	json_decref(reply);
	json_decref(request);
close:
	if (fd >= 0)
		close(fd);
	return ret;
}

static int apply__note(struct apply *apply, const struct dart_configuration_item *item,
		       const char *result, const char *message)
{
	char what[512];

	if (apply->results)
		return json_array_append_new(apply->results,
					     json_pack("{s:s, s:I, s:O, s:s, s:s*}", "file",
						       item->file, "line", (json_int_t)item->line,
						       "request", item->request, "result", result,
						       "message", message));
	registered__describe(item, what, sizeof(what));
	if (message)
		fail(EINVAL, "%s:%u: %s: %s", item->file, item->line, what, message);
	else
		printf("%-10s %s\n", result, what);
	return 0;
}

/* dartd would also save the items soon without this request, but could not report a failure. */
static void apply__save(struct apply *apply)
{
	json_t *request = json_pack("{s:s}", "request", "registration-save");
	json_t *reply = NULL;
	struct dart_error error;

	if (dart_registration_client__ask(&apply->client, request, -1, &reply, NULL, &error))
		print_warning(error.text);
	json_decref(reply);
	json_decref(request);
}

static int apply__item(struct apply *apply, const struct dart_configuration_item *item)
{
	struct dart_error error;
	const int is_there = registered__has(apply->registered, item);

	if (is_there < 0)
		return is_there;
	if (is_there)
		return apply__note(apply, item, "unchanged", NULL);
	if (!ask(apply, item, &error)) {
		apply->has_added = true;
		return apply__note(apply, item, "added", NULL);
	}
	apply->status = EXIT_FAILURE;
	return apply__note(apply, item, "refused", error.text);
}

/* Returns the registrations in dartd; NULL with a message printed. */
static json_t *list_registrations(const struct options *options, json_t **reply)
{
	return client__ask(options, json_pack("{s:s}", "request", "registration-list"), -1,
			   "registrations", reply, NULL);
}

static int apply__run(struct apply *apply, const struct dart_configuration *configuration)
{
	size_t i;

	if (configuration->settings_place)
		fprintf(stderr,
			"dartctl: warning: %s: settings of dartd are not applied, only what it registers (dartd reads them from its own configuration)\n",
			configuration->settings_place);
	for (i = 0; i < configuration->item_count; i++)
		if (apply__item(apply, &configuration->items[i]))
			return fail__out_of_memory();
	if (apply->has_added)
		apply__save(apply);
	if (apply->results && print_json(json_incref(apply->results), 0))
		return EXIT_FAILURE;
	return apply->status;
}

int command_apply(const struct options *options, int argc, char **argv)
{
	struct apply apply = {};
	struct dart_configuration configuration;
	struct dart_error error;
	json_t *registrations, *reply;
	int ret, status = EXIT_FAILURE;

	ret = dart_configuration__load_file(&configuration, argv[0], &error);
	if (ret)
		return fail(-ret, "%s", error.text);
	registrations = list_registrations(options, &reply);
	if (!registrations)
		goto close_configuration;
	apply.registered = registered__index(registrations);
	json_decref(reply);
	if (!apply.registered) {
		status = fail__out_of_memory();
		goto close_configuration;
	}
	if (client__open(options, &apply.client))
		goto release;
	apply.results = options->json ? json_array() : NULL;
	status = apply__run(&apply, &configuration);
	json_decref(apply.results);
	dart_registration_client__close(&apply.client);
release:
	json_decref(apply.registered);
close_configuration:
	dart_configuration__close(&configuration);
	return status;
}

/* ---- save */

int command_save(const struct options *options, int argc, char **argv)
{
	json_t *reply, *registrations = list_registrations(options, &reply);
	struct dart_error error;
	int ret;

	if (!registrations)
		return EXIT_FAILURE;
	if (options->json) {
		ret = print_json(json_incref(registrations), 0);
		json_decref(reply);
		return ret;
	}
	ret = dart_configuration__print(stdout, registrations, &error);
	json_decref(reply);
	if (ret < 0)
		return fail(-ret, "%s", error.text);
	if (ret)
		fprintf(stderr,
			"dartctl: warning: a file cannot have %d of the registrations (see the comments at its end)\n",
			ret);
	return EXIT_SUCCESS;
}

/* ---- list of registrations */

static const struct table_column columns[] = { TEXT_COLUMN("KIND", "kind"),
					       TEXT_COLUMN("NAME", "name"),
					       { "OWNER", "owner", false, table__user },
					       TEXT_COLUMN("FROM", "origin"),
					       TEXT_COLUMN("MISSING", "missing"),
					       {} };

/* Splits "kind name"; a registration without a name is shown as its request. */
static int split_name(json_t *registration)
{
	const char *name = json_string_value(json_object_get(registration, "name"));
	char *text, *space;
	int ret;

	text = name ? strdup(name) :
		      json_dumps(json_object_get(registration, "request"), JSON_COMPACT);
	space = text && name ? strchr(text, ' ') : NULL;
	if (space)
		*space = '\0';
	ret = !text || json_object_set_new(registration, "kind", json_string(space ? text : "")) ||
	      json_object_set_new(registration, "name", json_string(space ? space + 1 : text));
	free(text);
	return ret;
}

static int print(json_t *registrations)
{
	json_t *registration;
	size_t i;

	json_array_foreach(registrations, i, registration)
		if (split_name(registration))
			return fail__out_of_memory();
	return table__print_objects(registrations, columns);
}

const struct command registration_commands[] = {
	{ "list", NULL, "list the objects that dartd registers again after a restart",
	  .request = { "registration-list", {}, "registrations", .print = print } },
	{}
};
