import { describe, expect, test } from 'vitest';
import { parseTable } from '../../src/console/app/codes/csv.ts';
import { decodeFile, problemWithFile, wordsToCheck } from '../../src/console/app/codes/decode.ts';
import { checkRows, readTable } from '../../src/console/app/codes/import-rows.ts';

const cells = (text: string) => parseTable(text).map((row) => row.cells);
const read = (text: string) => checkRows(readTable(text).rows, 'https://sho.rt');

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

describe('a table', () => {
  test('maps columns by their header, in any order', () => {
    expect(
      read('Short Code,URL,Name,dotsColor\nmenu-1,example.com/menu,Menu,#0B5D45\n,https://example.com,Other,'),
    ).toMatchObject([
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

  test('has the labels of the console as columns, and short links as the console shows them', () => {
    const rows = read(
      'Name;Destination;Short link;Dots color\nA;example.com;sho.rt/a-1;#112233\nB;example.com;https://SHO.rt/b-1/;\nC;example.com;c-1;',
    );
    expect(rows.map(({ short_code, errors }) => [short_code, errors])).toEqual([
      ['a-1', []],
      ['b-1', []],
      ['c-1', []],
    ]);
    expect(rows[0]?.style).toEqual({ dotsColor: '#112233' });
  });

  test('names the columns that are not used, also a second column for the same field', () => {
    expect(readTable('Name,Destination,Table no.,Link,\nA,example.com,7,other.example,').unusedColumns).toEqual([
      'Table no.',
      'Link',
    ]);
    expect(readTable('Name,Destination\nA,example.com,7').unusedColumns).toEqual(['column 3']);
    expect(readTable('A,example.com,a-1,7').unusedColumns).toEqual(['column 4']);
  });

  test('without a header has name, destination and short code', () => {
    expect(read('Menu\thttps://example.com\tmenu-1')).toMatchObject([
      { name: 'Menu', destination_url: 'https://example.com', short_code: 'menu-1', errors: [] },
    ]);
  });

  test('reports every error of a row with its field', () => {
    const rows = read(
      'name,destination_url,short_code,dotsType\n,ftp://example.com,a,round\nSame,=HYPERLINK(1),same,dots\nAgain,https://sho.rt/x,SAME,',
    );
    expect(rows.map(({ errors }) => errors)).toEqual([
      [
        { field: 'name', message: expect.stringContaining('the name must have') },
        { field: 'destination_url', message: expect.stringContaining('ftp: links cannot be destinations') },
        { field: 'short_code', message: expect.stringContaining('the short code must have') },
        { field: 'dotsType', message: expect.stringContaining('dotsType must be one of') },
      ],
      [{ field: 'destination_url', message: expect.stringContaining('this is not the address of a web page') }],
      [
        { field: 'destination_url', message: expect.stringContaining('loop') },
        { field: 'short_code', message: 'the short code is already used in line 3' },
      ],
    ]);
  });

  test('is refused without a required column or with more than 1,000 rows', () => {
    expect(readTable('name,short_code\na,b').error).toBe('Missing column: destination_url.');
    const tooMany = Array.from({ length: 1001 }, (_, i) => `Code ${i},https://example.com`).join('\n');
    expect(readTable(tooMany).error).toBe('The table has 1,001 rows. The limit is 1,000.');
    expect(read('')).toEqual([]);
  });
});

describe('a file', () => {
  const bytes = (text: string, encoding: BufferEncoding) => new Uint8Array(Buffer.from(text, encoding));

  test.each([
    ['UTF-8', bytes('Tür', 'utf8'), 'Tür', undefined],
    ['UTF-8 with a byte order mark', bytes('\ufeffTür', 'utf8'), 'Tür', undefined],
    ['UTF-16, little endian', bytes('\ufeffTür 楽', 'utf16le'), 'Tür 楽', 'UTF-16'],
    ['UTF-16, big endian', new Uint8Array(Buffer.from('\ufeffTür', 'utf16le').swap16()), 'Tür', 'UTF-16'],
    ['Latin-1', bytes('Tür', 'latin1'), 'Tür', 'windows-1252'],
    ['windows-1252', Uint8Array.of(0x80, 0x93, 0x54, 0xfc, 0x72, 0x94), '€“Tür”', 'windows-1252'],
  ])('in %s is converted', (_, content, text, converted) => {
    expect(decodeFile(content)).toEqual({ text, converted });
  });

  test('that was converted names words for the user to check', () => {
    expect(wordsToCheck('Name,Destination\nTür Süd,x\n"Café",y\nTür,z\nÄpfel,a')).toEqual(['Tür', 'Süd', 'Café']);
    expect(wordsToCheck('plain')).toEqual([]);
  });

  test('that is a workbook or too large is refused', () => {
    expect(problemWithFile(bytes('PK\x03\x04…', 'latin1'))).toContain('Save it as CSV');
    expect(problemWithFile(new Uint8Array(1024 * 1024 + 1))).toContain('larger than 1 MB');
    expect(problemWithFile(bytes('Name,Destination', 'utf8'))).toBeUndefined();
  });
});
