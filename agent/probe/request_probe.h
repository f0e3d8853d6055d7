/* SPDX-License-Identifier: GPL-2.0-only */
/* The requests about probes. */
#ifndef REQUEST_PROBE_H
#define REQUEST_PROBE_H

#include "agent/socket/request.h"

request_handler request__probe_list;
request_handler request__probe_load;
request_handler request__probe_unload;

#endif /* REQUEST_PROBE_H */
