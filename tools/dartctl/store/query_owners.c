// SPDX-License-Identifier: GPL-2.0-only
/* Queries to the collectors that have, or had, the share of a key. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/store/share_history.h>

#include "answer.h"
#include "query.h"
#include "share_file.h"
#include "tools/dartctl/cli/command.h"

#define NS_OF_MS UINT64_C(1000000)

/* The collectors of the key's share, the present one first. */
struct owners {
	struct dart_share_owner list[DART_SHARE_OWNERS_MAX];
	char texts[DART_SHARE_OWNERS_MAX][INET_ADDRSTRLEN];
	uint32_t count;
};

static int find_owners(const struct query *query, struct owners *owners)
{
	const uint32_t share = dart_store__share(query->key, query->key_length);
	struct dart_share_history *history;
	struct dart_error error;
	int status = EXIT_SUCCESS, ret;
	uint32_t i;

	ret = share_file__read(query->shares, &history, &error);
	if (ret)
		return fail(-ret, "%s", error.text);
	owners->count = dart_share_history__owners(history, share, owners->list);
	for (i = 0; i < owners->count; i++)
		inet_ntop(AF_INET, &owners->list[i].collector, owners->texts[i],
			  sizeof(owners->texts[i]));
	if (strcmp(dart_share_history__store(history), query->store))
		status = fail(EINVAL, "%s is for store '%s', not for store '%s'", query->shares,
			      dart_share_history__store(history), query->store);
	else if (!owners->count)
		status = fail(ENOENT, "share %u of this key has no collector in %s", share,
			      query->shares);
	dart_share_history__free(history);
	return status;
}

/* A collector that had the share more than once, from owner @first on, is asked at its last. */
static bool is_repeated(const struct owners *owners, uint32_t first, uint32_t index)
{
	uint32_t i;

	for (i = first; i < index; i++)
		if (owners->list[i].collector.s_addr == owners->list[index].collector.s_addr)
			return true;
	return false;
}

/*
 * A former collector has the reports from before the move: with epochs until its present one ends,
 * otherwise until others need their slots.
 */
static int ask_present(const struct query *query, const struct options *options,
		       const struct owners *owners)
{
	const char *collector = NULL; /* the newest one that answered */
	struct query_reply reply, newest;
	struct dart_error error, unasked;
	bool is_unasked = false;
	uint32_t i;
	int ret;

	for (i = 0; i < owners->count; i++) {
		if (is_repeated(owners, 0, i))
			continue;
		ret = query__ask_there(query, owners->texts[i], &reply, &error);
		if (ret == -EINVAL)
			return fail(EINVAL, "%s", error.text);
		if (ret) {
			unasked = is_unasked ? unasked : error;
			is_unasked = true;
			continue;
		}
		if (reply.found.outcome != DART_STORE_EMPTY)
			return query__print(query, options, &reply, owners->texts[i]);
		newest = collector ? newest : reply;
		collector = collector ?: owners->texts[i];
	}
	/* It may have the value: "empty" would be wrong. */
	if (is_unasked) {
		fail(EHOSTUNREACH,
		     "unknown: a collector that has or had the share cannot be asked: %s",
		     unasked.text);
		return EXIT_UNKNOWN;
	}
	return query__print(query, options, &newest, collector);
}

/* Of a time that no collector answers for. */
static int add_unknown(uint64_t since_ns, uint64_t until_ns, struct epoch_answers *its)
{
	epochs__free(its);
	its->list = calloc(1, sizeof(*its->list));
	its->count = its->list ? 1 : 0;
	if (!its->list)
		return -ENOMEM;
	its->list[0] = (struct epoch_answer){
		.outcome = EPOCH_MISSING,
		.since_ns = since_ns,
		.until_ns = until_ns,
	};
	return 0;
}

/* A collector that had the share twice in one epoch answers from it once. */
static bool is_listed(const struct epoch_answers *all, const char *collector, uint64_t since_ns)
{
	size_t i;

	for (i = 0; i < all->count; i++)
		if (all->list[i].outcome != EPOCH_MISSING && all->list[i].since_ns == since_ns &&
		    !strcmp(all->list[i].collector, collector))
			return true;
	return false;
}

/*
 * Adds the answers of one collector, in the order of time.  The time of a collector that cannot be
 * asked is missing.  Returns 0 or -ENOMEM.
 */
static int ask_owner(const struct query *query, const char *collector, uint64_t since_ns,
		     uint64_t until_ns, struct epoch_answers *all)
{
	const struct epochs_question question =
		query__of_epochs(query, collector, since_ns, until_ns);
	struct epoch_answer *list;
	struct epoch_answers its;
	struct dart_error error;
	int ret = 0;
	size_t i;

	if (epochs__ask_there(&question, &its, &error)) {
		fprintf(stderr, "dartctl: %s\n", error.text);
		ret = add_unknown(since_ns, until_ns, &its);
	}
	list = ret || !its.count ? NULL :
				   reallocarray(all->list, all->count + its.count, sizeof(*list));
	if (!list) {
		ret = its.count ? -ENOMEM : ret;
		goto free_its;
	}
	all->list = list;
	for (i = 0; i < its.count; i++) {
		if (is_listed(all, collector, its.list[i].since_ns))
			continue;
		its.list[i].collector = collector;
		list[all->count++] = its.list[i];
		its.list[i].reason = NULL; /* moved */
	}
free_its:
	epochs__free(&its);
	return ret;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* A file of shares forgets the first owners: their collectors cannot be asked any more. */
static bool is_forgotten(const struct owners *owners, uint64_t ns)
{
	return owners->count == DART_SHARE_OWNERS_MAX &&
	       ns < owners->list[owners->count - 1].since_ms * NS_OF_MS;
}

static int add_forgotten(const struct query *query, uint64_t since_ns, uint64_t until_ns,
			 struct epoch_answers *all)
{
	fprintf(stderr, "dartctl: %s has only the last %d collectors of this share\n",
		query->shares, DART_SHARE_OWNERS_MAX);
	return add_unknown(since_ns, until_ns, all);
}

/* Each owner for the part of the time in which it had the share, the first owner first. */
static int ask_range(const struct query *query, const struct owners *owners,
		     struct epoch_answers *all)
{
	const uint64_t query_until_ns = query->until_ns ?: INT64_MAX;
	int ret = 0;
	uint32_t i;

	if (is_forgotten(owners, query->since_ns))
		ret = add_forgotten(query, query->since_ns,
				    earlier(query_until_ns,
					    owners->list[owners->count - 1].since_ms * NS_OF_MS),
				    all);
	for (i = owners->count; !ret && i--;) {
		const struct dart_share_owner *owner = &owners->list[i];
		/* Nobody knows an owner before the first one. */
		const uint64_t had_since_ns = i + 1 < owners->count ? owner->since_ms * NS_OF_MS :
								      0;
		const uint64_t had_until_ns = owner->until_ms ? owner->until_ms * NS_OF_MS :
								INT64_MAX;

		if (had_until_ns <= query->since_ns || had_since_ns > query_until_ns)
			continue;
		ret = ask_owner(query, owners->texts[i], later(query->since_ns, had_since_ns),
				earlier(query_until_ns, had_until_ns), all);
	}
	return ret;
}

static bool has_value(const struct epoch_answers *answers)
{
	return answers->count && answers->list[0].outcome == EPOCH_ANSWERED &&
	       answers->list[0].found.outcome != DART_STORE_EMPTY;
}

/* How much the answer for an instant says: not to know is more than "empty". */
static int weight(const struct epoch_answers *answers)
{
	if (!answers->count || answers->list[0].outcome != EPOCH_ANSWERED)
		return 1;
	return has_value(answers) ? 2 : 0;
}

/*
 * May the epoch in which @former was asked have reports from before it lost the share?  If that
 * epoch is missing, it is as long as that of the owner at the time, @its.
 */
static bool reaches_former(const struct query *query, const struct dart_share_owner *former,
			   const struct epoch_answer *asked, const struct epoch_answer *its)
{
	const uint64_t until_ns = former->until_ms * NS_OF_MS;

	if (asked->outcome != EPOCH_MISSING)
		return asked->since_ns < until_ns;
	if (its->outcome == EPOCH_MISSING)
		return true;
	return until_ns + (its->until_ns ?: later(query->at_ns, its->since_ns)) - its->since_ns >
	       its->since_ns;
}

/*
 * The owner at the time.  If the epoch of that time has no value there, the value may be from
 * before the move, in the same epoch of the owner before, and so on if the share moved more than
 * once.
 */
static int ask_instant(const struct query *query, const struct owners *owners,
		       struct epoch_answers *all)
{
	struct epoch_answers former, lighter;
	struct epoch_answer its;
	uint32_t first = 0, i;
	bool reaches = true;
	int ret;

	while (first + 1 < owners->count && owners->list[first].since_ms * NS_OF_MS > query->at_ns)
		first++;
	ret = ask_owner(query, owners->texts[first], query->at_ns, query->at_ns, all);
	if (ret)
		return ret;
	if (is_forgotten(owners, query->at_ns) && !has_value(all))
		return add_forgotten(query, query->at_ns, query->at_ns, all);
	its = all->list[0];
	for (i = first + 1; !ret && reaches && !has_value(all) && i < owners->count; i++) {
		if (is_repeated(owners, first, i))
			continue;
		former = (struct epoch_answers){ .count = 0 };
		ret = ask_owner(query, owners->texts[i], query->at_ns, query->at_ns, &former);
		if (ret)
			return ret;
		reaches = reaches_former(query, &owners->list[i], &former.list[0], &its);
		lighter = former;
		if (has_value(&former) || (reaches && weight(&former) > weight(all))) {
			lighter = *all;
			*all = former;
		}
		epochs__free(&lighter);
	}
	return ret;
}

static int ask_past(const struct query *query, const struct options *options,
		    const struct owners *owners)
{
	const struct answer answer = {
		.schema = query->schema,
		.rule = query->rule,
		.share = dart_store__share(query->key, query->key_length),
	};
	struct epoch_answers all = { .count = 0 };
	int ret, status;

	ret = query->at_ns ? ask_instant(query, owners, &all) : ask_range(query, owners, &all);
	status = ret ? fail__out_of_memory() :
		       answer__print_epochs(&answer, &all, query->at_ns, options->json);
	epochs__free(&all);
	return status;
}

int query__ask_owners(const struct query *query, const struct options *options)
{
	struct owners owners;
	int status = find_owners(query, &owners);

	if (status)
		return status;
	return query__is_of_past(query) ? ask_past(query, options, &owners) :
					  ask_present(query, options, &owners);
}
