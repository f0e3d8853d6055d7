// SPDX-License-Identifier: GPL-2.0-only
/* Prints the reports of a run, as text or JSON. */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include <jansson.h>

#include "summary.h"

static double frames_per_second(const struct session *session)
{
	return session->ns ? session->frames * 1e9 / session->ns : 0;
}

/* The largest sum that may be missing in a word of any row, or in the total. */
static uint64_t lost(const struct dart_ledger_adder_counts *counts)
{
	uint64_t most = 0;
	size_t i;

	for (i = 0; i <= DART_LEDGER_ROWS_MAX; i++)
		if (counts->lost[i] > most)
			most = counts->lost[i];
	return most;
}

static void print_counting(const struct counting *counting)
{
	const struct dart_ledger_adder_counts *counts =
		dart_ledger_adder__counts(counting->adder);
	const struct dart_collector *collector =
		&dart_ledger_adder__target(counting->adder)->collector;
	char ip[INET_ADDRSTRLEN];

	inet_ntop(AF_INET, &collector->ip, ip, sizeof(ip));
	printf("%s at %s, queue pair %" PRIu32 ": %" PRIu64 " packets in %" PRIu64
	       " requests, %" PRIu64 " repeated, lost at most %" PRIu64 "\n",
	       collector->name, ip, collector->qpn, counting->packets, counts->requests,
	       counts->repeats, lost(counts));
	if (counts->renewals)
		printf("%" PRIu64 " times another queue pair\n", counts->renewals);
}

static void print_sketching(const struct sketching *sketching)
{
	const struct dart_sketcher_counts *counts = dart_sketcher__counts(sketching->sketcher);
	const struct dart_collector *collector = &sketching->target.collector;
	char ip[INET_ADDRSTRLEN];

	inet_ntop(AF_INET, &collector->ip, ip, sizeof(ip));
	printf("%s at %s, queue pair %" PRIu32 ": %" PRIu64 " packets, %" PRIu64
	       " periods in %" PRIu64 " strips\n",
	       collector->name, ip, collector->qpn, sketching->packets, counts->periods,
	       counts->strips);
	if (sketching->renewals)
		printf("%" PRIu64 " times another queue pair\n", sketching->renewals);
	if (counts->dropped)
		printf("%" PRIu64 " periods were not whole, and not sent\n", counts->dropped);
	if (counts->lost)
		printf("%" PRIu64 " strips were not sent in time\n", counts->lost);
}

static void print_gathering(const struct gathering *gathering)
{
	const struct dart_translator_counts *counts =
		dart_translator__counts(gathering->translator);

	printf("%" PRIu64 " postcards: %" PRIu64 " complete paths; incomplete ones: %" PRIu64
	       " evicted, %" PRIu64 " changed, %" PRIu64 " aged\n",
	       counts->postcards, counts->complete, counts->evicted, counts->changed, counts->aged);
	if (counts->refused)
		printf("%" PRIu64 " postcards of paths that are longer than the store's values\n",
		       counts->refused);
	if (gathering->unassigned)
		printf("%" PRIu64 " paths of shares without collector\n", gathering->unassigned);
}

/* Reports over a reliable connection that are not known to have arrived. */
static uint64_t lost_reports(const struct dart_report_progress *progress)
{
	return progress->reports - progress->arrived + progress->lost_before;
}

/* Ends the line of collector @index. */
static void print_delivery(const struct session *session, uint32_t index)
{
	const struct dart_report_progress progress =
		dart_report_builder__progress(session->builder, index);

	if (progress.state == DART_REPORT_UNFOLLOWED)
		putchar('\n');
	else
		printf(", %s%" PRIu64 " lost, %" PRIu64 " times stopped\n",
		       progress.is_settled ? "" : "at most ", lost_reports(&progress),
		       progress.stops);
}

void summary__print(const struct session *session)
{
	const struct dart_collector *collector = session->collectors.list;
	const char *without = session->gathering.translator ? "without a postcard" :
							      "without INT-MD";
	char ip[INET_ADDRSTRLEN];
	uint32_t i;

	printf("%" PRIu64 " packets, %" PRIu64 " frames sent in %.3f s (%.0f/s)\n",
	       session->packets, session->frames, session->ns / 1e9, frames_per_second(session));
	for (i = 0; i < session->collectors.count; i++, collector++) {
		inet_ntop(AF_INET, &collector->ip, ip, sizeof(ip));
		printf("%s at %s, queue pair %" PRIu32 ": %" PRIu64 " reports", collector->name,
		       ip, collector->qpn, dart_report_builder__reports(session->builder, i));
		print_delivery(session, i);
	}
	if (session->appender) {
		collector = &session->target.collector;
		inet_ntop(AF_INET, &collector->ip, ip, sizeof(ip));
		printf("%s at %s, queue pair %" PRIu32 ": %" PRIu64 " entries in %" PRIu64
		       " batches\n",
		       collector->name, ip, collector->qpn, session->entries, session->batches);
	}
	if (session->counting.adder)
		print_counting(&session->counting);
	if (session->sketching.sketcher)
		print_sketching(&session->sketching);
	if (session->gathering.translator)
		print_gathering(&session->gathering);
	if (session->unassigned)
		printf("%" PRIu64 " packets %s\n", session->unassigned,
		       session->appender ? "of IPv6, which entries have no room for" :
					   "of shares without collector");
	if (session->others)
		printf("%" PRIu64 " other packets %s\n", session->others,
		       session->live ? "of no flow" : without);
	if (session->crowded)
		printf("%" PRIu64 " packets of flows that found no room in the kernel\n",
		       session->crowded);
	if (session->tagged)
		printf("%" PRIu64 " packet%s with more than two VLAN tags, which are not looked into\n",
		       session->tagged, session->tagged == 1 ? "" : "s");
	if (session->malformed)
		printf("%" PRIu64 " packets with unusable %s\n", session->malformed,
		       session->gathering.translator ? "postcards" : "INT-MD");
}

/* NULL if reports were sent. */
static json_t *journal_to_json(const struct session *session)
{
	const struct dart_collector *collector = &session->target.collector;
	char ip[INET_ADDRSTRLEN];

	if (!session->appender)
		return NULL;
	inet_ntop(AF_INET, &collector->ip, ip, sizeof(ip));
	return json_pack("{s:s, s:s, s:I, s:I, s:I}", "name", collector->name, "ip", ip, "qpn",
			 (json_int_t)collector->qpn, "entries", (json_int_t)session->entries,
			 "batches", (json_int_t)session->batches);
}

/* NULL if nothing was counted. */
static json_t *counting_to_json(const struct counting *counting)
{
	const struct dart_ledger_adder_counts *counts;
	const struct dart_ledger_target *target;
	char ip[INET_ADDRSTRLEN];
	json_t *rows;
	uint32_t i;

	if (!counting->adder)
		return NULL;
	counts = dart_ledger_adder__counts(counting->adder);
	target = dart_ledger_adder__target(counting->adder);
	rows = json_array();
	for (i = 0; i < target->geometry.rows; i++)
		/* A failure makes json_pack() fail, too. */
		json_array_append_new(rows, json_integer(counts->lost[i]));
	inet_ntop(AF_INET, &target->collector.ip, ip, sizeof(ip));
	return json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:I}", "name",
			 target->collector.name, "ip", ip, "qpn",
			 (json_int_t)target->collector.qpn, "packets", (json_int_t)counting->packets,
			 "requests", (json_int_t)counts->requests, "executed",
			 (json_int_t)counts->executed, "repeats", (json_int_t)counts->repeats,
			 "refusals", (json_int_t)counts->refusals, "renewals",
			 (json_int_t)counts->renewals, "lost", rows, "lost_of_total",
			 (json_int_t)counts->lost[target->geometry.rows]);
}

/* NULL if nothing was counted. */
static json_t *sketching_to_json(const struct sketching *sketching)
{
	const struct dart_collector *collector = &sketching->target.collector;
	const struct dart_sketcher_counts *counts;
	char ip[INET_ADDRSTRLEN];

	if (!sketching->sketcher)
		return NULL;
	counts = dart_sketcher__counts(sketching->sketcher);
	inet_ntop(AF_INET, &collector->ip, ip, sizeof(ip));
	return json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "name",
			 collector->name, "ip", ip, "qpn", (json_int_t)collector->qpn, "packets",
			 (json_int_t)sketching->packets, "periods", (json_int_t)counts->periods,
			 "first_period", (json_int_t)sketching->first_period, "dropped",
			 (json_int_t)counts->dropped, "strips", (json_int_t)counts->strips, "lost",
			 (json_int_t)counts->lost, "renewals", (json_int_t)sketching->renewals);
}

/* NULL if no postcards were gathered. */
static json_t *gathering_to_json(const struct gathering *gathering)
{
	const struct dart_translator_counts *counts;

	if (!gathering->translator)
		return NULL;
	counts = dart_translator__counts(gathering->translator);
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "postcards",
			 (json_int_t)counts->postcards, "refused", (json_int_t)counts->refused,
			 "complete", (json_int_t)counts->complete, "evicted",
			 (json_int_t)counts->evicted, "changed", (json_int_t)counts->changed, "aged",
			 (json_int_t)counts->aged, "unassigned",
			 (json_int_t)gathering->unassigned);
}

static json_t *collector_to_json(const struct session *session, uint32_t index)
{
	const struct dart_collector *collector = &session->collectors.list[index];
	const struct dart_report_progress progress =
		dart_report_builder__progress(session->builder, index);
	char ip[INET_ADDRSTRLEN];
	json_t *json;

	inet_ntop(AF_INET, &collector->ip, ip, sizeof(ip));
	json = json_pack("{s:s, s:s, s:I, s:I}", "name", collector->name, "ip", ip, "qpn",
			 (json_int_t)collector->qpn, "reports", (json_int_t)progress.reports);
	if (progress.state == DART_REPORT_UNFOLLOWED)
		return json;
	json_object_set_new(json, "lost", json_integer(lost_reports(&progress)));
	json_object_set_new(json, "stops", json_integer(progress.stops));
	json_object_set_new(json, "settled", json_boolean(progress.is_settled));
	return json;
}

static json_t *collectors_to_json(const struct session *session)
{
	json_t *list = json_array();
	uint32_t i;

	for (i = 0; list && i < session->collectors.count; i++)
		if (json_array_append_new(list, collector_to_json(session, i))) {
			json_decref(list);
			list = NULL;
		}
	return list;
}

int summary__print_json(const struct session *session)
{
	json_t *json;
	int ret;

	json = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:o, s:o*, s:o*, s:o*, s:o*}",
			 "packets", (json_int_t)session->packets, "frames", (json_int_t)session->frames,
			 "unassigned", (json_int_t)session->unassigned, "others",
			 (json_int_t)session->others, "crowded",
			 (json_int_t)session->crowded, "tagged", (json_int_t)session->tagged,
			 "malformed", (json_int_t)session->malformed, "refusals",
			 (json_int_t)session->refusals, "seconds", session->ns / 1e9,
			 "frames_per_second", frames_per_second(session), "collectors",
			 collectors_to_json(session), "journal", journal_to_json(session),
			 "ledger", counting_to_json(&session->counting), "sketch",
			 sketching_to_json(&session->sketching), "paths",
			 gathering_to_json(&session->gathering));
	if (!json)
		return -ENOMEM;
	ret = json_dumpf(json, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9));
	json_decref(json);
	if (ret)
		return -ENOMEM;
	putchar('\n');
	return 0;
}
