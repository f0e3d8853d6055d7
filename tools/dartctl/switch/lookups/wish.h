/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The wish for a switch that looks keys up: a lookup table, its servers, and the ports that lead to
 * them.
 */
#ifndef LOOKUP_WISH_H
#define LOOKUP_WISH_H

#include <libdart/tea/tea_tables.h>

#include "tools/dartctl/switch/engine/hosts.h"

#define LOOKUP_OUTCOMES 32 /* numbers that the key has room for */
#define LOOKUP_DROP (-1) /* in place of a port */

/* The part of a wish that the command line gives. */
struct lookup_options {
	uint32_t outstanding; /* READs, 1 to DART_TEA_OUTSTANDING_MAX */
	uint32_t timeout_us;
	uint32_t tries; /* 0 to 15 */
	uint32_t mtu; /* bytes of the longest packet that leaves; 0: as the switch has it */
	int16_t otherwise[LOOKUP_OUTCOMES]; /* a port, or LOOKUP_DROP */
	bool is_given; /* at least one of these options */
};

struct lookup_wish {
	struct dart_tea_tables tables;
	uint16_t ports[DART_TEA_SERVERS_MAX]; /* of each server */
	struct lookup_options options;
	bool keeps_cache; /* the caller refreshes cached entries, so they may stay */
};

/* Sets the defaults. */
void lookup_options__init(struct lookup_options *options);

/* For option rows: @options is a struct lookup_options. */
int lookup_options__take_outstanding(void *options, const char *text);
int lookup_options__take_timeout(void *options, const char *text);
int lookup_options__take_tries(void *options, const char *text);
int lookup_options__take_mtu(void *options, const char *text);
/* @text: [OUTCOME=]PORT; without an outcome, all outcomes that have no port yet. */
int lookup_options__take_otherwise(void *options, const char *text);

/* The name of an outcome of a packet, see p4/shared/tea/outcome.p4; NULL beyond the last one. */
const char *lookup_outcome__name(uint32_t outcome);

/*
 * Completes @wish, whose tables and options are set, with the ports of its servers.  Returns
 * 0, or -errno with a sentence in @error if no switch can be set up like that.
 */
int lookup_wish__complete(struct lookup_wish *wish, const struct switch_ports *ports,
			  struct dart_error *error);

#endif /* LOOKUP_WISH_H */
