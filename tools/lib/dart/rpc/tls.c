// SPDX-License-Identifier: LGPL-2.1-or-later
/* TLS by GnuTLS: see tls.h. */
#include <errno.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tls.h"

#define PRIORITY "NORMAL:-VERS-ALL:+VERS-TLS1.3"

struct dart_tls {
	gnutls_certificate_credentials_t credentials;
	gnutls_priority_t priority;
	gnutls_datum_t authorities;	/* bytes of the file */
	unsigned int holders;
};

struct dart_tls_stream {
	struct dart_tls *tls;
	gnutls_session_t session;
	bool is_server;
	const char *const *names;	/* of the peer, of the caller */
	size_t name_count;
	const char *peer_name;		/* one of them, or NULL */
	struct dart_error refusal;	/* of the peer's certificate, or "" */
};

static int check_key_mode(const char *path, struct dart_error *error)
{
	struct stat status;

	if (stat(path, &status))
		return dart_error__system(error, errno,
					  "cannot read the key %s", path);
	if (status.st_mode & (S_IROTH | S_IWOTH))
		return dart_error__set(
			error, EPERM,
			"every user may use the key %s (chmod o= %s, and make another one)",
			path, path);
	return 0;
}

/* Files that are not there have no words of their own in GnuTLS. */
static int cannot_read(const char *what, const char *path, int code,
		       struct dart_error *error)
{
	struct stat status;

	if (code == GNUTLS_E_FILE_ERROR && stat(path, &status))
		return dart_error__system(error, errno, "cannot read %s %s",
					  what, path);
	return dart_error__set(error, EINVAL, "cannot use %s %s: %s", what, path,
			       gnutls_strerror(code));
}

static int load(struct dart_tls *tls, const struct dart_tls_files *files,
		struct dart_error *error)
{
	int ret;

	ret = gnutls_certificate_allocate_credentials(&tls->credentials);
	if (ret == GNUTLS_E_SUCCESS)
		ret = gnutls_priority_init(&tls->priority, PRIORITY, NULL);
	if (ret < 0)
		return dart_error__set(error, ENOMEM, "cannot use TLS: %s",
				       gnutls_strerror(ret));
	ret = gnutls_load_file(files->authorities, &tls->authorities);
	if (ret == GNUTLS_E_SUCCESS)
		ret = gnutls_certificate_set_x509_trust_mem(
			tls->credentials, &tls->authorities,
			GNUTLS_X509_FMT_PEM);
	if (!ret)
		ret = GNUTLS_E_NO_CERTIFICATE_FOUND;
	if (ret < 0)
		return cannot_read("the authorities", files->authorities, ret,
				   error);
	ret = check_key_mode(files->key, error);
	if (ret)
		return ret;
	ret = gnutls_certificate_set_x509_key_file(
		tls->credentials, files->certificate, files->key,
		GNUTLS_X509_FMT_PEM);
	if (ret < 0)
		return cannot_read("the certificate", files->certificate, ret,
				   error);
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
	free(tls);
}

bool dart_tls__have_same_authorities(const struct dart_tls *a,
				     const struct dart_tls *b)
{
	return a->authorities.size == b->authorities.size &&
	       !memcmp(a->authorities.data, b->authorities.data,
		       a->authorities.size);
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
		if (gnutls_x509_crt_check_hostname2(
			    parsed, stream->names[i],
			    GNUTLS_VERIFY_DO_NOT_ALLOW_WILDCARDS))
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
		dart_error__set(&stream->refusal, EACCES,
				"the peer has no certificate");
		return GNUTLS_E_CERTIFICATE_ERROR;
	}
	if (status) {
		dart_error__set(&stream->refusal, EACCES,
				"its certificate is refused");
		if (!gnutls_certificate_verification_status_print(
			    status, GNUTLS_CRT_X509, &text, 0)) {
			dart_error__set(&stream->refusal, EACCES,
					"its certificate is refused: %s",
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
	dart_error__set(
		&stream->refusal, EACCES,
		"its certificate is for another name (subjectAltName: DNS or IP)");
	return GNUTLS_E_CERTIFICATE_ERROR;
}

int dart_tls_stream__open(struct dart_tls *tls, int fd, bool is_server,
			  const char *const *names, size_t count,
			  struct dart_tls_stream **result,
			  struct dart_error *error)
{
	const unsigned int flags = GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL |
				   GNUTLS_NO_TICKETS;
	struct dart_tls_stream *stream = calloc(1, sizeof(*stream));
	int ret;

	if (!stream)
		return dart_error__no_memory(error);
	stream->is_server = is_server;
	stream->names = names;
	stream->name_count = count;
	ret = gnutls_init(&stream->session,
			  flags | (is_server ? GNUTLS_SERVER : GNUTLS_CLIENT));
	if (ret < 0) {
		free(stream);
		return dart_error__no_memory(error);
	}
	stream->tls = dart_tls__hold(tls);
	ret = gnutls_priority_set(stream->session, tls->priority);
	if (ret >= 0)
		ret = gnutls_credentials_set(stream->session,
					     GNUTLS_CRD_CERTIFICATE,
					     tls->credentials);
	if (ret < 0) {
		dart_tls_stream__free(stream);
		return dart_error__set(error, ENOMEM, "cannot use TLS: %s",
				       gnutls_strerror(ret));
	}
	/* Server names are not IP addresses (RFC 6066); the agent does not look. */
	if (is_server)
		gnutls_certificate_server_set_request(stream->session,
						      GNUTLS_CERT_REQUIRE);
	gnutls_session_set_ptr(stream->session, stream);
	gnutls_session_set_verify_function(stream->session, verify);
	gnutls_transport_set_int(stream->session, fd);
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
	case GNUTLS_A_ACCESS_DENIED:
		return true;
	default:
		return false;
	}
}

static int explain(struct dart_tls_stream *stream, int code,
		   struct dart_error *error)
{
	gnutls_alert_description_t alert;

	switch (code) {
	case GNUTLS_E_PREMATURE_TERMINATION:
	case GNUTLS_E_PULL_ERROR:
	case GNUTLS_E_PUSH_ERROR:
	case 0:
		return dart_error__set(error, ECONNRESET,
				       "the peer closed the connection");
	case GNUTLS_E_MEMORY_ERROR:
		return dart_error__no_memory(error);
	case GNUTLS_E_FATAL_ALERT_RECEIVED:
	case GNUTLS_E_WARNING_ALERT_RECEIVED:
		alert = gnutls_alert_get(stream->session);
		if (concerns_certificate(alert))
			return dart_error__set(
				error, EACCES,
				"the peer refuses the certificate of this side: %s",
				gnutls_alert_get_name(alert));
		return dart_error__set(error, EPROTO, "the peer ends TLS: %s",
				       gnutls_alert_get_name(alert));
	case GNUTLS_E_NO_CERTIFICATE_FOUND:
	case GNUTLS_E_CERTIFICATE_REQUIRED:
		return dart_error__set(error, EACCES,
				       "the peer has no certificate");
	default:
		return dart_error__set(error, EPROTO, "TLS failed: %s",
				       gnutls_strerror(code));
	}
}

int dart_tls_stream__handshake(struct dart_tls_stream *stream,
			       struct dart_error *error)
{
	int ret = gnutls_handshake(stream->session);

	/* Any other code ends it, also those that GnuTLS calls not fatal. */
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
	return explain(stream, ret, error);
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
	return ret > 0 ? ret : explain(stream, ret, error);
}

ssize_t dart_tls_stream__receive(struct dart_tls_stream *stream, void *bytes,
				 size_t length, struct dart_error *error)
{
	ssize_t ret;

	ret = gnutls_record_recv(stream->session, bytes, length);
	/* Another handshake, which nobody needs, is not answered. */
	if (is_again(ret))
		return -EAGAIN;
	return ret > 0 ? ret : explain(stream, ret, error);
}

bool dart_tls_stream__waits_to_send(const struct dart_tls_stream *stream)
{
	return gnutls_record_get_direction(stream->session);
}
