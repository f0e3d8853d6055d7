// SPDX-License-Identifier: GPL-2.0-only
/* Changes the lookup tables of simple_switch by its Thrift interface. */
#include <string.h>

#include "bmv2.h"
#include "tools/dartctl/switch/bmv2/group.h"
#include "tools/dartctl/switch/bmv2/register.h"
#include "tools/dartctl/switch/bmv2/table.h"

struct apply {
	struct thrift *thrift;
	const struct lookup_sizes *sizes;
	const struct lookup_state *now, *wanted;
	struct dart_error *error;
};

static int change_table(const struct apply *apply, enum lookup_verb verb,
			const char *table, const char *action,
			const struct bmv2_entry *entry)
{
	if (verb == LOOKUP_ADD)
		return bmv2_table__add(apply->thrift, table, action, entry,
				       apply->error);
	if (verb == LOOKUP_CHANGE)
		return bmv2_table__change(apply->thrift, table, action, entry,
					  apply->error);
	return bmv2_table__remove(apply->thrift, table, entry->handle,
				  apply->error);
}

static int change_entry(const struct apply *apply,
			const struct lookup_step *step, uint32_t number)
{
	const struct switch_table *table = &lookup_tables[step->object];
	const struct switch_entry *wanted, *now;
	struct bmv2_entry entry;

	wanted = lookup_state__entry(apply->wanted, step->object, number);
	now = lookup_state__entry(apply->now, step->object, number);
	bmv2_entry__set(&entry, table, number, wanted);
	entry.handle = now->handle;
	if (step->object == LOOKUP_STEP_SELF)
		return bmv2_table__set_default(apply->thrift, table->name,
					       table->action, &entry,
					       apply->error);
	return change_table(apply, step->verb, table->name, table->action,
			    &entry);
}

static int change_from(const struct apply *apply,
		       const struct lookup_step *step, uint32_t index)
{
	const struct switch_table *table = &lookup_tables[LOOKUP_FROM];
	const struct lookup_state *now = apply->now;
	const struct lookup_from *from;
	struct bmv2_entry entry;
	uint32_t there;

	if (step->verb == LOOKUP_REMOVE)
		return bmv2_table__remove(apply->thrift, table->name,
					  now->from[index].entry.handle,
					  apply->error);
	from = &apply->wanted->from[index];
	bmv2_entry__set(&entry, table, from->ip, &from->entry);
	there = lookup_state__from(now, from->ip);
	if (there < now->from_count)
		entry.handle = now->from[there].entry.handle;
	return change_table(apply, step->verb, table->name, table->action,
			    &entry);
}

static int change_stash(const struct apply *apply,
			const struct lookup_step *step, uint32_t index)
{
	const struct lookup_stashed *stashed;
	struct bmv2_entry entry = { .value_count = 1 };
	ptrdiff_t there;

	if (step->verb == LOOKUP_REMOVE)
		return bmv2_table__remove(apply->thrift, LOOKUP_STASH,
					  apply->now->stashed[index].handle,
					  apply->error);
	stashed = &apply->wanted->stashed[index];
	there = lookup_state__stashed(apply->now, &stashed->entry);
	if (there >= 0)
		entry.handle = apply->now->stashed[there].handle;
	entry.key.length = apply->sizes->key_length;
	memcpy(entry.key.bytes, stashed->entry.key, entry.key.length);
	entry.values[0].length = apply->sizes->value_length;
	memcpy(entry.values[0].bytes, stashed->entry.value,
	       entry.values[0].length);
	return change_table(apply, step->verb, LOOKUP_STASH, LOOKUP_STASHED,
			    &entry);
}

static int apply_step(const struct apply *apply, const struct lookup_step *step,
		      uint32_t number)
{
	switch (step->object) {
	case LOOKUP_STEP_FROM:
		return change_from(apply, step, number);
	case LOOKUP_STEP_STASH:
		return change_stash(apply, step, number);
	case LOOKUP_STEP_CACHE:
		return bmv2_table__clear(apply->thrift, LOOKUP_CACHE,
					 apply->error);
	case LOOKUP_STEP_SESSION:
		return bmv2_session__set(apply->thrift, 1 + number, number,
					 apply->error);
	case LOOKUP_STEP_GROUP:
		return bmv2_group__make(apply->thrift, 1 + number, number,
					apply->error);
	case LOOKUP_STEP_PSN:
		return bmv2_register__write(apply->thrift, LOOKUP_PSN, number,
					    apply->wanted->first_psns[number],
					    apply->error) ?:
			       bmv2_register__write(apply->thrift,
						    LOOKUP_OUTSTANDING, number,
						    0, apply->error);
	default:
		break;
	}
	if (step->verb == LOOKUP_STOP || step->verb == LOOKUP_START)
		return bmv2_register__write(
			apply->thrift, LOOKUP_STATE, number,
			step->verb == LOOKUP_STOP ? LOOKUP_STOPPED : LOOKUP_UP,
			apply->error);
	return change_entry(apply, step, number);
}

int lookup_bmv2__apply(struct thrift *thrift, const struct lookup_steps *steps,
		       const struct lookup_sizes *sizes,
		       const struct lookup_state *now,
		       const struct lookup_state *wanted,
		       struct dart_error *error)
{
	const struct apply apply = { thrift, sizes, now, wanted, error };
	const struct lookup_step *step;
	uint32_t number;
	int ret = 0;

	for (step = steps->list; !ret && step < steps->list + steps->count;
	     step++)
		for (number = step->first; !ret && number <= step->last;
		     number++)
			ret = apply_step(&apply, step, number);
	return ret;
}
