// The identifiers of section 7: each function says whether a text is one.
import { decodeBase32 } from "./base32.js";
import { isCanonicalUri } from "./uri.js";

const matches = (pattern) => (text) => pattern.test(text);

const ID26 = /^[0-9A-HJKMNP-TV-Z]{26}$/;

export const isNetwork = matches(/^[A-Z0-9_]{1,16}$/); // 7.1
export const isFingerprint = matches(ID26); // 7.4
export const isPeerKey = matches(/^[A-Z0-9_]{1,16}:[0-9A-HJKMNP-TV-Z]{26}$/); // 7.5
export const isServerId = matches(ID26); // 7.6
export const isRouteId = matches(ID26); // 7.7
export const isNonce = matches(ID26); // 7.8
export const isCid = matches(/^(?!-$)[A-Z0-9_-]{1,32}$/); // 7.9
export const isFcid = isCid; // 7.10
export const isUri = isCanonicalUri; // 8
export const isPublicKey = (text) => decodeBase32(text, 32) !== null; // 9.2
export const isSignature = (text) => decodeBase32(text, 64) !== null; // 9.3
export const isDecimal = matches(/^(?:0|[1-9][0-9]*)$/); // 6

/** The network of a valid peer key. */
export const networkOf = (peerKey) => peerKey.slice(0, -27);
