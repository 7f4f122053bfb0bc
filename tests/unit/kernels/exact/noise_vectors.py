#!/usr/bin/env python3
"""docs/design/NOISE.md in Python, written from the page alone: made the test vectors there, and checks them.

  python3 tests/unit/kernels/exact/noise_vectors.py                  prints the tables
  python3 tests/unit/kernels/exact/noise_vectors.py docs/design/NOISE.md    fails unless the page has these very tables
"""
import struct
import sys

WORD = 0xFFFFFFFF
COUPLED, DRAFT, ACCEPT, RESIDUAL = range(4)


def philox(counter, seed):
    c0, c1, c2, c3 = counter
    k0, k1 = seed & WORD, seed >> 32
    for _ in range(10):
        p0, p2 = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = (p2 >> 32) ^ c1 ^ k0, p2 & WORD, (p0 >> 32) ^ c3 ^ k1, p0 & WORD
        k0, k1 = (k0 + 0x9E3779B9) & WORD, (k1 + 0xBB67AE85) & WORD
    return c0, c1, c2, c3


def noise_words(seed, choice, position, token, purpose):
    return [philox((token >> 2, position, choice, purpose << 1 | half), seed)[token & 3] for half in (0, 1)]


def uniform(hi, lo):
    return float(2 * (hi << 20 | lo >> 12) + 1) * 2.0**-53


def bits(value):
    return struct.unpack("<Q", struct.pack("<d", value))[0]


def double(pattern):
    return struct.unpack("<d", struct.pack("<Q", pattern))[0]


LN2_HIGH, LN2_LOW = float.fromhex("0x1.62e42feep-1"), float.fromhex("0x1.a39ef35793c76p-33")


def log(value):
    exponent = (bits(value) >> 52) - 1023
    m = double(bits(value) & 0x000FFFFFFFFFFFFF | 0x3FF0000000000000)
    if m >= float.fromhex("0x1.6a09e667f3bcdp+0"):
        m, exponent = m * 0.5, exponent + 1
    f = m - 1.0
    s = f / (2.0 + f)
    z = s * s
    tail = 1.0 / 19.0
    for odd in (17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0):
        tail = tail * z + 1.0 / odd
    twice = 2.0 * s
    low = twice * (z * tail) + exponent * LN2_LOW
    return exponent * LN2_HIGH + (twice + low)


def gumbel(hi, lo):
    return -log(-log(uniform(hi, lo)))


def weight(x):
    x = x if x > -40.0 else -40.0
    shifted = x * float.fromhex("0x1.71547652b82fep+0") + float.fromhex("0x1.8p52")
    k = shifted - float.fromhex("0x1.8p52")
    r = (x - k * LN2_HIGH) - k * LN2_LOW
    total = 1.0 / 479001600.0
    for factorial in (39916800.0, 3628800.0, 362880.0, 40320.0, 5040.0, 720.0, 120.0, 24.0, 6.0, 2.0, 1.0, 1.0):
        total = total * r + 1.0 / factorial
    scaled = double((bits(total) + (bits(shifted) << 52)) & 0xFFFFFFFFFFFFFFFF)
    return bits(scaled * 2.0**44 + 2.0**52) - bits(2.0**52)


KEYS = [
    # seed, choice, position, token, purpose
    (0, 0, 0, 0, COUPLED), (0, 0, 0, 1, COUPLED), (0, 0, 0, 2, COUPLED), (0, 0, 0, 3, COUPLED), (0, 0, 0, 4, COUPLED),
    (0, 0, 1, 0, COUPLED), (0, 1, 0, 0, COUPLED), (1, 0, 0, 0, COUPLED), (1 << 32, 0, 0, 0, COUPLED),
    (0, 0, 0, 0, DRAFT), (0, 0, 0, 0, ACCEPT), (0, 0, 0, 0, RESIDUAL),
    (42, 0, 7, 49151, COUPLED), (42, 3, 127, 31337, COUPLED), (0x0123456789ABCDEF, 7, 32767, 128255, COUPLED),
    (0xFFFFFFFFFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0x7FFFFFFF, COUPLED),
]
WORDS = [  # the ends, 1/2 from both sides, around 1/e where the gumbel changes its sign, and few bits
    (0, 0), (0, 0x00001000), (0x00000FFF, 0xFFFFFFFF), (0x5E2D58D8, 0xB3BCDEFF), (0x5E2D58D8, 0xB3BCE000),
    (0x7FFFFFFF, 0xFFFFFFFF), (0x80000000, 0), (0xB504F333, 0xF9DE6000), (0xFFFFFF00, 0), (0xFFFFFFFF, 0),
    (0xFFFFFFFF, 0xFFFFFFFF),
]
EXPONENTS = [0.0, -1e-9, -0.25, -0.34657359027997264, -0.5, -1.0, -2.302585092994046, -10.0, -30.0, -31.0, -31.5, -40.0, -1e300]


def tables():
    keyed = ["| seed | choice | position | token | purpose | hi | lo | u | gumbel |", "|---|---|---|---|---|---|---|---|---|"]
    for seed, choice, position, token, purpose in KEYS:
        hi, lo = noise_words(seed, choice, position, token, purpose)
        keyed.append(f"| {seed:016x} | {choice} | {position} | {token} | {purpose} | {hi:08x} | {lo:08x} "
                     f"| {bits(uniform(hi, lo)):016x} | {bits(gumbel(hi, lo)):016x} |")
    words = ["| hi | lo | u | gumbel | gumbel, about |", "|---|---|---|---|---|"]
    for hi, lo in WORDS:
        words.append(f"| {hi:08x} | {lo:08x} | {bits(uniform(hi, lo)):016x} | {bits(gumbel(hi, lo)):016x} | {gumbel(hi, lo):.6g} |")
    weights = ["| x | x, about | weight |", "|---|---|---|"]
    for x in EXPONENTS:
        weights.append(f"| {bits(x):016x} | {x:.6g} | {weight(x)} |")
    return ["\n".join(table) for table in (keyed, words, weights)]


def main():
    if len(sys.argv) < 2:
        print("\n\n".join(tables()))
        return 0
    page = open(sys.argv[1], encoding="utf-8").read()
    missing = [table for table in tables() if table not in page]
    for table in missing:
        print(f"{sys.argv[1]} does not have this table, which the specification gives:\n{table}")
    return 1 if missing else 0


sys.exit(main())
