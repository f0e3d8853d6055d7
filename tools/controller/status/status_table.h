/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints the report of status_report.h for people. */
#ifndef CONTROLLER_STATUS_TABLE_H
#define CONTROLLER_STATUS_TABLE_H

#include <jansson.h>
#include <stdio.h>

#include <libdart/error.h>

/* Returns 0, or -errno with a sentence in @error. */
int status_table__print(const json_t *status, FILE *out, struct dart_error *error);

#endif /* CONTROLLER_STATUS_TABLE_H */
