// SPDX-License-Identifier: GPL-2.0-only
/* Changes simple_switch of BMv2 by its Thrift interface. */
#include <errno.h>
#include <inttypes.h>

#include "bmv2.h"
#include "tools/dartctl/switch/bmv2/group.h"
#include "tools/dartctl/switch/bmv2/register.h"
#include "tools/dartctl/switch/bmv2/table.h"
#include "tools/dartctl/switch/thrift/call.h"

int switch_bmv2__set_polynomials(struct thrift *thrift,
				 const struct switch_program *program,
				 struct dart_error *error)
{
	uint32_t i;
	int ret = 0;

	for (i = 0; !ret && i < program->hash_count; i++) {
		switch_call__begin(thrift, "bm_set_crc32_custom_parameters",
				   program->hashes[i].name);
		thrift__put_struct(thrift, 3);
		thrift__put_i32(thrift, 1, program->hashes[i].polynomial);
		thrift__put_i32(thrift, 2, UINT32_MAX); /* begins with */
		thrift__put_i32(thrift, 3, UINT32_MAX); /* ends inverted */
		thrift__put_bool(thrift, 4, true); /* both reflected */
		thrift__put_bool(thrift, 5, true);
		thrift__put_stop(thrift);
		ret = thrift__end(thrift, thrift__ask(thrift, THRIFT_STOP),
				  "a polynomial", error);
	}
	return ret;
}

/* No report goes to this collector yet, so the register must keep the value. */
static int set_psn(struct thrift *thrift, uint32_t number, uint32_t psn,
		   struct dart_error *error)
{
	uint64_t found;
	int ret;

	ret = bmv2_register__write(thrift, SWITCH_PSN, number, psn, error) ?:
		      bmv2_register__read(thrift, SWITCH_PSN, number, &found, error);
	if (!ret && found != psn)
		ret = dart_error__set(error, EIO,
				      SWITCH_PSN "[%u] is %" PRIu64 ", not %u",
				      number, found, psn);
	return ret;
}

static int apply_step(struct thrift *thrift, const struct switch_step *step,
		      uint32_t number, const struct switch_state *now,
		      const struct switch_state *wanted,
		      struct dart_error *error)
{
	const struct switch_table *table;
	struct bmv2_entry entry;

	if (step->object == SWITCH_STEP_SESSION)
		return bmv2_session__set(thrift, 1 + number,
					 wanted->sessions[number], error);
	if (step->object == SWITCH_STEP_PSN)
		return set_psn(thrift, number, wanted->first_psns[number],
			       error);
	table = &switch_tables[step->object];
	bmv2_entry__set(&entry, table, number,
			switch_state__entry(wanted, step->object, number));
	entry.handle = switch_state__entry(now, step->object, number)->handle;
	if (step->object == SWITCH_STEP_REPORTER)
		return bmv2_table__set_default(thrift, table->name,
					       table->action, &entry, error);
	if (step->verb == SWITCH_ADD)
		return bmv2_table__add(thrift, table->name, table->action,
				       &entry, error);
	if (step->verb == SWITCH_CHANGE)
		return bmv2_table__change(thrift, table->name, table->action,
					  &entry, error);
	return bmv2_table__remove(thrift, table->name, entry.handle, error);
}

int switch_bmv2__apply(struct thrift *thrift, const struct switch_steps *steps,
		       const struct switch_state *now,
		       const struct switch_state *wanted,
		       struct dart_error *error)
{
	const struct switch_step *step;
	uint32_t number;
	int ret = 0;

	for (step = steps->list; !ret && step < steps->list + steps->count;
	     step++)
		for (number = step->first; !ret && number <= step->last;
		     number++)
			ret = apply_step(thrift, step, number, now, wanted,
					 error);
	return ret;
}
