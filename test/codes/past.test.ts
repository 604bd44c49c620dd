import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Code, CodeChange } from '../../events/code.ts';
import type { Owner } from '../../events/owner.ts';
import type { GivenRule } from '../../events/targeting/rule-ids.ts';
import { availabilities, availabilityAt } from '../../events/targeting/targeting.ts';
import { createAccount } from '../../src/accounts/accounts.ts';
import { change, remove, restore } from '../../src/codes/change.ts';
import { findCode, type ListedStatus, type Listing, listedStatuses } from '../../src/codes/codes.ts';
import { createCodes } from '../../src/codes/create.ts';
import { listCodesAsOf } from '../../src/codes/list-as-of.ts';
import { codeAsOf, codeAtVersion } from '../../src/codes/past.ts';
import { useDatabase } from '../support/database.ts';
import { testBox } from '../support/secret-box.ts';

const database = useDatabase();
const start = Date.UTC(2026, 2, 1);
const at = (minute: number) => new Date(start + minute * 60_000);
const actor = 'key_1';

type Step = { code: number } & ({ wanted: CodeChange } | { restored: number } | { deleted: true });

const wanted: fc.Arbitrary<CodeChange> = fc.record(
  {
    name: fc.constantFrom('Menu', 'Café 楽', 'alpha'),
    destination_url: fc.constantFrom('https://example.com/0', 'https://example.com/neu?ü'),
    active: fc.boolean(),
    rules: fc.constantFrom<GivenRule[] | null>(
      null,
      [{ when: { countries: ['DE'] }, destination_url: 'https://example.com/a' }],
      [
        {
          name: 'A "B"',
          split: [1, 2].map((weight) => ({ weight, destination_url: `https://example.com/${weight}` })),
        },
      ],
    ),
    starts_at: fc.constantFrom(null, at(-5), at(12)),
    expires_at: fc.constantFrom(null, at(20), at(1_000)),
    max_scans: fc.constantFrom(null, 1, 500),
    fallback_url: fc.constantFrom(null, 'https://example.com/closed?ü'),
    forward_query: fc.constantFrom(null, true),
    utm: fc.constantFrom(null, { source: 'flyer', medium: 'qr' }),
    tags: fc.constantFrom<(string[] | null)[]>(null, ['summer'], ['Summer'], ['"quoted"', 'ÜMLAUT, comma']),
    note: fc.constantFrom(null, 'On the terrace', 'alpha\n"ü"'),
  },
  { requiredKeys: [] },
);
const code = fc.nat(2);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ code, wanted }) },
  { weight: 3, arbitrary: fc.record({ code, restored: fc.nat(1_000) }) },
  { weight: 1, arbitrary: fc.record({ code, deleted: fc.constant(true as const) }) },
);

/** Creates three codes a minute apart, and applies one step every minute; returns the codes after each minute. */
async function live(owner: Owner, steps: Step[]): Promise<{ codes: Code[]; now: Date }[]> {
  const { sql } = database;
  const moments: { codes: Code[]; now: Date }[] = [];
  const ids: string[] = [];
  const look = async (now: Date) => {
    const codes = await sql<Code[]>`SELECT * FROM codes WHERE id = ANY(${ids}) ORDER BY position DESC`;
    moments.push({ codes, now });
  };
  for (const i of [0, 1, 2]) {
    const status = i === 1 ? 'draft' : 'active';
    const request = { name: `Code ${i}`, destination_url: 'https://example.com/menu', status } as const;
    const [created] = await sql.begin((tx) => createCodes(tx, testBox, owner, [request], { actor, now: at(i) }));
    ids.push(created?.code.id ?? '');
    await look(at(i));
  }
  for (const [i, taken] of steps.entries()) {
    const [id = '', by] = [ids[taken.code], { actor, now: at(3 + i) }];
    const current = await findCode(sql, owner, id);
    if (current === undefined) continue;
    if ('wanted' in taken) await change(sql, owner, id, taken.wanted, by);
    else if ('deleted' in taken) await remove(sql, owner, id, by);
    else {
      const then = await codeAtVersion(sql, id, 1 + (taken.restored % current.version));
      if (then === undefined) throw new Error('a version is missing');
      const { code: restored, events } = await restore(sql, owner, then, by);
      expect(contentOf(restored), 'the content of the version').toEqual(contentOf(then));
      expect(restored.status).toBe(current.status);
      expect(events.length === 0).toBe(JSON.stringify(contentOf(then)) === JSON.stringify(contentOf(current)));
    }
    await look(at(3 + i));
  }
  return moments;
}

const contentOf = (code: Code) => ({
  name: code.name,
  destination_url: code.destination_url,
  rules: code.rules,
  starts_at: code.starts_at,
  expires_at: code.expires_at,
  max_scans: code.max_scans,
  fallback_url: code.fallback_url,
  forward_query: code.forward_query,
  utm: code.utm,
  tags: code.tags,
  tag_names: code.tag_names,
  note: code.note,
});

const availabilityOf = ({ starts_at, expires_at }: Code, now: Date) =>
  availabilityAt(
    {
      startsAtMs: starts_at?.getTime() ?? Number.NEGATIVE_INFINITY,
      expiresAtMs: expires_at?.getTime() ?? Number.POSITIVE_INFINITY,
      isLimitReached: false,
    },
    now.getTime(),
  );

/** Whether a search finds a code: the words may be in its generated short code by chance. */
const has =
  (words: string) =>
  ({ name, note, short_code }: Code) =>
    [name, note, short_code].some((text) => text?.toLowerCase().includes(words.toLowerCase()));

describe('after any history', () => {
  test('a code and a list as of a time are what they were then, and a restored version has its content', async () => {
    const { sql } = database;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
        const { id: account } = await createAccount(sql, { name: 'Test', plan: 'enterprise', now: at(0) });
        const owner: Owner = { account, mode: 'live' };
        const moments = await live(owner, steps);
        const kept = new Map((moments.at(-1)?.codes ?? []).map((code) => [code.id, code]));
        for (const [id, { status }] of kept) if (status === 'deleted') kept.delete(id);
        for (const { codes, now } of moments) {
          const existed = codes.filter(({ id }) => kept.has(id));
          const asOf = new Date(now.getTime() + 30_000);
          for (const code of existed) expect(await codeAsOf(sql, kept.get(code.id) as Code, asOf)).toEqual(code);
          const list = async (filter: Partial<Listing>, expected: Code[]) => {
            const { codes: listed, total } = await listCodesAsOf(sql, owner, asOf, { page: 1, limit: 2, ...filter });
            const shown = expected.slice(0, 2).map(({ id, name, destination_url, status }) => ({
              id,
              name,
              destination_url,
              status,
            }));
            expect(listed, JSON.stringify(filter)).toMatchObject(shown);
            expect([listed.length, total]).toEqual([shown.length, expected.length]);
          };
          await list({}, existed);
          await list({ order: 'created_at' }, existed.toReversed());
          for (const status of listedStatuses)
            await list(
              { status },
              existed.filter((code) => code.status === status),
            );
          for (const wanted of availabilities)
            await list(
              { availability: { wanted, now: asOf } },
              existed.filter((code) => availabilityOf(code, asOf) === wanted),
            );
          await list(
            { tags: { tags: ['summer', 'other'], match: 'any' } },
            existed.filter(({ tags }) => tags?.includes('summer')),
          );
          await list(
            { tags: { tags: ['ümlaut, comma', '"quoted"'], match: 'all' } },
            existed.filter(({ tags }) => tags?.includes('"quoted"')),
          );
          for (const words of ['CAF', 'alpha']) await list({ search: { words } }, existed.filter(has(words)));
          await list(
            { order: 'name' },
            existed.toSorted(
              (a, b) => a.name.toLowerCase().localeCompare(b.name.toLowerCase()) || b.position - a.position,
            ),
          );
        }
      }),
      { numRuns: 6 },
    );
  });

  test('a list agrees with the single read also where the clocks of two instances differ', async () => {
    const { sql } = database;
    const { id: account } = await createAccount(sql, { name: 'Test', plan: 'enterprise', now: at(0) });
    const owner: Owner = { account, mode: 'live' };
    const id = (await live(owner, [])).at(-1)?.codes.at(-1)?.id ?? '';
    const steps: [number, CodeChange][] = [
      [10, { name: 'Menu' }],
      [14, { active: false, name: 'Second' }],
      [12, { tags: ['summer'] }],
      [16, { active: true }],
      [15, { name: 'Third', max_scans: 5, starts_at: at(1_000) }],
    ];
    for (const [minute, wanted] of steps) await change(sql, owner, id, wanted, { actor, now: at(minute) });
    const current = (await findCode(sql, owner, id)) as Code;
    for (const asOf of [9, 10, 11, 12, 13, 14, 15, 16].map(at)) {
      const { name, status, tags, starts_at } = await codeAsOf(sql, current, asOf);
      const list = async (filter: Partial<Listing>) => {
        const { codes } = await listCodesAsOf(sql, owner, asOf, { page: 1, limit: 9, ...filter });
        return codes.find((listed) => listed.id === id);
      };
      const listed = { id, name, status };
      expect(await list({ status: status as ListedStatus }), 'by status').toMatchObject(listed);
      expect(await list({ search: { words: name } }), 'by name').toMatchObject(listed);
      expect((await list({ tags: { tags: ['summer'], match: 'any' } }))?.id === id, 'by tag').toBe(tags !== null);
      const scheduled = await list({ availability: { wanted: 'scheduled', now: asOf } });
      expect(scheduled?.id === id, 'by availability').toBe(starts_at !== null);
    }
  });

  test('before its creation there is no code, and the 404 says so; a page past the end has the total', async () => {
    const { sql } = database;
    const { id: account } = await createAccount(sql, { name: 'Test', plan: 'enterprise', now: at(0) });
    const owner: Owner = { account, mode: 'live' };
    const [last] = (await live(owner, [])).slice(-1);
    const newest = last?.codes[0] as Code;
    await expect(codeAsOf(sql, { ...newest, updated_at: at(9) }, at(1))).rejects.toThrow(
      'This QR code did not exist at 2026-03-01T00:01:00.000Z: it was created at 2026-03-01T00:02:00.000Z.',
    );
    const list = (asOf: Date, page: number) => listCodesAsOf(sql, owner, asOf, { page, limit: 2 });
    expect(await list(at(-1), 1)).toEqual({ codes: [], next: null, total: 0 });
    expect(await list(at(5), 3)).toEqual({ codes: [], next: null, total: 3 });
  });

  test('a limit was reached as of a time if the log says so', async () => {
    const { sql } = database;
    const { id: account } = await createAccount(sql, { name: 'Test', plan: 'enterprise', now: at(0) });
    const owner: Owner = { account, mode: 'live' };
    const id = (await live(owner, [{ code: 0, wanted: { max_scans: 5 } }])).at(-1)?.codes.at(-1)?.id ?? '';
    await sql`
      INSERT INTO events (position, id, stream, version, type, schema, data, actor, occurred_at)
      VALUES (nextval('log_position'), 'evt_x', ${id}, 3, 'limit_reached', 1, '{"max_scans": 5}', 'scanlog', ${at(10)})`;
    await sql`UPDATE codes SET version = 3, updated_at = ${at(10)}, limit_reached_at = ${at(10)} WHERE id = ${id}`;
    await change(sql, owner, id, { max_scans: 9 }, { actor, now: at(20) });
    const reached = async (minute: number) => {
      const availability = { wanted: 'limit_reached', now: at(minute) } as const;
      return (await listCodesAsOf(sql, owner, at(minute), { availability, page: 1, limit: 9 })).total;
    };
    expect([await reached(9), await reached(10), await reached(19), await reached(20)]).toEqual([0, 1, 1, 0]);
  });
});
