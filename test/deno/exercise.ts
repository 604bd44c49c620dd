/**
 * Runs on any runtime: imports every module that must also run on Deno, uses the most important ones, and prints the
 * results as JSON, without anything that depends on time or chance, so that two runtimes can be compared.
 */
import { readdir } from 'node:fs/promises';
import process from 'node:process';
import { isDeepStrictEqual } from 'node:util';
import { changePlan, evolveAccount } from '../../events/account.ts';
import { type DomainEvent, schemaOf, upcast } from '../../events/catalogue.ts';
import { type Code, changeCode, createCode, deleteCode, evolveCode, type NewCode } from '../../events/code.ts';
import { problemWithDestination, problemWithName, problemWithShortCodeFormat } from '../../events/fields.ts';
import type { Recorded } from '../../events/recorded.ts';
import { applyState } from '../../projections/state.ts';
import { isId, newId, newRuleId, newShortCode } from '../../src/lib/ids.ts';
import type { Sql } from '../../src/lib/sql.ts';
import { append } from '../../src/log/append.ts';
import { connect } from '../../src/log/connect.ts';
import { migrate } from '../../src/log/migrate.ts';
import { readEvents, readStream } from '../../src/log/read.ts';
import { VersionTaken } from '../../src/log/version-taken.ts';
import { drawPng } from '../../src/qr/png.ts';
import { drawSvg } from '../../src/qr/svg.ts';

const root = new URL('../../', import.meta.url);
const now = new Date('2026-03-01T09:30:00.000Z');
const by = { actor: 'operator', now };

async function importAll(): Promise<string[]> {
  const imported: string[] = [];
  for (const folder of ['events/', 'events/wire/', 'projections/', 'src/log/', 'src/qr/']) {
    const names = (await readdir(new URL(folder, root))).filter((name) => name.endsWith('.ts'));
    for (const name of names.toSorted()) {
      await import(new URL(`${folder}${name}`, root).href);
      imported.push(`${folder}${name}`);
    }
  }
  return imported;
}

const recorded = <E extends DomainEvent>(event: E, version: number): Recorded<E> => ({
  ...event,
  position: version,
  id: `evt_${version}`,
  stream: 'qr_1',
  version,
  actor: 'operator',
  occurred_at: now,
});

const newCode: NewCode = {
  account: 'acct_1',
  mode: 'live',
  name: 'Café 楽',
  destination_url: 'https://example.com/ü',
  short_code: 'deno-menu',
  short_code_given: true,
  status: 'draft',
  style: { dotsType: 'dots' },
};

function pureRules() {
  const created = evolveCode(undefined, recorded(createCode(newCode, newRuleId), 1));
  const events = changeCode(
    created,
    { name: 'New', destination_url: 'https://example.com/new', active: true },
    newRuleId,
  );
  const changed = events.reduce<Code>((code, event, i) => evolveCode(code, recorded(event, 2 + i)), created);
  const { status: _, short_code_given: __, ...beforeDrafts } = newCode;
  const opened = recorded({ type: 'account_created', data: { name: 'Café', plan: 'free' } } as const, 1);
  return {
    created,
    events,
    changed,
    deleted: deleteCode(changed),
    schema: schemaOf(createCode(newCode, newRuleId)),
    upcast: upcast('code_created', 1, beforeDrafts),
    plan: changePlan(evolveAccount(undefined, opened), 'pro'),
    faults: [
      problemWithName('a\u0000'),
      problemWithDestination('http://go.example/x', 'http://go.example'),
      problemWithShortCodeFormat('-'),
    ],
    ids: [isId('qr', newId('qr', now.getTime())), /^[1-9A-Za-z]{7}$/.test(newShortCode())],
  };
}

async function theLog(sql: Sql) {
  const stream = newId('qr', now.getTime());
  const code = { stream, version: 1, event: createCode({ ...newCode, short_code: stream.slice(-10) }, newRuleId) };
  const [first] = await sql.begin(async (tx) => {
    const appended = await append(tx, [code], by);
    await applyState(tx, appended);
    return appended;
  });
  const again = await sql
    .begin((tx) => append(tx, [code], by))
    .catch((error: unknown) => (error instanceof VersionTaken ? 'version taken' : String(error)));
  const [row] = await sql`SELECT name, destination_url, status, style, created_at FROM codes WHERE id = ${stream}`;
  const [read] = await readStream(sql, stream);
  const [next] = await readEvents(sql, (first?.position ?? 0) - 1, 1);
  return {
    migrations: await migrate(sql),
    again,
    row,
    sameStream: isDeepStrictEqual(read, first),
    sameLog: isDeepStrictEqual(next, first),
  };
}

const sql = connect(process.env['DATABASE_URL'] ?? '', { max: 2 });
const url = 'https://go.example.com/deno-menu';
const png = await drawPng(url, { dotsType: 'rounded' }, 128);
const result = {
  imported: await importAll(),
  rules: pureRules(),
  log: await theLog(sql),
  images: { svg: drawSvg(url, { dotsType: 'rounded' }, 128), png: [...png.subarray(0, 8)] },
};
await sql.end();
process.stdout.write(JSON.stringify(result));
