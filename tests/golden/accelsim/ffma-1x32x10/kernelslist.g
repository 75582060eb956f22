kernel-1-ctx_0x55e3a796e730.traceg.xz
