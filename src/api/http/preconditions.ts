import { invalid, Refusal } from '../../lib/errors.ts';

/** The `ETag` of a code: its version. Scan counts are not part of it, so it is no validator for caches. */
export const etagOfVersion = (version: number): string => `"${version}"`;

export const etagHeader = {
  ETag: {
    description:
      'The `version` of the code in quotes, for `If-Match`. Scan counts and `availability` change without it, so reads are never answered with 304.',
    example: '"3"',
  },
};

export const ifMatchHeader = {
  'If-Match':
    'Only if the code still has this version: its `ETag`, such as `"3"`, or several of them separated by commas. Otherwise 412 `version_mismatch`. `*` matches any version. Weak tags (`W/"3"`) never match (RFC 9110).',
};

const entityTag = /^(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"$/;

/**
 * Reads `If-Match`: a function that throws 412 for any other version of the code, or undefined without the header.
 * Throws 400 for a malformed header.
 */
export function versionCheckOf(headers: Headers): ((version: number) => void) | undefined {
  const header = headers.get('if-match');
  if (header === null || header.trim() === '*') return undefined;
  const tags = splitTags(header).map((tag) => entityTag.exec(tag));
  if (tags.length === 0 || tags.includes(null))
    throw invalid([
      { field: 'If-Match', message: 'If-Match must be an ETag in quotes such as "3", a list of these, or *.' },
    ]);
  const strong = new Set(tags.flatMap((tag) => (tag?.[1] === undefined ? [tag?.[2]] : [])));
  return (version) => {
    if (strong.has(String(version))) return;
    const hint = strong.size === 0 ? ' If-Match has only weak ETags (W/), which never match.' : '';
    throw new Refusal(
      'version_mismatch',
      `The QR code was changed meanwhile: it has version ${version} now.${hint} Read it again, then repeat the request.`,
      undefined,
      { etag: etagOfVersion(version) },
    );
  };
}

/** Commas separate tags, except inside of quotes. Empty items are allowed (RFC 9110, 5.6.1). */
const splitTags = (header: string): string[] =>
  (header.match(/(?:"[^"]*"|[^,"])+|"/g) ?? []).map((tag) => tag.trim()).filter((tag) => tag !== '');
