import { describe, expect, test } from 'vitest';
import { parseTable } from '../../src/console/app/codes/csv.ts';
import { readRows } from '../../src/console/app/codes/import-rows.ts';

const cells = (text: string) => parseTable(text).map((row) => row.cells);
const read = (text: string) => readRows(text, 'https://sho.rt');

describe('a table', () => {
  test.each([
    ['commas', 'a,b\nc,d'],
    ['semicolons, as spreadsheets of some countries save', 'a;b\nc;d'],
    ['tabs, as spreadsheets paste', 'a\tb\nc\td'],
    ['a byte order mark and the lines of Windows', '\ufeffa,b\r\nc,d\r\n'],
    ['empty lines', '\na,b\n\n \nc,d\n'],
    ['spaces around', ' a , b \n c , d '],
  ])('with %s', (_, text) => {
    expect(cells(text)).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
  });

  test('with quotes holds separators, quotes and line ends', () => {
    expect(cells('"a, b","say ""hi"""\n"two\nlines",x')).toEqual([
      ['a, b', 'say "hi"'],
      ['two\nlines', 'x'],
    ]);
  });

  test('knows the line that each row began on', () => {
    expect(parseTable('a,b\n\n"x\ny",z\nlast,one').map(({ line }) => line)).toEqual([1, 3, 5]);
  });
});

describe('rows', () => {
  test('are codes, by their titles in any order', () => {
    const { rows } = read(
      'Short Code,URL,Name,dotsColor\nmenu-1,example.com/menu,Menu,#0B5D45\n,https://example.com,Other,',
    );
    expect(rows).toMatchObject([
      {
        name: 'Menu',
        destination_url: 'https://example.com/menu',
        short_code: 'menu-1',
        style: { dotsColor: '#0B5D45' },
        faults: [],
      },
      { name: 'Other', destination_url: 'https://example.com', short_code: '', style: {}, faults: [] },
    ]);
  });

  test('without titles are name, destination and short code', () => {
    expect(read('Menu\thttps://example.com\tmenu-1').rows).toMatchObject([
      { name: 'Menu', destination_url: 'https://example.com', short_code: 'menu-1', faults: [] },
    ]);
  });

  test('say all that is wrong with them', () => {
    const { rows } = read(
      'name,destination_url,short_code,dotsType\n,ftp://example.com,a,round\nSame,https://example.com,same,dots\nAgain,https://sho.rt/x,same,',
    );
    expect(rows.map(({ faults }) => faults)).toEqual([
      [
        expect.stringContaining('dotsType must be one of'),
        expect.stringContaining('the name must have'),
        expect.stringContaining('the destination must be'),
        expect.stringContaining('the short code must have'),
      ],
      [],
      [expect.stringContaining('loop'), 'the short code is the same as in line 3'],
    ]);
  });

  test('need a name and a destination, and are at most a thousand', () => {
    expect(read('name,short_code\na,b').fault).toBe('There is no column destination_url.');
    const many = Array.from({ length: 1001 }, (_, i) => `Code ${i},https://example.com`).join('\n');
    expect(read(many).fault).toContain('1001 rows are too many');
    expect(read('').rows).toEqual([]);
  });
});
