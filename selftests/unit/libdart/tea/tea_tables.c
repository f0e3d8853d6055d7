// SPDX-License-Identifier: GPL-2.0-only
/* Files of lookup tables: valid files are read and joined, others are refused. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libdart/tea/tea_hash.h>
#include <libdart/tea/tea_tables.h>

#include "selftests/unit/unit.h"

#define OURS "10.0.0.9"
#define ROUNDS 2000
#define SEED 0x7ea

/* With ' for ". */
#define REQUESTER(ip, qpn)                                           \
	"{'address': '" OURS "', 'server': '" ip "',"                \
	" 'mac': '52:54:00:00:00:01', 'qpn': " qpn ", 'rkey': 4660," \
	" 'base': '0x3a5f00000000', 'first_psn': 16777215}"
#define SERVER(shares, requesters, stash)                                \
	"{'shares': " shares ", 'epoch': 77, 'requesters': [" requesters \
	"], 'stash': [" stash "]}"
#define TABLE(servers)                                                \
	"{'tables': [{'name': 'nat', 'rows_log2': 10, 'cells': 8,"    \
	" 'key_length': 4, 'value_length': 2, 'packet_length': 1514," \
	" 'servers': [" servers "]}]}"

static const char plain[] = TABLE(
	SERVER("[0, 1023]", REQUESTER("10.0.0.1", "17"), "{'key': '0a000001', 'value': 'beef'}"));

static void write_file(char *path, const char *text, size_t length)
{
	int file;

	strcpy(path, "/tmp/tea_tables.XXXXXX");
	file = mkstemp(path);
	assert_true(file >= 0);
	assert_int_equal(write(file, text, length), length);
	close(file);
}

/* Loads two texts, of which the second may be NULL, for OURS or for the only switch. */
static int load(const char *text, const char *more, bool is_any,
		struct dart_tea_tables *tables, struct dart_error *error)
{
	const char *const texts[] = { text, more };
	struct in_addr requester = { INADDR_ANY };
	const char *paths[2];
	char names[2][32], *copy, *quote;
	size_t i, count = more ? 2 : 1;
	int ret;

	for (i = 0; i < count; i++) {
		copy = strdup(texts[i]);
		assert_non_null(copy);
		while ((quote = strchr(copy, '\'')))
			*quote = '"';
		write_file(names[i], copy, strlen(copy));
		free(copy);
		paths[i] = names[i];
	}
	if (!is_any)
		inet_pton(AF_INET, OURS, &requester);
	*error->text = '\0';
	ret = dart_tea_tables__load(paths, count, requester, tables, error);
	for (i = 0; i < count; i++)
		unlink(names[i]);
	assert_int_equal(!ret, !*error->text);
	return ret;
}

static void test_plain(void **state)
{
	const struct dart_tea_server *server;
	struct dart_tea_tables tables;
	struct dart_error error;
	uint32_t share;

	assert_int_equal(load(plain, NULL, true, &tables, &error), 0);
	assert_string_equal(tables.name, "nat");
	assert_int_equal(ntohl(tables.requester.s_addr), 0x0a000009);
	assert_int_equal(tables.geometry.rows_log2, 10);
	assert_int_equal(tables.geometry.cells, 8);
	assert_int_equal(tables.geometry.key_length, 4);
	assert_int_equal(tables.geometry.value_length, 2);
	assert_int_equal(tables.geometry.packet_length, 1514);
	assert_int_equal(tables.server_count, 1);
	server = tables.servers;
	assert_int_equal(ntohl(server->ip.s_addr), 0x0a000001);
	assert_memory_equal(server->mac, "\x52\x54\x00\x00\x00\x01", 6);
	assert_int_equal(server->qpn, 17);
	assert_int_equal(server->rkey, 4660);
	assert_int_equal(server->first_psn, 0xffffff);
	assert_int_equal(server->epoch, 77);
	assert_true(server->base == 0x3a5f00000000);
	for (share = 0; share < DART_TEA_SHARES; share++) {
		assert_int_equal(tables.shares[share], 0);
		assert_int_equal(tables.replicas[share], DART_TEA_SERVER_NONE);
	}
	assert_int_equal(tables.stashed_count, 1);
	assert_memory_equal(tables.stashed->key, "\x0a\0\0\1\0", 5);
	assert_memory_equal(tables.stashed->value, "\xbe\xef\0", 3);
	assert_int_equal(dart_tea_tables__uncovered(&tables), 0);
	dart_tea_tables__free(&tables);
}

static void test_joined(void **state)
{
	static const char first[] =
		TABLE(SERVER("[0, 99]",
			     "{'address': '10.0.0.8', 'server': '10.0.0.1',"
			     " 'mac': '52:54:00:00:00:01', 'qpn': 16, 'rkey': 0,"
			     " 'base': '0x0', 'first_psn': 0}," REQUESTER("10.0.0.1", "17"),
			     "") "," SERVER("[200, 1023]", REQUESTER("10.0.0.2", "18"), ""));
	static const char second[] = TABLE(SERVER("[200, 1023]", REQUESTER("10.0.0.3", "19"), ""));
	struct dart_tea_tables tables;
	struct dart_error error;

	assert_int_equal(load(first, second, false, &tables, &error), 0);
	assert_int_equal(tables.server_count, 3);
	assert_int_equal(tables.servers[0].qpn, 17);
	assert_int_equal(tables.shares[99], 0);
	assert_int_equal(tables.shares[100], DART_TEA_SERVER_NONE);
	assert_int_equal(tables.shares[200], 1);
	assert_int_equal(tables.replicas[99], DART_TEA_SERVER_NONE);
	assert_int_equal(tables.replicas[1023], 2);
	assert_int_equal(dart_tea_tables__uncovered(&tables), 100);
	dart_tea_tables__free(&tables);

	/* The file lists two switches, and the caller named none. */
	assert_int_equal(load(first, second, true, &tables, &error), -EINVAL);
	assert_non_null(strstr(error.text, "give the address of one"));
}

/* Replicas stash the same key: one entry of it stays, and the rest is sorted. */
static void test_stash(void **state)
{
	static const char first[] = TABLE(SERVER("[0, 1023]", REQUESTER("10.0.0.1", "17"),
						 "{'key': 'ff000001', 'value': '0001'},"
						 "{'key': '0a000001', 'value': '0002'}"));
	static const char second[] = TABLE(SERVER("[0, 1023]", REQUESTER("10.0.0.2", "18"),
						  "{'key': '0a000001', 'value': '0002'},"
						  "{'key': '0b000001', 'value': '0003'}"));
	struct dart_tea_tables tables;
	struct dart_error error;

	assert_int_equal(load(first, second, true, &tables, &error), 0);
	assert_int_equal(tables.stashed_count, 3);
	assert_memory_equal(tables.stashed[0].key, "\x0a\0\0\1", 4);
	assert_memory_equal(tables.stashed[0].value, "\0\2", 2);
	assert_memory_equal(tables.stashed[1].key, "\x0b\0\0\1", 4);
	assert_memory_equal(tables.stashed[2].key, "\xff\0\0\1", 4);
	dart_tea_tables__free(&tables);
}

/* The share of the key in @plain, computed here, is in one half. */
static void test_stash_elsewhere(void **state)
{
	const struct dart_tea_geometry geometry = { 10, 8, 4, 2, 1514 };
	struct dart_tea_place place;
	struct dart_tea_hash *hash;
	struct dart_tea_tables tables;
	struct dart_error error;

	assert_int_equal(dart_tea_hash__new(&geometry, &hash), 0);
	dart_tea_hash__place(hash, "\x0a\0\0\1", &place);
	dart_tea_hash__free(hash);
	assert_int_equal(load(place.share < 512 ?
				      TABLE(SERVER("[512, 1023]", REQUESTER("10.0.0.1", "17"),
						   "{'key': '0a000001', 'value': 'beef'}")) :
				      TABLE(SERVER("[0, 511]", REQUESTER("10.0.0.1", "17"),
						   "{'key': '0a000001', 'value': 'beef'}")),
			      NULL, true, &tables, &error),
			 -EINVAL);
	assert_non_null(strstr(error.text, "which is not the server's"));
}

/* @plain with a part replaced, or a second file with it. */
static void test_refused(void **state)
{
	static const struct {
		const char *old, *new, *message;
		bool is_second;
	} changes[] = {
		{ "'tables'", "'table'", "not a file of lookup tables", false },
		{ "{'tables'", "[{'tables'", "not JSON", false },
		{ "'tables': [", "'tables': [], 'x': [", "not a file", false },
		{ "'tables': [{", "'tables': [], 'tables': [{", "not JSON",
		  false },
		{ "'rows_log2': 10", "'rows_log2': 29", "this geometry",
		  false },
		{ "'rows_log2': 10", "'rows_log2': -1", "this geometry",
		  false },
		{ "'rows_log2': 10", "'rows_log2': 4294967306", "this geometry",
		  false },
		{ "'rows_log2': 10", "'rows_log2': '10'", "Expected integer", false },
		{ "'cells': 8", "'cells': 0", "this geometry", false },
		{ "'key_length': 4", "'key_length': 65", "this geometry",
		  false },
		{ "'packet_length': 1514", "'packet_length': 4097",
		  "this geometry", false },
		{ "'cells': 8,", "", "cells", false },
		{ "'cells': 8,", "'cells': 8, 'more': 1,", "unpacked", false },
		{ "'nat'", "''", "empty or too long", false },
		{ "'nat'", "'0123456789012345678901234567890123456789'",
		  "empty or too long", false },
		{ "[0, 1023]", "[0, 1024]", "not a range", false },
		{ "[0, 1023]", "[5, 4]", "not a range", false },
		{ "[0, 1023]", "[-1, 4]", "not a range", false },
		{ "[0, 1023]", "[1023]", "a server:", false },
		{ "'epoch': 77", "'epoch': 0", "epoch is not", false },
		{ "'epoch': 77", "'epoch': 16777216", "epoch is not", false },
		{ OURS, "10.0.0", "not a host's address", false },
		{ "'10.0.0.1'", "'224.0.0.1'", "not a host's address", false },
		{ "52:54", "53:54", "not a host's address", false },
		{ "'qpn': 17", "'qpn': 1", "queue pair", false },
		{ "'qpn': 17", "'qpn': 16777216", "queue pair", false },
		{ "'rkey': 4660", "'rkey': 4294967296", "32 bits", false },
		{ "16777215", "16777216", "24 bits", false },
		{ "0x3a5f00000000", "3a5f", "is not a number", false },
		{ "0x3a5f00000000", "0xffffffffffe00001", "all addresses",
		  false },
		{ "'requesters': [", "'requesters': [], 'stash': [], 'x': [",
		  "not JSON", false },
		{ "'requesters': [", "'requesters': 5, 'x': [", "unpacked",
		  false },
		{ "[{'address'", "[" REQUESTER("10.0.0.1", "5") ", {'address'",
		  "occurs twice", false },
		{ "'0a000001'", "'0a00000'", "not 4 bytes", false },
		{ "'0a000001'", "'0a00000101'", "not 4 bytes", false },
		{ "'0a000001'", "'0A000001'", "not 4 bytes", false },
		{ "'beef'", "'beeg'", "not 4 bytes", false },
		{ "'value'", "'valve'", "an entry of the stash", false },
		{ "'rows_log2': 10", "'rows_log2': 11", "another geometry",
		  true },
		{ "'nat'", "'firewall'", "table 'firewall', but 'nat' before",
		  true },
		{ "10.0.0.1'", "10.0.0.1'", "the same address", true },
		{ "10.0.0.1', 'mac", "10.0.0.2', 'mac", NULL, true },
		{ "[0, 1023], 'epoch': 77, 'requesters': [{'address': '" OURS
		  "', 'server': '10.0.0.1'",
		  "[1, 1023], 'epoch': 77, 'requesters': [{'address': '" OURS
		  "', 'server': '10.0.0.2'",
		  "shares 1-1023 overlap", true },
	};
	struct dart_tea_tables tables;
	struct dart_error error;
	char text[2048];
	const char *found;
	size_t i;
	int ret;

	for (i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		found = strstr(plain, changes[i].old);
		assert_non_null(found);
		snprintf(text, sizeof(text), "%.*s%s%s", (int)(found - plain), plain,
			 changes[i].new, found + strlen(changes[i].old));
		ret = changes[i].is_second ? load(plain, text, true, &tables, &error) :
					     load(text, NULL, true, &tables, &error);
		if (!!ret != !!changes[i].message || (ret && ret != -EINVAL) ||
		    (ret && !strstr(error.text, changes[i].message)))
			fail_msg("%s: %d, %s", changes[i].new, ret, error.text);
		if (!ret)
			dart_tea_tables__free(&tables);
	}
}

static void test_many(void **state)
{
	static const char third[] = TABLE(
		SERVER("[0, 1023]", REQUESTER("10.0.0.2", "18"), "") "," SERVER(
			"[0, 1023]", REQUESTER("10.0.0.3", "19"), ""));
	struct dart_tea_tables tables;
	struct dart_error error;

	assert_int_equal(load(plain, third, true, &tables, &error), -EINVAL);
	assert_non_null(strstr(error.text, "share 0 has more than two servers"));
}

static void test_absent(void **state)
{
	static const char other[] = TABLE(
		SERVER("[0, 1023]",
		       "{'address': '10.0.0.8', 'server': '10.0.0.1',"
		       " 'mac': '52:54:00:00:00:01', 'qpn': 16, 'rkey': 0,"
		       " 'base': '0x0', 'first_psn': 0}",
		       ""));
	struct in_addr any = { INADDR_ANY };
	const char *path = "/nonexistent/tables";
	struct dart_tea_tables tables;
	struct dart_error error;

	assert_int_equal(load(other, NULL, false, &tables, &error), -ENOENT);
	assert_non_null(strstr(error.text, "no requester " OURS));
	assert_int_equal(load(TABLE(""), NULL, true, &tables, &error), -ENOENT);
	assert_int_equal(load("{'tables': []}", NULL, true, &tables, &error), -ENOENT);
	assert_int_equal(dart_tea_tables__load(&path, 1, any, &tables, &error), -ENOENT);
}

/* Changed bytes of a valid file: each file is refused, or is valid. */
static void test_mutated(void **state)
{
	struct dart_tea_tables tables;
	uint64_t random = SEED;
	struct dart_error error;
	char text[sizeof(plain)];
	uint32_t i, refused = 0;
	int ret;

	for (i = 0; i < ROUNDS; i++) {
		memcpy(text, plain, sizeof(text));
		text[random__below(&random, sizeof(text) - 1)] = 1 + random__below(&random, 255);
		ret = load(text, NULL, true, &tables, &error);
		refused += !!ret;
		if (ret)
			continue;
		assert_in_range(tables.server_count, 1, DART_TEA_SERVERS_MAX);
		assert_int_equal(dart_tea_geometry__check(&tables.geometry), 0);
		dart_tea_tables__free(&tables);
	}
	assert_in_range(refused, ROUNDS / 2, ROUNDS - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a file of one server gives its members and all shares", test_plain),
		TEST("files add up: servers with the same shares are replicas, shares without a server are counted, another switch is left out",
		     test_joined),
		TEST("stashes of replicas are one, in the order of keys", test_stash),
		TEST("a stashed key of a share that the server does not have is refused",
		     test_stash_elsewhere),
		TEST("each wrong or missing member, other table and overlap of shares is refused with a sentence",
		     test_refused),
		TEST("a third server of a share is refused", test_many),
		TEST("a table without this switch, without servers or without a file is absent",
		     test_absent),
		TEST("files with a changed byte are refused or valid", test_mutated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
