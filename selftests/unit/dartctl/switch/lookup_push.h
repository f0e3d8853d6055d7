/* SPDX-License-Identifier: GPL-2.0-only */
/* A push of a lookup table to a switch: the start of tests of its steps. */
#ifndef LOOKUP_PUSH_TEST_H
#define LOOKUP_PUSH_TEST_H

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "selftests/unit/unit.h"
#include "tools/dartctl/switch/lookups/steps.h"

/* One push of a table to a switch. */
struct push {
	struct dart_tea_stashed stashed[16];
	struct lookup_wish wish;
	struct dart_tea_tables last;	/* pushed before, with servers if there were any */
	struct lookup_state *now, *wanted;
	struct switch_steps steps;
};

/* The numbers of server @index until a test changes them. */
static inline struct dart_tea_server push__server(uint32_t index)
{
	return (struct dart_tea_server){
		.ip.s_addr = htonl(0x0a000100 + index),
		.mac = { 0x52, 0x54, 0, 0, 1, index },
		.qpn = 17 + index,
		.rkey = 0x1000 + index,
		.first_psn = 5 * index,
		.epoch = 77 + index,
		.base = UINT64_C(0x3a5f00000000),
	};
}

/* Servers 0 to @count - 1 hold equal shares, without replicas, at separate ports. */
static inline struct push *push__new(uint32_t count)
{
	struct push *push = calloc(1, sizeof(*push));
	struct dart_tea_tables *tables;
	uint32_t i;

	assert_non_null(push);
	tables = &push->wish.tables;
	push->now = calloc(1, sizeof(*push->now));
	assert_non_null(push->now);
	strcpy(tables->name, "nat");
	tables->requester.s_addr = htonl(0x0a000009);
	tables->geometry = (struct dart_tea_geometry){ 10, 8, 13, 7, 1514 };
	tables->server_count = count;
	for (i = 0; i < count; i++) {
		tables->servers[i] = push__server(i);
		push->wish.ports[i] = i;
	}
	for (i = 0; i < DART_TEA_SHARES; i++)
		tables->shares[i] = i * count / DART_TEA_SHARES;
	memset(tables->replicas, DART_TEA_SERVER_NONE, sizeof(tables->replicas));
	tables->stashed = push->stashed;
	push->wish.options = (struct lookup_options){
		.outstanding = DART_TEA_OUTSTANDING_MAX,
		.timeout_us = 20000,
		.tries = 4,
	};
	for (i = 0; i < LOOKUP_OUTCOMES; i++)
		push->wish.options.otherwise[i] = LOOKUP_DROP;
	return push;
}

/* Stashes @count entries, key i with value i + @more. */
static inline void push__stash(struct push *push, uint32_t first, uint32_t count, uint8_t more)
{
	uint32_t i;

	memset(push->stashed, 0, sizeof(push->stashed));
	for (i = 0; i < count; i++) {
		push->stashed[i].key[12] = first + i;
		push->stashed[i].value[6] = first + i + more;
	}
	push->wish.tables.stashed_count = count;
}

static inline void push__free_state(struct lookup_state *state)
{
	if (state)
		lookup_state__release(state);
	free(state);
}

static inline void push__plan(struct push *push)
{
	push__free_state(push->wanted);
	push->wanted = calloc(1, sizeof(*push->wanted));
	assert_non_null(push->wanted);
	assert_int_equal(lookup_state__want(&push->wish, push->now, push->wanted), 0);
	assert_int_equal(lookup_steps__compute(push->now, push->wanted, &push->last, &push->steps),
			 0);
}

static inline void push__free(struct push *push)
{
	push__free_state(push->now);
	push__free_state(push->wanted);
	switch_steps__free(&push->steps);
	free(push);
}

#endif /* LOOKUP_PUSH_TEST_H */
