// SPDX-License-Identifier: GPL-2.0-only
/* The flows of the function in the journal, and back after a restart. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "flows_internal.h"

#define SECOND_NS 1000000000ULL
#define PAUSE_NS (10 * SECOND_NS)
#define CHAINS 1024 /* of flows, that are walked at once */

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

/* ---- the file is written anew */

/* The records of the flows that there were when it began, taken some chains at a time. */
struct compaction {
	const struct flows *flows;
	struct journal_record *records;
	size_t count, size, next;
	uint64_t begun; /* the last flow that had begun */
	uint64_t place;
	bool has_more, has_failed;
};

/* A closed flow has two records.  Those of a later flow are added to the new file, too. */
static void keep_records(void *subject, const struct flow *flow)
{
	struct compaction *compaction = subject;
	const struct flow_use use = function__use_of(compaction->flows->function, flow);
	struct journal_record *records = compaction->records;

	if (!use.is_recorded || use.number > compaction->begun)
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
						      &compaction->place, CHAINS, keep_records,
						      compaction);
	}
	if (compaction->has_failed)
		return -ENOMEM;
	if (compaction->next == compaction->count)
		return 0;
	*record = compaction->records[compaction->next++];
	return 1;
}

/* NULL: out of memory. */
static struct compaction *new_compaction(const struct flows *flows)
{
	struct compaction *compaction = calloc(1, sizeof(*compaction));

	if (!compaction)
		return NULL;
	compaction->flows = flows;
	compaction->begun = function__counts(flows->function)->begun;
	compaction->has_more = true;
	return compaction;
}

static void free_compaction(struct compaction *compaction)
{
	if (compaction)
		free(compaction->records);
	free(compaction);
}

static int compact_now(struct flows *flows, struct dart_error *error)
{
	struct compaction *compaction = new_compaction(flows);
	const struct journal_source source = { next_record, compaction };
	int ret;

	if (!compaction)
		return dart_error__no_memory(error);
	ret = journal__compact(flows->journal, &source, error);
	free_compaction(compaction);
	return ret;
}

/* What failed is tried again after a while: each attempt fills the disk. */
static void end_compaction(struct flows *flows, int code, const struct dart_error *error)
{
	free_compaction(flows->compaction);
	flows->compaction = NULL;
	if (!code)
		return;
	flows->compacts_after_ns = flows__now_ns() + PAUSE_NS;
	flows__say("%s: the journal grows meanwhile", error->text);
}

void flows__compact_journal(struct flows *flows)
{
	struct journal_source source = { next_record, NULL };
	struct dart_error error;
	int ret;

	if (flows->compaction || flows__now_ns() < flows->compacts_after_ns ||
	    !journal__is_long(flows->journal, function__counts(flows->function)->flows))
		return;
	flows->compaction = source.subject = new_compaction(flows);
	ret = flows->compaction ? journal__begin_anew(flows->journal, &source, &error) :
				  dart_error__no_memory(&error);
	if (ret)
		end_compaction(flows, ret, &error);
}

static int on_journal(sd_event_source *source, int fd, uint32_t events, void *data)
{
	struct flows *flows = data;
	struct dart_error error;
	const int ret = journal__proceed(flows->journal, &error);

	if (ret <= 0)
		end_compaction(flows, ret, &error);
	return 0;
}

void flows__close_journal(struct flows *flows)
{
	sd_event_source_disable_unref(flows->journal_source);
	journal__close(flows->journal);
	free_compaction(flows->compaction);
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
	ret = compact_now(flows, error);
	if (ret)
		return ret;
	ret = sd_event_add_io(flows->event, &flows->journal_source, journal__fd(flows->journal),
			      EPOLLIN, on_journal, flows);
	return ret < 0 ? dart_error__system(error, -ret, "cannot set up the event loop") : 0;
}
