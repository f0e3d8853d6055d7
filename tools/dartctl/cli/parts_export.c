// SPDX-License-Identifier: GPL-2.0-only
/* Prints what the peers of an object need to know, such as the appenders to a journal. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "file.h"
#include "parts_export.h"

#define VERSION 1
#define KEY_MAX 32 /* with the NUL */

/* The request of the command line. */
struct request {
	const struct export_kind *kind;
	const char *peer; /* its address; NULL: all of them */
	const char *watched; /* a file to keep up to date, or NULL */
	const char *output; /* a file to write once, or NULL */
};

/* Makes the file of the wanted peers; NULL with an errno. */
static json_t *make_file(json_t *list, const void *argument)
{
	const struct request *request = argument;
	size_t i = json_array_size(list);
	char version[KEY_MAX];
	const char *its;
	json_t *file;

	while (request->peer && i--) {
		its = json_string_value(json_object_get(json_array_get(list, i), "reporter"));
		if (!its || strcmp(its, request->peer))
			json_array_remove(list, i);
	}
	if (!json_array_size(list)) {
		errno = ENODATA;
		return NULL;
	}
	snprintf(version, sizeof(version), "dart_%s", request->kind->member);
	file = json_pack("{s:i, s:O}", version, VERSION, request->kind->member, list);
	if (!file)
		errno = ENOMEM;
	return file;
}

static int keep_up_to_date(const struct options *options, const struct request *request,
			   const char *name)
{
	const struct export_watch watch = {
		.options = options,
		.kind = request->kind,
		.name = name,
		.path = request->watched,
		.make = make_file,
		.argument = request,
	};

	return export_watch__run(&watch);
}

static int print_file(const struct options *options, const struct request *request,
		      const char *name)
{
	const struct export_kind *kind = request->kind;
	json_t *list, *reply, *file;
	int status;

	list = client__ask(options,
			   json_pack("{s:s, s:s}", "request", kind->request, "name", name), -1,
			   kind->member, &reply, NULL);
	if (!list)
		return EXIT_FAILURE;
	file = make_file(list, request);
	if (file || errno == ENOMEM)
		status = print_json(file, 0);
	else if (request->peer)
		status = fail(ENOENT, "'%s' is no %s of %s '%s'", request->peer, kind->part,
			      kind->object, name);
	else
		status = fail(ENOENT, "%s '%s' has no %ss (see %s)", kind->object, name, kind->part,
			      kind->remedy);
	json_decref(reply);
	return status;
}

int parts_export__run(struct options *options, int argc, char **argv,
		      const struct export_kind *kind)
{
	const struct option_row rows[] = { OPTION_WORD(kind->part, struct request, peer),
					   OPTION_WORD("watch", struct request, watched),
					   OPTION_WORD("output", struct request, output),
					   {} };
	struct request request = { .kind = kind };
	struct dart_error error;
	int status;

	if (options__take(options, argc, argv, rows, &request))
		return EXIT_USAGE;
	if (argc - optind != 1)
		return misuse("'%s export' needs one name", kind->object);
	if (request.watched && request.output)
		return misuse("--watch and --output are mutually exclusive");
	if ((request.watched && !*request.watched) || (request.output && !*request.output))
		return misuse("--watch and --output need the name of a file");
	if (request.watched)
		return keep_up_to_date(options, &request, argv[optind]);
	if (request.output && file__begin_output(request.output, &error))
		return fail(EIO, "%s", error.text);
	status = print_file(options, &request, argv[optind]);
	if (request.output && file__end_output(request.output, status, &error))
		status = fail(EIO, "%s", error.text);
	return status;
}
