/* SPDX-License-Identifier: GPL-2.0-only */
/* Checks that READ: "read", "table", "generation", "scrape", "fresh", "coverage". */
#ifndef CONTROLLER_DOCTOR_READS_H
#define CONTROLLER_DOCTOR_READS_H

#include "connection.h"

void check_reads(struct findings *findings, const struct connection *connection,
		 const struct settings *settings);

#endif /* CONTROLLER_DOCTOR_READS_H */
