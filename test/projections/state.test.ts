import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CodeChange } from '../../events/code.ts';
import type { KeyLimits } from '../../events/key.ts';
import { type Role, roles } from '../../events/member.ts';
import type { Owner } from '../../events/owner.ts';
import { type Mode, type Plan, plans } from '../../events/plans.ts';
import type { GivenRule } from '../../events/targeting/rule-ids.ts';
import { stateTables } from '../../projections/state.ts';
import { createAccount, rename, setPlan, setTimezone } from '../../src/accounts/accounts.ts';
import { createKey, revoke, rotate } from '../../src/accounts/keys.ts';
import { change, remove, restore } from '../../src/codes/change.ts';
import { countCodes, findCode } from '../../src/codes/codes.ts';
import { createCodes } from '../../src/codes/create.ts';
import { addLogo, removeLogo } from '../../src/codes/logos.ts';
import { codeAtVersion } from '../../src/codes/past.ts';
import { type RevertedCode, revert } from '../../src/codes/revert.ts';
import { Refusal } from '../../src/lib/errors.ts';
import { append } from '../../src/log/append.ts';
import { locks } from '../../src/log/locks.ts';
import { replayState } from '../../src/maintenance/replay-state.ts';
import { addMember, changeRole, removeMember } from '../../src/people/members.ts';
import * as webhooks from '../../src/webhooks/commands.ts';
import { png } from '../logos/images.ts';
import { useEmptiedDatabase } from '../support/emptied.ts';
import { opened } from '../support/events.ts';
import { testBox } from '../support/secret-box.ts';
import { dumpTable } from '../support/tables.ts';

const database = useEmptiedDatabase();
const by = { actor: 'operator', now: new Date() };
const limits: KeyLimits = {
  scopes: ['codes.read', 'analytics.read'],
  expires_at: new Date('2099-01-01T00:00:00.000Z'),
  allowed_cidrs: ['10.0.0.0/8', '2001:db8::/32'],
};

async function currentState(): Promise<Record<string, string[]>> {
  const dumps = Object.keys(stateTables).map(async (table) => [table, await dumpTable(database.sql, table)]);
  return Object.fromEntries(await Promise.all(dumps));
}

const create = async (
  account: string,
  mode: Mode,
  count = 1,
  status: 'active' | 'draft' = 'active',
  short_code?: string,
) => {
  const created = await database.sql.begin((tx) =>
    createCodes(
      tx,
      testBox,
      { account, mode },
      Array.from({ length: count }, (_, i) => ({
        name: `Code ${i}`,
        destination_url: `https://example.com/${i}`,
        status,
        short_code: i === 0 ? short_code : undefined,
        style: { dotsColor: '#1A2B3C', dotsType: 'dots' },
      })),
      by,
    ),
  );
  return created.map(({ code }) => code);
};

/** The accounts and codes that the random history has created so far. */
interface World {
  accounts: { id: string; keys: string[] }[];
  codes: { id: string; account: string; mode: Mode; status: string }[];
}

type Step =
  | { do: 'open'; plan: Plan }
  | { do: 'create'; account: number; mode: Mode; count: number; status: 'active' | 'draft'; given: string | undefined }
  | ({ do: 'change'; code: number } & CodeChange)
  | { do: 'restore'; code: number; version: number }
  | { do: 'revert'; code: number }
  | { do: 'delete'; code: number }
  | { do: 'key'; account: number; mode: Mode }
  | { do: 'revoke'; account: number; key: number }
  | { do: 'plan'; account: number; plan: Plan }
  | { do: 'rename'; account: number; name: string }
  | { do: 'timezone'; account: number; timezone: string }
  | { do: 'member'; account: number; user: string; role: Role; removed: boolean }
  | { do: 'logo'; account: number; mode: Mode; shade: number; removed: boolean }
  | { do: 'webhook'; account: number; mode: Mode; active: boolean; tags: string[] | null; removed: boolean };

/** Changes of where a code leads; null removes. */
const targeting = {
  rules: fc.constantFrom<GivenRule[] | null>(
    null,
    [{ when: { countries: ['DE'], hours: { from: '07:00', to: '11:00' } }, destination_url: 'https://example.com/a' }],
    [{ name: 'A "B"', split: [1, 2].map((weight) => ({ weight, destination_url: `https://example.com/${weight}` })) }],
  ),
  starts_at: fc.constantFrom(null, new Date('2026-01-01T00:00:00.250Z')),
  expires_at: fc.constantFrom(null, new Date('2027-01-01T00:00:00Z')),
  max_scans: fc.constantFrom(null, 1, 500),
  fallback_url: fc.constantFrom(null, 'https://example.com/closed?ü'),
  forward_query: fc.constantFrom(null, true),
  utm: fc.constantFrom(null, { source: 'flyer', medium: 'qr' }),
  tags: fc.constantFrom<(string[] | null)[]>(null, ['summer'], ['Summer'], ['"quoted"', 'Ümlaut, comma']),
  note: fc.constantFrom(null, 'On the terrace', 'A "B"\nü \\n'),
};

const which = fc.nat(1_000);
const mode = fc.constantFrom<Mode>('live', 'test');
const plan = fc.constantFrom(...plans);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('open' as const), plan }),
  fc.record({
    do: fc.constant('create' as const),
    account: which,
    mode,
    count: fc.integer({ min: 1, max: 3 }),
    status: fc.constantFrom('active', 'draft'),
    given: fc.option(fc.mixedCase(fc.constantFrom('menu', 'card-1', 'poster2')), { nil: undefined }),
  }),
  fc.record(
    {
      do: fc.constant('change' as const),
      code: which,
      name: fc.constantFrom('Code 0', 'Café 楽', 'New'),
      destination_url: fc.constantFrom('https://example.com/0', 'https://example.com/neu?ü'),
      active: fc.boolean(),
      ...targeting,
    },
    { requiredKeys: ['do', 'code'] },
  ),
  fc.record({ do: fc.constant('restore' as const), code: which, version: which }),
  fc.record({ do: fc.constant('revert' as const), code: which }),
  fc.record({ do: fc.constant('delete' as const), code: which }),
  fc.record({ do: fc.constant('key' as const), account: which, mode }),
  fc.record({ do: fc.constant('revoke' as const), account: which, key: which }),
  fc.record({ do: fc.constant('plan' as const), account: which, plan }),
  fc.record({ do: fc.constant('rename' as const), account: which, name: fc.constantFrom('Test', 'Café 楽') }),
  fc.record({ do: fc.constant('timezone' as const), account: which, timezone: fc.constantFrom('UTC', 'Asia/Kolkata') }),
  fc.record({
    do: fc.constant('member' as const),
    account: which,
    user: fc.constantFrom('usr_1', 'usr_2'),
    role: fc.constantFrom(...roles),
    removed: fc.boolean(),
  }),
  fc.record({
    do: fc.constant('logo' as const),
    account: which,
    mode,
    removed: fc.boolean(),
    shade: fc.integer({ min: 0, max: 2 }),
  }),
  fc.record({
    do: fc.constant('webhook' as const),
    account: which,
    mode,
    active: fc.boolean(),
    removed: fc.boolean(),
    tags: targeting.tags,
  }),
);

/** Creates a webhook, changes it, and may remove it again. */
async function addWebhook(owner: Owner, { active, tags, removed }: Extract<Step, { do: 'webhook' }>): Promise<void> {
  const { sql } = database;
  const filter = { events: ['scan.created', 'code.updated'], qr_ids: ['qr_1'], tags: null };
  const settings = { url: 'https://example.com/ü', description: 'A "B"', active: true, ...filter };
  try {
    const id = await webhooks.create(sql, testBox, owner, settings, by);
    await webhooks.change(sql, owner, id, { active, tags, qr_ids: null, description: '' }, by);
    const key = { account: owner.account, webhook: id };
    if (active) await webhooks.disable(sql, key, { reason: 'gone', attemptedAt: by.now, now: by.now });
    await webhooks.rotate(sql, testBox, owner, id, by);
    if (removed) await webhooks.remove(sql, owner, id, by);
    await webhooks.set(sql, testBox, owner, `https://example.com/${tags}`, by);
  } catch (error) {
    if (!(error instanceof Refusal && ['plan_required', 'quota_exceeded'].includes(error.code))) throw error;
  }
}

/** Adds a logo of one of three images, and may remove it again. */
async function addImage(owner: Owner, { shade, removed }: Extract<Step, { do: 'logo' }>): Promise<void> {
  const image = new Uint8Array(png({ width: 2, height: 3, color: [shade, 0, 0, 255] }));
  const size = { width: 2, height: 3 };
  const art = { kind: 'raster' as const, ...size, png: image };
  const logo = { art, format: 'png' as const, ...size, bytes: image.length };
  const { id } = await addLogo(database.sql, owner, logo, by, 1_000);
  if (removed) await removeLogo(database.sql, owner, id, by);
}

/** Makes a person a member, sets the role, and may remove the person again, unless that is the last owner. */
async function addPerson(account: string, { user, role, removed }: Extract<Step, { do: 'member' }>): Promise<void> {
  const { sql } = database;
  await addMember(sql, account, user, 'viewer', by);
  try {
    await changeRole(sql, account, user, role, by);
    if (removed) await removeMember(sql, account, user, by);
  } catch (error) {
    if (!(error instanceof Refusal && error.code === 'last_owner')) throw error;
  }
}

async function run(world: World, now: Step): Promise<void> {
  const { sql } = database;
  const account = 'account' in now ? world.accounts[now.account % world.accounts.length] : undefined;
  const codes = world.codes.filter(({ status }) => status !== 'deleted');
  const code = 'code' in now ? codes[now.code % codes.length] : undefined;
  switch (now.do) {
    case 'open': {
      const { id, live } = await createAccount(sql, { name: 'Test', plan: now.plan, now: by.now });
      world.accounts.push({ id, keys: [live.id] });
      break;
    }
    case 'create': {
      if (account === undefined) return;
      // A given short code may be taken, also by an earlier history.
      const created = await create(account.id, now.mode, now.count, now.status, now.given).catch((error) => {
        if (error instanceof Refusal && error.code === 'short_code_taken') return [];
        throw error;
      });
      for (const { id, status } of created) world.codes.push({ id, account: account.id, mode: now.mode, status });
      break;
    }
    case 'change': {
      if (code === undefined) return;
      const { do: _, code: __, ...wanted } = now;
      code.status = (await change(sql, code, code.id, wanted, by)).code.status;
      break;
    }
    case 'restore': {
      const current = code && (await findCode(sql, code, code.id));
      const then = current && (await codeAtVersion(sql, current.id, 1 + (now.version % current.version)));
      if (code !== undefined && then !== undefined) await restore(sql, code, then, by);
      break;
    }
    case 'revert': {
      if (code === undefined) return;
      const period = { actor: by.actor, from: new Date(0), to: by.now };
      const onReverted = (codes: RevertedCode[]) => {
        for (const { code: changed, events } of codes)
          for (const known of world.codes)
            if (known.id === changed.id && events.some(({ type }) => type === 'code_paused')) known.status = 'paused';
        return true;
      };
      const { signal } = new AbortController();
      const request = { ...period, isDryRun: false, signal, ownUrls: [], onRecorded: async () => {}, onReverted };
      await revert(sql, code, request, by);
      break;
    }
    case 'delete':
      if (code === undefined) return;
      await remove(sql, code, code.id, by);
      code.status = 'deleted';
      break;
    case 'key':
      if (account === undefined) return;
      account.keys.push((await createKey(sql, account.id, { name: 'More', mode: now.mode, ...limits }, by)).id);
      account.keys.push((await rotate(sql, account.id, account.keys.at(-1) ?? '', { overlapHours: 1 }, by)).minted.id);
      break;
    case 'revoke': {
      const [key] = account?.keys.splice(now.key % account.keys.length, 1) ?? [];
      if (account !== undefined && key !== undefined) await revoke(sql, account.id, key, by);
      break;
    }
    case 'rename':
      if (account !== undefined) await rename(sql, account.id, now.name, by.now);
      break;
    case 'timezone':
      if (account !== undefined) await setTimezone(sql, account.id, now.timezone, by);
      break;
    case 'member':
      if (account !== undefined) await addPerson(account.id, now);
      break;
    case 'logo':
      if (account !== undefined) await addImage({ account: account.id, mode: now.mode }, now);
      break;
    case 'webhook':
      if (account !== undefined) await addWebhook({ account: account.id, mode: now.mode }, now);
      break;
    case 'plan':
      if (account !== undefined) await setPlan(sql, account.id, now.plan, by.now);
  }
}

describe('state rebuilt from the log', () => {
  test('has the same rows that the commands wrote, after any history', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (history) => {
        const world: World = { accounts: [], codes: [] };
        for (const now of [{ do: 'open', plan: 'enterprise' } as const, ...history]) await run(world, now);

        const written = await currentState();
        const { corrected } = await replayState(database.sql);
        expect(await currentState()).toEqual(written);
        expect(corrected).toBe(0);

        for (const { id } of world.accounts) {
          for (const mode of ['live', 'test'] as const) {
            const own = world.codes.filter((code) => code.account === id && code.mode === mode);
            const count = (status: string) => own.filter((code) => code.status === status).length;
            expect(await countCodes(database.sql, { account: id, mode }), 'the counts that quotas use').toEqual({
              active: count('active'),
              paused: count('paused'),
              draft: count('draft'),
            });
          }
        }
      }),
      { numRuns: 10 },
    );
  });

  test('reports progress and the number of events', async () => {
    const { id } = await createAccount(database.sql, { name: 'Many', plan: 'enterprise', now: by.now });
    await create(id, 'test', 1_500);
    const [{ count }] = await database.sql<[{ count: number }]>`SELECT count(*) FROM events`;
    const progress: [number, number][] = [];
    const { events } = await replayState(database.sql, (done, total) => progress.push([done, total]));
    expect(events).toBe(count);
    expect(progress.length, 'more than one batch').toBeGreaterThan(1);
    expect(progress.map(([done]) => done)).toEqual(progress.map(([done]) => done).toSorted((a, b) => a - b));
    expect(progress.at(-1)?.[0], 'the last report is complete').toBe(progress.at(-1)?.[1]);
  });
});

describe('rows that differ from the log', () => {
  test.each([
    ['changed', `UPDATE codes SET name = 'Tampered', status = 'paused' WHERE id = $1`],
    ['deleted', `DELETE FROM codes WHERE id = $1`],
    [
      'added',
      `INSERT INTO codes SELECT (jsonb_populate_record(c, '{"id": "qr_x", "short_code": "made-up"}')).* FROM codes c WHERE id = $1`,
    ],
    ['given another short code', `UPDATE codes SET short_code = 'stolen' WHERE id = $1`],
  ])('are corrected: a code %s', async (_, statement) => {
    const { id } = await createAccount(database.sql, { name: 'Victim', plan: 'enterprise', now: by.now });
    const [code] = await create(id, 'live', 2);
    const right = await currentState();
    await database.sql.unsafe(statement, [code?.id as string]);
    expect(await currentState()).not.toEqual(right);

    expect(await replayState(database.sql)).toMatchObject({ corrected: 1 });
    expect(await currentState()).toEqual(right);
  });

  test('are corrected: accounts, keys and counts', async () => {
    const { id } = await createAccount(database.sql, { name: 'Victim', plan: 'pro', now: by.now });
    await create(id, 'live', 2);
    const right = await currentState();
    await database.sql`UPDATE accounts SET plan = 'enterprise' WHERE id = ${id}`;
    await database.sql`UPDATE api_keys SET revoked_at = now() WHERE account = ${id}`;
    await database.sql`UPDATE code_counts SET codes = 0 WHERE account = ${id}`;

    expect(await replayState(database.sql)).toMatchObject({ corrected: 4 });
    expect(await currentState()).toEqual(right);
  });
});

describe('a replay with concurrent work', () => {
  test('is refused while another replay runs', async () => {
    await database.sql.begin(async (another) => {
      await another`SELECT pg_advisory_xact_lock(${locks.replayState})`;
      const refused = await replayState(database.sql).catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(Refusal);
      expect((refused as Refusal).message).toBe(
        'Another replay of the state or an import is under way: wait for it to end.',
      );
    });
    expect(await replayState(database.sql), 'it works again afterwards').toMatchObject({ corrected: 0 });
  });

  test('loses nothing that is written during the replay', async () => {
    const { id } = await createAccount(database.sql, { name: 'Busy', plan: 'enterprise', now: by.now });
    const made: string[] = [];
    let replaying = true;
    const writers = Array.from({ length: 4 }, async () => {
      while (replaying) {
        const [code] = await create(id, 'live');
        await change(database.sql, { account: id, mode: 'live' }, code?.id as string, { active: false }, by);
        made.push(code?.id as string);
      }
    });
    for (let i = 0; i < 3; i++) expect(await replayState(database.sql)).toMatchObject({ corrected: 0 });
    replaying = false;
    await Promise.all(writers);

    const rows = await database.sql<{ id: string; status: string }[]>`
      SELECT id, status FROM codes WHERE account = ${id} ORDER BY id`;
    expect(rows.map(({ id: code }) => code)).toEqual(made.toSorted());
    expect(new Set(rows.map(({ status }) => status))).toEqual(new Set(['paused']));
    expect(await replayState(database.sql)).toMatchObject({ corrected: 0 });
  });

  test('succeeds after an earlier replay crashed and left its tables', async () => {
    await database.sql.unsafe('CREATE SCHEMA IF NOT EXISTS state_rebuild; CREATE TABLE state_rebuild.codes (id text)');
    await database.sql.begin((tx) => append(tx, [opened()], by));
    expect(await replayState(database.sql), 'the account that was appended without its row').toMatchObject({
      corrected: 1,
    });
  });
});
