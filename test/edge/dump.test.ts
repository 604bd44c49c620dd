import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { readVisitorKeys } from '../../src/codes/visitor-keys.ts';
import { parseAddress } from '../../src/lib/ip-address.ts';
import { connect } from '../../src/log/connect.ts';
import { writeBackup } from '../../src/maintenance/backup.ts';
import { created } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { guess } from '../support/guess.ts';
import { testBox } from '../support/secret-box.ts';
import { useService } from '../support/service.ts';
import { dumpAll } from '../support/tables.ts';

const folder = mkdtempSync(join(tmpdir(), 'scanlog-dump-'));
const edgeFolder = join(folder, 'edges');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const plainKey = Buffer.alloc(32, 0x5a);
const service = useService({
  config: { edgeFolder },
  edgeIntervals: { pollMs: 2_000, snapshotMs: 50, otherMs: 5_000 },
  /** Adds a plain key, as an older version stored it. */
  async reach(url) {
    const sql = connect(url, { max: 1 });
    await sql`INSERT INTO unsealed_visitor_keys VALUES ('qr_older', decode(${plainKey.toString('hex')}, 'hex'))`;
    await sql.end();
    return url;
  },
});

test('client addresses cannot be recovered from a dump, a backup or the edge’s files without SECRET_KEY', async () => {
  const [address, userAgent] = ['198.51.100.237', 'Mozilla/5.0 (iPhone)'];
  const headers = { 'x-forwarded-for': address, 'user-agent': userAgent };
  const { sql } = service.database;
  const { live } = await service.account();
  const { id, short_code } = await created(live);
  const url = service.urls[0] as string;
  expect((await fetch(`${url}/${short_code}`, { redirect: 'manual', headers })).status).toBe(302);
  expect((await fetch(`${url}/v1/qrcodes`, { headers })).status, 'a rate-limited request').toBe(401);

  const snapshot = await eventually(() => {
    const text = readFileSync(join(edgeFolder, 'edge-0', 'routes.jsonl'), 'utf8');
    expect(text).toContain(id);
    return text;
  });
  await service.allStored();
  const backup = join(folder, 'scanlog.backup');
  await writeBackup(sql, backup, { now: new Date() });
  const stolen = [JSON.stringify(await dumpAll(sql)), zstdDecompressSync(readFileSync(backup)).toString(), snapshot];
  const bytes = parseAddress(address);
  if (bytes === null) throw new Error('no address');
  expect(guess(stolen, bytes, userAgent), 'found without SECRET_KEY').toEqual([]);

  const key = (await readVisitorKeys(sql, testBox, [id])).get(id);
  const opened = [Buffer.from(key ?? []).toString('hex'), testBox.clientAddressKey.toString('hex')];
  expect(guess([...stolen, ...opened], bytes, userAgent), 'found with SECRET_KEY').toEqual(['client', 'visitor']);
});

test('encrypts the plain visitor keys of an older version at startup', async () => {
  const { sql } = service.database;
  await eventually(async () => {
    const [row] = await sql<[{ bytes: number }]>`SELECT pg_relation_size('unsealed_visitor_keys') AS bytes`;
    expect(row.bytes, 'the file with the plain keys is removed').toBe(0);
  });
  expect(JSON.stringify(await dumpAll(sql))).not.toContain(plainKey.toString('hex'));
  expect((await readVisitorKeys(sql, testBox, ['qr_older'])).get('qr_older')).toEqual(plainKey);
});
