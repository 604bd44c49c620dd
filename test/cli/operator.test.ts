import { expect, test } from 'vitest';
import { createAccount } from '../../src/accounts/accounts.ts';
import { createCodes } from '../../src/codes/create.ts';
import { useDatabase } from '../support/database.ts';
import { runScanlog } from '../support/scanlog.ts';
import { testBox } from '../support/secret-box.ts';

const database = useDatabase();
const now = new Date();

async function run(...args: string[]): Promise<{ code: number | null; output: string }> {
  const running = runScanlog(args, { DATABASE_URL: database.url });
  return { code: await running.exitCode(), output: running.output() };
}
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

test('takes down and restores codes by short code or id', async () => {
  const { id: account } = await createAccount(database.sql, { name: 'Café', plan: 'pro', now });
  const request = { name: 'Menu', destination_url: 'https://example.com', short_code: 'cli-menu' };
  const [made] = await database.sql.begin((tx) =>
    createCodes(tx, testBox, { account, mode: 'live' }, [request], { actor: 'operator', now }),
  );
  const code = { id: made?.code.id, short_code: 'cli-menu', account_id: account };
  const disabled = { reason: 'Phishing', at: expect.any(String) };
  expect(await runJson('code', 'takedown', 'cli-menu', '--reason', 'Phishing')).toEqual({ ...code, disabled });
  expect(await runJson('code', 'restore', code.id ?? '')).toEqual({ ...code, disabled: null });
  expect(await actorsOf('code_disabled')).toEqual(['operator']);
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
