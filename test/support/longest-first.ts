import { hash } from 'node:crypto';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take more than 20 s: begun last, one of them would run alone at the end. */
const longFiles = [
  'browser/console',
  'browser/sessions',
  'edge/faults/broken-connections',
  'edge/faults/chaos',
  'edge/faults/external-servers',
  'projections/visitor-removals',
  'stack/clickhouse',
  'stream/cluster',
  'webhooks/crash',
];

const isLong = ({ moduleId }: TestSpecification) =>
  longFiles.some((name) => moduleId.endsWith(`/test/${name}.test.ts`));

/** Long files first, the others in random order. The files of a project follow each other, so that they share processes. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { seed } = this.ctx.config.sequence;
    const place = ({ moduleId }: TestSpecification) => hash('sha1', `${seed} ${moduleId}`);
    return files.toSorted(
      (a, b) =>
        a.project.name.localeCompare(b.project.name) ||
        Number(isLong(b)) - Number(isLong(a)) ||
        place(a).localeCompare(place(b)),
    );
  }
}
