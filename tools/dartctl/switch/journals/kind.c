// SPDX-License-Identifier: GPL-2.0-only
/* The kind of P4 programs that append to a journal: their needs, their clock and PSNs. */
#include <dart/store.h>

#include "kind.h"
#include "tools/dartctl/switch/bmv2/clock.h"
#include "tools/dartctl/switch/bmv2/group.h"
#include "tools/dartctl/switch/bmv2/register.h"

#define REGISTER_PSN "journal_psn"

static const struct switch_register registers[] = { { REGISTER_PSN, 1 } };

static const struct switch_polynomial polynomials[] = { { "share", DART_STORE_SHARE, true } };

static int check(const struct switch_program *program, const void *wish, struct dart_error *error)
{
	return 0;
}

static int read_rest(struct thrift *thrift, const void *context, void *state,
		     struct dart_error *error)
{
	const struct journal_wish *wish = context;
	struct journal_state *now = state;

	return bmv2_session__read(thrift, 1 + wish->port, &now->sessions[wish->port], error) ?:
	       bmv2_clock__read(thrift, &now->time_us, &now->up_us, error) ?:
	       journal_state__check(wish, now, error);
}

static int want(const void *wish, const void *now, void *wanted)
{
	journal_state__want(wish, now, wanted);
	return 0;
}

static int compute(const void *now, const void *wanted, const void *last,
		   struct switch_steps *steps)
{
	return journal_state__compute(now, wanted, steps);
}

static int set_psn(const struct switch_change *change, const struct switch_step *step,
		   uint32_t number)
{
	const struct journal_state *wanted = change->wanted;

	return bmv2_register__write(change->thrift, REGISTER_PSN, number,
				    wanted->first_psn.values[0], change->error);
}

const struct switch_kind journal_kind = {
	.needs = {
		.tables = journal_tables,
		.table_count = JOURNAL_TABLES,
		.registers = registers,
		.register_count = sizeof(registers) / sizeof(registers[0]),
		.polynomials = polynomials,
		.polynomial_count = sizeof(polynomials) / sizeof(polynomials[0]),
	},
	.objects = journal_objects,
	.object_count = JOURNAL_OBJECTS,
	.state_size = sizeof(struct journal_state),
	.check = check,
	.read = read_rest,
	.want = want,
	.compute = compute,
	.apply = set_psn,
};

static int load(void *context, const char *file, struct in_addr peer, struct dart_error *error)
{
	struct journal_wish *wish = context;

	return dart_journal_target__load(file, peer, &wish->target, error);
}

void journal_push__init(struct target_push *push, struct journal_wish *wish)
{
	push->kind = &journal_kind;
	push->wish = wish;
	push->collector = &wish->target.collector;
	push->port = &wish->port;
	push->load = load;
}
