// SPDX-License-Identifier: GPL-2.0-only
/* Makes keys and certificates with GnuTLS. */
#include <arpa/inet.h>
#include <gnutls/crypto.h>
#include <gnutls/x509.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tls_files.h"

#define HOUR 3600

struct pair {
	gnutls_x509_privkey_t key;
	gnutls_x509_crt_t certificate;
};

static void need(int ret, const char *what)
{
	if (ret >= 0)
		return;
	fprintf(stderr, "tls_files: %s: %s\n", what, gnutls_strerror(ret));
	exit(1);
}

static void write_file(const char *directory, const char *name,
		       const char *suffix, const gnutls_datum_t *text)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s.%s", directory, name, suffix);
	file = fopen(path, "we");
	if (!file || fchmod(fileno(file), 0600) ||
	    fwrite(text->data, 1, text->size, file) != text->size || fclose(file)) {
		perror(path);
		exit(1);
	}
}

static void pair__write(const struct pair *pair, const char *directory,
			const char *name, bool has_key)
{
	gnutls_datum_t text;

	need(gnutls_x509_crt_export2(pair->certificate, GNUTLS_X509_FMT_PEM, &text),
	     "export a certificate");
	write_file(directory, name, "pem", &text);
	gnutls_free(text.data);
	if (!has_key)
		return;
	need(gnutls_x509_privkey_export2(pair->key, GNUTLS_X509_FMT_PEM, &text), "export a key");
	write_file(directory, name, "key", &text);
	gnutls_free(text.data);
}

static void pair__begin(struct pair *pair, const char *name)
{
	time_t now = time(NULL);
	bool has_expired = !strcmp(name, "expired");
	unsigned char serial[16];

	need(gnutls_x509_privkey_init(&pair->key), "make a key");
	need(gnutls_x509_privkey_generate(pair->key, GNUTLS_PK_ECDSA,
					  GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0),
	     "make a key");
	need(gnutls_x509_crt_init(&pair->certificate), "make a certificate");
	need(gnutls_rnd(GNUTLS_RND_NONCE, serial, sizeof(serial)), "get random numbers");
	serial[0] = (serial[0] & 0x7f) | 1;
	need(gnutls_x509_crt_set_version(pair->certificate, 3), "set version");
	need(gnutls_x509_crt_set_serial(pair->certificate, serial, sizeof(serial)),
	     "set a serial number");
	/* The clocks of guests may differ. */
	need(gnutls_x509_crt_set_activation_time(pair->certificate,
						 now - 24 * HOUR),
	     "set a time");
	need(gnutls_x509_crt_set_expiration_time(
		     pair->certificate, has_expired ? now - HOUR :
						      now + 24 * HOUR),
	     "set a time");
	need(gnutls_x509_crt_set_dn_by_oid(pair->certificate,
					   GNUTLS_OID_X520_COMMON_NAME, 0, name,
					   strlen(name)),
	     "set a name");
	need(gnutls_x509_crt_set_key(pair->certificate, pair->key), "set a key");
}

static void pair__end(struct pair *pair)
{
	gnutls_x509_crt_deinit(pair->certificate);
	gnutls_x509_privkey_deinit(pair->key);
}

static void pair__sign(const struct pair *pair, const struct pair *by)
{
	need(gnutls_x509_crt_sign2(pair->certificate, by->certificate, by->key,
				   GNUTLS_DIG_SHA256, 0),
	     "sign a certificate");
}

static void name_pair(struct pair *pair, const char *name)
{
	struct in_addr address;

	if (inet_pton(AF_INET, name, &address) == 1)
		need(gnutls_x509_crt_set_subject_alt_name(
			     pair->certificate, GNUTLS_SAN_IPADDRESS, &address,
			     sizeof(address), GNUTLS_FSAN_SET),
		     "set an address");
	else
		need(gnutls_x509_crt_set_subject_alt_name(pair->certificate, GNUTLS_SAN_DNSNAME,
							  name, strlen(name), GNUTLS_FSAN_SET),
		     "set a name");
	need(gnutls_x509_crt_set_key_purpose_oid(pair->certificate, GNUTLS_KP_TLS_WWW_SERVER, 0),
	     "set a purpose");
	need(gnutls_x509_crt_set_key_purpose_oid(pair->certificate, GNUTLS_KP_TLS_WWW_CLIENT, 0),
	     "set a purpose");
}

void tls_files__make(const char *directory, const char *const *names, int count)
{
	struct pair authority, pair;
	int i;

	pair__begin(&authority, "authority of a test");
	need(gnutls_x509_crt_set_basic_constraints(authority.certificate, 1, 0),
	     "make an authority");
	need(gnutls_x509_crt_set_key_usage(authority.certificate, GNUTLS_KEY_KEY_CERT_SIGN),
	     "make an authority");
	pair__sign(&authority, &authority);
	pair__write(&authority, directory, "authority", false);
	for (i = 0; i < count; i++) {
		pair__begin(&pair, names[i]);
		if (strcmp(names[i], "common.name"))
			name_pair(&pair, names[i]);
		pair__sign(&pair, &authority);
		pair__write(&pair, directory, names[i], true);
		pair__end(&pair);
	}
	pair__end(&authority);
}
