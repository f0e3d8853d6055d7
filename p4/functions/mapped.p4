// SPDX-License-Identifier: GPL-2.0-only
/* For tables of both families: an address of IPv4 is mapped (RFC 4291, section 2.5.5.2). */
#ifndef DART_FUNCTIONS_MAPPED_P4
#define DART_FUNCTIONS_MAPPED_P4

#define IPV4_MAPPED	96w0xffff	/* the first bits of the address */

#endif /* DART_FUNCTIONS_MAPPED_P4 */
