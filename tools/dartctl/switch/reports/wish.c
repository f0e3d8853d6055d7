// SPDX-License-Identifier: GPL-2.0-only
/* The wish for a switch that reports, from the command line and files of collectors. */
#include <arpa/inet.h>
#include <errno.h>

#include <libdart/settings/quantity.h>

#include "tools/dartctl/cli/command.h"
#include "wish.h"

#define AGE_MIN_NS	1000000ULL
#define AGE_MAX_NS	3600000000000ULL

#define VALUE	20	/* bytes: five switches of 32 bits */

int report_options__take_reporter(void *address, const char *text)
{
	struct in_addr *reporter = address;

	if (inet_pton(AF_INET, text, reporter) != 1 || reporter->s_addr == INADDR_ANY)
		return misuse("'%s' is not an IPv4 address of a reporter", text);
	return 0;
}

int report_options__take_postcards(void *port, const char *text)
{
	const long long number = options__number(text, UINT16_MAX);

	if (number < 1)
		return misuse("'%s' is not a UDP port", text);
	*(uint16_t *)port = number;
	return 0;
}

int report_options__take_rows(void *rows, const char *text)
{
	long long log2;

	if (options__take_power(&log2, text) || log2 > REPORT_ROWS_LOG2)
		return misuse("'%s' is not a number of rows (expected a power of two, up to 2^%d)",
			      text, REPORT_ROWS_LOG2);
	*(uint32_t *)rows = 1U << log2;
	return 0;
}

int report_options__take_age(void *age_us, const char *text)
{
	uint64_t ns;

	if (dart_quantity__parse(DART_QUANTITY_TIME, text, AGE_MIN_NS, AGE_MAX_NS, &ns))
		return misuse("'%s' is not an age (expected a time from 1ms to 60min)", text);
	*(uint64_t *)age_us = ns / 1000;
	return 0;
}

int report_wish__complete(struct report_wish *wish, const struct report_options *options,
			  struct dart_error *error)
{
	const struct dart_collectors *collectors = &wish->collectors;
	uint32_t length = collectors->list[0].geometry.value_length, i;
	struct switch_hosts hosts = {
		.noun = "collector",
		.place = "",
		.count = collectors->count,
	};

	if (collectors->count > SWITCH_HOSTS_MAX)
		return dart_error__set(error, EINVAL,
				       "there are %u collectors, but a switch has room for %d",
				       collectors->count, SWITCH_HOSTS_MAX);
	/* The program writes nothing but paths and postcards. */
	if (length != VALUE)
		return dart_error__set(
			error, EINVAL,
			"the store has values of %u bytes, but paths and postcards have %d (dartctl store create --value %d)",
			length, VALUE, VALUE);
	wish->all_copies = options->all_copies;
	wish->translation = options->translation;
	if (!wish->translation.rows)
		wish->translation.rows = 1U << REPORT_ROWS_LOG2;
	if (!wish->translation.age_us)
		wish->translation.age_us = REPORT_AGE_US;
	/* One port leads to all stores of a host. */
	for (i = 0; i < collectors->count; i++)
		hosts.addresses[i] = collectors->list[i].ip;
	return switch_ports__assign(&options->ports, &hosts, wish->ports, error);
}

int report_wish__load(struct report_wish *wish, const char *const *paths, size_t count,
		      const struct report_options *options, struct dart_error *error)
{
	int ret;

	ret = dart_collectors__load(paths, count, options->reporter, &wish->collectors, error);
	if (ret)
		return ret;
	ret = report_wish__complete(wish, options, error);
	if (ret)
		dart_collectors__free(&wish->collectors);
	return ret;
}
