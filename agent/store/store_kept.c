// SPDX-License-Identifier: GPL-2.0-only
/* Names and numbers by which the next dartd recognizes a store. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dart/store_access.h>

#include "agent/base/log.h"
#include "agent/base/rdma_base.h"
#include "store_kept.h"

#define EPOCH_MAX (INT64_C(1) << 53) /* exact in any reader of JSON */

_Static_assert(sizeof(STORE_KEPT_PREFIX) + DART_STORE_NAME_MAX + sizeof(",32,64,64,8") <
		       FD_STORE_NAME_MAX,
	       "the name fits");

void store_kept__name(const char *store, const struct dart_store_geometry *geometry,
		      char name[static FD_STORE_NAME_MAX])
{
	snprintf(name, FD_STORE_NAME_MAX, STORE_KEPT_PREFIX "%s,%d,%u,%u,%u", store,
		 __builtin_ctzll(geometry->slots), geometry->value_length, geometry->checksum_bits,
		 geometry->redundancy);
}

/* A string, because JSON's numbers are not wide enough. */
static json_t *address(uint64_t base)
{
	return json_sprintf("0x%" PRIx64, base);
}

json_t *store_kept__store(uint64_t epoch, uint64_t read_base)
{
	return json_pack("{s:I, s:o}", "epoch", (json_int_t)epoch, "read_base", address(read_base));
}

json_t *store_kept__reporter(const struct report_qp *report_qp)
{
	return json_pack("{s:I, s:o}", "first_psn", (json_int_t)report_qp->first_psn, "base",
			 address(report_qp->view.base));
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

void store_kept__read_store(const json_t *kept, const char *name, struct remote_origin *origin)
{
	const char *base = "";
	json_int_t epoch = 0;

	if (!kept)
		return;
	if (json_unpack((json_t *)kept, "{s:I, s:s}", "epoch", &epoch, "read_base", &base) ||
	    epoch < 1 || epoch > EPOCH_MAX) {
		log__warning("store %s gets a new address: its kept numbers are invalid", name);
		return;
	}
	origin->epoch = epoch;
	origin->read_base = read_base(base);
	if (!origin->read_base)
		log__warning("store %s gets a new address: its kept one is invalid", name);
}

void store_kept__read_reporter(const json_t *kept, const char *address,
			       struct report_qp_origin *origin)
{
	json_int_t first_psn = -1;
	const char *base = NULL;

	*origin = (struct report_qp_origin){ .first_psn = REPORT_QP_PSN_ANY };
	if (!kept)
		return;
	/* Reporters of older releases wrote to an address of the store. */
	if (!json_unpack((json_t *)kept, "{s:I, s?s}", "first_psn", &first_psn, "base", &base) &&
	    first_psn >= 0 && first_psn <= REPORT_QP_PSN_MAX)
		origin->first_psn = first_psn;
	else
		log__warning("reporter %s gets a new first PSN: the kept one is invalid", address);
	origin->base = base ? read_base(base) : 0;
	if (base && !origin->base)
		log__warning("reporter %s gets a new address of the store: the kept one is invalid",
			     address);
}
