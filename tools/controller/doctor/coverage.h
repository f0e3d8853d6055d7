/* SPDX-License-Identifier: GPL-2.0-only */
/* Check "coverage": the agent serves all objects of its host. */
#ifndef CONTROLLER_DOCTOR_COVERAGE_H
#define CONTROLLER_DOCTOR_COVERAGE_H

#include "tools/controller/decode/sample.h"
#include "tools/doctor/findings.h"

/*
 * Judges the coverage figures in the entry "dartd" of @sample, if the agent reports them.  The
 * suggested command names @host.
 */
void check_coverage(struct findings *findings, const char *host, const struct sample *sample);

#endif /* CONTROLLER_DOCTOR_COVERAGE_H */
