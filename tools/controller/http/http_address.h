/* SPDX-License-Identifier: GPL-2.0-only */
/* The address that an HTTP server listens at. */
#ifndef CONTROLLER_HTTP_ADDRESS_H
#define CONTROLLER_HTTP_ADDRESS_H

#include <libdart/error.h>

/* A socket that listens at @address, see http_server__new(), or -errno with a sentence. */
int http_address__listen(const char *address, struct dart_error *error);

#endif /* CONTROLLER_HTTP_ADDRESS_H */
