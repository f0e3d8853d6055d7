/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ledger that an adder sends to, as an agent exports it, and the frames between both: see
 * <dart/ledger.h> and dart_ledgers(5).
 *
 * `dartctl ledger export` prints such a JSON file:
 *
 *   {"dart_ledgers": 1,
 *    "ledgers": [
 *      {"name": "flows", "reporter": "10.0.0.2", "mac": "52:54:00:00:00:01", "ip": "10.0.0.1",
 *       "qpn": 17, "rkey": 4660, "base": "0x3a5f00000000", "first_psn": 0,
 *       "epoch": 1795339800, "rows": 2, "words_log2": 16}]}
 *
 * The first members, and dscp, are those of dart_collectors(5); reporter is the address of the
 * adder, and base that of the first word.
 */
#ifndef DART_LEDGER_TARGET_H
#define DART_LEDGER_TARGET_H

#include <libdart/ledger/ledger.h>

#include "roce_frame.h"

struct dart_ledger_target {
	struct dart_collector collector; /* without a geometry */
	struct dart_ledger_geometry geometry;
};

/*
 * Reads the ledger for the adder at @address from the file at @path.  INADDR_ANY stands for the
 * only adder in the file.  Returns 0, or sets @error and returns -ENOENT if there is none, -EINVAL,
 * -ENOMEM or the error of opening the file.
 */
int dart_ledger_target__load(const char *path, struct in_addr address,
			     struct dart_ledger_target *target, struct dart_error *error);
/* An element of the file, a new reference; NULL if out of memory. */
json_t *dart_ledger_target__to_json(const struct dart_ledger_target *target);

/* Bytes of a request. */
#define DART_LEDGER_FRAME 86

/* Adds @amount to the word at @offset in the memory of the ledger. */
struct dart_ledger_operation {
	uint64_t offset;
	uint64_t amount;
	uint32_t psn;
};

void dart_ledger_target__frame(const struct dart_ledger_target *target,
			       const uint8_t source_mac[ETH_ALEN],
			       const struct dart_ledger_operation *content,
			       uint8_t frame[DART_LEDGER_FRAME]);

/*
 * Reads an answer of the collector to this adder from a frame of @length bytes, with Ethernet
 * header and ICRC, which may be hostile.  Returns 0, or -EINVAL for any other frame.
 */
int dart_ledger_target__read_answer(const struct dart_ledger_target *target, const uint8_t *frame,
				    size_t length, struct dart_roce_answer *answer);

#endif /* DART_LEDGER_TARGET_H */
