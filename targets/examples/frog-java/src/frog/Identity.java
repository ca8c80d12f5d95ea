package frog;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.InvalidKeyException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.SignatureException;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.NamedParameterSpec;
import java.security.spec.X509EncodedKeySpec;
import java.util.Arrays;
import java.util.HexFormat;

/** The server's own key, what is derived from it, and the checks of other people's proofs (sections 9 to 12). */
final class Identity {
    private static final int KEY_SIZE = 32;
    private static final int SIGNATURE_SIZE = 64;
    /** The JDK takes public keys in the X.509 wrapper only; on the wire they are raw. */
    private static final byte[] X509_PREFIX = HexFormat.of().parseHex("302a300506032b6570032100");

    final String serverId;
    final String publicKey;
    final String uri;
    private final KeyPair keys;

    Identity(byte[] seed, String uri) {
        keys = fromSeed(seed);
        byte[] encoded = keys.getPublic().getEncoded();
        byte[] raw = Arrays.copyOfRange(encoded, X509_PREFIX.length, encoded.length);
        publicKey = Crockford.encode(raw);
        serverId = fingerprint(raw);
        this.uri = uri;
    }

    /** The text of section 12.1 that the client of this server has to sign. */
    String clientProof(String nonce, String peerKey) {
        return String.join("\n", "FROG-AUTH-V1", nonce, uri, peerKey, serverId);
    }

    /** The text of section 12.2 that this server signs for the sister that sent the nonce. */
    String ownProof(String nonce, String sisterId, String sisterUri) {
        return String.join("\n", "FROG-SERVER-AUTH-V1", nonce, uri, serverId, sisterUri, sisterId);
    }

    /** The text of section 12.2 that a sister has to sign for this server. */
    String sisterProof(String nonce, String sisterId, String sisterUri) {
        return String.join("\n", "FROG-SERVER-AUTH-V1", nonce, sisterUri, sisterId, uri, serverId);
    }

    String sign(String text) {
        try {
            var signer = Signature.getInstance("Ed25519");
            signer.initSign(keys.getPrivate());
            signer.update(text.getBytes(StandardCharsets.UTF_8));
            return Crockford.encode(signer.sign());
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Whether the key is that of the fingerprint and has signed the text; false for every malformed key or signature. */
    static boolean verifies(String publicKey, String signature, String fingerprint, String text) {
        var key = Crockford.decode(publicKey, KEY_SIZE);
        var proof = Crockford.decode(signature, SIGNATURE_SIZE);
        if (key.isEmpty() || proof.isEmpty() || !fingerprint(key.get()).equals(fingerprint)) {
            return false;
        }
        try {
            byte[] wrapped = Arrays.copyOf(X509_PREFIX, X509_PREFIX.length + KEY_SIZE);
            System.arraycopy(key.get(), 0, wrapped, X509_PREFIX.length, KEY_SIZE);
            var verifier = Signature.getInstance("Ed25519");
            verifier.initVerify(KeyFactory.getInstance("Ed25519").generatePublic(new X509EncodedKeySpec(wrapped)));
            verifier.update(text.getBytes(StandardCharsets.UTF_8));
            return verifier.verify(proof.get());
        } catch (InvalidKeySpecException | InvalidKeyException | SignatureException e) {
            return false; // no point of the curve, or S out of range
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String fingerprint(byte[] rawKey) {
        try {
            return Crockford.encode(MessageDigest.getInstance("SHA-256").digest(rawKey)).substring(0, 26);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The JDK derives a public key only while it generates a pair, so its randomness is the seed. */
    private static KeyPair fromSeed(byte[] seed) {
        if (seed.length != KEY_SIZE) {
            throw new IllegalArgumentException("the seed has to be 32 bytes, 64 hex digits");
        }
        try {
            var generator = KeyPairGenerator.getInstance("Ed25519");
            generator.initialize(NamedParameterSpec.ED25519, new SecureRandom() {
                private static final long serialVersionUID = 1L;

                @Override
                public void nextBytes(byte[] bytes) {
                    System.arraycopy(seed, 0, bytes, 0, bytes.length);
                }
            });
            return generator.generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }
}
