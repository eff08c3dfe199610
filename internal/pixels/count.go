package pixels

import "fmt"

// Count writes a number of pixels for a message: in millions, as "268.4 MP", unless there are few.
func Count(n float64) string {
	switch {
	case n == 1:
		return "1 pixel"
	case n < 1e4:
		return fmt.Sprintf("%.0f pixels", n)
	}
	return fmt.Sprintf("%.4g MP", n/1e6)
}
