# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154 # for scripts that source this
# The architecture of guests and of all that is built for them, for scripts that set top, the
# folder of the project:
#
#   native      this machine's, as Debian names it
#   arch        that of the guests: ARCH in the environment, or else native
#   foreign     arch if it is not native, or else ""
#   built       the folder of the build, $top/.output or $top/.output/$foreign
#   triplet     the prefix of the compiler and the name of the folders of libraries
#   emulator    the QEMU that runs the guests

native=$(dpkg --print-architecture)
case ${ARCH-} in
'' | x86 | x86_64) arch=$native ;;
*) arch=$ARCH ;;
esac
foreign=''
[ "$arch" = "$native" ] || foreign=$arch
built=$top/.output${foreign:+/$foreign}
case $arch in
amd64)
	triplet=x86_64-linux-gnu
	emulator=qemu-system-x86_64
	;;
arm64)
	triplet=aarch64-linux-gnu
	emulator=qemu-system-aarch64
	;;
*)
	echo "${0##*/}: there are no guests of the architecture \"$arch\" (ARCH can be arm64;" \
		"leave it out for this machine's)" >&2
	exit 125
	;;
esac
