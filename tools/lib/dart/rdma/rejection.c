// SPDX-License-Identifier: LGPL-2.1-or-later
/* Says why a connect request was not accepted: see rejection_internal.h. */
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include <dart/control.h>
#include <dart/journal_access.h>
#include <dart/ledger_access.h>
#include <dart/sketch_access.h>
#include <dart/rpc.h>
#include <dart/tea_access.h>

#include "rejection_internal.h"

/* Reasons of a CM REJ (IBTA volume 1, section 12.6.7.2). */
#define REJECT_NO_SERVICE 8
#define REJECT_CONSUMER 28

/* An agent that does not know the protocol answers as if to a controller. */
static const char *question(__le64 magic)
{
	if (magic == htole64(DART_CONTROL_MAGIC))
		return "";
	if (magic == htole64(DART_RPC_MAGIC))
		return "is it older than this program? ";
	if (magic == htole64(DART_TEA_ACCESS_MAGIC))
		return "no such table? ";
	if (magic == htole64(DART_JOURNAL_ACCESS_MAGIC))
		return "no such journal? ";
	if (magic == htole64(DART_LEDGER_ACCESS_MAGIC))
		return "no such ledger? ";
	if (magic == htole64(DART_SKETCH_ACCESS_MAGIC))
		return "no such sketch? ";
	return "no such store? ";
}

/* Explains a rejection by the agent itself, which may say why. */
static int explain_refusal(const struct rdma_conn_param *conn,
			   const struct dart_control_request *own, struct dart_error *error)
{
	struct dart_control_reject reject = {};

	if (conn->private_data && conn->private_data_len >= sizeof(reject))
		memcpy(&reject, conn->private_data, sizeof(reject));
	if (!reject.magic || reject.magic != own->magic)
		return dart_error__set(error, EACCES,
				       "the agent refused the connection (%ssee its log)",
				       question(own->magic));
	if (reject.abi_version != own->abi_version)
		return dart_error__set(
			error, EPROTONOSUPPORT,
			"the agent speaks version %u of the protocol and this program version %u: upgrade %s",
			le32toh(reject.abi_version), le32toh(own->abi_version),
			le32toh(reject.abi_version) < le32toh(own->abi_version) ? "dartd there" :
										  "this program");
	return dart_error__set(error, EACCES, "the agent refused the connection: %.*s",
			       (int)strnlen(reject.reason, sizeof(reject.reason)), reject.reason);
}

int dart_rejection__explain_absence(struct dart_error *error)
{
	return dart_error__set(error, ECONNREFUSED, "no agent listens there (is dartd running?)");
}

/*
 * On iWARP the agent rejects with an MPA reply (RFC 5044, 7.1.1), which drivers report as
 * -ECONNRESET or -ECONNREFUSED.  A host where nobody listens refuses the TCP connection before.
 */
static bool is_by_agent(const struct rdma_cm_event *event)
{
	return event->status == REJECT_CONSUMER || event->status == -ECONNRESET ||
	       (event->status == -ECONNREFUSED && event->param.conn.private_data_len);
}

int dart_rejection__explain(const struct rdma_cm_event *event, const void *request, size_t length,
			    struct dart_error *error)
{
	struct dart_control_request own = {};

	memcpy(&own, request, length < sizeof(own) ? length : sizeof(own));
	if (is_by_agent(event))
		return explain_refusal(&event->param.conn, &own, error);
	if (event->status == REJECT_NO_SERVICE || event->status == -ECONNREFUSED)
		return dart_rejection__explain_absence(error);
	return dart_error__set(error, EPROTO, "the connection was rejected, reason %d",
			       event->status);
}

int dart_rejection__explain_silence(const struct rdma_cm_event *event, struct dart_error *error)
{
	bool is_answer = event->event == RDMA_CM_EVENT_UNREACHABLE ||
			 event->event == RDMA_CM_EVENT_CONNECT_ERROR;

	return dart_error__set(error, is_answer ? ETIMEDOUT : EHOSTUNREACH,
			       "not reachable: %s (%s)",
			       event->status < 0 ? strerror(-event->status) : "no answer",
			       rdma_event_str(event->event));
}
