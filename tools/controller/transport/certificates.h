/* SPDX-License-Identifier: GPL-2.0-only */
/* The certificate that this side shows to agents over TCP, and the authorities of theirs. */
#ifndef CONTROLLER_CERTIFICATES_H
#define CONTROLLER_CERTIFICATES_H

#include <libdart/error.h>
#include <libdart/rpc/tls.h>

#include "tools/controller/settings/settings.h"

/*
 * Loads the files as they are now instead of *@tls, which may be NULL; without files in the
 * settings, the files of tls_places.h, unless this user cannot read their key; connections go on
 * with the certificate that they were made with.  Returns 0, or -errno with a sentence in @error,
 * and *@tls as it was.
 */
int certificates__load(const struct settings_tls *files, struct dart_tls **tls,
		       struct dart_error *error);

#endif /* CONTROLLER_CERTIFICATES_H */
