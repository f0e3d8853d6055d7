/* SPDX-License-Identifier: GPL-2.0-only */
/* Lists of revoked certificates (CRL), which an authority signs. */
#ifndef TLS_REVOCATION_H
#define TLS_REVOCATION_H

#include "authority.h"

#define TLS_REVOKED_FILE "revoked.pem"

/* Is the list in PEM @text older than the list @other?  Each list has a greater number. */
bool tls_revocation__is_older(const gnutls_datum_t *text, const gnutls_datum_t *other);

/*
 * Revokes all certificates with @name, and writes the list of revoked certificates.  Returns the
 * number of certificates with @name that the former list lacked, or -errno with a sentence.
 */
int tls_revocation__add(const struct tls_authority *authority, const char *name,
			struct dart_error *error);

#endif /* TLS_REVOCATION_H */
