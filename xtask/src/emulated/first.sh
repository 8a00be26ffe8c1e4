#!/bin/busybox sh
# Process 1 until there is a disk.
busybox=/bin/busybox
$busybox mount -t devtmpfs dev /dev
for module in virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci virtio_blk; do
    $busybox insmod "/$module.ko"
done
$busybox mount -t ext4 /dev/vda /root
$busybox mount --move /dev /root/dev
exec $busybox switch_root /root /second.sh
