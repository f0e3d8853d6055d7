// SPDX-License-Identifier: GPL-2.0-only
/*
 * The CRCs of a key.  The scarcest resource of a Tofino is the outputs of its hash
 * engine to a packet: 6 of 16 bits in a stage.
 *
 * Ingress computes one CRC, so it can use a hash for each kind of key.  Egress treats
 * all kinds alike: the key is at the end of 41 bytes, zeros precede it, and its first 4
 * bytes are inverted.  The CRC of these bytes with a register of zeros equals the CRC
 * of the key with a register of ones.
 *
 * The result of a hash must be alone in its action, and the action must be named:
 * the compiler merges adjacent statements.
 */
#ifndef DART_TNA_HASH_P4
#define DART_TNA_HASH_P4

#include <dart/store.h>

#include "shared/report.p4"
#include "shared/sizes.p4"
#include "headers.p4"

/* Addresses are read from their headers: copies take a tenth of all bits. */
#define FLOW(ip, r) ip.source, ip.destination, r.source_port, \
	r.destination_port, r.protocol

/*
 * Keys of hops need only the share, so all four hashes fit into one stage.  Ledgers have no shares,
 * and invert the key themselves.
 */
@noWarn("unused")
control ShareHash(inout headers_t headers, inout report_t report,
		  out bit<32> crc)
{
	CRCPolynomial<bit<32>>(DART_STORE_SHARE, true, false, false,
			       0xffffffff, 0xffffffff) polynomial;
	Hash<bit<32>>(HashAlgorithm_t.CUSTOM, polynomial) ipv4;
	Hash<bit<32>>(HashAlgorithm_t.CUSTOM, polynomial) ipv6;
	Hash<bit<16>>(HashAlgorithm_t.CUSTOM, polynomial) ipv4_hop;
	Hash<bit<16>>(HashAlgorithm_t.CUSTOM, polynomial) ipv6_hop;

	apply {
		crc = 0;
		if (report.key == KEY_IPV4)
			crc = ipv4.get({ FLOW(headers.ipv4, report) });
		else if (report.key == KEY_IPV6)
			crc = ipv6.get({ FLOW(headers.ipv6, report) });
		else if (report.key == KEY_IPV4_HOP)
			crc[15:0] = ipv4_hop.get({ FLOW(headers.ipv4, report),
						   report.node });
		else
			crc[15:0] = ipv6_hop.get({ FLOW(headers.ipv6, report),
						   report.node });
	}
}

struct key_t {
	bit<32> w0;
	bit<32> w1;
	bit<32> w2;
	bit<32> w3;
	bit<32> w4;
	bit<32> w5;
	bit<32> w6;
	bit<32> w7;
	bit<32> tail_0;
	bit<8> tail_1;
	bit<32> tail_2;
}

#define WHOLE_KEY(k) k.w0, k.w1, k.w2, k.w3, k.w4, \
	k.w5, k.w6, k.w7, k.tail_0, k.tail_1, k.tail_2

@noWarn("unused")
control InvertFirst(in bit<8> kind, inout key_t words)
{
	action invert_0()
	{
		words.w0 = ~words.w0;
	}

	action invert_1()
	{
		words.w1 = ~words.w1;
	}

	action invert_6()
	{
		words.w6 = ~words.w6;
	}

	action invert_7()
	{
		words.w7 = ~words.w7;
	}

	table first {
		key = { kind : exact; }
		actions = { invert_0; invert_1; invert_6; invert_7; }
		const entries = {
			KEY_IPV6_HOP : invert_0();
			KEY_IPV6 : invert_1();
			KEY_IPV4_HOP : invert_6();
			KEY_IPV4 : invert_7();
		}
		size = KEY_KINDS;
	}

	apply {
		first.apply();
	}
}

#define CRC(name, value)						\
	CRCPolynomial<bit<32>>(value, true, false, false, 0,		\
			       0xffffffff) name##_polynomial;		\
	Hash<bit<32>>(HashAlgorithm_t.CUSTOM, name##_polynomial) name;

/*
 * The source port of UDP contains the share, the lowest bits of the CRC.  Journals use neither it
 * nor slots and checksums.
 */
@noWarn("unused")
control SourcePort(inout key_t words, out bit<16> port)
{
	CRCPolynomial<bit<32>>(DART_STORE_SHARE, true, false, false, 0,
			       0xffffffff) polynomial;
	Hash<bit<16>>(HashAlgorithm_t.CUSTOM, polynomial) hash;

	action get()
	{
		port = hash.get({ WHOLE_KEY(words) });
	}

	action lowest_bits()
	{
		port = port & (DART_STORE_SHARES - 1);
	}

	action add_base()
	{
		port = port | DART_STORE_UDP_SOURCE_BASE;
	}

	apply {
		get();
		lowest_bits();
		add_base();
	}
}

@noWarn("unused")
control SlotHash(inout key_t words, in bit<8> copy, out bit<32> slot)
{
	CRC(slot_0, DART_STORE_SLOT_0)
	CRC(slot_1, DART_STORE_SLOT_1)
	CRC(slot_2, DART_STORE_SLOT_2)
	CRC(slot_3, DART_STORE_SLOT_3)
	CRC(slot_4, DART_STORE_SLOT_4)
	CRC(slot_5, DART_STORE_SLOT_5)
	CRC(slot_6, DART_STORE_SLOT_6)
	CRC(slot_7, DART_STORE_SLOT_7)

	apply {
		if (copy == 0)
			slot = slot_0.get({ WHOLE_KEY(words) });
		else if (copy == 1)
			slot = slot_1.get({ WHOLE_KEY(words) });
		else if (copy == 2)
			slot = slot_2.get({ WHOLE_KEY(words) });
		else if (copy == 3)
			slot = slot_3.get({ WHOLE_KEY(words) });
		else if (copy == 4)
			slot = slot_4.get({ WHOLE_KEY(words) });
		else if (copy == 5)
			slot = slot_5.get({ WHOLE_KEY(words) });
		else if (copy == 6)
			slot = slot_6.get({ WHOLE_KEY(words) });
		else
			slot = slot_7.get({ WHOLE_KEY(words) });
	}
}

/* Never 0, which marks a slot that was never written. */
@noWarn("unused")
control ChecksumHash(inout key_t words, out bit<32> checksum)
{
	CRC(checksum_0, DART_STORE_CHECKSUM_0)

	action get()
	{
		checksum = checksum_0.get({ WHOLE_KEY(words) });
	}

	apply {
		get();
		if (checksum == 0)
			checksum = 1;
	}
}

#endif /* DART_TNA_HASH_P4 */
