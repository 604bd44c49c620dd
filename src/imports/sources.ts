import type { SourceName } from './source-names.ts';
import { bitly } from './sources/bitly.ts';
import { dub } from './sources/dub.ts';
import { kutt } from './sources/kutt.ts';
import { rebrandly } from './sources/rebrandly.ts';
import { shlink } from './sources/shlink.ts';
import { shortIo } from './sources/short-io.ts';
import type { Source } from './sources/source.ts';
import { yourls } from './sources/yourls.ts';

const sources = {
  bitly,
  dub,
  shlink,
  kutt,
  yourls,
  rebrandly,
  'short-io': shortIo,
  csv: undefined,
} satisfies Record<SourceName, Source | undefined>;

/** The service of this name; undefined for `csv`, which is any table. */
export const sourceOf = (name: SourceName): Source | undefined => sources[name];
