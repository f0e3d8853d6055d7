/* SPDX-License-Identifier: GPL-2.0-only */
/* Listens for callers by TCP: which addresses, which certificates, and how many. */
#ifndef TCP_LISTENER_H
#define TCP_LISTENER_H

#include <jansson.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include <libdart/configuration/prefix.h>
#include <libdart/error.h>
#include <libdart/rpc/tls.h>

#include "agent/base/crowd.h"
#include "tcp_peer.h"

/*
 * After an attempt to listen has failed: the address of a host that boots may come later,
 * and so may certificates, descriptors and a free port.
 */
#define TCP_LISTENER_RETRY_S 10

/*
 * Handshakes that may begin per second.  Each costs this host a signature, a few milliseconds with
 * an RSA key; the peer cannot choose parameters that cost more, see <libdart/rpc/tls.h>.  In total
 * this is some per cent of a CPU, and with an RSA key of 4096 bits a third of a CPU.
 */
#define HANDSHAKES_PER_SECOND 50
#define HANDSHAKES_PER_SECOND_OF_ADDRESS 10

/* Where to listen. */
struct tcp_place {
	char **addresses;	/* IPv4 or IPv6, as texts */
	size_t count;		/* of these; 0: all addresses */
	uint16_t port;
};

/* Who may connect.  Its texts and lists are the configuration's. */
struct tcp_admission {
	struct dart_tls_files files;
	const char *const *subjects;	/* of the certificates of callers */
	size_t subject_count;
	size_t changer_count;	/* the first callers of the list may change lookup tables */
	const struct dart_prefixes *allowed;	/* addresses: none without a list */
	/* 0: the default */
	uint32_t most;			/* callers */
	uint32_t per_address;
	uint32_t half_open;		/* in their handshake */
};

struct tcp_listener {
	struct tcp_peers peers;
	const struct tcp_place *place;	/* NULL: it is not wanted to listen */
	struct tcp_admission admission;
	struct handshake_rates rates;
	struct dart_tls *tls;		/* NULL until the certificates have been loaded */
	struct tcp_socket {
		struct tcp_listener *listener;
		int fd;
		sd_event_source *events;
	} *sockets;
	size_t socket_count;
	sd_event_source *resume;	/* after a pause, or to listen */
	uint16_t port;			/* 0: it does not listen */
	/* Why it does not listen, or still uses the previous certificates; "": all is well. */
	struct dart_error failure;
};

/*
 * Does not listen if @place is NULL.  Otherwise reads the certificates, and listens; if
 * that fails, @failure of the listener says why, and it is tried again every
 * TCP_LISTENER_RETRY_S, and by each tcp_listener__admit().  @place outlives the listener.
 */
int tcp_listener__open(struct tcp_listener *listener, sd_event *loop, const struct tcp_place *place,
		       const struct tcp_admission *admission, struct snapshots *snapshots,
		       const struct changes *changes, struct serve_counts *counts,
		       struct tcp_counts *refused, struct dart_error *error);
void tcp_listener__close(struct tcp_listener *listener);

/*
 * Replaces who may connect, reads the certificates again, and ends the peers that are no longer
 * allowed, all of them if the file of authorities has changed; peers in their handshake begin
 * again.  If the files cannot be used the certificates stay, and @error says why.  Without files it
 * closes its sockets, until there are files again.
 */
int tcp_listener__admit(struct tcp_listener *listener, const struct tcp_admission *admission,
			struct dart_error *error);

/*
 * Closes its sockets, and listens at @place instead, nowhere if it is NULL; callers that are
 * connected stay.  Fails as tcp_listener__open() does, and also sets @error.
 */
int tcp_listener__move(struct tcp_listener *listener,
		       const struct tcp_place *place, struct dart_error *error);

/* "ADDRESS:PORT (SUBJECT)" of each connected caller; NULL if out of memory. */
json_t *tcp_listener__names(const struct tcp_listener *listener);

/*
 * Between tcp_listener.c and tcp_listener_limits.c: why the peer at @address may not
 * connect, or NULL.  It may end a connection in its handshake to make room.
 */
const char *tcp_listener__refuse(struct tcp_listener *listener,
				 const struct sockaddr_storage *address);
bool tcp_listener__allows(const struct tcp_listener *listener,
			  const struct sockaddr_storage *address);

/* Between tcp_listener.c and tcp_listener_place.c: sockets without events, -errno. */
int tcp_listener__listen(struct tcp_listener *listener, const struct tcp_place *place,
			 struct dart_error *error);

#endif /* TCP_LISTENER_H */
