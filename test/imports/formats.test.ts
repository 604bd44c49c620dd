import { describe, expect, test } from 'vitest';
import { linkOfRow, readTitles } from '../../src/imports/columns.ts';
import { type CsvRow, readCsv } from '../../src/imports/csv.ts';
import { countOf, type Item } from '../../src/imports/link.ts';
import { type PlanOptions, planLink } from '../../src/imports/plan.ts';
import { recognizeJson, recognizeTitles } from '../../src/imports/recognize.ts';
import type { SourceName } from '../../src/imports/source-names.ts';
import { sourceOf } from '../../src/imports/sources.ts';
import { readTime } from '../../src/imports/times.ts';
import { items, tables } from './shapes.ts';

async function* inPieces(text: string, length: number) {
  for (let i = 0; i < text.length; i += length) yield text.slice(i, i + length);
}

async function rowsOf(text: string, length = text.length): Promise<CsvRow[]> {
  const rows: CsvRow[] = [];
  for await (const row of readCsv(inPieces(text, length))) rows.push(row);
  return rows;
}

async function linksOf(table: string) {
  const [titles, ...rows] = await rowsOf(table);
  const columns = readTitles(titles?.cells ?? []);
  return rows.map(({ cells }) => linkOfRow(columns, cells));
}

const options: PlanOptions = {
  ownUrls: ['https://go.acme.test'],
  domain: undefined,
  domains: new Set<string>(),
  isPartial: false,
};

/** The code that an entry of an API becomes, or why it does not. */
const planned = (source: SourceName, item: Item, changed: Partial<PlanOptions> = {}) =>
  (sourceOf(source)?.readItem(item) ?? []).map((link) => {
    const plan = planLink(link, { ...options, ...changed });
    return 'request' in plan ? plan.request : plan.reasons;
  });

describe('a table', () => {
  test.each([1, 2, 3, 1_000])('is the same in pieces of %i characters', async (length) => {
    const text = '\ufeffLong URL;Title\r\n"https://a.test/;1";"He said ""hi""\nthere"\r\n\r\nhttps://b.test/;ü😀';
    expect(await rowsOf(text, length)).toEqual([
      { line: 1, cells: ['Long URL', 'Title'] },
      { line: 2, cells: ['https://a.test/;1', 'He said "hi"\nthere'] },
      { line: 5, cells: ['https://b.test/', 'ü😀'] },
    ]);
  });

  test('whose quote is not closed is refused, naming its line', async () => {
    await expect(rowsOf('url,title\nhttps://a.test/,"open\nhttps://b.test/,x\n')).rejects.toThrow(
      'The quote in line 2 of the file is not closed.',
    );
  });

  test('without a destination is refused', () => {
    expect(() => readTitles(['Bitlink', 'Title'])).toThrow('one of them for the destination');
  });

  test.each(Object.entries(tables))('of %s has short link, destination and all it knows', async (_, table) => {
    expect(await linksOf(table.text)).toMatchObject(table.links);
  });

  test('has links without a short code twice only if destination or title differ', async () => {
    const links = await linksOf('url,title\nhttps://a.test/,A\nhttps://a.test/,A\nhttps://a.test/,B\n');
    expect(new Set(links.map(({ id }) => id)).size).toBe(2);
  });
});

describe('an entry of the API', () => {
  test.each(Object.entries(items))('of %s becomes a code with all it knows', (source, { item, requests }) => {
    expect(planned(source as SourceName, item)).toMatchObject(requests);
  });

  test.each([
    ['dub', { password: 'secret' }, 'it has a password, which cannot be taken over'],
    ['kutt', { banned: true }, 'it is banned at Kutt'],
    ['kutt', { expire_in: 'soon' }, 'expiry "soon" is not a time that can be read'],
    ['short-io', { splitURL: 'https://example.com/b' }, 'it is an A/B test (splitURL)'],
    ['short-io', { clicksLimit: 50 }, 'its limit of 50 clicks counts clicks that are not known here'],
    ['short-io', { iphoneURL: 'itms-apps://app' }, 'rules[0].destination_url must be an absolute URL'],
    ['shlink', { meta: { maxVisits: 10 } }, 'its limit of 10 clicks is used up'],
    ['rebrandly', { slashtag: 'a/b' }, 'short code "a/b" must have 3 to 50 letters'],
    ['rebrandly', { destination: 'https://go.acme.test/x' }, 'destination must not lead to https://go.acme.test'],
  ] as const)('of %s with %j is refused, saying why', (source, changed, reason) => {
    const item: Item = { ...items[source].item, ...changed };
    expect(planned(source, item)).toEqual([[expect.stringContaining(reason)]]);
  });

  test('with an unsupported part can come without it, but never without its password', () => {
    const { item } = items['short-io'];
    const split = { ...item, splitURL: 'https://example.com/b' };
    expect(planned('short-io', split, { isPartial: true })).toMatchObject(items['short-io'].requests);
    const secret = { ...item, hasPassword: true };
    expect(planned('short-io', secret, { isPartial: true })).toEqual([[expect.stringContaining('password')]]);
  });

  test('stays on its domain if the account has it, or comes to the given one', () => {
    const domains = new Set(['go.acme.test']);
    const item = { ...items.dub.item, domain: 'go.acme.test' };
    expect(planned('dub', item)).toMatchObject([{ domain: undefined }]);
    expect(planned('dub', item, { domains })).toMatchObject([{ domain: 'go.acme.test' }]);
    expect(planned('dub', item, { domains, domain: 'x.test' })).toMatchObject([{ domain: 'x.test' }]);
  });

  test('of Shlink has its rules as rules, and is refused with a condition that has no equivalent', () => {
    const rule = (type: string, matchValue: string) => ({
      longUrl: 'https://example.com/x',
      conditions: [{ type, matchValue }],
    });
    const withRules = (...redirectRules: unknown[]) => planned('shlink', { ...items.shlink.item, redirectRules });
    const rules = [rule('device', 'ios'), rule('language', 'de'), rule('before-date', '2027-01-01T00:00:00+01:00')];
    expect(withRules(...rules)).toMatchObject([
      {
        optional: {
          rules: [
            { when: { devices: ['ios'] }, destination_url: 'https://example.com/x' },
            { when: { languages: ['de'] } },
            { when: { until: '2026-12-31T23:00:00.000Z' } },
          ],
        },
      },
    ]);
    expect(withRules(rule('ip-address', '10.0.0.*'))).toEqual([['a rule has the condition ip-address 10.0.0.*']]);
  });
});

describe('the service of a file', () => {
  test.each(Object.entries(tables))('is recognized by the columns of %s', async (source, { text }) => {
    const [titles] = await rowsOf(text);
    expect(recognizeTitles(titles?.cells ?? [])).toBe(source === 'any service' ? undefined : source);
  });

  test.each(Object.entries(items))(
    'is recognized by an entry of %s, alone, in a list or on a page',
    (source, { item }) => {
      const page = { pagination: { next: '', total: 1 }, links: { link_1: item } };
      for (const content of [item, [item], [{ total: 1, data: [item] }], page])
        expect(recognizeJson(content)).toBe(source);
      expect(recognizeJson([{ name: 'Menu', destination_url: 'https://example.com' }])).toBeUndefined();
    },
  );
});

describe('what people write', () => {
  test.each([
    ['2020-05-01T12:00:00+0000', '2020-05-01T12:00:00.000Z'],
    ['2020-05-01T12:00:00+02:00', '2020-05-01T10:00:00.000Z'],
    ['2020-05-01 12:00:00', '2020-05-01T12:00:00.000Z'],
    ['2020-05-01 12:00:00 UTC', '2020-05-01T12:00:00.000Z'],
    ['2020-05-01', '2020-05-01T00:00:00.000Z'],
    ['1588334400', '2020-05-01T12:00:00.000Z'],
    [1588334400000, '2020-05-01T12:00:00.000Z'],
    ['05/01/2020', undefined],
    ['2020-02-30', undefined],
    [null, undefined],
  ])('the time %s', (text, expected) => {
    expect(readTime(text)?.toISOString()).toBe(expected);
  });

  test.each([
    ['6,409', 6409],
    ['1 234 567', 1234567],
    [12, 12],
    ['12.5', undefined],
    ['-1', undefined],
    ['', undefined],
  ])('the count %j', (text, expected) => {
    expect(countOf(text)).toBe(expected);
  });
});
