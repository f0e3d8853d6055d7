/* SPDX-License-Identifier: GPL-2.0-only */
/* Certificates for tests: an authority, and keys that it signed, as PEM files. */
#ifndef DART_TEST_TLS_FILES_H
#define DART_TEST_TLS_FILES_H

/*
 * Makes DIRECTORY/authority.pem, the certificate of a new authority, and for each of
 * the @names DIRECTORY/NAME.pem and DIRECTORY/NAME.key, for both ends of TLS.  A name
 * is a DNS name or an IPv4 address.  The certificate "expired" was valid until an hour
 * ago, and the certificate "common.name" contains its name only as common name, and no
 * purpose.  An error ends the process, with a message on stderr.
 */
void tls_files__make(const char *directory, const char *const *names, int count);

#endif /* DART_TEST_TLS_FILES_H */
