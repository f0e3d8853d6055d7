// SPDX-License-Identifier: GPL-2.0-only
/* Offers sessions to callers by RDMA. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "caller.h"

struct caller {
	struct peer_messenger messenger;
	struct session session;
};

static struct caller *caller_of(const struct peer_messenger *messenger)
{
	return (struct caller *)messenger;
}

static void caller__free(struct peer_messenger *messenger)
{
	struct caller *caller = caller_of(messenger);

	session__close(&caller->session);
	free(caller);
}

static void caller__take(struct peer_messenger *messenger, const void *bytes, size_t length)
{
	struct dart_error error;

	/* It is told by the next message, and then the session is over. */
	session__take(&caller_of(messenger)->session, bytes, length, &error);
}

static size_t caller__next(struct peer_messenger *messenger, void *bytes, size_t size)
{
	return session__next(&caller_of(messenger)->session, bytes, size);
}

static bool caller__is_busy(const struct peer_messenger *messenger)
{
	return !session__is_idle(&caller_of(messenger)->session);
}

static bool caller__is_over(const struct peer_messenger *messenger)
{
	return caller_of(messenger)->session.is_over;
}

static void caller__cut_off(struct peer_messenger *messenger)
{
	struct sessions *sessions = caller_of(messenger)->session.sessions;

	count__add(&sessions->counts->cut_off, 1);
}

static const struct peer_messenger_operations operations = {
	.free = caller__free,
	.take = caller__take,
	.next = caller__next,
	.is_busy = caller__is_busy,
	.is_over = caller__is_over,
	.cut_off = caller__cut_off,
};

static void caller__has_message(struct session *session)
{
	struct caller *caller = (struct caller *)((char *)session - offsetof(struct caller, session));

	caller->messenger.wake(&caller->messenger);
}

static int offer_session(void *subject, const void *data,
			 struct peer_offer *offer, struct dart_error *error)
{
	struct sessions *sessions = subject;
	const struct dart_rpc_welcome_values values = session__welcome(sessions);
	const struct dart_rpc_welcome welcome = dart_rpc_welcome__make(&values);
	struct dart_rpc_hello_values hello;
	struct caller *caller;
	int ret;

	ret = dart_rpc_hello__decode(data, sizeof(struct dart_rpc_hello), &hello, error);
	if (!ret && !hello.receives)
		ret = dart_error__set(error, EBADMSG, "it has no receives");
	if (ret)
		return -EPROTO;
	caller = calloc(1, sizeof(*caller));
	if (!caller)
		return dart_error__no_memory(error);
	session__open(&caller->session, sessions, offer->address, caller__has_message);
	session__join_audience(&caller->session, hello.interval_ms);
	caller->messenger = (struct peer_messenger){
		.operations = &operations,
		.request_max = DART_RPC_REQUEST_MAX,
		.answer_max = hello.answer_max,
		.sends_max = hello.receives,
	};
	offer->messenger = &caller->messenger;
	offer->length = sizeof(welcome);
	memcpy(offer->data, &welcome, sizeof(welcome));
	return 0;
}

const struct peer_kind caller_kind = {
	.name = "caller",
	.magic = DART_RPC_MAGIC,
	.abi_version = DART_RPC_ABI_VERSION,
	.request_length = sizeof(struct dart_rpc_hello),
	.takes_interval = true,
	.offer = offer_session,
};
