/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A lookup table as a switch sees it: its servers and its stash, from the files that
 * agents export, see <dart/tea.h> and dart_tables(5).
 *
 * `dartctl table export` prints such a JSON file for one agent.  The servers of several
 * files add up:
 *
 *   {"tables": [
 *      {"name": "nat", "rows_log2": 17, "cells": 8, "key_length": 13, "value_length": 7,
 *       "packet_length": 1514, "servers": [
 *          {"shares": [0, 1023], "epoch": 77,
 *           "requesters": [
 *              {"address": "10.0.0.9", "server": "10.0.0.1", "mac": "52:54:00:00:00:01",
 *               "qpn": 17, "rkey": 4660, "base": "0x3a5f00000000", "first_psn": 5}],
 *           "stash": [{"key": "0a00...", "value": "c0a8..."}]}]}]}
 *
 * requesters: the switches that the server has memory and a queue pair for, by their
 * addresses.  base: a string, because JSON's numbers are not wide enough.  key and value
 * of an entry in the stash: two hexadecimal digits for each byte.
 */
#ifndef DART_TEA_TABLES_H
#define DART_TEA_TABLES_H

#include <netinet/in.h>

#include <dart/tea_access.h>
#include <libdart/error.h>

#include "tea_geometry.h"

#define DART_TEA_SERVERS_MAX 64
#define DART_TEA_SERVER_NONE UINT8_MAX
#define DART_TEA_STASHED_MAX 65536 /* entries, of all servers */

struct dart_tea_server {
	struct in_addr ip; /* destination of requests */
	uint8_t mac[6];
	uint32_t qpn; /* 24 bits */
	uint32_t rkey;
	uint32_t first_psn; /* 24 bits */
	uint32_t epoch; /* 24 bits, not 0 */
	uint64_t base; /* address of row 0 */
	uint32_t first_share, last_share;
};

struct dart_tea_stashed {
	/* the bytes after the length of the geometry are 0 */
	uint8_t key[DART_TEA_KEY_MAX];
	uint8_t value[DART_TEA_VALUE_MAX];
};

struct dart_tea_tables {
	char name[DART_TEA_NAME_MAX];
	struct in_addr requester; /* the switch */
	struct dart_tea_geometry geometry;
	uint32_t server_count; /* 1 to DART_TEA_SERVERS_MAX */
	struct dart_tea_server servers[DART_TEA_SERVERS_MAX];
	/*
	 * By share: indexes of the server and of its replica, or
	 * DART_TEA_SERVER_NONE.  Without a server there is no replica.
	 */
	uint8_t shares[DART_TEA_SHARES];
	uint8_t replicas[DART_TEA_SHARES];
	size_t stashed_count;
	struct dart_tea_stashed *stashed; /* in the order of keys, each once */
};

/*
 * Reads the servers for the switch @requester from the @count files at @paths.  All must be
 * of the same table, and accept requests from the switch.  INADDR_ANY stands for the only
 * requester in the files.  Returns 0, or sets @error and returns -ENOENT if a server has no
 * such requester, -EINVAL, -ENOMEM or the error of opening a file.
 */
int dart_tea_tables__load(const char *const *paths, size_t count, struct in_addr requester,
			  struct dart_tea_tables *tables, struct dart_error *error);
void dart_tea_tables__free(struct dart_tea_tables *tables);

/* How many of the DART_TEA_SHARES shares have no server. */
uint32_t dart_tea_tables__uncovered(const struct dart_tea_tables *tables);

#endif /* DART_TEA_TABLES_H */
