// SPDX-License-Identifier: GPL-2.0-only
/* Names and numbers by which the next dartd recognizes a store. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/log.h"
#include "agent/base/rdma_base.h"
#include "store_kept.h"

#define EPOCH_MAX	(INT64_C(1) << 53)	/* exact in any reader of JSON */

_Static_assert(sizeof(STORE_KEPT_PREFIX) + DART_STORE_NAME_MAX +
		       sizeof(",32,64,64,8") < FD_STORE_NAME_MAX,
	       "the name fits");

void store_kept__name(const char *store,
		      const struct dart_store_geometry *geometry,
		      char name[static FD_STORE_NAME_MAX])
{
	snprintf(name, FD_STORE_NAME_MAX, STORE_KEPT_PREFIX "%s,%d,%u,%u,%u",
		 store, __builtin_ctzll(geometry->slots),
		 geometry->value_length, geometry->checksum_bits,
		 geometry->redundancy);
}

void store_kept__prefix(const char *store,
			char prefix[static FD_STORE_NAME_MAX])
{
	snprintf(prefix, FD_STORE_NAME_MAX, STORE_KEPT_PREFIX "%s,", store);
}

/* A string, because JSON's numbers are not wide enough. */
static json_t *address(uint64_t base)
{
	return json_sprintf("0x%" PRIx64, base);
}

json_t *store_kept__store(const struct store *store)
{
	return json_pack("{s:I, s:o, s:o}", "epoch", (json_int_t)store->epoch,
			 "base", address(store->written.base), "read_base",
			 address(store->read.base));
}

json_t *store_kept__reporter(const struct report_qp *report_qp)
{
	return json_pack("{s:I}", "first_psn",
			 (json_int_t)report_qp->first_psn);
}

/* 0 if a store cannot begin at the address in @text. */
static uint64_t read_base(const char *text)
{
	uint64_t base = 0;
	int end = 0;

	if (sscanf(text, "0x%16" SCNx64 "%n", &base, &end) != 1 || text[end] ||
	    !rdma_base__is_valid(base))
		return 0;
	return base;
}

void store_kept__read_store(const json_t *kept, const char *name,
			    struct store_origin *origin)
{
	const char *base = "", *other = "";
	json_int_t epoch = 0;

	if (!kept)
		return;
	if (json_unpack((json_t *)kept, "{s:I, s:s, s:s}", "epoch", &epoch,
			"base", &base, "read_base", &other) ||
	    epoch < 1 || epoch > EPOCH_MAX) {
		log__warning("store %s gets new addresses: its kept numbers are invalid",
			     name);
		return;
	}
	origin->epoch = epoch;
	origin->base = read_base(base);
	origin->read_base = read_base(other);
	if (origin->base && origin->read_base &&
	    origin->base != origin->read_base)
		return;
	log__warning("store %s gets new addresses: its kept ones are invalid",
		     name);
	origin->base = origin->read_base = 0;
}

int32_t store_kept__read_reporter(const json_t *kept, const char *address)
{
	json_int_t first_psn = -1;

	if (!kept)
		return REPORT_QP_PSN_ANY;
	if (!json_unpack((json_t *)kept, "{s:I}", "first_psn", &first_psn) &&
	    first_psn >= 0 && first_psn <= REPORT_QP_PSN_MAX)
		return first_psn;
	log__warning("reporter %s gets a new first PSN: the kept one is invalid",
		     address);
	return REPORT_QP_PSN_ANY;
}
