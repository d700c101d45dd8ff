#!/usr/bin/env bash
# Boots Debian's kernel in qemu with a soft-RoCE device and runs a program there.
#
#   guest.sh [-n HOSTS] [-m MIB] [-N] [-t SECONDS] [-f FILE]... PROGRAM ARGS...
#
# PROGRAM is an executable of this host, and so is each FILE that it finds beside itself,
# or a script for busybox' sh; of ARGS, {} becomes the number of the guest.
# With -n 2 there are two guests, 10.9.0.1 and 10.9.0.2, joined by a network of their
# own; with one guest the device sits on a dummy interface, 10.9.0.1. Output of the
# second guest is prefixed. With -N each of a guest's two processors is a NUMA node, with
# half of the memory. The exit status is that of the program, the first one
# that is not 0.
#
#   guest.sh -I    only fetch and build what is missing; prints the folder of it
#
# Debian packages are fetched by apt into a cache folder and unpacked there; nothing
# is installed. What the host must have: see need() below. No KVM: the guest runs in
# software on whatever machine there is, some 5 s until the program starts.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
cache=${GOLAUNCH_GUEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/golaunch-guest}
packages="busybox-static libc6 ibverbs-providers libibverbs1 libibverbs-dev libnl-3-200 libnl-route-3-200
  librdmacm1 libibumad3 libpci3 perftest iproute2 libmnl0 libcap2 libelf1 libbpf1 zlib1g libzstd1 liblzma5 libudev1 libbsd0 libmd0"
programs="usr/bin/rdma usr/bin/ib_write_lat usr/bin/ib_read_lat usr/bin/ib_write_bw usr/bin/ib_read_bw usr/bin/ib_atomic_lat"
modules="rdma_rxe ib_uverbs dummy virtio_net virtio_pci crc32c_generic crc32_generic"

hosts=1 memory=768 limit=600 only_install= files=() nodes=()
while getopts n:m:t:f:NI option; do
  case $option in
    n) hosts=$OPTARG ;;
    m) memory=$OPTARG ;;
    t) limit=$OPTARG ;;
    f) files+=("$(realpath "$OPTARG")") ;;
    N) nodes=(0 1) ;;
    I) only_install=yes ;;
    *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))

die() { echo "guest.sh: $*" >&2; exit 125; }

need() { # command, package
  command -v "$1" >/dev/null || die "$1 is missing; apt-get install --no-install-recommends $2"
}

fetch() { # every package into $cache/root, the kernel into $cache/kernel
  local kernel
  kernel=$(apt-cache depends linux-image-amd64 2>/dev/null | awk '/Depends:/ && !seen++ {print $2}')
  [ -n "$kernel" ] || die "apt knows no package linux-image-amd64; apt-get update"
  rm -rf "$cache"/{debs,root,kernel} && mkdir -p "$cache"/{debs,root,kernel}
  # _apt may not write to the folder; apt says so and goes on.
  (cd "$cache/debs" && apt-get download -qq $kernel $packages 2>"$cache/apt.log") ||
    die "apt-get download failed: $(tail -3 "$cache/apt.log")"
  dpkg-deb --fsys-tarfile "$cache"/debs/linux-image-*.deb | tar -x -C "$cache/kernel" \
    --exclude=*/drivers/{gpu,media,staging,scsi,usb,iio,hid,input,mtd,platform} --exclude=*/{wireless,sound,fs}
  rm "$cache"/debs/linux-image-*.deb
  for deb in "$cache"/debs/*.deb; do dpkg-deb -x "$deb" "$cache/root"; done
  rm -r "$cache/debs"
}

# An uncompressed kernel starts in a third of the time: the guest need not unpack it.
unpack_kernel() {
  local image offset
  image=$(echo "$cache"/kernel/boot/vmlinuz-*)
  offset=$(LC_ALL=C grep -obUaP '\xFD7zXZ\x00' "$image" | cut -d: -f1 | sed -n 1p)
  [ -n "$offset" ] || die "$image is not compressed by xz"
  { tail -c +$((offset + 1)) "$image" || true; } | xz -dc --single-stream >"$cache/vmlinux" # xz may stop before the end
}

pack() { (cd "$1" && find . | "$cache/root/bin/busybox" cpio -o -H newc 2>/dev/null); }

# with_libraries copies a file of the unpacked packages, or of this host ($1 absolute),
# to $2, and the libraries that it is linked with: the packages' ones.
with_libraries() {
  local file=$1 to=$2 lib loader="$cache/root/lib64/ld-linux-x86-64.so.2"
  mkdir -p "$to/$(dirname "${3:-$file}")"
  cp -L "$file" "$to/${3:-$file}"
  local path="$cache/root/lib/x86_64-linux-gnu:$cache/root/usr/lib/x86_64-linux-gnu"
  for lib in $("$loader" --library-path "$path" --list "$PWD/$to/${3:-$file}" 2>/dev/null | grep -o "$cache/root/[^ ]*"); do
    mkdir -p "$to/lib/x86_64-linux-gnu"
    [ -e "$to/lib/x86_64-linux-gnu/$(basename "$lib")" ] || cp -L "$lib" "$to/lib/x86_64-linux-gnu/"
  done
}

build_base() { # the files that every run needs, as $cache/base.cpio
  local release tree module
  release=$(basename "$cache"/kernel/lib/modules/*)
  rm -rf "$cache/tree" && mkdir -p "$cache"/tree/{bin,sbin,proc,sys,dev,tmp,lib64,job,etc/libibverbs.d,"lib/modules/$release"}
  cd "$cache"
  cp root/bin/busybox tree/bin/
  cp -L root/lib64/ld-linux-x86-64.so.2 tree/lib64/
  cp root/etc/libibverbs.d/rxe.driver tree/etc/libibverbs.d/
  for program in $programs; do with_libraries "root/$program" tree "bin/$(basename "$program")"; done
  for library in libibverbs/librxe-rdmav34.so libibverbs.so.1 librdmacm.so.1; do
    with_libraries "root/usr/lib/x86_64-linux-gnu/$library" tree "usr/lib/x86_64-linux-gnu/$library"
  done
  for library in libpthread.so.0 libdl.so.2 librt.so.1 libm.so.6 libresolv.so.2; do
    cp -L "root/lib/x86_64-linux-gnu/$library" tree/lib/x86_64-linux-gnu/
  done
  root/bin/busybox depmod -b "$cache/kernel" "$release" 2>/dev/null
  for module in $modules; do copy_module "$release" "$module"; done
  root/bin/busybox depmod -b "$cache/tree" "$release" 2>/dev/null
  cp "$here/init" tree/init && chmod +x tree/init
  pack tree >base.cpio
  rm -r tree
  cd - >/dev/null
}

copy_module() { # and what it depends on; what is built into the kernel is not found
  local from="$cache/kernel/lib/modules/$1" file
  for file in $(awk -F'[: ]+' -v name="/${2//_/[-_]}[.]ko" '$1 ~ name {gsub(":", ""); print}' "$from/modules.dep"); do
    file=${file#/lib/modules/$1/}
    mkdir -p "$cache/tree/lib/modules/$1/$(dirname "$file")"
    cp "$from/$file" "$cache/tree/lib/modules/$1/$file"
  done
}

install_guest() { # once, and again when this folder has changed
  local version
  version=$(cat "$here/guest.sh" "$here/init" | sha256sum | cut -c1-16)
  mkdir -p "$cache"
  exec 9>"$cache/lock" && flock 9
  if [ "$(cat "$cache/version" 2>/dev/null)" != "$version" ]; then
    [ "$(cat "$cache/fetched" 2>/dev/null)" = "$packages" ] || { fetch && echo "$packages" >"$cache/fetched"; }
    [ -s "$cache/vmlinux" ] || unpack_kernel
    build_base
    echo "$version" >"$cache/version"
  fi
  flock -u 9
}

boot() { # number, initial file system, network arguments...
  local number=$1 initrd=$2
  shift 2
  for node in "${nodes[@]}"; do
    set -- "$@" -object "memory-backend-ram,id=node$node,size=$((memory / 2))M" -numa "node,nodeid=$node,cpus=$node,memdev=node$node"
  done
  timeout "$limit" qemu-system-x86_64 -accel tcg,thread=multi -cpu max -m "$memory" -smp 2 \
    -nodefaults -no-user-config -vga none -display none -serial stdio -monitor none -no-reboot "$@" \
    -kernel "$cache/vmlinux" -initrd "$initrd" \
    -append "console=ttyS0 quiet panic=-1 tsc=reliable random.trust_cpu=on mitigations=off guest=$number/$hosts" \
    </dev/null | stdbuf -oL tr -d "\r" | tee "$work/log.$number"
}

# initrd makes the file system of one guest: the base, and an archive with the program.
initrd() { # number
  mkdir -p "$work/$1/job"
  printf '%q ' "./$(basename "$program")" "${arguments[@]//\{\}/$1}" >"$work/$1/job/command"
  env | grep '^GOLAUNCH_' | sed 's/^/export /; s/=\(.*\)/="\1"/; s/{}/'"$1"'/' >"$work/$1/job/environment" || true
  (cd "$work/$1" && for file in "$program" "${files[@]}"; do with_libraries "$file" . "job/$(basename "$file")"; done && pack .) | cat "$cache/base.cpio" - >"$work/initrd.$1"
}

status() { # number: how the program ended
  sed -n 's/^guest: exit \([0-9]*\)$/\1/p' "$work/log.$1" | tail -1 | grep . || echo 125
}

for pair in qemu-system-x86_64=qemu-system-x86 apt-get=apt dpkg-deb=dpkg xz=xz-utils flock=util-linux; do
  need "${pair%=*}" "${pair#*=}"
done
install_guest
if [ -n "$only_install" ]; then echo "$cache/root"; exit; fi
[ $# -gt 0 ] || die "no program"
program=$(realpath "$1")
shift
arguments=("$@")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

initrd 1
if [ "$hosts" = 1 ]; then
  boot 1 "$work/initrd.1"
  exit "$(status 1)"
fi
initrd 2
boot 1 "$work/initrd.1" -netdev "stream,id=n,server=on,addr.type=unix,addr.path=$work/link" -device virtio-net-pci,netdev=n,mac=52:54:00:09:00:01 &
first=$!
for _ in $(seq 100); do [ -S "$work/link" ] && break; sleep 0.1; done
boot 2 "$work/initrd.2" -netdev "stream,id=n,server=off,addr.type=unix,addr.path=$work/link" -device virtio-net-pci,netdev=n,mac=52:54:00:09:00:02 | sed 's/^/[2] /'
wait $first || true
result=$(status 1)
[ "$result" != 0 ] || result=$(status 2)
exit "$result"
