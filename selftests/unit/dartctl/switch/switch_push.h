/* SPDX-License-Identifier: GPL-2.0-only */
/* A push of collectors to a switch: the start of tests of its steps. */
#ifndef SWITCH_PUSH_H
#define SWITCH_PUSH_H

#include <arpa/inet.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "selftests/unit/unit.h"
#include "tools/dartctl/switch/reports/steps.h"

/* One push of a list of collectors to a switch. */
struct push {
	struct dart_collector list[DART_COLLECTORS_MAX];
	struct report_wish wish;
	struct report_state *now, *wanted;
	struct switch_steps steps;
};

/* Collectors 0 to @count - 1 hold equal shares, at separate ports. */
static inline struct push *push__new(uint32_t count)
{
	struct push *push = calloc(1, sizeof(*push));
	uint32_t i;

	assert_non_null(push);
	push->now = calloc(1, sizeof(*push->now));
	assert_non_null(push->now);
	push->wish.collectors.list = push->list;
	push->wish.collectors.count = count;
	for (i = 0; i < count; i++) {
		push->list[i] = (struct dart_collector){
			.reporter.s_addr = htonl(0x0a000002),
			.mac = { 0x52, 0x54, 0, 0, 1, i },
			.ip.s_addr = htonl(0x0a000100 + i),
			.qpn = 17 + i,
			.rkey = 0x1000 + i,
			.first_psn = 5 * i,
			.base = UINT64_C(0x3a5f00000000),
			.geometry = { 1 << 20, 20, 32, 2 },
		};
		push->wish.ports[i] = i;
	}
	for (i = 0; i < DART_STORE_SHARES; i++)
		push->wish.collectors.shares[i] = i * count / DART_STORE_SHARES;
	return push;
}

static inline void push__plan(struct push *push)
{
	free(push->wanted);
	push->wanted = calloc(1, sizeof(*push->wanted));
	assert_non_null(push->wanted);
	report_state__want(&push->wish, push->now, push->wanted);
	assert_int_equal(report_steps__compute(push->now, push->wanted, &push->steps), 0);
}

static inline void push__free(struct push *push)
{
	free(push->now);
	free(push->wanted);
	switch_steps__free(&push->steps);
	free(push);
}

#endif /* SWITCH_PUSH_H */
