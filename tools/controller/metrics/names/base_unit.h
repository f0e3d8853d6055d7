/* SPDX-License-Identifier: GPL-2.0-only */
/* Converts the units of fields to base units, which metrics carry in their names. */
#ifndef CONTROLLER_BASE_UNIT_H
#define CONTROLLER_BASE_UNIT_H

#include <stdbool.h>

#include <dart/control.h>

struct base_unit {
	/* such as "seconds", "bytes", "packets"; "": no base unit */
	char name[DART_CONTROL_NAME_MAX];
	double scale; /* value in the base unit = scale * value of the field */
	bool is_count; /* the unit is a counted object, which the name may omit */
};

/* Converts @unit in the form of struct dart_field; "1/N UNIT" is the N-th part of UNIT. */
void base_unit__of(const char *unit, struct base_unit *base);

#endif /* CONTROLLER_BASE_UNIT_H */
