import { createHmac } from 'node:crypto';
import { isIPv4 } from '../lib/ip-address.ts';

const visitorBytes = 16;

const addressBytes = 16;
const headerBytes = 4 + addressBytes + 4;
/** Large enough for the user agents of browsers; a longer one allocates a buffer. */
const scratch = Buffer.alloc(4096);

/**
 * The pseudonym of a visitor: HMAC-SHA-256 with a key per code, truncated to 16 bytes. Without the key, the address
 * cannot be found by trying all addresses; with a key per code, visitors cannot be tracked across codes.
 *
 * The message is the address (IPv6 truncated to its /64) and the user agent, each after its length (32 bits, big-endian).
 */
export function visitorHash(codeKey: Uint8Array, address: Uint8Array, userAgent: string): Buffer {
  const maxLength = headerBytes + userAgent.length * 3;
  const message = maxLength <= scratch.length ? scratch : Buffer.allocUnsafe(maxLength);
  message.writeUInt32BE(addressBytes, 0);
  message.set(address, 4);
  if (!isIPv4(address)) message.fill(0, 4 + 8, 4 + addressBytes);
  const length = message.write(userAgent, headerBytes, 'utf8');
  message.writeUInt32BE(length, 4 + addressBytes);
  return createHmac('sha256', codeKey)
    .update(message.subarray(0, headerBytes + length))
    .digest()
    .subarray(0, visitorBytes);
}
