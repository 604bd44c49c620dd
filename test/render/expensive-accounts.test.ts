import { expect, test } from 'vitest';
import { ExpensiveAccounts } from '../../src/render/expensive-accounts.ts';
import { manualTimers } from '../support/timers.ts';

test('an account is expensive after jobs that take much CPU, not after many small ones, and not for ever', () => {
  const timers = manualTimers();
  const accounts = new ExpensiveAccounts(timers);
  for (let i = 0; i < 10_000; i++) accounts.add('acct_small', 20);
  for (let i = 0; i < 10; i++) accounts.add('acct_pages', 60);
  accounts.add('acct_large', 5_000);
  expect(accounts.has('acct_small')).toBe(false);
  expect(accounts.has('acct_pages')).toBe(false);
  expect(accounts.has('acct_large')).toBe(true);
  for (let i = 0; i < 10; i++) accounts.add('acct_pages', 60);
  expect(accounts.has('acct_pages')).toBe(true);
  timers.advance(60_000);
  expect(accounts.has('acct_pages')).toBe(false);
  expect(accounts.has('acct_large')).toBe(true);
  timers.advance(60_000);
  expect(accounts.has('acct_large')).toBe(false);
  expect(accounts.has('acct_unknown')).toBe(false);
});
