// Canonical server URIs (section 8).
import { isIPv4, isIPv6 } from "node:net";
import { domainToASCII, domainToUnicode } from "node:url";

const MAX_LENGTH = 200;
const DEFAULT_PORTS = { ws: "80", wss: "443" };

// No userinfo, query or fragment: none of their delimiters fits anywhere.
const URI =
  /^(wss?):\/\/(\[[0-9a-f:.]+\]|[0-9a-z.-]+)(?::([1-9][0-9]{0,4}))?(\/.*)$/;
const PATH = /^(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/]|%[0-9A-F]{2})+$/;
const UNRESERVED = /^[A-Za-z0-9\-._~]$/;

/** Whether the text is a canonical server URI. */
export function isCanonicalUri(text) {
  if (text.length > MAX_LENGTH) return false;
  const match = URI.exec(text);
  if (!match) return false;
  const [, scheme, host, port, path] = match;
  if (port !== undefined) {
    if (Number(port) > 65535 || port === DEFAULT_PORTS[scheme]) return false;
  }
  if (!PATH.test(path)) return false;
  for (const [, hex] of path.matchAll(/%(..)/g)) {
    if (UNRESERVED.test(String.fromCharCode(parseInt(hex, 16)))) return false;
  }
  // An escaped dot is an escaped unreserved character, so only plain ones are left.
  if (path.split("/").some((part) => part === "." || part === ".."))
    return false;
  return host.startsWith("[")
    ? isCanonicalIPv6(host.slice(1, -1))
    : isIPv4(host) || isDnsName(host);
}

function isDnsName(host) {
  if (host.length > 253) return false;
  const labels = host.split(".");
  if (!labels.every(isLabel)) return false;
  // A name that ends like a number is taken for an address by many: it has to be
  // a dotted quad.
  return !/^(?:[0-9]+|0x[0-9a-f]*)$/.test(labels.at(-1));
}

function isLabel(label) {
  if (!/^(?!-)[0-9a-z-]{1,63}(?<!-)$/.test(label)) return false;
  if (!label.startsWith("xn--")) return true;
  const unicode = domainToUnicode(label);
  return unicode !== label && domainToASCII(unicode) === label;
}

// RFC 5952: the text has to be the one that we would write for its address.
function isCanonicalIPv6(text) {
  return isIPv6(text) && formatIPv6(parseIPv6(text)) === text;
}

function parseIPv6(text) {
  const hex = text.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, a, b, c, d) =>
    [(a << 8) | b, (c << 8) | d].map((n) => n.toString(16)).join(":"),
  );
  const [head, tail] = hex
    .split("::")
    .map((half) => half.split(":").filter(Boolean));
  const zeros = tail ? Array(8 - head.length - tail.length).fill("0") : [];
  return [...head, ...zeros, ...(tail ?? [])].map((group) =>
    parseInt(group, 16),
  );
}

function formatIPv6(groups) {
  // RFC 5952 section 5: IPv4-mapped addresses are written in mixed notation.
  const mapped =
    groups.slice(0, 5).every((g) => g === 0) && groups[5] === 0xffff;
  if (mapped) {
    const [high, low] = groups.slice(6);
    return `::ffff:${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
  }
  let start = -1;
  let length = 1; // a run of one is not shortened
  for (let i = 0; i < 8; i++) {
    let end = i;
    while (end < 8 && groups[end] === 0) end++;
    if (end - i > length) [start, length] = [i, end - i]; // the first of equal runs
  }
  const hex = groups.map((group) => group.toString(16));
  if (start < 0) return hex.join(":");
  const head = hex.slice(0, start).join(":");
  return `${head}::${hex.slice(start + length).join(":")}`;
}
