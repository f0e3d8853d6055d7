/* SPDX-License-Identifier: GPL-2.0-only */
/* Entries of lookup tables that are made of numbers, for tests. */
#ifndef DART_TEST_TABLE_ENTRY_H
#define DART_TEST_TABLE_ENTRY_H

#include <stdint.h>

#include <libdart/tea/tea_geometry.h>

/*
 * Writes the key and the value of entry @number; keys of different numbers differ if they
 * are 8 bytes long, and so do values of different versions.
 */
void table_entry__make(const struct dart_tea_geometry *geometry, uint64_t number, uint64_t version,
		       uint8_t *key, uint8_t *value);

#endif /* DART_TEST_TABLE_ENTRY_H */
