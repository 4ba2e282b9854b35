#!/bin/bash
# Process 1 of new mount, pid, uts, ipc, net and cgroup namespaces: makes a root of its own out of a
# throw-away layer over this host's file system, and becomes systemd in it.
#
#   boot_systemd.sh WORK_DIR NOTIFY_SOCKET
#
# WORK_DIR is empty; what is written goes into a tmpfs on it. systemd says at the socket when it has
# booted.
set -euo pipefail
work=$1 notify=$2
root=$work/root

mount -t tmpfs -o mode=0755,size=2g none "$work"
mkdir "$work"/layer "$work"/scratch "$root"
mount -t overlay none -o "lowerdir=/,upperdir=$work/layer,workdir=$work/scratch" "$root"

mount -t proc none "$root/proc"
mount --bind "$root/proc/sys" "$root/proc/sys"  # the host's settings are not ours to change
mount -o remount,bind,ro "$root/proc/sys"
mount -t sysfs -o ro none "$root/sys"
mount -t cgroup2 none "$root/sys/fs/cgroup"

mount -t tmpfs -o mode=0755 none "$root/dev"
for device in null zero full random urandom tty; do
  : >"$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
mkdir "$root/dev/shm" "$root/dev/pts"
mount -t tmpfs -o mode=1777 none "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666 none "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
mount -t tmpfs -o mode=0755 none "$root/run"
mount -t tmpfs -o mode=1777 none "$root/tmp"
: >"$root/run/booted"
mount --bind "$notify" "$root/run/booted"

# Of the host's units none is there but the journal's; the usual targets, with nothing behind them.
units=$root/usr/lib/systemd/system
mount -t tmpfs -o mode=0755 none "$units"
for unit in systemd-journald.service systemd-journald.socket systemd-journald-dev-log.socket; do
  cp "/usr/lib/systemd/system/$unit" "$units/"
done
for target in default sysinit basic sockets timers multi-user local-fs shutdown umount; do
  printf '[Unit]\nDescription=%s, bare\nDefaultDependencies=no\n' "$target" >"$units/$target.target"
done
rm -rf "$root"/etc/systemd/system/*
printf '%032d\n' 1 >"$root/etc/machine-id"

cd "$root"
pivot_root . .
umount -l .
cd /
exec env -i container=namespaces NOTIFY_SOCKET=/run/booted \
  PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  /lib/systemd/systemd --unit=default.target --show-status=no
