/**
 * Counts scans by country as they happen. The counts and the place in the feed are stored together, so that a restart neither
 * counts a scan twice nor misses one.
 *
 *   SCANLOG_KEY=sk_live_… bun examples/feed-consumer.ts counts.json
 */
import { existsSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { follow, Scanlog } from '@scanlog/client';

interface State {
  cursor?: string;
  scans: Record<string, number>;
}

const file = process.argv[2] ?? 'counts.json';
const client = new Scanlog({
  key: process.env['SCANLOG_KEY'] ?? '',
  baseUrl: process.env['SCANLOG_URL'] ?? 'http://localhost:3000',
});
const state: State = existsSync(file) ? JSON.parse(await readFile(file, 'utf8')) : { scans: {} };

const query = { types: 'scan.created', ...(state.cursor === undefined ? {} : { after: state.cursor }) };
for await (const { event, cursor } of follow({ client, query })) {
  if (event.type !== 'scan.created') continue;
  const { country } = event.data;
  state.scans[country] = (state.scans[country] ?? 0) + 1;
  state.cursor = cursor;
  // Renaming a complete file replaces the old one in one step.
  await writeFile(`${file}.new`, JSON.stringify(state));
  await rename(`${file}.new`, file);
  console.log(country, state.scans[country]);
}
