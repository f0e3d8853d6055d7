// SPDX-License-Identifier: GPL-2.0-only
/* dartctl monitor: a line for each change that dartd reports. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tools/dartctl/cli/command.h"

/* "2026-11-22T06:33:35.123 added entry cpustat" */
static void print_text(json_t *change)
{
	const char *event = "?", *object = "?", *name = "?";
	json_int_t time_ms = 0;
	struct tm local = { };
	char second[32];
	time_t time;

	json_unpack(change, "{s:I, s:s, s:s, s:s}", "time_ms", &time_ms,
		    "event", &event, "object", &object, "name", &name);
	time = time_ms / 1000;
	localtime_r(&time, &local);
	strftime(second, sizeof(second), "%FT%T", &local);
	printf("%s.%03d ", second, (int)(time_ms % 1000));
	print_foreign(stdout, event);
	putchar(' ');
	print_foreign(stdout, object);
	putchar(' ');
	print_foreign(stdout, name);
}

int command_monitor(const struct options *options, int argc, char **argv)
{
	struct dart_registration_client client;
	struct dart_error error;
	json_t *request, *line;
	int ret, status;

	status = client__open(options, &client);
	if (status)
		return status;
	request = json_pack("{s:s}", "request", "monitor");
	ret = dart_registration_client__ask(&client, request, -1, &line, NULL, &error);
	json_decref(request);
	if (ret) {
		status = client__fail(ret, line, &error);
		goto close;
	}
	while (!ferror(stdout)) {
		json_decref(line);
		ret = dart_registration_client__next(&client, &line, &error);
		if (ret)
			break;
		if (options->json)
			json_dumpf(line, stdout, JSON_COMPACT | JSON_ENSURE_ASCII);
		else
			print_text(line);
		putchar('\n');
		fflush(stdout);
	}
	status = ret ? fail(-ret, "%s", error.text) : EXIT_FAILURE;
close:
	json_decref(line);
	dart_registration_client__close(&client);
	return status;
}
