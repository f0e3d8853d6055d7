# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash

# peer_of DIRECTORY: the second virtual machine of its tests, if any
peer_of() {
	case $1 in
	pair | long | churn | crashes | dart | farm | receivers | siw) echo host ;;
	systemd) echo controller ;;
	esac
}
