// SPDX-License-Identifier: GPL-2.0-only
/* The requests about stores and their reporters. */
#include <errno.h>

#include "agent/base/log.h"
#include "agent/rdma/remote_requests.h"
#include "agent/rdma/report_kept.h"
#include "store.h"
#include "store_kept.h"

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
	struct remote_origin origin = { .fd = request->fd };
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
	report_kept__read_object(request->kept, STORE_NOUN, name, &origin);
	ret = stores__create(request->subject, name, &geometry, &origin, &store, &request->error);
	if (ret)
		return ret;
	remote_requests__tell_created(request, &store->object, &origin,
				      report_kept__object(store->epoch, store->object.read.base));
	return 0;
}

static int add_reporter(struct request *request)
{
	struct named_peer named;
	struct report_qp_origin origin;
	struct report_qp *report_qp;
	int ret = remote_requests__find_no_peer(request, &named);

	if (ret)
		return ret;
	report_kept__read_reporter(request->kept, "reporter", named.text, &origin);
	ret = stores__add_reporter(request->subject, (struct store *)named.object, named.address,
				   &origin, &report_qp, &request->error);
	request->is_early = ret == -EAGAIN;
	if (ret)
		return ret;
	log__info("%s reports to store %s", named.text, named.object->name);
	request__keep(request, report_kept__reporter(report_qp));
	named.peer = &report_qp->peer;
	remote_requests__tell_peer(request, &named);
	return 0;
}

static int remove_reporter(struct request *request)
{
	struct named_peer named;
	int ret = remote_requests__find_peer(request, &named);

	if (ret)
		return ret;
	remote_requests__tell_peer(request, &named);
	log__info("%s no longer reports to store %s", named.text, named.object->name);
	remote_objects__remove_peer(request->subject, named.object, named.peer);
	return 0;
}

const struct request_type stores_requests[] = {
	{ "store-create", "store", create_store, .only_root = "create a store",
	  .fd = REQUEST_FD_OPTIONAL, .keeps = "store" },
	{ "store-delete", "store", remote_requests__delete, .member = "name",
	  .only_root = "delete a store", .ends = "store" },
	{ "store-list", "stores", remote_requests__list, .member = "" },
	{ "store-open", "store", remote_requests__open, .member = "name" },
	{ "store-export", "collectors", remote_requests__export, .member = "name",
	  .only_root = "see what reporters have to know" },
	{ "reporter-add", "reporter", add_reporter, .only_root = "add a reporter",
	  .keeps = "reporter" },
	{ "reporter-remove", "reporter", remove_reporter, .only_root = "remove a reporter",
	  .ends = "reporter" },
	{ "reporter-list", "reporters", remote_requests__list_peers, .member = NULL },
	{}
};
