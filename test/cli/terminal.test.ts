import { expect, test } from 'vitest';
import { table } from '../../src/cli/terminal.ts';

test('table aligns columns by visible width, without counting escape sequences', () => {
  const bold = (text: string) => `\x1b[1m${text}\x1b[0m`;
  const rows = [
    [bold('NAME'), 'PLAN'],
    ['Café', bold('pro')],
    ['Bakery', 'free'],
  ];
  expect(table(rows)).toBe(`${bold('NAME')}    PLAN\nCafé    ${bold('pro')}\nBakery  free`);
});
