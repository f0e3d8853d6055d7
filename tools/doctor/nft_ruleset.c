// SPDX-License-Identifier: GPL-2.0-only
/*
 * Walks the chains of a ruleset of nftables as a RoCE packet would, see
 * libnftables-json(5).  A condition holds, does not hold, or may hold: then the walk
 * goes on both ways, and remembers the other outcome.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "nft_ruleset.h"

#define PORT 4791
#define DEPTH_MAX 16 /* of jumps, as in the kernel */

enum truth {
	NO,
	MAYBE, /* depends on the packet */
	UNKNOWN, /* to us */
	YES,
};

enum course {
	CONTINUE, /* with the next rule */
	RETURN, /* to the calling chain */
	ACCEPT,
	DROP,
};

struct walk {
	const json_t *items; /* of the ruleset */
	const char *netdev;
	const char *hook;
	struct nft_verdict *verdict;
};

static const char *text_of(const json_t *object, const char *member)
{
	return json_string_value(json_object_get(object, member)) ?: "";
}

static enum truth least(enum truth a, enum truth b)
{
	return a < b ? a : b;
}

/* Holds if @test holds for one element of a set, or for @right itself. */
static enum truth any(const json_t *right,
		      enum truth (*test)(const json_t *value, const void *data), const void *data)
{
	const json_t *list = json_object_get(right, "set") ?: right;
	enum truth found = NO, one;
	const json_t *element;
	size_t i;

	/* "@NAME" is a set with a name. */
	if (json_is_string(list) && *json_string_value(list) == '@')
		return UNKNOWN;
	if (!json_is_array(list))
		return test(right, data);
	json_array_foreach(list, i, element) {
		one = test(json_object_get(json_object_get(element, "elem"), "val") ?: element,
			   data);
		found = one > found ? one : found;
	}
	return found;
}

static enum truth is_text(const json_t *value, const void *text)
{
	if (!json_is_string(value))
		return UNKNOWN;
	return !fnmatch(json_string_value(value), text, 0) ? YES : NO;
}

static enum truth is_port(const json_t *value, const void *data)
{
	const json_t *range = json_object_get(value, "range");
	json_int_t low, high;

	if (json_is_integer(value))
		return json_integer_value(value) == PORT ? YES : NO;
	if (!range || json_unpack((json_t *)range, "[I, I]", &low, &high))
		return UNKNOWN;
	return low <= PORT && PORT <= high ? YES : NO;
}

/* The protocol of layer 4, as a name or a number. */
static enum truth is_udp(const json_t *value, const void *data)
{
	if (json_is_integer(value))
		return json_integer_value(value) == 17 ? YES : NO;
	return is_text(value, "udp");
}

static enum truth match_payload(const json_t *payload, const json_t *right)
{
	const char *protocol = text_of(payload, "protocol");
	const char *field = text_of(payload, "field");

	if (!strcmp(protocol, "udp") || !strcmp(protocol, "th")) {
		if (!strcmp(field, "dport"))
			return any(right, is_port, NULL);
		return MAYBE;
	}
	if (!strcmp(protocol, "ip"))
		return strcmp(field, "protocol") ? MAYBE : any(right, is_udp, NULL);
	return *protocol ? MAYBE : UNKNOWN;
}

static enum truth match_meta(const struct walk *walk, const char *key, const json_t *right)
{
	bool comes_in = strcmp(walk->hook, "output");

	if (!strcmp(key, "l4proto"))
		return any(right, is_udp, NULL);
	if (!strcmp(key, "nfproto"))
		return any(right, is_text, "ipv4");
	if (!strcmp(key, "protocol"))
		return any(right, is_text, "ip");
	if (!strcmp(key, "pkttype"))
		return any(right, is_text, "host");
	if (!strcmp(key, "iifname") || !strcmp(key, "iif"))
		return comes_in ? any(right, is_text, walk->netdev) : NO;
	if (!strcmp(key, "oifname") || !strcmp(key, "oif"))
		return comes_in ? NO : any(right, is_text, walk->netdev);
	return MAYBE;
}

/* The rule is about packets of another protocol, whatever the operator. */
static bool is_foreign(const json_t *left)
{
	const char *protocol = text_of(json_object_get(left, "payload"), "protocol");

	return *protocol && strcmp(protocol, "udp") && strcmp(protocol, "th") &&
	       strcmp(protocol, "ip") && strcmp(protocol, "ether");
}

/* The value of the expression @left is @right, or in @right. */
static enum truth equals(const struct walk *walk, const json_t *left, const json_t *right)
{
	const json_t *operand;

	operand = json_object_get(left, "payload");
	if (operand)
		return match_payload(operand, right);
	operand = json_object_get(left, "meta");
	if (operand)
		return match_meta(walk, text_of(operand, "key"), right);
	operand = json_object_get(left, "ct");
	if (operand)
		return strcmp(text_of(operand, "key"), "state") ? MAYBE :
								  any(right, is_text, "new");
	operand = json_object_get(left, "fib");
	if (operand && !strcmp(text_of(operand, "result"), "type"))
		return strcmp(walk->hook, "output") ? any(right, is_text, "local") : MAYBE;
	return operand ? MAYBE : UNKNOWN;
}

static enum truth matches(const struct walk *walk, const json_t *match)
{
	const json_t *right = json_object_get(match, "right");
	const char *op = text_of(match, "op");
	enum truth truth = equals(walk, json_object_get(match, "left"), right);

	if (is_foreign(json_object_get(match, "left")))
		return NO;
	if (!strcmp(op, "==") || !strcmp(op, "in"))
		return truth;
	if (!strcmp(op, "!=") && truth == YES)
		return NO;
	if (!strcmp(op, "!="))
		return truth == NO ? YES : truth;
	/* Compared ports would be unusual. */
	return truth == MAYBE ? MAYBE : UNKNOWN;
}

static void note(struct nft_place *place, const json_t *rule)
{
	if (*place->chain)
		return;
	snprintf(place->family, sizeof(place->family), "%s", text_of(rule, "family"));
	snprintf(place->table, sizeof(place->table), "%s", text_of(rule, "table"));
	/* A base chain stands for its policy. */
	snprintf(place->chain, sizeof(place->chain), "%s",
		 *text_of(rule, "chain") ? text_of(rule, "chain") : text_of(rule, "name"));
	place->handle =
		*text_of(rule, "chain") ? json_integer_value(json_object_get(rule, "handle")) : 0;
}

static enum course walk_chain(const struct walk *walk, const json_t *from,
			      const char *name, enum truth truth, int depth);

/* Applies a verdict of @rule; @truth tells whether the packet reaches it. */
static enum course take(const struct walk *walk, const json_t *rule,
			const json_t *statement, enum truth truth, int depth)
{
	struct nft_verdict *verdict = walk->verdict;
	const json_t *target;
	enum course course;

	if (json_object_get(statement, "accept")) {
		if (truth == YES)
			return ACCEPT;
		note(&verdict->may_accept, rule);
		return CONTINUE;
	}
	if (json_object_get(statement, "drop") || json_object_get(statement, "reject")) {
		if (truth == YES) {
			note(&verdict->dropping, rule);
			return DROP;
		}
		note(truth == MAYBE ? &verdict->may_drop : &verdict->unknown, rule);
		return CONTINUE;
	}
	if (json_object_get(statement, "return"))
		return truth == YES ? RETURN : CONTINUE;

	target = json_object_get(statement, "goto");
	course = walk_chain(walk, rule,
			    text_of(target ?: json_object_get(statement, "jump"), "target"), truth,
			    depth + 1);
	if (truth != YES)
		return CONTINUE;
	/* From a goto, a packet returns to the caller of this chain. */
	return course == CONTINUE && target ? RETURN : course;
}

static const char *const verdicts[] = { "accept", "drop", "reject", "return", "jump", "goto", NULL };
/* Statements that change nothing about the verdict. */
static const char *const neutral[] = { "counter", "log",     "mangle", "notrack",
				       "flow",	  "comment", NULL };

static bool is_one_of(const json_t *statement, const char *const *names)
{
	for (; *names; names++)
		if (json_object_get(statement, *names))
			return true;
	return false;
}

/* vmap: the verdict of the first element whose key fits. */
static enum course walk_map(const struct walk *walk, const json_t *rule,
			    const json_t *map, enum truth truth, int depth)
{
	const json_t *set = json_object_get(json_object_get(map, "data"), "set");
	enum course course = CONTINUE;
	const json_t *element;
	enum truth fits;
	size_t i;

	if (!json_is_array(set)) {
		note(&walk->verdict->unknown, rule);
		return CONTINUE;
	}
	json_array_foreach(set, i, element) {
		fits = equals(walk, json_object_get(map, "key"), json_array_get(element, 0));
		if (fits == NO || !is_one_of(json_array_get(element, 1), verdicts))
			continue;
		course = take(walk, rule, json_array_get(element, 1), least(truth, fits), depth);
		if (course != CONTINUE)
			break;
	}
	return course;
}

static enum course walk_rule(const struct walk *walk, const json_t *rule,
			     enum truth truth, int depth)
{
	const json_t *statements = json_object_get(rule, "expr"), *statement;
	const json_t *match, *map;
	enum course course;
	size_t i;

	json_array_foreach(statements, i, statement) {
		match = json_object_get(statement, "match");
		map = json_object_get(statement, "vmap");
		if (match) {
			truth = least(truth, matches(walk, match));
			if (truth == NO)
				return CONTINUE;
		} else if (map) {
			course = walk_map(walk, rule, map, truth, depth);
			if (course != CONTINUE)
				return course;
		} else if (is_one_of(statement, verdicts)) {
			return take(walk, rule, statement, truth, depth);
		} else if (json_object_get(statement, "limit") ||
			   json_object_get(statement, "quota")) {
			truth = least(truth, MAYBE);
		} else if (!is_one_of(statement, neutral)) {
			truth = least(truth, UNKNOWN);
		}
	}
	return CONTINUE;
}

/* The chain @name in the table of @from. */
static enum course walk_chain(const struct walk *walk, const json_t *from,
			      const char *name, enum truth truth, int depth)
{
	const json_t *item, *rule;
	enum course course;
	size_t i;

	if (depth > DEPTH_MAX)
		return CONTINUE;
	json_array_foreach(walk->items, i, item) {
		rule = json_object_get(item, "rule");
		if (!rule || strcmp(text_of(rule, "chain"), name) ||
		    strcmp(text_of(rule, "table"), text_of(from, "table")) ||
		    strcmp(text_of(rule, "family"), text_of(from, "family")))
			continue;
		course = walk_rule(walk, rule, truth, depth);
		if (course == RETURN)
			return CONTINUE;
		if (course != CONTINUE)
			return course;
	}
	return CONTINUE;
}

/* A filter that IPv4 packets to or from @netdev pass. */
static bool is_passed(const json_t *chain, const char *netdev)
{
	const char *family = text_of(chain, "family");
	const char *hook = text_of(chain, "hook");
	const json_t *dev = json_object_get(chain, "dev");

	if (strcmp(text_of(chain, "type"), "filter"))
		return false;
	if (!strcmp(hook, "ingress"))
		return any(dev, is_text, netdev) != NO;
	return (!strcmp(family, "ip") || !strcmp(family, "inet")) &&
	       (!strcmp(hook, "prerouting") || !strcmp(hook, "input") || !strcmp(hook, "output"));
}

bool nft_ruleset__judge(const json_t *ruleset, const char *netdev, struct nft_verdict *verdict)
{
	struct walk walk = {
		.items = json_object_get(ruleset, "nftables"),
		.netdev = netdev,
		.verdict = verdict,
	};
	const json_t *item, *chain;
	enum course course;
	size_t i;

	*verdict = (struct nft_verdict){};
	if (!json_is_array(walk.items))
		return false;
	json_array_foreach(walk.items, i, item) {
		chain = json_object_get(item, "chain");
		if (!chain || !is_passed(chain, netdev))
			continue;
		walk.hook = text_of(chain, "hook");
		memset(&verdict->may_accept, 0, sizeof(verdict->may_accept));
		course = walk_chain(&walk, chain, text_of(chain, "name"), YES, 0);
		if (course == CONTINUE && !strcmp(text_of(chain, "policy"), "drop")) {
			note(&verdict->dropping, chain);
			course = DROP;
		}
		/* An earlier rule accepts some packets. */
		if (course == DROP && *verdict->may_accept.chain) {
			memset(&verdict->dropping, 0, sizeof(verdict->dropping));
			course = CONTINUE;
		}
		if (course == DROP) {
			verdict->drops = true;
			snprintf(verdict->hook, sizeof(verdict->hook), "%s", walk.hook);
			return true;
		}
	}
	return true;
}
