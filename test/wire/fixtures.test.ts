import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { alertEvents } from '../../events/alert.ts';
import { domainEvents } from '../../events/domain.ts';
import type { Change } from '../../events/entry.ts';
import { memberEvents } from '../../events/member.ts';
import { reportEvents } from '../../events/report.ts';
import type { RecordedScan } from '../../events/scan.ts';
import { batchOf } from '../../events/scan-batch.ts';
import { scanLines } from '../../events/scan-line.ts';
import { shareEvents } from '../../events/share.ts';
import { subscriptionEvents } from '../../events/webhooks/webhook.ts';
import { NewerVersion } from '../../events/wire/newer-version.ts';
import { decodeSnapshot, encodeAlias, encodeRoute, snapshotHead } from '../../events/wire/route-snapshot.ts';
import { decodeSpoolRecord, encodeSpoolRecord } from '../../events/wire/spool-record.ts';
import { decodeMessage, encodeChange, encodeChanges, encodeScans, rangeOf } from '../../events/wire/stream-message.ts';
import {
  alertChanges,
  alertLanguageChanges,
  aliases,
  batch,
  changeRange,
  changes,
  domainChanges,
  importedChanges,
  keyChanges,
  laterOperatorChanges,
  memberChanges,
  noteChanges,
  operatorChanges,
  routes,
  routesOnDomains,
  ruledScans,
  scanRange,
  scans,
  sharedChanges,
  sharedLanguageChanges,
  styledChanges,
  tagChanges,
  targetedRoutes,
  targetingChanges,
  webhookChanges,
} from './content.ts';

/**
 * Bytes of every version, written by the code of that version: 0 by 000d9ef (spool) and ae990d0 (stream), 1 by bfc3708
 * with lines written by Postgres. Fixtures are never changed or removed.
 */
const folder = new URL('../fixtures/wire/', import.meta.url);
const bytes = (name: string): Uint8Array => new Uint8Array(readFileSync(new URL(`${name}.txt`, folder)));
const text = (name: string): string => readFileSync(new URL(`${name}.txt`, folder), 'utf8');

/** The versions of a format that have fixtures. */
const versionsOf = (format: string): number[] =>
  readdirSync(folder)
    .flatMap((name) => new RegExp(`^${format}-(\\d+)[.-]`).exec(name)?.[1] ?? [])
    .map(Number)
    .filter((version, i, all) => all.indexOf(version) === i)
    .sort((a, b) => a - b);

const withoutRecord = ({ type: _, position: __, is_unique: ___, ...scan }: RecordedScan) => scan;
const batchOfScans = (given: RecordedScan[]) => batchOf(batch.writer, batch.number, given.map(withoutRecord));
const lines = () => text('scan-lines-2').split('\n');
/** The content of a fixture of scans: the newest versions also have the rule that a scan took. */
const scansOf = (hasRules: boolean) => (hasRules ? ruledScans : scans);
/** A fixture with the schema numbers of now, of the types whose new fields are optional. */
const written = (name: string): string =>
  text(name).replaceAll(
    /("type":"(code_created|tags_changed)".*?"schema":)\d+/g,
    (_, before, type) => `${before}${type === 'code_created' ? 9 : 2}`,
  );
const newer = /newer version of Scanlog: upgrade this process first$/;
const encoded = (text: string) => new TextEncoder().encode(text);

describe('a message of the stream', () => {
  test('every version has a fixture', () => {
    expect(versionsOf('stream-message')).toEqual([0, 1, 2]);
  });

  test.each([
    ...versionsOf('stream-message').map((version) => ({ name: `stream-message-${version}-scans`, hasRules: false })),
    { name: 'stream-message-2-scans-2', hasRules: true },
  ])('with scans is decoded: $name', ({ name, hasRules }) => {
    const { entries, ...range } = decodeMessage(bytes(name));
    expect(range).toEqual(scanRange);
    expect(entries.map((entry) => ('toJSON' in entry ? entry.toJSON() : entry))).toEqual(scansOf(hasRules));
    // ClickHouse takes the lines as they are, so all must have all fields.
    expect(entries.map((entry) => ('line' in entry ? entry.line.split('\t').length : 0))).toEqual([17, 17, 17]);
    // Projections also use the line itself.
    expect(entries.every((entry) => 'line' in entry && entry.line.startsWith(`${entry.position}\t`))).toBe(true);
  });

  test.each(versionsOf('stream-message'))('of version %i with changes is decoded', (version) => {
    expect(decodeMessage(bytes(`stream-message-${version}-changes`))).toEqual({ ...changeRange, entries: changes });
  });

  test('with changes of where a code leads is decoded', () => {
    const { entries } = decodeMessage(bytes('stream-message-2-changes-code_created-4'));
    expect(entries).toEqual(targetingChanges);
  });

  test('with every part of a style is decoded', () => {
    const { entries } = decodeMessage(bytes('stream-message-2-changes-code_created-5'));
    expect(entries).toEqual(styledChanges);
  });

  test('with changes of a note is decoded', () => {
    const { entries } = decodeMessage(bytes('stream-message-2-changes-code_created-6'));
    expect(entries).toEqual(noteChanges);
  });

  test('with tags as they are written is decoded', () => {
    const { entries } = decodeMessage(bytes('stream-message-2-changes-code_created-7'));
    expect(entries).toEqual(tagChanges);
  });

  test('with a code on a custom domain is decoded, and has one of each type of changes of domains', () => {
    const { entries } = decodeMessage(bytes('stream-message-2-changes-code_created-8'));
    expect(entries).toEqual(domainChanges);
    expect(entries.map(({ type }) => type)).toEqual(expect.arrayContaining(Object.keys(domainEvents)));
  });

  test.each([
    { name: 'alerts', content: alertChanges, events: alertEvents },
    { name: 'alerts-2', content: alertLanguageChanges, events: alertEvents },
    { name: 'shares', content: sharedChanges, events: { ...shareEvents, ...reportEvents } },
    { name: 'shares-2', content: sharedLanguageChanges, events: { ...shareEvents, ...reportEvents } },
  ])('with changes of $name is decoded, and has one of each type', ({ name, content, events }) => {
    const { entries } = decodeMessage(bytes(`stream-message-2-changes-${name}`));
    expect(entries).toEqual(content);
    expect(entries.map(({ type }) => type).toSorted()).toEqual(Object.keys(events).toSorted());
  });

  test('with changes of limited keys is decoded', () => {
    const { entries } = decodeMessage(bytes('stream-message-2-changes-keys'));
    expect(entries).toEqual(keyChanges);
  });

  test('with changes of members and sessions of people is decoded, and has one of each type of changes of members', () => {
    const { entries } = decodeMessage(bytes('stream-message-2-changes-members'));
    expect(entries).toEqual(memberChanges);
    expect(entries.map(({ type }) => type)).toEqual(expect.arrayContaining(Object.keys(memberEvents)));
  });

  test.each(['code_created-3', 'key_created-2'])('with changes of the schema %s is decoded', (schema) => {
    expect(decodeMessage(bytes(`stream-message-2-changes-${schema}`))).toEqual({ ...changeRange, entries: changes });
  });

  test('with what operators do to people is decoded', () => {
    expect(decodeMessage(bytes('stream-message-2-changes-operators')).entries).toEqual(operatorChanges);
    expect(decodeMessage(bytes('stream-message-2-changes-operators-later')).entries).toEqual(laterOperatorChanges);
  });

  test('with an imported code is decoded', () => {
    const { entries } = decodeMessage(bytes('stream-message-2-changes-code_created-9'));
    expect(entries).toEqual(importedChanges);
  });

  test('with changes of webhooks is decoded, and has one of each type', () => {
    const { entries } = decodeMessage(bytes('stream-message-2-changes-webhooks'));
    expect(entries).toEqual(webhookChanges);
    expect(entries.map(({ type }) => type).toSorted()).toEqual(Object.keys(subscriptionEvents).toSorted());
  });

  test('is encoded exactly as the fixture of the newest version', () => {
    expect(encodeScans(scanRange, lines())).toBe(text('stream-message-2-scans-2'));
    expect(encodeChanges(changeRange, changes.map(encodeChange))).toBe(
      written('stream-message-2-changes-key_created-2'),
    );
    expect(encodeChanges(changeRange, keyChanges.map(encodeChange))).toBe(text('stream-message-2-changes-keys'));
    expect(encodeChanges(changeRange, alertLanguageChanges.map(encodeChange))).toBe(
      text('stream-message-2-changes-alerts-2'),
    );
    expect(encodeChanges(changeRange, sharedLanguageChanges.map(encodeChange))).toBe(
      text('stream-message-2-changes-shares-2'),
    );
    expect(encodeChanges(changeRange, operatorChanges.map(encodeChange))).toBe(
      text('stream-message-2-changes-operators'),
    );
    expect(encodeChanges(changeRange, laterOperatorChanges.map(encodeChange))).toBe(
      text('stream-message-2-changes-operators-later'),
    );
    expect(encodeChanges(changeRange, memberChanges.map(encodeChange))).toBe(text('stream-message-2-changes-members'));
    expect(encodeChanges(changeRange, targetingChanges.map(encodeChange))).toBe(
      written('stream-message-2-changes-code_created-4'),
    );
    expect(encodeChanges(changeRange, styledChanges.map(encodeChange))).toBe(
      written('stream-message-2-changes-code_created-5'),
    );
    expect(encodeChanges(changeRange, noteChanges.map(encodeChange))).toBe(
      written('stream-message-2-changes-code_created-6'),
    );
    expect(encodeChanges(changeRange, tagChanges.map(encodeChange))).toBe(
      written('stream-message-2-changes-code_created-7'),
    );
    expect(encodeChanges(changeRange, domainChanges.map(encodeChange))).toBe(
      written('stream-message-2-changes-code_created-8'),
    );
    expect(encodeChanges(changeRange, importedChanges.map(encodeChange))).toBe(
      text('stream-message-2-changes-code_created-9'),
    );
    expect(encodeChanges(changeRange, webhookChanges.map(encodeChange))).toBe(
      text('stream-message-2-changes-webhooks'),
    );
  });

  test('encodes an erased event with its original type and without data', () => {
    const [created] = changes;
    if (created === undefined) throw new Error('no changes');
    const erased: Change = { ...created, type: 'erased', data: { type: created.type } };
    const written = encodeChange(erased);
    expect(JSON.parse(written)).toMatchObject({ type: created.type, schema: 0, data: {} });
    expect(decodeMessage(encoded(encodeChanges(changeRange, [written]))).entries).toEqual([erased]);
  });

  test('has the schema number of each event, and older events are upcast', () => {
    const [created] = changes;
    if (created?.type !== 'code_created') throw new Error('the first change creates a code');
    const { status: _, short_code_given: __, ...data } = created.data;
    const old = JSON.stringify({ ...created, data, schema: 1 });
    const { entries } = decodeMessage(encoded(encodeChanges(changeRange, [old])));
    expect(entries).toEqual([{ ...created, data: { ...data, status: 'active', short_code_given: null } }]);
  });

  test('of a newer version is rejected, but its range is read', () => {
    const message = encoded('{"version":3,"after":43,"to":60}\n\u0000 not JSON, not lines');
    expect(() => decodeMessage(message)).toThrow(newer);
    expect(() => decodeMessage(message)).toThrow(/^A message of the stream \(version 3, this process reads up to 2\)/);
    expect(rangeOf(message)).toEqual({ version: 3, ...changeRange });
  });

  test('with events or lines of a newer version is rejected, naming them', () => {
    const [created] = changes;
    const event = JSON.stringify({ ...created, schema: 10 });
    expect(() => decodeMessage(encoded(encodeChanges(changeRange, [event])))).toThrow(
      /^An event of type code_created \(version 10, this process reads up to 9\) was written by a newer/,
    );
    const unknown = JSON.stringify({ ...created, type: 'code_exploded', schema: 1 });
    expect(() => decodeMessage(encoded(encodeChanges(changeRange, [unknown])))).toThrow(/unknown type code_exploded/);
    const scansMessage = encodeScans(scanRange, lines()).replace('"line":2', '"line":3');
    expect(() => decodeMessage(encoded(scansMessage))).toThrow(
      /^A scan line \(version 3, this process reads up to 2\)/,
    );
  });

  test('without a range is rejected', () => {
    for (const data of ['', '{}', 'null', '{"to":3,"after":1}']) expect(() => rangeOf(encoded(data))).toThrow(/range/);
  });

  test.each(versionsOf('stream-message'))('of version %i: the range is read from the first 60 bytes', (version) => {
    for (const [kind, range] of [['scans', scanRange] as const, ['changes', changeRange] as const]) {
      const whole = bytes(`stream-message-${version}-${kind}`);
      expect(rangeOf(whole.subarray(0, 60))).toMatchObject(range);
    }
  });
});

describe('scan lines', () => {
  test.each(versionsOf('scan-lines'))('of version %i are decoded', (version) => {
    const read = scanLines(version, text(`scan-lines-${version}`)).map((line) => line.toJSON());
    expect(read).toEqual(scansOf(version >= 2));
  });
});

describe('a record of the spool', () => {
  test('every version has a fixture', () => {
    expect(versionsOf('spool-record')).toEqual([0, 1, 2, 3]);
  });

  test.each(versionsOf('spool-record'))('of version %i is decoded', (version) => {
    expect(decodeSpoolRecord(bytes(`spool-record-${version}`))).toEqual(batchOfScans(scansOf(version >= 3)));
  });

  test('is encoded exactly as the fixture of the newest version', () => {
    expect(new TextDecoder().decode(encodeSpoolRecord(batchOfScans(ruledScans)))).toBe(text('spool-record-3'));
  });

  test('without rules has the columns of the version before', () => {
    const record = new TextDecoder().decode(encodeSpoolRecord(batchOfScans(scans)));
    expect(record).toBe(text('spool-record-2').replace('"version":2', '"version":3'));
  });

  test('of a newer version is rejected', () => {
    const record = encoded(text('spool-record-3').replace('"version":3', '"version":4'));
    expect(() => decodeSpoolRecord(record)).toThrow(NewerVersion);
    expect(() => decodeSpoolRecord(record)).toThrow(newer);
  });
});

describe('a snapshot of routes', () => {
  // Encryption is passed in; here it returns the key unchanged.
  const keys = { fingerprint: 'cd'.repeat(32), seal: (key: Uint8Array) => key };

  test('every version has a fixture', () => {
    expect(versionsOf('route-snapshot')).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  test.each(versionsOf('route-snapshot'))('of version %i is decoded', (version) => {
    const read = decodeSnapshot(text(`route-snapshot-${version}`), keys);
    expect(read.aliases).toEqual(version < 5 ? [] : aliases);
    expect(read.routes.map((route) => ({ ...route, sealed_key: new Uint8Array(route.sealed_key) }))).toEqual(
      version >= 7 ? routesOnDomains : version === 6 ? targetedRoutes : routes,
    );
  });

  test('is encoded exactly as the fixture of the newest version', () => {
    const lines = [
      snapshotHead(keys.fingerprint),
      ...routesOnDomains.map(encodeRoute),
      ...aliases.map(encodeAlias),
      '',
    ];
    expect(lines.join('\n')).toBe(text('route-snapshot-7'));
  });

  test('encrypted with another SECRET_KEY is rejected', () => {
    const other = { ...keys, fingerprint: 'ef'.repeat(32) };
    expect(() => decodeSnapshot(text('route-snapshot-4'), other)).toThrow('encrypted with another SECRET_KEY');
  });

  test('of a newer version is rejected', () => {
    expect(() => decodeSnapshot(`{"snapshot":8}\n${text('route-snapshot-1')}`, keys)).toThrow(newer);
  });
});
