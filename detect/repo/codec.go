package repo

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"reflect"
	"strings"

	"github.com/parley-mesh/parley/detect"
)

// known is what was found out about one version of a file by reading it. Nothing else goes into it, so that it can
// be kept by the file's path and blob.
type known struct {
	Unit detect.Unit
	Made detect.Made
}

// knownShape changes with the fields of what is kept and with what they go by, so that nobody takes old octets for a new
// shape, or old answers for new ones.
var knownShape = shapeOf(reflect.TypeFor[known]()) + "\x00" + hashName(detect.MadeRules())

func shapeOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice:
		if t.Elem() == reflect.TypeFor[detect.Signature]() {
			return "[]signature" // which has itself inside
		}
		return "[]" + shapeOf(t.Elem())
	case reflect.Struct:
		var b strings.Builder
		for f := range t.Fields() {
			b.WriteString(f.Name + " " + shapeOf(f.Type) + ";")
		}
		return "{" + b.String() + "}"
	}
	return t.Kind().String()
}

// leastOf is the least number of octets that one element of each kind of slice takes.
var leastOf = map[reflect.Type]uint64{}

func init() { least(reflect.TypeFor[known]()) }

func least(t reflect.Type) uint64 {
	switch t.Kind() {
	case reflect.Uint64:
		return 8
	case reflect.Slice:
		if _, seen := leastOf[t.Elem()]; !seen {
			leastOf[t.Elem()] = 1 // until it is known: signatures hold signatures
			leastOf[t.Elem()] = least(t.Elem())
		}
	case reflect.Struct:
		sum := uint64(0)
		for f := range t.Fields() {
			sum += least(f.Type)
		}
		return sum
	}
	return 1
}

var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	errKept    = errors.New("what was kept cannot be read")
)

// encode writes every field in order: whole numbers as varints, hashes as eight octets, strings as the number of an
// earlier one or as what differs from the last new one. A sum stands at the end.
func (k *known) encode() []byte {
	e := encoder{seen: map[string]uint64{}}
	e.value(reflect.ValueOf(k).Elem())
	return binary.LittleEndian.AppendUint32(e.out, crc32.Checksum(e.out, castagnoli))
}

type encoder struct {
	out  []byte
	seen map[string]uint64
	last string
}

func (e *encoder) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for _, field := range v.Fields() {
			e.value(field)
		}
	case reflect.Slice:
		e.out = binary.AppendUvarint(e.out, uint64(v.Len()))
		for i := range v.Len() {
			e.value(v.Index(i))
		}
	case reflect.String:
		e.string(v.String())
	case reflect.Bool:
		e.out = append(e.out, 0)
		if v.Bool() {
			e.out[len(e.out)-1] = 1
		}
	case reflect.Uint64:
		e.out = binary.LittleEndian.AppendUint64(e.out, v.Uint())
	default:
		e.out = binary.AppendUvarint(e.out, v.Uint())
	}
}

func (e *encoder) string(s string) {
	if n, ok := e.seen[s]; ok {
		e.out = binary.AppendUvarint(e.out, n)
		return
	}
	e.seen[s] = uint64(len(e.seen)) + 1
	same := 0
	for same < len(s) && same < len(e.last) && s[same] == e.last[same] {
		same++
	}
	e.out = append(e.out, 0)
	e.out = binary.AppendUvarint(e.out, uint64(same))
	e.out = binary.AppendUvarint(e.out, uint64(len(s)-same))
	e.out = append(e.out, s[same:]...)
	e.last = s
}

// decode is the inverse; whatever it cannot read is an error, and nothing that it reads makes it use much more
// memory than the octets do.
func (k *known) decode(b []byte) (err error) {
	if !intact(b) {
		return errKept
	}
	d := decoder{in: b[:len(b)-4]}
	if d.value(reflect.ValueOf(k).Elem()); d.bad || len(d.in) > 0 {
		return errKept
	}
	return nil
}

// intact reports whether octets end in their sum.
func intact(b []byte) bool {
	return len(b) >= 4 && crc32.Checksum(b[:len(b)-4], castagnoli) == binary.LittleEndian.Uint32(b[len(b)-4:])
}

type decoder struct {
	in   []byte
	seen []string
	bad  bool
}

func (d *decoder) number() uint64 {
	n, used := binary.Uvarint(d.in)
	if used <= 0 {
		d.bad, d.in = true, nil
		return 0
	}
	d.in = d.in[used:]
	return n
}

// take is the next n octets.
func (d *decoder) take(n uint64) []byte {
	if n > uint64(len(d.in)) {
		d.bad, d.in = true, nil
		return nil
	}
	b := d.in[:n]
	d.in = d.in[n:]
	return b
}

func (d *decoder) value(v reflect.Value) {
	if d.bad {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for _, field := range v.Fields() {
			d.value(field)
		}
	case reflect.Slice:
		d.slice(v)
	case reflect.String:
		v.SetString(d.string())
	case reflect.Bool:
		if b := d.take(1); len(b) == 1 {
			v.SetBool(b[0] != 0)
		}
	case reflect.Uint64:
		if b := d.take(8); len(b) == 8 {
			v.SetUint(binary.LittleEndian.Uint64(b))
		}
	default:
		v.SetUint(d.number())
	}
}

// slice makes no more elements than there can be in the octets left.
func (d *decoder) slice(v reflect.Value) {
	n := d.number()
	if n > uint64(len(d.in))/leastOf[v.Type().Elem()] {
		d.bad = true
		return
	}
	if n == 0 {
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), int(n), int(n)))
	for i := range v.Len() {
		d.value(v.Index(i))
	}
}

func (d *decoder) string() string {
	if n := d.number(); n > 0 {
		if n > uint64(len(d.seen)) {
			d.bad = true
			return ""
		}
		return d.seen[n-1]
	}
	same, last := d.number(), ""
	if len(d.seen) > 0 {
		last = d.seen[len(d.seen)-1]
	}
	rest := d.take(d.number())
	if same > uint64(len(last)) || d.bad {
		d.bad = true
		return ""
	}
	s := last[:same] + string(rest)
	d.seen = append(d.seen, s)
	return s
}
