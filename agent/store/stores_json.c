// SPDX-License-Identifier: GPL-2.0-only
/* Stores, reporters and collectors as JSON. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include <libdart/report/collectors.h>

#include "agent/base/reply.h"
#include "stores_json.h"

static json_int_t slots_log2(const struct store *store)
{
	return __builtin_ctzll(store->geometry.slots);
}

static json_int_t count_reporters(const struct store *store)
{
	const struct report_qp *report_qp;
	json_int_t count = 0;

	TAILQ_FOREACH(report_qp, &store->report_qps, link)
		count++;
	return count;
}

json_t *stores_json__store(const struct store *store)
{
	return json_pack(
		"{s:s, s:I, s:I, s:I, s:I, s:I, s:b, s:s*, s:I, s:I}", "name",
		store->name, "slots_log2", slots_log2(store), "value_length",
		(json_int_t)store->geometry.value_length, "checksum_bits",
		(json_int_t)store->geometry.checksum_bits, "redundancy",
		(json_int_t)store->geometry.redundancy, "bytes",
		(json_int_t)store->memory.length, "huge_pages",
		store->memory.is_huge, "file", store->file, "reporters",
		count_reporters(store), "readers", (json_int_t)store->readers.peers);
}

json_t *stores_json__stores(const struct stores *stores)
{
	json_t *list = json_array();
	const struct store *store;

	TAILQ_FOREACH(store, &stores->list, link)
		reply__append(&list, stores_json__store(store));
	return list;
}

static const char *text_of(struct in_addr address, char text[INET_ADDRSTRLEN])
{
	return inet_ntop(AF_INET, &address, text, INET_ADDRSTRLEN);
}

json_t *stores_json__reporter(const struct store *store,
			      const struct report_qp *report_qp)
{
	char text[INET_ADDRSTRLEN];

	return json_pack("{s:s, s:s, s:I}", "store", store->name, "reporter",
			 text_of(report_qp->address, text), "qpn",
			 (json_int_t)report_qp->queue_pair->qp_num);
}

json_t *stores_json__reporters(const struct stores *stores,
			       const struct store *store)
{
	json_t *list = json_array();
	const struct report_qp *report_qp;
	const struct store *each;

	TAILQ_FOREACH(each, &stores->list, link) {
		if (store && each != store)
			continue;
		TAILQ_FOREACH(report_qp, &each->report_qps, link)
			reply__append(&list,
				      stores_json__reporter(each, report_qp));
	}
	return list;
}

static json_t *collector(const struct store *store,
			 const struct report_qp *report_qp)
{
	struct dart_collector collector = {
		.reporter = report_qp->address,
		.ip = report_qp->local,
		.qpn = report_qp->queue_pair->qp_num,
		.rkey = store->written.memory_region->rkey,
		.first_psn = report_qp->first_psn,
		.base = store->written.base,
		.geometry = store->geometry,
	};

	snprintf(collector.name, sizeof(collector.name), "%s", store->name);
	memcpy(collector.mac, report_qp->mac, sizeof(collector.mac));
	return dart_collector__to_json(&collector);
}

json_t *stores_json__collectors(const struct store *store)
{
	json_t *list = json_array();
	const struct report_qp *report_qp;

	TAILQ_FOREACH(report_qp, &store->report_qps, link)
		reply__append(&list, collector(store, report_qp));
	return list;
}
