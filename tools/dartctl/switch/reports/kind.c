// SPDX-License-Identifier: GPL-2.0-only
/* The kinds of P4 programs that report to stores: their needs, sessions and registers. */
#include <errno.h>
#include <inttypes.h>

#include "kind.h"
#include "steps.h"
#include "tools/dartctl/switch/bmv2/group.h"
#include "tools/dartctl/switch/bmv2/register.h"

/* The field that each CRC of the program fills, and its polynomial. */
static const struct switch_polynomial polynomials[] = {
	{ "slot0", DART_STORE_SLOT_0, false },
	{ "slot1", DART_STORE_SLOT_1, false },
	{ "slot2", DART_STORE_SLOT_2, false },
	{ "slot3", DART_STORE_SLOT_3, false },
	{ "slot4", DART_STORE_SLOT_4, false },
	{ "slot5", DART_STORE_SLOT_5, false },
	{ "slot6", DART_STORE_SLOT_6, false },
	{ "slot7", DART_STORE_SLOT_7, false },
	{ "checksum0", DART_STORE_CHECKSUM_0, false },
	{ "checksum1", DART_STORE_CHECKSUM_1, false },
	{ "share", DART_STORE_SHARE, true },
};

#define POLYNOMIALS (sizeof(polynomials) / sizeof(polynomials[0]))

/* Without the last two, a program that gathers nothing. */
static const struct switch_register registers[] = {
	{ REPORT_REGISTER_PSN, SWITCH_HOSTS_MAX },
	{ REPORT_REGISTER_STATE, SWITCH_HOSTS_MAX },
	{ REPORT_REGISTER_EXPECTED, SWITCH_HOSTS_MAX },
	{ REPORT_REGISTER_LOST, SWITCH_HOSTS_MAX },
	{ REPORT_REGISTER_STOPS, SWITCH_HOSTS_MAX },
	{ REPORT_REGISTER_ROWS, 1 << REPORT_ROWS_LOG2 },
	{ REPORT_REGISTER_INCOMPLETE, 1 },
};

#define REGISTERS (sizeof(registers) / sizeof(registers[0]))

/* Does the program compute all hashes that reports to @collector ever need? */
static int check_hashes(const struct switch_program *program,
			const struct dart_collector *collector, struct dart_error *error)
{
	const uint32_t redundancy = dart_collector__redundancy_max(collector);
	size_t i;

	for (i = 0; i < POLYNOMIALS; i++) {
		if (i < DART_STORE_REDUNDANCY_MAX && i >= redundancy)
			continue;
		if (polynomials[i].polynomial == DART_STORE_CHECKSUM_1 &&
		    collector->geometry.checksum_bits != 64)
			continue;
		if (!switch_program__has_hash(program, polynomials[i].polynomial))
			return dart_error__set(error, EINVAL,
					       "the program has no hash that fills %s",
					       polynomials[i].field);
	}
	return 0;
}

bool report_program__gathers(const struct switch_program *program)
{
	return switch_program__table(program, report_tables[REPORT_TRANSLATION_TABLE].name);
}

static int check(const struct switch_program *program, const void *context,
		 struct dart_error *error)
{
	const struct report_wish *wish = context;
	uint32_t i;
	int ret = 0;

	if (!wish->translation.port && report_program__gathers(program))
		return dart_error__set(error, EINVAL,
				       "the program gathers postcards (push with --postcards PORT)");
	for (i = 0; !ret && i < wish->collectors.count; i++)
		ret = check_hashes(program, &wish->collectors.list[i], error);
	return ret;
}

/* Only sessions to the ports of @wish matter. */
static int read_sessions(struct thrift *thrift, const void *context, void *state,
			 struct dart_error *error)
{
	const struct report_wish *wish = context;
	struct report_state *now = state;
	uint32_t i;
	int ret = 0;

	for (i = 0; !ret && i < wish->collectors.count; i++)
		ret = bmv2_session__read(thrift, 1 + wish->ports[i],
					 &now->sessions[wish->ports[i]], error);
	return ret;
}

/* Rows beyond the wanted ones would keep their paths for ever. */
static int read_translator(struct thrift *thrift, const void *context, void *state,
			   struct dart_error *error)
{
	const struct report_wish *wish = context;
	const struct report_state *now = state;

	if (now->translation.there &&
	    now->translation.values[TRANSLATION_MASK] != wish->translation.rows - 1)
		return dart_error__set(error, EINVAL,
				       "it gathers in %" PRIu64 " rows (restart the switch first)",
				       now->translation.values[TRANSLATION_MASK] + 1);
	return read_sessions(thrift, context, state, error);
}

static int want(const void *wish, const void *now, void *wanted)
{
	report_state__want(wish, now, wanted);
	return 0;
}

static int compute(const void *now, const void *wanted, const void *last,
		   struct switch_steps *steps)
{
	return report_steps__compute(now, wanted, steps);
}

/*
 * The reports to the former queue pair that nothing has answered are lost.  The switch finds out by
 * a probe where the next one stands.
 */
static int begin_connection(const struct switch_change *change, uint32_t number)
{
	const struct report_state *now = change->now;
	struct thrift *thrift = change->thrift;
	struct dart_error *error = change->error;
	uint64_t state, next, expected, lost, stops = 0;
	int ret;

	ret = bmv2_register__read(thrift, REPORT_REGISTER_STATE, number, &state, error) ?:
	      bmv2_register__read(thrift, REPORT_REGISTER_PSN, number, &next, error) ?:
	      bmv2_register__read(thrift, REPORT_REGISTER_EXPECTED, number, &expected, error) ?:
	      bmv2_register__read(thrift, REPORT_REGISTER_LOST, number, &lost, error) ?:
	      bmv2_register__read(thrift, REPORT_REGISTER_STOPS, number, &stops, error);
	if (ret)
		return ret;
	if (!now->connections[number].there)
		lost = stops = 0;
	else
		lost += report_state__unanswered(state, next, expected);
	return bmv2_register__write(thrift, REPORT_REGISTER_LOST, number, lost & UINT32_MAX, error) ?:
	       bmv2_register__write(thrift, REPORT_REGISTER_STOPS, number, stops, error) ?:
	       bmv2_register__write(thrift, REPORT_REGISTER_STATE, number, 0, error);
}

/* No report goes to this collector yet, so the register must keep the value. */
static int set_psn(const struct switch_change *change, const struct switch_step *step,
		   uint32_t number)
{
	const struct report_state *wanted = change->wanted;
	const uint32_t psn = wanted->first_psns[number].values[0];
	uint64_t found;
	int ret = 0;

	if (wanted->connections[number].there)
		ret = begin_connection(change, number);
	if (ret)
		return ret;
	ret = bmv2_register__write(change->thrift, REPORT_REGISTER_PSN, number, psn,
				   change->error) ?:
	      bmv2_register__read(change->thrift, REPORT_REGISTER_PSN, number, &found,
				  change->error);
	if (!ret && found != psn)
		ret = dart_error__set(change->error, EIO, REPORT_REGISTER_PSN "[%u] is %" PRIu64 ", not %u",
				      number, found, psn);
	return ret;
}

const struct switch_kind report_kind = {
	.needs = {
		.tables = report_tables,
		.table_count = REPORT_TABLES,
		.registers = registers,
		.register_count = REGISTERS - 2,
		.polynomials = polynomials,
		.polynomial_count = POLYNOMIALS,
	},
	.objects = report_objects,
	.object_count = REPORT_OBJECTS,
	.state_size = sizeof(struct report_state),
	.check = check,
	.read = read_sessions,
	.want = want,
	.compute = compute,
	.apply = set_psn,
};

const struct switch_kind translator_kind = {
	.needs = {
		.tables = report_tables,
		.table_count = TRANSLATOR_TABLES,
		.registers = registers,
		.register_count = REGISTERS,
		.polynomials = polynomials,
		.polynomial_count = POLYNOMIALS,
	},
	.objects = report_objects,
	.object_count = TRANSLATOR_OBJECTS,
	.state_size = sizeof(struct report_state),
	.check = check,
	.read = read_translator,
	.want = want,
	.compute = compute,
	.apply = set_psn,
};
