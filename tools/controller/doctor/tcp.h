/* SPDX-License-Identifier: GPL-2.0-only */
/* Check "tcp": can this machine call the host over TCP? */
#ifndef CONTROLLER_DOCTOR_TCP_H
#define CONTROLLER_DOCTOR_TCP_H

#include "connection.h"
#include "tools/controller/settings/settings.h"

enum tcp_answer {
	TCP_NOTHING, /* connection refused, or no answer */
	TCP_DENIED, /* dartd does not allow the address of this machine */
	TCP_LISTENS, /* dartd listens, but this machine lacks certificates to call it */
	TCP_SERVES, /* dartd answers this machine */
	TCP_REFUSES, /* the handshake or the call failed: see the error */
};

struct tcp_way {
	uint16_t port;
	enum tcp_answer answer;
	struct dart_error error; /* reason of TCP_NOTHING and TCP_REFUSES */
	struct dart_endpoint_path path; /* set by TCP_SERVES, like the next two members */
	int64_t clock_offset_ns;
	uint64_t clock_uncertainty_ns;
};

/* Tries TCP without adding findings.  @tls comes from the command line or a configuration file. */
void tcp_way__try(struct tcp_way *way, const struct connection *connection, uint16_t port,
		  const struct settings_tls *tls);
/* True if TCP works, or may work, for reading values. */
bool tcp_way__is_open(const struct tcp_way *way);
/* @is_only: the user chose TCP. */
void check_tcp(struct findings *findings, const struct connection *connection,
	       const struct tcp_way *way, bool is_only);

#endif /* CONTROLLER_DOCTOR_TCP_H */
