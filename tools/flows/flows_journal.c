// SPDX-License-Identifier: GPL-2.0-only
/* The flows of the function in the journal, and back after a restart. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "flows_internal.h"

#define SECOND_NS 1000000000ULL

static const enum journal_operation operations[FLOW_CLOSURES] = {
	[FLOW_OPEN] = JOURNAL_BEGIN,
	[FLOW_CLOSED] = JOURNAL_CLOSED,
	[FLOW_RESET_BACK] = JOURNAL_RESET_BACK,
	[FLOW_RESET_OUT] = JOURNAL_RESET_OUT,
};

static struct journal_record pack_record(const struct flows *flows, const struct flow *flow,
					 enum journal_operation operation)
{
	const struct flow_record record = function__record(flows->function, flow);

	return (struct journal_record){
		.operation = operation,
		.protocol = record.protocol,
		.inside = record.inside.address,
		.inside_port = record.inside.port,
		.outside = record.outside.address,
		.outside_port = record.outside.port,
		.remote = record.remote.address,
		.remote_port = record.remote.port,
		.time_s = flows__clock_ns(CLOCK_REALTIME) / SECOND_NS,
	};
}

void flows__record(struct flows *flows, const struct flow *flow, bool is_end)
{
	const enum flow_closure closure = function__use_of(flows->function, flow).closure;
	const struct journal_record record =
		pack_record(flows, flow, is_end ? JOURNAL_END : operations[closure]);

	if (!flows->is_restoring)
		journal__add(flows->journal, &record);
}

static void restore(void *subject, const struct journal_record *record)
{
	const struct flow_record flow = {
		.protocol = record->protocol,
		.inside = { record->inside, record->inside_port },
		.outside = { record->outside, record->outside_port },
		.remote = { record->remote, record->remote_port },
	};
	enum flow_closure closure = FLOW_OPEN;
	struct flows *flows = subject;

	if (record->operation == JOURNAL_END) {
		function__forget(flows->function, &flow);
		return;
	}
	/* A flow that is there already goes on. */
	if (record->operation == JOURNAL_BEGIN &&
	    !function__restore(flows->function, &flow, flows__now_ns()))
		return;
	while (operations[closure] != record->operation)
		closure++;
	function__restore_closure(flows->function, &flow, closure, flows__now_ns());
}

int flows__write_journal(struct flows *flows, struct dart_error *error)
{
	const int ret = journal__write(flows->journal, error);

	if (!ret == flows->is_unwritable) {
		flows->is_unwritable = ret;
		function__close(flows->function, ret);
		flows__say("%s", ret ? error->text : "the journal can be written again");
	}
	return ret;
}

/* The records of a compacted journal, taken from the flows some chains at a time. */
struct compaction {
	const struct flows *flows;
	struct journal_record *records;
	size_t count, size, next;
	uint64_t place;
	bool has_more, has_failed;
};

/* A closed flow has two records. */
static void keep_records(void *subject, const struct flow *flow)
{
	struct compaction *compaction = subject;
	const struct flow_use use = function__use_of(compaction->flows->function, flow);
	struct journal_record *records = compaction->records;

	if (!use.is_recorded)
		return;
	if (compaction->size - compaction->count < 2) {
		records = realloc(records, (2 * compaction->size + 1024) * sizeof(*records));
		if (!records) {
			compaction->has_failed = true;
			return;
		}
		compaction->records = records;
		compaction->size = 2 * compaction->size + 1024;
	}
	records[compaction->count++] = pack_record(compaction->flows, flow, JOURNAL_BEGIN);
	if (use.closure != FLOW_OPEN)
		records[compaction->count++] =
			pack_record(compaction->flows, flow, operations[use.closure]);
}

static int next_record(void *subject, struct journal_record *record)
{
	struct compaction *compaction = subject;

	while (compaction->next == compaction->count && compaction->has_more) {
		compaction->next = compaction->count = 0;
		compaction->has_more = function__walk(compaction->flows->function,
						      &compaction->place, 4096, keep_records,
						      compaction);
	}
	if (compaction->has_failed)
		return -ENOMEM;
	if (compaction->next == compaction->count)
		return 0;
	*record = compaction->records[compaction->next++];
	return 1;
}

int flows__compact_journal(struct flows *flows, struct dart_error *error)
{
	struct compaction compaction = { .flows = flows, .has_more = true };
	int ret;

	ret = journal__compact(flows->journal, next_record, &compaction, error);
	free(compaction.records);
	return ret;
}

int flows__open_journal(struct flows *flows, struct dart_error *error)
{
	struct journal_found found;
	int ret;

	flows->is_restoring = true;
	ret = journal__open(flows->policy->journal, restore, flows, &flows->journal, &found, error);
	flows->is_restoring = false;
	if (ret)
		return ret;
	if (found.is_set_aside)
		flows__say("%s is not a journal: it is %s.damaged now, and all flows begin anew",
			   flows->policy->journal, flows->policy->journal);
	if (found.damaged)
		flows__say("%" PRIu64 " records of %s are damaged and were passed over",
			   found.damaged, flows->policy->journal);
	flows__say("%" PRIu64 " flows are known from %" PRIu64 " records",
		   function__counts(flows->function)->flows, found.records);
	return flows__compact_journal(flows, error);
}
