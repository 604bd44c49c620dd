/** Browsers send fewer and shorter ones; bounds the work for a hostile header. */
const maxHeaderLength = 1_000;
const maxRanges = 32;
/** The longest tag that RFC 5646 makes room for; a range of 1,000 characters could have 500 truncations. */
const maxRangeLength = 35;

/**
 * Parsed headers: parsing costs 10 µs, a third of a redirect, and a few hundred headers make up nearly all scans. Longer
 * headers are parsed each time: what is kept of these has at most 10 MB.
 */
const parsed = new Map<string, readonly string[]>();
const maxParsed = 2_000;
const maxParsedLength = 200;

/**
 * The language tags, in lower case, that an `Accept-Language` header accepts by RFC 4647 lookup: each range and its
 * truncations (`zh-hant-tw`, `zh-hant`, `zh`), without ranges of quality 0.
 */
export function acceptedTags(header: string): readonly string[] {
  const known = parsed.get(header);
  if (known !== undefined) return known;
  const tags = parse(header.slice(0, maxHeaderLength));
  if (header.length > maxParsedLength) return tags;
  if (parsed.size >= maxParsed) parsed.clear();
  parsed.set(header, tags);
  return tags;
}

function parse(header: string): string[] {
  const ranges = header
    .toLowerCase()
    .split(',', maxRanges)
    .map((item) => {
      const [range = '', ...parameters] = item.split(';').map((part) => part.trim());
      const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
      return { range, isRefused: quality !== undefined && Number(quality) === 0 };
    })
    // Lookup ignores the range `*`, which would match anything.
    .filter(({ range }) => range.length <= maxRangeLength && /^[a-z0-9]+(-[a-z0-9]+)*$/.test(range));
  const refused = new Set(ranges.filter(({ isRefused }) => isRefused).map(({ range }) => range));
  const accepted = ranges.filter(({ isRefused }) => !isRefused).flatMap(({ range }) => truncations(range));
  return [...new Set(accepted)].filter((tag) => !refused.has(tag));
}

/** A range and what remains when subtags are removed from its end; a single letter goes with the subtag after it. */
function truncations(range: string): string[] {
  const subtags = range.split('-');
  const found: string[] = [];
  while (subtags.length > 0) {
    found.push(subtags.join('-'));
    subtags.pop();
    if (subtags.length > 1 && subtags.at(-1)?.length === 1) subtags.pop();
  }
  return found;
}
