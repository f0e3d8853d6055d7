// SPDX-License-Identifier: GPL-2.0-only
/* The requests about stores and their reporters. */
#include <errno.h>
#include <string.h>

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

/* The members that only stores with epochs have, hostile; NULL or 0: not given. */
struct epoch_members {
	json_int_t epoch_ns, epoch_reports, keep_ns, keep_bytes;
	const char *schema;
	int falls;
};

/* Makes a plan of members, which may be hostile.  Returns 1 if the request asks for no epochs. */
static int make_plan(const struct epoch_members *members, struct rotation_plan *plan,
		     struct dart_error *error)
{
	const bool has_epochs = members->epoch_ns || members->epoch_reports;

	if (!has_epochs && (members->keep_ns || members->keep_bytes || members->schema ||
			    members->falls))
		return dart_error__set(error, EINVAL,
				       "only a store with epochs keeps files of them, with a schema, or lowers its redundancy");
	if (!has_epochs)
		return 1;
	if (members->epoch_ns && members->epoch_reports)
		return dart_error__set(error, EINVAL,
				       "an epoch ends after a time or after reports, not both");
	if (members->epoch_ns && (members->epoch_ns < (json_int_t)ROTATION_PERIOD_MIN_NS ||
				  members->epoch_ns > (json_int_t)ROTATION_PERIOD_MAX_NS))
		return dart_error__set(error, EINVAL, "an epoch takes 1 s to 365 days");
	if (members->epoch_reports < 0 || members->keep_ns < 0 || members->keep_bytes < 0)
		return dart_error__set(error, EINVAL, "no number of an epoch is negative");
	if (members->schema && strlen(members->schema) >= sizeof(plan->schema))
		return dart_error__set(error, EINVAL, "the name of a schema has at most %zu bytes",
				       sizeof(plan->schema) - 1);
	*plan = (struct rotation_plan){
		.period_ns = members->epoch_ns,
		.reports = members->epoch_reports,
		.keep_ns = members->keep_ns,
		.keep_bytes = members->keep_bytes,
		.falls = members->falls,
	};
	strcpy(plan->schema, members->schema ?: "");
	return 0;
}

static int create_store(struct request *request)
{
	json_int_t slots_log2, value_length;
	json_int_t checksum_bits = DART_STORE_CHECKSUM_BITS;
	json_int_t redundancy = DART_STORE_REDUNDANCY;
	struct epoch_members epochs = { .schema = NULL };
	struct rotation_plan plan;
	bool has_plan = false;
	struct dart_store_geometry geometry;
	struct remote_origin origin = { .fd = request->fd };
	enum report_transport transport = REPORT_AUTO;
	const char *name, *word = "auto";
	struct store *store;
	int ret;

	ret = request__unpack(request,
			      "{s:s, s:I, s:I, s?I, s?I, s?s, s?I, s?I, s?I, s?I, s?s, s?b, s?s !}",
			      "name", &name, "slots_log2", &slots_log2, "value_length",
			      &value_length, "checksum_bits", &checksum_bits, "redundancy",
			      &redundancy, "file", &origin.file, "epoch_ns", &epochs.epoch_ns,
			      "epoch_reports", &epochs.epoch_reports, "keep_ns", &epochs.keep_ns,
			      "keep_bytes", &epochs.keep_bytes, "schema", &epochs.schema,
			      "falling", &epochs.falls, "transport", &word);
	if (!ret && !origin.file != (request->fd < 0))
		ret = dart_error__set(&request->error, EINVAL,
				      "a file has a name and a descriptor");
	if (!ret && report_transport__parse(word, &transport))
		ret = dart_error__set(&request->error, EINVAL,
				      "reports have the transport uc, rc or auto, not '%s'", word);
	ret = ret ?: make_geometry(slots_log2, value_length, checksum_bits,
				   redundancy, &geometry, &request->error);
	if (!ret) {
		ret = make_plan(&epochs, &plan, &request->error);
		has_plan = !ret;
	}
	if (ret < 0)
		return ret;
	report_kept__read_object(request->kept, STORE_NOUN, name, &origin);
	ret = stores__create(request->subject, name, &geometry, has_plan ? &plan : NULL, &origin,
			     &store, &request->error);
	if (ret)
		return ret;
	store->transport = transport;
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
	origin.transport = ((struct store *)named.object)->transport;
	origin.has_choice = true;
	ret = stores__add_reporter(request->subject, (struct store *)named.object, named.address,
				   &origin, &report_qp, &request->error);
	request->is_early = ret == -EAGAIN;
	if (ret)
		return ret;
	log__info("%s reports to store %s", named.text, named.object->name);
	request__keep(request, report_kept__reporter(report_qp->first_psn, report_qp->view.base));
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

/* ---- epochs */

/* The rotation of the store called @name; -ENOENT, also if it has no epochs. */
static int find_rotation(struct request *request, const char *name, struct rotation **rotation)
{
	struct remote_object *object;
	int ret = remote_requests__find(request, name, &object);

	if (ret)
		return ret;
	*rotation = ((struct store *)object)->rotation;
	if (*rotation)
		return 0;
	return dart_error__set(&request->error, ENOENT,
			       "store '%s' has no epochs (see dartctl store create --epoch)", name);
}

static int list_epochs(struct request *request)
{
	json_int_t since_ns = 0, until_ns = INT64_MAX;
	struct rotation *rotation;
	const char *name;
	int ret;

	ret = request__unpack(request, "{s:s, s?I, s?I !}", "name", &name, "since_ns", &since_ns,
			      "until_ns", &until_ns);
	if (!ret && (since_ns < 0 || until_ns < since_ns))
		ret = dart_error__set(&request->error, EINVAL, "that time ends before it begins");
	ret = ret ?: find_rotation(request, name, &rotation);
	if (ret)
		return ret;
	request->result = rotation__list(rotation, since_ns, until_ns, &request->error);
	return request->result ? 0 : -EIO;
}

static int open_epoch(struct request *request)
{
	struct rotation *rotation;
	json_int_t since_ns;
	const char *name;
	int ret;

	ret = request__unpack(request, "{s:s, s:I !}", "name", &name, "since_ns", &since_ns) ?:
		      find_rotation(request, name, &rotation);
	if (ret)
		return ret;
	ret = rotation__read(rotation, since_ns, &request->error);
	if (ret < 0)
		return ret;
	*request->reply_fd = ret;
	request->result = json_pack("{s:I}", "since_ns", since_ns);
	return 0;
}

static int rotate_store(struct request *request)
{
	struct rotation *rotation;
	int ret = find_rotation(request, request->text, &rotation);

	if (ret)
		return ret;
	ret = rotation__rotate(rotation, &request->error);
	request->is_under_way = ret == -EBUSY;
	if (!ret)
		request->result = rotation__to_json(rotation);
	return ret;
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
	{ "store-rotate", "epochs", rotate_store, .member = "name",
	  .only_root = "end an epoch of a store" },
	{ "epoch-list", "epochs", list_epochs, .member = NULL },
	{ "epoch-open", "epoch", open_epoch, .member = NULL },
	{ "reporter-add", "reporter", add_reporter, .only_root = "add a reporter",
	  .keeps = "reporter" },
	{ "reporter-remove", "reporter", remove_reporter, .only_root = "remove a reporter",
	  .ends = "reporter" },
	{ "reporter-list", "reporters", remote_requests__list_peers, .member = NULL },
	{}
};
