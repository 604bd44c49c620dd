import { describe, expect, test } from 'vitest';
import { parseTable } from '../../src/console/app/codes/csv.ts';
import { decodeFile, problemWithFile, wordsToCheck } from '../../src/console/app/codes/decode.ts';
import { checkRows, readTable, refusedCells } from '../../src/console/app/codes/import-rows.ts';
import type { Style } from '../../src/console/app/codes/style.ts';

const cells = (text: string) => parseTable(text).map((row) => row.cells);
const read = (text: string, timeZone = 'UTC') =>
  checkRows(readTable(text).rows, { shortBaseUrl: 'https://sho.rt', ownUrls: [], timeZone });

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
  test('has the style that is given for all rows, where its own columns do not say another', () => {
    const style: Style = {
      dotsColor: '#112233',
      dotsGradient: {
        type: 'linear',
        colorStops: [
          { offset: 0, color: '#112233' },
          { offset: 1, color: '#445566' },
        ],
      },
      logo: { id: 'logo_0VMNcq2hE3kx0dTtWq8LbY', size: 0.3 },
      frame: { type: 'bubble', text: 'Scan me' },
      quietZone: 6,
    };
    const rows = checkRows(
      readTable(
        'Name,URL,dotsColor,frameText,frame,logoSize,quietZone\nA,a.example\nB,b.example,#AA0000,Menu,,0.2,2\nC,c.example,,,none,,',
      ).rows,
      { shortBaseUrl: 'https://sho.rt', ownUrls: [], timeZone: 'UTC', style },
    );
    expect(rows.flatMap(({ errors }) => errors)).toEqual([]);
    const { dotsGradient: _, ...withoutGradient } = style;
    expect(rows.map((row) => row.style)).toEqual([
      style,
      {
        ...withoutGradient,
        dotsColor: '#AA0000',
        quietZone: 2,
        logo: { id: 'logo_0VMNcq2hE3kx0dTtWq8LbY', size: 0.2 },
        frame: { type: 'bubble', text: 'Menu' },
      },
      { ...style, frame: { type: 'none' } },
    ]);
  });

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

  test('may have the same short code on different domains', () => {
    const rows = read(
      'Name,URL,Short code,Domain\nA,a.example,menu,\nB,b.example,menu,GO.acme.test\nC,c.example,Menu,go.acme.test',
    );
    expect(rows.map(({ domain, errors }) => [domain, errors.length])).toEqual([
      ['', 0],
      ['go.acme.test', 0],
      ['go.acme.test', 1],
    ]);
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

  test('has columns for logo, frame, quiet zone and error correction', () => {
    const logo = `logo_${'0'.repeat(22)}`;
    const [full, text, empty] = read(
      [
        'name,url,Logo,Logo size,logoShape,Logo margin,Logo background,Frame,Frame text,Frame color,Frame text color,Quiet zone,Error correction,Background',
        `A,a.example,${logo},0.25,Circle,.5,#FFFFFF,label-top,Scan me,#112233,#FFEEDD,2,h,transparent`,
        'B,b.example,,,,,,,"Menu, here",,,,,',
        'C,c.example,,,,,,,,,,,,',
      ].join('\n'),
    );
    expect([full?.errors, text?.errors, empty?.errors]).toEqual([[], [], []]);
    expect(full?.style).toEqual({
      logo: { id: logo, size: 0.25, shape: 'circle', margin: 0.5, background: '#FFFFFF' },
      frame: { type: 'label-top', text: 'Scan me', color: '#112233', textColor: '#FFEEDD' },
      quietZone: 2,
      errorCorrection: 'H',
      backgroundColor: 'transparent',
    });
    expect([text?.style, empty?.style]).toEqual([{ frame: { type: 'label-bottom', text: 'Menu, here' } }, {}]);
  });

  test('names the columns of wrong logo, frame and quiet zone cells', () => {
    const [row, lone] = read(
      `name,url,logo,logoSize,frame,frameText,quietZone,errorCorrection\nA,a.example,mine.png,0.5,round,${'x'.repeat(41)},11,X\nB,b.example,,0.2,,,,`,
    );
    expect(row?.errors).toEqual([
      { field: 'quietZone', message: 'quietZone must be a whole number from 0 to 10' },
      { field: 'errorCorrection', message: 'errorCorrection must be one of L, M, Q, H' },
      { field: 'logo', message: 'logo must be the id of a logo, logo_…' },
      { field: 'logoSize', message: 'logoSize must be a number from 0.1 to 0.3' },
      { field: 'frame', message: 'frame must be one of none, box, label-top, label-bottom, bubble' },
      { field: 'frameText', message: 'frameText must be one line of up to 40 characters' },
    ]);
    expect(lone?.errors).toEqual([{ field: 'logoSize', message: 'logoSize needs a logo in the column logo' }]);
  });

  test('has times in the time zone of the account, unless they have an offset', () => {
    const text =
      'name,url,Starts,Ends\nA,a.example,2026-12-01,2026-12-24 18:30\nB,b.example,2026-12-01T09:00:00Z,2026-12-02T09:00:00+02:00';
    expect(read(text, 'America/New_York').map(({ targeting, errors }) => ({ targeting, errors }))).toEqual([
      { targeting: { starts_at: '2026-12-01T05:00:00.000Z', expires_at: '2026-12-24T23:30:00.000Z' }, errors: [] },
      { targeting: { starts_at: '2026-12-01T09:00:00Z', expires_at: '2026-12-02T09:00:00+02:00' }, errors: [] },
    ]);
  });

  test('shows errors of the service at their row and column', () => {
    const { rows } = readTable('name,url,logo\nA,a.example,\nB,b.example,logo_1');
    const refused = refusedCells(rows, [
      { index: 1, field: 'style.logo.id', message: 'style.logo.id: there is no logo logo_1.' },
      { index: 1, field: 'style.frame', message: 'The frame makes it unreadable.' },
      { index: 0, field: 'tags[2]', message: 'tags[2] is too long.' },
      { index: 0, field: 'utm', message: 'Not a column.' },
      { field: 'qrcodes', message: 'No row.' },
    ]);
    expect([...refused]).toEqual([
      [
        3,
        [
          { field: 'logo', message: 'logo: there is no logo logo_1' },
          { field: 'frame', message: 'the frame makes it unreadable' },
        ],
      ],
      [
        2,
        [
          { field: 'tags', message: 'tags is too long' },
          { field: undefined, message: 'not a column' },
        ],
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
    expect(problemWithFile(bytes('PK\x03\x04…', 'latin1'), 1)).toContain('Save it as CSV');
    expect(problemWithFile(new Uint8Array(1024 * 1024 + 1), 1)).toContain('larger than 1 MB');
    expect(problemWithFile(bytes('Name,Destination', 'utf8'), 1)).toBeUndefined();
  });
});
