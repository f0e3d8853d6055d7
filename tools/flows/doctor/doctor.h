/* SPDX-License-Identifier: GPL-2.0-only */
/* dart-flows doctor: finds the faults that keep the daemon from handling packets. */
#ifndef FLOWS_DOCTOR_H
#define FLOWS_DOCTOR_H

#include <stdbool.h>

/*
 * Examines the policy at @policy, and this host for it; @control is the path of the daemon's
 * control socket.  Prints findings, and returns an exit status.
 */
int doctor__run(const char *policy, const char *control, bool as_json);

#endif /* FLOWS_DOCTOR_H */
