// SPDX-License-Identifier: GPL-2.0-only
/* Stores, reporters and collectors as JSON. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include <libdart/report/collectors.h>

#include "stores_json.h"

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
	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:b, s:s*, s:I, s:I, s:I}", "name",
			 store->name, "slots_log2",
			 (json_int_t)__builtin_ctzll(store->geometry.slots), "value_length",
			 (json_int_t)store->geometry.value_length, "checksum_bits",
			 (json_int_t)store->geometry.checksum_bits, "redundancy",
			 (json_int_t)store->geometry.redundancy, "bytes",
			 (json_int_t)store->memory.length, "huge_pages", store->memory.is_huge,
			 "file", store->file, "epoch", (json_int_t)store->epoch, "reporters",
			 count_reporters(store), "readers", (json_int_t)store->readers.peers);
}

json_t *stores_json__reporter(const struct store *store, const struct report_qp *report_qp)
{
	char text[INET_ADDRSTRLEN];

	inet_ntop(AF_INET, &report_qp->path.peer, text, sizeof(text));
	return json_pack("{s:s, s:s, s:I}", "store", store->name, "reporter", text, "qpn",
			 (json_int_t)report_qp->queue_pair->qp_num);
}

static json_t *collector(const struct store *store, const struct report_qp *report_qp)
{
	struct dart_collector collector = {
		.reporter = report_qp->path.peer,
		.ip = report_qp->path.local,
		.qpn = report_qp->queue_pair->qp_num,
		.rkey = report_qp->view.memory_region->rkey,
		.epoch = store->epoch,
		.first_psn = report_qp->first_psn,
		.base = report_qp->view.base,
		.geometry = store->geometry,
	};

	snprintf(collector.name, sizeof(collector.name), "%s", store->name);
	memcpy(collector.mac, report_qp->path.mac, sizeof(collector.mac));
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
