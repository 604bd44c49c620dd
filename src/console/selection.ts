import { type Static, Type as t } from '@sinclair/typebox';
import type { CodeEvent } from '../../events/code-events.ts';
import { shortCodeOf } from '../../events/link.ts';
import { readFields } from '../../events/read-fields.ts';
import type { Recorded } from '../../events/recorded.ts';
import { normalizeTag, spelledTags } from '../../events/tags.ts';
import type { Caller } from '../accounts/admission.ts';
import { type Operation, operation } from '../api/http/operation.ts';
import { json } from '../api/http/responses.ts';
import { downloadQuery, type ImageOptions, imageOptionsOf } from '../api/images/download-query.ts';
import { availability } from '../api/qrcodes/targeting-schemas.ts';
import type { Service } from '../api/service.ts';
import type { Api } from '../api/v1.ts';
import { type Changed, change, remove } from '../codes/change.ts';
import { availabilityOf, type CountedCode, codeNotFound, findCode, findCodes } from '../codes/codes.ts';
import { invalid, notFound, Refusal } from '../lib/errors.ts';
import { type ZipEntry, zipOf } from '../lib/zip.ts';
import { minBundleSizePx } from '../qr/print-sizes.ts';

const tag = 'QR codes';
const maxSelected = 100;
/** Ids of at most 100 codes. */
export const idList = t.String({
  pattern: `^qr_\\w+(,qr_\\w+){0,${maxSelected - 1}}$`,
  'x-expected': 'a list of ids',
});
const ids = t.Array(t.String({ maxLength: 50 }), { minItems: 1, maxItems: maxSelected });

const Result = t.Object({
  changed: t.Array(t.String()),
  failed: t.Array(t.Object({ id: t.String(), message: t.String() })),
});

/** Operations of the console on several codes at once. Each counts as one request, like a bulk creation. */
export const selectionOperations = (service: Service, api: Api): Operation[] => [
  readSelected(service),
  changeSelected(service),
  tagSelected(service),
  deleteSelected(service),
  downloadSelected(service, api),
];

const Marks = t.Object({
  data: t.Array(t.Object({ id: t.String(), availability, tags: t.Array(t.String()) })),
});

/** Items of the contract's list do not have these. */
const readSelected = ({ sql, clock }: Service): Operation =>
  operation({
    operationId: 'readSelectedQrCodes',
    method: 'GET',
    path: '/v1/selection',
    tag,
    summary: 'Availability and tags of several codes',
    description: 'For the console only: what its list shows beside the fields of the list.',
    query: t.Object({ ids: idList }),
    success: { status: 200, description: 'The codes that exist.', schema: Marks },
    errors: ['invalid_request'],
    async handle({ caller, query: { ids } }) {
      const codes = await findCodes(sql, caller, ids.split(','));
      const now = clock();
      const data = codes.map((code) => ({
        id: code.id,
        availability: availabilityOf(code, now),
        tags: spelledTags(code) ?? [],
      }));
      return json(200, { data });
    },
  });

const changeSelected = (service: Service): Operation =>
  operation({
    operationId: 'changeSelectedQrCodes',
    method: 'POST',
    path: '/v1/selection/change',
    tag,
    summary: 'Pause or resume several codes',
    description: 'For the console only: changes each code that it can, and reports the others.',
    body: t.Object({ ids, active: t.Boolean() }, { additionalProperties: false }),
    success: { status: 200, description: 'Which codes were changed.', schema: Result },
    errors: ['invalid_request'],
    handle: ({ caller, body: { ids, active } }) =>
      forEach(service, caller, ids, (id, by) => change(service.sql, caller, id, { active }, by)),
  });

const tagList = t.Array(t.String({ maxLength: 255 }), { maxItems: maxSelected });

const tagSelected = (service: Service): Operation =>
  operation({
    operationId: 'tagSelectedQrCodes',
    method: 'POST',
    path: '/v1/selection/tags',
    tag,
    summary: 'Tag several codes',
    description: 'For the console only: adds and removes tags of each code that it can, and reports the others.',
    body: t.Object({ ids, add: tagList, remove: tagList }, { additionalProperties: false }),
    success: { status: 200, description: 'Which codes were changed.', schema: Result },
    errors: ['invalid_request'],
    handle: ({ caller, body: { ids, add, remove } }) =>
      forEach(service, caller, ids, async (id, by) => {
        const code = await findCode(service.sql, caller, id);
        if (code === undefined) throw await codeNotFound(service.sql, caller, id);
        const removed = new Set(remove.map(normalizeTag));
        const kept = (spelledTags(code) ?? []).filter((known) => !removed.has(normalizeTag(known)));
        return change(service.sql, caller, id, { tags: readTags([...kept, ...add]) }, by);
      }),
  });

/** Throws a `Refusal` for invalid tags, and for too many. */
function readTags(given: string[]): string[] | null {
  const { change, problems } = readFields({ tags: given }, []);
  const errors = problems.map(({ field, problem }) => ({ field, message: `${field} ${problem}.` }));
  const [first, ...others] = errors;
  if (first !== undefined) throw invalid([first, ...others]);
  return change.tags ?? null;
}

const deleteSelected = (service: Service): Operation =>
  operation({
    operationId: 'deleteSelectedQrCodes',
    method: 'POST',
    path: '/v1/selection/delete',
    tag,
    summary: 'Delete several codes',
    description: 'For the console only: deletes each code that it can, and reports the others.',
    body: t.Object({ ids }, { additionalProperties: false }),
    success: { status: 200, description: 'Which codes were deleted.', schema: Result },
    errors: ['invalid_request'],
    handle: ({ caller, body: { ids } }) =>
      forEach(service, caller, ids, (id, by) => remove(service.sql, caller, id, by)),
  });

async function forEach(
  { clock, onChange }: Service,
  caller: Caller,
  ids: string[],
  apply: (id: string, by: { actor: string; now: Date }) => Promise<Changed>,
) {
  const result: Static<typeof Result> = { changed: [], failed: [] };
  const events: Recorded<CodeEvent>[] = [];
  try {
    for (const id of new Set(ids)) {
      try {
        events.push(...(await apply(id, { actor: caller.actor, now: clock() })).events);
        result.changed.push(id);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        result.failed.push({ id, message: error.message });
      }
    }
  } finally {
    await onChange(events);
  }
  return json(200, result);
}

const downloadSelected = ({ sql, clock }: Service, { drawImage }: Api): Operation =>
  operation({
    operationId: 'downloadSelectedQrCodes',
    method: 'GET',
    path: '/v1/selection/images',
    tag,
    summary: 'Download the images of several codes',
    description:
      'For the console only: a ZIP file of images, each named after its short code and as a single download returns it.',
    query: t.Object({ ids: idList, ...downloadQuery.properties }),
    success: { status: 200, description: 'The file.', files: ['application/zip'] },
    errors: ['invalid_request', 'not_found'],
    async handle({ caller, query: { ids, ...query }, signal }) {
      const options = bundleOptionsOf(query);
      const codes = await findCodes(sql, caller, ids.split(','));
      if (codes.length === 0) throw notFound('QR code');
      const now = clock();
      async function* images(): AsyncGenerator<ZipEntry> {
        const names = fileNames(codes);
        for (const code of codes)
          yield {
            name: `${names.get(code.id)}.${options.format}`,
            bytes: await drawImage(code, options, { account: caller.account, signal }),
          };
      }
      return {
        status: 200,
        pieces: zipOf(images(), now),
        headers: {
          'content-type': 'application/zip',
          'content-disposition': `attachment; filename="qr-codes-${now.toISOString().slice(0, 10)}.zip"`,
        },
      };
    },
  });

/** Throws 400 for a size at which some code might not fit: an error after the start of the file could not be reported. */
function bundleOptionsOf(query: Static<typeof downloadQuery>): ImageOptions {
  const options = imageOptionsOf(query);
  if (options.print !== undefined || options.size >= minBundleSizePx) return options;
  const field = query.width_mm === undefined ? 'size' : 'width_mm';
  throw invalid([
    { field, message: `${field} must give at least ${minBundleSizePx} pixels for a file of several codes.` },
  ]);
}

/** Short codes by id. Two that are equal on two domains, or differ only in case, which some file systems ignore, get a number. */
export function fileNames(codes: Pick<CountedCode, 'id' | 'short_code'>[]): Map<string, string> {
  const uses = new Map<string, number>();
  return new Map(
    codes.map(({ id, short_code: link }) => {
      const shortCode = shortCodeOf(link);
      const key = shortCode.toLowerCase();
      const use = (uses.get(key) ?? 0) + 1;
      uses.set(key, use);
      return [id, use === 1 ? shortCode : `${shortCode}-${use}`];
    }),
  );
}
