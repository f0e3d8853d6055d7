// SPDX-License-Identifier: GPL-2.0-only
/* Asks dartd which queue pairs are in the error state, and to make others: see renewals.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "export_watch.h"
#include "renewals.h"

/* Bytes of the longest member or request, "requesters". */
#define WORD_MAX 24

static int renew(struct dart_registration_client *client, const char *object, const char *part,
		 const char *name, const char *address, struct dart_error *error)
{
	json_t *request, *reply = NULL;
	char type[WORD_MAX];
	int ret;

	snprintf(type, sizeof(type), "%s-renew", part);
	request = json_pack("{s:s, s:s, s:s}", "request", type, object, name, "address", address);
	if (!request)
		return dart_error__no_memory(error);
	ret = dart_registration_client__ask(client, request, -1, &reply, NULL, error);
	json_decref(request);
	json_decref(reply);
	return ret;
}

int renewals__make(struct dart_registration_client *client, const char *object, const char *part,
		   const char *name, struct dart_error *error)
{
	char type[WORD_MAX], member[WORD_MAX];
	const char *its, *address, *state;
	struct dart_error why;
	json_t *reply, *peer;
	int ret, first;
	size_t i;

	snprintf(type, sizeof(type), "%s-list", part);
	snprintf(member, sizeof(member), "%ss", part);
	first = export_watch__ask(client, type, NULL, &reply, error);
	if (first)
		goto out;
	json_array_foreach(json_object_get(reply, member), i, peer) {
		if (json_unpack(peer, "{s:s, s:s, s:s}", object, &its, part, &address, "state",
				&state) ||
		    strcmp(its, name) || strcmp(state, "error"))
			continue;
		ret = renew(client, object, part, name, address, &why);
		/* -ENOENT: the peer was removed meanwhile. */
		if (!ret || ret == -ENOENT || first)
			continue;
		first = ret;
		dart_error__set(error, -ret, "%s %s is not renewed: %s", part, address, why.text);
	}
out:
	json_decref(reply);
	return first;
}
