import { hash } from 'node:crypto';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take more than 20 s, the longest first: begun last, one of them would run alone at the end. */
const longFiles = [
  'stack/clickhouse',
  'browser/console',
  'edge/faults/chaos',
  'cli/up',
  'maintenance/retention-steps',
  'edge/faults/broken-connections',
  'stack/clickhouse-lifecycle',
  'projections/visitor-removals',
  'hostile/operations',
  'edge/faults/edges',
  'browser/swagger',
  'browser/sessions',
  'edge/faults/service',
  'projections/analytics',
  'cli/doctor',
  'maintenance/erasure',
  'edge/faults/postgres',
  'webhooks/crash',
  'edge/faults/clickhouse',
  'api/openapi',
  'browser/lists',
  'edge/faults/external-servers',
  'deploy/page',
  'browser/analytics',
  'edge/faults/failover',
  'browser/create',
  'browser/rules',
  'webhooks/delivery',
  'api/webhook',
  'edge/faults/nats-cluster',
  'stream/cluster',
  'stack/server-user',
  'cli/secret',
  'projections/warehouse-faults',
];

/** Its place among the long files; that of the others is after them. */
function placeOf({ moduleId }: TestSpecification): number {
  const place = longFiles.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
  return place === -1 ? longFiles.length : place;
}

/** Long files first, the others in random order. The files of a project follow each other, so that they share processes. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { seed } = this.ctx.config.sequence;
    const shuffled = ({ moduleId }: TestSpecification) => hash('sha1', `${seed} ${moduleId}`);
    return files.toSorted(
      (a, b) =>
        a.project.name.localeCompare(b.project.name) ||
        placeOf(a) - placeOf(b) ||
        shuffled(a).localeCompare(shuffled(b)),
    );
  }
}
