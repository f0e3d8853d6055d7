/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files of one machine as one PEM text: the certificate, its key, the authority and the list of
 * revoked certificates, or only that list.  An administrator takes the text from the machine of the
 * authority to another one and installs it as root.
 */
#ifndef TLS_BUNDLE_H
#define TLS_BUNDLE_H

#include <stdbool.h>

#include "authority.h"

struct tls_bundle {
	gnutls_datum_t certificate, key, authorities, revoked;	/* PEM; NULL: none */
	enum tls_kind kind;
};

/* Makes a bundle of @pair, which the authority of @directory has made; the caller keeps @pair. */
int tls_bundle__make(struct tls_bundle *bundle, const char *directory, enum tls_kind kind,
		     const struct tls_pair *pair, struct dart_error *error);
/*
 * Parses @text, which may be hostile: the key must fit the certificate, and the authority must have
 * signed the certificate and the list.
 */
int tls_bundle__parse(struct tls_bundle *bundle, const gnutls_datum_t *text,
		      const char *directory, struct dart_error *error);
void tls_bundle__clear(struct tls_bundle *bundle);

/*
 * Returns 0 if the reader of a key of @kind exists: in the usual directory the group of dartd,
 * dart-controller or dart-flows, in another directory the user who runs this.
 */
int tls_bundle__check_reader(enum tls_kind kind, const char *directory, struct dart_error *error);

/*
 * Installs the files where dartd, dart-controller or dart-flows of this machine look.  Unless @may_replace,
 * refuses to replace an existing file with other contents.
 */
int tls_bundle__install(const struct tls_bundle *bundle, const char *directory,
			bool may_replace, struct dart_error *error);
/* Writes the bundle to a new file that only this user can read, or to stdout if @path is "-". */
int tls_bundle__write(const struct tls_bundle *bundle, const char *path, struct dart_error *error);

#endif /* TLS_BUNDLE_H */
