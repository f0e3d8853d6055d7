/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A push of a ledger, journal or sketch to a switch: the collector that the tests of its steps
 * begin with, and the steps that they expect.
 */
#ifndef KEPT_PUSH_H
#define KEPT_PUSH_H

#include <arpa/inet.h>
#include <string.h>

#include <libdart/report/collectors.h>

#include "selftests/unit/unit.h"
#include "tools/dartctl/switch/engine/steps.h"

/* @name is short. */
static inline struct dart_collector kept_collector(const char *name)
{
	struct dart_collector collector = {
		.reporter.s_addr = htonl(0x0a000002),
		.mac = { 0x52, 0x54, 0, 0, 0, 1 },
		.ip.s_addr = htonl(0x0a000001),
		.qpn = 17,
		.rkey = 4660,
		.first_psn = 5,
		.base = 0x3a5f00000000,
		.epoch = 77,
	};

	strcpy(collector.name, name);
	return collector;
}

static inline void expect_steps(const struct switch_steps *steps, size_t count,
				const struct switch_step *list)
{
	assert_int_equal(steps->count, count);
	assert_memory_equal(steps->list, list, count * sizeof(*list));
}

#define EXPECT(push, ...)                                                                        \
	expect_steps(&(push)->steps,                                                             \
		     sizeof((struct switch_step[]){ __VA_ARGS__ }) / sizeof(struct switch_step), \
		     (struct switch_step[]){ __VA_ARGS__ })

#endif /* KEPT_PUSH_H */
