module peerbus

go 1.26.0

require (
	github.com/gorilla/websocket v1.5.3
	go.etcd.io/bbolt v1.5.0
	lukechampine.com/blake3 v1.4.1
)

require (
	github.com/klauspost/cpuid/v2 v2.0.9 // indirect
	golang.org/x/sys v0.45.0 // indirect
)
