// SPDX-License-Identifier: GPL-2.0-only
/*
 * The CRCs of a key.  The polynomial of each use of v1model's crc32_custom is set
 * at run time.  The field that receives the result identifies the use, so all CRCs
 * with the same polynomial are assigned to fields of the same name.
 *
 * A field of an invalid header adds nothing to a hash.
 */
#ifndef DART_V1MODEL_FLOW_HASH_P4
#define DART_V1MODEL_FLOW_HASH_P4

#include "shared/report.p4"

#define IPV4_KEY(r) r.source[31:0], r.destination[31:0], r.source_port, \
	r.destination_port, r.protocol
#define IPV6_KEY(r) r.source, r.destination, r.source_port, \
	r.destination_port, r.protocol

#define CRC_OF(field, ...)						\
	hash(field, HashAlgorithm.crc32_custom, 64w0, { __VA_ARGS__ },	\
	     64w0x100000000)

/* Of the key of a flow, without a switch. */
#define FLOW_CRC(field, r)						\
	if (r.key == KEY_IPV4)						\
		CRC_OF(field, IPV4_KEY(r));				\
	else								\
		CRC_OF(field, IPV6_KEY(r));

#endif /* DART_V1MODEL_FLOW_HASH_P4 */
