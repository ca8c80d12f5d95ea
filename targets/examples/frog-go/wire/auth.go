package wire

import (
	"crypto/ed25519"
	"crypto/sha256"
	"strings"
)

// Fingerprint is the peer fingerprint (10) or the server id (11) of a raw public key.
func Fingerprint(public ed25519.PublicKey) string {
	digest := sha256.Sum256(public)
	return EncodeBase32(digest[:])[:idLength]
}

// PublicOf is the public half of a private key.
func PublicOf(key ed25519.PrivateKey) ed25519.PublicKey { return key.Public().(ed25519.PublicKey) }

// ClientAuthString is what a client signs (12.1).
func ClientAuthString(nonce, serverURI, peerKey, serverID string) []byte {
	return authString("FROG-AUTH-V1", nonce, serverURI, peerKey, serverID)
}

// ServerAuthString is what a server signs (12.2); self is the signer.
func ServerAuthString(nonce, selfURI, selfID, peerURI, peerID string) []byte {
	return authString("FROG-SERVER-AUTH-V1", nonce, selfURI, selfID, peerURI, peerID)
}

func authString(lines ...string) []byte { return []byte(strings.Join(lines, "\n")) }

// Sign answers a challenge: the two fields of AUTH or @AUTH.
func Sign(key ed25519.PrivateKey, auth []byte) (publicKey, signature string) {
	return EncodeBase32(PublicOf(key)), EncodeBase32(ed25519.Sign(key, auth))
}

// Verify checks the two fields of AUTH or @AUTH (17, 29): both canonical, the key belongs to
// the claimed fingerprint or server id, and the signature is one of pure Ed25519. The standard
// library refuses S >= L as RFC 8032 demands.
func Verify(publicKey, signature, id string, auth []byte) bool {
	public, ok := DecodeBase32(publicKey, publicKeySize)
	if !ok {
		return false
	}
	sig, ok := DecodeBase32(signature, signatureSize)
	return ok && Fingerprint(public) == id && ed25519.Verify(public, auth, sig)
}

// VerifyClient is the decision of a server that sent CHAL nonce for JOIN peerKey.
func VerifyClient(publicKey, signature, nonce, serverURI, peerKey, serverID string) bool {
	_, fingerprint, ok := strings.Cut(peerKey, ":")
	return ok && ValidPeerKey(peerKey) &&
		Verify(publicKey, signature, fingerprint, ClientAuthString(nonce, serverURI, peerKey, serverID))
}

// VerifyServer is the decision of the server peer about the server self, which sent @HELLO with
// these values (29).
func VerifyServer(publicKey, signature, nonce, selfURI, selfID, peerURI, peerID string) bool {
	return ValidID(selfID) && selfID != peerID && ValidURI(selfURI) &&
		Verify(publicKey, signature, selfID, ServerAuthString(nonce, selfURI, selfID, peerURI, peerID))
}
