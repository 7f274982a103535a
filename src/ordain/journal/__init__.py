"""The journal: record kinds, codec, digests, upcasters and folds. Imports `rules` and below; pure, no I/O, no clock."""
