/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a machine needs, as one PEM text: the certificate, its key, the authority and the
 * list of revoked certificates, or that list alone.  It goes from the machine with the
 * authority to another one, whose root installs it.
 */
#ifndef TLS_BUNDLE_H
#define TLS_BUNDLE_H

#include <stdbool.h>

#include "authority.h"

struct tls_bundle {
	gnutls_datum_t certificate, key, authorities, revoked;	/* PEM; NULL: none */
	enum tls_kind kind;
};

/* Of a pair that the authority of @directory has made, which stays the caller's. */
int tls_bundle__make(struct tls_bundle *bundle, const char *directory,
		     enum tls_kind kind, const struct tls_pair *pair,
		     struct dart_error *error);
/*
 * Takes it from @text, which may come from anywhere: the key must be that of the
 * certificate, which the authority has signed, as it has the list.
 */
int tls_bundle__parse(struct tls_bundle *bundle, const gnutls_datum_t *text,
		      const char *directory, struct dart_error *error);
void tls_bundle__clear(struct tls_bundle *bundle);

/*
 * Returns 0 if the reader of a key of @kind exists: in the usual directory the group of dartd
 * or dart-controller, in another directory the user who runs this.
 */
int tls_bundle__check_reader(enum tls_kind kind, const char *directory,
			     struct dart_error *error);

/*
 * Puts it where dartd or dart-controller of this machine look.  Unless @may_replace, a file
 * that is there with other contents is refused.
 */
int tls_bundle__install(const struct tls_bundle *bundle, const char *directory,
			bool may_replace, struct dart_error *error);
/* All of it, as a new file that only this user can read, or to stdout as "-". */
int tls_bundle__write(const struct tls_bundle *bundle, const char *path,
		      struct dart_error *error);

#endif /* TLS_BUNDLE_H */
