// SPDX-License-Identifier: GPL-2.0-only
/* Numbers by which reporters and readers find memory again after a restart of dartd. */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "agent/base/log.h"
#include "agent/base/rdma_base.h"
#include "report_kept.h"

#define EPOCH_MAX (INT64_C(1) << 53) /* exact in any reader of JSON */

uint64_t report_epoch__next(uint64_t old)
{
	uint64_t now = time(NULL);

	return now > old ? now : old + 1;
}

/* A string, because JSON's numbers are not wide enough. */
static json_t *address(uint64_t base)
{
	return json_sprintf("0x%" PRIx64, base);
}

json_t *report_kept__object(uint64_t epoch, uint64_t read_base)
{
	return json_pack("{s:I, s:o}", "epoch", (json_int_t)epoch, "read_base", address(read_base));
}

json_t *report_kept__reporter(uint32_t first_psn, uint64_t base)
{
	/* The place in the page follows from the memory. */
	return json_pack("{s:I, s:o}", "first_psn", (json_int_t)first_psn, "base",
			 address(base / RDMA_BASE_PAGE_MAX * RDMA_BASE_PAGE_MAX));
}

/* 0 if memory cannot begin at the address in @text. */
static uint64_t read_base(const char *text)
{
	uint64_t base = 0;
	int end = 0;

	if (sscanf(text, "0x%16" SCNx64 "%n", &base, &end) != 1 || text[end] ||
	    !rdma_base__is_valid(base))
		return 0;
	return base;
}

void report_kept__read_object(const json_t *kept, const char *noun, const char *name,
			      struct remote_origin *origin)
{
	const char *base = "";
	json_int_t epoch = 0;

	if (!kept)
		return;
	if (json_unpack((json_t *)kept, "{s:I, s:s}", "epoch", &epoch, "read_base", &base) ||
	    epoch < 1 || epoch > EPOCH_MAX) {
		log__warning("%s %s gets a new address: its kept numbers are invalid", noun, name);
		return;
	}
	origin->epoch = epoch;
	origin->read_base = read_base(base);
	if (!origin->read_base)
		log__warning("%s %s gets a new address: its kept one is invalid", noun, name);
}

void report_kept__read_reporter(const json_t *kept, const char *peer, const char *address,
				struct report_qp_origin *origin)
{
	json_int_t first_psn = -1;
	const char *base = NULL;

	*origin = (struct report_qp_origin){
		.first_psn = REPORT_QP_PSN_ANY,
		.transport = REPORT_UC,
	};
	if (!kept)
		return;
	/* Reporters of older releases wrote to an address of the store. */
	if (!json_unpack((json_t *)kept, "{s:I, s?s}", "first_psn", &first_psn, "base", &base) &&
	    first_psn >= 0 && first_psn <= REPORT_QP_PSN_MAX)
		origin->first_psn = first_psn;
	else
		log__warning("%s %s gets a new first PSN: the kept one is invalid", peer, address);
	origin->base = base ? read_base(base) : 0;
	if (base && !origin->base)
		log__warning("%s %s gets a new address of the memory: the kept one is invalid",
			     peer, address);
}
