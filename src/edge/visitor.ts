import { createHmac } from 'node:crypto';
import { isIPv4 } from '../lib/ip-address.ts';

/** Bytes of a visitor hash. */
export const VISITOR_BYTES = 16;

const ADDRESS_BYTES = 16;
const HEADER_BYTES = 4 + ADDRESS_BYTES + 4;
/** Room for the user agents that people have; a longer one gets a buffer of its own. */
const scratch = Buffer.alloc(4096);

/**
 * Who scanned, as far as anybody is told: HMAC-SHA-256, cut to 16 bytes, under a key that belongs to the code alone, so
 * that nobody without the key can try all addresses, and no visitor can be followed from one code to another.
 *
 * The message is the address (IPv6 cut to its /64) and the user agent, each with its length (32 bits, big-endian) in
 * front.
 */
export function visitorHash(codeKey: Uint8Array, address: Uint8Array, userAgent: string): Buffer {
  const longest = HEADER_BYTES + userAgent.length * 3;
  const message = longest <= scratch.length ? scratch : Buffer.allocUnsafe(longest);
  message.writeUInt32BE(ADDRESS_BYTES, 0);
  message.set(address, 4);
  if (!isIPv4(address)) message.fill(0, 4 + 8, 4 + ADDRESS_BYTES);
  const length = message.write(userAgent, HEADER_BYTES, 'utf8');
  message.writeUInt32BE(length, 4 + ADDRESS_BYTES);
  return createHmac('sha256', codeKey)
    .update(message.subarray(0, HEADER_BYTES + length))
    .digest()
    .subarray(0, VISITOR_BYTES);
}
