/**
 * Creates a code for each line of a CSV file with the columns name and destination, and prints the short links as CSV. It can be
 * run again after it was interrupted: codes that exist are printed, not created twice.
 *
 *   SCANLOG_KEY=sk_live_… bun examples/bulk-create.ts tables.csv >links.csv
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createQrCodes, isScanlogError, Scanlog } from '@scanlog/client';

/** The most that one request creates, all or none. */
const batchSize = 1_000;

const client = new Scanlog({
  key: process.env['SCANLOG_KEY'] ?? '',
  baseUrl: process.env['SCANLOG_URL'] ?? 'http://localhost:3000',
});
const text = await readFile(process.argv[2] ?? 'codes.csv', 'utf8');
const rows = text.split(/\r?\n/).filter((line) => line.trim() !== '');

console.log('name,short_url');
for (let start = 0; start < rows.length; start += batchSize) {
  const qrcodes = rows.slice(start, start + batchSize).map((row) => {
    // A name may have commas, a URL that is written correctly has none.
    const comma = row.lastIndexOf(',');
    return { name: row.slice(0, comma).trim(), destination_url: row.slice(comma + 1).trim() };
  });
  // For 24 hours, the service answers the same request under the same key with the codes of the first time.
  const key = createHash('sha256')
    .update(`${start}/${JSON.stringify(qrcodes)}`)
    .digest('hex');
  try {
    const { data } = await createQrCodes({ client, headers: { 'Idempotency-Key': key }, body: { qrcodes } });
    for (const { name, short_url } of data) console.log(`"${name.replaceAll('"', '""')}",${short_url}`);
  } catch (error) {
    if (!isScanlogError(error)) throw error;
    console.error(`${error.code}: ${error.message}`);
    for (const { index = 0, message } of error.details) console.error(`line ${start + index + 1}: ${message}`);
    process.exit(1);
  }
}
