// SPDX-License-Identifier: GPL-2.0-only
/* dartctl switch show of a switch that reports to stores, see status.h. */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "kind.h"
#include "state.h"
#include "status.h"
#include "tools/dartctl/cli/command.h"
#include "tools/dartctl/switch/bmv2/register.h"
#include "tools/dartctl/switch/bmv2/table.h"

/* See p4/shared/outcome.p4. */
static const char *const outcomes[] = {
	"report",     "other",	   "truncated", "malformed", "incomplete", "anonymous", "unassigned",
	"unchanged", "damaged", "tagged",    "extensions", "answer",	"forged",
	"gathered",  "roomless",
};

#define OUTCOMES (sizeof(outcomes) / sizeof(outcomes[0]))
#define TRANSLATOR_OUTCOMES 2 /* the last ones, only of a program that gathers postcards */

/* Reports to a collector; all but the first member are of reliable connections only. */
struct arrival {
	uint64_t reports, state, next, expected, lost, stops;
};

struct status {
	struct thrift *thrift;
	struct switch_program program;
	struct switch_entry collectors[REPORT_COLLECTOR_KEYS], connections[REPORT_COLLECTOR_KEYS];
	struct arrival arrivals[SWITCH_HOSTS_MAX];
	bool gathers;	/* postcards */
	uint64_t packets[OUTCOMES];
	uint64_t incomplete; /* paths of postcards that were reported */
	struct dart_error error;
};

static int read_arrival(struct status *status, uint32_t number)
{
	struct arrival *arrival = &status->arrivals[number];
	struct thrift *thrift = status->thrift;
	struct dart_error *error = &status->error;
	int ret;

	ret = bmv2_counter__packets(thrift, "dart_reports", number, &arrival->reports, error);
	if (ret || !status->connections[number].there)
		return ret;
	return bmv2_register__read(thrift, REPORT_REGISTER_STATE, number, &arrival->state, error)	?:
	       bmv2_register__read(thrift, REPORT_REGISTER_PSN, number, &arrival->next, error)		?:
	       bmv2_register__read(thrift, REPORT_REGISTER_EXPECTED, number, &arrival->expected, error) ?:
	       bmv2_register__read(thrift, REPORT_REGISTER_LOST, number, &arrival->lost, error)		?:
	       bmv2_register__read(thrift, REPORT_REGISTER_STOPS, number, &arrival->stops, error);
}

static uint32_t outcome_count(const struct status *status)
{
	return status->gathers ? OUTCOMES : OUTCOMES - TRANSLATOR_OUTCOMES;
}

static int read_status(struct status *status)
{
	uint32_t i;
	int ret;

	ret = bmv2_table__read_numbers(status->thrift, &report_tables[REPORT_COLLECTOR],
				       status->collectors, &status->error) ?:
	      bmv2_table__read_numbers(status->thrift, &report_tables[REPORT_CONNECTION],
				       status->connections, &status->error);
	for (i = 0; !ret && i < SWITCH_HOSTS_MAX; i++)
		if (status->collectors[i].there)
			ret = read_arrival(status, i);
	for (i = 0; !ret && i < outcome_count(status); i++)
		ret = bmv2_counter__packets(status->thrift, "dart_packets", i, &status->packets[i],
					    &status->error);
	if (!ret && status->gathers)
		ret = bmv2_register__read(status->thrift, REPORT_REGISTER_INCOMPLETE, 0,
					  &status->incomplete, &status->error);
	return ret;
}

/* ---- output */

static const char *address_of(const struct status *status, uint32_t number,
			      char text[INET_ADDRSTRLEN])
{
	struct in_addr address = { htonl(status->collectors[number].values[COLLECTOR_IP]) };

	return inet_ntop(AF_INET, &address, text, INET_ADDRSTRLEN);
}

static const char *state_of(const struct arrival *arrival)
{
	if (arrival->state & REPORT_STATE_BROKEN)
		return "error";
	return arrival->state & REPORT_STATE_FOLLOWED ? "followed" : "asking";
}

static uint32_t unanswered(const struct arrival *arrival)
{
	return report_state__unanswered(arrival->state, arrival->next, arrival->expected);
}

static void print_collector(const struct status *status, uint32_t number)
{
	const struct arrival *arrival = &status->arrivals[number];
	char address[INET_ADDRSTRLEN];

	printf("collector %-4u %s, queue pair %" PRIu64, number,
	       address_of(status, number, address),
	       status->collectors[number].values[COLLECTOR_QPN]);
	if (status->connections[number].there)
		printf(" (rc, %s): %" PRIu64 " reports, %" PRIu64 " lost in %" PRIu64
		       " stops, %u unanswered\n",
		       state_of(arrival), arrival->reports, arrival->lost, arrival->stops,
		       unanswered(arrival));
	else
		printf(" (uc): %" PRIu64 " reports\n", arrival->reports);
}

static int print(const struct status *status)
{
	uint32_t i;

	for (i = 0; i < SWITCH_HOSTS_MAX; i++)
		if (status->collectors[i].there)
			print_collector(status, i);
	for (i = 0; i < outcome_count(status); i++)
		if (status->packets[i])
			printf("%-14s %" PRIu64 " packets\n", outcomes[i], status->packets[i]);
	if (status->gathers)
		printf("reported %" PRIu64 " incomplete paths\n", status->incomplete);
	return EXIT_SUCCESS;
}

static json_t *collector_of(const struct status *status, uint32_t number)
{
	const struct arrival *arrival = &status->arrivals[number];
	const bool is_reliable = status->connections[number].there;
	char address[INET_ADDRSTRLEN];
	json_t *json;

	json = json_pack("{s:I, s:s, s:I, s:s, s:I}", "collector", (json_int_t)number, "address",
			 address_of(status, number, address), "qpn",
			 (json_int_t)status->collectors[number].values[COLLECTOR_QPN], "transport",
			 is_reliable ? "rc" : "uc", "reports", (json_int_t)arrival->reports);
	if (json && is_reliable)
		json_object_update_new(json,
				       json_pack("{s:s, s:I, s:I, s:I}", "state", state_of(arrival),
						 "lost", (json_int_t)arrival->lost, "stops",
						 (json_int_t)arrival->stops, "unanswered",
						 (json_int_t)unanswered(arrival)));
	return json;
}

static int print_as_json(const struct status *status)
{
	json_t *collectors = json_array(), *packets = json_object();
	int failures = 0;
	uint32_t i;

	for (i = 0; i < SWITCH_HOSTS_MAX; i++)
		if (status->collectors[i].there)
			failures |= json_array_append_new(collectors, collector_of(status, i));
	for (i = 0; i < outcome_count(status); i++)
		failures |= json_object_set_new(packets, outcomes[i],
						json_integer(status->packets[i]));
	if (!failures && status->gathers)
		return print_json(json_pack("{s:o, s:o, s:I}", "collectors", collectors, "packets",
					    packets, "incomplete_paths",
					    (json_int_t)status->incomplete), 0);
	if (!failures)
		return print_json(json_pack("{s:o, s:o}", "collectors", collectors, "packets",
					    packets), 0);
	json_decref(collectors);
	json_decref(packets);
	return fail__out_of_memory();
}

bool report_status__show(const char *name, bool as_json, int *exit_status)
{
	struct status *status = calloc(1, sizeof(*status));
	bool is_there = status && !thrift__connect(name, &status->thrift, &status->error) &&
			!switch_program__read(&status->program, &report_kind.needs, status->thrift,
					      &status->error);

	if (is_there)
		status->gathers = report_program__gathers(&status->program);
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
