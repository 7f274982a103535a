"""The journal: record kinds, codec, digests, upcasters and folds. Imports `effects` and below;
pure, no I/O, no clock.
"""
