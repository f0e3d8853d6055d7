// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reads and writes files of collectors, see dart_collectors(5). */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/store/share_history.h>
#include <libdart/text_file.h>

#include "collectors.h"

#define QPN_MIN		2	/* 0 and 1 are for management */
#define BITS_24_MAX	0xffffff
#define DSCP_MAX	63
#define EPOCH_MAX	(INT64_C(1) << 53)	/* exact in any reader of JSON */

/* The state of reading the files of one call. */
struct load {
	struct dart_collectors *collectors;
	struct in_addr reporter;
	bool is_any_reporter;	/* take the first reporter */
	const char *path;
	size_t line;		/* index in the list */
	bool has_shares;	/* the collectors name shares */
	struct dart_share_history *history;	/* of a file of shares, or NULL */
	const char *history_path;
	struct dart_error *error;
};

/* Sets the error, with the place in the file; returns -EINVAL. */
#define refuse(load, format, ...)                                              \
	dart_error__set((load)->error, EINVAL, "%s: collectors[%zu]: " format, \
			(load)->path, (load)->line, ##__VA_ARGS__)

/* Gives the shares "0-511,600" to collector @index. */
static int take_shares(struct load *load, const char *text, uint32_t index)
{
	uint16_t *shares = load->collectors->shares;
	struct dart_share_set set;
	uint32_t share;

	if (dart_share_set__parse(text, &set))
		return refuse(load, "'%s' is not a list of shares", text);
	for (share = 0; share < DART_STORE_SHARES; share++) {
		if (!dart_share_set__has(&set, share))
			continue;
		if (shares[share] != DART_COLLECTOR_NONE)
			return refuse(load, "share %" PRIu32 " has another collector", share);
		shares[share] = index;
	}
	return 0;
}

/* Checks @collector against the previous ones. */
static int check_beside(struct load *load, const struct dart_collector *collector)
{
	const struct dart_collectors *collectors = load->collectors;
	const struct dart_collector *other = collectors->list;
	uint32_t i;

	if (collectors->count &&
	    (other->geometry.value_length != collector->geometry.value_length ||
	     other->geometry.checksum_bits != collector->geometry.checksum_bits))
		return refuse(load,
			      "another value_length or checksum_bits than the collectors before");
	for (i = 0; i < collectors->count; i++)
		if (other[i].ip.s_addr == collector->ip.s_addr && other[i].qpn == collector->qpn)
			return refuse(load, "qpn %" PRIu32 " occurs twice", collector->qpn);
	return 0;
}

static int add_collector(struct load *load, const struct dart_collector *collector,
			 const char *shares)
{
	struct dart_collectors *collectors = load->collectors;
	struct dart_collector *list;
	int ret;

	ret = check_beside(load, collector);
	if (ret)
		return ret;
	if (collectors->count == DART_COLLECTORS_MAX)
		return refuse(load, "more than %d collectors", DART_COLLECTORS_MAX);
	if (!collectors->count)
		load->has_shares = shares;
	if (load->has_shares != !!shares)
		return refuse(load, "either all collectors have shares or none");
	if (shares) {
		ret = take_shares(load, shares, collectors->count);
		if (ret)
			return ret;
	}

	list = reallocarray(collectors->list, collectors->count + 1, sizeof(*list));
	if (!list)
		return dart_error__no_memory(load->error);
	list[collectors->count++] = *collector;
	collectors->list = list;
	return 0;
}

static bool is_in(json_int_t number, json_int_t least, json_int_t most)
{
	return number >= least && number <= most;
}

/* The members that say where WRITEs go; two more are optional. */
#define PATH_MEMBERS 8

int dart_collector__take_path(json_t *json, struct dart_collector *collector, size_t *others,
			      struct dart_error *error)
{
	json_int_t qpn, rkey, first_psn, epoch = 0, dscp = 0;
	const char *name, *reporter, *mac, *ip, *base;
	json_error_t json_error;

	if (json_unpack_ex(json, &json_error, 0,
			   "{s:s, s:s, s:s, s:s, s:I, s:I, s:s, s:I, s?I, s?I}", "name", &name,
			   "reporter", &reporter, "mac", &mac, "ip", &ip, "qpn", &qpn, "rkey",
			   &rkey, "base", &base, "first_psn", &first_psn, "epoch", &epoch, "dscp",
			   &dscp))
		return dart_error__set(error, EINVAL, "%s", json_error.text);
	*others = json_object_size(json) - PATH_MEMBERS - !!json_object_get(json, "epoch") -
		  !!json_object_get(json, "dscp");
	if (!*name || strlen(name) >= sizeof(collector->name))
		return dart_error__set(error, EINVAL, "the name is empty or too long");
	strcpy(collector->name, name);
	if (!dart_export_text__address(reporter, &collector->reporter))
		return dart_error__set(error, EINVAL, "reporter '%s' is not a host's address",
				       reporter);
	if (!dart_export_text__address(ip, &collector->ip))
		return dart_error__set(error, EINVAL, "ip '%s' is not a host's address", ip);
	if (!dart_export_text__mac(mac, collector->mac))
		return dart_error__set(error, EINVAL, "mac '%s' is not a host's address", mac);
	if (!dart_export_text__base(base, &collector->base))
		return dart_error__set(error, EINVAL,
				       "base '%s' is not a number like \"0x3a5f00000000\"", base);
	if (!is_in(qpn, QPN_MIN, BITS_24_MAX))
		return dart_error__set(error, EINVAL, "qpn is not the number of a queue pair");
	if (!is_in(rkey, 0, UINT32_MAX))
		return dart_error__set(error, EINVAL, "rkey has more than 32 bits");
	if (!is_in(first_psn, 0, BITS_24_MAX))
		return dart_error__set(error, EINVAL, "first_psn has more than 24 bits");
	if (!is_in(epoch, 0, EPOCH_MAX))
		return dart_error__set(error, EINVAL,
				       "epoch is negative, or has more than 53 bits");
	if (!is_in(dscp, 0, DSCP_MAX))
		return dart_error__set(error, EINVAL, "dscp has more than 6 bits");
	collector->qpn = qpn;
	collector->rkey = rkey;
	collector->first_psn = first_psn;
	collector->epoch = epoch;
	collector->dscp = dscp;
	return 0;
}

/* The numbers of a geometry, as wide as in JSON. */
struct numbers {
	json_int_t slots_log2, value_length, checksum_bits, redundancy;
	json_int_t redundancy_max;	/* 0: not given */
};

/* The collector's other members have been set. */
static int take_geometry(struct load *load, const struct numbers *numbers,
			 struct dart_collector *collector)
{
	struct dart_store_geometry *geometry = &collector->geometry;

	if (!is_in(numbers->slots_log2, 0, DART_STORE_SLOTS_LOG2_MAX) ||
	    !is_in(numbers->value_length, 0, UINT32_MAX) ||
	    !is_in(numbers->checksum_bits, 0, UINT32_MAX) ||
	    !is_in(numbers->redundancy, 0, UINT32_MAX))
		return refuse(load, "a store cannot have this geometry");
	geometry->slots = UINT64_C(1) << numbers->slots_log2;
	geometry->value_length = numbers->value_length;
	geometry->checksum_bits = numbers->checksum_bits;
	geometry->redundancy = numbers->redundancy;
	if (dart_store_geometry__check(geometry))
		return refuse(load, "a store cannot have this geometry");
	if (numbers->redundancy_max &&
	    !is_in(numbers->redundancy_max, geometry->redundancy, DART_STORE_REDUNDANCY_MAX))
		return refuse(load, "redundancy_max is below redundancy, or above %d",
			      DART_STORE_REDUNDANCY_MAX);
	collector->redundancy_max = numbers->redundancy_max;
	if (collector->base > UINT64_MAX - dart_store_geometry__length(geometry))
		return refuse(load, "the store ends beyond all addresses");
	return 0;
}

static int take_line(struct load *load, json_t *json)
{
	struct dart_collector collector = { .qpn = 0 };
	const char *shares = NULL, *transport = "uc";
	struct numbers numbers = { .redundancy_max = 0 };
	struct dart_error reason;
	json_error_t error;
	size_t others;
	int ret;

	if (dart_collector__take_path(json, &collector, &others, &reason))
		return refuse(load, "%s", reason.text);
	if (json_unpack_ex(json, &error, 0, "{s:I, s:I, s:I, s:I, s?I, s?s, s?s}", "slots_log2",
			   &numbers.slots_log2, "value_length", &numbers.value_length,
			   "checksum_bits", &numbers.checksum_bits, "redundancy",
			   &numbers.redundancy, "redundancy_max", &numbers.redundancy_max,
			   "shares", &shares, "transport", &transport))
		return refuse(load, "%s", error.text);
	if (others != 4u + !!json_object_get(json, "redundancy_max") + !!shares +
			      !!json_object_get(json, "transport"))
		return refuse(load, "it has members that no collector has");
	if (strcmp(transport, "uc") && strcmp(transport, "rc"))
		return refuse(load, "transport '%s' is neither uc nor rc", transport);
	collector.is_reliable = !strcmp(transport, "rc");
	ret = take_geometry(load, &numbers, &collector);
	if (ret)
		return ret;
	if (load->is_any_reporter && !load->collectors->count)
		load->reporter = collector.reporter;
	if (collector.reporter.s_addr != load->reporter.s_addr)
		return load->is_any_reporter ?
			       refuse(load, "another reporter than those before (give the address of one)") :
			       0;
	return add_collector(load, &collector, shares);
}

static int take_root(struct load *load, json_t *root)
{
	json_t *list, *line;
	json_error_t json_error;
	int version, ret;

	if (json_unpack_ex(root, &json_error, 0, "{s:i, s:o !}",
			   "dart_collectors", &version, "collectors", &list) ||
	    version != 1 || !json_is_array(list))
		return dart_error__set(
			load->error, EINVAL,
			"%s: not a file of collectors, version 1 (see 'dartctl store export')",
			load->path);
	json_array_foreach(list, load->line, line) {
		ret = take_line(load, line);
		if (ret)
			return ret;
	}
	return 0;
}

int dart_collectors__read(const char *path, json_t **root, struct dart_error *error)
{
	json_error_t json_error;
	FILE *file;
	bool is_empty;

	file = fopen(path, "re");
	if (!file)
		return dart_error__system(error, errno, "cannot open %s", path);
	dart_text_file__pass_mark(file);
	is_empty = dart_text_file__is_at_end(file);
	*root = json_loadf(file, JSON_REJECT_DUPLICATES, &json_error);
	fclose(file);
	if (is_empty)
		return dart_error__set(
			error, EINVAL,
			"%s is empty: the command that should have written it has failed (try it again)",
			path);
	if (!*root)
		return dart_error__set(error, EINVAL, "%s:%d: not JSON: %s", path, json_error.line,
				       json_error.text);
	return 0;
}

static int take_history(struct load *load, const json_t *root)
{
	if (load->history)
		return dart_error__set(load->error, EINVAL,
				       "%s: a second file of shares, after %s", load->path,
				       load->history_path);
	load->history_path = load->path;
	return dart_share_history__take(root, load->path, &load->history, load->error);
}

static int take_file(struct load *load)
{
	json_t *root;
	int ret;

	ret = dart_collectors__read(load->path, &root, load->error);
	if (ret)
		return ret;
	ret = dart_share_history__is_in(root) ? take_history(load, root) : take_root(load, root);
	json_decref(root);
	return ret;
}

static void share_equally(struct dart_collectors *collectors)
{
	uint32_t share;

	for (share = 0; share < DART_STORE_SHARES; share++)
		collectors->shares[share] = share * collectors->count / DART_STORE_SHARES;
}

/* The index of the only collector with this address, or DART_COLLECTOR_NONE. */
static uint16_t find_by_address(const struct dart_collectors *collectors, struct in_addr ip)
{
	uint16_t found = DART_COLLECTOR_NONE;
	uint32_t i;

	for (i = 0; i < collectors->count; i++) {
		if (collectors->list[i].ip.s_addr != ip.s_addr)
			continue;
		if (found != DART_COLLECTOR_NONE)
			return DART_COLLECTOR_NONE;
		found = i;
	}
	return found;
}

static int share_by_history(struct load *load)
{
	struct dart_collectors *collectors = load->collectors;
	struct dart_share_owner owners[DART_SHARE_OWNERS_MAX];
	const char *store = dart_share_history__store(load->history);
	char address[INET_ADDRSTRLEN];
	uint32_t i;

	if (load->has_shares)
		return dart_error__set(load->error, EINVAL,
				       "%s: the collectors have shares in their own files",
				       load->history_path);
	for (i = 0; i < collectors->count; i++)
		if (strcmp(collectors->list[i].name, store))
			return dart_error__set(load->error, EINVAL,
					       "%s is for store '%s', not for store '%s'",
					       load->history_path, store,
					       collectors->list[i].name);
	for (i = 0; i < DART_STORE_SHARES; i++) {
		if (!dart_share_history__owners(load->history, i, owners))
			continue;
		collectors->shares[i] = find_by_address(collectors, owners[0].collector);
		if (collectors->shares[i] != DART_COLLECTOR_NONE)
			continue;
		inet_ntop(AF_INET, &owners[0].collector, address, sizeof(address));
		return dart_error__set(
			load->error, EINVAL,
			"%s: share %" PRIu32 " is with collector %s, of which there is not one file",
			load->history_path, i, address);
	}
	return 0;
}

static void begin(struct load *load, struct in_addr reporter,
		  struct dart_collectors *collectors, struct dart_error *error)
{
	size_t i;

	*load = (struct load){
		.collectors = collectors,
		.reporter = reporter,
		.is_any_reporter = reporter.s_addr == INADDR_ANY,
		.error = error,
	};
	collectors->count = 0;
	collectors->list = NULL;
	for (i = 0; i < DART_STORE_SHARES; i++)
		collectors->shares[i] = DART_COLLECTOR_NONE;
}

/* @ret: the result of reading the files. */
static int end(struct load *load, int ret)
{
	struct dart_collectors *collectors = load->collectors;
	char address[INET_ADDRSTRLEN];

	if (!ret && !collectors->count) {
		inet_ntop(AF_INET, &load->reporter, address, sizeof(address));
		ret = dart_error__set(
			load->error, ENOENT,
			"no collector takes reports from %s (dartctl reporter add, then store export)",
			load->is_any_reporter ? "any address" : address);
	}
	if (!ret && load->history)
		ret = share_by_history(load);
	else if (!ret && !load->has_shares)
		share_equally(collectors);
	if (ret)
		dart_collectors__free(collectors);
	dart_share_history__free(load->history);
	return ret;
}

int dart_collectors__load(const char *const *paths, size_t count, struct in_addr reporter,
			  struct dart_collectors *collectors, struct dart_error *error)
{
	struct load load;
	int ret = 0;
	size_t i;

	begin(&load, reporter, collectors, error);
	for (i = 0; !ret && i < count; i++) {
		load.path = paths[i];
		ret = take_file(&load);
	}
	return end(&load, ret);
}

int dart_collectors__take(json_t *file, const char *name, struct in_addr reporter,
			  struct dart_collectors *collectors, struct dart_error *error)
{
	struct load load;

	begin(&load, reporter, collectors, error);
	load.path = name;
	return end(&load, take_root(&load, file));
}

void dart_collectors__free(struct dart_collectors *collectors)
{
	free(collectors->list);
	collectors->list = NULL;
	collectors->count = 0;
}

json_t *dart_collector__path_to_json(const struct dart_collector *collector)
{
	char reporter[INET_ADDRSTRLEN], ip[INET_ADDRSTRLEN];
	char mac[sizeof("00:00:00:00:00:00")];
	char base[sizeof("0x") + 16];

	inet_ntop(AF_INET, &collector->reporter, reporter, sizeof(reporter));
	inet_ntop(AF_INET, &collector->ip, ip, sizeof(ip));
	snprintf(mac, sizeof(mac), "%02x:%02x:%02x:%02x:%02x:%02x",
		 collector->mac[0], collector->mac[1], collector->mac[2],
		 collector->mac[3], collector->mac[4], collector->mac[5]);
	snprintf(base, sizeof(base), "0x%" PRIx64, collector->base);
	return json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:s, s:I, s:o*, s:o*}", "name",
			 collector->name, "reporter", reporter, "mac", mac, "ip", ip, "qpn",
			 (json_int_t)collector->qpn, "rkey", (json_int_t)collector->rkey, "base",
			 base, "first_psn", (json_int_t)collector->first_psn, "epoch",
			 collector->epoch ? json_integer(collector->epoch) : NULL, "dscp",
			 collector->dscp ? json_integer(collector->dscp) : NULL);
}

json_t *dart_collector__to_json(const struct dart_collector *collector)
{
	const struct dart_store_geometry *geometry = &collector->geometry;
	json_t *json = dart_collector__path_to_json(collector);
	json_t *more = json_pack("{s:i, s:I, s:I, s:I, s:o*, s:s*}", "slots_log2",
				 __builtin_ctzll(geometry->slots), "value_length",
				 (json_int_t)geometry->value_length, "checksum_bits",
				 (json_int_t)geometry->checksum_bits, "redundancy",
				 (json_int_t)geometry->redundancy, "redundancy_max",
				 collector->redundancy_max ?
					 json_integer(collector->redundancy_max) :
					 NULL,
				 "transport", collector->is_reliable ? "rc" : NULL);

	if (json_object_update(json, more)) {
		json_decref(json);
		json = NULL;
	}
	json_decref(more);
	return json;
}
