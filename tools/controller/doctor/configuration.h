/* SPDX-License-Identifier: GPL-2.0-only */
/* Checks of the configuration beyond one host: members of the shard, I/O threads, and receivers. */
#ifndef CONTROLLER_DOCTOR_CONFIGURATION_H
#define CONTROLLER_DOCTOR_CONFIGURATION_H

#include "tools/controller/settings/settings.h"
#include "tools/doctor/findings.h"

/*
 * Check "members": does the list of members count, and does it name this controller?  Nothing is
 * found without a shard.
 */
void check_members(struct findings *findings, const struct shard *shard);
/*
 * Check "threads": has this machine a CPU for each I/O thread, and has each thread the credits for
 * the longest answer?  Nothing is found about one thread.
 */
void check_threads(struct findings *findings, const struct settings *settings);
/* Check "receiver" of each output that pushes: does it accept a connection?  It is sent nothing. */
void check_receivers(struct findings *findings, const struct output_settings *outputs);

#endif /* CONTROLLER_DOCTOR_CONFIGURATION_H */
