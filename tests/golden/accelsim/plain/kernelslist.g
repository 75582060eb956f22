MemcpyHtoD,0x00007f0000000000,134217728
kernel-1.traceg.xz
