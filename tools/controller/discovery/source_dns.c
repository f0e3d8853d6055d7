// SPDX-License-Identifier: GPL-2.0-only
/* The reader of SRV records of a name; it asks again when their time to live is over. */
#include <arpa/nameser.h>
#include <netdb.h>
#include <netinet/in.h>
#include <resolv.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "source_private.h"
#include "srv_answer.h"

/* Limits for the time to live in the records. */
#define REFRESH_MIN_S 5
#define REFRESH_MAX_S 3600
/* The resolver asks each name server twice, and the thread cannot end meanwhile. */
#define TIMEOUT_S 2
#define TRIES 2

static int open_dns(struct source *source, struct dart_error *error)
{
	source->state = malloc(NS_MAXMSG);
	return source->state ? 0 : dart_error__no_memory(error);
}

static void close_dns(struct source *source)
{
	free(source->state);
	source->state = NULL;
}

/* Returns the length of the answer, or -errno with a sentence in @error. */
static int ask(const char *name, unsigned char *answer, struct dart_error *error)
{
	struct __res_state state = {};
	int length, why;

	if (res_ninit(&state))
		return dart_error__set(error, EIO, "the resolver cannot be set up");
	state.retrans = TIMEOUT_S;
	state.retry = TRIES;
	length = res_nsearch(&state, name, ns_c_in, ns_t_srv, answer, NS_MAXMSG);
	why = state.res_h_errno;
	res_nclose(&state);
	if (length < 0)
		return dart_error__set(error, EHOSTUNREACH, "has no SRV records: %s",
				       why == TRY_AGAIN	     ? "no answer from the name servers" :
				       why == HOST_NOT_FOUND ? "there is no such name" :
							       hstrerror(why));
	return length < NS_MAXMSG ? length : NS_MAXMSG;
}

static int read_dns(struct source *source, struct source_news *news)
{
	uint32_t ttl_s = REFRESH_MAX_S;
	int length;

	length = ask(source__settings(source)->place, source->state, &news->error);
	news->result = length < 0 ? length :
				    srv_answer__parse(source->state, length, &source->defaults,
						      source->name, &news->list, &ttl_s,
						      &news->faults, &news->error);
	if (news->result)
		return source__retry_ms(source);
	if (ttl_s < REFRESH_MIN_S)
		ttl_s = REFRESH_MIN_S;
	if (ttl_s > REFRESH_MAX_S)
		ttl_s = REFRESH_MAX_S;
	return source__refresh_ms(source, ttl_s * 1000);
}

const struct source_reader source_dns_reader = {
	.kind = "dns_srv",
	.pause_ms = 1000,
	.open = open_dns,
	.read = read_dns,
	.close = close_dns,
};
