// SPDX-License-Identifier: GPL-2.0-only
/* The requests about ledgers and their adders. */
#include <errno.h>

#include "agent/base/log.h"
#include "agent/rdma/remote_requests.h"
#include "agent/rdma/report_kept.h"
#include "ledger.h"

/* The subject of requests is the first member. */
static struct ledgers *ledgers_of(const struct request *request)
{
	return request->subject;
}

/* The numbers are hostile. */
static int make_geometry(json_int_t rows, json_int_t words_log2,
			 struct dart_ledger_geometry *geometry, struct dart_error *error)
{
	if (rows < 1 || rows > DART_LEDGER_ROWS_MAX)
		return dart_error__set(error, EINVAL, "a ledger has 1 to %d rows",
				       DART_LEDGER_ROWS_MAX);
	if (words_log2 < DART_LEDGER_WORDS_LOG2_MIN || words_log2 > DART_LEDGER_WORDS_LOG2_MAX)
		return dart_error__set(error, EINVAL, "a row has 2^%d to 2^%d words",
				       DART_LEDGER_WORDS_LOG2_MIN, DART_LEDGER_WORDS_LOG2_MAX);
	*geometry = (struct dart_ledger_geometry){ .rows = rows, .words_log2 = words_log2 };
	return 0;
}

static int create_ledger(struct request *request)
{
	struct remote_origin origin = { .fd = request->fd };
	json_int_t rows = DART_LEDGER_ROWS, words_log2;
	struct dart_ledger_geometry geometry;
	struct ledger *ledger;
	const char *name;
	int ret;

	ret = request__unpack(request, "{s:s, s:I, s?I, s?s !}", "name", &name, "words_log2",
			      &words_log2, "rows", &rows, "file", &origin.file);
	if (!ret && !origin.file != (request->fd < 0))
		ret = dart_error__set(&request->error, EINVAL,
				      "a file has a name and a descriptor");
	ret = ret ?: make_geometry(rows, words_log2, &geometry, &request->error);
	if (ret)
		return ret;
	report_kept__read_object(request->kept, LEDGER_NOUN, name, &origin);
	ret = ledgers__create(ledgers_of(request), name, &geometry, &origin, &ledger,
			      &request->error);
	if (ret)
		return ret;
	remote_requests__tell_created(request, &ledger->object, &origin,
				      report_kept__object(ledger->epoch, ledger->object.read.base));
	return 0;
}

static int add_adder(struct request *request)
{
	struct report_qp_origin origin;
	struct named_peer named;
	struct adder *adder;
	int ret = remote_requests__find_no_peer(request, &named);

	if (ret)
		return ret;
	report_kept__read_reporter(request->kept, "adder", named.text, &origin);
	/* Another queue pair begins with another PSN. */
	ret = ledgers__add_adder(ledgers_of(request), (struct ledger *)named.object, named.address,
				 origin.base, &adder, &request->error);
	request->is_early = ret == -EAGAIN;
	if (ret)
		return ret;
	log__info("%s adds to ledger %s", named.text, named.object->name);
	request__keep(request,
		      report_kept__reporter(adder->answering_qp.first_psn, adder->view.base));
	named.peer = &adder->peer;
	remote_requests__tell_peer(request, &named);
	return 0;
}

static int remove_adder(struct request *request)
{
	struct named_peer named;
	int ret = remote_requests__find_peer(request, &named);

	if (ret)
		return ret;
	remote_requests__tell_peer(request, &named);
	log__info("%s no longer adds to ledger %s", named.text, named.object->name);
	remote_objects__remove_peer(request->subject, named.object, named.peer);
	return 0;
}

static int renew_adder(struct request *request)
{
	struct named_peer named;
	int ret;

	ret = remote_requests__find_peer(request, &named);
	ret = ret   ?:
		      ledgers__renew_adder(ledgers_of(request), (struct ledger *)named.object,
					   (struct adder *)named.peer, &request->error);
	request->is_early = ret == -EAGAIN;
	if (ret)
		return ret;
	log__info("%s has a new queue pair for ledger %s", named.text, named.object->name);
	remote_requests__tell_peer(request, &named);
	return 0;
}

const struct request_type ledgers_requests[] = {
	{ "ledger-create", "ledger", create_ledger, .only_root = "create a ledger",
	  .fd = REQUEST_FD_OPTIONAL, .keeps = "ledger" },
	{ "ledger-delete", "ledger", remote_requests__delete, .member = "name",
	  .only_root = "delete a ledger", .ends = "ledger" },
	{ "ledger-list", "ledgers", remote_requests__list, .member = "" },
	{ "ledger-open", "ledger", remote_requests__open, .member = "name" },
	{ "ledger-export", "ledgers", remote_requests__export, .member = "name",
	  .only_root = "see what adders have to know" },
	{ "adder-add", "adder", add_adder, .only_root = "add an adder", .keeps = "adder" },
	{ "adder-remove", "adder", remove_adder, .only_root = "remove an adder", .ends = "adder" },
	{ "adder-renew", "adder", renew_adder, .only_root = "renew an adder" },
	{ "adder-list", "adders", remote_requests__list_peers, .member = NULL },
	{}
};
