// SPDX-License-Identifier: GPL-2.0-only
/* Changes simple_switch of BMv2 by its Thrift interface. */
#include <errno.h>
#include <inttypes.h>

#include "bmv2.h"
#include "call.h"

enum { MATCH_EXACT = 0 };

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
		thrift__put_i32(thrift, 2, UINT32_MAX);	/* begins with */
		thrift__put_i32(thrift, 3, UINT32_MAX);	/* ends inverted */
		thrift__put_bool(thrift, 4, true);	/* both reflected */
		thrift__put_bool(thrift, 5, true);
		thrift__put_stop(thrift);
		ret = thrift__end(thrift, thrift__ask(thrift, THRIFT_STOP),
				  "a polynomial", error);
	}
	return ret;
}

/* Most significant byte first; returns how many. */
static uint32_t to_bytes(uint64_t number, uint32_t bits,
			 uint8_t bytes[sizeof(number)])
{
	uint32_t length = (bits + 7) / 8, i;

	for (i = 0; i < length; i++)
		bytes[i] = number >> (8 * (length - 1 - i));
	return length;
}

/* The action and its values: two arguments, of which @id is the first. */
static void put_action(struct thrift *thrift, int16_t id,
		       const struct switch_table *table,
		       const struct switch_entry *entry)
{
	uint8_t bytes[sizeof(uint64_t)];
	uint32_t length, i;

	thrift__put_string(thrift, id, table->action);
	thrift__put_list(thrift, id + 1, THRIFT_STRING, table->value_count);
	for (i = 0; i < table->value_count; i++) {
		length = to_bytes(entry->values[i], table->values[i].bits,
				  bytes);
		thrift__put_element(thrift, bytes, length);
	}
}

static void put_key(struct thrift *thrift, int16_t id,
		    const struct switch_table *table, uint32_t key)
{
	uint8_t bytes[sizeof(uint64_t)];
	uint32_t length = to_bytes(key, table->key_bits, bytes);

	thrift__put_list(thrift, id, THRIFT_STRUCT, 1);
	thrift__put_i32(thrift, 1, MATCH_EXACT);
	thrift__put_struct(thrift, 2);
	thrift__put_bytes(thrift, 1, bytes, length);
	thrift__put_stop(thrift);
	thrift__put_stop(thrift);
}

static int add_entry(struct thrift *thrift, const struct switch_table *table,
		     uint32_t key, const struct switch_entry *entry,
		     struct dart_error *error)
{
	int asked;

	switch_call__begin(thrift, "bm_mt_add_entry", table->name);
	put_key(thrift, 3, table, key);
	put_action(thrift, 4, table, entry);
	thrift__put_struct(thrift, 6);	/* options: none */
	thrift__put_stop(thrift);
	asked = thrift__ask(thrift, THRIFT_I32);
	if (!asked)
		thrift__i32(thrift);
	return thrift__end(thrift, asked, table->action, error);
}

static int change_entry(struct thrift *thrift, const struct switch_table *table,
			int32_t handle, const struct switch_entry *entry,
			struct dart_error *error)
{
	switch_call__begin(thrift, "bm_mt_modify_entry", table->name);
	thrift__put_i32(thrift, 3, handle);
	put_action(thrift, 4, table, entry);
	return thrift__end(thrift, thrift__ask(thrift, THRIFT_STOP),
			   table->action, error);
}

static int remove_entry(struct thrift *thrift, const struct switch_table *table,
			int32_t handle, struct dart_error *error)
{
	switch_call__begin(thrift, "bm_mt_delete_entry", table->name);
	thrift__put_i32(thrift, 3, handle);
	return thrift__end(thrift, thrift__ask(thrift, THRIFT_STOP),
			   table->name, error);
}

static int set_default(struct thrift *thrift, const struct switch_table *table,
		       const struct switch_entry *entry,
		       struct dart_error *error)
{
	switch_call__begin(thrift, "bm_mt_set_default_action", table->name);
	put_action(thrift, 3, table, entry);
	return thrift__end(thrift, thrift__ask(thrift, THRIFT_STOP),
			   table->action, error);
}

static int set_session(struct thrift *thrift, uint32_t port, int32_t to,
		       struct dart_error *error)
{
	thrift__begin(thrift, SWITCH_SIMPLE_SWITCH, "mirroring_session_add");
	thrift__put_i32(thrift, 1, 1 + port);
	thrift__put_struct(thrift, 2);
	thrift__put_i32(thrift, 1, to);
	thrift__put_stop(thrift);
	return thrift__end(thrift, thrift__ask(thrift, THRIFT_STOP),
			   "a mirror session", error);
}

/* No report goes to this collector yet, so the register must keep the value. */
static int set_psn(struct thrift *thrift, uint32_t number, uint32_t psn,
		   struct dart_error *error)
{
	int64_t found = -1;
	int asked, ret;

	switch_call__begin(thrift, "bm_register_write", SWITCH_PSN);
	thrift__put_i32(thrift, 3, number);
	thrift__put_i64(thrift, 4, psn);
	ret = thrift__end(thrift, thrift__ask(thrift, THRIFT_STOP), SWITCH_PSN,
			  error);
	if (ret)
		return ret;

	switch_call__begin(thrift, "bm_register_read", SWITCH_PSN);
	thrift__put_i32(thrift, 3, number);
	asked = thrift__ask(thrift, THRIFT_I64);
	if (!asked)
		found = thrift__i64(thrift);
	ret = thrift__end(thrift, asked, SWITCH_PSN, error);
	if (!ret && found != psn)
		ret = dart_error__set(error, EIO,
				      SWITCH_PSN "[%u] is %" PRId64 ", not %u",
				      number, found, psn);
	return ret;
}

static int apply_step(struct thrift *thrift, const struct switch_step *step,
		      uint32_t number, const struct switch_state *now,
		      const struct switch_state *wanted,
		      struct dart_error *error)
{
	const struct switch_table *table;
	const struct switch_entry *entry, *old;

	if (step->object == SWITCH_STEP_SESSION)
		return set_session(thrift, number, wanted->sessions[number],
				   error);
	if (step->object == SWITCH_STEP_PSN)
		return set_psn(thrift, number, wanted->first_psns[number],
			       error);
	table = &switch_tables[step->object];
	entry = switch_state__entry(wanted, step->object, number);
	old = switch_state__entry(now, step->object, number);
	if (step->object == SWITCH_STEP_REPORTER)
		return set_default(thrift, table, entry, error);
	if (step->verb == SWITCH_ADD)
		return add_entry(thrift, table, number, entry, error);
	if (step->verb == SWITCH_CHANGE)
		return change_entry(thrift, table, old->handle, entry, error);
	return remove_entry(thrift, table, old->handle, error);
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
