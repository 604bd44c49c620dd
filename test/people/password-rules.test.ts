import { describe, expect, test } from 'vitest';
import { problemWithPassword } from '../../src/people/password-rules.ts';

const ana = { name: 'Ana Martín', email: 'ana.martin@example.com' };

describe('a new password', () => {
  test.each([
    'vrqk tulip 58 ferry',
    'correct-staple-ferry-19',
    'Zx9!kd02mQ',
    'längst vergangen',
    'dragonfruit & lamplight',
    'purple hat seven boats',
  ])('%s is good enough', (password) => {
    expect(problemWithPassword(password, ana)).toBeUndefined();
  });

  test.each([
    ['short', 'at least 10'],
    ['x'.repeat(201), 'at most 200'],
    ['Password123!', 'common'],
    ['P@ssw0rd2024', 'common'],
    ['passwordpassword', 'common'],
    ['12345678901', 'digits'],
    ['8461903275', 'digits'],
    ['qwertyuiop', 'common'],
    ['1q2w3e4r5t', 'common'],
    ['asdfghjkl123', 'common'],
    ['abcabcabcabcd', 'different'],
    ['iloveyou2024', 'common'],
    ['Administrator1', 'common'],
    ['!!!!welcome1', 'common'],
    ['sunshine2025', 'common'],
    ['ab12ab12ab12', 'different'],
    ['abcd1abcd1', 'common'],
    ['aaaaaaaaaaaa', 'different'],
    ['Ana Martín', 'name'],
    ['anamartín2024', 'name'],
    ['ana.martin@example.com', 'name'],
    ['ana.martin99', 'name'],
  ])('%s is refused', (password, reason) => {
    expect(problemWithPassword(password, ana)).toContain(reason);
  });
});
