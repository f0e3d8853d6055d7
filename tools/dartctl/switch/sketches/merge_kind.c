// SPDX-License-Identifier: GPL-2.0-only
/* The kind of P4 programs that add up strips: their needs and their PSNs. */
#include "merge_kind.h"
#include "tools/dartctl/switch/bmv2/group.h"
#include "tools/dartctl/switch/bmv2/register.h"

#define REGISTER_PSN "merge_psn"

static const struct switch_register registers[] = { { REGISTER_PSN, 1 } };

static int check(const struct switch_program *program, const void *wish, struct dart_error *error)
{
	return 0;
}

static int read_rest(struct thrift *thrift, const void *context, void *state,
		     struct dart_error *error)
{
	const struct merge_wish *wish = context;
	struct merge_state *now = state;

	return bmv2_session__read(thrift, 1 + wish->port, &now->sessions[wish->port], error) ?:
	       merge_state__check(wish, now, error);
}

static int want(const void *wish, const void *now, void *wanted)
{
	merge_state__want(wish, wanted);
	return 0;
}

static int compute(const void *now, const void *wanted, const void *last,
		   struct switch_steps *steps)
{
	return merge_state__compute(now, wanted, steps);
}

static int set_psn(const struct switch_change *change, const struct switch_step *step,
		   uint32_t number)
{
	const struct merge_state *wanted = change->wanted;

	return bmv2_register__write(change->thrift, REGISTER_PSN, number,
				    wanted->first_psn.values[0], change->error);
}

const struct switch_kind merge_kind = {
	.needs = {
		.tables = merge_tables,
		.table_count = MERGE_TABLES,
		.registers = registers,
		.register_count = sizeof(registers) / sizeof(registers[0]),
	},
	.objects = merge_objects,
	.object_count = MERGE_OBJECTS,
	.state_size = sizeof(struct merge_state),
	.check = check,
	.read = read_rest,
	.want = want,
	.compute = compute,
	.apply = set_psn,
};

static int load(void *context, const char *file, struct in_addr peer, struct dart_error *error)
{
	struct merge_wish *wish = context;

	return sketchers__load(file, peer, &wish->sketchers, error);
}

void merge_push__init(struct target_push *push, struct merge_wish *wish)
{
	push->kind = &merge_kind;
	push->wish = wish;
	push->collector = &wish->sketchers.target.collector;
	push->port = &wish->port;
	push->load = load;
}
