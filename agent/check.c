// SPDX-License-Identifier: GPL-2.0-only
/* dartd --check: checks a configuration with all that dartd knows without a device. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/rpc/tls.h>

#include "agent/application/applications.h"
#include "agent/base/entry_name.h"
#include "agent/probe/probe_kind.h"
#include "agent/region/selector.h"
#include "agent/tea/table_parameters.h"
#include "check.h"

/* As its handler does; the object is there, as far as this is concerned. */
static int check_source(struct request *request, bool is_followed,
			char name[static DART_CONTROL_ENTRY_NAME_MAX])
{
	struct selector_choice choice;
	const struct source *source;
	int ret;

	ret = selector__unpack(request, &source, &choice);
	if (ret)
		return ret;
	if (is_followed)
		return selector__check_follow(source, &choice, &request->error);
	return selector__check(source, &choice, &request->error) ?:
		       selector__entry_name(name, source, &choice, &request->error);
}

/* @name: of the entry that it becomes, which stays empty if there is none. */
static int check_request(const char *type, struct request *request,
			 char name[static DART_CONTROL_ENTRY_NAME_MAX])
{
	const char *given = json_string_value(json_object_get(request->members, "name"));
	struct table_parameters parameters;
	struct application_wish wish;
	const char *file;
	uint32_t gather_ms;
	int ret;

	if (!strcmp(type, "register-host"))
		return selector__parse_interval(
			json_string_value(json_object_get(request->members, "gather")), &gather_ms,
			&request->error);
	if (!strcmp(type, "register-source") || !strcmp(type, "follow-source"))
		return check_source(request, !strcmp(type, "follow-source"), name);
	if (!strcmp(type, "application-add"))
		return application_wish__unpack(request, &wish);
	if (!strcmp(type, "probe-load"))
		return probe_kind__find(given, &request->error) ? 0 : -ENOENT;
	if (!strcmp(type, "table-create") &&
	    table_parameters__unpack(request, &given, &file, &parameters))
		return -EINVAL;
	ret = given ? entry_name__check(given, &request->error) : 0;
	/* An item without a name takes the name of its map, which is not open here. */
	if (!ret && given && strcmp(type, "store-create") && strcmp(type, "table-create") &&
	    strcmp(type, "journal-create") && strcmp(type, "ledger-create") &&
	    strcmp(type, "sketch-create"))
		strcpy(name, given);
	return ret;
}

static int check_item(const struct dart_configuration_item *item,
		      char name[static DART_CONTROL_ENTRY_NAME_MAX], struct dart_error *error)
{
	/* A descriptor that is not used. */
	struct request request = { .fd = item->path ? 0 : -1 };
	const char *type;
	int ret;

	*name = '\0';
	type = json_string_value(json_object_get(item->request, "request"));
	request.members = json_copy(item->request);
	if (!request.members)
		return dart_error__no_memory(error);
	json_object_del(request.members, "request");
	ret = check_request(type, &request, name);
	json_decref(request.members);
	if (ret)
		*error = request.error;
	return ret;
}

/* Two items of different kinds can have the same name. */
static int claim_name(json_t *places, const char *name, const struct dart_configuration_item *item,
		      struct dart_error *error)
{
	const char *place = json_string_value(json_object_get(places, name));

	if (place)
		return dart_error__set(error, EEXIST,
				       "entry '%s' occurs twice, also at %s (remove or rename one)",
				       name, place);
	if (*name &&
	    json_object_set_new(places, name, json_sprintf("%s:%u", item->file, item->line)))
		return dart_error__no_memory(error);
	return 0;
}

/* "3 sources, 1 probe" */
static void print_counts(const struct dart_configuration *configuration)
{
	static const struct {
		const char *request, *one, *many;
	} kinds[] = {
		{ "register-host", "host", "hosts" },
		{ "register-source", "source", "sources" },
		{ "follow-source", "follower", "followers" },
		{ "register-map", "map", "maps" },
		{ "register-counters", "set of counters", "sets of counters" },
		{ "probe-load", "probe", "probes" },
		{ "application-add", "application", "applications" },
		{ "store-create", "store", "stores" },
		{ "reporter-add", "reporter", "reporters" },
		{ "table-create", "table", "tables" },
		{ "requester-add", "requester", "requesters" },
		{ "journal-create", "journal", "journals" },
		{ "appender-add", "appender", "appenders" },
		{ "ledger-create", "ledger", "ledgers" },
		{ "adder-add", "adder", "adders" },
		{ "sketch-create", "sketch", "sketches" },
		{ "sketcher-add", "sketcher", "sketchers" },
	};
	const char *separator = "", *type;
	unsigned int count;
	size_t i, kind;

	for (kind = 0; kind < sizeof(kinds) / sizeof(kinds[0]); kind++) {
		count = 0;
		for (i = 0; i < configuration->item_count; i++) {
			type = json_string_value(json_object_get(
				configuration->items[i].request, "request"));
			count += !strcmp(type, kinds[kind].request);
		}
		if (!count)
			continue;
		printf("%s%u %s", separator, count,
		       count == 1 ? kinds[kind].one : kinds[kind].many);
		separator = ", ";
	}
	puts(*separator ? "" : "nothing");
}

int check__items(const struct dart_configuration *configuration, FILE *file,
		 struct dart_error *error)
{
	const struct dart_configuration_item *item;
	char name[DART_CONTROL_ENTRY_NAME_MAX];
	json_t *places = json_object();
	struct dart_error mistake;
	int ret, first = 0;
	size_t i;

	for (i = 0; i < configuration->item_count; i++) {
		item = &configuration->items[i];
		ret = check_item(item, name, &mistake) ?: claim_name(places, name, item, &mistake);
		if (!ret)
			continue;
		if (file)
			fprintf(file, "%s:%u: %s\n", item->file, item->line, mistake.text);
		if (!first)
			first = dart_error__set(error, -ret, "%s:%u: %s", item->file, item->line,
						mistake.text);
	}
	json_decref(places);
	return first;
}

/*
 * Checks the files of the tcp settings, if configured.  Returns 0, or -errno and the reason in
 * @error.
 */
static int check__certificates(const struct dart_configuration *configuration,
			       struct dart_error *error)
{
	const struct dart_tls_files files = {
		.certificate = configuration->tcp.certificate,
		.key = configuration->tcp.key,
		.authorities = configuration->tcp.authorities,
		.revoked = configuration->tcp.revoked,
	};
	struct dart_tls *tls;
	int ret;

	/* The configuration sets all three, or has no tcp. */
	if (!files.certificate || !files.key || !files.authorities)
		return 0;
	ret = dart_tls__load(&files, &tls, error);
	if (!ret)
		dart_tls__put(tls);
	return ret;
}

static void print_mistake(void *stream, const char *sentence)
{
	fprintf(stream, "%s\n", sentence);
}

/* Prints the mistakes in certificates, if there are some. */
static int print_certificates(const struct dart_configuration *configuration)
{
	struct dart_error error;
	int ret = check__certificates(configuration, &error);

	if (ret)
		fprintf(stderr, "%s: tcp: %s\n", configuration->tcp.place, error.text);
	return ret;
}

int check__run(const struct options *options)
{
	struct dart_configuration configuration;
	struct dart_error error;
	int ret, items, certificates;

	ret = dart_configuration__check(&configuration, options->config,
					print_mistake, stderr, &error);
	if (ret == -ENOENT && !options->is_config_given) {
		printf("there is no %s: the defaults are used\n", options->config);
		dart_configuration__close(&configuration);
		return EXIT_SUCCESS;
	}
	if (ret == -ENOENT || ret == -ENOMEM)
		fprintf(stderr, "%s\n", error.text);
	items = check__items(&configuration, stderr, &error);
	certificates = print_certificates(&configuration);
	ret = ret ?: items ?: certificates;
	if (!ret) {
		printf("%s is valid and registers ", options->config);
		print_counts(&configuration);
	}
	dart_configuration__close(&configuration);
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
