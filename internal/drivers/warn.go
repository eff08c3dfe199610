package drivers

import (
	"fmt"
	"io"
	"os"
	"sync"
)

// told are the messages that this process has printed.
var told sync.Map

// warnOnce prints messages for the user to standard error, where nothing else takes them. It
// prints each text once: a server that opens a device for each request says once what it runs on.
func warnOnce(text string) { tell(os.Stderr, text) }

func tell(w io.Writer, text string) {
	if _, before := told.LoadOrStore(text, true); !before {
		fmt.Fprintln(w, text)
	}
}
