"""Another program's reading of the bytes that FORMAT.md describes, with nothing but Python's own library.

Each line of the input is "record HEX", "body HEX" (a record's body, unsigned) or "frame HEX" (the map alone).
Each line of the output is "yes KIND ID" ("yes KIND ID critical"), "yes TYPE", or "no REASON".
"""

import hashlib
import re
import sys


class No(Exception):
    pass


def must(good, why):
    if not good:
        raise No(why)


# Section 1. A text is a str, a byte string is bytes.


def read(b):
    value, at = item(b, 0, 0)
    must(at == len(b), "something follows")
    return value


def head(b, at):
    must(at < len(b), "it ends early")
    major, low = b[at] >> 5, b[at] & 31
    if low < 24:
        return major, low, at + 1
    must(low < 28, "an indefinite or reserved length")
    size = 1 << (low - 24)
    must(at + 1 + size <= len(b), "it ends early")
    value = int.from_bytes(b[at + 1 : at + 1 + size], "big")
    must(value >= (24, 1 << 8, 1 << 16, 1 << 32)[low - 24], "a longer head")
    return major, value, at + 1 + size


def item(b, at, depth):
    if b[at : at + 1] in (b"\xf4", b"\xf5"):
        return b[at] == 0xF5, at + 1
    start = at
    major, n, at = head(b, at)
    must(major < 6, "a tag, a float or another simple value")
    if major == 0:
        return n, at
    if major == 1:
        must(n < 1 << 63, "an integer below -2^63")
        return -1 - n, at
    if major < 4:
        must(at + n <= len(b), "it ends early")
        raw = b[at : at + n]
        if major == 2:
            return raw, at + n
        try:
            return raw.decode(), at + n
        except UnicodeDecodeError:
            raise No("a text that is not UTF-8") from None
    must(depth <= 8, "too deep")
    must(n <= len(b) - at, "it ends early")
    if major == 4:
        must(n <= 1024, "a long list")
        out = []
        for _ in range(n):
            value, at = item(b, at, depth + 1)
            out.append(value)
        return out, at
    must(n <= 64, "a large map")
    out, last = {}, b""
    for _ in range(n):
        begin = at
        key, at = item(b, at, depth + 1)
        must(type(key) is str or type(key) is int and key >= 0, "a key of another type")
        must(last < b[begin:at], "keys that do not ascend")
        last = b[begin:at]
        out[key], at = item(b, at, depth + 1)
    return out, at


# A rule is a function that refuses a value.


def uint(low=0, high=2**64 - 1):
    def rule(v):
        must(type(v) is int and low <= v <= high, "no number of %d to %d" % (low, high))

    return rule


def raw(low, high=None):
    def rule(v):
        must(type(v) is bytes and low <= len(v) <= (high or low), "no bytes of that length")

    return rule


def text(low, high, form=None):
    def rule(v):
        must(type(v) is str and low <= len(v.encode()) <= high, "no text of that length")
        must(not form or re.fullmatch(form, v), "a text of another form")

    return rule


def some(rule, low, high, by=None):
    """A list; by gives what ascends strictly."""

    def check(v):
        must(type(v) is list and low <= len(v) <= high, "no list of %d to %d" % (low, high))
        for one in v:
            rule(one)
        if by:
            keys = [by(one) for one in v]
            must(all(a < b for a, b in zip(keys, keys[1:])), "a list that does not ascend")

    return check


def row(*rules):
    def check(v):
        must(type(v) is list and len(v) == len(rules), "another number of entries")
        for rule, one in zip(rules, v):
            rule(one)

    return check


def fields(needed, optional=None, open_ended=False):
    optional = optional or {}

    def check(v):
        must(type(v) is dict, "no map")
        for key, rule in needed.items():
            must(key in v, "no key %d" % key)
            rule(v[key])
        for key, one in v.items():
            if key in optional:
                optional[key](one)
            else:
                must(key in needed or open_ended, "another key")

    return check


def path(v):
    must(type(v) is bytes and 1 <= len(v) <= 1024 and 0 not in v, "no path")
    must(not {b"", b".", b".."} & set(v.split(b"/")), "no path of names alone")


def yes(v):
    must(v is True, "not true")


def flag(v):
    must(type(v) is bool, "neither true nor false")


def octets(v):
    return v.encode() if type(v) is str else v


def itself(v):
    return v


def git(v):
    must(type(v) is bytes and len(v) in (20, 32), "no git id")


P, ORDER = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P


def public(v):
    """A key in its one form that is not of small order."""
    raw(32)(v)
    must(int.from_bytes(v, "little") & (1 << 255) - 1 < P, "a key in another form")
    point = decompress(v)
    must(point is not None, "no key")
    must(not is_zero(times(8, point)), "a key of small order")


def ident(low, high=None):
    """An identifier where none may stand: zeros alone are none."""

    def rule(v):
        raw(low, high)(v)
        must(any(v), "none, written out")

    return rule


KEY32, ID, NAMED = raw(32), raw(32), ident(32)
PARTY = raw(33)


def party(v):
    PARTY(v)
    must(v[0] <= 1, "a party of another sort")


# Sections 5 and 6.

blob_of_final = some(fields({1: uint(0, 24)}, {2: git}), 1, 25)


def in_order(v):
    must([f[1] for f in v] == list(range(len(v))), "files out of order")


def final_files(v):
    blob_of_final(v)
    in_order(v)


def open_(b):
    size = 20 if b[7] == 1 else 32
    ids = [b[8], b[9], b[10]] + [f[k] for f in b[11] for k in (2, 3, 4) if k in f]
    must(all(len(i) == size for i in ids), "a git id of another algorithm")
    must(b[13] < len(b[12]) and b.get(14, 0) < len(b[12]), "a party that is not there")


host, slug, base, repo = text(1, 100), text(1, 140), text(1, 255), uint()
file_of_open = fields({1: path, 3: git, 5: lambda v: must(v in (33188, 33261), "another mode")}, {2: git, 4: git})
KINDS = {
    "open": (
        "spine",
        {1: host, 2: repo, 3: slug, 4: uint(1), 5: uint(), 6: base, 7: uint(1, 2), 8: git, 9: git, 10: git,
         11: some(file_of_open, 1, 25, lambda f: f[1]), 12: some(party, 1, 50, itself), 13: uint(0, 49), 15: uint(), 16: ID},
        {14: uint(0, 49)}, open_),
    "interim": ("spine", {1: uint(1, 3)}, {2: some(uint(0, 24), 1, 25, itself)}, lambda b: must(2 not in b or b[1] == 3, "a pick")),
    "reassign": ("spine", {1: uint(0, 49), 2: uint(1, 5), 3: uint()}, {}, None),
    "final": ("spine", {1: uint(1, 2), 2: git, 3: base, 4: final_files, 5: git}, {}, None),
    "closed": ("spine", {1: uint(1, 6)}, {2: some(uint(0, 49), 1, 50, itself)}, None),
    "ack": ("leaf", {1: some(uint(1, 6), 1, 25)}, {2: uint(1, 1)}, None),
    "object": ("leaf", {1: uint(1, 3)}, {2: some(fields({1: uint(0, 24), 2: uint()}), 1, 25, lambda f: f[1])}, None),
    "final-ready": ("leaf", {1: git, 2: git, 3: final_files, 4: uint(1, 3)}, {}, None),
    "adopted": ("leaf", {1: git, 2: some(uint(1, 5), 1, 25)}, {}, None),
    "genesis": ("roster", {2: raw(16)}, {1: public}, None),
    "name": ("roster", {1: KEY32, 2: text(1, 64)}, {}, None),
    "add": ("roster", {1: public, 2: raw(16), 3: raw(64)}, {}, None),
    "revoke": ("roster", {1: KEY32, 2: uint(1, 3)}, {3: some(row(raw(16), raw(8), uint()), 1, 1024)}, None),
    "rekey": ("roster", {1: KEY32, 2: public, 3: raw(64)}, {}, None),
    "main-claim": ("roster", {1: uint(1, 2**40)}, {2: some(ID, 1, 64, itself)}, None),
    "main-release": ("roster", {}, {}, None),
    "lane-bind": ("roster", {1: ID, 2: raw(16), 3: raw(64)}, {16: text(1, 64)}, None),
    "address": ("roster", {1: ID, 2: text(3, 254)}, {}, None),
    "on": ("lane", {1: some(uint(), 1, 200, itself)},
           {16: some(ID, 1, 64, itself), 17: some(uint(), 1, 200, itself), 18: NAMED}, None),
    "off": ("lane", {}, {}, None),
    "who": ("lane", {1: raw(16)}, {}, None),
    "am": ("lane", {1: raw(16), 2: host, 3: uint(), 4: text(1, 64)}, {}, None),
    "note": ("lane", {1: ID, 2: uint(1, 3)}, {}, None),
}


def on(b):
    if 17 in b:
        must(set(b[17]) <= set(b[1]), "a repository that is not shared")
    must(18 not in b or 17 in b, "a key for nothing")


KINDS["on"] = KINDS["on"][:3] + (on,)

# Section 10.

NAMES = text(1, 1200)
grammars, issues = text(1, 100), some(text(1, 140), 1, 16, octets)


def three(b):
    ids = [k for k in (2, 6, 7) if k in b]
    must(sum(len(octets(b[k])) for k in ids) <= 3600, "long ids")


def symbol(v):
    fields({1: NAMES, 3: uint(1, 5)},
           {2: text(1, 3600), 6: text(1, 3600), 7: text(1, 3600), 4: uint(1, 2), 5: some(text(1, 200), 1, 4), 8: yes, 9: yes,
            10: uint(1), 11: uint(1), 12: uint(1, 9)})(v)
    three(v)


contract = fields({1: NAMES, 2: uint(1, 3), 4: uint(1, 5)},
                  {3: NAMES, 5: uint(1, 2), 6: some(text(1, 200), 1, 4), 7: yes})
reference = fields({1: NAMES, 2: uint(1, 6)}, {3: uint(1, 2**32 - 1), 4: yes, 5: yes})
held = fields({1: uint(1, 3), 2: text(1, 512)}, {3: yes, 4: uint()})
small = uint(0, 2**32 - 1)


def edit(b):
    must((4 in b) == (b[3] == 4), "from without a rename")
    must(b[3] != 5 or not {6, 8, 12, 13, 14, 15, 16} & set(b), "changes of what has none")
    if 64 in b:
        must(b[64] <= b.get(4, b"").count(b"/"), "more folders than there are")


def act(b):
    must(2 in b or 6 in b, "nobody's")
    if b[3] == 9:
        must(5 in b and 6 in b, "an override of nothing, or of nobody")
    else:
        must(7 not in b, "a reason of nothing")


KINDS |= {
    "session": ("work", {2: uint(1, 2), 4: raw(16)},
                {1: NAMED, 3: text(1, 32), 5: text(1, 255), 6: yes, 7: git, 8: git, 9: grammars}, None),
    "intent": ("work", {3: uint(1, 3), 4: text(1, 1000)}, {1: NAMED, 2: NAMED, 5: issues, 6: some(ID, 1, 32, itself)}, None),
    "claim": ("work", {1: ID}, {2: some(held, 1, 128, lambda h: (h[1], octets(h[2])))}, None),
    "edit": ("work", {1: ID, 2: path, 3: uint(1, 5)},
             {4: path, 5: git, 6: git, 7: uint(1, 2**18 - 1), 8: uint(1, 2**18 - 1), 9: yes, 10: uint(1, 2), 11: uint(1, 4),
              12: some(row(small, small, small, uint()), 1, 256, lambda h: h[0]), 13: some(symbol, 1, 64),
              14: some(contract, 1, 32), 15: some(reference, 1, 128), 16: some(uint(), 1, 256, itself), 17: yes, 64: uint(1)},
             edit),
    "attempt": ("work", {1: ID}, {2: some(row(path, uint(1, 4)), 1, 16, lambda p: p[0])}, None),
    "act": ("work", {1: ID, 3: uint(1, 12)}, {2: NAMED, 4: text(1, 2000), 5: ident(16), 6: yes, 7: raw(1, 5000)}, act),
    "found": ("work", {1: ID, 2: text(1, 32, "[a-z_]+"), 3: uint(1, 2), 4: some(ID, 1, 64), 5: raw(16), 6: uint(1, 3)},
              {7: some(NAMES, 1, 16)}, None),
    "message": ("work", {3: text(1, 4000)}, {1: NAMED, 2: some(ID, 1, 16, itself)}, None),
    "branch": ("work", {1: text(1, 255), 2: git, 3: git},
               {4: uint(1), 5: uint(1), 6: yes, 7: text(1, 1000), 8: issues, 9: grammars, 16: NAMED}, None),
}

# Section 4.

HEADER = fields(
    {1: uint(1, 1), 2: text(1, 16, "[a-z-]+"), 3: ID, 4: KEY32, 5: raw(8), 6: uint(), 12: uint(0, 2**40), 13: uint(),
     15: lambda v: must(type(v) is dict, "no body")},
    {7: NAMED, 8: NAMED, 9: NAMED, 10: some(ID, 1, 64), 11: NAMED, 14: uint(1)}, open_ended=True)
CONTEXT = {"spine": "record", "leaf": "record", "roster": "roster", "lane": "lane", "work": "work"}


def header(h):
    HEADER(h)
    family = KINDS[h[2]][0] if h[2] in KINDS else None
    must((7 in h) == (h[6] > 0), "a beginning with a previous record, or none without")
    known = set(HEADER_KEYS)
    if family == "roster":
        known.add(17)
        if 17 in h:
            some(ID, 1, 16)(h[17])
    if family == "work":
        known |= {18, 19, 20}
        must((18 in h) == (h[6] == 0), "a scope at another place")
        must(19 not in h or h[6] == 0, "a share at another place")
        if 18 in h:
            row(host, uint(1), uint())(h[18])
        if 19 in h:
            NAMED(h[19])
        if 20 in h:
            row(uint(0, 2**40), NAMED)(h[20])
        must(h[6] > 0 or (19 in h) == (20 in h), "a share without a place, or a place of no share")
    kind = h[2]
    wanted = {"spine": {8, 9, 11}, "leaf": {9}}.get(family, set())
    if kind == "open":
        wanted = {11}
    if family:
        must({8, 9, 11} & set(h) == wanted, "other links than its kind has")
        must(family in ("spine", "leaf") or 14 not in h, "turns outside a conversation")
        answers = len(h.get(10, []))
        must(family != "leaf" or answers == 1, "a leaf answers one record")
        must(kind != "main-release" or answers == 1, "a release answers a claim")
        must(kind != "final" or h[15].get(1) != 1 or answers == 1, "it answers one final-ready")
        must(kind != "closed" or h[15].get(1) != 1 or answers, "it answers the confirmations")
        if kind == "open" or family in ("roster", "lane") and kind != "main-release" or family == "work" and kind != "message":
            must(answers == 0, "it answers nothing")
    return family, critical(h, known)


HEADER_KEYS = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}


def critical(m, known):
    return any(k not in known and not (type(k) is int and k >= 64) for k in m)


def derived(h):
    """What an id says of the record that it is the id of."""
    b = h[15]
    if h[2] == "open":
        want = hashlib.sha256(b"parley-thread/1\0" + write([b[1], b[2], b[4], b[5]])).digest()
        must(h[3] == want, "another thread's ledger")
    if h[2] == "genesis":
        must(h[6] == 0 and 17 not in h, "no beginning of a fleet")
        must(h[3] == hashlib.sha256(b"parley-fleet/1\0" + h[4] + b[2]).digest(), "another fleet's ledger")
        public(h[4])
    if 18 in h and h[2] in KINDS and KINDS[h[2]][0] == "work":
        scope = write(h[18])
        want = b"parley-work-lane/1\0" + h[19] + scope if 19 in h else b"parley-work/1\0" + scope
        must(h[3] == hashlib.sha256(want).digest(), "another ledger of live work")


def write(v):
    if type(v) is list:
        return length(4, len(v)) + b"".join(map(write, v))
    if type(v) is int:
        return length(0, v)
    v, major = (v, 2) if type(v) is bytes else (v.encode(), 3)
    return length(major, len(v)) + v


def length(major, n):
    for low, size in ((24, 0), (1 << 8, 1), (1 << 16, 2), (1 << 32, 4), (1 << 64, 8)):
        if n < low:
            extra = {0: n, 1: 24, 2: 25, 4: 26, 8: 27}[size]
            return bytes([major << 5 | extra]) + (n.to_bytes(size, "big") if size else b"")


def body(b):
    h = read(b)
    must(type(h) is dict, "no map")
    family, unknown = header(h)
    if family:
        _, needed, optional, more = KINDS[h[2]]
        fields(needed, optional, open_ended=True)(h[15])
        unknown = critical(h[15], set(needed) | set(optional)) or unknown
        if more:
            more(h[15])
        derived(h)
    else:
        unknown = True
    return h, "yes %s %s%s" % (h[2], hashlib.sha256(b"parley-record-id/1\0" + b).hexdigest(), " critical" * unknown)


# Section 2, and Ed25519 as RFC 8032 defines it.


def record(wire):
    prefix = bytes.fromhex("d28443a10127a0")
    must(len(wire) <= 8000 and wire.startswith(prefix), "no record")
    major, n, at = head(wire, len(prefix))
    b, rest = wire[at : at + n], wire[at + n :]
    must(major == 2 and rest[:2] == b"\x58\x40" and len(rest) == 66, "no signature")
    h, said = body(b)
    context = b"parley/" + CONTEXT[KINDS[h[2]][0]].encode() + b"/1"
    signed = b"\x84\x6aSignature1\x43\xa1\x01\x27" + write(context) + write(b)
    must(verifies(h[4], rest[2:], signed), "another's signature")
    return said


def decompress(raw32):
    y = int.from_bytes(raw32, "little")
    sign, y = y >> 255, y & (1 << 255) - 1
    x2 = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(x2, (P + 3) // 8, P)
    if (x * x - x2) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    if y >= P or (x * x - x2) % P or x == 0 and sign:
        return None
    if x & 1 != sign:
        x = P - x
    return x, y, 1, x * y % P


def plus(p, q):
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % P, (p[1] + p[0]) * (q[1] + q[0]) % P
    c, d = 2 * p[3] * q[3] * D % P, 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def times(n, p):
    out = (0, 1, 1, 0)
    while n:
        if n & 1:
            out = plus(out, p)
        p, n = plus(p, p), n >> 1
    return out


def is_zero(p):
    return p[0] % P == 0 and (p[1] - p[2]) % P == 0


GY = 4 * pow(5, P - 2, P) % P
G = decompress(GY.to_bytes(32, "little"))


def verifies(key, signature, message):
    a, r, s = decompress(key), decompress(signature[:32]), int.from_bytes(signature[32:], "little")
    if a is None or r is None or s >= ORDER:
        return False
    k = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % ORDER
    left, right = times(s, G), plus(r, times(k, a))
    return (left[0] * right[2] - right[0] * left[2]) % P == 0 and (left[1] * right[2] - right[1] * left[2]) % P == 0


# Section 7.

DIGEST, more = raw(16), yes
listing = some(row(ID, DIGEST), 1, 1000)
LINE = text(1, 240, "[+ ][^\0-\x08\x0a-\x1f\x7f-\x9f]*")


def shown(f):
    row(path, git, flag, some(row(uint(1, 2**32 - 1), some(LINE, 1, 60)), 1, 8))(f)
    following, texts = 1, []
    for start, lines in f[3]:
        must(start >= following, "parts that are not apart")
        following, texts = start + len(lines), texts + lines
    must(len(texts) <= 60 and sum(len(one.encode()) for one in texts) <= 4000, "too many lines of a file")


def lines_reply(m):
    must(m[2] == 0 or 3 not in m, "lines that are not shared")
    sizes = [len(one.encode()) for f in m.get(3, []) for part in f[3] for one in part[1]]
    must(sum(sizes) <= 16000, "too many lines")


FRAMES = {
    1: ({2: uint(), 3: raw(8), 4: uint(), 5: DIGEST}, {64: uint(1)}),
    2: ({2: ID, 3: DIGEST, 4: DIGEST, 5: DIGEST}, {6: uint(1), 7: some(row(uint(), uint()), 1, 1000)}),
    3: ({2: uint()}, {3: listing, 4: more}),
    4: ({2: raw(4096)}, {}),
    5: ({2: uint(0, 255)}, {3: listing, 4: more}),
    6: ({2: ID}, {3: some(row(KEY32, raw(8), uint()), 1, 1000), 4: more, 64: ident(16)}),
    7: ({2: ID, 3: uint(1, 4), 4: some(raw(0, 65536), 1, 1024)}, {}),
    8: ({2: ID, 3: raw(0, 65536), 4: some(raw(0, 65536), 0, 1024), 5: DIGEST}, {}),
    9: ({2: uint()}, {}),
    10: ({2: uint(), 3: uint(), 4: git}, {}),
    11: ({2: flag}, {}),
    12: ({2: ID, 3: lambda v: must(v in ("round", "close", "assign", "fork"), "another action"), 4: uint(), 5: uint(0, 49), 7: uint()},
         {6: text(1, 400)}),
    13: ({2: flag}, {3: text(1, 400)}),
    14: ({}, {2: NAMED, 3: some(row(path, uint(0, 2**32 - 1)), 1, 8, by=lambda f: f[0])}),
    15: ({2: uint(0, 2)}, {3: some(shown, 1, 8, by=lambda f: f[0])}),
    16: ({2: raw(16)}, {}),
    17: ({2: uint(), 3: raw(16), 4: text(1, 64), 5: raw(16), 6: raw(32)}, {}),
    18: ({2: ID, 3: text(0, 64)}, {}),
    19: ({2: raw(64)}, {}),
    20: ({2: uint(), 3: raw(16), 4: text(1, 64), 5: raw(16), 6: raw(32), 7: NAMED}, {}),
    21: ({2: raw(64)}, {}),
}


def frame(b):
    must(1 <= len(b) <= 65536, "no frame")
    m = read(b)
    must(type(m) is dict and m.get(1) in FRAMES and type(m[1]) is int, "no frame of a known type")
    needed, optional = FRAMES[m[1]]
    fields({1: uint()} | needed, optional, open_ended=True)(m)
    must(not critical(m, {1} | set(needed) | set(optional)), "another key")
    if m[1] == 12:
        must((6 in m) == (m[3] == "fork"), "devices of no fork")
        must(m[3] == "assign" or m[5] == 0, "a party for nothing")
    must(m[1] != 13 or 3 not in m or not m[2], "a reason for a yes")
    must(m[1] != 14 or (2 in m) == (3 in m), "files of nobody, or a holder alone")
    if m[1] == 15:
        lines_reply(m)
    return "yes %d" % m[1]


def answer(line):
    what, hexed = line.split()
    wire = bytes.fromhex(hexed)
    try:
        return {"record": record, "body": lambda b: body(b)[1], "frame": frame}[what](wire)
    except No as why:
        return "no %s" % why


for each in sys.stdin:
    print(answer(each))
