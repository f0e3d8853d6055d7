// SPDX-License-Identifier: GPL-2.0-only
/* The requests about stores and their reporters. */
#include <arpa/inet.h>
#include <errno.h>

#include "agent/base/log.h"
#include "store_json.h"
#include "store_requests.h"

static int find(const struct stores *stores, const char *name,
		struct store **store, struct dart_error *error)
{
	*store = stores__find(stores, name);
	if (!*store)
		return dart_error__set(
			error, ENOENT,
			"there is no store '%s' (see dartctl store list)",
			name);
	return 0;
}

/* Finds the store that a request with nothing more names. */
static int find_named(const struct stores *stores,
		      const struct request *request, struct store **store,
		      struct dart_error *error)
{
	const char *name;
	int ret;

	ret = request__unpack(request, error, "{s:s !}", "name", &name);
	return ret ?: find(stores, name, store, error);
}

/* As hostile numbers become a geometry. */
static int make_geometry(json_int_t slots_log2, json_int_t value_length,
			 json_int_t checksum_bits, json_int_t redundancy,
			 struct dart_store_geometry *geometry,
			 struct dart_error *error)
{
	if (slots_log2 < 0 || slots_log2 > DART_STORE_SLOTS_LOG2_MAX)
		return dart_error__set(error, EINVAL,
				       "a store has 2^0 to 2^%d slots",
				       DART_STORE_SLOTS_LOG2_MAX);
	if (value_length < DART_STORE_VALUE_MIN ||
	    value_length > DART_STORE_VALUE_MAX)
		return dart_error__set(error, EINVAL,
				       "a value has %d to %d bytes",
				       DART_STORE_VALUE_MIN,
				       DART_STORE_VALUE_MAX);
	if (checksum_bits != 8 && checksum_bits != 16 && checksum_bits != 32 &&
	    checksum_bits != 64)
		return dart_error__set(error, EINVAL,
				       "a checksum has 8, 16, 32 or 64 bits");
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
		return dart_error__set(error, EINVAL,
				       "there can be no such store");
	return 0;
}

static int create(void *stores, const struct request *request, json_t **result,
		  struct dart_error *error)
{
	json_int_t slots_log2, value_length;
	json_int_t checksum_bits = DART_STORE_CHECKSUM_BITS;
	json_int_t redundancy = DART_STORE_REDUNDANCY;
	struct dart_store_geometry geometry;
	const char *name, *file = NULL;
	struct store *store;
	int ret;

	ret = request__unpack(request, error,
			      "{s:s, s:I, s:I, s?I, s?I, s?s !}", "name", &name,
			      "slots_log2", &slots_log2, "value_length",
			      &value_length, "checksum_bits", &checksum_bits,
			      "redundancy", &redundancy, "file", &file);
	if (!ret && !file != (request->fd < 0))
		ret = dart_error__set(error, EINVAL,
				      "a file has a name and a descriptor");
	if (!ret)
		ret = make_geometry(slots_log2, value_length, checksum_bits,
				    redundancy, &geometry, error);
	if (!ret)
		ret = stores__create(stores, name, &geometry, request->fd, file,
				     &store, error);
	if (ret)
		return ret;
	log__info("created store %s: %zu bytes%s", store->name,
		  store->memory.length,
		  store->memory.is_huge ? " in huge pages" : "");
	*result = store_json__store(store);
	return 0;
}

static int delete (void *stores, const struct request *request, json_t **result,
		   struct dart_error *error)
{
	struct store *store;
	int ret;

	ret = find_named(stores, request, &store, error);
	if (ret)
		return ret;
	*result = store_json__store(store);
	log__info("deleted store %s", store->name);
	stores__delete(stores, store);
	return 0;
}

static int list(void *stores, const struct request *request, json_t **result,
		struct dart_error *error)
{
	int ret = request__unpack(request, error, "{!}");

	if (!ret)
		*result = store_json__stores(stores);
	return ret;
}

static int open_store(void *stores, const struct request *request,
		      json_t **result, struct dart_error *error)
{
	struct store *store;
	int ret;

	ret = find_named(stores, request, &store, error);
	if (ret)
		return ret;
	ret = store__reopen(store, error);
	if (ret < 0)
		return ret;
	*request->reply_fd = ret;
	*result = store_json__store(store);
	return 0;
}

static int export(void *stores, const struct request *request, json_t **result,
		  struct dart_error *error)
{
	struct store *store;
	int ret;

	ret = find_named(stores, request, &store, error);
	if (!ret)
		*result = store_json__collectors(store);
	return ret;
}

static int parse_address(const char *text, struct in_addr *address,
			 struct dart_error *error)
{
	struct in6_addr address6;

	if (inet_pton(AF_INET6, text, &address6) == 1)
		return dart_error__set(
			error, EAFNOSUPPORT,
			"%s is an address of IPv6, and reports come over IPv4",
			text);
	if (inet_pton(AF_INET, text, address) != 1)
		return dart_error__set(error, EINVAL,
				       "'%s' is not an IPv4 address", text);
	if (!address->s_addr || IN_MULTICAST(ntohl(address->s_addr)) ||
	    IN_BADCLASS(ntohl(address->s_addr)))
		return dart_error__set(error, EINVAL,
				       "%s is not the address of a host", text);
	return 0;
}

/* The store and the address in a request about a reporter. */
static int find_reporter(const struct stores *stores,
			 const struct request *request, struct store **store,
			 const char **text, struct in_addr *address,
			 struct dart_error *error)
{
	const char *name;
	int ret;

	ret = request__unpack(request, error, "{s:s, s:s !}", "store", &name,
			      "address", text);
	if (!ret)
		ret = find(stores, name, store, error);
	return ret ?: parse_address(*text, address, error);
}

static int add_reporter(void *stores, const struct request *request,
			json_t **result, struct dart_error *error)
{
	struct report_qp *report_qp;
	struct in_addr address;
	struct store *store;
	const char *text;
	int ret;

	ret = find_reporter(stores, request, &store, &text, &address, error);
	if (ret)
		return ret;
	if (store__find_reporter(store, address))
		return dart_error__set(error, EEXIST,
				       "'%s' has a reporter %s already",
				       store->name, text);
	ret = store__add_reporter(store, address, &report_qp, error);
	if (ret)
		return ret;
	log__info("%s reports to store %s", text, store->name);
	*result = store_json__reporter(store, report_qp);
	return 0;
}

static int remove_reporter(void *stores, const struct request *request,
			   json_t **result, struct dart_error *error)
{
	struct report_qp *report_qp;
	struct in_addr address;
	struct store *store;
	const char *text;
	int ret;

	ret = find_reporter(stores, request, &store, &text, &address, error);
	if (ret)
		return ret;
	report_qp = store__find_reporter(store, address);
	if (!report_qp)
		return dart_error__set(error, ENOENT, "'%s' has no reporter %s",
				       store->name, text);
	*result = store_json__reporter(store, report_qp);
	log__info("%s no longer reports to store %s", text, store->name);
	store__remove_reporter(store, report_qp);
	return 0;
}

static int list_reporters(void *stores, const struct request *request,
			  json_t **result, struct dart_error *error)
{
	struct store *store = NULL;
	const char *name = NULL;
	int ret;

	ret = request__unpack(request, error, "{s?s !}", "store", &name);
	if (!ret && name)
		ret = find(stores, name, &store, error);
	if (!ret)
		*result = store_json__reporters(stores, store);
	return ret;
}

const struct request_type store_requests[] = {
	{ "store-create", "store", create, "create a store",
	  REQUEST_FD_OPTIONAL },
	{ "store-delete", "store", delete, "delete a store", REQUEST_FD_NONE },
	{ "store-list", "stores", list, NULL, REQUEST_FD_NONE },
	{ "store-open", "store", open_store, NULL, REQUEST_FD_NONE },
	{ "store-export", "collectors", export,
	  "see what reporters have to know", REQUEST_FD_NONE },
	{ "reporter-add", "reporter", add_reporter, "add a reporter",
	  REQUEST_FD_NONE },
	{ "reporter-remove", "reporter", remove_reporter, "remove a reporter",
	  REQUEST_FD_NONE },
	{ "reporter-list", "reporters", list_reporters, NULL, REQUEST_FD_NONE },
	{}
};
