/* SPDX-License-Identifier: GPL-2.0-only */
/* Units of fields as base units, as the names of metrics have them. */
#ifndef CONTROLLER_BASE_UNIT_H
#define CONTROLLER_BASE_UNIT_H

#include <stdbool.h>

#include <dart/control.h>

struct base_unit {
	char name[DART_CONTROL_NAME_MAX]; /* "seconds", "bytes", "packets"; "": none */
	double scale; /* value in the base unit = scale * value of the field */
	bool is_count; /* of things, so that a name need not have it */
};

/* @unit as in struct dart_field; "1/N UNIT" is a part of one. */
void base_unit__of(const char *unit, struct base_unit *base);

#endif /* CONTROLLER_BASE_UNIT_H */
