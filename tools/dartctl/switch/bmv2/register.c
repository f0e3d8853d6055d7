// SPDX-License-Identifier: GPL-2.0-only
/* Registers and counters of simple_switch, see register.h. */
#include "register.h"
#include "tools/dartctl/switch/thrift/call.h"

int bmv2_register__read(struct thrift *thrift, const char *name, uint32_t index,
			uint64_t *value, struct dart_error *error)
{
	int asked;

	*value = 0;
	switch_call__begin(thrift, "bm_register_read", name);
	thrift__put_i32(thrift, 3, index);
	asked = thrift__ask(thrift, THRIFT_I64);
	if (!asked)
		*value = thrift__i64(thrift);
	return thrift__end(thrift, asked, name, error);
}

int bmv2_register__write(struct thrift *thrift, const char *name, uint32_t index, uint64_t value,
			 struct dart_error *error)
{
	switch_call__begin(thrift, "bm_register_write", name);
	thrift__put_i32(thrift, 3, index);
	thrift__put_i64(thrift, 4, value);
	return thrift__end(thrift, thrift__ask(thrift, THRIFT_STOP), name, error);
}

int bmv2_register__clear(struct thrift *thrift, const char *name, struct dart_error *error)
{
	switch_call__begin(thrift, "bm_register_reset", name);
	return thrift__end(thrift, thrift__ask(thrift, THRIFT_STOP), name, error);
}

/* The result is a struct of bytes and packets. */
static int end_counter(struct thrift *thrift, const char *name,
		       uint64_t *packets, struct dart_error *error)
{
	int asked = thrift__ask(thrift, THRIFT_STRUCT);
	enum thrift_type type;
	int16_t id;

	*packets = 0;
	while (!asked && (type = thrift__next(thrift, &id)) != THRIFT_STOP) {
		if (id == 2 && type == THRIFT_I64)
			*packets = thrift__i64(thrift);
		else
			thrift__skip(thrift, type);
	}
	return thrift__end(thrift, asked, name, error);
}

int bmv2_counter__packets(struct thrift *thrift, const char *name, uint32_t index,
			  uint64_t *packets, struct dart_error *error)
{
	switch_call__begin(thrift, "bm_counter_read", name);
	thrift__put_i32(thrift, 3, index);
	return end_counter(thrift, name, packets, error);
}

int bmv2_counter__packets_of(struct thrift *thrift, const char *table, int32_t handle,
			     uint64_t *packets, struct dart_error *error)
{
	switch_call__begin(thrift, "bm_mt_read_counter", table);
	thrift__put_i32(thrift, 3, handle);
	return end_counter(thrift, table, packets, error);
}
