/* SPDX-License-Identifier: GPL-2.0-only */
/* The requests about stores and their reporters. */
#ifndef STORE_REQUESTS_H
#define STORE_REQUESTS_H

#include "agent/base/request.h"

request_handler request__store_create;
request_handler request__store_delete;
request_handler request__store_list;
request_handler request__store_open;
request_handler request__store_export;
request_handler request__reporter_add;
request_handler request__reporter_remove;
request_handler request__reporter_list;

#endif /* STORE_REQUESTS_H */
