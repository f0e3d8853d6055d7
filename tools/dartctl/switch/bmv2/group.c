// SPDX-License-Identifier: GPL-2.0-only
/* Mirror sessions and multicast groups of simple_switch, see group.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "group.h"
#include "tools/dartctl/switch/thrift/call.h"

#define PRE "simple_pre_lag" /* the service that replicates packets */
#define PORTS 512
#define NODES 2

/* ---- sessions */

/* Any refusal means that the session does not exist. */
int bmv2_session__read(struct thrift *thrift, uint32_t number, struct switch_entry *session,
		       struct dart_error *error)
{
	enum thrift_type type;
	bool is_group = false;
	int32_t port = -1;
	int16_t id;
	int asked;

	thrift__begin(thrift, SWITCH_SIMPLE_SWITCH, "mirroring_session_get");
	thrift__put_i32(thrift, 1, number);
	asked = thrift__ask(thrift, THRIFT_STRUCT);
	while (!asked && (type = thrift__next(thrift, &id)) != THRIFT_STOP) {
		if (id == 1 && type == THRIFT_I32) {
			port = thrift__i32(thrift);
		} else {
			is_group |= id == 2;
			thrift__skip(thrift, type);
		}
	}
	switch_entry__set(session, is_group || port < 0 ? SWITCH_FOREIGN : (uint64_t)port);
	session->there = !asked;
	return thrift__end(thrift, 0, NULL, error);
}

int bmv2_session__set(struct thrift *thrift, uint32_t session, uint32_t port,
		      struct dart_error *error)
{
	thrift__begin(thrift, SWITCH_SIMPLE_SWITCH, "mirroring_session_add");
	thrift__put_i32(thrift, 1, session);
	thrift__put_struct(thrift, 2);
	thrift__put_i32(thrift, 1, port);
	thrift__put_stop(thrift);
	return thrift__end(thrift, thrift__ask(thrift, THRIFT_STOP), "a mirror session", error);
}

/* ---- groups */

int bmv2_group__read(struct thrift *thrift, json_t **groups, struct dart_error *error)
{
	char *text = NULL;
	uint32_t length;
	int asked, ret;

	thrift__begin(thrift, PRE, "bm_mc_get_entries");
	thrift__put_i32(thrift, 1, 0);
	asked = thrift__ask(thrift, THRIFT_STRING);
	if (!asked)
		text = thrift__text(thrift, &length);
	ret = thrift__end(thrift, asked, "its multicast groups", error);
	if (!ret) {
		*groups = json_loadb(text, length, 0, NULL);
		if (!*groups)
			ret = dart_error__set(error, EINVAL, "its multicast groups are not JSON");
	}
	free(text);
	return ret;
}

/* The element of list @name whose member @key is @number, or NULL. */
static json_t *find(const json_t *groups, const char *name, const char *key, json_int_t number)
{
	json_t *element, *value;
	size_t i;

	json_array_foreach(json_object_get(groups, name), i, element) {
		value = json_object_get(element, key);
		if (json_is_integer(value) && json_integer_value(value) == number)
			return element;
	}
	return NULL;
}

bool bmv2_group__is_there(const json_t *groups, uint32_t group)
{
	return find(groups, "mgrps", "id", group);
}

static bool is_right_node(const json_t *groups, const json_t *handle, uint32_t rid, uint32_t port)
{
	json_t *node, *leaf, *ports;

	node = find(groups, "l1_handles", "handle", json_integer_value(handle));
	leaf = find(groups, "l2_handles", "handle",
		    json_integer_value(json_object_get(node, "l2_handle")));
	ports = json_object_get(leaf, "ports");
	return json_is_integer(handle) && node && leaf &&
	       json_integer_value(json_object_get(node, "rid")) == rid &&
	       json_array_size(ports) == 1 &&
	       json_integer_value(json_array_get(ports, 0)) == port &&
	       !json_array_size(json_object_get(leaf, "lags"));
}

bool bmv2_group__is_right(const json_t *groups, uint32_t group, uint32_t port)
{
	json_t *nodes = json_object_get(find(groups, "mgrps", "id", group), "l1_handles");
	size_t i;

	if (json_array_size(nodes) != NODES)
		return false;
	for (i = 0; i < NODES; i++)
		if (!is_right_node(groups, json_array_get(nodes, i), 1 + i, port))
			return false;
	return true;
}

/* Calls @method, which has no result, for the group or node @handle. */
static int destroy(struct thrift *thrift, const char *method, int32_t handle,
		   struct dart_error *error)
{
	thrift__begin(thrift, PRE, method);
	thrift__put_i32(thrift, 1, 0);
	thrift__put_i32(thrift, 2, handle);
	return thrift__end(thrift, thrift__ask(thrift, THRIFT_STOP), "a multicast group", error);
}

/* The handle of a group is its number. */
static int destroy_group(struct thrift *thrift, uint32_t group, struct dart_error *error)
{
	json_t *groups, *nodes, *node;
	int ret;
	size_t i;

	ret = bmv2_group__read(thrift, &groups, error);
	if (ret)
		return ret;
	nodes = json_object_get(find(groups, "mgrps", "id", group), "l1_handles");
	/* Destroy nodes first: the switch crashes on a node whose group does not exist. */
	json_array_foreach(nodes, i, node) {
		if (ret)
			break;
		ret = destroy(thrift, "bm_mc_node_destroy", json_integer_value(node), error);
	}
	if (!ret && bmv2_group__is_there(groups, group))
		ret = destroy(thrift, "bm_mc_mgrp_destroy", group, error);
	json_decref(groups);
	return ret;
}

static int ask_handle(struct thrift *thrift, int32_t *handle, struct dart_error *error)
{
	int asked = thrift__ask(thrift, THRIFT_I32);

	*handle = asked ? 0 : thrift__i32(thrift);
	return thrift__end(thrift, asked, "a multicast group", error);
}

static int add_node(struct thrift *thrift, int32_t group, uint32_t rid,
		    uint32_t port, struct dart_error *error)
{
	char ports[PORTS + 1];
	int32_t node;
	int ret;

	/* The last character is port 0. */
	memset(ports, '0', port + 1);
	ports[0] = '1';
	ports[port + 1] = '\0';
	thrift__begin(thrift, PRE, "bm_mc_node_create");
	thrift__put_i32(thrift, 1, 0);
	thrift__put_i32(thrift, 2, rid);
	thrift__put_string(thrift, 3, ports);
	thrift__put_string(thrift, 4, "");
	ret = ask_handle(thrift, &node, error);
	if (ret)
		return ret;
	thrift__begin(thrift, PRE, "bm_mc_node_associate");
	thrift__put_i32(thrift, 1, 0);
	thrift__put_i32(thrift, 2, group);
	thrift__put_i32(thrift, 3, node);
	return thrift__end(thrift, thrift__ask(thrift, THRIFT_STOP), "a multicast group", error);
}

int bmv2_group__make(struct thrift *thrift, uint32_t group, uint32_t port, struct dart_error *error)
{
	int32_t handle;
	uint32_t rid;
	int ret;

	ret = destroy_group(thrift, group, error);
	if (ret)
		return ret;
	thrift__begin(thrift, PRE, "bm_mc_mgrp_create");
	thrift__put_i32(thrift, 1, 0);
	thrift__put_i32(thrift, 2, group);
	ret = ask_handle(thrift, &handle, error);
	for (rid = 1; !ret && rid <= NODES; rid++)
		ret = add_node(thrift, handle, rid, port, error);
	return ret;
}
