import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Owner } from '../../events/owner.ts';
import { createAccount } from '../../src/accounts/accounts.ts';
import { listCodes } from '../../src/codes/codes.ts';
import { type CodeRequest, createCodes } from '../../src/codes/create.ts';
import { containsWords, planSearch, type Search, type SearchPlan, searchOf } from '../../src/codes/search.ts';
import type { Sql } from '../../src/lib/sql.ts';
import { connect } from '../../src/log/connect.ts';
import { migrate } from '../../src/log/migrate.ts';
import { adminRole } from '../../src/stack/postgres.ts';
import { createDatabase } from '../support/database.ts';
import { testBox } from '../support/secret-box.ts';

/** The service's role owns its tables, but may not create an extension. */
async function forbidExtensions(adminUrl: string): Promise<void> {
  const admin = connect(adminUrl, { max: 1 });
  const name = new URL(adminUrl).pathname.slice(1);
  await admin.unsafe(`
    GRANT ALL ON SCHEMA public TO PUBLIC; ALTER DATABASE ${name} OWNER TO ${adminRole};
    REVOKE CREATE ON DATABASE ${name} FROM PUBLIC`);
  await admin.end();
}

describe.each([
  { kind: 'pg_trgm', indexes: ['codes_search', 'codes_note_search'] },
  { kind: 'a table of trigrams', indexes: ['code_trigrams_search'] },
])('a search through $kind', ({ kind, indexes }) => {
  let database: Awaited<ReturnType<typeof createDatabase>>;
  let sql: Sql;
  let owner: Owner;

  beforeAll(async () => {
    database = await createDatabase('template0');
    sql = database.sql;
    if (kind !== 'pg_trgm') await forbidExtensions(database.adminUrl);
    // Codes that exist before the migration are found as well.
    await migrate(sql, { upTo: '0014' });
    await sql`
      INSERT INTO codes (id, account, mode, name, destination_url, destination_revision, short_code, status, style,
        created_at, updated_at, version, position)
      VALUES ('qr_before', 'acct_before', 'live', 'Terrasse Été', 'https://example.com/menu', 1, 'k7Rb2Qx', 'active', '{}',
        now(), now(), 1, 1)`;
    await migrate(sql);
    const { id: account } = await createAccount(sql, { name: 'Café', plan: 'enterprise', now: new Date() });
    owner = { account, mode: 'live' };
    await sql`UPDATE codes SET account = ${account} WHERE id = 'qr_before'`;
  });
  afterAll(() => database.drop());

  const create = (code: Pick<CodeRequest, 'name' | 'destination_url' | 'optional'>) =>
    sql.begin((tx) => createCodes(tx, testBox, owner, [code], { actor: 'operator', now: new Date() }));

  const found = (words: string) => foundBy({ words });
  async function listed(search: Search): Promise<string[]> {
    const { codes, total } = await listCodes(sql, owner, { search, page: 1, limit: 100 });
    expect(total, 'the total counts what was found').toBe(codes.length);
    return codes.map(({ name }) => name).toSorted();
  }

  /** What the search finds, which is the same in an account with enough codes that an index is used. */
  async function foundBy(search: Search): Promise<string[]> {
    const names = await listed(search);
    await sql`UPDATE code_counts SET codes = codes + 1000000 WHERE account = ${owner.account}`;
    expect(await listed(search), 'through the index').toEqual(names);
    await sql`UPDATE code_counts SET codes = codes - 1000000 WHERE account = ${owner.account}`;
    return names;
  }

  test('finds names, destinations and short codes, in any case, by three letters or fewer', async () => {
    await create({ name: 'Leaflet 100%', destination_url: 'https://example.com/Offers?ref=A4' });
    expect(await found('TERRASSE')).toEqual(['Terrasse Été']);
    expect(await found('été')).toEqual(['Terrasse Été']);
    expect(await found('offers')).toEqual(['Leaflet 100%']);
    expect(await found('00%')).toEqual(['Leaflet 100%']);
    expect(await found('É')).toEqual(['Terrasse Été']);
    expect(await found('example.com')).toEqual(['Leaflet 100%', 'Terrasse Été']);
    expect(await found('menuoffers')).toEqual([]);
    const [code] = await sql<[{ short_code: string }]>`SELECT short_code FROM codes WHERE name = 'Terrasse Été'`;
    expect(await found(code.short_code.toUpperCase())).toEqual(['Terrasse Été']);
  });

  test('finds notes, also changed ones', async () => {
    const optional = { note: 'Beside the door\nof the Gästehaus' };
    await create({ name: 'Door sign', destination_url: 'https://sign.example', optional });
    expect(await found('GÄSTEHAUS')).toEqual(['Door sign']);
    expect(await found('door\nof')).toEqual(['Door sign']);
    await sql`UPDATE codes SET note = 'In the cellar' WHERE name = 'Door sign'`;
    expect([await found('gästehaus'), await found('cellar')]).toEqual([[], ['Door sign']]);
    await sql`UPDATE codes SET note = NULL WHERE name = 'Door sign'`;
    expect(await found('cellar')).toEqual([]);
  });

  test('finds one code by its id or its short link', async () => {
    await create({ name: 'Flyer', destination_url: 'https://flyer.example' });
    const [code] = await sql<[{ id: string; short_code: string }]>`
      SELECT id, short_code FROM codes WHERE name = 'Flyer'`;
    const foundByText = (text: string) => foundBy(searchOf(text, 'https://sho.rt'));
    expect(await foundByText(code.id)).toEqual(['Flyer']);
    expect(await foundByText(`https://sho.rt/${code.short_code}`)).toEqual(['Flyer']);
    expect(await foundByText(`sho.rt/${code.short_code.toUpperCase()}?x=1`)).toEqual(['Flyer']);
    expect(await foundByText(`https://sho.rt/${code.short_code.slice(0, -1)}`), 'a part is not the link').toEqual([]);
    expect(await foundBy({ id: 'qr_doesnotexist000000000' })).toEqual([]);
  });

  test('follows changes and deletions', async () => {
    await create({ name: 'Poster', destination_url: 'https://example.com/poster' });
    await sql`UPDATE codes SET name = 'Billboard', destination_url = 'https://example.com/big' WHERE name = 'Poster'`;
    expect(await found('poster')).toEqual([]);
    expect(await found('billboard')).toEqual(['Billboard']);
    await sql`UPDATE codes SET status = 'deleted' WHERE name = 'Billboard'`;
    expect(await found('billboard')).toEqual([]);
  });

  /** How Postgres searches codes by a plan, without another index to read all codes through, which is cheaper for a few. */
  const explain = (plan: SearchPlan) =>
    sql.begin(async (tx) => {
      await tx`DROP INDEX IF EXISTS codes_newest_first, codes_of_status`;
      await tx`SET LOCAL enable_seqscan = off`;
      await tx`SET LOCAL enable_indexscan = off`;
      const rows =
        kind === 'pg_trgm' || plan.candidates === undefined
          ? await tx`EXPLAIN SELECT id FROM codes WHERE status <> 'deleted' AND ${containsWords(tx, 'terrasse', plan)}`
          : await tx`EXPLAIN SELECT code FROM code_trigrams WHERE trigrams @> trigrams_of('terrasse')`;
      return rows.map((row) => row['QUERY PLAN']).join('\n');
    });

  test('uses its index in a large account', async () => {
    const plan = await planSearch(sql, { words: 'terrasse' }, 1_000_000);
    expect(plan.candidates === undefined, 'an index of pg_trgm needs no candidates').toBe(kind === 'pg_trgm');
    const explained = await explain(plan);
    for (const index of indexes) expect(explained).toContain(index);
  });

  test('does not read the index of all accounts in a small account', async () => {
    const plan = await planSearch(sql, { words: 'terrasse' }, 1_000);
    expect(plan.candidates).toBeUndefined();
    expect(await explain(plan)).not.toContain('Index Cond');
  });
});

describe('searchOf', () => {
  const id = 'qr_0VMNcq2hE3kx0dTtWq8LbY';
  test.each<[string, Search]>([
    [id, { id }],
    [` ${id} `, { id }],
    [`https://sho.rt/console/codes/${id}?tab=history`, { id }],
    [`https://sho.rt/images/${id}/public`, { id }],
    ['https://sho.rt/menu-1', { shortCode: 'menu-1' }],
    ['HTTP://SHO.RT/Menu', { shortCode: 'Menu' }],
    ['sho.rt/menu/?utm=x', { shortCode: 'menu' }],
    ['https://sho.rt/', { words: 'https://sho.rt/' }],
    ['https://go.example:8443/menu?x', { words: 'https://go.example:8443/menu?x', link: 'go.example/menu' }],
    ['https://example.com/a/menu', { words: 'https://example.com/a/menu' }],
    ['my qr_code', { words: 'my qr_code' }],
  ])('reads %j', (text, search) => expect(searchOf(text, 'https://sho.rt')).toEqual(search));
});
