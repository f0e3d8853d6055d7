// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reads and writes files of ledgers, see dart_ledgers(5), builds requests and reads answers. */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "ledger_target.h"
#include "target_file.h"

#define PORTS 1024

/* ---- files */

static int take_geometry(json_t *json, size_t others, void *taken, struct dart_error *error)
{
	struct dart_ledger_target *target = taken;
	struct dart_ledger_geometry *geometry = &target->geometry;
	json_int_t rows, words_log2;
	json_error_t reason;

	if (json_unpack_ex(json, &reason, 0, "{s:I, s:I}", "rows", &rows, "words_log2",
			   &words_log2))
		return dart_error__set(error, EINVAL, "%s", reason.text);
	if (others != 2)
		return dart_error__set(error, EINVAL, "it has members that no ledger has");
	if (rows < 0 || rows > UINT8_MAX || words_log2 < 0 || words_log2 > UINT8_MAX)
		return dart_error__set(error, EINVAL, "a ledger cannot have this geometry");
	*geometry = (struct dart_ledger_geometry){ .rows = rows, .words_log2 = words_log2 };
	if (dart_ledger_geometry__check(geometry))
		return dart_error__set(error, EINVAL, "a ledger cannot have this geometry");
	/* Requests to other addresses break the queue pair. */
	if (target->collector.base % sizeof(uint64_t))
		return dart_error__set(error, EINVAL, "base is not a multiple of 8");
	if (target->collector.base > UINT64_MAX - dart_ledger_geometry__length(geometry))
		return dart_error__set(error, EINVAL, "the ledger ends beyond all addresses");
	return 0;
}

static const struct dart_target_kind kind = {
	.object = "ledger",
	.objects = "ledgers",
	.part = "adder",
	.content = "amounts",
	.size = sizeof(struct dart_ledger_target),
	.take = take_geometry,
};

int dart_ledger_target__load(const char *path, struct in_addr address,
			     struct dart_ledger_target *target, struct dart_error *error)
{
	return dart_target_file__load(&kind, path, address, target, error);
}

json_t *dart_ledger_target__to_json(const struct dart_ledger_target *target)
{
	return dart_target_file__element(
		&target->collector, json_pack("{s:I, s:I}", "rows",
					      (json_int_t)target->geometry.rows, "words_log2",
					      (json_int_t)target->geometry.words_log2));
}

/* ---- frames */

/* The BTH of requests and answers ends here. */
#define TRANSPORT_END offsetof(struct dart_roce_headers, reth)

/* What follows the BTH of a request. */
struct atomic_header {
	__be64 address;
	__be32 rkey;
	__be64 amount;
	__be64 compared; /* 0: by Compare&Swap only */
} __attribute__((packed));

_Static_assert(TRANSPORT_END + sizeof(struct atomic_header) + DART_ROCE_ICRC_LENGTH ==
		       DART_LEDGER_FRAME,
	       "a request has these parts");

void dart_ledger_target__frame(const struct dart_ledger_target *target,
			       const uint8_t source_mac[ETH_ALEN],
			       const struct dart_ledger_operation *content,
			       uint8_t frame[DART_LEDGER_FRAME])
{
	const struct dart_collector *collector = &target->collector;
	const struct dart_roce_transport transport = {
		.opcode = DART_LEDGER_BTH_OPCODE,
		.wants_answer = true,
		.psn = content->psn,
	};
	const struct atomic_header header = {
		.address = htobe64(collector->base + content->offset),
		.rkey = htobe32(collector->rkey),
		.amount = htobe64(content->amount),
	};

	memcpy(frame + TRANSPORT_END, &header, sizeof(header));
	dart_roce_frame__wrap(collector, source_mac,
			      DART_STORE_UDP_SOURCE_BASE + collector->qpn % PORTS, &transport,
			      DART_LEDGER_FRAME, frame);
}

int dart_ledger_target__read_answer(const struct dart_ledger_target *target, const uint8_t *frame,
				    size_t length, struct dart_roce_answer *answer)
{
	return dart_roce_frame__read_answer(&target->collector, frame, length, answer);
}
