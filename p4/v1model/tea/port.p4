// SPDX-License-Identifier: GPL-2.0-only
/* Ports: their links, and how much they are used. */
#ifndef DART_V1MODEL_TEA_PORT_P4
#define DART_V1MODEL_TEA_PORT_P4

#include "shared/tea/sizes.p4"

/* The present window, of 2^16 microseconds. */
#define TEA_WINDOW(now)	((bit<32>)((now) >> 16))

@name(".tea_port_down")
register<bit<8>>(TEA_PORTS) tea_port_down;	/* set by the control plane */
@name(".tea_port_window")
register<bit<32>>(TEA_PORTS) tea_port_window;
@name(".tea_port_bytes")
register<bit<32>>(TEA_PORTS) tea_port_bytes;	/* in that window */

/* @used: bytes in the present window. */
control TeaPortState(in bit<9> port, in bit<48> now, out bool link,
		     out bit<32> used)
{
	bit<8> down;
	bit<32> window;

	apply {
		tea_port_down.read(down, (bit<32>)port);
		tea_port_window.read(window, (bit<32>)port);
		tea_port_bytes.read(used, (bit<32>)port);
		link = down == 0;
		if (window != TEA_WINDOW(now))
			used = 0;
	}
}

control TeaUsePort(in bit<9> port, in bit<32> bytes, in bit<48> now)
{
	bit<32> window;
	bit<32> used;

	apply {
		tea_port_window.read(window, (bit<32>)port);
		tea_port_bytes.read(used, (bit<32>)port);
		if (window != TEA_WINDOW(now)) {
			tea_port_window.write((bit<32>)port, TEA_WINDOW(now));
			used = 0;
		}
		tea_port_bytes.write((bit<32>)port, used + bytes);
	}
}

#endif /* DART_V1MODEL_TEA_PORT_P4 */
