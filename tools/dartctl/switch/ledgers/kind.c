// SPDX-License-Identifier: GPL-2.0-only
/* The kind of P4 programs that add to a ledger: their needs, and their queue pair. */
#include <dart/store.h>

#include "kind.h"
#include "tools/dartctl/switch/bmv2/group.h"
#include "tools/dartctl/switch/bmv2/register.h"

/* See p4/v1model/rdma/window.p4. */
#define REGISTER_STATE "ledger_state"
#define REGISTER_SHIFT "ledger_shift"
#define REGISTER_FRESH "ledger_fresh"
#define REGISTER_END "ledger_end"

/* See p4/shared/rdma/verdict.p4. */
enum { STOPPED = 2, LOSING = 4 };

static const struct switch_register registers[] = {
	{ REGISTER_STATE, 1 },
	{ REGISTER_SHIFT, 1 },
	{ REGISTER_FRESH, 1 },
	{ REGISTER_END, 1 },
	{ "ledger_lost", DART_LEDGER_ROWS_MAX + 1 },
};

static const struct switch_polynomial polynomials[] = {
	{ "slot0", DART_STORE_SLOT_0, true },
	{ "slot1", DART_STORE_SLOT_1, true },
	{ "slot2", DART_STORE_SLOT_2, true },
	{ "slot3", DART_STORE_SLOT_3, true },
	{ "slot4", DART_STORE_SLOT_4, true },
	{ "slot5", DART_STORE_SLOT_5, true },
	{ "slot6", DART_STORE_SLOT_6, true },
	{ "slot7", DART_STORE_SLOT_7, true },
	{ "checksum0", DART_STORE_CHECKSUM_0, true },
};

static int check(const struct switch_program *program, const void *wish, struct dart_error *error)
{
	return 0;
}

static int read_rest(struct thrift *thrift, const void *context, void *state,
		     struct dart_error *error)
{
	const struct ledger_wish *wish = context;
	struct ledger_state *now = state;
	uint64_t end, peer;
	int ret;

	ret = bmv2_session__read(thrift, 1 + wish->port, &now->sessions[wish->port], error) ?:
	      bmv2_register__read(thrift, REGISTER_END, 0, &end, error) ?:
	      bmv2_register__read(thrift, REGISTER_STATE, 0, &peer, error);
	if (ret)
		return ret;
	/* Each run begins with requests that precede all others. */
	now->has_begun = end != 0;
	now->is_stopped = peer == STOPPED;
	return ledger_state__check(wish, now, error);
}

static int want(const void *wish, const void *now, void *wanted)
{
	ledger_state__want(wish, wanted);
	return 0;
}

static int compute(const void *now, const void *wanted, const void *last,
		   struct switch_steps *steps)
{
	return ledger_state__compute(now, wanted, steps);
}

/*
 * The switch takes note of the requests without an answer, and sends its next ones to this queue
 * pair.  The ring of a switch that was just started has amounts of 0 for row 0.
 */
static int start(const struct switch_change *change)
{
	const struct ledger_state *now = change->now, *wanted = change->wanted;
	uint64_t fresh;

	return (now->has_begun ? 0 :
				 bmv2_register__write(change->thrift, REGISTER_END, 0,
						      DART_LEDGER_PRECEDING, change->error)) ?:
	       bmv2_register__read(change->thrift, REGISTER_FRESH, 0, &fresh, change->error) ?:
	       bmv2_register__write(change->thrift, REGISTER_SHIFT, 0,
				    (wanted->first_psn - fresh) & DART_ROCE_PSN_MASK,
				    change->error) ?:
	       bmv2_register__write(change->thrift, REGISTER_STATE, 0, LOSING, change->error);
}

static int apply(const struct switch_change *change, const struct switch_step *step,
		 uint32_t number)
{
	if (step->verb == SWITCH_START)
		return start(change);
	return bmv2_register__write(change->thrift, REGISTER_STATE, 0, STOPPED, change->error);
}

const struct switch_kind ledger_kind = {
	.needs = {
		.tables = ledger_tables,
		.table_count = LEDGER_TABLES,
		.registers = registers,
		.register_count = sizeof(registers) / sizeof(registers[0]),
		.polynomials = polynomials,
		.polynomial_count = sizeof(polynomials) / sizeof(polynomials[0]),
	},
	.objects = ledger_objects,
	.object_count = LEDGER_OBJECTS,
	.state_size = sizeof(struct ledger_state),
	.check = check,
	.read = read_rest,
	.want = want,
	.compute = compute,
	.apply = apply,
};

static int load(void *context, const char *file, struct in_addr peer, struct dart_error *error)
{
	struct ledger_wish *wish = context;

	return dart_ledger_target__load(file, peer, &wish->target, error);
}

void ledger_push__init(struct target_push *push, struct ledger_wish *wish)
{
	push->kind = &ledger_kind;
	push->wish = wish;
	push->collector = &wish->target.collector;
	push->port = &wish->port;
	push->load = load;
}
