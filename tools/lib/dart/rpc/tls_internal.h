/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by tls.c and tls_certificate.c. */
#ifndef DART_RPC_TLS_PRIVATE_H
#define DART_RPC_TLS_PRIVATE_H

#include <gnutls/gnutls.h>

#include "tls.h"

struct dart_tls_stream {
	struct dart_tls *tls;
	gnutls_session_t session;
	bool is_server;
	const char *const *names;	/* of the peer, of the caller */
	size_t name_count;
	const char *peer_name;		/* one of them, or NULL */
	struct dart_error refusal;	/* of the peer's certificate, or "" */
};

/*
 * Before the handshake: it will refuse a peer whose certificate is not as tls.h says, and
 * set stream->refusal, or set stream->peer_name.
 */
void dart_tls_stream__check_certificate(struct dart_tls_stream *stream);

#endif /* DART_RPC_TLS_PRIVATE_H */
