import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withoutPostgres } from '../../bench/chaos/faults.ts';
import type { ScannedCode } from '../../bench/chaos/scanner.ts';
import { codeOf } from '../../src/lib/errors.ts';
import { formatAddress, parseAddress } from '../../src/lib/ip-address.ts';
import { eventually } from '../support/eventually.ts';
import { dumpAll } from '../support/tables.ts';
import { useWorld } from './faults/fault-support.ts';

const world = useWorld([{ LOG_LEVEL: 'debug' }]);

/** Addresses that do not occur anywhere by accident. */
const addresses = ['198.51.100.237', '2001:db8:cafe:f00d:1234:5678:9abc:def0', '::ffff:203.0.113.239'];

/** All forms in which an address could be stored. */
function formsOf(address: string): Buffer[] {
  const bytes = parseAddress(address);
  if (bytes === null) throw new Error(`${address} is not an address`);
  const isShort = address.includes('.');
  const hex = Buffer.from(isShort ? bytes.subarray(12) : bytes).toString('hex');
  const grouped = (hex.match(/.{4}/g) ?? []).join(':');
  const texts = [address, formatAddress(bytes), grouped, ...(isShort ? [] : [hex, address.slice(0, 19)])];
  // Four bytes alone could occur by accident, so the search uses longer forms.
  const raw = isShort ? [Buffer.from(bytes.subarray(8))] : [Buffer.from(bytes), Buffer.from(bytes.subarray(0, 8))];
  const hexes = isShort ? [`ffff${hex}`, `\\x${hex}`, `"${hex}"`] : [];
  return [...[...texts, ...hexes].flatMap((text) => [Buffer.from(text), Buffer.from(text.toUpperCase())]), ...raw];
}

const forms = addresses.flatMap((address) => formsOf(address).map((form) => ({ address, form })));

function* filesBelow(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filesBelow(path);
    else if (entry.isFile()) yield path;
  }
}

/** Files that contain one of these byte sequences. */
function filesWith(needles: Buffer[]): string[] {
  return [...filesBelow(world.folder)].filter((file) => {
    const content = contentOf(file);
    return needles.some((needle) => content.includes(needle));
  });
}

/** Empty for a file that a running server has deleted since it was listed. */
function contentOf(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
}

const expectNoAddress = (when: string) =>
  expect(filesWith(forms.map(({ form }) => form)), `files that contain an address ${when}`).toEqual([]);

async function visit({ shortCode }: ScannedCode): Promise<void> {
  const url = `http://localhost:${world.services[0]?.port}`;
  for (const address of addresses)
    for (const [path, init] of [
      [`/${shortCode}`, {}],
      [`/${shortCode}`, { method: 'HEAD' }],
      [`/${shortCode}`, { method: 'POST' }],
      ['/no-such-code', {}],
      [`/${'x'.repeat(60)}`, {}],
      ['/v1/qrcodes', {}],
      ['/v1/qrcodes', { method: 'POST', body: '{' }],
    ] as [string, RequestInit][]) {
      const headers = { 'x-forwarded-for': `${address}, 127.0.0.1`, 'user-agent': 'Mozilla/5.0 (iPhone)' };
      await (await fetch(`${url}${path}`, { redirect: 'manual', ...init, headers })).text();
    }
}

test('no table, file, stream, spool, snapshot or log contains a client address in any form', async () => {
  const codes = await world.codes(2);
  const [code] = codes as [ScannedCode];
  await visit(code);
  await withoutPostgres(world, async () => {
    await visit(code);
    const spooled = [...filesBelow(world.edgeFolder)].filter((file) => file.endsWith('.spool'));
    expect(spooled, 'there are spooled scans').not.toHaveLength(0);
    expectNoAddress('while scans are spooled');
  });
  const scans = async () => {
    const [row] = await world.sql<[{ count: number }]>`SELECT count(*) FROM scans WHERE code = ${code.id}`;
    return row.count;
  };
  await eventually(async () => expect(await scans()).toBe(2 * addresses.length));
  await eventually(async () => {
    // Scans from before the relay started are not in the stream.
    await visit(code);
    const holders = filesWith([Buffer.from(code.id)]);
    for (const place of ['/nats/', '/edges/edge-0/routes.jsonl', '/postgres/'])
      expect(
        holders.some((file) => file.includes(place)),
        `the search covers ${place}`,
      ).toBe(true);
  });
  await world.sql`CHECKPOINT`;
  expectNoAddress('at the end');

  const tables = JSON.stringify(await dumpAll(world.sql));
  expect(tables).toContain(code.id);
  for (const { address, form } of forms)
    expect(tables.includes(form.toString('latin1')), `a table contains ${address} as ${form.toString('hex')}`).toBe(
      false,
    );
  const logs = [...filesBelow(join(world.folder, 'logs'))].map((file) => readFileSync(file, 'utf8')).join('');
  expect(logs, 'the service wrote logs').toContain('"request"');
});
