// SPDX-License-Identifier: GPL-2.0-only
/* Rulesets of nftables are judged for RoCE packets. */
#include <stdio.h>
#include <string.h>

#include "selftests/unit/unit.h"
#include "tools/doctor/nft_ruleset.h"

#define CHAIN(hook, policy)                                                    \
	"{\"chain\": {\"family\": \"inet\", \"table\": \"filter\", "           \
	"\"name\": \"" hook "\", \"handle\": 1, \"type\": \"filter\", "        \
	"\"hook\": \"" hook "\", \"prio\": 0, \"policy\": \"" policy "\"}}"
#define RULE(chain, handle, expr)                                              \
	", {\"rule\": {\"family\": \"inet\", \"table\": \"filter\", "          \
	"\"chain\": \"" chain "\", \"handle\": " handle ", "                   \
	"\"expr\": [" expr "]}}"
#define MATCH(op, left, right)                                                 \
	"{\"match\": {\"op\": \"" op "\", \"left\": {" left "}, "              \
	"\"right\": " right "}}, "
#define PAYLOAD(protocol, field)                                               \
	"\"payload\": {\"protocol\": \"" protocol "\", "                       \
	"\"field\": \"" field "\"}"
#define META(key)	"\"meta\": {\"key\": \"" key "\"}"
#define CT_STATE	"\"ct\": {\"key\": \"state\"}"
#define ACCEPT		"{\"accept\": null}"
#define DROP		"{\"drop\": null}"
#define REJECT		"{\"reject\": {\"type\": \"icmpx\"}}"
#define UDP_4791	MATCH("==", PAYLOAD("udp", "dport"), "4791")

static struct nft_verdict judge(const char *items)
{
	struct nft_verdict verdict;
	json_t *ruleset;
	char text[4096];

	snprintf(text, sizeof(text), "{\"nftables\": [%s]}", items);
	ruleset = json_loads(text, 0, NULL);
	assert_non_null(ruleset);
	assert_true(nft_ruleset__judge(ruleset, "eth0", &verdict));
	json_decref(ruleset);
	return verdict;
}

static void test_policies(void **state)
{
	struct nft_verdict verdict;

	assert_false(judge("").drops);
	assert_false(judge(CHAIN("input", "accept")).drops);
	assert_false(judge(CHAIN("forward", "drop")).drops);

	verdict = judge(CHAIN("input", "drop"));
	assert_true(verdict.drops);
	assert_string_equal(verdict.dropping.chain, "input");
	assert_int_equal(verdict.dropping.handle, 0);
	assert_string_equal(verdict.hook, "input");
	assert_true(judge(CHAIN("output", "drop")).drops);
}

static void test_rules_in_order(void **state)
{
	struct nft_verdict verdict;

	verdict = judge(CHAIN("input", "accept") RULE("input", "7", UDP_4791 DROP));
	assert_true(verdict.drops);
	assert_int_equal(verdict.dropping.handle, 7);
	assert_true(judge(CHAIN("input", "accept") RULE("input", "7", UDP_4791 REJECT)).drops);
	assert_false(judge(CHAIN("input", "drop") RULE("input", "7", UDP_4791 ACCEPT)).drops);
	assert_false(judge(CHAIN("input", "accept") RULE("input", "6", UDP_4791 ACCEPT)
				   RULE("input", "7", UDP_4791 DROP))
			     .drops);
	assert_true(judge(CHAIN("input", "accept") RULE("input", "6", UDP_4791 DROP)
				  RULE("input", "7", UDP_4791 ACCEPT))
			    .drops);
	/* Statements other than the verdict do not matter. */
	assert_true(judge(CHAIN("input", "accept") RULE("input", "7",
		UDP_4791 "{\"counter\": {\"packets\": 1}}, " DROP)).drops);
}

static void test_ports_and_protocols(void **state)
{
	static const char *const dropping[] = {
		MATCH("==", PAYLOAD("udp", "dport"),
		      "{\"set\": [53, {\"range\": [4000, 5000]}]}"),
		MATCH("==", PAYLOAD("th", "dport"), "4791"),
		MATCH("!=", PAYLOAD("udp", "dport"), "53"),
		MATCH("==", META("l4proto"), "\"udp\""),
		MATCH("==", META("l4proto"), "{\"set\": [\"tcp\", \"udp\"]}"),
		MATCH("==", PAYLOAD("ip", "protocol"), "17"),
		MATCH("!=", META("l4proto"), "\"tcp\""),
		MATCH("in", CT_STATE, "[\"new\", \"invalid\"]"),
		MATCH("==", META("iifname"), "\"eth*\""),
		MATCH("!=", META("iifname"), "\"lo\""),
	}, *const passing[] = {
		MATCH("==", PAYLOAD("udp", "dport"), "53"),
		MATCH("==", PAYLOAD("udp", "dport"),
		      "{\"set\": [53, {\"range\": [5000, 6000]}]}"),
		MATCH("!=", PAYLOAD("udp", "dport"), "4791"),
		MATCH("==", PAYLOAD("tcp", "dport"), "4791"),
		/* TCP to any port but 22, and nothing else. */
		MATCH("!=", PAYLOAD("tcp", "dport"), "22"),
		MATCH("!=", PAYLOAD("ip6", "saddr"), "\"::1\""),
		MATCH("==", META("l4proto"), "\"tcp\""),
		MATCH("==", META("nfproto"), "\"ipv6\""),
		MATCH("in", CT_STATE, "\"invalid\""),
		MATCH("==", META("iifname"), "\"lo\""),
		MATCH("==", META("oifname"), "\"eth0\""),
	};
	char items[2048];
	size_t i;

	for (i = 0; i < sizeof(dropping) / sizeof(dropping[0]); i++) {
		snprintf(items, sizeof(items), CHAIN("input", "accept")
			 RULE("input", "7", "%s" DROP), dropping[i]);
		if (!judge(items).drops)
			fail_msg("passes: %s", dropping[i]);
	}
	for (i = 0; i < sizeof(passing) / sizeof(passing[0]); i++) {
		snprintf(items, sizeof(items), CHAIN("input", "accept")
			 RULE("input", "7", "%s" DROP), passing[i]);
		if (judge(items).drops)
			fail_msg("is dropped: %s", passing[i]);
	}
}

static void test_conditions(void **state)
{
	struct nft_verdict verdict;

	/* The rules accept some senders, but not others: as configured. */
	verdict = judge(CHAIN("input", "drop") RULE(
		"input", "7", MATCH("==", PAYLOAD("ip", "saddr"), "\"10.0.0.1\"") UDP_4791 ACCEPT));
	assert_false(verdict.drops);
	assert_int_equal(verdict.may_accept.handle, 7);
	verdict = judge(CHAIN("input", "accept") RULE("input", "8",
		MATCH("==", PAYLOAD("ip", "saddr"), "\"10.0.0.1\"") DROP));
	assert_false(verdict.drops);
	assert_int_equal(verdict.may_drop.handle, 8);
	/* A match of iptables, and a set whose elements lie elsewhere. */
	verdict = judge(CHAIN("input", "accept") RULE("input", "9", "{\"xt\": null}, " DROP));
	assert_false(verdict.drops);
	assert_int_equal(verdict.unknown.handle, 9);
	verdict = judge(CHAIN("input", "accept") RULE("input", "9",
		MATCH("==", PAYLOAD("udp", "dport"), "\"@ports\"") DROP));
	assert_false(verdict.drops);
	assert_int_equal(verdict.unknown.handle, 9);
	/* No answers to connections: both directions use port 4791. */
	assert_true(judge(CHAIN("input", "drop") RULE("input", "7",
		MATCH("in", CT_STATE, "[\"established\", \"related\"]")
		ACCEPT)).drops);
}

static void test_jumps(void **state)
{
	static const char inner[] = ", {\"chain\": {\"family\": \"inet\", \"table\": \"filter\", "
				    "\"name\": \"inner\", \"handle\": 2}}";
	struct nft_verdict verdict;
	char items[2048];

	snprintf(items, sizeof(items), CHAIN("input", "accept") "%s"
		 RULE("input", "3", "{\"jump\": {\"target\": \"inner\"}}")
		 RULE("inner", "4", UDP_4791 DROP), inner);
	verdict = judge(items);
	assert_true(verdict.drops);
	assert_string_equal(verdict.dropping.chain, "inner");
	snprintf(items, sizeof(items), CHAIN("input", "accept") "%s"
		 RULE("input", "3", "{\"jump\": {\"target\": \"inner\"}}")
		 RULE("inner", "4", "{\"return\": null}")
		 RULE("inner", "5", UDP_4791 DROP), inner);
	assert_false(judge(items).drops);
	/* After a goto no packet returns to the following rules. */
	snprintf(items, sizeof(items), CHAIN("input", "drop") "%s"
		 RULE("input", "3", "{\"goto\": {\"target\": \"inner\"}}")
		 RULE("input", "4", UDP_4791 ACCEPT), inner);
	assert_true(judge(items).drops);
	/* A loop, which the kernel refuses, ends. */
	snprintf(items, sizeof(items), CHAIN("input", "accept") "%s"
		 RULE("input", "3", "{\"jump\": {\"target\": \"inner\"}}")
		 RULE("inner", "4", "{\"jump\": {\"target\": \"inner\"}}"),
		 inner);
	assert_false(judge(items).drops);
	/* A verdict map. */
	assert_true(judge(CHAIN("input", "accept") RULE("input", "3",
		"{\"vmap\": {\"key\": {" CT_STATE "}, \"data\": {\"set\": ["
		"[\"established\", " ACCEPT "], [\"new\", " DROP "]]}}}"))
			    .drops);
	assert_false(judge(CHAIN("input", "accept") RULE("input", "3",
		"{\"vmap\": {\"key\": {" CT_STATE "}, \"data\": {\"set\": ["
		"[\"established\", " ACCEPT "], [\"invalid\", " DROP "]]}}}"))
			    .drops);
}

static void test_others(void **state)
{
	struct nft_verdict verdict;
	json_t *odd = json_pack("{s:s}", "nftables", "odd");

	assert_false(nft_ruleset__judge(odd, "eth0", &verdict));
	assert_false(nft_ruleset__judge(NULL, "eth0", &verdict));
	json_decref(odd);
	/* Members of unexpected types mean nothing. */
	assert_false(judge("1, {\"chain\": []}, {\"rule\": 7}, "
			   CHAIN("input", "accept")
			   RULE("input", "\"x\"", "{\"match\": 1}, []")).drops);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("the policy of a chain decides", test_policies),
		TEST("the first rule that fits decides", test_rules_in_order),
		TEST("ports, protocols, states and interfaces are compared",
		     test_ports_and_protocols),
		TEST("conditions on the sender are told from those not understood",
		     test_conditions),
		TEST("jumps, returns and verdict maps are followed", test_jumps),
		TEST("JSON that is not a ruleset is refused", test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
