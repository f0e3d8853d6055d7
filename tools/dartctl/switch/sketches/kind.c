// SPDX-License-Identifier: GPL-2.0-only
/* The kind of P4 programs that count for a sketch: their needs, their clock and PSNs. */
#include <dart/store.h>

#include "kind.h"
#include "tools/dartctl/switch/bmv2/clock.h"
#include "tools/dartctl/switch/bmv2/group.h"
#include "tools/dartctl/switch/bmv2/register.h"

#define REGISTER_PSN "sketch_psn"
#define REGISTER_PERIOD "sketch_period"

static const struct switch_register registers[] = { { REGISTER_PSN, 1 }, { REGISTER_PERIOD, 1 } };

static const struct switch_polynomial polynomials[] = {
	{ "slot0", DART_STORE_SLOT_0, true },
	{ "slot1", DART_STORE_SLOT_1, true },
	{ "slot2", DART_STORE_SLOT_2, true },
	{ "slot3", DART_STORE_SLOT_3, true },
};

static int check(const struct switch_program *program, const void *wish, struct dart_error *error)
{
	return 0;
}

static int read_rest(struct thrift *thrift, const void *context, void *state,
		     struct dart_error *error)
{
	const struct sketch_wish *wish = context;
	struct sketch_state *now = state;

	return bmv2_session__read(thrift, 1 + wish->port, &now->sessions[wish->port], error) ?:
		       bmv2_clock__read(thrift, &now->time_us, &now->up_us, error)	     ?:
		       sketch_state__check(wish, now, error);
}

static int want(const void *wish, const void *now, void *wanted)
{
	sketch_state__want(wish, now, wanted);
	return 0;
}

static int compute(const void *now, const void *wanted, const void *last,
		   struct switch_steps *steps)
{
	return sketch_state__compute(now, wanted, steps);
}

static int apply(const struct switch_change *change, const struct switch_step *step,
		 uint32_t number)
{
	const struct sketch_state *wanted = change->wanted;

	if (step->object == SKETCH_PERIOD)
		return bmv2_register__write(change->thrift, REGISTER_PERIOD, number,
					    wanted->period.values[0], change->error);
	return bmv2_register__write(change->thrift, REGISTER_PSN, number,
				    wanted->first_psn.values[0], change->error);
}

const struct switch_kind sketch_kind = {
	.needs = {
		.tables = sketch_tables,
		.table_count = SKETCH_TABLES,
		.registers = registers,
		.register_count = sizeof(registers) / sizeof(registers[0]),
		.polynomials = polynomials,
		.polynomial_count = sizeof(polynomials) / sizeof(polynomials[0]),
	},
	.objects = sketch_objects,
	.object_count = SKETCH_OBJECTS,
	.state_size = sizeof(struct sketch_state),
	.check = check,
	.read = read_rest,
	.want = want,
	.compute = compute,
	.apply = apply,
};

static int load(void *context, const char *file, struct in_addr peer, struct dart_error *error)
{
	struct sketch_wish *wish = context;

	return dart_sketch_target__load(file, peer, &wish->target, error);
}

void sketch_push__init(struct target_push *push, struct sketch_wish *wish)
{
	push->kind = &sketch_kind;
	push->wish = wish;
	push->collector = &wish->target.collector;
	push->port = &wish->port;
	push->load = load;
}
