# A computer of its own under a real systemd, made of this machine's files: what it writes is in memory and goes with it.
# $1 is an empty folder, $2 the program parley. Started by unshare.
set -e
mount -t tmpfs none "$1"
mkdir "$1/up" "$1/work" "$1/root"
mount -t overlay -o "lowerdir=/,upperdir=$1/up,workdir=$1/work" none "$1/root"
cp "$2" "$1/root/usr/local/bin/parley"
cd "$1/root"
mount -t proc none proc
mount -t sysfs -o ro none sys
mount -t cgroup2 none sys/fs/cgroup
mount -t tmpfs -o mode=755 none run
mount -t tmpfs -o mode=755 none dev
for name in null zero full random urandom tty; do
	touch "dev/$name"
	mount --bind "/dev/$name" "dev/$name"
done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666 none dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
mount -t tmpfs none dev/shm
# Nothing of this machine's services, and nothing that would change its kernel.
rm -rf etc/systemd/system/* etc/systemd/user/*
for unit in systemd-sysctl.service systemd-modules-load.service systemd-remount-fs.service systemd-timesyncd.service sys-kernel-debug.mount \
	sys-kernel-tracing.mount sys-fs-fuse-connections.mount sys-kernel-config.mount dev-hugepages.mount; do
	ln -s /dev/null "etc/systemd/system/$unit"
done
mount --bind proc/sys proc/sys
mount -o remount,bind,ro proc/sys
cat >etc/systemd/system/small.target <<-'END'
	[Unit]
	Requires=basic.target dbus.socket systemd-logind.service systemd-user-sessions.service
	After=basic.target dbus.socket systemd-logind.service systemd-user-sessions.service
END
echo 'ada:x:4711:4711::/home/ada:/bin/sh' >>etc/passwd
echo 'ada:x:4711:' >>etc/group
echo 'ada:*:19000:0:99999:7:::' >>etc/shadow
mkdir -p home/ada/tools mnt/machine
printf '#!/bin/sh\necho gho_x\n' >home/ada/tools/gh
printf 'PATH=$HOME/tools:$PATH\n' >home/ada/.profile
chmod 755 home/ada/tools/gh
chown -R 4711:4711 home/ada
pivot_root . mnt/machine
umount -l /mnt/machine
mount -t tmpfs -o mode=1777 none /tmp
exec env -i container=lxc PATH=/usr/sbin:/usr/bin:/sbin:/bin systemd --system --unit=small.target --log-target=null --show-status=no
