package node

import "strings"

// matchesPattern: "*" stands for one token, ">" at the end for one or more.
func matchesPattern(pattern, channel string) bool {
	for {
		token, patternRest, more := strings.Cut(pattern, "/")
		if token == ">" && !more {
			return true
		}
		actual, channelRest, moreActual := strings.Cut(channel, "/")
		if token != "*" && token != actual || more != moreActual {
			return false
		}
		if !more {
			return true
		}
		pattern, channel = patternRest, channelRest
	}
}
