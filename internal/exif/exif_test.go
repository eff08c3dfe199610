package exif

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/internal/testimg"
)

func TestClean(t *testing.T) {
	for _, order := range []binary.AppendByteOrder{binary.BigEndian, binary.LittleEndian} {
		block := testimg.Camera(6, order)
		before := bytes.Clone(block)
		clean, o, err := Clean(block)
		if err != nil || o != 6 || !bytes.Equal(block, before) {
			t.Fatalf("%v: orientation %d, %v", order, o, err)
		}
		// All but the link to the thumbnail lies where it did, and the thumbnail is cut off.
		want := bytes.Clone(before[:126])
		copy(want[46:], "\x00\x00\x00\x00")
		if !bytes.Equal(clean, want) {
			t.Errorf("%v: got\n%q, want\n%q", order, clean, want)
		}
		up := Upright(clean)
		if _, o, _ := Clean(up); o != 1 || len(up) != len(clean) || bytes.Contains(up, []byte("thumb")) {
			t.Errorf("%v: orientation %d", order, o)
		}
		small := Sized(up, 70000, 30)
		_, list, err := Read(bytes.NewReader(small), int64(len(small)), nil)
		if err != nil || len(list) != 3 || len(list[2].Sub) != 3 {
			t.Fatalf("%v: %v, %v", order, list, err)
		}
		w, _ := Number(order.(binary.ByteOrder), list[2].Sub[1])
		h, _ := Number(order.(binary.ByteOrder), list[2].Sub[2])
		if w != 70000 || h != 30 || string(list[0].Data) != "Lathe Works\x00" || string(list[2].Sub[0].Data) != "note at its own place"[:20] {
			t.Errorf("%v: %d×%d, %v", order, w, h, list)
		}
		// What does not fit 16 bits stays.
		if h, _ := Number(order.(binary.ByteOrder), tag(t, Sized(up, 1, 70000), 0xa003)); h != 3000 {
			t.Errorf("%v: height %d", order, h)
		}
	}
}

func tag(t *testing.T, block []byte, tag uint16) Entry {
	t.Helper()
	_, list, err := Read(bytes.NewReader(block), int64(len(block)), nil)
	e, ok := Find(list, Settings)
	e, ok2 := Find(e.Sub, tag)
	if err != nil || !ok || !ok2 {
		t.Fatalf("no tag %#x: %v", tag, err)
	}
	return e
}

// A thumbnail that shares bytes with other data leaves them.
func TestCleanShared(t *testing.T) {
	block := testimg.Camera(1, binary.BigEndian)
	binary.BigEndian.PutUint32(block[136:], 40) // where the thumbnail says that it begins: in the first directory
	binary.BigEndian.PutUint32(block[148:], 90)
	clean, _, err := Clean(block)
	if err != nil || !strings.Contains(string(clean), "Lathe Works\x00") || !strings.Contains(string(clean), "note at its own") {
		t.Errorf("%q, %v", clean, err)
	}
}

// Directories written anew have the same tags.
func TestBlock(t *testing.T) {
	for _, order := range []binary.AppendByteOrder{binary.BigEndian, binary.LittleEndian} {
		block := testimg.Camera(3, order)
		o, list, err := Read(bytes.NewReader(block), int64(len(block)), nil)
		if err != nil {
			t.Fatal(err)
		}
		again := Block(o, list)
		if _, got, err := Clean(again); got != 3 || err != nil {
			t.Errorf("%v: orientation %d, %v", order, got, err)
		}
		if e := tag(t, again, 0x927c); string(e.Data) != "note at its own place"[:20] || bytes.Contains(again, []byte("thumb")) {
			t.Errorf("%v: %q", order, again)
		}
		// A tag that is there twice is written once, and the first one counts.
		o2, list2, err := Read(bytes.NewReader(again), int64(len(again)), func(tag uint16) bool { return tag == 0x010f })
		if err != nil || len(list2) != 1 || o2 != o {
			t.Fatal(list2, err)
		}
		double := Block(o, append(list2, Entry{Tag: 0x010f, Kind: 2, Count: 1, Data: []byte{0}}))
		if _, l, err := Read(bytes.NewReader(double), int64(len(double)), nil); err != nil || len(l) != 1 || l[0].Count != 12 {
			t.Errorf("%v: %v, %v", order, l, err)
		}
	}
}

func TestHostile(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "short": "II*", "no tiff": "hello, world", "cut": "II*\x00\x08\x00\x00\x00\x05\x00", "outside": "MM\x00*\xff\xff\xff\xff\x00\x00",
		"big, outside": "II+\x00\x08\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff", "in its head": "II*\x00\x00\x00\x00\x00\x00\x00",
		"big, long": "II+\x00\x08\x00\x00\x00\x10\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff",
	} {
		if _, _, err := Clean([]byte(text)); err == nil {
			t.Errorf("%s: no error", name)
		}
		if got := Sized([]byte(text), 1, 1); string(got) != text {
			t.Errorf("%s: changed to %q", name, got)
		}
	}
	// A directory that leads to itself, in all ways.
	loop := testimg.Camera(6, binary.BigEndian)
	binary.BigEndian.PutUint32(loop[46:], 8)
	binary.BigEndian.PutUint32(loop[42:], 8)
	if clean, o, err := Clean(loop); err != nil || o != 6 || !strings.Contains(string(clean), "Lathe Works") {
		t.Errorf("%d, %v, %q", o, err, clean)
	}
	// More than any camera writes: many tags with the same values.
	var many []Entry
	for i := range 300 {
		many = append(many, Entry{Tag: uint16(1000 + i), Kind: 7, Count: 4, Data: []byte("1234")})
	}
	long := Block(binary.BigEndian, many)
	long = append(long, make([]byte, 1<<20)...)
	for i := range many {
		row := long[10+12*i:]
		binary.BigEndian.PutUint32(row[4:], 1<<20)
		binary.BigEndian.PutUint32(row[8:], 100)
	}
	if _, _, err := Read(bytes.NewReader(long), int64(len(long)), nil); err == nil || !strings.Contains(err.Error(), "more than 8 MiB") {
		t.Error(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	whole := testimg.Camera(6, binary.LittleEndian)
	for i := range 20000 {
		bad := testimg.Damage(r, whole, i, 64)
		clean, _, err := Clean(bad)
		if err == nil && len(clean) > len(bad) {
			t.Fatalf("%x became %x", bad, clean)
		}
		Sized(bad, 3, 4)
		Upright(bad)
		if _, list, err := Read(bytes.NewReader(bad), int64(len(bad)), nil); err == nil {
			Block(binary.LittleEndian, list)
		}
	}
}
