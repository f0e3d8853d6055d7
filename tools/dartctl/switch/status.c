// SPDX-License-Identifier: GPL-2.0-only
/* The counters of programs that write to a collector, see status.h. */
#include "status.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/dartctl/cli/command.h"
#include "tools/dartctl/switch/bmv2/register.h"
#include "tools/dartctl/switch/journals/kind.h"
#include "tools/dartctl/switch/sketches/kind.h"
#include "tools/dartctl/switch/sketches/merge_kind.h"

#define OUTCOMES_MAX 13

/* A kind of programs, and its counters. */
struct writer {
	const struct switch_kind *kind;
	const char *packets, *writes; /* counters */
	const char *outcomes[OUTCOMES_MAX + 1]; /* of packets; ended by NULL */
};

static const struct writer writers[] = {
	/* See p4/shared/outcome.p4. */
	{ &journal_kind,
	  "journal_packets",
	  "journal_writes",
	  { "report", "other", "truncated", "malformed", "incomplete", "anonymous", "unassigned",
	    "unchanged", "damaged", "tagged", "extensions", "answer", "forged" } },
	/* See p4/v1model/sketch.p4. */
	{ &sketch_kind, "sketch_packets", "sketch_writes", { "other", "counted", "unassigned" } },
	/* See p4/v1model/merger.p4. */
	{ &merge_kind,
	  "merge_packets",
	  "merge_writes",
	  { "other", "gathered", "written", "stale", "truncated", "malformed", "damaged" } },
};

#define WRITERS (sizeof(writers) / sizeof(writers[0]))

struct status {
	struct thrift *thrift;
	struct switch_program program;
	const struct writer *writer;
	uint64_t packets[OUTCOMES_MAX];
	uint64_t writes; /* frames */
	struct dart_error error;
};

/* Finds the kind of the program that the switch runs; false without one. */
static bool find_writer(struct status *status)
{
	size_t i;

	for (i = 0; i < WRITERS; i++) {
		if (!switch_program__read(&status->program, &writers[i].kind->needs, status->thrift,
					  &status->error)) {
			status->writer = &writers[i];
			return true;
		}
		switch_program__free(&status->program);
	}
	return false;
}

static int read_status(struct status *status)
{
	const struct writer *writer = status->writer;
	size_t i;
	int ret;

	ret = bmv2_counter__packets(status->thrift, writer->writes, 0, &status->writes,
				    &status->error);
	for (i = 0; !ret && writer->outcomes[i]; i++)
		ret = bmv2_counter__packets(status->thrift, writer->packets, i, &status->packets[i],
					    &status->error);
	return ret;
}

static int print(const struct status *status)
{
	const char *const *outcomes = status->writer->outcomes;
	size_t i;

	printf("%-14s %" PRIu64 " frames\n", "writes", status->writes);
	for (i = 0; outcomes[i]; i++)
		if (status->packets[i])
			printf("%-14s %" PRIu64 " packets\n", outcomes[i], status->packets[i]);
	return EXIT_SUCCESS;
}

static int print_as_json(const struct status *status)
{
	const char *const *outcomes = status->writer->outcomes;
	json_t *packets = json_object();
	int failures = !packets;
	size_t i;

	for (i = 0; outcomes[i]; i++)
		failures |=
			json_object_set_new(packets, outcomes[i], json_integer(status->packets[i]));
	if (!failures)
		return print_json(json_pack("{s:I, s:o}", "writes", (json_int_t)status->writes,
					    "packets", packets),
				  0);
	json_decref(packets);
	return fail__out_of_memory();
}

bool switch_status__show(const char *name, bool as_json, int *exit_status)
{
	struct status *status = calloc(1, sizeof(*status));
	bool is_there = status && !thrift__connect(name, &status->thrift, &status->error) &&
			find_writer(status);

	if (is_there && read_status(status))
		*exit_status = fail(EIO, "cannot show '%s': %s", name, status->error.text);
	else if (is_there)
		*exit_status = as_json ? print_as_json(status) : print(status);
	if (status) {
		thrift__close(status->thrift);
		switch_program__free(&status->program);
	}
	free(status);
	return is_there;
}
