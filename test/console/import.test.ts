import { describe, expect, test } from 'vitest';
import { parseTable } from '../../src/console/app/codes/csv.ts';
import { readRows } from '../../src/console/app/codes/import-rows.ts';

const cells = (text: string) => parseTable(text).map((row) => row.cells);
const read = (text: string) => readRows(text, 'https://sho.rt');

describe('parseTable', () => {
  test.each([
    ['commas', 'a,b\nc,d'],
    ['semicolons', 'a;b\nc;d'],
    ['tabs', 'a\tb\nc\td'],
    ['a byte order mark and CRLF line ends', '\ufeffa,b\r\nc,d\r\n'],
    ['empty lines', '\na,b\n\n \nc,d\n'],
    ['spaces around cells', ' a , b \n c , d '],
  ])('reads a table with %s', (_, text) => {
    expect(cells(text)).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
  });

  test('keeps separators, quotes and line ends inside quotes', () => {
    expect(cells('"a, b","say ""hi"""\n"two\nlines",x')).toEqual([
      ['a, b', 'say "hi"'],
      ['two\nlines', 'x'],
    ]);
  });

  test('returns the first line of each row', () => {
    expect(parseTable('a,b\n\n"x\ny",z\nlast,one').map(({ line }) => line)).toEqual([1, 3, 5]);
  });
});

describe('readRows', () => {
  test('maps columns by their header, in any order', () => {
    const { rows } = read(
      'Short Code,URL,Name,dotsColor\nmenu-1,example.com/menu,Menu,#0B5D45\n,https://example.com,Other,',
    );
    expect(rows).toMatchObject([
      {
        name: 'Menu',
        destination_url: 'https://example.com/menu',
        short_code: 'menu-1',
        style: { dotsColor: '#0B5D45' },
        errors: [],
      },
      { name: 'Other', destination_url: 'https://example.com', short_code: '', style: {}, errors: [] },
    ]);
  });

  test('reads name, destination and short code when there is no header', () => {
    expect(read('Menu\thttps://example.com\tmenu-1').rows).toMatchObject([
      { name: 'Menu', destination_url: 'https://example.com', short_code: 'menu-1', errors: [] },
    ]);
  });

  test('reports every error of a row', () => {
    const { rows } = read(
      'name,destination_url,short_code,dotsType\n,ftp://example.com,a,round\nSame,https://example.com,same,dots\nAgain,https://sho.rt/x,same,',
    );
    expect(rows.map(({ errors }) => errors)).toEqual([
      [
        expect.stringContaining('dotsType must be one of'),
        expect.stringContaining('the name must have'),
        expect.stringContaining('the destination must be'),
        expect.stringContaining('the short code must have'),
      ],
      [],
      [expect.stringContaining('loop'), 'the short code is already used in line 3'],
    ]);
  });

  test('rejects a table without a required column or with more than 1,000 rows', () => {
    expect(read('name,short_code\na,b').error).toBe('Missing column: destination_url.');
    const tooMany = Array.from({ length: 1001 }, (_, i) => `Code ${i},https://example.com`).join('\n');
    expect(read(tooMany).error).toBe('The table has 1,001 rows. The limit is 1,000.');
    expect(read('').rows).toEqual([]);
  });
});
