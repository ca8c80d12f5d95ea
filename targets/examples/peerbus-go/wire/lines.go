package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// MaxLine is the longest content of a line; with its LF it is 1 MiB.
const MaxLine = 1<<20 - 1

// AppendLine writes an object in the byte-stream form: one line, one LF (PB-1-05, PB-1-08).
func AppendLine(stream, object []byte) ([]byte, error) {
	if _, err := ParseObject(object); err != nil {
		return stream, err
	}
	var b bytes.Buffer
	if err := json.Compact(&b, object); err != nil {
		return stream, err
	}
	if b.Len() > MaxLine {
		return stream, fmt.Errorf("a line of %d bytes is too long", b.Len())
	}
	return append(append(stream, b.Bytes()...), '\n'), nil
}

// Lines cuts a stream that comes in pieces. It never holds more than one line's worth.
type Lines struct {
	line []byte
	long bool
}

// Feed calls found for every line that is now complete: with its bytes, good during the call, or with nil for one that
// is no object or too long.
func (l *Lines) Feed(chunk []byte, found func(object []byte)) {
	for {
		i := bytes.IndexByte(chunk, '\n')
		if i < 0 {
			l.add(chunk)
			return
		}
		l.add(chunk[:i])
		if _, err := ParseObject(l.line); l.long || err != nil {
			found(nil)
		} else {
			found(l.line)
		}
		l.line, l.long = l.line[:0], false
		chunk = chunk[i+1:]
	}
}

func (l *Lines) add(piece []byte) {
	if l.long = l.long || len(l.line)+len(piece) > MaxLine; l.long {
		l.line = l.line[:0]
		return
	}
	l.line = append(l.line, piece...)
}
