/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A private authority, in a directory that only its owner may read:
 *
 *	authority/authority.key		its key
 *	authority/issued/SERIAL.pem	each certificate that it has signed
 *	authority/revoked/SERIAL.pem	each certificate that is revoked
 *	authorities.pem			its certificate, which all may read
 *	revoked.pem			the list of revoked certificates (CRL), which it has signed
 *
 * It keeps no keys of the certificates that it has signed.
 */
#ifndef TLS_AUTHORITY_H
#define TLS_AUTHORITY_H

#include <gnutls/x509.h>
#include <stdbool.h>
#include <stdint.h>

#include <libdart/error.h>

#define TLS_AUTHORITY_DAYS 3650
#define TLS_DAYS_DEFAULT   365
/* Directories of records, below that of the authority. */
#define TLS_ISSUED  "authority/issued"
#define TLS_REVOKED "authority/revoked"
/* Names in one certificate. */
#define TLS_NAMES_MAX 16

/* Whose certificate it is. */
enum tls_kind {
	TLS_HOST,
	TLS_CONTROLLER,
	TLS_FLOWS,
	TLS_KINDS
};

struct tls_role {
	const char *name;	/* on the command line */
	const char *subject;	/* that all certificates of the kind have; NULL: none */
	const char *certificate, *key;	/* names of files */
	const char *group;	/* that reads the key */
	const char *purpose;	/* in messages */
};

extern const struct tls_role tls_roles[TLS_KINDS];

/* The role with this subject; NULL: none has it. */
const struct tls_role *tls_role__find(const char *subject);

struct tls_authority {
	const char *directory;
	gnutls_x509_privkey_t key;
	gnutls_x509_crt_t certificate;
	bool is_new;	/* made by this call */
	int lock;	/* descriptor that keeps other commands away */
};

/* A key and its certificate, in PEM; gnutls_free() frees the bytes. */
struct tls_pair {
	gnutls_datum_t key;
	gnutls_datum_t certificate;
	int64_t expires;
};

/* Is @name a DNS name without wildcards, or an IP address? */
bool tls_name__is_valid(const char *name);

/*
 * Waits until no other command uses the authority of @directory, and reads it; without one, makes
 * it if @may_create.  Returns 0, or -errno with a sentence.
 */
int tls_authority__open(struct tls_authority *authority, const char *directory,
			bool may_create, struct dart_error *error);
void tls_authority__close(struct tls_authority *authority);

/* Makes a key, and a certificate for the @count names that is valid for @days. */
int tls_authority__issue(const struct tls_authority *authority, enum tls_kind kind,
			 char *const *names, int count, int days, struct tls_pair *pair,
			 struct dart_error *error);
void tls_pair__clear(struct tls_pair *pair);

/*
 * Called for each certificate that the authority has signed; a result other than 0 ends the
 * iteration.
 */
typedef int tls_told(void *data, const char *file, gnutls_x509_crt_t certificate, bool is_revoked);
int tls_authority__list(const char *directory, tls_told *told, void *data,
			struct dart_error *error);

/* The same for the records in one directory, TLS_ISSUED or TLS_REVOKED. */
int tls_authority__tell(const char *directory, const char *below, tls_told *told, void *data,
			struct dart_error *error);

/* Gets the i-th name of @certificate as text; returns false after the last one. */
bool tls_certificate__name(gnutls_x509_crt_t certificate, unsigned int i, char name[static 256]);
bool tls_certificate__has_name(gnutls_x509_crt_t certificate, const char *name);
enum tls_kind tls_certificate__kind(gnutls_x509_crt_t certificate);

#endif /* TLS_AUTHORITY_H */
