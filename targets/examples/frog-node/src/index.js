export { decodeBase32, encodeBase32 } from "./base32.js";
export { Client } from "./client.js";
export { Clock } from "./clock.js";
export { OperationError } from "./connection.js";
export * from "./identity.js";
export * as syntax from "./syntax.js";
export { WireError, decode, encode } from "./wire.js";
