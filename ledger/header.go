package ledger

import (
	"fmt"
	"math/bits"
)

// headerNeeds is the set of header keys that no record goes without, as bits.
const headerNeeds = 1<<1 | 1<<2 | 1<<3 | 1<<4 | 1<<5 | 1<<6 | 1<<12 | 1<<13 | 1<<15

// pairsMax and entriesMax bound maps and lists, under unknown keys too.
const (
	pairsMax   = 64
	entriesMax = HaveMax + 24
)

// readHeader takes a canonical body apart in one pass. It refuses what writing the header again would
// write otherwise: a key that is missing, a value of another type or length, an absent value written
// out. critical is set when a key is unknown and must not be passed over. The result aliases b.
func readHeader(b []byte) (h Header, critical bool, err error) {
	major, count, at := head(b, 0)
	if at < 0 || major != majorMap || count > pairsMax {
		return h, false, fmt.Errorf("no map of at most %d pairs", pairsMax)
	}
	var seen uint64
	for range count {
		major, key, value := head(b, at)
		if major == majorText {
			value += int(key) // its characters
		}
		at = item(b, value, 0)
		switch known := headerKeys(h.Kind.Family()); {
		case major == majorUint && key < 64 && known&(1<<key) != 0:
			if !h.set(key, b[value:at]) {
				return h, false, fmt.Errorf("key %d: of another type or length, or an absent value written out", key)
			}
			seen |= 1 << key
			continue
		case major != majorUint || key < 64:
			critical = true
		}
		if !limited(b[value:at]) {
			return h, false, fmt.Errorf("a map of over %d pairs or a list of over %d entries", pairsMax, entriesMax)
		}
	}
	if missing := headerNeeds &^ seen; missing != 0 {
		return h, false, fmt.Errorf("key %d is missing", bits.TrailingZeros64(missing))
	}
	return h, critical, nil
}

// set reads the value of a known key.
func (h *Header) set(key uint64, v []byte) (ok bool) {
	switch key {
	case 1:
		h.V, ok = uintOf(v)
	case 2:
		if major, _, at := head(v, 0); major == majorText {
			h.Kind, ok = Kind(v[at:]), true
		}
	case 3:
		ok = exactly(h.Ledger[:], v)
	case 4:
		ok = exactly(h.Device[:], v)
	case 5:
		ok = exactly(h.Inc[:], v)
	case 6:
		h.Seq, ok = uintOf(v)
	case 7:
		ok = exactly(h.Prev[:], v) && h.Prev != ID{}
	case 8:
		ok = exactly(h.Spine[:], v) && h.Spine != ID{}
	case 9:
		ok = exactly(h.Open[:], v) && h.Open != ID{}
	case 10:
		h.Re, ok = idList(v)
	case 11:
		ok = exactly(h.Claim[:], v) && h.Claim != ID{}
	case 12:
		h.Lam, ok = uintOf(v)
	case 13:
		h.At, ok = uintOf(v)
	case 14:
		h.Turns, ok = uintOf(v)
		ok = ok && h.Turns != 0
	case 15:
		h.Body, ok = v, true
	case 17:
		h.Deps, ok = idList(v)
	case 18:
		h.Scope, ok = scopeOf(v)
	case 19:
		ok = exactly(h.Share[:], v) && h.Share != ID{}
	case 20:
		h.For, ok = placeOf(v)
	}
	return ok
}

// uintOf, exactly and idList read one canonical item; false when it is of another type or length.
func uintOf(v []byte) (uint64, bool) {
	major, arg, _ := head(v, 0)
	return arg, major == majorUint
}

func exactly(into, v []byte) bool {
	content, ok := bytesOf(v)
	return ok && len(content) == len(into) && copy(into, content) == len(into)
}

// scopeOf reads a list of host, repository and period that is not all zeros.
func scopeOf(v []byte) (s Scope, ok bool) {
	major, count, at := head(v, 0)
	if major != majorArray || count != 3 {
		return s, false
	}
	major, length, next := head(v, at)
	if major != majorText {
		return s, false
	}
	s.Host = string(v[next : next+int(length)])
	at = item(v, at, 0)
	end := item(v, at, 0)
	repo, isRepo := uintOf(v[at:end])
	period, isPeriod := uintOf(v[end:])
	s.Repo, s.Period = repo, period
	return s, isRepo && isPeriod && s != Scope{}
}

// placeOf reads a list of a logical time and the id of a record.
func placeOf(v []byte) (p Place, ok bool) {
	major, count, at := head(v, 0)
	if major != majorArray || count != 2 {
		return p, false
	}
	end := item(v, at, 0)
	p.Lam, ok = uintOf(v[at:end])
	return p, ok && exactly(p.ID[:], v[end:]) && p.ID != ID{}
}

// idList reads a list that is not empty.
func idList(v []byte) ([]ID, bool) {
	major, count, at := head(v, 0)
	if major != majorArray || count == 0 || count > entriesMax {
		return nil, false
	}
	out := make([]ID, count)
	for i := range out {
		end := item(v, at, 0)
		if !exactly(out[i][:], v[at:end]) {
			return nil, false
		}
		at = end
	}
	return out, true
}

// limited reports whether every map and list of a canonical item is within the bounds.
func limited(v []byte) bool {
	for at := 0; at < len(v); {
		major, arg, next := head(v, at)
		switch major {
		case majorBytes, majorText:
			next += int(arg)
		case majorArray:
			if arg > entriesMax {
				return false
			}
		case majorMap:
			if arg > pairsMax {
				return false
			}
		}
		at = next
	}
	return true
}
