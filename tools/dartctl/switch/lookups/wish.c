// SPDX-License-Identifier: GPL-2.0-only
/* The wish for a switch that looks keys up, from the command line and exports. */
#include <stdio.h>
#include <string.h>

#include "tools/dartctl/cli/command.h"
#include "wish.h"

#define TIMEOUT_US 20000 /* ten times a lookup on BMv2 */
#define TIMEOUT_US_MAX 60000000
#define TRIES 4
#define TRIES_MAX 15
#define MTU_MIN 68 /* of IPv4, RFC 791 */

static const struct {
	const char *name;
	bool has_fate; /* its packets go where tea_otherwise says */
} outcomes[] = {
	{ "other", false },	{ "keyless", true }, { "invalid", true },
	{ "cache", false },	{ "stash", false },  { "unassigned", true },
	{ "limit", true },	{ "long", true },    { "silent", true },
	{ "sent", false },	{ "found", false },  { "again", false },
	{ "changing", true },	{ "stashed", true }, { "absent", true },
	{ "malformed", false }, { "source", false }, { "icrc", false },
	{ "stale", false },	{ "length", false }, { "tag", false },
	{ "epoch", false },	{ "check", false },  { "acknowledged", false },
	{ "probed", false },	{ "nak", false },    { "nak-stale", false },
	{ "nak-fatal", false },
};

#define OUTCOMES (sizeof(outcomes) / sizeof(outcomes[0]))

const char *lookup_outcome__name(uint32_t outcome)
{
	return outcome < OUTCOMES ? outcomes[outcome].name : NULL;
}

void lookup_options__init(struct lookup_options *options)
{
	uint32_t i;

	*options = (struct lookup_options){
		.outstanding = DART_TEA_OUTSTANDING_MAX,
		.timeout_us = TIMEOUT_US,
		.tries = TRIES,
	};
	for (i = 0; i < LOOKUP_OUTCOMES; i++)
		options->otherwise[i] = LOOKUP_DROP;
}

static int take_number(struct lookup_options *options, const char *text, const char *name,
		       long long least, long long most, uint32_t *result)
{
	long long number = options__number(text, most);

	if (number < least)
		return misuse("--%s %s is not from %lld to %lld", name, text, least, most);
	*result = number;
	options->is_given = true;
	return 0;
}

int lookup_options__take_outstanding(void *member, const char *text)
{
	struct lookup_options *options = member;

	return take_number(options, text, "outstanding", 1, DART_TEA_OUTSTANDING_MAX,
			   &options->outstanding);
}

int lookup_options__take_timeout(void *member, const char *text)
{
	struct lookup_options *options = member;

	return take_number(options, text, "timeout", 1, TIMEOUT_US_MAX, &options->timeout_us);
}

int lookup_options__take_tries(void *member, const char *text)
{
	struct lookup_options *options = member;

	return take_number(options, text, "tries", 0, TRIES_MAX, &options->tries);
}

int lookup_options__take_mtu(void *member, const char *text)
{
	struct lookup_options *options = member;

	return take_number(options, text, "mtu", MTU_MIN, UINT16_MAX, &options->mtu);
}

int lookup_options__take_otherwise(void *member, const char *text)
{
	struct lookup_options *options = member;
	const char *equals = strchr(text, '=');
	const size_t length = equals ? (size_t)(equals - text) : 0;
	bool is_found = false;
	uint32_t port = 0, i;
	int ret;

	ret = take_number(options, equals ? equals + 1 : text, "otherwise", 0,
			  SWITCH_PORTS - 1, &port);
	if (ret)
		return ret;
	for (i = 0; i < OUTCOMES; i++) {
		if (!outcomes[i].has_fate ||
		    (equals ? strlen(outcomes[i].name) != length ||
				      strncmp(outcomes[i].name, text, length) :
			      options->otherwise[i] != LOOKUP_DROP))
			continue;
		options->otherwise[i] = port;
		is_found = true;
	}
	if (equals && !is_found)
		return misuse(
			"--otherwise %s: the outcomes are keyless, invalid, unassigned, limit, long, silent, changing, stashed and absent",
			text);
	return 0;
}

int lookup_wish__complete(struct lookup_wish *wish, const struct switch_ports *ports,
			  struct dart_error *error)
{
	const struct dart_tea_tables *tables = &wish->tables;
	char place[sizeof(" of table ''") + sizeof(tables->name)];
	struct switch_hosts hosts = {
		.noun = "server",
		.place = place,
		.count = tables->server_count,
	};
	uint32_t i;

	snprintf(place, sizeof(place), " of table '%s'", tables->name);
	for (i = 0; i < tables->server_count; i++)
		hosts.addresses[i] = tables->servers[i].ip;
	return switch_ports__assign(ports, &hosts, wish->ports, error);
}
