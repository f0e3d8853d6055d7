// SPDX-License-Identifier: LGPL-2.1-or-later
/* TLS by GnuTLS: see tls.h. */
#include <errno.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tls_internal.h"

/*
 * Without finite fields: the peer chooses the group before it has shown a certificate, and
 * ffdhe8192 costs this side a tenth of a second.
 */
#define PRIORITY                                                               \
	"NORMAL:-VERS-ALL:+VERS-TLS1.3:-GROUP-ALL:"                            \
	"+GROUP-X25519:+GROUP-SECP256R1:+GROUP-SECP384R1:+GROUP-SECP521R1"

/* Of one message of a handshake: a few certificates, or the names of many authorities. */
#define MESSAGE_MAX (32 << 10)

struct dart_tls {
	gnutls_certificate_credentials_t credentials;
	gnutls_priority_t priority;
	gnutls_datum_t authorities;	/* bytes of the file */
	gnutls_datum_t revoked;		/* likewise; empty without a list */
	unsigned int holders;
};

static int check_key_mode(const char *path, struct dart_error *error)
{
	struct stat status;

	if (stat(path, &status))
		return dart_error__system(error, errno, "cannot read the key %s", path);
	if (status.st_mode & (S_IROTH | S_IWOTH))
		return dart_error__set(
			error, EPERM,
			"every user may use the key %s (chmod o= %s, and make another one)",
			path, path);
	return 0;
}

/* Files that are not there have no words of their own in GnuTLS. */
static int cannot_read(const char *what, const char *path, int code, struct dart_error *error)
{
	struct stat status;

	if (code == GNUTLS_E_FILE_ERROR && stat(path, &status))
		return dart_error__system(error, errno, "cannot read %s %s", what, path);
	return dart_error__set(error, EINVAL, "cannot use %s %s: %s", what, path,
			       gnutls_strerror(code));
}

/* Loads the lists of revoked certificates that GnuTLS checks when it verifies peers. */
static int load_revoked(struct dart_tls *tls, const char *path, struct dart_error *error)
{
	int ret;

	if (!path || (!strcmp(path, DART_TLS_REVOKED) && access(path, F_OK) && errno == ENOENT))
		return 0;
	ret = gnutls_load_file(path, &tls->revoked);
	if (ret == GNUTLS_E_SUCCESS)
		ret = gnutls_certificate_set_x509_crl_mem(
			tls->credentials, &tls->revoked, GNUTLS_X509_FMT_PEM);
	if (!ret)
		ret = GNUTLS_E_NO_CERTIFICATE_FOUND;
	return ret < 0 ? cannot_read("the revoked certificates", path, ret, error) : 0;
}

/*
 * Loads the certificate and its key.  A certificate that the file of the key contains replaces one
 * that does not fit: dartctl tls was interrupted between the two files, or is replacing them now.
 */
static int load_pair(struct dart_tls *tls, const struct dart_tls_files *files)
{
	int ret = gnutls_certificate_set_x509_key_file(tls->credentials, files->certificate,
						       files->key, GNUTLS_X509_FMT_PEM);

	if (ret != GNUTLS_E_CERTIFICATE_KEY_MISMATCH)
		return ret;
	/* The pair that does not fit stays in the credentials otherwise. */
	gnutls_certificate_free_keys(tls->credentials);
	return gnutls_certificate_set_x509_key_file(tls->credentials, files->key, files->key,
						    GNUTLS_X509_FMT_PEM) < 0 ? ret : 0;
}

static int load(struct dart_tls *tls, const struct dart_tls_files *files, struct dart_error *error)
{
	int ret;

	ret = gnutls_certificate_allocate_credentials(&tls->credentials);
	if (ret == GNUTLS_E_SUCCESS)
		ret = gnutls_priority_init(&tls->priority, PRIORITY, NULL);
	if (ret < 0)
		return dart_error__set(error, ENOMEM, "cannot use TLS: %s", gnutls_strerror(ret));
	ret = gnutls_load_file(files->authorities, &tls->authorities);
	if (ret == GNUTLS_E_SUCCESS)
		ret = gnutls_certificate_set_x509_trust_mem(tls->credentials, &tls->authorities,
							    GNUTLS_X509_FMT_PEM);
	if (!ret)
		ret = GNUTLS_E_NO_CERTIFICATE_FOUND;
	if (ret < 0)
		return cannot_read("the authorities", files->authorities, ret, error);
	ret = load_revoked(tls, files->revoked, error) ?: check_key_mode(files->key, error);
	if (ret)
		return ret;
	ret = load_pair(tls, files);
	if (ret < 0)
		return cannot_read("the certificate", files->certificate, ret, error);
	return 0;
}

int dart_tls__load(const struct dart_tls_files *files, struct dart_tls **result,
		   struct dart_error *error)
{
	struct dart_tls *tls = calloc(1, sizeof(*tls));
	int ret;

	if (!tls)
		return dart_error__no_memory(error);
	tls->holders = 1;
	ret = load(tls, files, error);
	if (ret)
		dart_tls__put(tls);
	else
		*result = tls;
	return ret;
}

struct dart_tls *dart_tls__hold(struct dart_tls *tls)
{
	tls->holders++;
	return tls;
}

void dart_tls__put(struct dart_tls *tls)
{
	if (!tls || --tls->holders)
		return;
	if (tls->priority)
		gnutls_priority_deinit(tls->priority);
	if (tls->credentials)
		gnutls_certificate_free_credentials(tls->credentials);
	gnutls_free(tls->authorities.data);
	gnutls_free(tls->revoked.data);
	free(tls);
}

static bool is_same(const gnutls_datum_t *a, const gnutls_datum_t *b)
{
	return a->size == b->size && (!a->size || !memcmp(a->data, b->data, a->size));
}

bool dart_tls__have_same_authorities(const struct dart_tls *a, const struct dart_tls *b)
{
	return is_same(&a->authorities, &b->authorities) && is_same(&a->revoked, &b->revoked);
}

int dart_tls__validity(const char *path, int64_t *since, int64_t *until, struct dart_error *error)
{
	gnutls_x509_crt_t certificate;
	gnutls_datum_t text;
	int ret;

	ret = gnutls_load_file(path, &text);
	if (ret < 0)
		return cannot_read("the certificate", path, ret, error);
	ret = gnutls_x509_crt_init(&certificate);
	if (ret >= 0) {
		ret = gnutls_x509_crt_import(certificate, &text, GNUTLS_X509_FMT_PEM);
		*since = gnutls_x509_crt_get_activation_time(certificate);
		*until = gnutls_x509_crt_get_expiration_time(certificate);
		gnutls_x509_crt_deinit(certificate);
	}
	gnutls_free(text.data);
	return ret < 0 ? cannot_read("the certificate", path, ret, error) : 0;
}

int dart_tls_stream__open(struct dart_tls *tls, int fd, bool is_server, const char *const *names,
			  size_t count, struct dart_tls_stream **result, struct dart_error *error)
{
	const unsigned int flags = GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL | GNUTLS_NO_TICKETS;
	struct dart_tls_stream *stream = calloc(1, sizeof(*stream));
	int ret;

	if (!stream)
		return dart_error__no_memory(error);
	stream->is_server = is_server;
	stream->names = names;
	stream->name_count = count;
	ret = gnutls_init(&stream->session, flags | (is_server ? GNUTLS_SERVER : GNUTLS_CLIENT));
	if (ret < 0) {
		free(stream);
		return dart_error__no_memory(error);
	}
	stream->tls = dart_tls__hold(tls);
	ret = gnutls_priority_set(stream->session, tls->priority);
	if (ret >= 0)
		ret = gnutls_credentials_set(stream->session, GNUTLS_CRD_CERTIFICATE,
					     tls->credentials);
	if (ret < 0) {
		dart_tls_stream__free(stream);
		return dart_error__set(error, ENOMEM, "cannot use TLS: %s", gnutls_strerror(ret));
	}
	/* Server names are not IP addresses (RFC 6066); the agent does not look. */
	if (is_server)
		gnutls_certificate_server_set_request(stream->session, GNUTLS_CERT_REQUIRE);
	gnutls_session_set_ptr(stream->session, stream);
	dart_tls_stream__check_certificate(stream);
	gnutls_transport_set_int(stream->session, fd);
	gnutls_handshake_set_max_packet_length(stream->session, MESSAGE_MAX);
	/* The caller bounds the time. */
	gnutls_handshake_set_timeout(stream->session, 0);
	*result = stream;
	return 0;
}

void dart_tls_stream__free(struct dart_tls_stream *stream)
{
	if (!stream)
		return;
	gnutls_deinit(stream->session);
	dart_tls__put(stream->tls);
	free(stream);
}

static bool is_again(ssize_t ret)
{
	return ret == GNUTLS_E_AGAIN || ret == GNUTLS_E_INTERRUPTED;
}

/* Is an alert about the certificate of this side? */
static bool concerns_certificate(gnutls_alert_description_t alert)
{
	switch (alert) {
	case GNUTLS_A_BAD_CERTIFICATE:
	case GNUTLS_A_UNSUPPORTED_CERTIFICATE:
	case GNUTLS_A_CERTIFICATE_REVOKED:
	case GNUTLS_A_CERTIFICATE_EXPIRED:
	case GNUTLS_A_CERTIFICATE_UNKNOWN:
	case GNUTLS_A_CERTIFICATE_REQUIRED:
	case GNUTLS_A_UNKNOWN_CA:
		return true;
	default:
		return false;
	}
}

/* @system is the errno of the socket, if the code is that of one of its calls. */
static int explain(struct dart_tls_stream *stream, int code, int system, struct dart_error *error)
{
	gnutls_alert_description_t alert;

	switch (code) {
	case GNUTLS_E_PULL_ERROR:
	case GNUTLS_E_PUSH_ERROR:
		/* ETIMEDOUT, for example: the peer has lost its network. */
		if (system && system != ECONNRESET && system != EPIPE)
			return dart_error__set(error, ECONNRESET, "the connection broke: %s",
					       strerror(system));
		/* fall through */
	case GNUTLS_E_PREMATURE_TERMINATION:
	case 0:
		return dart_error__set(error, ECONNRESET, "the peer closed the connection");
	case GNUTLS_E_MEMORY_ERROR:
		return dart_error__no_memory(error);
	case GNUTLS_E_FATAL_ALERT_RECEIVED:
	case GNUTLS_E_WARNING_ALERT_RECEIVED:
		alert = gnutls_alert_get(stream->session);
		/* dart_tls__deny() */
		if (alert == GNUTLS_A_ACCESS_DENIED)
			return dart_error__set(
				error, EACCES,
				"the agent does not allow the address of this side (add it to allow: callers of its configuration)");
		if (concerns_certificate(alert))
			return dart_error__set(error, EACCES,
					       "the peer refuses the certificate of this side: %s",
					       gnutls_alert_get_name(alert));
		return dart_error__set(error, EPROTO, "the peer ends TLS: %s",
				       gnutls_alert_get_name(alert));
	case GNUTLS_E_NO_CERTIFICATE_FOUND:
	case GNUTLS_E_CERTIFICATE_REQUIRED:
		return dart_error__set(error, EACCES, "the peer has no certificate");
	default:
		return dart_error__set(error, EPROTO, "TLS failed: %s", gnutls_strerror(code));
	}
}

void dart_tls__deny(int fd)
{
	/* A record of TLS with an alert (21), fatal (2): access denied (49). */
	static const uint8_t alert[] = { 21, 3, 3, 0, 2, 2, 49 };

	/* Send as much as the socket accepts without blocking. */
	send(fd, alert, sizeof(alert), MSG_DONTWAIT | MSG_NOSIGNAL);
	shutdown(fd, SHUT_WR);
}

int dart_tls_stream__handshake(struct dart_tls_stream *stream, struct dart_error *error)
{
	int ret = gnutls_handshake(stream->session);
	const int system = errno;

	/* Any other code ends it, including codes that GnuTLS calls not fatal. */
	if (is_again(ret))
		return 0;
	if (!ret)
		return 1;
	/* As much of it as the socket takes. */
	gnutls_alert_send_appropriate(stream->session, ret);
	if (*stream->refusal.text) {
		*error = stream->refusal;
		return -EACCES;
	}
	return explain(stream, ret, system, error);
}

const char *dart_tls_stream__peer_name(const struct dart_tls_stream *stream)
{
	return stream->peer_name;
}

ssize_t dart_tls_stream__send(struct dart_tls_stream *stream, const void *bytes,
			      size_t length, struct dart_error *error)
{
	ssize_t ret = gnutls_record_send(stream->session, bytes, length);

	if (is_again(ret))
		return -EAGAIN;
	return ret > 0 ? ret : explain(stream, ret, errno, error);
}

ssize_t dart_tls_stream__receive(struct dart_tls_stream *stream, void *bytes,
				 size_t length, struct dart_error *error)
{
	ssize_t ret;

	ret = gnutls_record_recv(stream->session, bytes, length);
	/* Another handshake, which nobody needs, is not answered. */
	if (is_again(ret))
		return -EAGAIN;
	return ret > 0 ? ret : explain(stream, ret, errno, error);
}

bool dart_tls_stream__waits_to_send(const struct dart_tls_stream *stream)
{
	return gnutls_record_get_direction(stream->session);
}
