// SPDX-License-Identifier: GPL-2.0-only
/* dartctl switch show of a ledger, see status.h. */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "kind.h"
#include "status.h"
#include "tools/dartctl/cli/command.h"
#include "tools/dartctl/switch/bmv2/register.h"
#include "tools/dartctl/switch/bmv2/table.h"

/* See p4/shared/ledger/outcome.p4. */
static const char *const outcomes[] = {
	"other", "added", "missed",    "unassigned", "acknowledged", "nak",
	"fatal", "stale", "malformed", "source",     "icrc",
};

#define OUTCOMES (sizeof(outcomes) / sizeof(outcomes[0]))

/* See p4/shared/rdma/verdict.p4. */
static const char *const states[] = { "up", "silent", "stopped", "broken", "renewed" };

#define STATES (sizeof(states) / sizeof(states[0]))

struct status {
	struct thrift *thrift;
	struct switch_program program;
	struct switch_entry collector; /* absent: there is no ledger */
	uint64_t state, oldest, next, end; /* registers */
	uint64_t sent; /* frames */
	uint64_t lost[DART_LEDGER_ROWS_MAX + 1];
	uint64_t packets[OUTCOMES];
	struct dart_error error;
};

static int read_window(struct status *status)
{
	struct thrift *thrift = status->thrift;
	struct dart_error *error = &status->error;

	return bmv2_register__read(thrift, "ledger_state", 0, &status->state, error)   ?:
	       bmv2_register__read(thrift, "ledger_oldest", 0, &status->oldest, error) ?:
	       bmv2_register__read(thrift, "ledger_next", 0, &status->next, error)     ?:
	       bmv2_register__read(thrift, "ledger_end", 0, &status->end, error);
}

static int read_status(struct status *status)
{
	size_t i;
	int ret;

	ret = bmv2_table__read_numbers(status->thrift, &ledger_tables[LEDGER_COLLECTOR],
				       &status->collector, &status->error) ?:
	      read_window(status) ?:
	      bmv2_counter__packets(status->thrift, "ledger_requests", 0, &status->sent,
				    &status->error);
	for (i = 0; !ret && i <= DART_LEDGER_ROWS_MAX; i++)
		ret = bmv2_register__read(status->thrift, "ledger_lost", i, &status->lost[i],
					  &status->error);
	for (i = 0; !ret && i < OUTCOMES; i++)
		ret = bmv2_counter__packets(status->thrift, "ledger_packets", i,
					    &status->packets[i], &status->error);
	return ret;
}

/* ---- output */

static const char *state_of(const struct status *status)
{
	return status->state < STATES ? states[status->state] : "unknown";
}

static const char *address_of(const struct status *status, char text[INET_ADDRSTRLEN])
{
	struct in_addr address = { htonl(status->collector.values[LEDGER_IP]) };

	return inet_ntop(AF_INET, &address, text, INET_ADDRSTRLEN);
}

/* The rows of a program cannot be trusted. */
static uint32_t rows_of(const struct status *status)
{
	const uint64_t rows = status->collector.values[LEDGER_ROWS];

	return rows < DART_LEDGER_ROWS_MAX ? rows : DART_LEDGER_ROWS_MAX;
}

static int print(const struct status *status)
{
	const uint64_t *values = status->collector.values;
	char address[INET_ADDRSTRLEN];
	uint32_t i;

	if (status->collector.there)
		printf("ledger         %u rows of %" PRIu64 " words, at %s, queue pair %" PRIu64
		       " (%s)\n",
		       rows_of(status), values[LEDGER_MASK] + 1, address_of(status, address),
		       values[LEDGER_QPN], state_of(status));
	else
		puts("ledger         none");
	printf("requests       %u wait, of which %u without an answer, %" PRIu64 " frames sent\n",
	       (uint32_t)(status->end - status->oldest), (uint32_t)(status->next - status->oldest),
	       status->sent);
	for (i = 0; i < rows_of(status); i++)
		if (status->lost[i])
			printf("lost, row %u    %" PRIu64 "\n", i, status->lost[i]);
	if (status->lost[i])
		printf("lost, total    %" PRIu64 "\n", status->lost[i]);
	for (i = 0; i < OUTCOMES; i++)
		if (status->packets[i])
			printf("%-14s %" PRIu64 " packets\n", outcomes[i], status->packets[i]);
	return EXIT_SUCCESS;
}

static json_t *packets_of(const struct status *status)
{
	json_t *packets = json_object();
	size_t i;

	for (i = 0; packets && i < OUTCOMES; i++)
		if (json_object_set_new(packets, outcomes[i], json_integer(status->packets[i]))) {
			json_decref(packets);
			return NULL;
		}
	return packets;
}

static json_t *lost_of(const struct status *status)
{
	json_t *lost = json_array();
	uint32_t i;

	for (i = 0; lost && i <= rows_of(status); i++)
		if (json_array_append_new(lost, json_integer(status->lost[i]))) {
			json_decref(lost);
			return NULL;
		}
	return lost;
}

static int print_as_json(const struct status *status)
{
	const uint64_t *values = status->collector.values;
	char address[INET_ADDRSTRLEN];
	json_t *ledger = json_null();

	if (status->collector.there)
		ledger = json_pack("{s:s, s:I, s:I, s:I}", "address", address_of(status, address),
				   "qpn", (json_int_t)values[LEDGER_QPN], "rows",
				   (json_int_t)rows_of(status), "words",
				   (json_int_t)values[LEDGER_MASK] + 1);
	return print_json(json_pack("{s:o, s:s, s:I, s:I, s:I, s:o, s:o}", "ledger", ledger,
				    "state", state_of(status), "waiting",
				    (json_int_t)(uint32_t)(status->end - status->oldest),
				    "outstanding",
				    (json_int_t)(uint32_t)(status->next - status->oldest), "sent",
				    (json_int_t)status->sent, "lost", lost_of(status), "packets",
				    packets_of(status)),
			  0);
}

/* The program of another kind, or no connection: another kind tells what is wrong. */
static bool is_ledger(struct status *status, const char *name)
{
	return !thrift__connect(name, &status->thrift, &status->error) &&
	       !switch_program__read(&status->program, &ledger_kind.needs, status->thrift,
				     &status->error);
}

bool ledger_status__show(const char *name, bool as_json, int *exit_status)
{
	struct status status = { .sent = 0 };
	const bool is_there = is_ledger(&status, name);

	if (is_there && read_status(&status))
		*exit_status = fail(EIO, "cannot show '%s': %s", name, status.error.text);
	else if (is_there)
		*exit_status = as_json ? print_as_json(&status) : print(&status);
	thrift__close(status.thrift);
	switch_program__free(&status.program);
	return is_there;
}
