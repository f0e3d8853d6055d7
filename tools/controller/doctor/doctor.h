/* SPDX-License-Identifier: GPL-2.0-only */
/* dart-controller doctor HOST: finds out why this machine cannot read a host. */
#ifndef CONTROLLER_DOCTOR_H
#define CONTROLLER_DOCTOR_H

#include "tools/controller/settings/options.h"

/* Examines the only target of @options and prints findings. Returns the exit status. */
int doctor__run(const struct options *options);

#endif /* CONTROLLER_DOCTOR_H */
