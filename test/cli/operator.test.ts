import { expect, test } from 'vitest';
import { createAccount } from '../../src/accounts/accounts.ts';
import { hashOfKey } from '../../src/accounts/keys.ts';
import { createCodes } from '../../src/codes/create.ts';
import { command } from '../support/command.ts';
import { useDatabase } from '../support/database.ts';
import { runScanlog } from '../support/scanlog.ts';
import { testBox } from '../support/secret-box.ts';

const database = useDatabase();
const now = new Date();

const run = (...args: string[]) => command(args, { DATABASE_URL: database.url });
const runJson = async (...args: string[]) => {
  const { code, output } = await run(...args, '--json');
  expect(code, output).toBe(0);
  return JSON.parse(output);
};
const actorsOf = async (type: string) =>
  (await database.sql<{ actor: string }[]>`SELECT actor FROM events WHERE type = ${type}`).map(({ actor }) => actor);

test('suspends and resumes accounts, lists and revokes their keys, and records events of the operator', async () => {
  const { id } = await createAccount(database.sql, { name: 'Café', plan: 'pro', now });
  const suspended = await runJson('account', 'suspend', id, '--reason', ' Unpaid. ');
  expect(suspended).toEqual({ account_id: id, suspended: { reason: 'Unpaid.', at: expect.any(String) } });
  expect(await runJson('account', 'resume', id)).toEqual({ account_id: id, suspended: null });
  const keys = await runJson('account', 'keys', id);
  expect(keys.map(({ mode }: { mode: string }) => mode).sort()).toEqual(['live', 'test']);
  const [{ key_id }] = keys;
  expect(await runJson('key', 'revoke', key_id)).toEqual({ key_id, account_id: id, revoked: true });
  expect(await runJson('account', 'keys', id)).toHaveLength(1);
  for (const type of ['account_suspended', 'account_resumed', 'key_revoked'])
    expect(await actorsOf(type)).toEqual(['operator']);
});

test('creates a key for an owner who has lost all of them, and renames an account', async () => {
  const { id } = await createAccount(database.sql, { name: 'Café', plan: 'pro', now });
  const created = await runJson('account', 'key', id, '--mode', 'live', '--name', ' Laptop ');
  expect(created).toEqual({
    account_id: id,
    key_id: expect.stringMatching(/^key_/),
    name: 'Laptop',
    mode: 'live',
    key: expect.stringMatching(/^sk_live_\w{43}$/),
    created_at: expect.any(String),
  });
  const [stored] =
    await database.sql`SELECT id, account, mode, name FROM api_keys WHERE hash = ${hashOfKey(created.key)}`;
  expect(stored).toEqual({ id: created.key_id, account: id, mode: 'live', name: 'Laptop' });
  const { output } = await run('account', 'key', id, '--mode', 'test');
  expect(output).toMatch(/^test key +sk_test_\w{43}$/m);
  const keys = await runJson('account', 'keys', id);
  expect(keys.map(({ name }: { name: string }) => name)).toEqual(
    expect.arrayContaining(['Laptop', 'Created by the operator', 'Live key', 'Test key']),
  );

  expect(await runJson('account', 'rename', id, ' Café Lumière ')).toEqual({ account_id: id, name: 'Café Lumière' });
  expect(await runJson('account', 'list')).toContainEqual(
    expect.objectContaining({ account_id: id, name: 'Café Lumière' }),
  );
  expect(await actorsOf('account_renamed')).toEqual(['operator']);
  expect(new Set(await actorsOf('key_created'))).toEqual(new Set(['operator']));
});

test('rotates a key, and lists the limits of keys', async () => {
  const { id, live } = await createAccount(database.sql, { name: 'Café', plan: 'pro', now });
  const rotated = await runJson('key', 'rotate', live.id, '--overlap', '1');
  expect(rotated).toEqual({
    account_id: id,
    key_id: expect.stringMatching(/^key_/),
    key: expect.stringMatching(/^sk_live_\w{43}$/),
    replaced: { id: live.id, works_until: expect.any(String) },
  });
  expect(await runJson('account', 'keys', id)).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        key_id: live.id,
        replaced_by: rotated.key_id,
        expires_at: rotated.replaced.works_until,
      }),
      expect.objectContaining({ key_id: rotated.key_id, scopes: null, expires_at: null, allowed_cidrs: null }),
    ]),
  );
  expect((await run('key', 'rotate', live.id)).output).toContain(`already replaced by ${rotated.key_id}`);
  expect((await run('key', 'rotate', rotated.key_id, '--overlap', '169')).output).toContain('from 0 to 168, not 169');
  expect((await run('account', 'keys', id)).output).toMatch(/SCOPES +NETWORKS +NAME/);
});

test('takes down and restores codes by short code or id', async () => {
  const { id: account } = await createAccount(database.sql, { name: 'Café', plan: 'pro', now });
  const request = { name: 'Menu', destination_url: 'https://example.com', short_code: 'cli-menu' };
  const [made] = await database.sql.begin((tx) =>
    createCodes(tx, testBox, { account, mode: 'live' }, [request], { actor: 'operator', now }),
  );
  const code = { id: made?.code.id, short_code: 'cli-menu', account_id: account };
  const disabled = { reason: 'Phishing', at: expect.any(String) };
  for (const search of ['CLI-Menu', 'http://localhost:3000/cli-menu', code.id ?? ''])
    expect(await runJson('code', 'find', search), search).toMatchObject([code]);
  expect(await runJson('code', 'takedown', 'CLI-Menu', '--reason', 'Phishing')).toEqual({ ...code, disabled });
  expect(await runJson('code', 'restore', code.id ?? '')).toEqual({ ...code, disabled: null });
  expect(await actorsOf('code_disabled')).toEqual(['operator']);
});

test('lists what operators did, newest first, in pages', async () => {
  const { id } = await createAccount(database.sql, { name: 'Audited', plan: 'pro', now });
  expect((await run('account', 'plan', id, 'free')).code).toBe(0);
  const { data } = await runJson('audit');
  const subject = { kind: 'account', id, name: 'Audited' };
  expect(data[0]).toMatchObject({ type: 'plan_changed', actor: 'operator', subject, detail: 'pro → free' });
  expect(data).toContainEqual(expect.objectContaining({ type: 'account_created', subject, detail: 'pro plan' }));
  const { data: earlier } = await runJson('audit', '--before', String(data[1].position));
  expect(earlier).toEqual(data.slice(2));
  expect((await run('audit')).output).toMatch(/plan_changed +Audited +pro → free$/m);
  expect(await run('audit', '--before', 'yesterday')).toMatchObject({ code: 1 });
});

test('blocks, lists and unblocks hosts in any spelling', async () => {
  expect(await runJson('destinations', 'block', 'Bücher.Example.')).toEqual({
    host: 'xn--bcher-kva.example',
    blocked: true,
  });
  expect(await runJson('destinations', 'list')).toEqual([
    { host: 'xn--bcher-kva.example', blocked_at: expect.any(String) },
  ]);
  expect(await runJson('destinations', 'unblock', 'bücher.example')).toMatchObject({ blocked: false });
  expect(await runJson('destinations', 'list')).toEqual([]);
});

test.each([
  [['account', 'suspend', 'acct_none', '--reason', 'x'], 'There is no account acct_none'],
  [['account', 'resume', 'acct_none'], 'There is no account acct_none'],
  [['account', 'keys', 'acct_none'], 'There is no account acct_none'],
  [['account', 'key', 'acct_none', '--mode', 'live'], 'There is no account acct_none'],
  [['account', 'key', 'acct_none', '--mode', 'prod'], '--mode must be one of live, test, not prod.'],
  [['account', 'rename', 'acct_none', 'New'], 'There is no account acct_none'],
  [['account', 'rename', 'acct_none', ' '], '<name> must have 1 to 255 characters'],
  [['account', 'suspend', 'acct_none', '--reason', ' '], '--reason must have 1 to 255 characters'],
  [['key', 'revoke', 'key_none'], 'There is no key key_none'],
  [['code', 'takedown', 'none', '--reason', 'x'], 'There is no code none'],
  [['code', 'restore', 'none'], 'There is no code none'],
  [['destinations', 'block', 'https://example.com/'], 'is not a host: give one such as example.com'],
  [['destinations', 'unblock', 'example.net'], 'example.net is not blocked'],
])('%j fails with one line', async (args, sentence) => {
  const { code, output } = await run(...args);
  expect(code).toBe(1);
  expect(output).toContain(sentence);
  expect(output.trim().split('\n')).toHaveLength(1);
});

test.each([[['destinations', 'list']], [['key', 'revoke', 'key_none']]])(
  '%j prints the same in a process of its own, and exits with the same code',
  async (args) => {
    const running = runScanlog(args, { DATABASE_URL: database.url });
    expect({ code: await running.exitCode(), output: running.output() }).toEqual(await run(...args));
  },
);
