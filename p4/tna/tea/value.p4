// SPDX-License-Identifier: GPL-2.0-only
/* A flow as a key, and the value of its entry. */
#ifndef DART_TNA_TEA_VALUE_P4
#define DART_TNA_TEA_VALUE_P4

struct tea_key_t {
	bit<32> source;
	bit<32> destination;
	bit<16> source_port;
	bit<16> destination_port;
	bit<8> protocol;
}

struct tea_value_t {
	bit<32> address;
	bit<16> port;
	bit<8> last;	/* of NAT: flags; else not used */
}

#endif /* DART_TNA_TEA_VALUE_P4 */
