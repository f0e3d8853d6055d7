/* SPDX-License-Identifier: GPL-2.0-only */
/* Check "certificate": the certificate of this machine and its expiry. */
#ifndef DOCTOR_CERTIFICATE_H
#define DOCTOR_CERTIFICATE_H

#include "findings.h"

/*
 * Warns 30 days before the certificate in the file at @path expires, and fails afterwards.  Adds no
 * finding if the file does not exist.
 */
void check_certificate(struct findings *findings, const char *path);

#endif /* DOCTOR_CERTIFICATE_H */
