/* SPDX-License-Identifier: GPL-2.0-only */
/* The requests about probes. */
#ifndef PROBE_REQUESTS_H
#define PROBE_REQUESTS_H

#include "agent/base/request.h"

request_handler request__probe_list;
request_handler request__probe_load;
request_handler request__probe_unload;

#endif /* PROBE_REQUESTS_H */
