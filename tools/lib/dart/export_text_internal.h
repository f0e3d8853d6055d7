/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Addresses as text, in files that agents export for reporters and switches. */
#ifndef DART_EXPORT_TEXT_H
#define DART_EXPORT_TEXT_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

/* Each returns false if @text is of another form; the result is then undefined. */

/* "52:54:00:00:00:01", not multicast. */
bool dart_export_text__mac(const char *text, uint8_t mac[6]);
/* "0x3a5f00000000" */
bool dart_export_text__base(const char *text, uint64_t *base);
/* "10.0.0.1", an address that a host can have. */
bool dart_export_text__address(const char *text, struct in_addr *address);

#endif /* DART_EXPORT_TEXT_H */
