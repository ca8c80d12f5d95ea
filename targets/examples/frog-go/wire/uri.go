package wire

import (
	"net/netip"
	"strings"
)

// ValidURI reports whether s is a canonical server URI (8). Nothing is ever normalised.
func ValidURI(s string) bool {
	if len(s) > maxURI {
		return false
	}
	rest, defaultPort := s, 0
	if after, ok := strings.CutPrefix(s, "wss://"); ok {
		rest, defaultPort = after, 443
	} else if after, ok := strings.CutPrefix(s, "ws://"); ok {
		rest, defaultPort = after, 80
	} else {
		return false
	}
	slash := strings.IndexByte(rest, '/')
	if slash < 0 {
		return false
	}
	host, port, hasPort, ok := splitAuthority(rest[:slash])
	if !ok {
		return false
	}
	if hasPort {
		n, ok := parseDecimal(port, 65535)
		if !ok || n < 1 || n > 65535 || n == defaultPort {
			return false
		}
	}
	return validHost(host) && validPath(rest[slash:])
}

func splitAuthority(s string) (host, port string, hasPort, ok bool) {
	if strings.HasPrefix(s, "[") {
		end := strings.IndexByte(s, ']')
		if end < 0 {
			return "", "", false, false
		}
		host, s = s[:end+1], s[end+1:]
		if s == "" {
			return host, "", false, true
		}
		port, ok = strings.CutPrefix(s, ":")
		return host, port, true, ok
	}
	host, port, hasPort = strings.Cut(s, ":")
	return host, port, hasPort, true
}

func validHost(host string) bool {
	if literal, ok := strings.CutPrefix(host, "["); ok {
		literal = strings.TrimSuffix(literal, "]")
		addr, err := netip.ParseAddr(literal)
		// netip prints the form of RFC 5952, IPv4-mapped addresses in the mixed notation of its section 5.
		return err == nil && addr.Is6() && addr.Zone() == "" && addr.String() == literal
	}
	labels := strings.Split(host, ".")
	for _, label := range labels {
		if !validLabel(label) {
			return false
		}
	}
	// What ends like a number is an IPv4 literal to every resolver, so it has to be one.
	if last := labels[len(labels)-1]; all(last, isDigit) || strings.HasPrefix(last, "0x") {
		addr, err := netip.ParseAddr(host)
		return err == nil && addr.Is4() && addr.String() == host
	}
	return true
}

func validLabel(s string) bool {
	return 1 <= len(s) && len(s) <= 63 && s[0] != '-' && s[len(s)-1] != '-' &&
		all(s, func(c byte) bool { return isLower(c) || isDigit(c) || c == '-' })
}

func isUnreserved(c byte) bool {
	return isLower(c) || isUpper(c) || isDigit(c) || strings.IndexByte("-._~", c) >= 0
}

func validPath(path string) bool {
	for i := 0; i < len(path); i++ {
		c := path[i]
		switch {
		case c == '%':
			if i+2 >= len(path) {
				return false
			}
			high, low := hexValue(path[i+1]), hexValue(path[i+2])
			if high < 0 || low < 0 || isUnreserved(byte(high<<4|low)) {
				return false
			}
			i += 2
		case isUnreserved(c) || strings.IndexByte("/!$&'()*+,;=:@", c) >= 0:
		default:
			return false
		}
	}
	// An escaped dot was refused above, as an escape of an unreserved character.
	for segment := range strings.SplitSeq(path, "/") {
		if segment == "." || segment == ".." {
			return false
		}
	}
	return true
}

// hexValue knows upper-case digits only.
func hexValue(c byte) int {
	switch {
	case isDigit(c):
		return int(c - '0')
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
