/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The address that an HTTP server listens at: "HOST", "HOST:PORT", "[V6]", "[V6]:PORT", or
 * ":PORT", which is all addresses.
 */
#ifndef CONTROLLER_HTTP_ADDRESS_H
#define CONTROLLER_HTTP_ADDRESS_H

#include <stdbool.h>

#include <libdart/error.h>

/* Beside 4792 and 4793 of agents. */
#define HTTP_PORT_DEFAULT	4794
#define HTTP_ADDRESS_DEFAULT	"127.0.0.1"

bool http_address__is_valid(const char *address);
/* @address is valid. */
bool http_address__has_port(const char *address);

/* A socket that listens at @address; NULL: the default.  Or -errno with a sentence. */
int http_address__listen(const char *address, struct dart_error *error);

#endif /* CONTROLLER_HTTP_ADDRESS_H */
