/* SPDX-License-Identifier: GPL-2.0-only */
/* Check "tcp": whether a host can be called over TCP. */
#ifndef CONTROLLER_DOCTOR_TCP_H
#define CONTROLLER_DOCTOR_TCP_H

#include "connection.h"
#include "tools/controller/settings/settings.h"

enum tcp_answer {
	TCP_NOTHING, /* connection refused, or no answer */
	TCP_DENIED, /* dartd does not allow the address of this machine */
	TCP_LISTENS, /* dartd listens; not called, for lack of certificates */
	TCP_SERVES, /* dartd answers this machine */
	TCP_REFUSES, /* for the reason in the error */
};

struct tcp_way {
	uint16_t port;
	enum tcp_answer answer;
	struct dart_error error; /* of TCP_NOTHING and TCP_REFUSES */
	struct dart_endpoint_path path; /* of TCP_SERVES, as the next two */
	int64_t clock_offset_ns;
	uint64_t clock_uncertainty_ns;
};

/* Tries TCP, without adding findings.  @tls: from the command line or a configuration. */
void tcp_way__try(struct tcp_way *way, const struct connection *connection, uint16_t port,
		  const struct settings_tls *tls);
/* Can values be read over TCP, as far as is known? */
bool tcp_way__is_open(const struct tcp_way *way);
/* @is_only: the user asked for TCP. */
void check_tcp(struct findings *findings, const struct connection *connection,
	       const struct tcp_way *way, bool is_only);

#endif /* CONTROLLER_DOCTOR_TCP_H */
