// SPDX-License-Identifier: GPL-2.0-only
/* The requests about journals and their appenders. */
#include <errno.h>

#include "agent/base/log.h"
#include "agent/rdma/remote_requests.h"
#include "agent/rdma/report_kept.h"
#include "agent/rdma/report_parts.h"
#include "journal.h"

/* The numbers of a geometry, hostile. */
struct numbers {
	json_int_t batches_log2, entry_length, batch_log2, lists_log2, parts;
};

static bool is_in(json_int_t number, json_int_t least, json_int_t most)
{
	return number >= least && number <= most;
}

static int make_geometry(const struct numbers *numbers, struct dart_journal_geometry *geometry,
			 struct dart_error *error)
{
	if (!is_in(numbers->batches_log2, DART_JOURNAL_BATCHES_LOG2_MIN,
		   DART_JOURNAL_BATCHES_LOG2_MAX))
		return dart_error__set(error, EINVAL, "a list has 2^%d to 2^%d batches",
				       DART_JOURNAL_BATCHES_LOG2_MIN,
				       DART_JOURNAL_BATCHES_LOG2_MAX);
	if (!is_in(numbers->entry_length, 1, DART_JOURNAL_ENTRY_MAX))
		return dart_error__set(error, EINVAL, "an entry has 1 to %d bytes",
				       DART_JOURNAL_ENTRY_MAX);
	if (!is_in(numbers->batch_log2, DART_JOURNAL_BATCH_LOG2_MIN, DART_JOURNAL_BATCH_LOG2_MAX))
		return dart_error__set(error, EINVAL, "a batch has 2^%d to 2^%d bytes",
				       DART_JOURNAL_BATCH_LOG2_MIN, DART_JOURNAL_BATCH_LOG2_MAX);
	if (!is_in(numbers->lists_log2, 0, DART_JOURNAL_LISTS_LOG2_MAX))
		return dart_error__set(error, EINVAL, "a journal has 2^0 to 2^%d lists",
				       DART_JOURNAL_LISTS_LOG2_MAX);
	if (!is_in(numbers->parts, 1, DART_JOURNAL_PARTS_MAX))
		return dart_error__set(error, EINVAL, "a journal has 1 to %d parts",
				       DART_JOURNAL_PARTS_MAX);
	*geometry = (struct dart_journal_geometry){
		.parts = numbers->parts,
		.lists_log2 = numbers->lists_log2,
		.batches_log2 = numbers->batches_log2,
		.batch_log2 = numbers->batch_log2,
		.entry_length = numbers->entry_length,
	};
	if (dart_journal_geometry__check(geometry))
		return dart_error__set(error, EINVAL,
				       "a batch of %u bytes has no room for an entry of %u bytes",
				       1u << geometry->batch_log2, geometry->entry_length);
	return 0;
}

static int create_journal(struct request *request)
{
	struct numbers numbers = {
		.batch_log2 = DART_JOURNAL_BATCH_LOG2,
		.parts = DART_JOURNAL_PARTS,
	};
	struct remote_origin origin = { .fd = request->fd };
	struct dart_journal_geometry geometry;
	struct journal *journal;
	const char *name;
	int ret;

	ret = request__unpack(request, "{s:s, s:I, s:I, s?I, s?I, s?I, s?s !}", "name", &name,
			      "batches_log2", &numbers.batches_log2, "entry_length",
			      &numbers.entry_length, "batch_log2", &numbers.batch_log2,
			      "lists_log2", &numbers.lists_log2, "parts", &numbers.parts, "file",
			      &origin.file);
	if (!ret && !origin.file != (request->fd < 0))
		ret = dart_error__set(&request->error, EINVAL,
				      "a file has a name and a descriptor");
	ret = ret ?: make_geometry(&numbers, &geometry, &request->error);
	if (ret)
		return ret;
	report_kept__read_object(request->kept, JOURNAL_NOUN, name, &origin);
	ret = journals__create(request->subject, name, &geometry, &origin, &journal,
			       &request->error);
	if (ret)
		return ret;
	remote_requests__tell_created(request, &journal->object, &origin,
				      report_kept__object(journal->epoch,
							  journal->object.read.base));
	return 0;
}

static int add_appender(struct request *request)
{
	struct report_qp_origin origin;
	struct report_qp *appender;
	struct journal *journal;
	struct named_peer named;
	json_t *kept;
	int ret = remote_requests__find_no_peer(request, &named);

	if (ret)
		return ret;
	journal = (struct journal *)named.object;
	report_kept__read_reporter(request->kept, "appender", named.text, &origin);
	ret = journals__add_appender(request->subject, journal, named.address,
				     report_parts__kept(request->kept, DART_JOURNAL_PARTS_MAX), &origin, &appender,
				     &request->error);
	request->is_early = ret == -EAGAIN;
	if (ret)
		return ret;
	log__info("%s appends to journal %s", named.text, named.object->name);
	kept = report_kept__reporter(appender->first_psn, appender->view.base);
	report_parts__keep(kept, journal__part(journal, appender));
	request__keep(request, kept);
	named.peer = &appender->peer;
	remote_requests__tell_peer(request, &named);
	return 0;
}

static int remove_appender(struct request *request)
{
	struct named_peer named;
	int ret = remote_requests__find_peer(request, &named);

	if (ret)
		return ret;
	remote_requests__tell_peer(request, &named);
	log__info("%s no longer appends to journal %s", named.text, named.object->name);
	remote_objects__remove_peer(request->subject, named.object, named.peer);
	return 0;
}

const struct request_type journals_requests[] = {
	{ "journal-create", "journal", create_journal, .only_root = "create a journal",
	  .fd = REQUEST_FD_OPTIONAL, .keeps = "journal" },
	{ "journal-delete", "journal", remote_requests__delete, .member = "name",
	  .only_root = "delete a journal", .ends = "journal" },
	{ "journal-list", "journals", remote_requests__list, .member = "" },
	{ "journal-open", "journal", remote_requests__open, .member = "name" },
	{ "journal-export", "journals", remote_requests__export, .member = "name",
	  .only_root = "see what appenders have to know" },
	{ "appender-add", "appender", add_appender, .only_root = "add an appender",
	  .keeps = "appender" },
	{ "appender-remove", "appender", remove_appender, .only_root = "remove an appender",
	  .ends = "appender" },
	{ "appender-list", "appenders", remote_requests__list_peers, .member = NULL },
	{}
};
