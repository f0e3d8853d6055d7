// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ports towards servers: their links, and whether they are used too much, by meters (TEA,
 * section 4.4).  A packet looks at two ports, so each register and meter exists twice;
 * the control plane sets both alike.
 */
#ifndef DART_TNA_TEA_PORT_P4
#define DART_TNA_TEA_PORT_P4

#include "shared/tea/sizes.p4"

#define TEA_PORT_REGISTER(role)						\
	Register<bit<8>, bit<9>>(TEA_PORTS, 0) down_##role;		\
	RegisterAction<bit<8>, bit<9>, bit<8>>(down_##role) get_##role = { \
		void apply(inout bit<8> value, out bit<8> found)	\
		{							\
			found = value;					\
		}							\
	};

/* @down: not 0 without a link.  @use: the color, as MeterColor_t. */
control TeaPorts(in bit<9> first, in bit<9> second, out bit<8> first_down,
		 out bit<8> second_down, out bit<8> first_use,
		 out bit<8> second_use)
{
	@name(".tea_port_down_0")
	TEA_PORT_REGISTER(0)
	@name(".tea_port_down_1")
	TEA_PORT_REGISTER(1)
	@name(".tea_port_use_0")
	Meter<bit<9>>(TEA_PORTS, MeterType_t.BYTES) use_0;
	@name(".tea_port_use_1")
	Meter<bit<9>>(TEA_PORTS, MeterType_t.BYTES) use_1;

	apply {
		first_down = get_0.execute(first);
		second_down = get_1.execute(second);
		first_use = use_0.execute(first);
		second_use = use_1.execute(second);
	}
}

#endif /* DART_TNA_TEA_PORT_P4 */
