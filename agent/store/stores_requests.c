// SPDX-License-Identifier: GPL-2.0-only
/* The requests about stores and their reporters. */
#include <errno.h>

#include "agent/base/log.h"
#include "stores_json.h"

static int find(struct request *request, const char *name, struct store **store)
{
	*store = stores__find(request->subject, name);
	if (*store)
		return 0;
	return dart_error__set(&request->error, ENOENT,
			       "there is no store '%s' (see dartctl store list)", name);
}

/* As hostile numbers become a geometry. */
static int make_geometry(json_int_t slots_log2, json_int_t value_length, json_int_t checksum_bits,
			 json_int_t redundancy, struct dart_store_geometry *geometry,
			 struct dart_error *error)
{
	if (slots_log2 < 0 || slots_log2 > DART_STORE_SLOTS_LOG2_MAX)
		return dart_error__set(error, EINVAL, "a store has 2^0 to 2^%d slots",
				       DART_STORE_SLOTS_LOG2_MAX);
	if (value_length < DART_STORE_VALUE_MIN || value_length > DART_STORE_VALUE_MAX)
		return dart_error__set(error, EINVAL, "a value has %d to %d bytes",
				       DART_STORE_VALUE_MIN, DART_STORE_VALUE_MAX);
	if (checksum_bits != 8 && checksum_bits != 16 && checksum_bits != 32 && checksum_bits != 64)
		return dart_error__set(error, EINVAL, "a checksum has 8, 16, 32 or 64 bits");
	if (redundancy < 1 || redundancy > DART_STORE_REDUNDANCY_MAX)
		return dart_error__set(error, EINVAL, "a key has 1 to %d slots",
				       DART_STORE_REDUNDANCY_MAX);
	*geometry = (struct dart_store_geometry){
		.slots = UINT64_C(1) << slots_log2,
		.value_length = value_length,
		.checksum_bits = checksum_bits,
		.redundancy = redundancy,
	};
	if (dart_store_geometry__check(geometry))
		return dart_error__set(error, EINVAL, "there can be no such store");
	return 0;
}

static int create_store(struct request *request)
{
	json_int_t slots_log2, value_length;
	json_int_t checksum_bits = DART_STORE_CHECKSUM_BITS;
	json_int_t redundancy = DART_STORE_REDUNDANCY;
	struct dart_store_geometry geometry;
	struct store_origin origin = { .fd = request->fd };
	const char *name;
	struct store *store;
	int ret;

	ret = request__unpack(request, "{s:s, s:I, s:I, s?I, s?I, s?s !}", "name", &name,
			      "slots_log2", &slots_log2, "value_length", &value_length,
			      "checksum_bits", &checksum_bits, "redundancy", &redundancy, "file",
			      &origin.file);
	if (!ret && !origin.file != (request->fd < 0))
		ret = dart_error__set(&request->error, EINVAL,
				      "a file has a name and a descriptor");
	ret = ret ?: make_geometry(slots_log2, value_length, checksum_bits,
				   redundancy, &geometry, &request->error);
	if (ret)
		return ret;
	store_kept__read_store(request->kept, name, &origin);
	ret = stores__create(request->subject, name, &geometry, &origin, &store, &request->error);
	if (ret)
		return ret;
	log__info("created store %s: %zu bytes%s%s", store->name, store->memory.length,
		  store->memory.is_huge ? " in huge pages" : "",
		  origin.kept < 0 ? "" : ", with the reports in it");
	json_decref(request->kept);
	request->kept = store_kept__store(store);
	request->result = stores_json__store(store);
	return 0;
}

static int delete_store(struct request *request)
{
	struct stores *stores = request->subject;
	struct store *store;
	int ret = find(request, request->text, &store);

	if (ret && kept_memory__drop_others(&stores->objects.kept, request->text, NULL)) {
		log__info("deleted the kept memory of store %s", request->text);
		request->result = json_pack("{s:s}", "name", request->text);
		return 0;
	}
	if (ret)
		return ret;
	listener__disconnect(stores->objects.listener, &store->readers);
	request->result = stores_json__store(store);
	log__info("deleted store %s", store->name);
	stores__delete(stores, store);
	return 0;
}

static int list_stores(struct request *request)
{
	const struct stores *stores = request->subject;
	const struct store *store;

	request->result = json_array();
	TAILQ_FOREACH(store, &stores->list, link)
		reply__append(&request->result, stores_json__store(store));
	return 0;
}

static int open_store(struct request *request)
{
	struct store *store;
	int ret;

	ret = find(request, request->text, &store) ?:
		      remote_memory__reopen(&store->memory, store->name, &request->error);
	if (ret < 0)
		return ret;
	*request->reply_fd = ret;
	request->result = stores_json__store(store);
	return 0;
}

static int export_store(struct request *request)
{
	struct store *store;
	int ret = find(request, request->text, &store);

	if (!ret)
		request->result = stores_json__collectors(store);
	return ret;
}

/* The store and the reporter that a request names. */
struct named_reporter {
	struct store *store;
	const char *text;
	struct in_addr address;
	struct report_qp *report_qp;	/* NULL if there is none */
};

static int find_reporter(struct request *request, struct named_reporter *named)
{
	const char *store;
	int ret;

	ret = request__unpack(request, "{s:s, s:s !}", "store", &store, "address", &named->text) ?:
		      find(request, store, &named->store)					 ?:
		      local_path__parse_peer(named->text, "reports", &named->address,
					     &request->error);
	if (!ret)
		named->report_qp = store__find_reporter(named->store, named->address);
	return ret;
}

static int add_reporter(struct request *request)
{
	struct named_reporter named;
	struct report_qp_origin origin;
	int ret = find_reporter(request, &named);

	if (!ret && named.report_qp)
		ret = dart_error__set(&request->error, EEXIST, "'%s' has a reporter %s already",
				      named.store->name, named.text);
	if (ret)
		return ret;
	store_kept__read_reporter(request->kept, named.text, &origin);
	ret = store__add_reporter(named.store, named.address, &origin,
				  &named.report_qp, &request->error);
	request->is_early = ret == -EAGAIN;
	if (ret)
		return ret;
	log__info("%s reports to store %s", named.text, named.store->name);
	stores__note_reporter(request->subject, named.store, named.report_qp, "added", 1);
	json_decref(request->kept);
	request->kept = store_kept__reporter(named.report_qp);
	request->result = stores_json__reporter(named.store, named.report_qp);
	return 0;
}

static int remove_reporter(struct request *request)
{
	struct named_reporter named;
	int ret = find_reporter(request, &named);

	if (!ret && !named.report_qp)
		ret = dart_error__set(&request->error, ENOENT, "'%s' has no reporter %s",
				      named.store->name, named.text);
	if (ret)
		return ret;
	request->result = stores_json__reporter(named.store, named.report_qp);
	log__info("%s no longer reports to store %s", named.text, named.store->name);
	stores__note_reporter(request->subject, named.store, named.report_qp, "removed", -1);
	store__remove_reporter(named.store, named.report_qp);
	return 0;
}

static int list_reporters(struct request *request)
{
	const struct stores *stores = request->subject;
	struct store *store, *only = NULL;
	const struct report_qp *report_qp;
	const char *name = NULL;
	int ret;

	ret = request__unpack(request, "{s?s !}", "store", &name);
	if (!ret && name)
		ret = find(request, name, &only);
	if (ret)
		return ret;
	request->result = json_array();
	TAILQ_FOREACH(store, &stores->list, link)
		TAILQ_FOREACH(report_qp, &store->report_qps, link)
			if (!only || store == only)
				reply__append(&request->result,
					      stores_json__reporter(store, report_qp));
	return 0;
}

const struct request_type stores_requests[] = {
	{ "store-create", "store", create_store,
	  .only_root = "create a store", .fd = REQUEST_FD_OPTIONAL,
	  .keeps = "store" },
	{ "store-delete", "store", delete_store, .member = "name",
	  .only_root = "delete a store", .ends = "store" },
	{ "store-list", "stores", list_stores, .member = "" },
	{ "store-open", "store", open_store, .member = "name" },
	{ "store-export", "collectors", export_store, .member = "name",
	  .only_root = "see what reporters have to know" },
	{ "reporter-add", "reporter", add_reporter,
	  .only_root = "add a reporter", .keeps = "reporter" },
	{ "reporter-remove", "reporter", remove_reporter,
	  .only_root = "remove a reporter", .ends = "reporter" },
	{ "reporter-list", "reporters", list_reporters, .member = NULL },
	{ }
};
