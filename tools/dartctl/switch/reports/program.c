// SPDX-License-Identifier: GPL-2.0-only
/* What the P4 program that reports to stores must have. */
#include <errno.h>

#include <dart/store.h>

#include "program.h"
#include "state.h"

/* The field that each CRC of the program fills, and its polynomial. */
static const struct switch_polynomial polynomials[] = {
	{ "slot0", DART_STORE_SLOT_0, false },
	{ "slot1", DART_STORE_SLOT_1, false },
	{ "slot2", DART_STORE_SLOT_2, false },
	{ "slot3", DART_STORE_SLOT_3, false },
	{ "slot4", DART_STORE_SLOT_4, false },
	{ "slot5", DART_STORE_SLOT_5, false },
	{ "slot6", DART_STORE_SLOT_6, false },
	{ "slot7", DART_STORE_SLOT_7, false },
	{ "checksum0", DART_STORE_CHECKSUM_0, false },
	{ "checksum1", DART_STORE_CHECKSUM_1, false },
	{ "share", DART_STORE_SHARE, true },
};

#define POLYNOMIALS (sizeof(polynomials) / sizeof(polynomials[0]))

static const struct switch_register registers[] = {
	{ SWITCH_PSN, SWITCH_COLLECTORS_MAX },
};

const struct switch_kind switch_report_program = {
	.tables = switch_tables,
	.table_count = SWITCH_TABLES,
	.registers = registers,
	.register_count = sizeof(registers) / sizeof(registers[0]),
	.polynomials = polynomials,
	.polynomial_count = POLYNOMIALS,
};

/* Does the program compute all hashes that reports to these stores need? */
static int check_hashes(const struct switch_program *program,
			const struct dart_store_geometry *geometry,
			struct dart_error *error)
{
	size_t i;

	for (i = 0; i < POLYNOMIALS; i++) {
		if (i < DART_STORE_REDUNDANCY_MAX && i >= geometry->redundancy)
			continue;
		if (polynomials[i].polynomial == DART_STORE_CHECKSUM_1 &&
		    geometry->checksum_bits != 64)
			continue;
		if (!switch_program__has_hash(program,
					      polynomials[i].polynomial))
			return dart_error__set(
				error, EINVAL,
				"the program has no hash that fills %s",
				polynomials[i].field);
	}
	return 0;
}

int switch_report_program__check(const struct switch_program *program,
				 const struct switch_wish *wish,
				 struct dart_error *error)
{
	const struct dart_collectors *collectors = &wish->collectors;
	uint32_t i;
	int ret = 0;

	for (i = 0; !ret && i < collectors->count; i++)
		ret = check_hashes(program, &collectors->list[i].geometry,
				   error);
	return ret;
}
