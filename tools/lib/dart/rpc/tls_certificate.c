// SPDX-License-Identifier: LGPL-2.1-or-later
/* Which certificates of peers are accepted, by GnuTLS. */
#include <arpa/inet.h>
#include <errno.h>
#include <gnutls/abstract.h>
#include <gnutls/x509.h>

#include "tls_internal.h"

/*
 * Has it a subjectAltName of DNS?  Without one, GnuTLS would take the common name.  It
 * stops at the first name that it cannot hold, and so does this.
 */
static bool has_dns_name(gnutls_x509_crt_t certificate)
{
	char name[256];
	unsigned int i;
	size_t size;
	int ret;

	for (i = 0;; i++) {
		size = sizeof(name);
		ret = gnutls_x509_crt_get_subject_alt_name(certificate, i, name, &size, NULL);
		if (ret < 0 || ret == GNUTLS_SAN_DNSNAME)
			return ret >= 0;
	}
}

/* Is it for @name, a DNS name or an IP address? */
static bool is_for(gnutls_x509_crt_t certificate, const char *name)
{
	struct in6_addr v6;
	struct in_addr v4;

	if (has_dns_name(certificate))
		return gnutls_x509_crt_check_hostname2(
			certificate, name, GNUTLS_VERIFY_DO_NOT_ALLOW_WILDCARDS);
	if (inet_pton(AF_INET, name, &v4) == 1)
		return gnutls_x509_crt_check_ip(certificate, (void *)&v4, sizeof(v4), 0);
	return inet_pton(AF_INET6, name, &v6) == 1 &&
	       gnutls_x509_crt_check_ip(certificate, (void *)&v6, sizeof(v6), 0);
}

/* The name that @certificate, as it came, is for; NULL: none of them. */
static const char *find_name(const struct dart_tls_stream *stream,
			     const gnutls_datum_t *certificate)
{
	gnutls_x509_crt_t parsed;
	const char *found = NULL;
	size_t i;

	if (gnutls_x509_crt_init(&parsed) < 0)
		return NULL;
	if (gnutls_x509_crt_import(parsed, certificate, GNUTLS_X509_FMT_DER))
		goto out;
	for (i = 0; !found && i < stream->name_count; i++)
		if (is_for(parsed, stream->names[i]))
			found = stream->names[i];
out:
	gnutls_x509_crt_deinit(parsed);
	return found;
}

/* Checks the certificate that has arrived; GnuTLS tells the peer if it is refused. */
static int verify(gnutls_session_t session)
{
	struct dart_tls_stream *stream = gnutls_session_get_ptr(session);
	const char *purpose = stream->is_server ? GNUTLS_KP_TLS_WWW_CLIENT :
						  GNUTLS_KP_TLS_WWW_SERVER;
	gnutls_typed_vdata_st data = {
		.type = GNUTLS_DT_KEY_PURPOSE_OID,
		.data = (void *)purpose,
	};
	const gnutls_datum_t *certificates;
	unsigned int status, count;
	gnutls_datum_t text;

	if (gnutls_certificate_verify_peers(session, &data, 1, &status) < 0) {
		dart_error__set(&stream->refusal, EACCES, "the peer has no certificate");
		return GNUTLS_E_CERTIFICATE_ERROR;
	}
	if (status) {
		dart_error__set(&stream->refusal, EACCES, "its certificate is refused");
		if (!gnutls_certificate_verification_status_print(status, GNUTLS_CRT_X509, &text,
								  0)) {
			dart_error__set(&stream->refusal, EACCES, "its certificate is refused: %s",
					(const char *)text.data);
			gnutls_free(text.data);
		}
		return GNUTLS_E_CERTIFICATE_ERROR;
	}
	certificates = gnutls_certificate_get_peers(session, &count);
	if (certificates && count)
		stream->peer_name = find_name(stream, &certificates[0]);
	if (stream->peer_name)
		return 0;
	dart_error__set(&stream->refusal, EACCES,
			"its certificate is for another name (subjectAltName: DNS or IP)");
	return GNUTLS_E_CERTIFICATE_ERROR;
}

/* Of the RSA key of a peer: bits, and bytes of its exponent, with a zero in front. */
#define RSA_MAX 8192
#define EXPONENT_MAX 5

/* Has @key, of the kind @algorithm, an exponent that takes long to compute with? */
static bool has_large_exponent(gnutls_pubkey_t key, int algorithm)
{
	gnutls_datum_t exponent;
	bool is_large;

	if (algorithm != GNUTLS_PK_RSA && algorithm != GNUTLS_PK_RSA_PSS)
		return false;
	if (gnutls_pubkey_export_rsa_raw2(key, NULL, &exponent, 0) < 0)
		return true;
	is_large = exponent.size > EXPONENT_MAX;
	gnutls_free(exponent.data);
	return is_large;
}

/*
 * Before the signature with the peer's key is checked, which costs as much as the key makes it:
 * GnuTLS does that before verify(), when perhaps no authority has signed this key.
 */
static int check_key(gnutls_session_t session, unsigned int type, unsigned int when,
		     unsigned int is_incoming, const gnutls_datum_t *message)
{
	struct dart_tls_stream *stream = gnutls_session_get_ptr(session);
	const gnutls_datum_t *certificates;
	unsigned int count = 0, bits = 0;
	gnutls_pubkey_t key;
	int ret;

	if (!is_incoming)
		return 0;
	certificates = gnutls_certificate_get_peers(session, &count);
	if (!certificates || !count || gnutls_pubkey_init(&key) < 0)
		return GNUTLS_E_CERTIFICATE_ERROR;
	ret = gnutls_pubkey_import_x509_raw(key, &certificates[0], GNUTLS_X509_FMT_DER, 0);
	if (!ret)
		ret = gnutls_pubkey_get_pk_algorithm(key, &bits);
	if (ret >= 0 && (bits > RSA_MAX || has_large_exponent(key, ret)))
		ret = GNUTLS_E_CERTIFICATE_ERROR;
	gnutls_pubkey_deinit(key);
	if (ret >= 0)
		return 0;
	dart_error__set(
		&stream->refusal, EACCES,
		"the key of its certificate is refused (RSA: at most %d bits, an exponent below 2^32)",
		RSA_MAX);
	return ret;
}

void dart_tls_stream__check_certificate(struct dart_tls_stream *stream)
{
	gnutls_handshake_set_hook_function(stream->session, GNUTLS_HANDSHAKE_CERTIFICATE_VERIFY,
					   GNUTLS_HOOK_PRE, check_key);
	gnutls_session_set_verify_function(stream->session, verify);
}
