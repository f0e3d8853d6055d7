// SPDX-License-Identifier: GPL-2.0-only
/* Ports of a switch without a link, see ports.h. */
#include <stdbool.h>

#include "ports.h"
#include "tools/dartctl/switch/bmv2/register.h"
#include "tools/dartctl/switch/thrift/call.h"

#define LIST_MAX 512 /* ports of a switch */

/* Reads one port and its link.  Returns its number, UINT32_MAX if the answer contains none. */
static uint32_t read_port(struct thrift *thrift, bool *is_up)
{
	uint32_t number = UINT32_MAX;
	enum thrift_type type;
	int16_t id;

	*is_up = false;
	while ((type = thrift__next(thrift, &id)) != THRIFT_STOP) {
		if (id == 1 && type == THRIFT_I32)
			number = thrift__i32(thrift);
		else if (id == 3 && type == THRIFT_BOOL)
			*is_up = thrift__bool(thrift);
		else
			thrift__skip(thrift, type);
	}
	return number;
}

/* A port without an interface counts as one without a link. */
static int read_ports(struct thrift *thrift, bool up[SWITCH_PORTS], struct dart_error *error)
{
	uint32_t i, count = 0, port;
	bool is_up;
	int asked;

	thrift__begin(thrift, SWITCH_STANDARD, "bm_dev_mgr_show_ports");
	asked = thrift__ask(thrift, THRIFT_LIST);
	if (!asked)
		count = thrift__list(thrift, THRIFT_STRUCT);
	if (count > LIST_MAX) {
		thrift__refuse(thrift);
		count = 0;
	}
	for (i = 0; i < count; i++) {
		port = read_port(thrift, &is_up);
		if (port < SWITCH_PORTS)
			up[port] = is_up;
	}
	return thrift__end(thrift, asked, "its ports", error);
}

int lookup_ports__update(struct thrift *thrift, const struct lookup_wish *wish,
			 struct dart_error *error)
{
	bool up[SWITCH_PORTS] = { false };
	uint32_t i, port;
	uint64_t down;
	int ret;

	ret = read_ports(thrift, up, error);
	for (i = 0; !ret && i < wish->tables.server_count; i++) {
		port = wish->ports[i];
		ret = bmv2_register__read(thrift, LOOKUP_PORT_DOWN, port, &down, error);
		if (!ret && down != !up[port])
			ret = bmv2_register__write(thrift, LOOKUP_PORT_DOWN,
						   port, !up[port], error);
	}
	return ret;
}
