/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Registers and counters of simple_switch.  All functions return 0, or -errno with a sentence
 * in @error.
 */
#ifndef BMV2_REGISTER_H
#define BMV2_REGISTER_H

#include <libdart/error.h>

#include "tools/dartctl/switch/thrift/thrift.h"

int bmv2_register__read(struct thrift *thrift, const char *name, uint32_t index, uint64_t *value,
			struct dart_error *error);
int bmv2_register__write(struct thrift *thrift, const char *name, uint32_t index, uint64_t value,
			 struct dart_error *error);
/* Writes 0 to all elements. */
int bmv2_register__clear(struct thrift *thrift, const char *name, struct dart_error *error);

int bmv2_counter__packets(struct thrift *thrift, const char *name, uint32_t index,
			  uint64_t *packets, struct dart_error *error);
/* Reads the direct counter of an entry of @table. */
int bmv2_counter__packets_of(struct thrift *thrift, const char *table, int32_t handle,
			     uint64_t *packets, struct dart_error *error);

#endif /* BMV2_REGISTER_H */
