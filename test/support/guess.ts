import { createHmac } from 'node:crypto';
import { visitorHash } from '../../src/edge/visitor.ts';
import { subscriberNetwork } from '../../src/lib/ip-address.ts';

/** Every sequence of 32 bytes in a text, at every offset: in hex, in base64, and as the bytes of the text. */
function* keysIn(text: string): Generator<Buffer> {
  for (const [run] of text.matchAll(/[0-9a-fA-F]{64,}/g)) yield* windows(Buffer.from(run, 'hex'));
  for (const [run] of text.matchAll(/[0-9A-Za-z+/_-]{43,}/g)) yield* windows(Buffer.from(run, 'base64url'));
  yield* windows(Buffer.from(text, 'latin1'));
}

function* windows(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at + 32 <= bytes.length; at++) yield bytes.subarray(at, at + 32);
}

/**
 * The attack of a person who has these texts and a list of addresses: hashes an address with everything that could be a
 * key, and looks for the hash. Returns the kinds of hashes found.
 */
export function guess(texts: string[], address: Uint8Array, userAgent: string): ('visitor' | 'client')[] {
  const known = new Set<string>();
  const network = subscriberNetwork(address);
  for (const text of texts) {
    for (const [uuid] of text.matchAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g))
      known.add(uuid.replaceAll('-', ''));
    for (const [token] of text.matchAll(/[\w-]{43}/g)) known.add(token);
  }
  const found = new Set<'visitor' | 'client'>();
  for (const text of texts)
    for (const key of keysIn(text)) {
      if (known.has(visitorHash(key, address, userAgent).toString('hex'))) found.add('visitor');
      if (known.has(createHmac('sha256', key).update(network).digest('base64url'))) found.add('client');
    }
  return [...found].sort();
}
