/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * TLS 1.3 with certificates of both sides, over a socket that does not block.  Both ends
 * of <dart/rpc.h> use it; by GnuTLS.
 */
#ifndef DART_RPC_TLS_H
#define DART_RPC_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <libdart/error.h>
#include <libdart/tls_places.h>

/*
 * Paths of PEM files: the own certificate chain, its key, the authorities of peers, and their lists
 * of revoked certificates (CRLs), or NULL.  A list at DART_TLS_REVOKED may be missing.  If the file
 * of the key contains a certificate, which dartctl tls adds, that one counts while the other does not
 * fit the key.
 */
struct dart_tls_files {
	const char *certificate;
	const char *key;
	const char *authorities;
	const char *revoked;
};

/* The contents of the files, counted: for one thread. */
struct dart_tls;

/*
 * Reads the files.  Returns 0, or sets @error and returns -errno: a file cannot be read
 * or has no such thing, every user may read the key, or it is not that of the
 * certificate.
 */
int dart_tls__load(const struct dart_tls_files *files, struct dart_tls **tls,
		   struct dart_error *error);
struct dart_tls *dart_tls__hold(struct dart_tls *tls);
/* Frees the contents when nobody holds them.  @tls may be NULL. */
void dart_tls__put(struct dart_tls *tls);

/* Were the files of authorities and of revoked certificates the same, byte by byte? */
bool dart_tls__have_same_authorities(const struct dart_tls *a, const struct dart_tls *b);

/*
 * Refuses the peer of a connected socket before its TLS handshake, with an alert, so that the peer
 * cannot cause a signature or use memory.  The caller closes @fd.
 */
void dart_tls__deny(int fd);

/*
 * Reads from when until when the first certificate in the file at @path is valid, in seconds since
 * 1970.  Returns 0, or sets @error and returns -errno.
 */
int dart_tls__validity(const char *path, int64_t *since, int64_t *until, struct dart_error *error);

struct dart_tls_stream;

/*
 * Begins TLS on the connected socket @fd, which does not block, and which stays the
 * caller's.  The certificate of the peer must be signed by one of the authorities, not
 * expired, for the other end of TLS, and have one of the @count names (DNS names, or IP
 * addresses as text) as subjectAltName; they stay the caller's until the handshake has
 * ended.  Holds @tls.
 *
 * A peer without such a certificate costs some milliseconds: groups are elliptic curves,
 * RSA keys have at most 8192 bits and an exponent below 2^32, and a message of the
 * handshake has at most 32 KiB.
 */
int dart_tls_stream__open(struct dart_tls *tls, int fd, bool is_server, const char *const *names,
			  size_t count, struct dart_tls_stream **stream, struct dart_error *error);
/* Without a farewell: the peer sees that the socket is closed.  May be NULL. */
void dart_tls_stream__free(struct dart_tls_stream *stream);

/*
 * Returns 1 when the handshake has ended, 0 if the socket is to be waited for; or sets
 * @error and returns -EACCES (one side refuses the certificate of the other), -EPROTO,
 * -ENOMEM or -ECONNRESET.  The peer of a client may refuse it later, at the first reception.
 */
int dart_tls_stream__handshake(struct dart_tls_stream *stream, struct dart_error *error);
/* Which of the names the peer's certificate has, after the handshake; NULL before. */
const char *dart_tls_stream__peer_name(const struct dart_tls_stream *stream);
/*
 * Return the bytes, -EAGAIN to call again with the same bytes when the socket is ready,
 * or set @error and return another -errno.  The end of the stream, or of the connection
 * for any reason, is -ECONNRESET.
 */
ssize_t dart_tls_stream__send(struct dart_tls_stream *stream, const void *bytes,
			      size_t length, struct dart_error *error);
ssize_t dart_tls_stream__receive(struct dart_tls_stream *stream, void *bytes,
				 size_t length, struct dart_error *error);
/* After 0 or -EAGAIN: does it wait until the socket takes bytes? */
bool dart_tls_stream__waits_to_send(const struct dart_tls_stream *stream);

#endif /* DART_RPC_TLS_H */
