// SPDX-License-Identifier: GPL-2.0-only
/* Lists of revoked certificates: see revocation.h. */
#include "revocation.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "files.h"

#define DAY (24 * 3600)
#define NUMBER_BYTES 8

static int failed(struct dart_error *error, const char *what, int code)
{
	return dart_error__set(error, EIO, "cannot %s: %s", what, gnutls_strerror(code));
}

/* The number of a list; 0: it has none, or one that no authority of dartctl made. */
static uint64_t number_of(gnutls_x509_crl_t list)
{
	uint8_t bytes[NUMBER_BYTES];
	size_t size = sizeof(bytes), i;
	uint64_t number = 0;

	if (!list || gnutls_x509_crl_get_number(list, bytes, &size, NULL) < 0)
		return 0;
	for (i = 0; i < size; i++)
		number = number << 8 | bytes[i];
	return number;
}

/* NULL: it is no list. */
static gnutls_x509_crl_t parse(const gnutls_datum_t *text)
{
	gnutls_x509_crl_t list;

	if (gnutls_x509_crl_init(&list) < 0)
		return NULL;
	if (gnutls_x509_crl_import(list, text, GNUTLS_X509_FMT_PEM) >= 0)
		return list;
	gnutls_x509_crl_deinit(list);
	return NULL;
}

bool tls_revocation__is_older(const gnutls_datum_t *text, const gnutls_datum_t *other)
{
	const gnutls_datum_t *const texts[] = { text, other };
	uint64_t numbers[2];
	gnutls_x509_crl_t list;
	size_t i;

	for (i = 0; i < 2; i++) {
		list = parse(texts[i]);
		numbers[i] = number_of(list);
		if (list)
			gnutls_x509_crl_deinit(list);
	}
	return numbers[0] < numbers[1];
}

struct revocation {
	const struct tls_authority *authority;
	const char *name;
	gnutls_x509_crl_t former; /* the list of before; NULL: there is none */
	gnutls_x509_crl_t list;
	int count; /* certificates with the name that the former list lacks */
	struct dart_error *error;
};

/* Moves the record, so that each list contains the certificate from now on. */
static int revoke_one(void *data, const char *file, gnutls_x509_crt_t certificate, bool is_revoked)
{
	struct revocation *revocation = data;
	const char *directory = revocation->authority->directory;
	char from[PATH_MAX], to[PATH_MAX];

	if (is_revoked || !tls_certificate__has_name(certificate, revocation->name))
		return 0;
	if (snprintf(from, sizeof(from), "%s/" TLS_ISSUED "/%s", directory, file) >= PATH_MAX ||
	    snprintf(to, sizeof(to), "%s/" TLS_REVOKED "/%s", directory, file) >= PATH_MAX)
		return dart_error__set(revocation->error, ENAMETOOLONG, "'%s' is too long",
				       directory);
	if (rename(from, to))
		return dart_error__system(revocation->error, errno, "cannot write '%s'", to);
	return 0;
}

static bool is_listed(gnutls_x509_crl_t list, gnutls_x509_crt_t certificate)
{
	return list && gnutls_x509_crt_check_revocation(certificate, &list, 1) == 1;
}

/* A command that ended before it wrote its list may have moved some of the records. */
static int add_to_list(void *data, const char *file, gnutls_x509_crt_t certificate, bool is_revoked)
{
	struct revocation *revocation = data;
	int ret = gnutls_x509_crl_set_crt(revocation->list, certificate, time(NULL));

	if (tls_certificate__has_name(certificate, revocation->name) &&
	    !is_listed(revocation->former, certificate))
		revocation->count++;
	return ret < 0 ? failed(revocation->error, "list a certificate", ret) : 0;
}

/* The list is valid as long as the authority, so a host without a newer list keeps working. */
static int sign_list(struct revocation *revocation, gnutls_datum_t *text)
{
	const struct tls_authority *authority = revocation->authority;
	const int64_t now = time(NULL);
	uint64_t number = number_of(revocation->former) + 1;
	uint8_t bytes[NUMBER_BYTES];
	int ret, i;

	/* The clock may have been set back, and a list that is older is refused. */
	if (now > 0 && (uint64_t)now > number)
		number = now;
	for (i = 0; i < NUMBER_BYTES; i++)
		bytes[i] = number >> (8 * (NUMBER_BYTES - 1 - i));
	ret = gnutls_x509_crl_set_version(revocation->list, 2);
	if (ret >= 0)
		ret = gnutls_x509_crl_set_this_update(revocation->list, now - DAY);
	if (ret >= 0)
		ret = gnutls_x509_crl_set_next_update(
			revocation->list, gnutls_x509_crt_get_expiration_time(
						  authority->certificate));
	if (ret >= 0)
		ret = gnutls_x509_crl_set_number(revocation->list, bytes, sizeof(bytes));
	if (ret >= 0)
		ret = gnutls_x509_crl_sign2(revocation->list, authority->certificate,
					    authority->key, GNUTLS_DIG_SHA256, 0);
	return ret < 0 ? ret : gnutls_x509_crl_export2(revocation->list, GNUTLS_X509_FMT_PEM, text);
}

static int write_list(struct revocation *revocation, struct dart_error *error)
{
	const char *directory = revocation->authority->directory;
	gnutls_datum_t text = {};
	const struct tls_file file = { .name = TLS_REVOKED_FILE, .text = &text };
	int ret = gnutls_x509_crl_init(&revocation->list);

	if (ret < 0)
		return failed(error, "make a list", ret);
	ret = tls_authority__tell(directory, TLS_REVOKED, add_to_list, revocation, error);
	if (!ret) {
		ret = sign_list(revocation, &text);
		ret = ret < 0 ? failed(error, "sign the list", ret) :
				tls_files__write(directory, &file, 1, true, error);
	}
	gnutls_free(text.data);
	gnutls_x509_crl_deinit(revocation->list);
	return ret;
}

/* NULL: there is no list, or it cannot be read. */
static gnutls_x509_crl_t read_list(const char *directory)
{
	struct dart_error error;
	gnutls_x509_crl_t list;
	gnutls_datum_t text;

	if (!tls_files__exist(directory, TLS_REVOKED_FILE) ||
	    tls_files__read(directory, TLS_REVOKED_FILE, &text, &error))
		return NULL;
	list = parse(&text);
	gnutls_free(text.data);
	return list;
}

int tls_revocation__add(const struct tls_authority *authority, const char *name,
			struct dart_error *error)
{
	struct revocation revocation = {
		.authority = authority,
		.name = name,
		.former = read_list(authority->directory),
		.error = error,
	};
	int ret;

	ret = tls_authority__tell(authority->directory, TLS_ISSUED, revoke_one, &revocation,
				  error) ?:
		      write_list(&revocation, error);
	if (revocation.former)
		gnutls_x509_crl_deinit(revocation.former);
	return ret ?: revocation.count;
}
