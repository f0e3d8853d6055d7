/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints dartd's answer about the coverage of the host to stdout. */
#ifndef DARTCTL_STATUS_H
#define DARTCTL_STATUS_H

#include <jansson.h>

/*
 * Prints a line for each kind of objects, and below it one for each reason why some are
 * not served:
 *
 *	filesystems  3 of 4 served
 *	  1 watches, such as /srv: cannot watch it; do: sysctl ...
 *
 * @coverage: as in <dart/registration.h>.
 */
void coverage__print(const json_t *coverage);

#endif /* DARTCTL_STATUS_H */
