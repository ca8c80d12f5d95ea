// Strict Crockford Base32 (sections 7.2 and 7.3).

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const VALUES = new Map([...ALPHABET].map((symbol, value) => [symbol, value]));

/** Encodes bytes as one big-endian bit stream, zero bits appended at its end. */
export function encodeBase32(bytes) {
  let text = "";
  let pending = 0;
  let bits = 0;
  for (const byte of bytes) {
    pending = ((pending << 8) | byte) & 0xfff;
    for (bits += 8; bits >= 5;) {
      bits -= 5;
      text += ALPHABET[(pending >> bits) & 31];
    }
  }
  if (bits > 0) text += ALPHABET[(pending << (5 - bits)) & 31];
  return text;
}

/**
 * Decodes the text of exactly `size` bytes; null for any text but the one that
 * encodeBase32 writes: no aliases, no other length, no set pad bit (7.3).
 */
export function decodeBase32(text, size) {
  if (text.length !== Math.ceil((size * 8) / 5)) return null;
  const bytes = Buffer.alloc(size);
  let pending = 0;
  let bits = 0;
  let length = 0;
  for (const symbol of text) {
    const value = VALUES.get(symbol);
    if (value === undefined) return null;
    pending = ((pending << 5) | value) & 0xfff;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes[length++] = (pending >> bits) & 0xff;
    }
  }
  const pad = pending & ((1 << bits) - 1);
  return pad === 0 ? bytes : null;
}
