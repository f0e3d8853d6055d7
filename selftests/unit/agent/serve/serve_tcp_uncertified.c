// SPDX-License-Identifier: GPL-2.0-only
/* Peers over TCP without a certificate cannot make the other end compute expensive steps. */
#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>

#include "serve_tcp.h"

#define PRIORITY "NORMAL:-VERS-ALL:+VERS-TLS1.3"

/* An end of TLS without libdart. */
struct stranger {
	gnutls_certificate_credentials_t credentials;
	gnutls_session_t session;
	unsigned int signature_size;	/* bytes */
	int fd;
};

/* Takes @fd. */
static void stranger__open(struct stranger *stranger, int fd, unsigned int end,
			   const char *priority)
{
	assert_int_equal(gnutls_certificate_allocate_credentials(
				 &stranger->credentials),
			 0);
	assert_int_equal(gnutls_init(&stranger->session,
				     end | GNUTLS_NONBLOCK |
					     GNUTLS_FORCE_CLIENT_CERT),
			 0);
	assert_int_equal(gnutls_priority_set_direct(stranger->session, priority,
						    NULL),
			 0);
	assert_int_equal(gnutls_credentials_set(stranger->session,
						GNUTLS_CRD_CERTIFICATE,
						stranger->credentials),
			 0);
	stranger->fd = fd;
	assert_int_equal(fcntl(stranger->fd, F_SETFL, O_NONBLOCK), 0);
	gnutls_transport_set_int(stranger->session, stranger->fd);
}

static void stranger__close(struct stranger *stranger)
{
	gnutls_deinit(stranger->session);
	gnutls_certificate_free_credentials(stranger->credentials);
	close(stranger->fd);
}

/* The agent's answer to the handshake. */
static gnutls_alert_description_t stranger__alert(struct stranger *stranger,
						  struct fixture *fixture)
{
	struct pollfd descriptors[2];
	bool has_ended = false;
	ssize_t ret;
	char byte;

	for (;;) {
		/* This end may finish before the other end has checked. */
		ret = has_ended ? gnutls_record_recv(stranger->session, &byte, 1) :
				  gnutls_handshake(stranger->session);
		has_ended |= !ret;
		if (ret == GNUTLS_E_FATAL_ALERT_RECEIVED)
			return gnutls_alert_get(stranger->session);
		if (ret < 0 && ret != GNUTLS_E_AGAIN)
			fail_msg("%s", gnutls_strerror(ret));
		descriptors[0] = (struct pollfd){ .fd = stranger->fd, .events = POLLIN };
		if (ret)
			wait_for(fixture, descriptors, 1);
	}
}

/* The peer would choose the group, and the largest group costs a tenth of a second. */
static void test_finite_field(void **state)
{
	struct stranger stranger;

	stranger__open(&stranger, connect_socket(*state), GNUTLS_CLIENT,
		       "NORMAL:-VERS-ALL:+VERS-TLS1.3:-GROUP-ALL:+GROUP-FFDHE2048");
	assert_int_equal(stranger__alert(&stranger, *state), GNUTLS_A_HANDSHAKE_FAILURE);
	stranger__close(&stranger);
}

/* Bytes of a modulus, larger than that of any key in use. */
#define MODULUS_MAX 2048

static int sign(gnutls_privkey_t key, gnutls_sign_algorithm_t algorithm, void *data,
		unsigned int flags, const gnutls_datum_t *hash, gnutls_datum_t *signature)
{
	const unsigned int *size = data;

	signature->data = gnutls_malloc(*size);
	if (!signature->data)
		return GNUTLS_E_MEMORY_ERROR;
	/* Less than any modulus. */
	memset(signature->data, 0x42, *size);
	signature->size = *size;
	return 0;
}

static int tell_about_key(gnutls_privkey_t key, unsigned int flags, void *data)
{
	const unsigned int *size = data;

	if (flags & GNUTLS_PRIVKEY_INFO_PK_ALGO)
		return GNUTLS_PK_RSA;
	if (flags & GNUTLS_PRIVKEY_INFO_PK_ALGO_BITS)
		return 8 * (int)*size;
	if (flags & GNUTLS_PRIVKEY_INFO_HAVE_SIGN_ALGO)
		return GNUTLS_FLAGS_TO_SIGN_ALGO(flags) == GNUTLS_SIGN_RSA_PSS_RSAE_SHA256;
	return -1;
}

static gnutls_x509_crt_t begin_certificate(void)
{
	gnutls_x509_crt_t x509;

	assert_int_equal(gnutls_x509_crt_init(&x509), 0);
	assert_int_equal(gnutls_x509_crt_set_version(x509, 3), 0);
	assert_int_equal(gnutls_x509_crt_set_serial(x509, "1", 1), 0);
	assert_int_equal(gnutls_x509_crt_set_activation_time(x509, 0), 0);
	assert_int_equal(gnutls_x509_crt_set_expiration_time(x509, -1), 0);
	assert_int_equal(gnutls_x509_crt_set_dn(x509, "CN=" CALLER, NULL), 0);
	return x509;
}

/* A certificate of an invented RSA key, signed by its own authority. */
static void make_certificate(gnutls_pcert_st *certificate, const gnutls_datum_t *modulus,
			     const gnutls_datum_t *exponent)
{
	gnutls_x509_crt_t x509 = begin_certificate(), authority = begin_certificate();
	gnutls_x509_privkey_t signer;
	gnutls_pubkey_t key;

	assert_int_equal(gnutls_pubkey_init(&key), 0);
	assert_int_equal(gnutls_pubkey_import_rsa_raw(key, modulus, exponent), 0);
	assert_int_equal(gnutls_x509_privkey_init(&signer), 0);
	assert_int_equal(
		gnutls_x509_privkey_generate(signer, GNUTLS_PK_ECDSA,
					     GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0),
		0);
	assert_int_equal(gnutls_x509_crt_set_key(authority, signer), 0);
	assert_int_equal(gnutls_x509_crt_set_pubkey(x509, key), 0);
	assert_int_equal(gnutls_x509_crt_sign2(x509, authority, signer, GNUTLS_DIG_SHA256, 0), 0);
	assert_int_equal(gnutls_pcert_import_x509(certificate, x509, 0), 0);
	gnutls_x509_crt_deinit(authority);
	gnutls_x509_crt_deinit(x509);
	gnutls_x509_privkey_deinit(signer);
	gnutls_pubkey_deinit(key);
}

/* A key of these sizes in bytes, with which it signs nothing. */
static void stranger__use_key(struct stranger *stranger, unsigned int modulus_size,
			      unsigned int exponent_size)
{
	uint8_t modulus[MODULUS_MAX], exponent[MODULUS_MAX];
	gnutls_pcert_st certificate;
	gnutls_privkey_t key;

	/* Odd, as in real keys. */
	memset(modulus, 0xff, sizeof(modulus));
	memset(exponent, 0x7f, sizeof(exponent));
	make_certificate(&certificate, &(gnutls_datum_t){ modulus, modulus_size },
			 &(gnutls_datum_t){ exponent, exponent_size });
	stranger->signature_size = modulus_size;
	assert_int_equal(gnutls_privkey_init(&key), 0);
	assert_int_equal(gnutls_privkey_import_ext4(key, &stranger->signature_size, NULL, sign,
						    NULL, NULL, tell_about_key, 0),
			 0);
	gnutls_certificate_set_flags(stranger->credentials, GNUTLS_CERTIFICATE_SKIP_KEY_CERT_MATCH);
	assert_true(gnutls_certificate_set_key(stranger->credentials, NULL, 0, &certificate, 1,
					       key) >= 0);
}

/* The agent's answer to such a key. */
static gnutls_alert_description_t offer_key(struct fixture *fixture, unsigned int modulus_size,
					    unsigned int exponent_size)
{
	gnutls_alert_description_t alert;
	struct stranger stranger;

	stranger__open(&stranger, connect_socket(fixture), GNUTLS_CLIENT, PRIORITY);
	stranger__use_key(&stranger, modulus_size, exponent_size);
	alert = stranger__alert(&stranger, fixture);
	stranger__close(&stranger);
	return alert;
}

/* GnuTLS would check a signature with the key before it checks who signed the key. */
static void test_keys(void **state)
{
	assert_int_equal(offer_key(*state, 256, 3), GNUTLS_A_DECRYPT_ERROR);
	assert_int_equal(offer_key(*state, 1024, 4), GNUTLS_A_DECRYPT_ERROR);
	assert_int_equal(offer_key(*state, 1025, 3), GNUTLS_A_BAD_CERTIFICATE);
	assert_int_equal(offer_key(*state, MODULUS_MAX, 3), GNUTLS_A_BAD_CERTIFICATE);
	assert_int_equal(offer_key(*state, 256, 255), GNUTLS_A_BAD_CERTIFICATE);
}

/* A caller's answer to an agent with a key of these sizes. */
static void expect_refused(struct fixture *fixture, unsigned int modulus_size,
			   unsigned int exponent_size, const char *words)
{
	static const char *const names[] = { AGENT };
	struct dart_tls_stream *stream;
	struct stranger stranger;
	struct dart_error error;
	int ends[2], ret;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
	stranger__open(&stranger, ends[0], GNUTLS_SERVER, PRIORITY);
	stranger__use_key(&stranger, modulus_size, exponent_size);
	assert_int_equal(
		dart_tls_stream__open(fixture->tls, ends[1], false, names, 1, &stream, &error), 0);
	do {
		ret = dart_tls_stream__handshake(stream, &error);
		gnutls_handshake(stranger.session);
	} while (!ret);
	assert_true(ret < 0);
	if (!strstr(error.text, words))
		fail_msg("\"%s\" instead of \"%s\"", error.text, words);
	dart_tls_stream__free(stream);
	close(ends[1]);
	stranger__close(&stranger);
}

/* A hostile host at the address of an agent. */
static void test_keys_of_agents(void **state)
{
	expect_refused(*state, 1024, 4, "signature verification has failed");
	expect_refused(*state, 1025, 3, "the key of its certificate is refused");
	expect_refused(*state, 256, 255, "the key of its certificate is refused");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FIXTURE("a caller that only knows groups of finite fields is refused at its first message",
			     test_finite_field, open_fixture, close_fixture),
		TEST_FIXTURE("a signature is not checked with a key of more than 8192 bits or a large exponent",
			     test_keys, open_fixture, close_fixture),
		TEST_FIXTURE("a caller does not check the signature of an agent with such a key",
			     test_keys_of_agents, open_fixture, close_fixture),
	};

	return cmocka_run_group_tests(tests, make_files, remove_files);
}
