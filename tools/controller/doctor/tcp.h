/* SPDX-License-Identifier: GPL-2.0-only */
/* Checks of the way to a host by TCP: "tcp". */
#ifndef CONTROLLER_DOCTOR_TCP_H
#define CONTROLLER_DOCTOR_TCP_H

#include "connection.h"
#include "tools/controller/settings.h"

enum tcp_answer {
	TCP_NOTHING,	/* nobody listens, or nobody answers */
	TCP_DENIED,	/* dartd does not allow the address of this machine */
	TCP_LISTENS,	/* dartd listens; without certificates no more is known */
	TCP_SERVES,	/* dartd answers this machine */
	TCP_REFUSES,	/* for the reason in the error */
};

struct tcp_way {
	uint16_t port;
	enum tcp_answer answer;
	struct dart_error error;	/* of TCP_NOTHING and TCP_REFUSES */
	struct dart_endpoint_path path;	/* of TCP_SERVES, as the next two */
	int64_t clock_offset_ns;
	uint64_t clock_uncertainty_ns;
};

/* Tries it, and finds nothing yet.  @tls: of the command line or a configuration. */
void tcp_way__try(struct tcp_way *way, const struct connection *connection,
		  uint16_t port, const struct settings_tls *tls);
/* Can values be had, or perhaps? */
bool tcp_way__is_open(const struct tcp_way *way);
/* @is_only: it is the way that was asked for. */
void check_tcp(struct findings *findings, const struct connection *connection,
	       const struct tcp_way *way, bool is_only);

#endif /* CONTROLLER_DOCTOR_TCP_H */
