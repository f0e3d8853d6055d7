/* SPDX-License-Identifier: GPL-2.0-only */
/* The wish for a switch: collectors, and the ports that lead to them. */
#ifndef SWITCH_WISH_H
#define SWITCH_WISH_H

#include <libdart/error.h>
#include <libdart/report/collectors.h>

#include "tools/dartctl/cli/options.h"

#define SWITCH_COLLECTORS_MAX	64	/* of a switch */
#define SWITCH_PORTS		511	/* port 511 drops */

struct switch_wish {
	struct dart_collectors collectors;
	uint16_t ports[SWITCH_COLLECTORS_MAX];	/* of each of them */
	bool all_copies;	/* report to all slots of a key */
};

/* The part of it that the command line gives. */
struct switch_options {
	struct in_addr reporter;	/* INADDR_ANY: the only one there is */
	bool all_copies;
	uint32_t port_count;
	struct {
		struct in_addr collector;	/* INADDR_ANY: all others */
		uint16_t port;
	} ports[SWITCH_COLLECTORS_MAX + 1];
};

/* Both return 0, or EXIT_USAGE with a message printed. */
int switch_options__take_reporter(struct switch_options *options,
				  const char *text);
/* @text: [COLLECTOR_IP=]PORT */
int switch_options__take_port(struct switch_options *options,
			      const char *text);

#define SWITCH_NO_PORT	UINT16_MAX
/* The port that leads to @collector, or SWITCH_NO_PORT. */
uint16_t switch_options__port(const struct switch_options *options,
			      struct in_addr collector);

/*
 * Completes @wish, whose collectors are set.  Returns 0, or -errno with a
 * sentence in @error if no switch can be like that.
 */
int switch_wish__complete(struct switch_wish *wish,
			  const struct switch_options *options,
			  struct dart_error *error);

#endif /* SWITCH_WISH_H */
